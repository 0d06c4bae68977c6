"""Map the types of compiled functions' arguments and results to those of host programs.

When a host program calls a compiled function, arguments and results cross between the two. A host
value is itself an AsyncValue, so a host program does not notice that a compiled function awaits an
argument, or that a result arrives later.

    compiled                             host
    i1, i8 ... i64, f16, bf16, f32, f64  the same
    index                                i64
    !async.token                         !tfrt.chain
    !async.value<T>                      the host type of T
    memref<?x4xf32>                      !t.tensor
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
)
from xdsl.ir import Attribute

from tfrt_nb.dialects.async_.types import TokenType, ValueType
from tfrt_nb.dialects.types import CHAIN, I64, TENSOR

_WIDTHS = (1, 8, 16, 32, 64)


def host_type(type_: Attribute) -> Attribute | None:
    """Return the host type for a compiled function's type, or None if its values cannot cross."""
    match type_:
        case TokenType():
            return CHAIN
        case ValueType():
            return host_type(type_.value_type) if not is_awaited(type_.value_type) else None
        case MemRefType():
            is_contiguous = isinstance(type_.layout, NoneAttr)
            return TENSOR if is_contiguous and _plain(type_.element_type) else None
        case _:
            return _plain(type_)


def is_awaited(type_: Attribute) -> bool:
    """Return whether a compiled function itself awaits arguments of this type."""
    return isinstance(type_, TokenType | ValueType)


def host_types(types: Sequence[Attribute]) -> list[Attribute] | None:
    """Return the host types for several types, or None if values of one of them cannot cross."""
    found = [host_type(type_) for type_ in types]
    known = [type_ for type_ in found if type_ is not None]
    return known if len(known) == len(found) else None


def uncrossable(inputs: Sequence[Attribute], outputs: Sequence[Attribute]) -> str | None:
    """Describe the first argument or result of a function that cannot cross, or return None."""
    for what, types in (("argument", inputs), ("result", outputs)):
        for index, found in enumerate(types):
            if host_type(found) is None:
                return f"{what} {index} is of type '{found}'"
    return None


def _plain(type_: Attribute) -> Attribute | None:
    match type_:
        case IntegerType() if type_.width.data in _WIDTHS:
            return type_
        case IndexType():
            return I64
        case Float16Type() | BFloat16Type() | Float32Type() | Float64Type():
            return type_
        case _:
            return None
