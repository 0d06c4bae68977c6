"""Calls to the runtime's functions, which are the same in machine code and in interpreted code.

Compiled code has two forms, each with a class for the body of a function: `jit.function_body`
writes LLVM IR, and `interpreter.source` writes Python. A body calls `lower` for each operation.
`lower` then calls the operation's lowering, a function that takes the body and the operation.

Twenty-two of the functions have the names and signatures of MLIR's async runtime. Code compiled
here therefore runs on MLIR's runtime (without error messages), and code compiled by MLIR runs on
ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.dialects.async_ import extensions, runtime
from tfrt_nb.dialects.async_.types import GroupType, ValueType
from tfrt_nb.dialects.catalog import UPSTREAM_DIALECTS
from tfrt_nb.jit.llvm_types import UnsupportedType
from tfrt_nb.passes.control_flow import fail
from tfrt_nb.passes.lowering.coroutines import SHARED_BODY

PREFIX = "mlirAsyncRuntime"
IN_HEADER = frozenset({"i1", "i8", "i16", "i32", "i64", "half", "bfloat", "float", "double", "ptr"})
"""The payload types that fit in a word, which a value stores at `layouts.VALUE_PAYLOAD`."""


_OF_MLIR: dict[str, tuple[str, ...]] = {
    "AddRef": ("void", "ptr", "i64"),
    "DropRef": ("void", "ptr", "i64"),
    "CreateToken": ("ptr",),
    "CreateValue": ("ptr", "i64"),
    "CreateGroup": ("ptr", "i64"),
    "AddTokenToGroup": ("i64", "ptr", "ptr"),
    "EmplaceToken": ("void", "ptr"),
    "EmplaceValue": ("void", "ptr"),
    "SetTokenError": ("void", "ptr"),
    "SetValueError": ("void", "ptr"),
    "IsTokenError": ("i1", "ptr"),
    "IsValueError": ("i1", "ptr"),
    "IsGroupError": ("i1", "ptr"),
    "AwaitToken": ("void", "ptr"),
    "AwaitValue": ("void", "ptr"),
    "AwaitAllInGroup": ("void", "ptr"),
    "GetValueStorage": ("ptr", "ptr"),
    "Execute": ("void", "ptr", "ptr"),
    "AwaitTokenAndExecute": ("void", "ptr", "ptr", "ptr"),
    "AwaitValueAndExecute": ("void", "ptr", "ptr", "ptr"),
    "AwaitAllInGroupAndExecute": ("void", "ptr", "ptr", "ptr"),
}
"""The runtime functions that MLIR defines, by name without the prefix.

Two functions about the number of threads are left out. Each entry has the LLVM types of the result
and of the parameters.
"""
RUNTIME_FUNCTIONS: dict[str, tuple[str, ...]] = {
    **{f"{PREFIX}{name}": types for name, types in _OF_MLIR.items()},
    "mlirAsyncRuntimGetNumWorkerThreads": ("i64",),  # the typo is part of the name
    "mlirAsyncRuntimeAddValueToGroup": ("i64", "ptr", "ptr"),
    "tfrtAsyncAddToGroup": ("i64", "ptr", "ptr", "ptr"),
    "tfrtAsyncAddRefOnTop": ("void", "ptr", "i64"),
    "tfrtAsyncDropRefOnTop": ("void", "ptr", "i64", "ptr"),
    "tfrtAsyncDropOwnRef": ("void", "ptr", "i64", "ptr"),
    "tfrtAsyncDropRefByHand": ("void", "ptr", "i64", "ptr"),
    "tfrtAsyncCreateToken": ("ptr", "ptr"),
    "tfrtAsyncCreateUnusedToken": ("ptr", "ptr"),
    "tfrtAsyncCreateValue": ("ptr", "i64", "ptr"),
    "tfrtAsyncCreateGroup": ("ptr", "i64", "ptr"),
    "tfrtAsyncSetErrorUnlessAvailable": ("void", "ptr"),
    "tfrtAsyncEmplaceStored": ("void", "ptr", "i64", "ptr"),
    "tfrtAsyncDescribeError": ("void", "ptr", "ptr"),
    "tfrtAsyncInheritError": ("void", "ptr", "ptr"),
    "tfrtAsyncTakeFailure": ("void", "ptr"),
    "tfrtAsyncFail": ("void", "ptr"),
    "tfrtAsyncFailFrom": ("void", "ptr"),
    "tfrtAsyncAwait": ("void", "ptr", "ptr"),
    "tfrtAsyncAwaitAndExecute": ("void", "ptr", "ptr", "ptr", "ptr"),
    "tfrtAsyncAwaitAndExecuteFor": ("void", "ptr", "ptr", "ptr", "ptr"),
    "tfrtAsyncStackLimit": ("ptr",),
    "tfrtAsyncIsCancelled": ("i1",),
    "tfrtAsyncIsInterrupted": ("i1", "ptr"),
    "tfrtAsyncIsAvailable": ("i1", "ptr"),
    "tfrtAsyncGoesOn": ("i1", "ptr"),
    "tfrtAsyncLogBlock": ("void", "ptr"),
    "tfrtAsyncLogEnter": ("i64", "ptr"),
    "tfrtAsyncLogLeave": ("void", "ptr", "i64"),
    "tfrtAsyncNewBuffer": ("ptr", "i64"),
    "tfrtAsyncNewFrameBuffer": ("ptr", "i64", "ptr"),
    "tfrtAsyncFreeBuffer": ("i1", "ptr"),
    "tfrtAsyncFreeFrameBuffers": ("void", "ptr"),
    "tfrtAsyncAllocateFrame": ("ptr", "i64", "i64"),
    "tfrtAsyncFreeFrame": ("void", "ptr", "i64", "i64"),
    "tfrtKernelArgument": ("ptr", "ptr", "i64"),
    "tfrtKernelObject": ("ptr", "ptr", "ptr", "i64"),
    "tfrtKernelReturn": ("void", "ptr", "ptr", "i64", "i64"),
    "tfrtKernelReturnObject": ("void", "ptr", "ptr", "i64", "ptr"),
    "tfrtKernelBorrowBuffer": ("i1", "ptr", "ptr"),
    "tfrtKernelReturnBuffer": ("void", "ptr", "ptr"),
    "tfrtKernelBufferObject": ("ptr", "ptr", "ptr", "i64", "i64", "ptr"),
    "tfrtKernelReturnBufferObject": ("void", "ptr", "ptr", "i64", "ptr", "ptr"),
}
"""All functions of the runtime.

MLIR's runtime lacks functions for

- values in groups, and objects that are resolved before any other code refers to them;
- places of objects, error messages, and events of programs that a board shows;
- the lowest stack address that recursive functions should use;
- whether tasks must no longer start;
- coroutine frames from a free list;
- the arguments and results of kernels of host programs (`adapters`).

A message is a pointer to `{ ptr text, i64 length, ptr file, i64 length, i64 line, i64 column }`.
"""


class Records(Protocol):
    """Adds records to a module. A record tells the runtime a message and a place in the source.

    The methods return the operand with which generated code refers to the record.
    """

    def maker(self, op: Operation) -> str | None:
        """Return a record that names the operation `op`, which creates an object, and its place.

        Return None if the place is unknown.
        """

    def failure(self, message: str, op: Operation) -> str:
        """Return a record with a message and the place of an operation."""


class Body(Protocol):
    """A function for which lowerings generate code."""

    null: str
    resume: str
    """The function that resumes a coroutine."""

    @property
    def module(self) -> Records: ...
    def name(self, value: SSAValue) -> str:
        """Return the operand with which the generated code refers to the value."""

    def bind(self, value: SSAValue, operand: str) -> None:
        """Bind a value to an operand."""

    def size(self, type_: Attribute) -> str:
        """Return the size in bytes of a value of this type."""

    def runtime(self, name: str, *operands: str, results: Sequence[SSAValue] = ()) -> str:
        """Call a function of the runtime, and bind its result to `results`."""


Lowering: TypeAlias = Callable[[Any, Any], None]
_OF_USERS = (
    "compiled functions can use only MLIR's operations: call a Python function registered with "
    "@tfrt.external, or write the operation as a kernel, with @tfrt.kernel, and use it in a host "
    "program (a compiled function can await the kernel's chain as an '!async.handle')"
)


def lower(body: Body, op: Operation, lowerings: Mapping[str, Lowering]) -> None:
    """Write an operation.

    Raises:
        PassError: if compiled functions cannot have the operation.
    """
    lowering = lowerings.get(op.name)
    if lowering is None:
        is_users = op.name.partition(".")[0] not in UPSTREAM_DIALECTS
        fail(op, f"'{op.name}' cannot be compiled", *([_OF_USERS] if is_users else []))
    try:
        lowering(body, op)
    except UnsupportedType as error:
        fail(op, str(error))


def same(body: Body, op: Operation) -> None:
    """Write nothing, and bind the result to the operand."""
    body.bind(op.results[0], body.name(op.operands[0]))


def calls(name: str, *more: str) -> Lowering:
    """Return the lowering to a call to a runtime function, with the operands followed by `more`.

    KIND in the function's name is replaced with the runtime's name for the first operand's type.
    """

    def lower(body: Body, op: Operation) -> None:
        kind = runtime.runtime_kind(op.operands[0]) if "KIND" in name else ""
        operands = *map(body.name, op.operands), *more
        body.runtime(name.replace("KIND", kind), *operands, results=op.results)

    return lower


def _create(body: Body, op: runtime.RuntimeCreateOp) -> None:
    type_ = op.result.type
    if isinstance(type_, ValueType):
        _make(body, op, "CreateValue", body.size(type_.value_type))
    else:
        _make(body, op, "CreateToken")


def _make(body: Body, op: Operation, name: str, *operands: str) -> None:
    """Create an object, and record its origin.

    Reports of objects that leak or are never resolved show the origin.
    """
    record = body.module.maker(op)
    if record is None:
        body.runtime(f"{PREFIX}{name}", *operands, results=op.results)
    else:
        body.runtime(f"tfrtAsync{name}", *operands, record, results=op.results)


def _set_available(body: Body, op: runtime.RuntimeSetAvailableOp) -> None:
    operand = op.operands[0]
    given = [body.name(operand)]
    name = f"{PREFIX}Emplace{runtime.runtime_kind(operand)}"
    payload = operand.type.value_type if isinstance(operand.type, ValueType) else None
    if isinstance(payload, MemRefType | UnrankedMemRefType):
        name = "tfrtAsyncEmplaceStored"
        # Pass the offset of the first pointer in the descriptor; see `llvm_types`.
        given.append("0" if isinstance(payload, MemRefType) else "8")
        text = "the value is made available before anything is stored in it"
        given.append(body.module.failure(text, op))
    body.runtime(name, *given)


def _set_error(body: Body, op: runtime.RuntimeSetErrorOp) -> None:
    is_late = runtime.UNLESS_AVAILABLE in op.attributes
    name = "tfrtAsyncSetErrorUnlessAvailable" if is_late else f"{PREFIX}SetKINDError"
    calls(name)(body, op)


def _is_error(body: Body, op: runtime.RuntimeIsErrorOp) -> None:
    operand = op.operands[0]
    # `runtime_kind` would return "AllInGroup", which only the names of awaits contain.
    kind = "Group" if isinstance(operand.type, GroupType) else runtime.runtime_kind(operand)
    calls(f"{PREFIX}Is{kind}Error")(body, op)


def _await_and_resume(body: Body, op: runtime.RuntimeAwaitAndResumeOp) -> None:
    awaited, handle = map(body.name, op.operands)
    function = op.parent_op()
    if function is not None and SHARED_BODY in function.attributes:
        # Several tasks share the body, so the place comes from each task's own record.
        result = body.name(function.regions[0].blocks[0].args[0])
        body.runtime("tfrtAsyncAwaitAndExecuteFor", awaited, handle, body.resume, result)
    else:
        place = body.module.maker(op) or body.null
        body.runtime("tfrtAsyncAwaitAndExecute", awaited, handle, body.resume, place)


def _add_to_group(body: Body, op: runtime.RuntimeAddToGroupOp) -> None:
    operands = *map(body.name, op.operands), body.module.maker(op) or body.null
    body.runtime("tfrtAsyncAddToGroup", *operands, results=op.results)


def _drop_ref(body: Body, op: runtime.RuntimeDropRefOp) -> None:
    if runtime.BY_HAND not in op.attributes:
        _count(body, op, f"{PREFIX}DropRef")
        return
    name = "tfrtAsyncDropRefOnTop" if runtime.ON_TOP in op.attributes else "tfrtAsyncDropRefByHand"
    # Such a drop is also ON_TOP, so this test comes last.
    if runtime.OF_OWN in op.attributes:
        name = "tfrtAsyncDropOwnRef"
    kind = runtime.runtime_kind(op.operands[0]).removeprefix("AllIn").lower()
    text = f"a reference to a {kind} is dropped too many times"
    _count(body, op, name, body.module.failure(text, op))


def _count(
    body: Body, op: runtime.RuntimeAddRefOp | runtime.RuntimeDropRefOp, name: str, *more: str
) -> None:
    body.runtime(name, body.name(op.operands[0]), str(op.count.value.data), *more)


def _describe_error(body: Body, op: extensions.RuntimeDescribeErrorOp) -> None:
    record = body.module.failure(op.message.data, op)
    body.runtime("tfrtAsyncDescribeError", body.name(op.operand), record)


def fail_function(body: Body, op: extensions.RuntimeFailOp) -> None:
    """Make the current run fail at the place of `op`."""
    body.runtime("tfrtAsyncFail", body.module.failure(op.message.data, op))


LOWERINGS: dict[str, Lowering] = {
    runtime.RuntimeCreateOp.name: _create,
    runtime.RuntimeCreateGroupOp.name: lambda body, op: _make(
        body, op, "CreateGroup", body.name(op.size)
    ),
    runtime.RuntimeSetAvailableOp.name: _set_available,
    runtime.RuntimeSetErrorOp.name: _set_error,
    runtime.RuntimeIsErrorOp.name: _is_error,
    runtime.RuntimeAwaitAndResumeOp.name: _await_and_resume,
    runtime.RuntimeAddToGroupOp.name: _add_to_group,
    runtime.RuntimeAddRefOp.name: lambda body, op: _count(
        body, op, "tfrtAsyncAddRefOnTop" if runtime.ON_TOP in op.attributes else f"{PREFIX}AddRef"
    ),
    runtime.RuntimeDropRefOp.name: _drop_ref,
    runtime.RuntimeNumWorkerThreadsOp.name: calls("mlirAsyncRuntimGetNumWorkerThreads"),
    extensions.RuntimeAddRefsOp.name: calls(f"{PREFIX}AddRef"),
    extensions.RuntimeIsCancelledOp.name: calls("tfrtAsyncIsCancelled"),
    extensions.RuntimeIsAvailableOp.name: calls("tfrtAsyncIsAvailable"),
    extensions.RuntimeDescribeErrorOp.name: _describe_error,
    extensions.RuntimeInheritErrorOp.name: calls("tfrtAsyncInheritError"),
    extensions.RuntimeTakeFailureOp.name: calls("tfrtAsyncTakeFailure"),
    extensions.RuntimeFailOp.name: fail_function,
    extensions.RuntimeFailFromOp.name: calls("tfrtAsyncFailFrom"),
}
