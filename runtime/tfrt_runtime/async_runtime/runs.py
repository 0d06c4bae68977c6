"""The runs that compiled code works for, by number: where they print, and which of them are
cancelled.

Threads carry the number of their run along, so that what several runs of one host do at once can be
told apart.  A number is never given again; so a task that outlives its run can do no harm.
"""

from __future__ import annotations

import ctypes
import threading
import weakref
from collections.abc import Callable
from dataclasses import dataclass

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, error
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.native import async_layouts as co
from tfrt_runtime.native import layouts as at
from tfrt_runtime.once import once

Sink = Callable[[str], None]
MAX_ENDED = 64
"""So many runs that are over are known still, for what they may have left running."""


def _no_request() -> None:
    """The request of a run that was not known when it was cancelled: the run is over."""


@dataclass(frozen=True, slots=True)
class _Stop:
    """Why a run is cancelled, and its `STOP_*` words, which own references to error values.

    `queue` is the address of the one on which it runs: the run itself may be gone.
    """

    queue: int
    message: str
    words: ctypes.Array[ctypes.c_int64]


class Runs:
    """The runs of all hosts of the process; `known_runs()` has it.  Safe from any thread."""

    def __init__(self) -> None:
        self._process = native_process()
        self._lock = threading.RLock()
        self._requests: dict[int, Callable[[], Request | None]] = {}
        self._sinks: dict[int, Sink] = {}
        self._cancelled: dict[int, _Stop] = {}
        self._stopped: set[int] = set()
        self._tables: list[ctypes.Array[ctypes.c_int64]] = []
        """The last one is in use; threads may still read the others."""

    @property
    def flag(self) -> int:
        """The address of the word that is not 0 while loops have to ask whether to go on."""
        return self._process.address + at.PROCESS_INTERRUPTS

    @property
    def owns_errors(self) -> bool:
        """Whether runs were cancelled that have not settled."""
        return bool(self._cancelled)

    def begin(self, request: Request) -> None:
        """Compiled code works for a run from now on, and prints where that does."""
        with self._lock:
            self._requests[request.id] = weakref.ref(request)
            self._sinks[request.id] = request.lasting_output()
            if len(self._requests) > 2 * MAX_ENDED:
                self._forget([n for n in self._ended() if n not in self._cancelled][:-MAX_ENDED])

    def request(self, number: int) -> Request | None:
        """The run, while it is known and has a reference."""
        reference = self._requests.get(number)
        return None if reference is None else reference()

    def sink(self, number: int) -> Sink | None:
        """Where the run prints, if it still does."""
        return self._sinks.get(number)

    def cancel(self, number: int, failure: Diagnostic, queue: int, context: int) -> None:
        """Let the loops of a run, which may be gone, end, and its tasks not start.

        The run is of the queue at that address; `context` is this thread's.
        """
        with self._lock:
            self._requests.setdefault(number, _no_request)
            if number not in self._cancelled:
                words = (ctypes.c_int64 * (co.STOP_SIZE // 8))()
                words[co.STOP_ERROR // 8] = self._process.error_value(context, failure)
                self._cancelled[number] = _Stop(queue, failure.message, words)
                self._show(number, ctypes.addressof(words))

    def message(self, number: int) -> str | None:
        """Why a run is cancelled, if it is."""
        stop = self._cancelled.get(number)
        return None if stop is None else stop.message

    def left(self, number: int, place: AnyLocation | None) -> Diagnostic | None:
        """The error of code of a cancelled run that is left at a place; the run hears of it
        once.
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
        """Let all loops ask: nothing of the queue at that address shall go on."""
        with self._lock:
            self._stopped.add(queue)
            self._write_flag()

    def settled(self, queue: int, context: int) -> None:
        """Nothing runs on a queue: what was left of its runs that are over is gone.

        `context` is this thread's.
        """
        with self._lock:
            self._stopped.discard(queue)
            ended = [n for n in self._ended() if self._is_of(n, queue)]
            stops = [self._cancelled.pop(n) for n in ended if n in self._cancelled]
            self._hide(ended)
            self._forget(ended)
            self._write_flag()
        drop = self._process.quick.value_drop
        for stop in stops:
            for value in (
                stop.words[co.STOP_ERROR // 8],
                *stop.words[co.STOP_PLACES // 8 + 1 :: 2],
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
        """Whether what a run may have left runs on a queue; of one that is gone and not
        cancelled, on any.
        """
        # What is stopped goes on until its own queue has settled.
        if stop := self._cancelled.get(number):
            return stop.queue == queue
        request = self._requests[number]()
        return request is None or request.queue.address == queue

    def _forget(self, numbers: list[int]) -> None:
        for number in numbers:
            del self._requests[number]
            self._sinks.pop(number, None)

    def _show(self, number: int, stop: int) -> None:
        """Let native code find the `STOP_*` words of a run, in a row that stays the run's."""
        if not self._tables or 0 not in self._tables[-1][1::2]:
            former = self._tables[-1][1:] if self._tables else []
            count = len(former) // 2 + 64
            self._tables.append((ctypes.c_int64 * (1 + 2 * count))(count, *former))
        table = self._tables[-1]
        row = 1 + 2 * table[1::2].index(0)
        table[row + 1] = stop
        table[row] = number
        self._process.words.cancelled_runs = ctypes.addressof(table)
        self._write_flag()

    def _hide(self, numbers: list[int]) -> None:
        """Take runs of which nothing runs any more out of the table."""
        if self._tables:
            table = self._tables[-1]
            for row in range(1, len(table), 2):
                if table[row] in numbers:
                    table[row] = 0

    def _write_flag(self) -> None:
        """Let loops ask whether to go on while something is cancelled."""
        is_set = self._cancelled or self._stopped
        bits = (at.INTERRUPT_CANCELLED, 0) if is_set else (0, at.INTERRUPT_CANCELLED)
        self._process.quick.change_interrupts(self._process.address, *bits)


@once
def known_runs() -> Runs:
    """The runs of this process."""
    return Runs()
