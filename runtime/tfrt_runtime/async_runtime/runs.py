"""The runs that compiled code works for, by number: where they print, and which of them are cancelled.

Threads carry the number of their run along, so that what several runs of one host do at once can be told
apart.  A number is never given again; so a task that outlives its run can do no harm.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import weakref
from collections.abc import Callable

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, error
from tfrt_runtime.host.context import Request
from tfrt_runtime.host.process import native_process
from tfrt_runtime.native.layouts import (
    INTERRUPT_CANCELLED,
    PROCESS_CANCELLED_RUNS,
    PROCESS_INTERRUPTS,
)

Sink = Callable[[str], None]
MOST_ENDED = 64
"""So many runs that are over are known still, for what they may have left running."""


class Runs:
    """The runs of all hosts of the process; `known_runs()` has it.  Safe from any thread."""

    def __init__(self) -> None:
        self._process = native_process()
        self._lock = threading.Lock()
        self._requests: dict[int, weakref.ref[Request]] = {}
        self._sinks: dict[int, Sink] = {}
        self._cancelled: dict[int, str] = {}
        self._stopped: set[int] = set()
        self._tables: list[ctypes.Array[ctypes.c_int64]] = []
        """The last one is in use; threads may still look at the others."""

    @property
    def flag(self) -> int:
        """The address of the word that is not 0 while loops have to ask whether to go on."""
        return self._process.address + PROCESS_INTERRUPTS

    def begin(self, request: Request) -> None:
        """Compiled code works for a run from now on, and prints where that does."""
        with self._lock:
            self._requests[request.id] = weakref.ref(request)
            self._sinks[request.id] = request.output
            if len(self._requests) > 2 * MOST_ENDED:
                self._forget([n for n in self._ended() if n not in self._cancelled][:-MOST_ENDED])

    def request(self, number: int) -> Request | None:
        """The run, while it is known and somebody refers to it."""
        reference = self._requests.get(number)
        return None if reference is None else reference()

    def sink(self, number: int) -> Sink | None:
        """Where the run prints, if it still does."""
        return self._sinks.get(number)

    def prints_no_more(self, number: int) -> None:
        """What the run has left running prints for nobody in particular."""
        self._sinks.pop(number, None)

    def cancel(self, request: Request, message: str) -> None:
        """Let the loops of a run end, and its tasks not start."""
        with self._lock:
            self._requests.setdefault(request.id, weakref.ref(request))
            self._cancelled[request.id] = message
            self._write()

    def message(self, number: int) -> str | None:
        """Why a run is cancelled, if it is."""
        return self._cancelled.get(number)

    def left(self, number: int, place: AnyLocation | None) -> Diagnostic | None:
        """The error of code of a cancelled run that is left at a place; the run hears of it once."""
        message = self._cancelled.get(number)
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
            self._write()

    def settled(self, queue: int) -> None:
        """Nothing runs on a queue: what was left of its runs that are over is gone."""
        with self._lock:
            self._stopped.discard(queue)
            self._forget([n for n in self._ended() if self._is_of(n, queue)])
            self._write()

    def _ended(self) -> list[int]:
        found = []
        for number, reference in self._requests.items():
            request = reference()
            if request is None or request.is_done:
                found.append(number)
        return found

    def _is_of(self, number: int, queue: int) -> bool:
        request = self._requests[number]()
        return request is None or request.queue.address == queue

    def _forget(self, numbers: list[int]) -> None:
        for number in numbers:
            del self._requests[number]
            self._sinks.pop(number, None)
            self._cancelled.pop(number, None)

    def _write(self) -> None:
        """Show native code which runs are cancelled."""
        numbers = list(self._cancelled)
        if not self._tables or len(self._tables[-1]) <= len(numbers):
            table = (ctypes.c_int64 * (2 * len(numbers) + 64))()
            table[0] = len(table) - 1
            self._tables.append(table)
        table = self._tables[-1]
        for place in range(1, len(table)):
            table[place] = numbers[place - 1] if place <= len(numbers) else 0
        self._process.set_word(PROCESS_CANCELLED_RUNS, ctypes.addressof(table))
        bits = (INTERRUPT_CANCELLED, 0) if numbers or self._stopped else (0, INTERRUPT_CANCELLED)
        self._process.quick("async_interrupts.change_interrupts", 3)(self._process.address, *bits)


@functools.cache
def known_runs() -> Runs:
    """The runs of this process."""
    return Runs()
