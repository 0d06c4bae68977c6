"""Loads, stores and atomics over raw addresses: the only door to memory that threads share.

Each function has two lives.  Compiled, `lowering` maps it to one LLVM instruction or one call into
the C library.  Called from plain Python, it goes to the current `World`, a simulated memory that
checks lifetimes and races and lets a scheduler choose the next thread.

Words are 64-bit two's complement; an address is a word.  `load` and `store` are plain accesses: the
caller promises that another thread's access is ordered by an atomic one.  Orderings are named for
what they publish: `load_acquire` sees what came before the `store_release` (or read-modify-write)
that it reads from; read-modify-writes are both (acq_rel); `fence` is sequentially consistent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from tfrt_runtime.scalars import wrapped

Address = int
Function = TypeVar("Function", bound=Callable[..., object])


class World(Protocol):
    """A memory that plain Python can run on.  `tests.simulator` has the one that explores."""

    def load(self, address: Address) -> int: ...
    def store(self, address: Address, value: int) -> None: ...
    def load_acquire(self, address: Address) -> int: ...
    def store_release(self, address: Address, value: int) -> None: ...
    def fetch_add(self, address: Address, value: int) -> int: ...
    def exchange(self, address: Address, value: int) -> int: ...
    def compare_and_swap(self, address: Address, old: int, new: int) -> int: ...
    def fence(self) -> None: ...
    def load_i32(self, address: Address) -> int: ...
    def store_i32(self, address: Address, value: int) -> None: ...
    def load_f32(self, address: Address) -> float: ...
    def store_f32(self, address: Address, value: float) -> None: ...
    def load_f64(self, address: Address) -> float: ...
    def store_f64(self, address: Address, value: float) -> None: ...
    def allocate(self, size: int) -> Address: ...
    def allocate_aligned(self, alignment: int, size: int) -> Address: ...
    def release(self, address: Address) -> None: ...
    def discard(self, address: Address, size: int) -> None: ...
    def copy(self, target: Address, source: Address, size: int) -> None: ...
    def clear(self, target: Address, size: int) -> None: ...
    def call1(self, function: Address, first: int) -> int: ...
    def call2(self, function: Address, first: int, second: int) -> int: ...
    def call3(self, function: Address, first: int, second: int, third: int) -> int: ...
    def call4(self, function: Address, first: int, second: int, third: int, fourth: int) -> int: ...
    def call7(
        self,
        function: Address,
        first: int,
        second: int,
        third: int,
        fourth: int,
        fifth: int,
        sixth: int,
        seventh: int,
    ) -> int: ...
    def call_f64(self, function: Address, number: float) -> int: ...
    def pause(self) -> None: ...
    def now(self) -> int: ...
    def ticks(self) -> int: ...
    def cpu_time(self) -> int: ...
    def processor(self) -> int: ...
    def futex_wait(self, address: Address, expected: int, timeout_ns: int) -> int: ...
    def futex_wake(self, address: Address, count: int) -> int: ...
    def thread_context(self) -> Address: ...
    def set_thread_context(self, context: Address) -> Address: ...
    def stack_room(self) -> int: ...


_world: list[World] = []

NATIVE: dict[str, Callable[..., object]] = {}
"""Every function marked `native`, by qualified name, in the order of definition."""


ENTRIES: dict[str, Callable[..., object]] = {}
"""The native functions that have an address, by qualified name."""


@dataclass(frozen=True, slots=True)
class Export:
    """A native function under a C name, with LLVM types: `ptr`, `i64`, `i1` or `void`."""

    function: Callable[..., object]
    returns: str
    parameters: tuple[str, ...]


EXPORTS: dict[str, Export] = {}
"""The native functions that other compiled code calls, by C name."""


INLINE: set[str] = set()
"""Names of the native functions that are always inlined."""


OUTLINE: set[str] = set()
"""Names of the native functions that are never inlined."""


def native(function: Function) -> Function:
    """Mark a function as part of the native core: `library` compiles it, plain Python can call it."""
    NATIVE[f"{function.__module__}.{function.__qualname__}"] = function
    return function


def shared(function: Function) -> Function:
    """Let native functions call one that stands outside of the core, such as a lambda of a table."""
    NATIVE[f"{function.__module__}.{function.__qualname__}.{id(function)}"] = function
    return function


def inline(function: Function) -> Function:
    """Mark a native function whose calls must vanish: it is small, and on the hot path."""
    INLINE.add(function.__name__)
    return native(function)


def outline(function: Function) -> Function:
    """Mark a native function that must stay out of its callers: on the hot path it is the exception."""
    OUTLINE.add(function.__name__)
    return native(function)


def entry(function: Function) -> Function:
    """Mark a native function that Python, a record or a task reaches by its address.

    Its parameters and its result are words; one without a result gives 0.
    """
    ENTRIES[f"{function.__module__}.{function.__qualname__}"] = function
    return native(function)


def exported(name: str, returns: str, *parameters: str) -> Callable[[Function], Function]:
    """Give a native function a C name and C types, so that other compiled code can call it."""

    def register(function: Function) -> Function:
        EXPORTS[name] = Export(function, returns, parameters)
        return native(function)

    return register


def set_world(world: World | None) -> None:
    """Let plain calls of this module go to `world`; None takes the present one away."""
    _world[:] = [] if world is None else [world]


def current_world() -> World:
    """The world that plain calls go to.

    Raises:
        RuntimeError: if there is none; native functions cannot touch real memory uncompiled.
    """
    if not _world:
        raise RuntimeError("a native function was called from Python without a simulated world")
    return _world[0]


def load(address: Address) -> int:
    """The word at `address`."""
    return current_world().load(address)


def store(address: Address, value: int) -> None:
    """Write a word."""
    current_world().store(address, value)


def load_acquire(address: Address) -> int:
    """The word at `address`; later accesses stay behind it."""
    return current_world().load_acquire(address)


def store_release(address: Address, value: int) -> None:
    """Write a word after everything that came before."""
    current_world().store_release(address, value)


def fetch_add(address: Address, value: int) -> int:
    """Add to a word, atomically; returns what it was."""
    return current_world().fetch_add(address, value)


def exchange(address: Address, value: int) -> int:
    """Replace a word, atomically; returns what it was."""
    return current_world().exchange(address, value)


def compare_and_swap(address: Address, old: int, new: int) -> int:
    """Replace `old` by `new`, atomically; 1 if the word was `old`, else 0 and nothing changed."""
    return current_world().compare_and_swap(address, old, new)


def fence() -> None:
    """Order every earlier store before every later load (store buffers are drained)."""
    current_world().fence()


def load_i32(address: Address) -> int:
    """The 32-bit integer at `address`, sign-extended."""
    return current_world().load_i32(address)


def store_i32(address: Address, value: int) -> None:
    """Write the low 32 bits of `value`: two's complement wraps here."""
    current_world().store_i32(address, value)


def load_f32(address: Address) -> float:
    """The 32-bit float at `address`, as a double."""
    return current_world().load_f32(address)


def store_f32(address: Address, value: float) -> None:
    """Write `value` rounded to 32 bits."""
    current_world().store_f32(address, value)


def load_f64(address: Address) -> float:
    """The double at `address`."""
    return current_world().load_f64(address)


def store_f64(address: Address, value: float) -> None:
    """Write a double."""
    current_world().store_f64(address, value)


def allocate(size: int) -> Address:
    """`size` bytes, 16-aligned, not initialised; 0 when there is no memory."""
    return current_world().allocate(size)


def allocate_aligned(alignment: int, size: int) -> Address:
    """As `allocate`, at a multiple of `alignment`, a power of two."""
    return current_world().allocate_aligned(alignment, size)


def release(address: Address) -> None:
    """Give back what `allocate` or `allocate_aligned` gave."""
    current_world().release(address)


def discard(address: Address, size: int) -> None:
    """Let the system take whole pages back, which stay mapped, and are full of zeros when they are used again."""
    current_world().discard(address, size)


def copy(target: Address, source: Address, size: int) -> None:
    """Copy `size` bytes, whole words; the ranges do not overlap."""
    current_world().copy(target, source, size)


def clear(target: Address, size: int) -> None:
    """Fill `size` bytes, whole words, with zero."""
    current_world().clear(target, size)


def call1(function: Address, first: int) -> int:
    """Call through a pointer: word (word)."""
    return current_world().call1(function, first)


def call2(function: Address, first: int, second: int) -> int:
    """Call through a pointer: word (word, word)."""
    return current_world().call2(function, first, second)


def call3(function: Address, first: int, second: int, third: int) -> int:
    """Call through a pointer: word (word, word, word)."""
    return current_world().call3(function, first, second, third)


def call4(function: Address, first: int, second: int, third: int, fourth: int) -> int:
    """Call through a pointer: word (word, word, word, word)."""
    return current_world().call4(function, first, second, third, fourth)


def call7(
    function: Address,
    first: int,
    second: int,
    third: int,
    fourth: int,
    fifth: int,
    sixth: int,
    seventh: int,
) -> int:
    """Call through a pointer: word (seven words).  A function that takes fewer may be called so, too."""
    return current_world().call7(function, first, second, third, fourth, fifth, sixth, seventh)


def call_f64(function: Address, number: float) -> int:
    """Call through a pointer: word (double)."""
    return current_world().call_f64(function, number)


def pause() -> None:
    """Tell the processor that this is a spin loop."""
    current_world().pause()


def now() -> int:
    """Nanoseconds of the monotonic clock."""
    return current_world().now()


@native
def time_left(end: int) -> int:
    """Nanoseconds until the clock says `end`; 0 when it was said before.

    For a sleep, whose time below 0 is no limit: the system may stop a thread for as long as it likes
    after it has compared the clock with `end`.
    """
    return max(0, end - now())


def ticks() -> int:
    """The processor's own clock, in some unit: the same on all threads."""
    return current_world().ticks()


def cpu_time() -> int:
    """Nanoseconds that all threads of the process have run."""
    return current_world().cpu_time()


def processor() -> int:
    """The number of the processor that this thread runs on; the system may move it at any moment."""
    return current_world().processor()


def futex_wait(address: Address, expected: int, timeout_ns: int) -> int:
    """Sleep while the 32-bit word at `address` is `expected`, until `futex_wake`.

    May return for no reason: look again.  `timeout_ns` below 0 is no limit; see `time_left`.  Returns 0.
    """
    return current_world().futex_wait(address, expected, timeout_ns)


def futex_wake(address: Address, count: int) -> int:
    """Wake up to `count` threads that sleep on `address`.  Returns 0."""
    return current_world().futex_wake(address, count)


def thread_context() -> Address:
    """The context that this thread works with.

    A thread that has not set one gets one from Python: 0 is never the answer.
    """
    return current_world().thread_context()


def set_thread_context(context: Address) -> Address:
    """Let `thread_context` be `context` on this thread; 0 takes it away.  Returns what it was."""
    return current_world().set_thread_context(context)


def stack_room() -> int:
    """How many bytes this thread's stack may still grow; below 0, the reserve is in use."""
    return current_world().stack_room()


def wrapping_add(left: int, right: int) -> int:
    """The sum in 64 bits, two's complement."""
    return wrapped(left + right)


def wrapping_subtract(left: int, right: int) -> int:
    """The difference in 64 bits, two's complement."""
    return wrapped(left - right)


def wrapping_multiply(left: int, right: int) -> int:
    """The product in 64 bits, two's complement."""
    return wrapped(left * right)
