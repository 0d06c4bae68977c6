"""The link between the native core and Python; one per process.

The core calls Python through a few callbacks: to release an object, to run a kernel, to make an
error, or to run a waiter.  A callback holds the GIL only while it runs.  The core calls CPython's C
API by address.  Python calls the core through the entries of its library, which are built-in
functions.  Entries that take nanoseconds keep the GIL.  Entries that may run kernels or wait
release it.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import itertools
import mmap
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.host import structs
from tfrt_runtime.host.budget import default_budget, show_bytes
from tfrt_runtime.host.interrupts import INTERRUPTS, WAITS
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.payload import (
    ObjectTable,
    as_python,
    read_payload,
)
from tfrt_runtime.host.python_interface import (
    QUICK,
    SLOW,
    Entries,
    bind,
    built_in_function,
    python_interface,
)
from tfrt_runtime.host.structs import Context, Record
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import library, threads
from tfrt_runtime.once import once

MISSING = object()
"""The object that a function of `native.python` returns to leave its work to Python."""
RESERVE_FOR_ERRORS = 4 << 20
KERNEL_BITS = 32
"""The number of low bits of a kernel's handle that hold its number within the program.

The program's number is in the higher bits.
"""

Callback2 = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
Callback3 = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


def address_of(callback: ctypes._FuncPointer) -> int:
    """Return the address at which native code can call a callback."""
    return ctypes.cast(callback, ctypes.c_void_p).value or 0


_CALLED_BY_THE_CORE = {
    "python_kernel": "python_functions.run_framed",
    "request_done": "python_runs.request_done",
    "release_object": "python_entries.object_release",
    "run_entry": "executor.run_entry",
    "run_blocking": "executor.run_blocking",
    "run_root": "executor.run_root",
    "run_rows": "python_calls.run_rows",
    "release_tensor": "tensors.drop_tensor",
    "reclaim": "tensors.reclaim_all",
    "run_coroutine": "async_awaiting.run_coroutine",
    "member_resolved": "async_groups.member_resolved",
}
"""Functions that the core calls by address, keyed by the fields of the struct PROCESS."""


class NativeProcess:
    """The loaded core and its callbacks; `native_process()` returns this process's instance."""

    def __init__(self) -> None:
        self.library = library.load()
        self.requests: dict[int, Any] = {}
        """The unfinished runs (`host.request.Request`), keyed by the address of their words."""
        self._owners: dict[int, weakref.ref[Any]] = {}
        self._owner_numbers = itertools.count(1)
        self.need_thread: dict[int, Callable[[], None]] = {}
        self._contexts: set[int] = set()
        self._leaked_values = self._spare_context = 0
        self.words = structs.Process.new(at.PROCESS_SIZE)
        """The struct PROCESS, which native code and Python share."""
        self.address = self.words.address
        self.words.memory_limit = default_budget()
        self._store = structs.Store.new(at.STORE_SIZE)
        self._store.process = self.address
        self.store = self._store.address
        """The source of memory for tensors of native kernels, for all hosts."""
        self._local = threading.local()
        self._reserve = _reserve_for_errors()
        self._buffers = (ctypes.c_int64 * (at.BUFFERS_SIZE // 8))()
        self._buffers[at.BUFFERS_DEAD // 8] = 1
        self.words.buffers = ctypes.addressof(self._buffers)
        # Each access to a method creates another object. The core holds only the addresses of these
        # two, so the attributes keep the objects alive.
        self._read = self._payload
        # All entries that are made below need this.
        bind(self.library)
        self._python = python_interface(self.library, self.requests, self._read)
        self._when_done = self._request_done
        self._python[at.PYTHON_REQUEST_DONE // 8] = id(self._when_done)
        self.words.python = self._python.buffer_info()[0]
        self.quick = Entries(self.function, QUICK)
        self.slow = Entries(functools.partial(self.function, way="call_slow"), SLOW)
        self.objects = ObjectTable(
            functools.partial(self._built_in, "python_entries"),
            lambda: self.words.objects,
        )
        self._callbacks = self._install()
        self.launch = self._built_in("python_runs", "launch")
        self.adopt = self._built_in("python_runs", "adopt")
        self.track = self._built_in("python_shortcuts", "track")
        self.untrack = self._built_in("python_shortcuts", "untrack")
        entering = ONE_THREAD.entering
        self.at_once = entering(self._built_in("python_runs", "at_once"))
        self.first = entering(self._built_in("python_waits", "first"))
        self.result = entering(self._built_in("python_waits", "result"))
        self.end = entering(self._built_in("python_waits", "end"))
        # These two call users' callbacks.  They keep the GIL, because they run no kernels.
        self.settle = entering(self._built_in("python_functions", "settle"))
        self.leave_request = entering(self.quick.leave_request)
        self.leave = self._built_in("python_runs", "leave")
        self.forget = self._built_in("python_runs", "forget")
        INTERRUPTS.handler = self._built_in("python_entries", "handle")
        # Starting a call as a task runs no kernels, so it keeps the GIL.
        self.start_as_task = self.quick.start_call_with
        self.start_here = self.slow.start_call_with
        self.quick.fill_stock(self.address)
        self.function(threads.SET_IDLE)(address_of(ONE_THREAD.callback))

    def _install(self) -> list[object]:
        """Fill in the struct PROCESS; return the objects that must live as long as it."""
        callbacks: dict[str, ctypes._FuncPointer] = {
            "call_python": Callback2(self._python_kernel),
            "report_error": Callback3(self._report_error),
            "python_waiter": Callback2(self._python_waiter),
            "print": Callback3(self._print),
            "need_thread": Callback2(self._need_thread),
            "refused": Callback3(self._refused),
            "machine": Callback3(self._machine),
        }
        words, library = self.words, self.library
        for name, callback in callbacks.items():
            setattr(words, name, address_of(callback))
        for name, entry in _CALLED_BY_THE_CORE.items():
            setattr(words, name, library[entry])
        words.store = self.store
        return list(callbacks.values())

    def keep(self, callback: ctypes._FuncPointer) -> int:
        """Keep a callback alive as long as the process; return its address."""
        self._callbacks.append(callback)
        return address_of(callback)

    def error_value(self, context: int, diagnostic: Diagnostic) -> int:
        """Return a new error value with one reference.  The error is not reported to any run."""
        value = self.quick.value_make(context, 0)
        self.quick.value_set_error(context, value, self.objects.add(diagnostic))
        return value

    def reserve(self, limit: int, size: int) -> bool:
        """Count memory that Python is about to allocate.

        Return False, and count nothing, if the total would exceed `limit`.
        """
        reserve = self.quick.reserve_within
        # Before refusing, free the memory that the process keeps for later use.
        return bool(
            reserve(self.address, limit, size)
            or (self.quick.reclaim_all(self.address, 0) and reserve(self.address, limit, size))
        )

    def give_back(self, size: int) -> None:
        """Subtract memory that `reserve` counted."""
        self.quick.give_back(self.address, size)

    def function(self, name: str, way: str = "call_quick") -> Callable[..., int]:
        """Return an exported function of the library.

        `way` is "call_quick", which holds the GIL during calls, or "call_slow", which releases it.
        """
        address, entry = self.library.built_in(f"python_entries.{way}"), self.library.of_words(name)
        made = built_in_function(name, address, entry, self._python.buffer_info()[0])
        return made if way == "call_quick" else ONE_THREAD.entering(made)

    def _built_in(self, module: str, name: str) -> Callable[..., Any]:
        """Return the Python function `name` of a module of `native.python`."""
        words = (self._python.buffer_info()[0], self.address, id(MISSING))
        return built_in_function(name, self.library.built_in(f"{module}.{name}"), *words)

    @property
    def runs(self) -> int:
        """How many runs are unfinished.

        The count may include finished runs that the threads that finished them have not
        unregistered yet.
        """
        self.forget()
        return len(self.requests)

    def new_context(self, queue: int, pool: int, number: int) -> int:
        """Return a native context for thread `number` of a queue.

        Free the context with `free_contexts`.
        """
        context = self.quick.context_make(self.address, queue, pool, number)
        if context == 0:
            raise TfrtError(error("out of memory: the system cannot start another thread"))
        self._contexts.add(context)
        return context

    def free_contexts(self, contexts: Iterable[int]) -> None:
        """Free contexts that no thread and no value uses."""
        for context in contexts:
            self._leaked_values += live_values(context)
            self._contexts.discard(context)
            self.quick.context_free(context)

    def spare_context(self) -> int:
        """Return a context without a queue, for values that outlive their queue."""
        if self._spare_context == 0:
            self._spare_context = self.new_context(0, 0, 0)
        return self._spare_context

    def live_values(self) -> int:
        """Return how many AsyncValues of all queues exist, including those that were lost.

        The number is exact only while nothing is running.
        """
        return self._leaked_values + sum(map(live_values, list(self._contexts)))

    @property
    def live_tensors(self) -> int:
        """How many native tensors and shapes exist."""
        return self._store.tensors

    @property
    def memory_held(self) -> int:
        """How many bytes native code and tensors have taken from the system and not returned.

        This includes free blocks that are kept for reuse.
        """
        return self.words.held

    @property
    def programs(self) -> int:
        """How many programs are loaded."""
        return len(self._owners)

    def add_owner(self, owner: object) -> int:
        """Register a program (`executor.program.Executable`).

        Return the handle of the program's first kernel.  The handles of its other kernels follow.
        The program must stay alive while any part of it is running.  Remove the program with
        `remove_owner`.
        """
        number = next(self._owner_numbers)
        self._owners[number] = weakref.ref(owner)
        return number << KERNEL_BITS

    def remove_owner(self, base: int) -> None:
        """Remove a program; `base` is the handle of its first kernel."""
        del self._owners[base >> KERNEL_BITS]

    def owner_of(self, record: int) -> tuple[Any, int]:
        number = Record.at(record).handle
        owner = self._owners[number >> KERNEL_BITS]()
        assert owner is not None
        return owner, number & (1 << KERNEL_BITS) - 1

    def _payload(self, value: int) -> object:
        """Return the payload of the value at address `value`, as users see it."""
        return as_python(read_payload(value, self.objects))

    def _python_kernel(self, context: int, record: int) -> int:
        owner, number = self.owner_of(record)
        owner.run_kernel(context, record, number)
        return 0

    def _report_error(self, context: int, record: int, message: int) -> int:
        owner, number = self.owner_of(record)
        return int(owner.report(context, record, number, message))

    def _refused(self, context: int, record: int, size: int) -> int:
        """End the run whose kernel on this thread was refused memory.

        Return 0, and do nothing, in two cases.  If the thread is not running a kernel, the context
        may have the address of a request that is no longer a run.  If the thread is running
        compiled code, the code reports the error at its next operation with a location.
        """
        request = self.requests.get(Context.at(context).request)
        if request is None:
            return 0
        name, place = "the call", None
        if record != 0:
            owner, number = self.owner_of(record)
            if owner.is_compiled(number):
                return 0
            name, place = f"'{owner.kernel_name(number)}'", owner.location_of(number)
        with self.refusing() as is_first:
            if is_first:
                request.refuse(error(self.refusal(context, size, name), place))
        return 1

    def _machine(self, context: int, event: int, argument: int) -> int:
        """Handle an event of machine code: a hot function, or the end of a time slice.

        Return 1 if the machine code must continue.
        """
        if event == at.MACHINE_HOT:
            owner = self._owners[argument >> KERNEL_BITS]()
            assert owner is not None
            owner.compile_hot(argument & (1 << KERNEL_BITS) - 1)
            return 0
        try:
            return int(WAITS.goes_on())
        except BaseException:  # noqa: BLE001 - the wait raises it again
            return 0

    def refusal(self, context: int, size: int, name: str) -> str:
        """Return the error message for a refused request of `size` bytes by `name`."""
        limit = self.quick.memory_limit(context)
        if self.memory_held + size <= limit:
            return f"out of memory: the system cannot provide {show_bytes(size)} for {name}"
        return (
            f"out of memory: {name} needs {show_bytes(size)}, but {show_bytes(self.memory_held)}"
            f" of the budget of {show_bytes(limit)} is in use"
        )

    @contextlib.contextmanager
    def refusing(self) -> Iterator[bool]:
        """Make memory available, in the `with` block, for the error that ends a run.

        Yield False if this thread is already inside a `refusing` block.
        """
        if getattr(self._local, "refuses", False):
            yield False
            return
        self._local.refuses = True
        # Several threads may be in such a block, but only one of them gets the reserve.
        reserve, self._reserve = self._reserve, None
        if reserve is not None:
            reserve.close()
        try:
            yield True
        finally:
            self._local.refuses = False
            self._reserve = _reserve_for_errors()

    def _print(self, context: int, record: int, value: int) -> int:
        owner, number = self.owner_of(record)
        owner.print_value(context, number, value)
        return 0

    def _python_waiter(self, _context: int, handle: int) -> int:
        shielded(self.objects.release(handle))
        return 0

    def _need_thread(self, _context: int, pool: int) -> int:
        # The queue may have been stopped in the meantime.
        if (start := self.need_thread.get(pool)) is not None:
            start()
        return 0

    def _request_done(self, request: int) -> None:
        run = self.requests.pop(request)
        self.track(run)  # see `native.python.python_shortcuts`
        run.finished()


def _reserve_for_errors() -> mmap.mmap | None:
    """Reserve the memory that Python needs to report out-of-memory errors."""
    try:
        return mmap.mmap(-1, RESERVE_FOR_ERRORS)
    except OSError:
        return None


def shielded(call: Callable[[], object]) -> None:
    """Call a user's callback; report its exception instead of ending the thread."""
    try:
        call()
    except BaseException:  # noqa: BLE001
        sys.excepthook(*sys.exc_info())


def live_values(context: int) -> int:
    """Return how many AsyncValues a thread has made, minus how many it has destroyed.

    The result may be negative.
    """
    own = Context.at(context)
    return own.made - own.dropped


@once
def native_process() -> NativeProcess:
    """Return the native core of this process; load it on first use.  Any thread may call this."""
    return NativeProcess()
