"""The runs that compiled code works for, by number: where they print and which are cancelled.

Several runs may use one host at the same time.  Each thread has the number of the run that it is
working for.  Numbers are never reused, so a task that outlives its run can do no harm.

`connect` lets compiled code and hosts' runtimes find each other: functions by name, events, and
threads.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfrt_runtime.async_runtime.printing import Printing, Sink
from tfrt_runtime.async_runtime.signals import watch_interrupts
from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, error
from tfrt_runtime.host.process import Callback3, native_process
from tfrt_runtime.host.queues.work_queue import WorkQueue, make_work_queue
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.structs import Async, Context
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import threads
from tfrt_runtime.native.coroutines import async_abi, async_buffers, async_interrupts
from tfrt_runtime.native.kernels import compiled_kernels
from tfrt_runtime.native.memory import EXPORTS
from tfrt_runtime.once import once

MAX_ENDED = 64
"""Maximum number of finished runs that are still tracked; they may have left work running."""


@dataclass(frozen=True, slots=True)
class _Stop:
    """Why a run is cancelled.

    `queue` is the address of the queue that has the run's work.  The run itself may no longer
    exist.

    Owns:
        references to the error values in `words`, the run's `STOP_*` words
    """

    queue: int
    message: str
    words: ctypes.Array[ctypes.c_int64]


class Runs:
    """The runs of all hosts of the process.  `known_runs()` returns the only instance.

    Threads:
        any
    """

    def __init__(self) -> None:
        self._process = native_process()
        self._lock = threading.RLock()
        self._requests: dict[int, Callable[[], Request | None]] = {}
        self._sinks: dict[int, Sink] = {}
        self._cancelled: dict[int, _Stop] = {}
        self._stopped: set[int] = set()
        self._tables: list[ctypes.Array[ctypes.c_int64]] = []
        """All tables so far.

        The last table is in use.  Threads may still be reading the earlier tables.
        """

    @property
    def flag(self) -> int:
        """The address of a word that is nonzero while loops must check whether to continue."""
        return self._process.address + at.PROCESS_INTERRUPTS

    @property
    def owns_errors(self) -> bool:
        """Whether some cancelled runs have not settled."""
        return bool(self._cancelled)

    def begin(self, request: Request) -> None:
        """Register a run for which compiled code is about to work.

        The code's output goes where the run's output goes.
        """
        with self._lock:
            self._requests[request.id] = weakref.ref(request)
            self._sinks[request.id] = request.lasting_output()
            if len(self._requests) > 2 * MAX_ENDED:
                # Cancelled runs stay until `settled` has freed their errors.
                self._forget([n for n in self._ended() if n not in self._cancelled][:-MAX_ENDED])

    def request(self, number: int) -> Request | None:
        """Return run `number`, or None if it is no longer tracked or no longer exists."""
        reference = self._requests.get(number)
        return None if reference is None else reference()

    def sink(self, number: int) -> Sink | None:
        """Return the sink for the output of run `number`, or None if it is no longer tracked."""
        return self._sinks.get(number)

    def cancel(self, number: int, failure: Diagnostic, queue: int, context: int) -> None:
        """End a run's loops and keep its tasks from starting.  The run itself may no longer exist.

        `queue` is the address of the run's queue, and `context` is this thread's context.
        """
        with self._lock:
            self._requests.setdefault(number, lambda: None)  # the run has finished
            if number not in self._cancelled:
                words = (ctypes.c_int64 * (at.STOP_SIZE // 8))()
                words[at.STOP_ERROR // 8] = self._process.error_value(context, failure)
                self._cancelled[number] = _Stop(queue, failure.message, words)
                self._show(number, ctypes.addressof(words))

    def message(self, number: int) -> str | None:
        """Return why run `number` is cancelled, or None."""
        stop = self._cancelled.get(number)
        return None if stop is None else stop.message

    def left(self, number: int, place: AnyLocation | None) -> Diagnostic | None:
        """Return the error of a cancelled run's code that stopped at `place`, or None.

        The error is reported to the run once.
        """
        message = self.message(number)
        if message is None:
            return None
        request = self.request(number)
        if request is not None and request.refusal is not None:
            return request.refusal
        found = error(message, place)
        if request is not None and place is not None and found not in request.diagnostics:
            request.report(found)
        return found

    def stop_host(self, queue: int) -> None:
        """Make all loops check whether to continue.

        The work of the queue at `queue` must stop.
        """
        with self._lock:
            self._stopped.add(queue)
            self._write_flag()

    def settled(self, queue: int, context: int) -> None:
        """Forget the finished runs of a queue on which nothing is running, and free their errors.

        `context` is this thread's context.
        """
        with self._lock:
            self._stopped.discard(queue)
            ended = [n for n in self._ended() if self._is_of(n, queue)]
            stops = [self._cancelled.pop(n) for n in ended if n in self._cancelled]
            # Hide the runs before their errors are dropped below, because native code reads the
            # errors.
            self._hide(ended)
            self._forget(ended)
            self._write_flag()
        drop = self._process.quick.value_drop
        for stop in stops:
            for value in (
                stop.words[at.STOP_ERROR // 8],
                *stop.words[at.STOP_PLACES // 8 + 1 :: 2],
            ):
                if value:
                    drop(context, value)

    def _ended(self) -> list[int]:
        found = []
        for number, reference in self._requests.items():
            request = reference()
            if request is None or request.is_done:
                found.append(number)
        return found

    def _is_of(self, number: int, queue: int) -> bool:
        """Return whether a run's remaining work is on a given queue.

        If the run no longer exists and was not cancelled, its work may be on any queue.
        """
        # Stopped work continues until its own queue has settled.
        if stop := self._cancelled.get(number):
            return stop.queue == queue
        request = self._requests[number]()
        return request is None or request.queue.address == queue

    def _forget(self, numbers: list[int]) -> None:
        for number in numbers:
            del self._requests[number]
            self._sinks.pop(number, None)

    def _show(self, number: int, stop: int) -> None:
        """Let native code find a run's `STOP_*` words.

        The words go into a row of the table.  From then on, the row belongs to the run.
        """
        if not self._tables or 0 not in self._tables[-1][1::2]:
            former = self._tables[-1][1:] if self._tables else []
            count = len(former) // 2 + 64
            self._tables.append((ctypes.c_int64 * (1 + 2 * count))(count, *former))
        table = self._tables[-1]
        row = 1 + 2 * table[1::2].index(0)
        # Write the words before the number: native code that finds the number reads the words
        # immediately.
        table[row + 1] = stop
        table[row] = number
        self._process.words.cancelled_runs = ctypes.addressof(table)
        self._write_flag()

    def _hide(self, numbers: list[int]) -> None:
        """Remove from the table the runs that have no work left."""
        if self._tables:
            table = self._tables[-1]
            for row in range(1, len(table), 2):
                if table[row] in numbers:
                    table[row] = 0

    def _write_flag(self) -> None:
        """Make loops check whether to continue while any run or host is cancelled."""
        is_set = self._cancelled or self._stopped
        bits = (at.INTERRUPT_CANCELLED, 0) if is_set else (0, at.INTERRUPT_CANCELLED)
        self._process.quick.change_interrupts(self._process.address, *bits)


@once
def known_runs() -> Runs:
    """Return the runs of this process."""
    return Runs()


FIRST_LIMIT = 1024
_EXPORTING = (async_abi, async_buffers, async_interrupts, compiled_kernels)
"""The modules whose functions compiled code calls.  `EXPORTS` has the functions' names."""


RUNTIMES: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""The open runtimes (`host_runtime.HostRuntime`), by the address of their queues."""


def prepare(queue: WorkQueue, *, checked: bool) -> Async:
    """Give a queue the state for compiled programs, and return the state.

    The caller must keep the state alive for as long as the queue exists.
    """
    words = Async.new(at.ASYNC_SIZE)
    words.limit, words.checked = FIRST_LIMIT, checked
    queue.native.async_ = words.address
    return words


def runtime_functions() -> dict[str, int]:
    """Return the addresses of the functions that compiled programs call, by C name.

    These are functions of the core and the printing functions.
    """
    library = native_process().library
    shared = _printing().addresses | {async_interrupts.FLAG: known_runs().flag}
    return {name: library[name] for name in (*EXPORTS, threads.STACK_LIMIT)} | shared


@once
def kernel_functions() -> dict[str, int]:
    """Return addresses by C name for compiled programs that run as kernels on any host."""
    connect()
    return runtime_functions()


@once
def _printing() -> Printing:
    return Printing(print_here)


def print_here(text: str) -> None:
    """Print for the run whose code calls this function, or on the host if the run has no output."""
    context = Context.at(native_process().quick.present_context(0))
    sink = known_runs().sink(context.run)
    if sink is not None:
        sink(text)
    elif (runtime := RUNTIMES.get(context.queue)) is not None:
        runtime.print(text)


@once
def connect() -> None:
    """Let native code call Python for events, and for a context if a thread has none."""
    process = native_process()
    process.words.async_event = process.keep(Callback3(_on_event))
    watch_interrupts()
    find_context = ctypes.CFUNCTYPE(ctypes.c_int64)(_foreign_context)
    process.function(threads.START)(process.keep(find_context))


def _on_event(context: int, event: int, argument: int) -> int:
    try:
        runtime = RUNTIMES.get(Context.at(context).queue)
        return 0 if runtime is None else int(runtime.on_event(context, event, argument))
    except BaseException:  # noqa: BLE001
        # ctypes cannot pass an exception through native code, so we report it and return 0.
        sys.excepthook(*sys.exc_info())
        return 0


def _foreign_context() -> int:
    """Return a context for a thread that the runtime neither started nor called."""
    for runtime in reversed(list(RUNTIMES.values())):
        return int(runtime.queue.context())
    return _foreign_queue()[0].context()


@once
def _foreign_queue() -> tuple[WorkQueue, Async]:
    """Return a queue for threads that call compiled code while no runtime is open."""
    queue = make_work_queue("s")
    return queue, prepare(queue, checked=False)
