"""`vector` as LLVM instructions, and calls that print."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.async_.vectors import PrintOp, Punctuation
from tfrt_nb.jit.function_body import FunctionBody, Lowering
from tfrt_nb.jit.llvm_types import llvm_type
from tfrt_nb.passes.errors import fail

_PUNCTUATION = {
    Punctuation.NEW_LINE: "printNewline",
    Punctuation.COMMA: "printComma",
    Punctuation.OPEN: "printOpen",
    Punctuation.CLOSE: "printClose",
}


def _print(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, PrintOp)
    if op.text is not None:
        name, _ = body.module.text(f"{op.text.data}\0")
        body.call("printString", "void", ("ptr", name))
        return
    if op.source is not None:
        _print_value(body, op, op.source.type, body.name(op.source))
    if op.punctuation.data in _PUNCTUATION:
        body.call(_PUNCTUATION[op.punctuation.data], "void")


def _print_value(body: FunctionBody, op: Operation, type_: Attribute, value: str) -> None:
    """A number, or in parentheses the parts of a vector."""
    if not isinstance(type_, VectorType):
        _print_number(body, op, type_, value)
        return
    body.call("printOpen", "void")
    for index, (part, inner) in enumerate(_parts(body, type_, value)):
        if index > 0:
            body.call("printComma", "void")
        _print_value(body, op, inner, part)
    body.call("printClose", "void")


def _parts(body: FunctionBody, type_: VectorType, value: str) -> Iterator[tuple[str, Attribute]]:
    """What the first dimension of a vector has, each with its type."""
    shape, text = type_.get_shape(), llvm_type(type_)
    if len(shape) < 2:
        for index in range(shape[0] if shape else 1):
            part = body.value(f"extractelement {text} {value}, i64 {index}")
            yield part, type_.element_type
        return
    inner = VectorType(type_.element_type, shape[1:])
    for index in range(shape[0]):
        yield body.value(f"extractvalue {text} {value}, {index}"), inner


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


LOWERINGS: dict[str, Lowering] = {
    PrintOp.name: _print,
}
