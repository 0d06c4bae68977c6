"""Runtime support for interpreted functions: the core's functions, and coroutines.

A coroutine is a generator with a handle, which is a number that the core keeps while the coroutine
waits. The core resumes the generator as it resumes a coroutine in machine code: when the awaited
object is resolved, the core calls `RESUME` with the handle, on any thread. This call may happen
before the generator has yielded. Therefore, the yield and the call of `RESUME` meet at a
rendezvous: whichever of the two happens second continues the generator.

    start --> advance --next--> generator --tfrtAsyncAwaitAndExecute(handle, RESUME)--> the core
                 ^                  |                                                      |
                 |                yield                                                 RESUME
                 +--- arrivals: 1 --+---------------------- arrivals: 1 --------------------+

Each task is a coroutine, too, because the passes do not spawn plain functions for the interpreter.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Generator, Mapping
from typing import Any

from tfrt_nb.internal_errors import internal_error
from tfrt_nb.interpreter.memory import Records
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.structs import WORDS
from tfrt_runtime.native.coroutines.async_interrupts import FLAG
from tfrt_runtime.native.layouts import INTERRUPT_SIGNAL, INTERRUPTS_NOTED

EXHAUSTED = "the stack is exhausted"
_HANDLES = itertools.count(16, 16)


class Coroutine:
    """A coroutine of the interpreted program, which a Python generator runs."""

    __slots__ = ("arrivals", "begins", "generator", "handle", "machine", "objects", "results")

    generator: Generator[Any, None, None]

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.handle = next(_HANDLES)
        # A thread that holds the GIL draws a number in one step, so two threads never get the same
        # one.
        self.arrivals = itertools.count().__next__
        """Numbers each yield and each call of `RESUME`, from 0; those with odd numbers come second.
        """
        self.begins = False
        """Whether the queue must start the coroutine after its first yield."""
        self.objects: tuple[int, ...] = ()
        """The objects that the coroutine resolves; known when it begins."""
        self.results: Any = None
        """The results of the function, once it has finished."""


_coroutines: dict[int, Coroutine] = {}
"""The coroutines that have not finished, by handle."""


def advance(coroutine: Coroutine, depth: Any, *, is_new: bool = False) -> Any:
    """Run a coroutine until it waits or finishes, and return the results of its function.

    `depth` is the depth of the enclosing calls, which the generator receives when it resumes.
    """
    sent = None if is_new else depth
    arrive, send = coroutine.arrivals, coroutine.generator.send
    while True:
        try:
            results = send(sent)
        except StopIteration:
            return coroutine.results
        except BaseException as problem:  # noqa: BLE001 - no exception may pass through the core
            coroutine.machine.abandon(coroutine, problem)
            return coroutine.results
        is_second = arrive() & 1
        if coroutine.begins:
            # Pass the coroutine to the queue only after it has yielded. The queue may run it
            # immediately on top of this stack, and limits the depth of such stacks.
            coroutine.begins = False
            coroutine.machine.execute(coroutine.handle, RESUME)
            return results
        if not is_second:
            return results
        sent = depth


def _resume(handle: int) -> int:
    coroutine = _coroutines[handle]
    if coroutine.arrivals() & 1:
        advance(coroutine, 0)
    return 0


# The signature must match the core's call, because WebAssembly checks it.
_resume_callback = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(_resume)
RESUME = ctypes.cast(_resume_callback, ctypes.c_void_p).value or 0
"""The address of the function that resumes a coroutine."""


class Machine:
    """The state that the functions of one program share while they run.

    `deepest` is the maximum depth of nested calls.
    """

    def __init__(self, addresses: Mapping[str, int], records: Records, deepest: int) -> None:
        self.deepest = deepest
        self._records = records
        self._process = native_process()
        self._functions: dict[str, Callable[..., int]] = {}
        self.flag = _word_at(addresses[FLAG])
        """The word that is not 0 while some run is cancelled."""
        self.noted = _word_at(INTERRUPTS.address + INTERRUPTS_NOTED)
        """The word that is not 0 while a noted interrupt waits for the main thread."""
        self.live: int = 0
        """The address of the word that counts calls and coroutines; 0 if they are not counted."""
        self._lock = threading.Lock()
        self.execute = self.abi("mlirAsyncRuntimeExecute")
        self.wait = self._process.function("tfrtAsyncAwait", way="call_slow")
        """Waits until an object is resolved, without the GIL; runs tasks meanwhile."""

    def abi(self, name: str) -> Callable[..., int]:
        """Return a function of the runtime, which is called without releasing the GIL."""
        if name not in self._functions:
            self._functions[name] = self._process.function(name)
        return self._functions[name]

    def is_interrupted(self, record: int) -> int:
        """Return whether this thread's code must stop at the place that `record` describes."""
        if not self.noted[0]:
            return self.abi("tfrtAsyncIsInterrupted")(record) & 1
        # Python's handler only records Ctrl-C, so set the bit of the flag that machine code reads.
        change = self._process.quick.change_interrupts
        change(self._process.address, INTERRUPT_SIGNAL, 0)
        found = self.abi("tfrtAsyncIsInterrupted")(record) & 1
        change(self._process.address, 0, INTERRUPT_SIGNAL)
        return found

    def count(self, step: int) -> None:
        """Add `step` to the number of calls from outside plus coroutines.

        The number matters only if buffers are lent to the program.
        """
        if self.live:
            with self._lock:
                # The addition reads and writes the word in separate steps.
                WORDS[self.live >> 3] += step

    # Coroutines

    def start(self, body: Callable[..., Generator[Any, None, None]], *arguments: Any) -> Any:
        """Start a coroutine, and return its function's results when it waits or finishes."""
        coroutine = Coroutine(self)
        coroutine.generator = body(coroutine, *arguments)
        # If the program checks the stack, the last argument is the depth.
        return advance(coroutine, arguments[-1] if arguments else 0, is_new=True)

    def begin(self, coroutine: Coroutine, objects: tuple[int, ...]) -> None:
        """Register a coroutine, so that the core can resume it by its handle.

        The coroutine will resolve `objects`.
        """
        coroutine.objects = objects
        _coroutines[coroutine.handle] = coroutine
        self.count(1)

    def finish(self, coroutine: Coroutine) -> None:
        """Remove a coroutine that has finished."""
        del _coroutines[coroutine.handle]
        self.count(-1)

    def abandon(self, coroutine: Coroutine, problem: BaseException) -> None:
        """End a coroutine that has raised an exception, and resolve its objects to errors."""
        record = self.failure(problem)
        for value in coroutine.objects:
            if value and not self.abi("tfrtAsyncIsAvailable")(value) & 1:
                self.abi("tfrtAsyncDescribeError")(value, record)
                self.abi("tfrtAsyncSetErrorUnlessAvailable")(value)
        if coroutine.handle in _coroutines:
            self.finish(coroutine)
        # The caller gets these objects, which are errors now, as the results that it expects.
        found = coroutine.objects
        coroutine.results = found[0] if len(found) == 1 else found

    def failure(self, problem: BaseException) -> int:
        """Return a record that says why a function cannot continue."""
        match problem:
            case RecursionError():
                message = EXHAUSTED
            case MemoryError() | KeyboardInterrupt():
                message = "out of memory" if isinstance(problem, MemoryError) else "interrupted"
            case _:
                assert isinstance(problem, Exception)
                message = internal_error(problem).diagnostics[0].message
        return self._records.record(message, None)


def _word_at(address: int) -> memoryview:
    return memoryview((ctypes.c_int64 * 1).from_address(address)).cast("B").cast("q")
