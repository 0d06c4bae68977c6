"""Load, store, and atomically update shared memory at raw addresses.

This module is the only one through which native code accesses shared memory.

Each operation has two implementations.  In compiled code, `lowering` maps it to one LLVM
instruction or one call to the C library.  In ordinary Python, it calls the current *world*, which
is usually a simulated memory (`tests.simulator`).  The simulated memory checks lifetimes and races,
and lets a scheduler choose the thread that runs next.

Words are 64-bit two's complement, and an address is a word.  `load` and `store` are plain accesses:
the caller must guarantee that atomic operations order them with other threads' accesses.  The names
of the other accesses state their memory ordering.  A `load_acquire` that reads the result of a
`store_release` or of a read-modify-write sees everything that happened before that write.
Read-modify-writes are acq_rel.  `fence` is sequentially consistent.  The orderings are LLVM's:
https://llvm.org/docs/Atomics.html

`futex_wait` and `futex_wake` are Linux's futex(2):
https://man7.org/linux/man-pages/man2/futex.2.html

This module also implements the linked stacks that threads share: stacks of tasks, of batches of
blocks, and of finished runs.

    word of the stack --> newest item --link--> item --link--> oldest item --link--> 0

`link` is the offset of the word that links the items.  Any thread may push an item.  A thread that
takes items takes all of them.  No thread pops a single item, because of the ABA problem: while one
thread is popping an item, another thread could take the item and push it again on top of other
items, and the first thread would then store an outdated link.

The push is Treiber's: R. K. Treiber, "Systems Programming: Coping with Parallelism", an IBM
research report.  Treiber's pop is not used, because without a version counter next to the head, it
has the ABA problem.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from tfrt_runtime.scalars import wrapped

Address = int
Function = TypeVar("Function", bound=Callable[..., object])


_world: list[Any] = []

NATIVE: dict[str, Callable[..., object]] = {}
"""All functions marked `native`, by qualified name, in definition order."""


ENTRIES: dict[str, Callable[..., object]] = {}
"""The native functions whose addresses are taken, by qualified name."""


@dataclass(frozen=True, slots=True)
class Export:
    """A native function exported under a C name, with LLVM types: `ptr`, `i64`, `i1`, or `void`."""

    function: Callable[..., object]
    returns: str
    parameters: tuple[str, ...]


EXPORTS: dict[str, Export] = {}
"""The native functions that other compiled code calls, by C name."""


INLINE: set[str] = set()
"""The qualified names of native functions that are always inlined."""


OUTLINE: set[str] = set()
"""The qualified names of native functions that are never inlined."""


def native(function: Function) -> Function:
    """Mark a function as native: it is compiled, but ordinary Python can call it, too."""
    NATIVE[f"{function.__module__}.{function.__qualname__}"] = function
    return function


def shared(function: Function) -> Function:
    """Let native functions call a function that is not in the core, such as a lambda in a table."""
    # Lambdas of one table may have the same qualified name, so add the identity.
    NATIVE[f"{function.__module__}.{function.__qualname__}.{id(function)}"] = function
    return function


def inline(function: Function) -> Function:
    """Mark a small native function on a hot path; its calls are always inlined."""
    # The module is part of the name, because functions in different modules share names, such as
    # `run_kernel`.
    INLINE.add(f"{function.__module__}.{function.__qualname__}")
    return native(function)


def outline(function: Function) -> Function:
    """Mark a native function that hot callers rarely call; its calls are never inlined."""
    OUTLINE.add(f"{function.__module__}.{function.__qualname__}")
    return native(function)


def entry(function: Function) -> Function:
    """Mark a native function that Python, a record, or a task calls by its address.

    All parameters and the result are words.  A function without a result returns 0.
    """
    ENTRIES[f"{function.__module__}.{function.__qualname__}"] = function
    return native(function)


def exported(name: str, returns: str, *parameters: str) -> Callable[[Function], Function]:
    """Export a native function to other compiled code, under a C name and with C types."""

    def register(function: Function) -> Function:
        EXPORTS[name] = Export(function, returns, parameters)
        return native(function)

    return register


def set_world(world: object) -> None:
    """Set the world for operations in ordinary Python; None removes it."""
    _world[:] = [] if world is None else [world]


def current_world() -> Any:
    """Return the current world.

    Raises:
        RuntimeError: if no world is set.  Uncompiled native functions cannot access real memory.
    """
    if not _world:
        raise RuntimeError("a native function was called from Python without a simulated world")
    return _world[0]


def operation(function: Function) -> Function:
    """Declare an operation that `lowering` compiles.

    In ordinary Python, a call goes to the current world's method of the same name.
    """

    @functools.wraps(function)
    def simulated(*words: float) -> object:
        return getattr(current_world(), function.__name__)(*words)

    return cast(Function, simulated)


@operation
def load(address: Address) -> int:
    """Return the word at `address`."""


@operation
def store(address: Address, value: int) -> None:
    """Write `value` to the word at `address`."""


@operation
def load_acquire(address: Address) -> int:
    """Return the word at `address`; later accesses are not reordered before the load."""


@operation
def store_release(address: Address, value: int) -> None:
    """Write `value` at `address`; earlier accesses are not reordered after the store."""


@operation
def fetch_add(address: Address, value: int) -> int:
    """Add `value` to a word atomically; return the word's previous value."""


@operation
def exchange(address: Address, value: int) -> int:
    """Replace a word with `value` atomically; return the word's previous value."""


@operation
def compare_and_swap(address: Address, old: int, new: int) -> int:
    """Replace `old` with `new` atomically; return 1 if the word was `old`.

    Otherwise, change nothing, and return 0.
    """


@operation
def fence() -> None:
    """Order every earlier store before every later load."""


@operation
def load_i32(address: Address) -> int:
    """Return the 32-bit integer at `address`, sign-extended."""


@operation
def store_i32(address: Address, value: int) -> None:
    """Write the low 32 bits of `value`; a larger value wraps around in two's complement."""


@operation
def load_f32(address: Address) -> float:
    """Return the 32-bit float at `address` as a double."""


@operation
def store_f32(address: Address, value: float) -> None:
    """Write `value` rounded to 32 bits."""


@operation
def load_f64(address: Address) -> float:
    """Return the double at `address`."""


@operation
def store_f64(address: Address, value: float) -> None:
    """Write a double."""


@operation
def allocate(size: int) -> Address:
    """Allocate `size` uninitialized bytes, 16-aligned; return 0 if out of memory."""


@operation
def allocate_aligned(alignment: int, size: int) -> Address:
    """Allocate as `allocate` does, at a multiple of `alignment`, which is a power of two."""


@operation
def release(address: Address) -> None:
    """Free memory from `allocate` or `allocate_aligned`."""


@operation
def discard(address: Address, size: int) -> None:
    """Return whole pages to the system.

    The pages stay mapped, and contain zeros when they are next used.
    """


@operation
def copy(target: Address, source: Address, size: int) -> None:
    """Copy `size` bytes, in whole words; the ranges must not overlap."""


@operation
def clear(target: Address, size: int) -> None:
    """Fill `size` bytes, in whole words, with zeros."""


@operation
def call1(function: Address, first: int) -> int:
    """Call the function at address `function`, which takes a word and returns a word."""


@operation
def call2(function: Address, first: int, second: int) -> int:
    """Call the function at address `function`, which takes two words and returns a word."""


@operation
def call3(function: Address, first: int, second: int, third: int) -> int:
    """Call the function at address `function`, which takes three words and returns a word."""


@operation
def call4(function: Address, first: int, second: int, third: int, fourth: int) -> int:
    """Call the function at address `function`, which takes four words and returns a word."""


@operation
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
    """Call the function at address `function`, which takes up to seven words and returns a word."""


@operation
def call_f64(function: Address, number: float) -> int:
    """Call the function at address `function`, which takes a double and returns a word."""


@operation
def call_for_f64(function: Address, first: int) -> float:
    """Call the function at address `function`, which takes a word and returns a double."""


@operation
def pause() -> None:
    """Tell the processor that this is a spin loop."""


@operation
def now() -> int:
    """Return the time of the monotonic clock in nanoseconds."""


@native
def time_left(end: int) -> int:
    """Return the time until the clock reaches `end`, in nanoseconds, or 0 if that time has passed.

    Compute timeouts with this function, because a negative timeout means no limit.  The system may
    suspend the thread at any time, so a plain difference may be negative even after a check.
    """
    return max(0, end - now())


@operation
def ticks() -> int:
    """Return the time of the processor's clock, in an unspecified unit.

    All threads share the clock.
    """


@operation
def cpu_time() -> int:
    """Return the total CPU time of the process's threads, in nanoseconds."""


@operation
def processor() -> int:
    """Return the number of the processor on which this thread is running.

    The system may move the thread at any moment.
    """


@operation
def futex_wait(address: Address, expected: int, timeout_ns: int) -> int:
    """If the 32-bit word at `address` is `expected`, sleep until `futex_wake`.  Return 0.

    The thread may also wake up for no reason, so the caller must check its condition again.  A
    negative `timeout_ns` means no limit (`time_left`).
    """


@operation
def futex_wake(address: Address, count: int) -> int:
    """Wake up to `count` threads that are sleeping on `address`.  Return 0."""


@operation
def thread_context() -> Address:
    """Return this thread's context, which is never 0.

    If the thread has not set a context, call Python, which makes one.
    """


@operation
def set_thread_context(context: Address) -> Address:
    """Set this thread's context, or remove it if `context` is 0; return the previous context."""


@operation
def stack_room() -> int:
    """Return the number of bytes by which this thread's stack may still grow.

    A negative result means that the thread is using the reserve.
    """


@operation
def bound_words(item: Address) -> Address:
    """Return the address of an entry's words.

    `item` is the Python integer that is bound to the entry.
    """


def wrapping_add(left: int, right: int) -> int:
    """Return the sum of two words, wrapped around to 64 bits."""
    return wrapped(left + right)


@inline
def push_list(stack: Address, first: Address, last: Address, link: int) -> None:
    """Push the linked items from `first` to `last` onto a stack.

    Any thread may call this.  Before the call, no other thread may use the items.
    """
    while True:
        head = load_acquire(stack)
        store(last + link, head)
        # The swap publishes the items: it is also a release, so the thread that takes them sees
        # their words.
        if compare_and_swap(stack, head, first) != 0:
            return


@inline
def push(stack: Address, item: Address, link: int) -> None:
    """Push one item onto a stack, as `push_list` does."""
    push_list(stack, item, item, link)


@inline
def take_all(stack: Address) -> Address:
    """Empty a stack; return its newest item, to which the others are linked, or 0.

    Any thread may call this.  After the call, no other thread uses the items.
    """
    # Load first: the stack is often empty, and an exchange would take the cache line away from all
    # other threads.
    if load_acquire(stack) == 0:
        return 0
    return exchange(stack, 0)


@native
def take_one(stack: Address, link: int) -> Address:
    """Take the newest item of a stack.

    Return 0 if the stack is empty, or if another thread is holding all its items.
    """
    item = take_all(stack)
    if item == 0:
        return 0
    others = load(item + link)
    if others != 0 and compare_and_swap(stack, 0, others) == 0:
        # Another thread has pushed items in the meantime. Find the last item only in this case,
        # because there may be thousands.
        last = others
        while load(last + link) != 0:
            last = load(last + link)
        push_list(stack, others, last, link)
    return item
