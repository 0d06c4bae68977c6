"""The operations to which the high-level operations of the async dialect are lowered.

Each coroutine operation corresponds to one of LLVM's switched-resume intrinsics
(https://llvm.org/docs/Coroutines.html). Each runtime operation is one call to the runtime.
"""

from __future__ import annotations

import functools
from typing import ClassVar, Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    successor_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import (
    ANYTHING,
    ASYNC,
    AWAITABLE,
    CoroHandleType,
    CoroIdType,
    CoroStateType,
    GroupType,
    PlainOp,
    TokenType,
    ValueType,
    parse_value_type,
    plain_op,
)
from tfrt_nb.dialects.fast_ir import initialize
from tfrt_nb.dialects.types import print_parts

ON_TOP = "on_top"
"""The attribute of a program's `add_ref` or `drop_ref` that adds to the automatic counts.

The counting passes still count the value automatically.
"""
OF_OWN = "of_own"
"""The attribute of an ON_TOP `drop_ref` of one reference to an object of the program's own.

The program itself created the object. The dropped reference may be the producer's.
"""
BY_HAND = "by_hand"
"""The attribute of an `add_ref` or `drop_ref` that the source program contains.

Passes do not move or erase the operation, and the runtime checks it.
"""
UNLESS_AVAILABLE = "unless_available"
"""The attribute of an `async.runtime.set_error` that does nothing if the object is available."""


def runtime_kind(value: SSAValue) -> str:
    """Return the name of the value's type in runtime functions: Token, Value, or AllInGroup."""
    match value.type:
        case TokenType():
            return "Token"
        case ValueType():
            return "Value"
        case _:
            return "AllInGroup"


@plain_op
class CoroIdOp(PlainOp):
    """Identifies the coroutine. It is the first coroutine operation of its function."""

    name = "async.coro.id"
    id = result_def(CoroIdType())


@plain_op
class CoroBeginOp(PlainOp):
    """Allocates the frame and returns its handle."""

    name = "async.coro.begin"
    id = operand_def(CoroIdType())
    handle = result_def(CoroHandleType())


@plain_op
class CoroFreeOp(PlainOp):
    """Frees the frame. No value that lives in the frame may be used afterward."""

    name = "async.coro.free"
    id = operand_def(CoroIdType())
    handle = operand_def(CoroHandleType())


@plain_op
class CoroEndOp(PlainOp):
    """Returns to the caller, both from a suspended and from a finished coroutine."""

    name = "async.coro.end"
    handle = operand_def(CoroHandleType())


@plain_op
class CoroSaveOp(PlainOp):
    """Fixes where the coroutine resumes. Another thread may resume the coroutine from now on."""

    name = "async.coro.save"
    handle = operand_def(CoroHandleType())
    state = result_def(CoroStateType())


@irdl_op_definition
class CoroSuspendOp(IRDLOperation):
    """Leaves the function through `suspend`.

    The coroutine later continues at `resume` or `cleanup`. If another thread has resumed the
    coroutine since its state was saved, it continues at `resume` immediately.
    """

    name = "async.coro.suspend"
    state = operand_def(CoroStateType())
    suspend = successor_def()
    resume = successor_def()
    cleanup = successor_def()

    traits = traits_def(IsTerminator())

    assembly_format = "$state `,` $suspend `,` $resume `,` $cleanup attr-dict"

    def __init__(self, state: SSAValue, suspend: Block, resume: Block, cleanup: Block) -> None:
        initialize(self, operands=[state], successors=[suspend, resume, cleanup])


class ObjectOp(PlainOp):
    """An operation with one operand, which is a token, value or group, and without results."""

    operand = operand_def(ASYNC)


@irdl_op_definition
class RuntimeCreateOp(IRDLOperation):
    """Creates an unavailable token or value.

    It has two references: the caller's and the producer's.
    """

    name = "async.runtime.create"
    result = result_def(AWAITABLE)

    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: Attribute) -> None:
        initialize(self, result_types=[type_])


@irdl_op_definition
class RuntimeCreateGroupOp(PlainOp):
    """Creates a group that is done once `size` members have been added and resolved."""

    name = "async.runtime.create_group"
    size = operand_def(IndexType())
    result = result_def(GroupType())

    assembly_format = "$size attr-dict `:` type($result)"


@plain_op
class RuntimeSetAvailableOp(ObjectOp):
    """Resolves a token or value, runs its waiters, and drops the producer's reference."""

    name = "async.runtime.set_available"
    operand = operand_def(AWAITABLE)


@plain_op
class RuntimeSetErrorOp(ObjectOp):
    """Resolves a token or value to an error; otherwise works like `set_available`."""

    name = "async.runtime.set_error"
    operand = operand_def(AWAITABLE)


@plain_op
class RuntimeIsErrorOp(PlainOp):
    """Returns whether the object is resolved to an error; false while it is not resolved."""

    name = "async.runtime.is_error"
    operand = operand_def(ASYNC)
    is_error = result_def(i1)


@plain_op
class RuntimeAwaitOp(ObjectOp):
    """Waits on this thread until the object is resolved."""

    name = "async.runtime.await"


@plain_op
class RuntimeResumeOp(PlainOp):
    """Makes a worker resume the coroutine."""

    name = "async.runtime.resume"
    handle = operand_def(CoroHandleType())


@plain_op
class RuntimeAwaitAndResumeOp(PlainOp):
    """Resumes the coroutine when the object is resolved.

    If the object is already resolved, the coroutine resumes immediately, on this thread.
    """

    name = "async.runtime.await_and_resume"
    operand = operand_def(ASYNC)
    handle = operand_def(CoroHandleType())


class _StorageOp(PlainOp):
    """An operation that accesses the payload of an async value, which is its last operand."""

    storage = operand_def(ValueType)

    def print(self, printer: Printer) -> None:
        print_parts(printer, " ", self.operands)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        assert isinstance(self.storage.type, ValueType)
        self.storage.type.print_parameters(printer)

    def verify_(self) -> None:
        payload = self.results[0] if self.results else self.operands[0]
        if self.storage.type != ValueType(payload.type):
            raise VerifyException(
                "failed to verify that type of 'value' matches element type of 'storage'"
            )


@irdl_op_definition
class RuntimeStoreOp(_StorageOp):
    """Writes the payload of a value that is still unavailable."""

    name = "async.runtime.store"
    value = operand_def(ANYTHING)
    storage = operand_def(ValueType)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        storage = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parse_value_type(parser)
        op = cls(
            parser.resolve_operand(value, type_.value_type), parser.resolve_operand(storage, type_)
        )
        op.attributes |= attributes
        return op


@irdl_op_definition
class RuntimeLoadOp(_StorageOp):
    """Reads the payload of an available value."""

    name = "async.runtime.load"
    result = result_def(ANYTHING)

    def __init__(self, storage: SSAValue) -> None:
        assert isinstance(storage.type, ValueType)
        initialize(self, operands=[storage], result_types=[storage.type.value_type])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        storage = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        op = cls(parser.resolve_operand(storage, parse_value_type(parser)))
        op.attributes |= attributes
        return op


@plain_op
class RuntimeAddToGroupOp(PlainOp):
    """Adds a token or value to a group, and returns its rank.

    The ranks are 0, 1, ... in the order of addition.
    """

    name = "async.runtime.add_to_group"
    operand = operand_def(AWAITABLE)
    group = operand_def(GroupType())
    rank = result_def(IndexType())


@functools.cache
def _number(count: int, bits: int) -> IntegerAttr:
    return IntegerAttr(count, bits)


class CountingOp(IRDLOperation):
    """Changes the reference count of an object by `count`, which must be positive."""

    operand = operand_def(ASYNC)
    count = prop_def(IntegerAttr)
    BITS: ClassVar[int] = 64

    irdl_options = (ParsePropInAttrDict(),)

    assembly_format = "$operand attr-dict `:` type($operand)"

    def __init__(self, operand: SSAValue, count: int = 1) -> None:
        initialize(self, operands=[operand], properties={"count": _number(count, self.BITS)})

    def verify_(self) -> None:
        if self.count.value.data <= 0 or self.count.type != IntegerType(self.BITS):
            raise VerifyException(
                "attribute 'count' failed to satisfy constraint: "
                f"{self.BITS}-bit signless integer attribute whose value is positive"
            )


@irdl_op_definition
class RuntimeAddRefOp(CountingOp):
    """Takes `count` more references."""

    name = "async.runtime.add_ref"


@irdl_op_definition
class RuntimeDropRefOp(CountingOp):
    """Drops `count` references; the last one destroys the object."""

    name = "async.runtime.drop_ref"


@irdl_op_definition
class AddRefOp(CountingOp):
    """Takes `count` more references. This is the high-level operation of the review D90716."""

    name = "async.add_ref"
    BITS: ClassVar = 32


@irdl_op_definition
class DropRefOp(CountingOp):
    """Drops `count` references. It is the counterpart of `AddRefOp`."""

    name = "async.drop_ref"
    BITS: ClassVar = 32


@irdl_op_definition
class RuntimeNumWorkerThreadsOp(PlainOp):
    """Returns the number of threads that run tasks."""

    name = "async.runtime.num_worker_threads"
    result = result_def(IndexType())

    assembly_format = "attr-dict `:` type($result)"
