"""Functions as values: `func.constant` and `func.call_indirect`, which xDSL lacks."""

from __future__ import annotations

from typing import Self

from xdsl.dialects import func
from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, FunctionType
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.assembly import print_parts
from tfrt_nb.dialects.async_.forms import with_operations


@irdl_op_definition
class ConstantOp(IRDLOperation):
    """`func.constant @f : (i32) -> i32`: the function as a value."""

    name = "func.constant"
    value = prop_def(FlatSymbolRefAttrConstr)
    result = result_def(FunctionType)

    traits = traits_def(Pure())

    assembly_format = "attr-dict $value `:` type($result)"


@irdl_op_definition
class CallIndirectOp(IRDLOperation):
    """`func.call_indirect %f(%x) : (i32) -> i32`."""

    name = "func.call_indirect"
    callee = operand_def(FunctionType)
    arguments = var_operand_def()
    res = var_result_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        callee = parser.parse_unresolved_operand()
        unresolved = parser.parse_op_args_list()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_function_type()
        function = parser.resolve_operand(callee, type_)
        arguments = parser.resolve_operands(unresolved, type_.inputs.data, position)
        return cls.build(
            operands=[function, arguments],
            result_types=[type_.outputs.data],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        print_parts(printer, " ", self.callee, "(", self.arguments, ")")
        printer.print_op_attributes(self.attributes)
        print_parts(printer, " : ", self.callee.type)

    def verify_(self) -> None:
        type_ = self.callee.type
        assert isinstance(type_, FunctionType)
        if list(type_.inputs) != [argument.type for argument in self.arguments]:
            raise VerifyException("operand types differ from those of the function's arguments")
        if list(type_.outputs) != list(self.res.types):
            raise VerifyException("result types differ from those of the function's results")


Func = with_operations(func.Func, (), (CallIndirectOp, ConstantOp))
