"""Reference counts on the high-level operations, as the seed's review (D90716) introduced them.

They were later moved to the runtime operations (`async.runtime.add_ref`), where the count is an i64.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
)
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import ASYNC


class _CountingOp(IRDLOperation):
    """Changes the reference count of an object by `count`, which is positive."""

    operand = operand_def(ASYNC)
    count = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$operand attr-dict `:` type($operand)"

    def __init__(self, operand: SSAValue, count: int = 1) -> None:
        super().__init__(operands=[operand], properties={"count": IntegerAttr(count, i32)})

    def verify_(self) -> None:
        if self.count.value.data <= 0 or self.count.type != i32:
            raise VerifyException(
                "attribute 'count' failed to satisfy constraint: "
                "32-bit signless integer attribute whose value is positive"
            )


@irdl_op_definition
class AddRefOp(_CountingOp):
    """Takes `count` more references."""

    name = "async.add_ref"


@irdl_op_definition
class DropRefOp(_CountingOp):
    """Drops `count` references; the last one destroys the object."""

    name = "async.drop_ref"


OPERATIONS: list[type[Operation]] = [AddRefOp, DropRefOp]
