"""Functions of MLIR's runner utilities that take buffers, which programs declare and call.

    func.func private @printMemrefF32(memref<*xf32>) attributes { llvm.emit_c_interface }

Whether they ask for a C interface or not, they get the address of a buffer of any rank: see `unranked`.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FunctionType,
    IndexType,
    MemRefType,
    UnrankedMemRefType,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from tfrt_nb.jit.function_body import FunctionBody
from tfrt_nb.jit.llvm_types import UNRANKED_TYPE
from tfrt_nb.jit.unranked import widened
from tfrt_runtime.async_runtime.printed_buffers import BUFFER_FUNCTIONS

_ELEMENTS: dict[str, Attribute] = {
    **{str(type_): type_ for type_ in (bf16, f16, f32, f64, i8, i16, i32, i64)},
    "index": IndexType(),
}


def takes_buffer(name: str) -> bool:
    """Whether a function that a program declares is one of these."""
    return name in BUFFER_FUNCTIONS


def function_type(name: str) -> FunctionType:
    """How a program has to declare the function."""
    known = BUFFER_FUNCTIONS[name]
    element = _ELEMENTS[known.element]
    buffer: Attribute = UnrankedMemRefType.from_type(element)
    if known.rank is not None:
        buffer = MemRefType(element, [DYNAMIC_INDEX] * known.rank)
    return FunctionType.from_lists([buffer], [])


def call(body: FunctionBody, op: func.CallOp) -> None:
    """Call such a function."""
    [buffer] = op.arguments
    place = body.first(f"alloca {UNRANKED_TYPE}")
    body.emit(f"store {UNRANKED_TYPE} {_any_rank(body, buffer, op)}, ptr {place}")
    body.call(op.callee.root_reference.data, "void", ("ptr", place))


def _any_rank(body: FunctionBody, buffer: SSAValue, op: func.CallOp) -> str:
    if isinstance(buffer.type, UnrankedMemRefType):
        return body.name(buffer)
    return widened(body, buffer, op)
