"""`vector.print`, which prints a number; MLIR's other operations on vectors are unknown here."""

from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def


@irdl_op_definition
class PrintOp(IRDLOperation):
    """`vector.print %x : f32`: the number and the end of the line."""

    name = "vector.print"
    source = operand_def()

    assembly_format = "$source attr-dict `:` type($source)"


Vector = Dialect("vector", [PrintOp])
