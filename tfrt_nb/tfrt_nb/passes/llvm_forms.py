"""What a type of MLIR is in its `llvm` dialect.

Two conversions: `async_form` changes objects of the runtime and what belongs to coroutines only, which is
what becomes of function signatures; `llvm_form` changes every type, which is what a payload has in memory.
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    FloatTF32Type,
    FunctionType,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    NoneAttr,
    UnrankedMemRefType,
    VectorType,
    i8,
    i64,
)
from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType
from xdsl.ir import Attribute

from tfrt_nb.dialects.async_.types import (
    CoroHandleType,
    CoroIdType,
    CoroStateType,
    GroupType,
    TokenType,
    ValueType,
)
from tfrt_nb.dialects.llvm.types import POINTER, TOKEN, struct_of

_FLOATS = (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    FloatTF32Type,
)


def async_form(type_: Attribute) -> Attribute:
    """Async objects and handles are pointers, ids and saved states tokens; others stay as they are."""
    match type_:
        case TokenType() | ValueType() | GroupType() | CoroHandleType():
            return POINTER
        case CoroIdType() | CoroStateType():
            return TOKEN
        case _:
            return type_


def async_forms(types: Iterable[Attribute]) -> list[Attribute]:
    """`async_form` of each."""
    return [async_form(type_) for type_ in types]


def llvm_form(type_: Attribute) -> Attribute | None:
    """The type in memory, None where MLIR's conversion to LLVM has none."""
    if type_.name.startswith("llvm."):
        return type_
    match type_:
        case IntegerType():
            return IntegerType(type_.width.data)
        case IndexType():
            return i64
        case ComplexType():
            element = llvm_form(type_.element_type)
            return None if element is None else struct_of(element, element)
        case VectorType():
            return _vector(type_)
        case MemRefType():
            return _descriptor(type_)
        case UnrankedMemRefType():
            return None if llvm_form(type_.element_type) is None else struct_of(i64, POINTER)
        case FunctionType():
            return POINTER
        case _ if isinstance(type_, _FLOATS):
            return type_
        case _ if isinstance(type_, AnyFloat):
            return i8  # of eight bits or fewer
    converted = async_form(type_)
    return None if converted is type_ else converted


def _vector(type_: VectorType[Attribute]) -> Attribute | None:
    """One dimension stays a vector, those around it become arrays."""
    element = llvm_form(type_.element_type)
    if element is None:
        return None
    if not type_.get_shape():
        return VectorType(element, [1])
    *outer, last = type_.get_shape()
    *scalable, is_last_scalable = type_.scalable_dims
    if any(flag.value.data for flag in scalable):
        return None
    form: Attribute = VectorType(element, [last], ArrayAttr([is_last_scalable]))
    for size in reversed(outer):
        form = LLVMArrayType(IntAttr(size), form)
    return form


def _descriptor(type_: MemRefType) -> Attribute | None:
    """`(allocated, aligned, offset, sizes, strides)`; the last two are left out for a single element."""
    pointer = _pointer_into(type_.memory_space)
    if pointer is None or llvm_form(type_.element_type) is None or not _is_strided(type_):
        return None
    rank = len(type_.get_shape())
    dimensions = [LLVMArrayType(IntAttr(rank), i64)] * 2 if rank else []
    return struct_of(pointer, pointer, i64, *dimensions)


def _pointer_into(space: Attribute) -> LLVMPointerType | None:
    match space:
        case NoneAttr():
            return POINTER
        case IntegerAttr():
            return LLVMPointerType(IntAttr(space.value.data)) if space.value.data else POINTER
        case _:
            return None


def _is_strided(type_: MemRefType) -> bool:
    return not type_.get_shape() or type_.get_strides() is not None
