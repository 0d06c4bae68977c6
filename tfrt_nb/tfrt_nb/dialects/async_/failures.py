"""Operations that carry why and where something failed; MLIR has none of them, there both are lost.

An error of a coroutine is noted at its results right before they are set to it.  An error of a plain
function is noted for the thread, until a coroutine that called the function takes it over or the
program ends.  The place is the operation's own location.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, prop_def

from tfrt_nb.dialects.async_.runtime import ObjectOp
from tfrt_nb.dialects.async_.types import ASYNC, AWAITABLE
from tfrt_nb.dialects.fast_ir import PlainOp, initialize


@irdl_op_definition
class RuntimeDescribeErrorOp(IRDLOperation):
    """Says why a token or value that is about to be set to an error fails."""

    name = "async.runtime.describe_error"
    operand = operand_def(AWAITABLE)
    message = prop_def(StringAttr)

    assembly_format = "$operand `,` $message attr-dict `:` type($operand)"

    def __init__(self, operand: SSAValue, message: StringAttr) -> None:
        initialize(self, operands=[operand], properties={"message": message})


@irdl_op_definition
class RuntimeInheritErrorOp(PlainOp):
    """The error that a token or value is about to be set to is the one of another object."""

    name = "async.runtime.inherit_error"
    operand = operand_def(AWAITABLE)
    source = operand_def(ASYNC)

    assembly_format = "$operand `,` $source attr-dict `:` type($operand) `,` type($source)"


@irdl_op_definition
class RuntimeCheckOp(ObjectOp):
    """Fails the enclosing plain function with the object's error, if it is in error."""

    name = "async.runtime.check"


@irdl_op_definition
class RuntimeCheckInterruptOp(PlainOp):
    """Fails the enclosing function if the run that it is part of is cancelled."""

    name = "async.runtime.check_interrupt"

    assembly_format = "attr-dict"


@irdl_op_definition
class RuntimeFailOp(IRDLOperation):
    """Notes for this thread that the function fails, and why."""

    name = "async.runtime.fail"
    message = prop_def(StringAttr)

    assembly_format = "$message attr-dict"

    def __init__(self, message: StringAttr) -> None:
        initialize(self, properties={"message": message})


@irdl_op_definition
class RuntimeFailFromOp(ObjectOp):
    """Notes for this thread that the function fails with the error of an object."""

    name = "async.runtime.fail_from"


@irdl_op_definition
class RuntimeTakeFailureOp(ObjectOp):
    """The error that a token or value is about to be set to is the one noted for this thread."""

    name = "async.runtime.take_failure"
    operand = operand_def(AWAITABLE)
