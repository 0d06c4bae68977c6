"""The native core's memory, read and written from Python: its structs, tables of words, and payloads of values.

    context = Context.at(address)
    context.run                     # the word at address + layouts.CONTEXT_RUN
    context.run = number            # writes it
    WORDS[address >> 3]             # any word

A struct has a class, with an attribute for each word that Python uses.  Where the words are, and what they mean, say
`native.layouts` and those beside it under the same names; all are signed.  A view of an address holds nothing alive,
and making one takes as long as reading a word.  A wrong address ends the process: addresses come from the native core.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any, Self, TypeVar

from tfrt_runtime.native import async_layouts, layouts, python_layouts

WORDS = (ctypes.c_int64 * (1 << 59)).from_address(0)
HALVES = (ctypes.c_int32 * (1 << 60)).from_address(0)
FLOATS = (ctypes.c_float * (1 << 60)).from_address(0)
DOUBLES = (ctypes.c_double * (1 << 59)).from_address(0)
"""Arrays that start at address 0 and never end."""


def words_at(address: int, count: int) -> list[int]:
    """So many words from an address on."""
    first = address >> 3
    return WORDS[first : first + count]


def new_words(size: int) -> ctypes.Array[ctypes.c_int64]:
    """`size` bytes of zeroed native memory that start on a cache line; they live as long as the array."""
    raw = (ctypes.c_int64 * (size // 8 + 8))()
    return (ctypes.c_int64 * (size // 8)).from_buffer(raw, -ctypes.addressof(raw) % 64)


def signed(word: int) -> int:
    """The low 64 bits of `word` in two's complement, as `WORDS` wants them."""
    return (word + 2**63) % 2**64 - 2**63


Made = TypeVar("Made", bound="type[Struct]")
_OFFSETS: dict[str, int] = {**vars(layouts), **vars(async_layouts), **vars(python_layouts)}


class Struct(ctypes.Structure):
    """A view of native memory."""

    __slots__ = ()

    if TYPE_CHECKING:

        @classmethod
        def at(cls, address: int) -> Self:
            """The struct at an address."""

    @classmethod
    def new(cls, size: int) -> Self:
        """A zeroed struct of that many bytes, which lives as long as the view."""
        return cls.from_buffer(new_words(size))

    @property
    def address(self) -> int:
        """Where it is."""
        return ctypes.addressof(self)


def _struct(view: Made) -> Made:
    """Place the words of a view as the layouts have them, under the name of the class."""
    prefix = view.__name__.upper()
    offsets = {
        _OFFSETS[f"{prefix}_{name.rstrip('_').upper()}"]: name for name in view.__annotations__
    }
    fields: list[tuple[str, Any]] = []
    end = 0
    for offset, name in sorted(offsets.items()):
        if offset != end:
            fields.append((f"_before_{name}", ctypes.c_int64 * ((offset - end) // 8)))
        fields.append((name, ctypes.c_int64))
        end = offset + 8
    view._fields_ = fields
    view.at = view.from_address  # type: ignore[assignment,method-assign]  # a method of Python's would take as long again
    return view


@_struct
class Activation(Struct):
    __slots__ = ()
    request: int


@_struct
class Async(Struct):
    __slots__ = ()
    objects: int
    registered: int
    limit: int
    checked: int
    cancelled: int
    imports: int


@_struct
class Benchmark(Struct):
    __slots__ = ()
    count: int
    samples: int


@_struct
class Context(Struct):
    __slots__ = ()
    queue: int
    worker: int
    deque: int
    ready: int
    ready_top: int
    arguments: int
    results: int
    record: int
    made: int
    dropped: int
    number: int
    request: int
    epoch: int
    failure: int
    awaited: int
    awaited_at: int
    pending: int
    pending_last: int
    run: int
    main: int
    refused: int


@_struct
class Deque(Struct):
    __slots__ = ()
    top: int
    bottom: int


@_struct
class Function(Struct):
    __slots__ = ()
    kernels: int


@_struct
class Group(Struct):
    __slots__ = ()
    added: int
    size: int
    error: int
    excess: int


@_struct
class Interrupts(Struct):
    __slots__ = ()
    may_raise: int
    noted: int
    waits: int
    looked: int


@_struct
class Log(Struct):
    __slots__ = ()
    head: int
    next: int
    queue: int
    tail: int
    lost: int
    skip: int


@_struct
class Machine(Struct):
    __slots__ = ()
    code: int
    left: int


@_struct
class Pool(Struct):
    __slots__ = ()
    head: int
    tail: int
    threads: int
    limit: int
    capacity: int
    done: int


@_struct
class Process(Struct):
    __slots__ = ()
    release_object: int
    python_kernel: int
    report_error: int
    python_waiter: int
    print: int
    need_thread: int
    request_done: int
    run_entry: int
    run_blocking: int
    machine: int
    run_coroutine: int
    member_resolved: int
    async_event: int
    run_root: int
    release_tensor: int
    interrupts: int
    cancelled_runs: int
    buffers: int
    refused: int
    reclaim: int
    store: int
    run_rows: int
    call_python: int
    held: int
    memory_limit: int
    resuming: int
    logs: int
    watched: int
    choose: int
    python: int
    objects: int


@_struct
class Queue(Struct):
    __slots__ = ()
    injected: int
    ordered: int
    workers: int
    deques: int
    async_: int
    memory_limit: int
    started: int
    choose: int
    host: int
    aside: int
    thread: int
    find: int


@_struct
class Record(Struct):
    __slots__ = ()
    arguments: int
    data: int
    handle: int


@_struct
class Request(Struct):
    __slots__ = ()
    cancel: int
    active: int
    cancelled_value: int
    open: int
    store: int
    number: int
    observed: int
    unusual: int
    watch: int
    tier: int
    compiled: int
    run: int
    known: int
    decided: int


@_struct
class Store(Struct):
    __slots__ = ()
    tensors: int
    process: int


@_struct
class Task(Struct):
    __slots__ = ()
    next: int
    function: int
    first: int
    second: int


@_struct
class Tensor(Struct):
    __slots__ = ()
    element: int
    rank: int
    count: int
    data: int
    owner: int
    bytes: int


@_struct
class Value(Struct):
    __slots__ = ()
    references: int
    state: int
    kind: int
    payload: int
    target: int
    next: int
    owner: int

    @property
    def payload_type(self) -> int:
        """One of TYPE_*."""
        return self.kind >> 8

    @property
    def is_error(self) -> bool:
        """Whether it is an error; of a value that is resolved."""
        return self.state & layouts.STATE_BITS == layouts.ERROR

    @property
    def is_indirect(self) -> bool:
        """Whether it stands for another value: `target`, once that is known."""
        return self.kind & layouts.KIND_BITS == layouts.KIND_INDIRECT


@_struct
class Waiter(Struct):
    __slots__ = ()
    next: int
    kind: int
    first: int
    place: int


@_struct
class Watch(Struct):
    __slots__ = ()
    run: int
    values: int
    slow: int
    program: int
    instances: int
