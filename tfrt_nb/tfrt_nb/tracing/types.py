"""The types of values in Python's words, and Python's words for types."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Sequence
from typing import TypeGuard

from tfrt_runtime.host.async_value import AsyncValue
from tfrt_runtime.host.fitting import CHAIN_TYPE, STRING_TYPE

CHAIN, STRING, OBJECT, TENSOR = CHAIN_TYPE, STRING_TYPE, "!tfrt.object", "!t.tensor"
INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f32", "f64")
NUMBERS = ("i1", *INTEGERS, *FLOATS)


def is_integer(type_text: str) -> bool:
    """Whether a type is one of whole numbers, `i1` not among them."""
    return type_text in INTEGERS


def is_float(type_text: str) -> bool:
    """Whether a type is one of floating-point numbers."""
    return type_text in FLOATS


class Type:
    """A type as an annotation, such as `tfrt.i32`; called in a traced function it is a cast."""

    def __init__(self, name: str, cast: Callable[[object, str], object]) -> None:
        self.name = name
        self._cast = cast

    def __repr__(self) -> str:
        return f"tfrt.{self.name}"

    def __call__(self, value: typing.Any) -> typing.Any:
        """`value` as a value of this type."""
        return self._cast(value, self.name)


def signature_of(function: Callable[..., object]) -> inspect.Signature:
    """The signature, with annotations that a future import made texts evaluated where that is possible."""
    try:
        return inspect.signature(function, eval_str=True)
    except Exception:  # noqa: BLE001 - annotations may be any text
        return inspect.signature(function)


def is_array(value: object) -> bool:
    """Whether a value is a numpy array; numpy is not imported for the question."""
    return (
        type(value).__module__ == "numpy"
        and hasattr(value, "__array_interface__")
        and (
            hasattr(value, "ndim")
            and hasattr(value, "strides")
            and type(value).__name__ == "ndarray"
        )
    )


def type_of_value(value: object) -> str:
    """The type that a Python value has in a program, where nothing else says it."""
    if isinstance(value, AsyncValue):
        return value.type or OBJECT
    if isinstance(value, bool) or _is_numpy(value, "bool"):
        return "i1"
    if isinstance(value, int) or _is_numpy(value, "int"):
        return "i64"
    if isinstance(value, float) or _is_numpy(value, "float"):
        return "f64"
    if isinstance(value, str):
        return STRING
    return TENSOR if is_array(value) else OBJECT


def _is_numpy(value: object, kind: str) -> bool:
    kind_of = type(value).__name__
    return type(value).__module__ == "numpy" and kind_of.lstrip("u").startswith(kind)


def annotated_type(annotation: object, like: Sequence[str] = ()) -> str | None:
    """The type that an annotation says, None if it says none.

    Args:
        like: types of operands: an `int` is the first integer type among them, a `float` the first
            of floats.
    """
    if isinstance(annotation, Type):
        return annotation.name
    if annotation is int:
        return next((one for one in like if is_integer(one)), "i64")
    if annotation is float:
        return next((one for one in like if is_float(one)), "f64")
    if annotation is None or annotation is type(None):
        return CHAIN
    if _is_ndarray(annotation):
        return TENSOR
    return {bool: "i1", str: STRING, object: OBJECT}.get(annotation)  # type: ignore[call-overload, no-any-return]


def _is_ndarray(annotation: object) -> bool:
    origin = typing.get_origin(annotation) or annotation
    return getattr(origin, "__name__", "") == "ndarray"


def result_types(annotation: object, like: Sequence[str]) -> tuple[str, ...]:
    """The types of the results of a kernel; what its annotation does not say is an object."""
    if typing.get_origin(annotation) is tuple:
        items = typing.get_args(annotation)
        return tuple(annotated_type(item, like) or OBJECT for item in items if item is not ...)
    return (annotated_type(annotation, like) or OBJECT,)


def accepts(annotation: object, type_text: str) -> bool:
    """Whether a parameter with an annotation takes values of a type."""
    if annotation is int:
        return is_integer(type_text)
    if annotation is float:
        return is_float(type_text)
    if annotation is bool:
        return type_text == "i1"
    if isinstance(annotation, Type):
        return type_text == annotation.name
    if annotation is str:
        return type_text in (STRING, OBJECT)
    return True


def shown(annotation: object) -> str:
    """An annotation as it is written."""
    if isinstance(annotation, type) and not isinstance(annotation, types.GenericAlias):
        return annotation.__name__
    return repr(annotation)


def has_annotation(annotation: object) -> TypeGuard[object]:
    """Whether something was annotated."""
    return annotation is not inspect.Parameter.empty
