"""`vector.print` as calls that print."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
)
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.async_.upstream.printing import PrintOp
from tfrt_nb.jit.function_body import FunctionBody, Lowering
from tfrt_nb.jit.llvm_types import llvm_type
from tfrt_nb.passes.errors import fail


def _print(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, PrintOp)
    _print_number(body, op, op.source.type, body.name(op.source))
    body.call("printNewline", "void")


def _print_number(body: FunctionBody, op: Operation, type_: Attribute, value: str) -> None:
    text = llvm_type(type_)
    match type_:
        case IndexType():
            body.call("printU64", "void", ("i64", value))
        case IntegerType() if type_.width.data <= 64:
            is_unsigned = text == "i1" or type_.signedness.data is Signedness.UNSIGNED
            if text != "i64":
                extend = "zext" if is_unsigned else "sext"
                value = body.value(f"{extend} {text} {value} to i64")
            body.call("printU64" if is_unsigned else "printI64", "void", ("i64", value))
        case Float64Type():
            body.call("printF64", "void", ("double", value))
        case Float32Type():
            body.call("printF32", "void", ("float", value))
        case Float16Type() | BFloat16Type():
            wide = body.value(f"fpext {text} {value} to float")
            body.call("printF32", "void", ("float", wide))
        case _:
            fail(op, f"'{type_}' cannot be printed")


LOWERINGS: dict[str, Lowering] = {PrintOp.name: _print}
