"""Load, store, and atomically update shared memory at raw addresses.

Native code accesses memory that threads share only through this module.

Each function has two implementations.  In compiled code, `lowering` maps it to one LLVM instruction
or to one call of the C library.  Called from ordinary Python, it calls the current world, as in
`tests.simulator`: a simulated memory that checks lifetimes and races, and lets a scheduler choose
which thread runs next.

Words are 64-bit two's complement; an address is a word.  `load` and `store` are plain accesses: the
caller must guarantee that an atomic operation orders them with the accesses of other threads.  The
names of the other functions state the memory ordering: a `load_acquire` that reads the result of a
`store_release` (or of a read-modify-write) sees everything that happened before it;
read-modify-writes are acq_rel; `fence` is sequentially consistent.  The orderings are LLVM's:
https://llvm.org/docs/Atomics.html

`futex_wait` and `futex_wake` are Linux's futex(2):
https://man7.org/linux/man-pages/man2/futex.2.html

This module also has stacks of linked items that threads share: tasks, batches of blocks, and
finished runs.

    word of the stack --> newest item --link--> item --link--> oldest item --link--> 0

Any thread may push.  A thread that takes items takes all of them; no thread pops a single item.
With a pop, between the load of the top item's link and the swap of a pop, another thread could take
that item and push it again on top of other items, and the swap would then restore a stale link
(ABA).  `link` is the offset of the word that links the items.

The push is Treiber's: R. K. Treiber, "Systems Programming: Coping with Parallelism", an IBM
research report.  His pop is not used because, without a version counter beside the head, it has the
ABA problem described above.
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
"""All functions marked `native`, by qualified name, in the order of their definitions."""


ENTRIES: dict[str, Callable[..., object]] = {}
"""The native functions that have an address, by qualified name."""


@dataclass(frozen=True, slots=True)
class Export:
    """A native function exported under a C name, with LLVM types: `ptr`, `i64`, `i1`, or `void`."""

    function: Callable[..., object]
    returns: str
    parameters: tuple[str, ...]


EXPORTS: dict[str, Export] = {}
"""The native functions that other compiled code calls, by C name."""


INLINE: set[str] = set()
"""The names of the native functions that are always inlined."""


OUTLINE: set[str] = set()
"""The names of the native functions that are never inlined."""


def native(function: Function) -> Function:
    """Mark a native function: `library` compiles it, and ordinary Python can call it."""
    NATIVE[f"{function.__module__}.{function.__qualname__}"] = function
    return function


def shared(function: Function) -> Function:
    """Let native functions call a function outside the core, such as a lambda in a table."""
    NATIVE[f"{function.__module__}.{function.__qualname__}.{id(function)}"] = function
    return function


def inline(function: Function) -> Function:
    """Mark a small native function on the hot path whose calls must be inlined."""
    INLINE.add(function.__name__)
    return native(function)


def outline(function: Function) -> Function:
    """Mark a native function as never to be inlined, because its hot callers rarely call it."""
    OUTLINE.add(function.__name__)
    return native(function)


def entry(function: Function) -> Function:
    """Mark a native function whose address Python, a record, or a task calls.

    Its parameters and its result are words; a function without a result returns 0.
    """
    ENTRIES[f"{function.__module__}.{function.__qualname__}"] = function
    return native(function)


def exported(name: str, returns: str, *parameters: str) -> Callable[[Function], Function]:
    """Export a native function to other compiled code, under a C name with C types."""

    def register(function: Function) -> Function:
        EXPORTS[name] = Export(function, returns, parameters)
        return native(function)

    return register


def set_world(world: object) -> None:
    """Send calls of this module from ordinary Python to `world`; None removes the current world."""
    _world[:] = [] if world is None else [world]


def current_world() -> Any:
    """Return the world that receives these calls.

    Raises:
        RuntimeError: if no world is set; uncompiled native functions cannot access real memory.
    """
    if not _world:
        raise RuntimeError("a native function was called from Python without a simulated world")
    return _world[0]


def operation(function: Function) -> Function:
    """Declare an operation that `lowering` compiles.

    In ordinary Python, a call is sent to the method of the current world that has the same name and
    parameters.
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
    """Write a word."""


@operation
def load_acquire(address: Address) -> int:
    """Return the word at `address`; later accesses are not reordered before the load."""


@operation
def store_release(address: Address, value: int) -> None:
    """Write a word; earlier accesses are not reordered after the store."""


@operation
def fetch_add(address: Address, value: int) -> int:
    """Add to a word atomically; return its previous value."""


@operation
def exchange(address: Address, value: int) -> int:
    """Replace a word atomically; return its previous value."""


@operation
def compare_and_swap(address: Address, old: int, new: int) -> int:
    """Replace `old` with `new` atomically; return 1 if the word was `old`.

    Otherwise, change nothing and return 0.
    """


@operation
def fence() -> None:
    """Order every earlier store before every later load (drain the store buffers)."""


@operation
def load_i32(address: Address) -> int:
    """Return the 32-bit integer at `address`, sign-extended."""


@operation
def store_i32(address: Address, value: int) -> None:
    """Write the low 32 bits of `value`, which wraps around in two's complement."""


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
    """Allocate `size` uninitialized bytes, 16-aligned.

    Return 0 if not enough memory is available.
    """


@operation
def allocate_aligned(alignment: int, size: int) -> Address:
    """Allocate like `allocate`, but at a multiple of `alignment`, a power of two."""


@operation
def release(address: Address) -> None:
    """Free memory from `allocate` or `allocate_aligned`."""


@operation
def discard(address: Address, size: int) -> None:
    """Return whole pages to the system.

    The pages stay mapped and read as zeros when they are next used.
    """


@operation
def copy(target: Address, source: Address, size: int) -> None:
    """Copy `size` bytes, in whole words; the ranges must not overlap."""


@operation
def clear(target: Address, size: int) -> None:
    """Fill `size` bytes, in whole words, with zeros."""


@operation
def call1(function: Address, first: int) -> int:
    """Call through a pointer: word (word)."""


@operation
def call2(function: Address, first: int, second: int) -> int:
    """Call through a pointer: word (word, word)."""


@operation
def call3(function: Address, first: int, second: int, third: int) -> int:
    """Call through a pointer: word (word, word, word)."""


@operation
def call4(function: Address, first: int, second: int, third: int, fourth: int) -> int:
    """Call through a pointer: word (word, word, word, word)."""


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
    """Call through a pointer: word (seven words).  The function may take fewer parameters."""


@operation
def call_f64(function: Address, number: float) -> int:
    """Call through a pointer: word (double)."""


@operation
def call_for_f64(function: Address, first: int) -> float:
    """Call a function that takes one word and returns a double."""


@operation
def pause() -> None:
    """Tell the processor that this is a spin loop."""


@operation
def now() -> int:
    """Return the time of the monotonic clock in nanoseconds."""


@native
def time_left(end: int) -> int:
    """Return the nanoseconds until the clock reaches `end`, or 0 if it already has.

    Use it to compute timeouts: after a thread has compared the clock with `end`, the system may
    suspend it for any time, and a timeout below 0 would mean no limit.
    """
    return max(0, end - now())


@operation
def ticks() -> int:
    """Return the processor's own clock in an unspecified unit; all threads share one clock."""


@operation
def cpu_time() -> int:
    """Return the total CPU time of the process's threads, in nanoseconds."""


@operation
def processor() -> int:
    """Return the number of the processor that is running this thread.

    The system may move the thread at any moment.
    """


@operation
def futex_wait(address: Address, expected: int, timeout_ns: int) -> int:
    """Sleep while the 32-bit word at `address` is `expected`, until `futex_wake`.

    Wake-ups may be spurious, so the caller must check its condition again.  A negative `timeout_ns`
    means no limit; see `time_left`.  Returns 0.
    """


@operation
def futex_wake(address: Address, count: int) -> int:
    """Wake up to `count` threads that are sleeping on `address`.  Returns 0."""


@operation
def thread_context() -> Address:
    """Return the context of this thread; the result is never 0.

    If the thread has not set a context, Python makes one for it.
    """


@operation
def set_thread_context(context: Address) -> Address:
    """Make `thread_context` return `context` on this thread; 0 removes it.

    Returns the previous context.
    """


@operation
def stack_room() -> int:
    """Return how many bytes this thread's stack may still grow.

    If the result is negative, the reserve is in use.
    """


@operation
def bound_words(item: Address) -> Address:
    """Return the words bound to an entry that Python calls; `item` is a Python integer."""


def wrapping_add(left: int, right: int) -> int:
    """Return the sum in 64 bits, two's complement."""
    return wrapped(left + right)


@inline
def push_list(stack: Address, first: Address, last: Address, link: int) -> None:
    """Put linked items on top of a stack; any thread may call this.

    Before the call, the items must belong to this thread.
    """
    while True:
        head = load_acquire(stack)
        store(last + link, head)
        # The swap publishes the items: its release half makes their words visible to the thread
        # that takes them.
        if compare_and_swap(stack, head, first) != 0:
            return


@inline
def push(stack: Address, item: Address, link: int) -> None:
    """Push one item, as `push_list` does."""
    push_list(stack, item, item, link)


@inline
def take_all(stack: Address) -> Address:
    """Take all items: return the newest, which is linked to the others, or 0.

    Any thread may call this.

    After the call, the items belong to this thread alone.
    """
    # A load is cheap, and the stack is often empty; the exchange would take the cache line away
    # from all threads.
    if load_acquire(stack) == 0:
        return 0
    return exchange(stack, 0)


@native
def take_one(stack: Address, link: int) -> Address:
    """Take the newest item.

    Returns 0 if the stack is empty or while another thread holds all its items.
    """
    item = take_all(stack)
    if item == 0:
        return 0
    others = load(item + link)
    if others != 0 and compare_and_swap(stack, 0, others) == 0:
        # Another thread has pushed items in between. The items are walked only in this case,
        # because there may be thousands.
        last = others
        while load(last + link) != 0:
            last = load(last + link)
        push_list(stack, others, last, link)
    return item
