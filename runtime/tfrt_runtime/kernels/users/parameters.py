"""The parameters of a Python kernel: its frame, its arguments, and its attributes.

They are read from the function's signature once, when the kernel is registered.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from tfrt_runtime.diagnostics import refuse
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import Keyword, Parameters
from tfrt_runtime.kernels.users.annotations import Type, takes_value

_ATTRIBUTE_KINDS: dict[object, type] = {
    annotation: kind for kind in (bool, int, float, str) for annotation in (kind, kind.__name__)
}
"""The annotations of attributes that are checked, as types and as strings.

An annotation is a string if it could not be evaluated.
"""


def keyword_parameters(signature: inspect.Signature) -> tuple[Keyword, ...]:
    """Return the keyword-only parameters in order; these are the kernel's attributes.

    Raises:
        TfrtError: if a parameter is named `after`, which orders calls in traced programs.
    """
    parameters = [p for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY]
    if any(p.name == "after" for p in parameters):
        refuse(
            "a kernel cannot have an attribute 'after': in programs it says what a call waits for"
        )
    return tuple(Keyword(p.name, _attribute_kind(p.annotation), p.default) for p in parameters)


def _attribute_kind(annotation: object) -> type | str | None:
    if isinstance(annotation, Type):
        return annotation.name
    try:
        return _ATTRIBUTE_KINDS.get(annotation)
    except TypeError:  # an unhashable annotation
        return None


def parameters_of(signature: inspect.Signature, has_frame: bool, *, raw: bool) -> Parameters:
    """Return the types of arguments and results that a kernel's annotations state."""
    parameters = list(signature.parameters.values())
    named = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][
        has_frame:
    ]
    rest = next((p.annotation for p in parameters if p.kind is p.VAR_POSITIONAL), object)
    kinds = (*(p.annotation for p in named), rest)
    lazy = frozenset(i for i, kind in enumerate(kinds) if not raw and takes_value(kind))
    return Parameters(
        tuple(p.name for p in named),
        tuple(p.annotation for p in named),
        rest,
        signature.return_annotation,
        lazy,
    )


def takes_frame(signature: inspect.Signature) -> bool:
    """Return whether the first parameter is annotated as the frame."""
    return any(map(is_frame, list(signature.parameters.values())[:1]))


def is_frame(parameter: inspect.Parameter) -> bool:
    """Return whether a parameter is annotated as the frame."""
    annotation = parameter.annotation
    is_name = isinstance(annotation, str) and annotation in ("KernelFrame", "tfrt.KernelFrame")
    return is_name or annotation is KernelFrame


def with_keywords(
    function: Callable[..., object], keywords: tuple[Keyword, ...]
) -> Callable[..., object]:
    """Return a function that takes the keyword arguments of `function` by position, at the end."""
    if not keywords:
        return function
    names = [keyword.name for keyword in keywords]
    count = len(names)

    @functools.wraps(function)
    def call(*values: object) -> object:
        return function(*values[:-count], **dict(zip(names, values[-count:], strict=True)))

    @functools.wraps(function)
    def call_of_c(*values: object) -> object:
        given = zip(keywords, values[-count:], strict=True)
        return function(*values[:-count], **{k.name: v for k, v in given if v is not k.default})

    # A C function may reject the defaults that its own signature states.
    return call if hasattr(function, "__code__") else call_of_c


def traced_signature(signature: inspect.Signature, native: str | bool) -> inspect.Signature:
    """Return a kernel's signature in traced programs.

    `native` is the argument `native=` of `@kernel`.
    """
    parameters = list(signature.parameters.values())[takes_frame(signature) :]
    signature = signature.replace(parameters=parameters)
    if not isinstance(native, str):
        return signature
    from tfrt_runtime.kernels.users.signatures import parse_signature

    return parse_signature(native).applied(signature)
