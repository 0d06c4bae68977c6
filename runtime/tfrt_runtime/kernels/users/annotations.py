"""Derive the types that programs use from the annotations of Python functions.

When a program is loaded, its kernel calls are checked against these types.  Traced functions also
get their types from annotations.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from typing import Any, TypeGuard

from tfrt_runtime.host.payload import SCALAR_TYPES, Chain, PayloadError, as_python
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.values.fitting import CHAIN_TYPE, STRING_TYPE, as_array, as_tensor, misfit
from tfrt_runtime.host.values.fitting import TENSOR as TENSOR_ENDING
from tfrt_runtime.kernels.registry import KernelError, PythonKernel, unevaluated_signature

CHAIN, STRING, OBJECT, TENSOR = CHAIN_TYPE, STRING_TYPE, "!tfrt.object", "!t.tensor"
INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f32", "f64")
NUMBERS = ("i1", *INTEGERS, *FLOATS)
_KINDS: dict[object, frozenset[str]] = {
    bool: frozenset({"i1"}),
    int: frozenset({*INTEGERS, "index", "ui8", "ui16", "ui32", "ui64"}),
    float: frozenset({"f16", "bf16", *FLOATS}),
    complex: frozenset({"complex64", "complex128", OBJECT}),
    str: frozenset({STRING, OBJECT}),
    None: frozenset({CHAIN, OBJECT}),
    type(None): frozenset({CHAIN, OBJECT}),
    Chain: frozenset({CHAIN}),
}
"""The program types that each Python class, used as an annotation, accepts."""


class Type:
    """A type that can be used as an annotation, such as `tfrt.i32`.

    In a traced function, calling the type casts a value.
    """

    def __init__(self, name: str, cast: Callable[[object, str], object], shown: str = "") -> None:
        """Make a type.  `shown` is its name in `tfrt_nb` if that differs from `name`."""
        self.name = name
        self._cast = cast
        self.shown = shown or name

    def __repr__(self) -> str:
        return f"tfrt.{self.shown}"

    def __call__(self, value: Any) -> Any:
        """Cast `value` to this type."""
        return self._cast(value, self.name)


class TensorType:
    """The type `tfrt.tensor[element, rank]`.

    Inside `tfrt.out[...]`, it means a tensor that a native kernel writes.
    """

    def __init__(self, element: Type, rank: int, *, is_out: bool = False) -> None:
        self.element = element
        self.rank = rank
        self.is_out = is_out

    def __repr__(self) -> str:
        shown = f"tfrt.tensor[{self.element!r}, {self.rank}]"
        return f"tfrt.out[{shown}]" if self.is_out else shown


class _Tensor:
    """`tfrt.tensor`: `tfrt.tensor[tfrt.f64, 1]` is a tensor with that element type and rank."""

    def __getitem__(self, item: object) -> TensorType:
        if (
            isinstance(item, tuple)
            and len(item) == 2
            and isinstance(item[0], Type)
            and isinstance(item[1], int)
            and item[1] >= 0
        ):
            return TensorType(item[0], item[1])
        raise TypeError(
            f"expected an element type and a rank, as in tfrt.tensor[tfrt.f64, 1], found {item!r}"
        )

    def __repr__(self) -> str:
        return "tfrt.tensor"


class _Out:
    """`tfrt.out`: `tfrt.out[tfrt.tensor[tfrt.f64, 1]]` is a tensor that a native kernel writes.

    `tfrt.out[tfrt.f64, 1]` is a shorter form.
    """

    def __getitem__(self, item: object) -> TensorType:
        written = item if isinstance(item, TensorType) else tensor[item]
        return TensorType(written.element, written.rank, is_out=True)

    def __repr__(self) -> str:
        return "tfrt.out"


tensor = _Tensor()
out = _Out()


def signature_of(function: Callable[..., object]) -> inspect.Signature:
    """Return a function's signature, with evaluated annotations.

    An annotation that cannot be evaluated remains a string.  A C function without a signature gets
    a signature that accepts any arguments.  A class has no return annotation, because the `None` of
    its `__init__` is not what a call of the class returns.
    """
    is_class = isinstance(function, type)
    try:
        found = inspect.signature(function, eval_str=True)
        return found.replace(return_annotation=found.empty) if is_class else found
    except ValueError:
        return inspect.signature(lambda *_: None)
    except Exception:  # noqa: BLE001 - annotations may be any text
        found = unevaluated_signature(function)
    # Evaluate annotations one by one: a name that only type checkers know must not affect others.
    names = getattr(inspect.unwrap(function), "__globals__", {})
    parameters = [
        one.replace(annotation=_evaluated(one.annotation, names))
        for one in found.parameters.values()
    ]
    returned = found.empty if is_class else _evaluated(found.return_annotation, names)
    return found.replace(parameters=parameters, return_annotation=returned)


def _evaluated(annotation: object, names: dict[str, object]) -> object:
    """Evaluate a string annotation or a forward reference; if that fails, return the string."""
    text = getattr(annotation, "__forward_arg__", annotation)
    if isinstance(text, str):
        with suppress(Exception):
            return eval(text, names)
    return text


def is_integer(type_text: str) -> bool:
    """Return whether a type is an integer type other than `i1`."""
    return type_text in INTEGERS


def is_float(type_text: str) -> bool:
    """Return whether a type is a floating-point type."""
    return type_text in FLOATS


def annotated_type(annotation: object, like: Sequence[str] = ()) -> str | None:
    """Return the program's type for an annotation, or None; "f32" means the same as `tfrt.f32`.

    Args:
        like: the operands' types.  `int` means the first integer type among them, and `float` means
            the first floating-point type.
    """
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if isinstance(annotation, Type):
        return annotation.name
    if isinstance(annotation, str):
        return annotation if annotation in NUMBERS else None
    if annotation is int:
        return next((one for one in like if is_integer(one)), "i64")
    if annotation is float:
        return next((one for one in like if is_float(one)), "f64")
    if annotation is None or annotation is type(None):
        return CHAIN
    if _is_tensor(annotation):
        return TENSOR
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return OBJECT  # even if the members are numbers or strings
    # Compare identities, because an annotation need not be hashable.
    return next(
        (w for one, w in ((bool, "i1"), (str, STRING), (object, OBJECT)) if one is annotation), None
    )


def _is_tensor(annotation: object) -> bool:
    if isinstance(annotation, TensorType):
        return True
    origin = typing.get_origin(annotation) or annotation
    return getattr(origin, "__name__", "") == "ndarray"


def awaited(annotation: object) -> object:
    """Return the type that a program gets from a function with this return annotation.

    For example, this is `int` for `Future[int]`.
    """
    kind = typing.get_origin(annotation) or annotation
    # Futures of `concurrent.futures`, whose import takes 20 ms, have no `__await__`.
    is_future = hasattr(kind, "__await__") or (
        getattr(kind, "__module__", "") == "concurrent.futures._base"
    )
    if not is_future or kind is AsyncValue:
        return annotation
    return (typing.get_args(annotation) or (Any,))[-1]


def result_types(annotation: object, like: Sequence[str]) -> tuple[str, ...]:
    """Return the types of a kernel's results; a result without an annotation has the type object.

    A tuple annotation means several results, unless it has fewer than two items or any number of
    items; in these cases, the result is one object.
    """
    annotation = awaited(annotation)
    items = typing.get_args(annotation) if typing.get_origin(annotation) is tuple else ()
    if len(items) < 2 or items[-1] is ...:
        items = (annotation,)
    return tuple(annotated_type(awaited(item), like) or OBJECT for item in items)


def accepts(annotation: object, type_text: str) -> bool:
    """Return whether values of a program's type may fit an annotation.

    A type of "" means that the program does not state the type.  If in doubt, return True.
    """
    if isinstance(annotation, str):
        return annotation not in NUMBERS or type_text in (annotation, "")
    if type_text == "" or annotation in (object, Any, inspect.Parameter.empty, AsyncValue):
        return True
    if isinstance(annotation, Type):
        return type_text in (annotation.name, annotation.shown)
    if _is_tensor(annotation):
        return type_text == OBJECT or type_text.endswith(TENSOR_ENDING)
    origin = typing.get_origin(annotation)
    if _is_one_of(annotation):
        return any(accepts(one, type_text) for one in typing.get_args(annotation))
    if origin is typing.Annotated:
        return accepts(typing.get_args(annotation)[0], type_text)
    kind = origin or annotation
    if annotation is None or isinstance(kind, type):
        known = _KINDS.get(kind)
        if known is not None:
            return type_text in known
        is_number = type_text in (*SCALAR_TYPES, "index", CHAIN, STRING)
        is_builtin = getattr(kind, "__module__", "") == "builtins"
        return not is_number and not (is_builtin and type_text.endswith(TENSOR_ENDING))
    return True


def takes_value(annotation: object) -> bool:
    """Return whether a parameter is annotated as an AsyncValue, and is therefore not awaited.

    The annotation may also allow None.
    """
    if isinstance(annotation, str):  # perhaps subscripted with the value's type
        return annotation.partition("[")[0].rpartition(".")[2] == "AsyncValue"
    items = [one for one in typing.get_args(annotation) if one is not type(None)]
    if (
        typing.get_origin(annotation) is typing.Annotated
        or len(items) == 1
        and _is_one_of(annotation)
    ):
        return takes_value(items[0])
    return annotation is AsyncValue


def holds_values(annotation: object) -> bool:
    """Return whether a parameter is annotated as a container of AsyncValues.

    An example is `list[AsyncValue]`.
    """
    if isinstance(annotation, str):
        return "[" in annotation and "AsyncValue" in annotation and not takes_value(annotation)
    kind = typing.get_origin(annotation)
    has_items = isinstance(kind, type) and issubclass(kind, Iterable)
    return any(
        has_items and takes_value(one) or holds_values(one) for one in typing.get_args(annotation)
    )


def _is_one_of(annotation: object) -> bool:
    return typing.get_origin(annotation) in (typing.Union, types.UnionType)


def accepts_results(annotation: object, result_types: Sequence[str]) -> bool:
    """Return whether results of these types fit a kernel's return annotation."""
    if OBJECT not in result_types:  # an object result may be the future itself
        annotation = awaited(annotation)
    if not has_annotation(annotation) or annotation is Any or isinstance(annotation, str):
        return True
    if _is_one_of(annotation):
        # Different numbers are returned as an object.
        return OBJECT in result_types or any(
            accepts_results(one, result_types) for one in typing.get_args(annotation)
        )
    count, kind = len(result_types), typing.get_origin(annotation) or annotation
    # Without results, the annotation must accept a chain, as None does.
    if count < 2 and accepts(annotation if kind is not tuple else kind, (*result_types, CHAIN)[0]):
        return True
    if kind not in (tuple, list):
        return count > 1 and annotation is object
    items = tuple(map(awaited, typing.get_args(annotation)))
    if kind is list or not items or items[-1] is ...:  # any number of results
        items = (*items, Any)[:1] * count
    return len(items) == count and all(map(accepts, items, result_types))


def mismatch(
    kernel: PythonKernel,
    operands: Sequence[str],
    results: Sequence[str],
    order: Sequence[int] = (),
) -> str | None:
    """Return the first mismatch between a kernel's annotations and the types of a call, or None.

    `order` maps operands to the kernel's arguments, if their order is different.
    """
    parameters = kernel.parameters
    if parameters is None:
        return None
    # A chain after the arguments orders the call. A value whose type is "" may be a chain.
    given = len(operands) - (len(operands) > 0 and operands[-1] in (CHAIN, ""))
    if kernel.takes is not None and given > kernel.takes:
        return f"'{kernel.name}' takes {kernel.taken}, found {len(operands)}"
    count = len(parameters.names)
    for place, type_text in zip(order or range(len(operands)), operands, strict=True):
        if place < count:
            annotation, name = parameters.annotations[place], f" ({parameters.names[place]})"
        else:
            annotation, name = parameters.rest, ""
        is_order = place == count == kernel.takes and type_text == CHAIN
        if not is_order and not accepts(annotation, type_text):
            text = f"argument {place + 1}{name} of '{kernel.name}' is {shown(annotation)}"
            return f"{text}, found {type_text}"
    if accepts_results(parameters.returned, results):
        return None
    found = ", ".join(results) or "no results"
    return f"'{kernel.name}' returns {shown(parameters.returned)}, found {found}"


def with_arrays(
    kernel: PythonKernel, operands: Sequence[str], order: Sequence[int] = ()
) -> PythonKernel:
    """Return `kernel`, or a kernel that converts some arguments to arrays, for these operand types.

    An object is not converted when it enters a program.  Therefore, if an argument is annotated as
    an array, the returned kernel converts the object to an array, or rejects it.  For `order`, see
    `mismatch`.
    """
    known = kernel.parameters
    if known is None or not kernel.arrays or kernel.raw:
        return kernel
    kinds = (*known.annotations, *[known.rest] * len(operands))
    places = [
        place
        for place, one in zip(order or range(len(operands)), operands, strict=True)
        if one in (OBJECT, "") and _is_tensor(kinds[place])
    ]

    def call(*values: object) -> object:
        arguments = list(values)
        for place in places:
            value = arguments[place + kernel.frame]
            try:
                if as_array(value, TENSOR) is not value:
                    arguments[place + kernel.frame] = as_python(as_tensor(value, TENSOR))
            except PayloadError as wrong:
                reason = misfit(TENSOR, value, wrong)
                raise KernelError(f"argument {place + 1} of '{kernel.name}': {reason}") from None
        return kernel.function(*arguments)

    return replace(kernel, function=call) if places else kernel


def shown(annotation: object) -> str:
    """Return an annotation as it is written in source code."""
    match annotation:
        case types.GenericAlias():
            return f"{shown(annotation.__origin__)}[{', '.join(map(shown, annotation.__args__))}]"
        case type():
            return annotation.__name__
    return repr(annotation)


def has_annotation(annotation: object) -> TypeGuard[object]:
    """Return whether `annotation` was written by the user, rather than being `Parameter.empty`."""
    return annotation is not inspect.Parameter.empty
