"""The types of values for type checkers: `tfrt.i32` as an annotation, `tfrt.i32(x)` as a cast.

This module is never imported at run time, when the types are instances of
`tfrt_runtime.kernels.users.annotations.Type`. A value of such a type is a number in Python and a
traced value in a program, so checkers accept any operation on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated as tensor
from typing import Any, Generic, TypeVar

__all__ = [
    "f32",
    "f64",
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "index",
    "out",
    "tensor",
    "ui8",
    "ui16",
    "ui32",
    "ui64",
]
Element = TypeVar("Element")


class Value(Any):  # type: ignore[misc]
    """A value of a program, of any type."""

    def __init__(self, value: Any) -> None: ...

    # Strict rules forbid returning Any from a typed function, so operators return `Value`.
    def _binary(self, other: Any) -> Value:
        return self

    def _unary(self) -> Value:
        return self

    def __iter__(self) -> Iterator[Value]:
        return iter((self,))

    __add__ = __sub__ = __mul__ = __truediv__ = __floordiv__ = __mod__ = __getitem__ = _binary
    __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = _binary
    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _binary
    __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _binary
    __lt__ = __le__ = __gt__ = __ge__ = _binary
    __neg__ = __invert__ = __abs__ = _unary


class i1(Value):
    """A truth value."""


class i8(Value):
    """An 8-bit integer."""


class i16(Value):
    """A 16-bit integer."""


class i32(Value):
    """A 32-bit integer."""


class i64(Value):
    """A 64-bit integer."""


class ui8(Value):
    """An unsigned 8-bit integer."""


class ui16(Value):
    """An unsigned 16-bit integer."""


class ui32(Value):
    """An unsigned 32-bit integer."""


class ui64(Value):
    """An unsigned 64-bit integer."""


class f32(Value):
    """A 32-bit float."""


class f64(Value):
    """A 64-bit float."""


class index(Value):
    """A 64-bit index."""


class out(Value, Generic[Element]): ...
