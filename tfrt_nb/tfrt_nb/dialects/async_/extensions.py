"""Operations that MLIR lacks: tasks without coroutines, interrupts, stack checks, error reasons.

MLIR does not record why and where a program failed. Here, a coroutine records its error for each of
its results right before the result is set to an error. A plain function records its error for the
current thread. The error remains there until a coroutine that called the function takes it over, or
until the program finishes. The place of an error is the location of the operation that records it.
"""

from __future__ import annotations

from collections.abc import Sequence

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

from tfrt_nb.dialects.async_.runtime import ObjectOp
from tfrt_nb.dialects.async_.types import (
    ANYTHING,
    ASYNC,
    AWAITABLE,
    BUFFER,
    PlainOp,
    TokenType,
    ValueType,
    plain_op,
)
from tfrt_nb.dialects.fast_ir import initialize


@irdl_op_definition
class RuntimeSpawnOp(IRDLOperation):
    """Makes a worker call a function.

    The results are a token, and values that hold the function's results. If the function is a
    coroutine, it takes these objects as its first arguments and resolves them itself. The first
    `awaited` arguments are tokens and values, which the task awaits one after another before it
    calls the function. The function gets the payloads of these values.
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
        """Return the number of arguments that the task awaits."""
        return 0 if self.awaited is None else self.awaited.value.data

    def verify_(self) -> None:
        count = self.awaited_count
        if not 0 <= count <= len(self.arguments):
            raise VerifyException("'awaited' must be from 0 to the number of arguments")
        for argument in self.arguments[:count]:
            if not isinstance(argument.type, TokenType | ValueType):
                raise VerifyException(f"'{argument.type}' cannot be awaited by a task")


@plain_op
class RuntimeAddRefsOp(PlainOp):
    """Takes `count` more references, or none if `count` is 0."""

    name = "async.runtime.add_refs"
    operand = operand_def(ASYNC)
    count = operand_def(IndexType())


class _QuestionOp(PlainOp):
    """An operation without operands that returns a bit."""

    result = result_def(i1)


class _BufferQuestionOp(PlainOp):
    """An operation that takes a buffer and returns a bit."""

    buffer = operand_def(BUFFER)
    result = result_def(i1)


@plain_op
class RuntimeIsCancelledOp(_QuestionOp):
    """Returns whether the run is cancelled, in which case its tasks must not start.

    If so, the reason becomes this thread's failure.
    """

    name = "async.runtime.is_cancelled"


@plain_op
class RuntimeStackIsLowOp(_QuestionOp):
    """Returns whether this thread's stack is almost exhausted."""

    name = "async.runtime.stack_is_low"


@plain_op
class RuntimeInterruptIsPendingOp(_QuestionOp):
    """Returns whether any run of this process is cancelled. The operation costs one load."""

    name = "async.runtime.interrupt_is_pending"


@plain_op
class RuntimeIsInterruptedOp(_QuestionOp):
    """Returns whether this thread's run is cancelled.

    If so, the reason becomes this thread's failure.
    """

    name = "async.runtime.is_interrupted"


@irdl_op_definition
class RuntimeLogOp(IRDLOperation):
    """Logs an event on the board if `condition` is absent or true.

    `event` is the kind of event: a `block` starts, or a call `enter`s or `leave`s a function. Both
    events of a call have the same `site`.
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


@plain_op
class RuntimeIsAvailableOp(PlainOp):
    """Returns whether the value has a payload.

    It has one if it is resolved and is not an error.
    """

    name = "async.runtime.is_available"
    operand = operand_def(ValueType)
    result = result_def(i1)


@plain_op
class RuntimeHandleOfOp(PlainOp):
    """Returns a handle of an object, which is a number other than 0.

    The handle owns a reference to the object, which `from_handle` takes over.
    """

    name = "async.runtime.handle_of"
    operand = operand_def(AWAITABLE)
    result = result_def(i64)


@irdl_op_definition
class RuntimeFromHandleOp(IRDLOperation):
    """Returns the object of a handle, and takes over the reference that the handle owns."""

    name = "async.runtime.from_handle"
    handle = operand_def(i64)
    result = result_def(AWAITABLE)

    assembly_format = "$handle attr-dict `:` type($result)"

    def __init__(self, handle: SSAValue, type_: Attribute) -> None:
        initialize(self, operands=[handle], result_types=[type_])


@plain_op
class RuntimeFreeBufferOp(_BufferQuestionOp):
    """Frees a buffer from `memref.alloc`.

    Returns whether the buffer was live and came from that operation.
    """

    name = "async.runtime.free_buffer"


@plain_op
class RuntimeIsLiveOp(_BufferQuestionOp):
    """Returns whether a buffer has not been freed."""

    name = "async.runtime.is_live"


@plain_op
class RuntimeIsWritableOp(_BufferQuestionOp):
    """Returns whether a program may change the elements of a buffer.

    The answer for a buffer never changes.
    """

    name = "async.runtime.is_writable"


@irdl_op_definition
class RuntimeCompareExchangeOp(IRDLOperation):
    """Atomically stores `desired` in an element if the element equals `expected`.

    Returns the old element, and whether `desired` was stored. Floats are compared by their bits.
    The indices must be known to be in bounds.
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


@irdl_op_definition
class RuntimeDescribeErrorOp(PlainOp):
    """Records why a token or value fails, just before it is set to an error."""

    name = "async.runtime.describe_error"
    operand = operand_def(AWAITABLE)
    message = prop_def(StringAttr)

    assembly_format = "$operand `,` $message attr-dict `:` type($operand)"


@plain_op
class RuntimeInheritErrorOp(PlainOp):
    """Records another object's error for a token or value that is about to be set to an error."""

    name = "async.runtime.inherit_error"
    operand = operand_def(AWAITABLE)
    source = operand_def(ASYNC)


@plain_op
class RuntimeCheckOp(ObjectOp):
    """Fails the enclosing plain function, with the object's error, if the object is an error."""

    name = "async.runtime.check"


@plain_op
class RuntimeCheckInterruptOp(PlainOp):
    """Fails the enclosing function if its run is cancelled."""

    name = "async.runtime.check_interrupt"


@irdl_op_definition
class RuntimeFailOp(PlainOp):
    """Records for this thread that the current function fails, and why."""

    name = "async.runtime.fail"
    message = prop_def(StringAttr)

    assembly_format = "$message attr-dict"


@plain_op
class RuntimeFailFromOp(ObjectOp):
    """Records for this thread that the current function fails with the error of an object."""

    name = "async.runtime.fail_from"


@plain_op
class RuntimeTakeFailureOp(ObjectOp):
    """Makes this thread's recorded failure the error of a token or value.

    The token or value is about to be set to an error.
    """

    name = "async.runtime.take_failure"
    operand = operand_def(AWAITABLE)


FAILURES = (
    RuntimeCheckInterruptOp,
    RuntimeCheckOp,
    RuntimeDescribeErrorOp,
    RuntimeFailFromOp,
    RuntimeFailOp,
    RuntimeInheritErrorOp,
    RuntimeTakeFailureOp,
)
"""The operations that record or check the reasons of failures."""
