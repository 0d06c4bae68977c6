"""Add kernel calls to a trace."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfrt_nb.tracing.trace import DTYPES, Trace, Traced, described, number_attribute, required
from tfrt_runtime.bef.attributes import Attribute, Scalar, String, array_of
from tfrt_runtime.bef.records import DType
from tfrt_runtime.diagnostics import refuse
from tfrt_runtime.host.payload import PayloadError, encode_scalar
from tfrt_runtime.kernels.registry import REQUIRED
from tfrt_runtime.kernels.users.annotations import (
    CHAIN,
    OBJECT,
    accepts,
    annotated_type,
    is_float,
    result_types,
    shown,
)
from tfrt_runtime.kernels.users.user import UserKernel


@dataclass(frozen=True, slots=True)
class CallPlan:
    """The data that all calls to a kernel share, read from its function only once."""

    signature: inspect.Signature
    positional: tuple[inspect.Parameter, ...]
    keywords: Mapping[str, object]
    """The attributes and their defaults."""
    is_variadic: bool

    @staticmethod
    @functools.lru_cache(maxsize=4096)
    def of(kernel: UserKernel) -> CallPlan:
        """Make the plan for a kernel, or return the plan of an earlier call."""
        parameters = list(kernel.signature.parameters.values())
        positional = [
            p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        ]
        keywords = {
            p.name: REQUIRED if p.default is p.empty else p.default
            for p in parameters
            if p.kind is p.KEYWORD_ONLY
        }
        is_variadic = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        return CallPlan(kernel.signature, tuple(positional), keywords, is_variadic)


def traced_call(
    kernel: UserKernel, values: tuple[object, ...], keywords: dict[str, object]
) -> object:
    """Add the operation that calls `kernel`, and return its results.

    If the kernel returns None, the result is a chain.
    """
    trace = required(f"'{kernel.name}'")
    kernel.check_is_registered()
    after = keywords.pop("after", ())
    plan = CallPlan.of(kernel)
    if len(values) != len(plan.positional) or not keywords.keys() <= plan.keywords.keys():
        values, keywords = bound(kernel, values, keywords)
    elif len(keywords) < len(plan.keywords):
        for name, default in plan.keywords.items():
            if default is REQUIRED and name not in keywords:
                refuse(f"'{kernel.name}': missing a required argument: '{name}'")
    count = len(plan.positional)
    operands = [
        operand(trace, kernel, parameter, value)
        for parameter, value in zip(plan.positional, values, strict=False)
    ]
    operands += [trace.value(item) for item in values[count:]]
    like = [value.type for value in operands if not value.is_weak]
    if order := order_of(trace, after):
        if plan.is_variadic:
            refuse(f"'{kernel.name}' takes any number of arguments, so it cannot be ordered")
        operands.append(trace.chain_of(order))
    types = result_types(plan.signature.return_annotation, like)
    results = trace.kernel(kernel.name, operands, types, attributes_of(kernel, keywords))
    if types == (CHAIN,):
        trace.effect(results[0])
    return results[0] if len(results) == 1 else results


def bound(
    kernel: UserKernel, values: tuple[object, ...], keywords: dict[str, object]
) -> tuple[tuple[object, ...], dict[str, object]]:
    """Return the arguments in parameter order, and the attributes.

    A default is filled in only if a later parameter is given.

    Raises:
        TfrtError: if Python would reject a call to the kernel's function with these arguments.
    """
    plan = CallPlan.of(kernel)
    try:
        found = plan.signature.bind(*values, **keywords)
    except TypeError as wrong:
        refuse(f"'{kernel.name}': {wrong}; it takes {kernel.signature}")
    given = [found.arguments[p.name] for p in plan.positional if p.name in found.arguments]
    gap = next((p for p in plan.positional if p.name not in found.arguments), None)
    if gap is not None and len(given) != plan.positional.index(gap):
        given = [found.arguments.get(p.name, p.default) for p in plan.positional]
    # If a parameter is omitted, `bind` puts the later ones into kwargs, but they are not
    # attributes.
    named = {p.name for p in plan.positional}
    attributes = {name: value for name, value in found.kwargs.items() if name not in named}
    # If there are more positional values, the kernel is variadic, and `args` contains all values.
    return found.args[len(given) :] and found.args or tuple(given), attributes


def operand(
    trace: Trace, kernel: UserKernel, parameter: inspect.Parameter, value: object
) -> Traced:
    """Return an argument as a value of the type that the parameter's annotation requires."""
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        return trace.value(value)
    what = f"argument '{parameter.name}' of '{kernel.name}'"
    if isinstance(value, Traced):
        is_open = value.is_weak or value.type == OBJECT
        found = trace.value(value, annotated_type(annotation) if is_open else None)
    else:
        with described(what):
            found = trace.value(value, annotated_type(annotation))
    if not accepts(annotation, found.type):
        own = found.type if isinstance(value, Traced) else type(value).__name__
        refuse(f"{what} is {shown(annotation)}, found {own}")
    return found


def order_of(trace: Trace, after: object) -> list[object]:
    """Return the values for which a call waits in addition to its arguments."""
    given = after if isinstance(after, tuple | list) else (after,)
    for item in given:
        if item is not None and not isinstance(item, Traced):
            refuse(f"after= takes values that kernels return, found {item!r}")
    return [item for item in (*given, trace.order) if item is not None]


def attribute(name: str, value: object) -> Attribute:
    """Convert a Python value to the attribute called `name`."""
    if isinstance(value, Traced):
        refuse(f"attribute '{name}' must be known when the program is traced, found a traced value")
    value = _plain(value)
    match value:
        case bool():
            return Scalar(DType.I1, value)
        case int():
            if not -(1 << 63) <= value < 1 << 63:
                refuse(f"attribute '{name}': {value} does not fit in i64")
            return Scalar(DType.I64, value)
        case float():
            return Scalar(DType.F64, value)
        case str():
            return String(value)
        case tuple() | list():
            return array_of([attribute(name, item) for item in value])
    refuse(f"attribute '{name}' cannot be {type(value).__name__}: pass it as an argument")


def _plain(value: Any) -> Any:
    """Return a value; a numpy scalar is converted to a Python number."""
    is_number = type(value).__module__ == "numpy" and not hasattr(value, "__len__")
    return value.item() if is_number and hasattr(value, "item") else value


def typed_attribute(word: str, name: str, value: object) -> Attribute:
    """Convert a Python value to an attribute of the type that the signature states, if any."""
    value = _plain(value)
    word = word.removesuffix("?")
    if word.startswith("array.") and isinstance(value, list | tuple):
        element = word.removeprefix("array.")
        return array_of([typed_attribute(element, name, item) for item in value])
    if word in DTYPES and isinstance(value, int | float if is_float(word) else int):
        try:
            encode_scalar(word, value)
        except PayloadError as wrong:
            refuse(f"attribute '{name}': {wrong}")
        return number_attribute(value, word)
    return attribute(name, value)


def attributes_of(
    kernel: UserKernel | None, keywords: Mapping[str, object]
) -> list[tuple[str, Attribute]]:
    """Return the attributes that a call passes by name, in BEF's order.

    An attribute is left out if both its default and its value are None.
    """
    defaults = {} if kernel is None else CallPlan.of(kernel).keywords
    return [
        (name, keyword_attribute(kernel, name, keywords[name]))
        for name in sorted(keywords)
        if keywords[name] is not None or defaults.get(name, REQUIRED) is not None
    ]


def keyword_attribute(kernel: UserKernel | None, name: str, value: object) -> Attribute:
    """Convert a Python value to an attribute of the type in the kernel's annotation."""
    known = () if kernel is None else kernel.attributes
    kind = next((one.kind for one in known if one.name == name), None)
    if kind is float:
        kind = "f64"
    # In Python, a truth value is an integer, but only an i1 attribute accepts it as a number.
    is_number = not isinstance(_plain(value), bool) or kind == "i1"
    return typed_attribute(kind if isinstance(kind, str) and is_number else "", name, value)


class in_order:
    """A context in which effects happen in the order of their lines.

    This applies to kernels that return None and to operations with bodies.  The calls of one
    `tfrt.map` are not ordered, unless `at_once` is 1.
    """

    def __enter__(self) -> None:
        self._trace = required("tfrt.in_order")
        self._before = self._trace.order, self._trace.is_ordered
        self._trace.is_ordered = True

    def __exit__(self, *_: object) -> None:
        before, self._trace.is_ordered = self._before
        # If the enclosing block is ordered, it continues after the effects of this block.
        if not self._trace.is_ordered:
            self._trace.order = before


def unpacked(results: Sequence[Any]) -> Any:
    """Return the result of a traced call: a value, a tuple of several values, or None."""
    return None if not results else results[0] if len(results) == 1 else tuple(results)
