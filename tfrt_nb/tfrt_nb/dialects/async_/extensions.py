"""Runtime operations that MLIR does not have: tasks without coroutines, interrupts, the end of the stack."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    SymbolRefAttr,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import (
    ANYTHING,
    AWAITABLE,
    BUFFER,
    GroupType,
    TokenType,
    ValueType,
)
from tfrt_nb.dialects.fast_ir import PlainOp, initialize


@irdl_op_definition
class RuntimeSpawnOp(IRDLOperation):
    """Has a worker call a function.  MLIR has no such operation.

    The results are a token and values of what the function returns; a function that is a coroutine gets
    them instead, as its first arguments, and resolves them.  The first `awaited` arguments are tokens and
    values that the task awaits, one after the other, before it calls the function; of these the function
    gets the payloads of the values.
    """

    name = "async.runtime.spawn"
    callee = prop_def(FlatSymbolRefAttrConstr)
    awaited = opt_prop_def(IntegerAttr)
    arguments = var_operand_def()
    results_ = var_result_def()

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = (
        "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $results_)"
    )

    def __init__(
        self,
        callee: str,
        arguments: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        awaited: int = 0,
    ) -> None:
        properties: dict[str, Attribute] = {"callee": SymbolRefAttr(callee)}
        if awaited:
            properties["awaited"] = IntegerAttr(awaited, i64)
        initialize(self, operands=arguments, result_types=result_types, properties=properties)

    @property
    def awaited_count(self) -> int:
        """How many of the arguments are awaited."""
        return 0 if self.awaited is None else self.awaited.value.data

    def verify_(self) -> None:
        count = self.awaited_count
        if not 0 <= count <= len(self.arguments):
            raise VerifyException("'awaited' is more than the number of arguments")
        for argument in self.arguments[:count]:
            if not isinstance(argument.type, TokenType | ValueType):
                raise VerifyException(f"'{argument.type}' cannot be awaited by a task")


AWAITED_AT = "awaited_at"
"""The attribute of a `RuntimeSpawnOp` that says where the body awaits the last of the awaited arguments itself."""
ADDED_AT = "added_at"
"""The attribute of a `RuntimeSpawnIntoOp` that says where the program adds to the group."""


@irdl_op_definition
class RuntimeSpawnIntoOp(IRDLOperation):
    """Has a worker call a function that never waits, as a member of a group.  MLIR has no such operation.

    The same as `async.runtime.spawn`, `async.runtime.add_to_group` and dropping the token, in one call.
    """

    name = "async.runtime.spawn_into"
    callee = prop_def(FlatSymbolRefAttrConstr)
    group = operand_def(GroupType)
    arguments = var_operand_def()

    assembly_format = "$group `,` $callee `(` $arguments `)` attr-dict `:` `(` type($arguments) `)`"

    def verify_(self) -> None:
        for argument in self.arguments:
            if isinstance(argument.type, TokenType | ValueType | GroupType):
                raise VerifyException(
                    f"'{argument.type}' cannot be given to a task without a token"
                )


class _QuestionOp(PlainOp):
    """Has no operands, and an answer."""

    result = result_def(i1)
    RESULTS: ClassVar = (i1,)

    assembly_format = "attr-dict"


class _BufferQuestionOp(PlainOp):
    """Has a buffer, and an answer."""

    buffer = operand_def(BUFFER)
    result = result_def(i1)
    RESULTS: ClassVar = (i1,)

    assembly_format = "$buffer attr-dict `:` type($buffer)"


@irdl_op_definition
class RuntimeIsCancelledOp(_QuestionOp):
    """Whether tasks shall not start any more; why is then this thread's failure."""

    name = "async.runtime.is_cancelled"


@irdl_op_definition
class RuntimeStackIsLowOp(_QuestionOp):
    """Whether little is left of this thread's stack.  MLIR has no such operation."""

    name = "async.runtime.stack_is_low"


@irdl_op_definition
class RuntimeInterruptIsPendingOp(_QuestionOp):
    """Whether some run of this process is cancelled; costs one load."""

    name = "async.runtime.interrupt_is_pending"


@irdl_op_definition
class RuntimeIsInterruptedOp(_QuestionOp):
    """Whether the run that this thread works for is cancelled; why is then this thread's failure."""

    name = "async.runtime.is_interrupted"


@irdl_op_definition
class RuntimeLogOp(IRDLOperation):
    """Logs, for runs that are watched, that control comes here, if `condition` holds where there is one.

    `event` says how: a `block` begins, a call `enter`s a function, or `leave`s it.  Of a call both have one `site`.
    """

    name = "async.runtime.log"
    event = prop_def(StringAttr)
    site = prop_def(IntegerAttr)
    condition = opt_operand_def(i1)

    assembly_format = "$event $site (`if` $condition^)? attr-dict"

    def __init__(self, event: str, site: int, condition: SSAValue | None = None) -> None:
        initialize(
            self,
            operands=() if condition is None else (condition,),
            properties={"event": StringAttr(event), "site": IntegerAttr(site, i64)},
        )


@irdl_op_definition
class RuntimeIsAvailableOp(PlainOp):
    """Whether the value has a payload: it is resolved, and not to an error."""

    name = "async.runtime.is_available"
    operand = operand_def(ValueType)
    result = result_def(i1)
    RESULTS: ClassVar = (i1,)

    assembly_format = "$operand attr-dict `:` type($operand)"


@irdl_op_definition
class RuntimeHandleOfOp(PlainOp):
    """A handle of an object: a number other than 0.  It owns a reference, which `from_handle` takes."""

    name = "async.runtime.handle_of"
    operand = operand_def(AWAITABLE)
    result = result_def(i64)
    RESULTS: ClassVar = (i64,)

    assembly_format = "$operand attr-dict `:` type($operand)"


@irdl_op_definition
class RuntimeFromHandleOp(IRDLOperation):
    """The object of a handle, and the reference that the handle owned."""

    name = "async.runtime.from_handle"
    handle = operand_def(i64)
    result = result_def(AWAITABLE)

    assembly_format = "$handle attr-dict `:` type($result)"

    def __init__(self, handle: SSAValue, type_: Attribute) -> None:
        initialize(self, operands=[handle], result_types=[type_])


@irdl_op_definition
class RuntimeFreeBufferOp(_BufferQuestionOp):
    """Gives a buffer of `memref.alloc` back; whether it was one, and live."""

    name = "async.runtime.free_buffer"


@irdl_op_definition
class RuntimeIsLiveOp(_BufferQuestionOp):
    """Whether a buffer has not been given back."""

    name = "async.runtime.is_live"


@irdl_op_definition
class RuntimeIsWritableOp(_BufferQuestionOp):
    """Whether the elements of a buffer may be changed, which is so for all time."""

    name = "async.runtime.is_writable"


@irdl_op_definition
class RuntimeCompareExchangeOp(IRDLOperation):
    """Stores `desired` in an element if that is `expected`, in one step; what it was, and whether it did.

    Floats are compared by their bits.  The indices are known to be right.
    """

    name = "async.runtime.compare_exchange"
    expected = operand_def(ANYTHING)
    desired = operand_def(ANYTHING)
    buffer = operand_def(MemRefType)
    indices = var_operand_def(IndexType)
    found = result_def(ANYTHING)
    is_done = result_def(i1)

    assembly_format = (
        "$expected `,` $desired `,` $buffer `[` $indices `]` attr-dict `:` type($expected) `,` "
        "type($desired) `,` type($buffer) `->` type($found)"
    )

    def __init__(
        self, expected: SSAValue, desired: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue]
    ) -> None:
        initialize(
            self,
            operands=[expected, desired, buffer, *indices],
            result_types=[expected.type, i1],
        )
