"""Convert MLIR types and constants to LLVM text.

Async objects and coroutine frames are pointers. Coroutine ids and states are LLVM tokens. An
`index` has 64 bits. A memref is MLIR's descriptor (https://mlir.llvm.org/docs/TargetLLVMIR/), a
struct that is passed by value:

    { ptr allocated, ptr aligned, i64 offset, [rank x i64] sizes, [rank x i64] strides }
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    UnrankedMemRefType,
)
from xdsl.ir import Attribute

from tfrt_nb.dialects.async_.types import (
    CoroHandleType,
    CoroIdType,
    CoroStateType,
    GroupType,
    TokenType,
    ValueType,
)
from tfrt_nb.dialects.attribute_printer import is_uniform
from tfrt_runtime.async_runtime.printing import MAX_DIMENSIONS

_FLOATS: dict[type[Attribute], str] = {
    BFloat16Type: "bfloat",
    Float16Type: "half",
    Float32Type: "float",
    Float64Type: "double",
}

UNRANKED_TYPE = f"{{ i64, ptr, ptr, i64, [{MAX_DIMENSIONS} x i64], [{MAX_DIMENSIONS} x i64] }}"
"""The descriptor of a buffer of any rank; see `operations.descriptors`."""

MAX_BITS = 4096
"""The maximum width of an integer."""
MAX_RANK = 256
MAX_WORDS = 1024
"""The maximum number of words in a function's arguments, and also in its results.

LLVM's compilation time grows with the square of this number, and a value with 65,536 parts crashes
the process.
"""


class UnsupportedType(Exception):
    """Raised for a type that compiled code does not support."""


def llvm_type(type_: Attribute) -> str:
    """Return the LLVM type for an MLIR type.

    Raises:
        UnsupportedType: if compiled code does not support the type. The message uses MLIR's name
            for the type.
    """
    match type_:
        case IntegerType():
            if not 0 < type_.width.data <= MAX_BITS:
                raise UnsupportedType(f"'{type_}' is not a type of compiled code")
            return f"i{type_.width.data}"
        case IndexType():
            return "i64"
        case TokenType() | ValueType() | GroupType() | CoroHandleType():
            return "ptr"
        case CoroIdType() | CoroStateType():
            return "token"
        case UnrankedMemRefType():
            return UNRANKED_TYPE
        case MemRefType():
            if len(type_.get_shape()) > MAX_RANK:
                raise UnsupportedType(f"a buffer has at most {MAX_RANK} dimensions")
            return memref_type(len(type_.get_shape()))
        case _ if type(type_) in _FLOATS:
            return _FLOATS[type(type_)]
        case _:
            raise UnsupportedType(f"'{type_}' is not a type of compiled code")


def memref_type(rank: int) -> str:
    """Return the LLVM type of the descriptor of a buffer with this rank."""
    if rank == 0:
        return "{ ptr, ptr, i64 }"
    return f"{{ ptr, ptr, i64, [{rank} x i64], [{rank} x i64] }}"


def size_of(type_: str) -> str:
    """Return the size of an LLVM type in bytes, as a constant of type i64."""
    # In an array at address 0, the address of element 1 is the size, including the target's
    # padding.
    return f"ptrtoint (ptr getelementptr ({type_}, ptr null, i64 1) to i64)"


def result_type(types: Sequence[Attribute]) -> str:
    """Return the LLVM return type for these results: void, one type, or a struct."""
    if not types:
        return "void"
    return llvm_type(types[0]) if len(types) == 1 else f"{{ {', '.join(map(llvm_type, types))} }}"


def signature(type_: FunctionType) -> tuple[str, list[str]]:
    """Return the LLVM return type and parameter types of a function.

    Raises:
        UnsupportedType: if a type is not supported, or if the arguments or the results take more
            than `MAX_WORDS` words.
    """
    for what, types in (("arguments", type_.inputs.data), ("results", type_.outputs.data)):
        if len(types) > MAX_WORDS or sum(map(_words, types)) > MAX_WORDS:
            raise UnsupportedType(
                f"the {what} of a function or task take more than {MAX_WORDS} words of 8 bytes; "
                "use a buffer"
            )
    return result_type(type_.outputs.data), [llvm_type(one) for one in type_.inputs]


def _words(type_: Attribute) -> int:
    match type_:
        case IntegerType():
            return 1 + int(type_.width.data) // 64
        case MemRefType():
            return 3 + 2 * len(type_.get_shape())
        case _:
            return 1


def constant(value: Attribute) -> str:
    """Return an attribute as an LLVM constant, without its type.

    Raises:
        UnsupportedType: if the attribute is not a number.
    """
    match value:
        case IntegerAttr():
            return str(value.value.data)
        case FloatAttr():
            return float_literal(value.value.data, value.type)
        case _:
            raise UnsupportedType(f"'{value}' is not a constant of compiled code")


def float_literal(number: float, type_: Attribute) -> str:
    """Return the exact value of a float in hexadecimal.

    For both float and double, LLVM accepts the bits of a double.
    """
    match type_:
        case Float16Type():
            return f"0xH{struct.pack('>e', number).hex().upper()}"
        case BFloat16Type():
            return f"0xR{struct.pack('>f', number)[:2].hex().upper()}"
        case Float32Type():
            # LLVM rejects bits of a double that is not exactly a float.
            number = struct.unpack("<f", struct.pack("<f", number))[0]
    return f"0x{struct.pack('>d', number).hex().upper()}"


def array_literal(value: DenseIntOrFPElementsAttr) -> str:
    """Return all elements, in order, as the value of an LLVM array."""
    element = value.get_element_type()
    text = llvm_type(element)
    values = value.get_values()
    if is_uniform(value):
        return f"[{', '.join([f'{text} {_number(values[0], element)}'] * len(values))}]"
    return f"[{', '.join(f'{text} {_number(one, element)}' for one in values)}]"


def _number(number: object, type_: Attribute) -> str:
    match number:
        case int() if isinstance(type_, IntegerType | IndexType):
            return str(number)
        case int() | float():
            return float_literal(number, type_)
        case _:
            raise UnsupportedType(f"compiled code cannot have constants of type '{type_}'")
