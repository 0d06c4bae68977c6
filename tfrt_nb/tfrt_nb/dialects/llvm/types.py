"""Types of MLIR's `llvm` dialect: one that xDSL lacks, and how containers are printed."""

from __future__ import annotations

from xdsl.dialects.llvm import LLVMArrayType, LLVMPointerType, LLVMStructType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.printer import Printer


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """`!llvm.token`: what ties coroutine intrinsics together; never in memory, never a block argument."""

    name = "llvm.token"


POINTER = LLVMPointerType()
TOKEN = TokenType()


def struct_of(*types: Attribute) -> LLVMStructType:
    """`!llvm.struct<(...)>`, without a name."""
    return LLVMStructType.from_type_list(types)


def print_container(printer: Printer, type_: Attribute) -> bool:
    """Print a struct or an array as MLIR does, the prefix only in front of the outermost type.

    False, and nothing is printed, for other types.
    """
    if not isinstance(type_, LLVMStructType | LLVMArrayType):
        return False
    printer.print_string("!llvm.")
    _print_inner(printer, type_)
    return True


def _print_inner(printer: Printer, type_: Attribute) -> None:
    match type_:
        case LLVMStructType():
            printer.print_string("struct<")
            if type_.struct_name.data:
                printer.print_string_literal(type_.struct_name.data)
                printer.print_string(", ")
            with printer.in_parens():
                printer.print_list(type_.types, lambda inner: _print_inner(printer, inner))
            printer.print_string(">")
        case LLVMArrayType():
            printer.print_string(f"array<{type_.size.data} x ")
            _print_inner(printer, type_.type)
            printer.print_string(">")
        case LLVMPointerType():
            printer.print_string("ptr")
            type_.print_parameters(printer)
        case _:
            printer.print_attribute(type_)
