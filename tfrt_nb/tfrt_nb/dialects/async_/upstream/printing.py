"""`vector.print`, which prints a number. No other operation of MLIR's `vector` exists here."""

from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def


@irdl_op_definition
class PrintOp(IRDLOperation):
    """`vector.print %x : f32` prints the number and ends the line."""

    name = "vector.print"
    source = operand_def()

    assembly_format = "$source attr-dict `:` type($source)"


Vector = Dialect("vector", [PrintOp])
