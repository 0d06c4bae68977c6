"""Run one case in a child: load, run, cancel, and inspect programs, and report problems.

A case may end in results or in diagnostics. Problems are other exceptions, runs that do not finish
after a cancellation, and values, tensors, handles, or runs that are left. Anything that a case
leaves behind exists when the next one runs, as in a notebook.
"""

from __future__ import annotations

import gc
import random
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType

from tfrt_nb.programs import FunctionSignature, Program
from tfrt_nb.report import render_all
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process

PATIENCE_SECONDS = 4.0
"""The seconds in which a cancelled run must finish on two unshared processors."""
LATEST_SECONDS = 60.0
"""The same on a busy machine."""
MAX_MEMORY = 512 << 20
"""The memory budget of runs in bytes: about eight million tasks."""
CASES_PER_HOST = 300
QUEUES = ("s", "mstd:2")
LOOKS = 100
"""The number of checks of what a case has left.

They take one to three seconds, or more on a busy machine.
"""
MAX_FUNCTIONS = 6
COMPILED_SHARE = 0.05
"""The share of runs whose functions are machine code from the start, if possible."""
LEAKS_ON_PURPOSE = "memory_leak_one_int32"
"""A kernel that leaks."""

ARGUMENTS: dict[str, tuple[object, ...]] = {
    "i1": (True, False),
    "i8": (0, -1, 127),
    "i32": (0, 1, -1, 2, 5, 2**31 - 1, -(2**31)),
    "i64": (0, 1, -1, 2, 5, 2**63 - 1, -(2**63)),
    "index": (0, 1, -1, 5),
    "f32": (0.0, -1.5, float("inf"), float("nan")),
    "f64": (0.0, -1.5, float("inf"), float("nan")),
}
"""The arguments of functions that take numbers, by type."""


class Watchdog(threading.Thread):
    """Cancels a run when its time is up.

    The thread that waits for the run cannot do that, because it may be computing.
    """

    def __init__(self) -> None:
        super().__init__(name="watchdog", daemon=True)
        self._watched: tuple[Callable[[], object], float] | None = None

    @contextmanager
    def watch(self, cancel: Callable[[], object], seconds: float) -> Iterator[None]:
        """Call `cancel` if the block takes longer than `seconds`."""
        self._watched = (cancel, time.monotonic() + seconds)
        try:
            yield
        finally:
            self._watched = None

    def run(self) -> None:
        while True:
            time.sleep(0.01)
            watched = self._watched
            if watched is not None and time.monotonic() > watched[1]:
                self._watched = None
                watched[0]()


def ends(execution: Execution) -> bool:
    """Return whether a cancelled run finishes within a certain processor time.

    It gets longer by the clock if processor time is scarce.
    """
    latest, most = time.monotonic() + LATEST_SECONDS, time.process_time() + 2 * PATIENCE_SECONDS
    while time.monotonic() < latest and time.process_time() < most:
        if execution.wait(0.2):
            return True
    return execution.wait(0)


class Runner:
    """Runs programs in a child. `problems` are those of the current case."""

    def __init__(self, seconds: float, queues: Sequence[str] = ()) -> None:
        """Start without any problems.

        Args:
            seconds: the time after which a function is cancelled.
            queues: where each function is run; by default, the case chooses one or both.
        """
        self.seconds = seconds
        self._queues = queues
        self.problems: list[str] = []
        self.ran = 0
        self._hosts: dict[str, HostContext] = {}
        self._cases = 0
        self._process = native_process()
        self._watchdog = Watchdog()
        self._watchdog.start()
        self._catch_all()

    def case(
        self,
        act: Callable[[Runner], None],
        *,
        queues: Sequence[str] = QUEUES,
        may_leak: bool = False,
    ) -> list[str]:
        """Run one case, which uses hosts of these queues, and return its problems.

        The first line of each problem is its kind.
        """
        self.problems = []
        self._cases += 1
        if self._cases % CASES_PER_HOST == 0:
            self.close()
        for queue in queues:
            self.host(queue)
        if self._cases % 100 == 1:
            gc.collect()
            gc.freeze()
        before = self._counts()
        try:
            act(self)
        except TfrtError as problem:
            self.look_at(problem, "")
        except RecursionError as problem:
            self.problem(problem)
        except Exception as problem:  # noqa: BLE001 - that is what we look for
            self.problem(problem)
        if not may_leak and (left := self._left_over(before)):
            self.problems.append(f"leak\n{left}")
        return self.problems

    def close(self) -> None:
        """Close the hosts, and drop everything that they have loaded."""
        hosts, self._hosts = self._hosts, {}
        for host in hosts.values():
            host.close()

    def host(self, queue: str) -> HostContext:
        """Return the host of a queue, which cases share."""
        if queue not in self._hosts:
            self._hosts[queue] = HostContext(queue, output=lambda _: None, memory=MAX_MEMORY)
        return self._hosts[queue]

    def run_program(self, program: Program, chance: random.Random) -> None:
        """Run some functions of a program, on one queue or on both."""
        queues = QUEUES if chance.random() < 0.15 else (chance.choice(("s", "s", "mstd:2")),)
        queues = self._queues or queues
        if program._compiled is None:
            try:
                program.load()
            except TfrtError as problem:  # once, and not for each function
                self.look_at(problem, program.text)
                return
        functions = program.functions
        if len(functions) > MAX_FUNCTIONS:
            functions = chance.sample(functions, MAX_FUNCTIONS)
        for queue in queues:
            for function in functions:
                self._run_function(program, self.host(queue), function, chance)

    def _run_function(
        self,
        program: Program,
        host: HostContext,
        function: FunctionSignature,
        chance: random.Random,
    ) -> None:
        if any(type_ not in ARGUMENTS for type_ in function.argument_types):
            return
        arguments = [chance.choice(ARGUMENTS[type_]) for type_ in function.argument_types]
        # Compiling takes longer than most runs; hot functions are compiled even without it.
        tier = Tier.COMPILED if chance.random() < COMPILED_SHARE else Tier.AUTO
        try:
            execution = program.run(
                host, function.name, arguments, output=lambda _: None, tier=tier
            )
        except TfrtError as problem:
            self.look_at(problem, program.text)
            return
        self.ran += 1
        if chance.random() < 0.05:
            execution.cancel("cancelled at once")
        with self._watchdog.watch(lambda: execution.cancel("its time is over"), self.seconds):
            is_over = execution.wait(self.seconds)
        if not is_over:
            execution.cancel("its time is over")
            if not ends(execution):
                text = "a run does not end after its cancellation\n" + function.name
                self.problems.append(text)
        for value in execution.results:
            if value.done():
                problem = value.exception(0)
                repr(value.result(0) if problem is None else problem)
            else:
                repr(value)
        for diagnostic in execution.diagnostics:
            self.look_at(TfrtError(diagnostic), program.text)

    def look_at(self, problem: TfrtError, text: str) -> None:
        """Check that a diagnostic can be shown, and is not an internal error in disguise."""
        if not problem.diagnostics:
            self.problems.append("an error without diagnostics\n")
        shown = render_all(problem.diagnostics, text or None)
        if re.search(r"internal error|Traceback|LLVM IR parsing|Cannot select", shown):
            self.problems.append(f"internal: {shown.splitlines()[0][:80]}\n{shown}")

    def problem(self, exception: BaseException) -> None:
        """Record an exception that is not a diagnostic."""
        self.problems.append(
            headline(exception) + "\n" + "".join(traceback.format_exception(exception))
        )

    def _catch_all(self) -> None:
        """Record exceptions in callbacks and threads as problems of the current case."""

        def on_exception(
            kind: type[BaseException], value: BaseException, place: TracebackType | None
        ) -> None:
            self.problem(value.with_traceback(place))

        sys.excepthook = on_exception
        sys.unraisablehook = lambda raised: self.problem(raised.exc_value or Exception("?"))
        threading.excepthook = lambda raised: self.problem(raised.exc_value or Exception("?"))

    def _counts(self) -> tuple[int, ...]:
        process = self._process
        return (
            process.live_values(),
            process.live_tensors,
            len(process.objects),
            process.runs,
            process.programs,
        )

    def _is_more(self, before: tuple[int, ...]) -> bool:
        return any(a > b for a, b in zip(self._counts(), before, strict=True))

    def _left_over(self, before: tuple[int, ...]) -> str:
        """Return the objects that a case has left: new ones that stay the same for `LOOKS` checks.

        Return "" if there are none. The work of a cancelled run, which may be hundreds of thousands
        of tasks, finishes only after the run.
        """
        looks, generation, fewest = LOOKS, 1, self._counts()
        while self._is_more(before):
            after = self._counts()
            if any(a < b for a, b in zip(after, fewest, strict=True)):
                looks, fewest = LOOKS, tuple(map(min, after, fewest))
            looks -= 1
            if looks < 0:
                names = ("values", "tensors", "handles", "runs", "programs")
                pairs = zip(names, before, after, strict=True)
                return ", ".join(f"{n}: {b} before, {a} after" for n, b, a in pairs if a > b)
            # Objects of a case are young, so a collection of that generation finds most of their
            # cycles.
            gc.collect(generation)
            generation = 2
            if not self._is_more(before):
                break
            for host in self._hosts.values():
                host.quiesce(0.02)
            time.sleep(0.002)
        return ""


def headline(exception: BaseException) -> str:
    """Return what distinguishes kinds of exceptions: the type, and where it was raised."""
    frames = traceback.extract_tb(exception.__traceback__)
    ours = [f for f in frames if re.search(r"/(runtime|tfrt_nb|magics)/tfrt_", f.filename)]
    places = [f"{f.filename.rpartition('/')[2]}:{f.name}" for f in (ours or frames)[-2:]]
    return f"{type(exception).__name__} in {' > '.join(places)}"
