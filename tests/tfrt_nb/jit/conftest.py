"""A runtime for compiled programs in Python, on one thread, that checks every rule it can.

It is the specification of the C functions in executable form: objects are numbers, a reference dropped
too often or an object resolved twice is an error, and what is left at the end is a leak.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from xdsl.context import Context
from xdsl.passes import ModulePass

from tfrt_nb.jit.compiler import compile_module
from tfrt_nb.jit.coroutines import lower_to_llvm, packed_name
from tfrt_nb.jit.operations.async_runtime import (
    MLIR_FUNCTIONS,
    OUR_FUNCTIONS,
    RuntimeFunction,
)
from tfrt_nb.jit.programs import compile_program
from tfrt_nb.passes.notation import parse_pipeline
from tfrt_nb.source import parse_module
from tfrt_runtime.async_runtime.printing import Printing
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.coroutines.async_buffers import (
    BLOCK_GENERATION,
    GENERATION_SHIFT,
    HEADER_SIZE,
    block_of,
)

_TYPES = {
    "void": None,
    "ptr": ctypes.c_void_p,
    "i64": ctypes.c_int64,
    "i1": ctypes.c_bool,
    "double": ctypes.c_double,
}
_RESUME = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_MAX_NESTED = 30
_RESERVED_STACK = 13 * 2**19  # of 8 MB: compiled code gets about one


@dataclass
class Failure:
    """Why and where something failed."""

    message: str
    file: str = ""
    line: int = 0


class _FailureRecord(ctypes.Structure):
    _fields_ = (
        ("message", ctypes.c_void_p),
        ("message_length", ctypes.c_int64),
        ("file", ctypes.c_void_p),
        ("file_length", ctypes.c_int64),
        ("line", ctypes.c_int64),
        ("column", ctypes.c_int64),
    )


@dataclass
class Object:
    """A token, a value or a group."""

    references: int
    storage: int = 0
    size: int | None = None
    added: int = 0
    pending: int = 1
    failure: Failure | None = None
    is_error: bool = False
    waiters: list[tuple[int, int]] = field(default_factory=list)
    groups: list[int] = field(default_factory=list)

    @property
    def is_resolved(self) -> bool:
        return self.pending <= 0


class PythonRuntime:
    """The functions that compiled code calls, by name: see `addresses`."""

    def __init__(self) -> None:
        self.objects: dict[int, Object] = {}
        self.buffers: dict[int, list[int]] = {}
        self.blocks: list[ctypes.Array[ctypes.c_char]] = []
        self.output: list[str] = []
        self._printing = Printing(self.output.append)
        self.failure: Failure | None = None
        self.violations: list[str] = []
        self.queue: deque[tuple[int, int]] = deque()
        self.frames: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self._stack_limit = _stack_start() + _RESERVED_STACK
        self._nested = 0
        self._callbacks: dict[str, ctypes._CFuncPtr] = {}
        for function in (*MLIR_FUNCTIONS, *OUR_FUNCTIONS):
            self._callbacks[function.name] = self._callback(function)

    @property
    def addresses(self) -> dict[str, int]:
        """The address of each function."""
        return {
            name: ctypes.cast(callback, ctypes.c_void_p).value or 0
            for name, callback in self._callbacks.items()
        } | self._printing.addresses

    def run(self) -> None:
        """Run everything that is queued."""
        while self.queue:
            self._run_one()

    def _callback(self, function: RuntimeFunction) -> ctypes._CFuncPtr:
        name = function.name.removeprefix("mlirAsyncRuntime").removeprefix("mlirAsyncRuntim")
        method: Callable[..., object] = getattr(self, name)
        parameters = [_TYPES[type_] for type_ in function.parameters]
        return ctypes.CFUNCTYPE(_TYPES[function.returns], *parameters)(method)

    def _make(self, object_: Object) -> int:
        # A place of its own in memory, which is never used again: compiled code reads states and payloads there.
        block = ctypes.create_string_buffer(at.VALUE_STORAGE + 16 + object_.storage)
        self.blocks.append(block)
        address = -(-ctypes.addressof(block) // 16) * 16
        self.objects[address] = object_
        return address

    def _get(self, address: int) -> Object:
        if address not in self.objects:
            self.violations.append(f"object {address} is used after its last reference")
            return Object(1)
        return self.objects[address]

    def AddRef(self, address: int, count: int) -> None:
        self._get(address).references += count

    def DropRef(self, address: int, count: int) -> None:
        object_ = self._get(address)
        object_.references -= count
        if object_.references < 0:
            self.violations.append(f"object {address} is released too often")
        if object_.references == 0:
            self.objects.pop(address, None)

    def CreateToken(self) -> int:
        return self._make(Object(2))

    def CreateValue(self, size: int) -> int:
        return self._make(Object(2, storage=max(size, 1)))

    def CreateGroup(self, size: int) -> int:
        return self._make(Object(1, size=size, pending=size))

    def AddTokenToGroup(self, member: int, group: int) -> int:
        group_object, member_object = self._get(group), self._get(member)
        group_object.added += 1
        if member_object.is_resolved:
            self._member_done(group, member_object)
        else:
            self.AddRef(group, 1)
            member_object.groups.append(group)
        return group_object.added - 1

    AddValueToGroup = AddTokenToGroup

    def tfrtAsyncAddToGroup(self, member: int, group: int, record: int) -> int:
        return self.AddTokenToGroup(member, group)

    tfrtAsyncAddRefOnTop = AddRef

    def tfrtAsyncDropRefByHand(self, address: int, count: int, record: int) -> None:
        self.DropRef(address, count)

    tfrtAsyncDropRefOnTop = tfrtAsyncDropRefByHand
    tfrtAsyncDropOwnRef = tfrtAsyncDropRefByHand

    def _member_done(self, group: int, member: Object) -> None:
        group_object = self._get(group)
        group_object.pending -= 1
        if member.is_error:
            group_object.is_error, group_object.failure = True, member.failure
        if group_object.is_resolved:
            self._wake(group_object)

    def _resolve(self, address: int, *, is_error: bool) -> None:
        object_ = self._get(address)
        if object_.is_resolved:
            self.violations.append(f"object {address} is resolved twice")
        object_.pending, object_.is_error = 0, is_error
        ctypes.c_int64.from_address(address + at.VALUE_STATE).value = (
            at.ERROR if is_error else at.CONCRETE
        )
        self._wake(object_)
        for group in object_.groups:
            self._member_done(group, object_)
            self.DropRef(group, 1)
        self.DropRef(address, 1)

    def _wake(self, object_: Object) -> None:
        self.queue.extend(object_.waiters)
        object_.waiters.clear()

    def EmplaceToken(self, address: int) -> None:
        self._resolve(address, is_error=False)

    EmplaceValue = EmplaceToken
    tfrtAsyncEmplaceUnseen = EmplaceToken

    def tfrtAsyncEmplaceStored(self, address: int, offset: int, record: int) -> None:
        self.EmplaceValue(address)

    def SetTokenError(self, address: int) -> None:
        self._resolve(address, is_error=True)

    SetValueError = SetTokenError

    def IsTokenError(self, address: int) -> bool:
        return self._get(address).is_error

    IsValueError = IsTokenError
    IsGroupError = IsTokenError

    def AwaitToken(self, address: int) -> None:
        object_ = self._get(address)
        while not object_.is_resolved and self.queue:
            self._run_one()
        if not object_.is_resolved:
            object_.is_error = True
            ctypes.c_int64.from_address(address + at.VALUE_STATE).value = at.ERROR
            object_.failure = Failure(f"waits forever: {object_.added} of {object_.size} members")

    AwaitValue = AwaitToken
    AwaitAllInGroup = AwaitToken

    def GetValueStorage(self, address: int) -> int:
        storage = self._get(address).storage
        assert storage > 0
        return address + (at.VALUE_PAYLOAD if storage <= 8 else at.VALUE_STORAGE)

    def Execute(self, handle: int, resume: int) -> None:
        self.queue.append((handle, resume))

    def AwaitTokenAndExecute(self, address: int, handle: int, resume: int) -> None:
        object_ = self._get(address)
        if not object_.is_resolved:
            object_.waiters.append((handle, resume))
            return
        self.queue.appendleft((handle, resume))
        if self._nested < _MAX_NESTED:
            self._run_one()

    AwaitValueAndExecute = AwaitTokenAndExecute
    AwaitAllInGroupAndExecute = AwaitTokenAndExecute

    def GetNumWorkerThreads(self) -> int:
        return 1

    def _run_one(self) -> None:
        handle, resume = self.queue.popleft()
        self._nested += 1
        _RESUME(resume)(handle)
        self._nested -= 1

    def tfrtAsyncCreateToken(self, record: int) -> int:
        assert _read(record).line > 0, "the maker of an object is named where it is known"
        return self.CreateToken()

    tfrtAsyncCreateUnusedToken = tfrtAsyncCreateToken

    def tfrtAsyncCreateValue(self, size: int, record: int) -> int:
        assert _read(record).line > 0
        return self.CreateValue(size)

    def tfrtAsyncCreateGroup(self, size: int, record: int) -> int:
        assert _read(record).line > 0
        return self.CreateGroup(size)

    def tfrtAsyncDescribeError(self, address: int, record: int) -> None:
        self._get(address).failure = _read(record)

    def tfrtAsyncInheritError(self, address: int, source: int) -> None:
        self._get(address).failure = self._get(source).failure

    def tfrtAsyncTakeFailure(self, address: int) -> None:
        self._get(address).failure = self.failure

    def tfrtAsyncFail(self, record: int) -> None:
        self.failure = _read(record)

    def tfrtAsyncFailFrom(self, source: int) -> None:
        self.failure = self._get(source).failure

    def tfrtAsyncStackLimit(self) -> int:
        return self._stack_limit

    def tfrtAsyncIsAvailable(self, address: int) -> bool:
        value = self._get(address)
        return value.is_resolved and not value.is_error

    tfrtAsyncGoesOn = tfrtAsyncIsAvailable

    def tfrtAsyncNewBuffer(self, size: int) -> int:
        block = ctypes.create_string_buffer(2 * HEADER_SIZE + size)
        address = -(-ctypes.addressof(block) // HEADER_SIZE) * HEADER_SIZE
        ctypes.c_int64.from_address(address + BLOCK_GENERATION).value = 1
        self.blocks.append(block)
        handle = address | 1 << GENERATION_SHIFT
        self.buffers[handle] = []
        return handle

    def tfrtAsyncNewFrameBuffer(self, size: int, place: int) -> int:
        last = ctypes.c_int64.from_address(place)
        handle = self.tfrtAsyncNewBuffer(size)
        self.buffers[handle] = [handle, *self.buffers.get(last.value, [])]
        last.value = handle
        return handle

    def tfrtAsyncFreeBuffer(self, handle: int) -> bool:
        if self.buffers.get(handle) != []:
            return False
        self._end_buffer(handle)
        return True

    def tfrtAsyncFreeFrameBuffers(self, last: int | None) -> None:
        for handle in self.buffers.get(last or 0, []):
            self._end_buffer(handle)

    def _end_buffer(self, handle: int) -> None:
        del self.buffers[handle]
        ctypes.c_int64.from_address(block_of(handle) + BLOCK_GENERATION).value = 2

    def tfrtAsyncIsInterrupted(self, record: int) -> bool:
        return False

    def tfrtAsyncIsCancelled(self) -> bool:
        return False

    def tfrtAsyncAllocateFrame(self, size: int, alignment: int) -> int:
        frame = ctypes.create_string_buffer(size + alignment)
        address = -(-ctypes.addressof(frame) // alignment) * alignment
        self.frames[address] = frame
        return address

    def tfrtAsyncFreeFrame(self, address: int, size: int, alignment: int) -> None:
        del self.frames[address]


def _stack_start() -> int:
    """The lowest address of this thread's stack."""
    library = ctypes.CDLL(None)
    attributes = ctypes.create_string_buffer(256)
    start, size = ctypes.c_void_p(), ctypes.c_size_t()
    library.pthread_self.restype = ctypes.c_void_p
    thread = ctypes.c_void_p(library.pthread_self())
    assert library.pthread_getattr_np(thread, attributes) == 0
    library.pthread_attr_getstack(attributes, ctypes.byref(start), ctypes.byref(size))
    library.pthread_attr_destroy(attributes)
    assert start.value is not None
    return start.value


def _read(address: int) -> Failure:
    record = _FailureRecord.from_address(address)
    message = ctypes.string_at(record.message, record.message_length).decode()
    file = ctypes.string_at(record.file, record.file_length).decode()
    return Failure(message, file, record.line)


@dataclass
class Outcome:
    """What a program printed, the message and line it failed with, and how many objects are left."""

    output: str
    failure: tuple[str, int] | None = None
    left_over: int = 0


def run_main(text: str, pipeline: str | None = None) -> Outcome:
    """Compile a program and run its `main`; nothing may be released too often.

    A first line `// parallel-for: OPTIONS` asks for that pass.  `pipeline` replaces the usual passes.
    """
    runtime = PythonRuntime()
    module = parse_module(text, "program")
    if pipeline is None:
        code = compile_program(module, runtime.addresses, *_parallel_for(text))
    else:
        parse_pipeline(pipeline).apply(Context(), module)
        code = compile_module(lower_to_llvm(module), runtime.addresses)
    main = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p)(code.address(packed_name("main")))
    failed = main(None)
    runtime.run()
    assert runtime.violations == []
    failure = (
        (runtime.failure.message, runtime.failure.line) if failed and runtime.failure else None
    )
    return Outcome("".join(runtime.output), failure, len(runtime.objects))


def _parallel_for(text: str) -> tuple[ModulePass, ...]:
    first = text.splitlines()[0]
    if not first.startswith("// parallel-for:"):
        return ()
    options = first.partition(":")[2].strip()
    return parse_pipeline(f"async-parallel-for{{{options} clamp-trip-counts}}").passes


@pytest.fixture(scope="session")
def run() -> Callable[..., Outcome]:
    """`run_main`."""
    return run_main


@pytest.fixture(scope="session")
def outcome() -> type[Outcome]:
    """The class, for expected values."""
    return Outcome
