"""A program that a reader runs by hand: each function is a run that goes on only on request."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property

from tfrt_magics.bridge.page_program import PageProgram
from tfrt_magics.bridge.runtime import NamesOfValues, TracedRun
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.programs import Program
from tfrt_nb.schedules.step import Stepper

LOOK_SECONDS = 0.01
STEP_SECONDS = 10.0


class SteppedProgram:
    """A program whose functions are stepped through (`run.LoadedProgram`).  Close it when they are over."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._runs: list[SteppedRun] = []

    @cached_property
    def document(self) -> PageProgram:
        """The program as pages have it."""
        return PageProgram(self._program)

    def run(
        self, function: str, output: Callable[[str], None], arguments: Sequence[object] = ()
    ) -> SteppedRun:
        page = self.document.document
        stepper = Stepper(self._program, function, arguments, document=page, output=output)
        self._runs.append(SteppedRun(self._program, stepper))
        return self._runs[-1]

    def close(self) -> None:
        """End what still runs."""
        for run in self._runs:
            run.stepper.close()


class SteppedRun(TracedRun):
    """A run of a stepper (`run.Run`)."""

    def __init__(self, program: Program, stepper: Stepper) -> None:
        execution = stepper.execution
        events = RunDocument(program, execution, stepper.document)
        name = execution.function.name
        signature = next(one for one in program.functions if one.name == name)
        super().__init__(execution, NamesOfValues(program), signature, events)
        self.stepper = stepper
        stepper.operation_of_task = events.operation_of_task

    def wait(self, timeout: float) -> bool:
        """Whether it is over at the end.  The kernels run on the stepper's thread, not on this one."""
        end = time.monotonic() + timeout
        while not self.stepper.is_over and time.monotonic() < end:
            time.sleep(LOOK_SECONDS)
        return self.stepper.is_over

    def cancel(self) -> None:
        self.stepper.cancel()

    def ready(self) -> list[int]:
        """The operations that may run next."""
        return self.stepper.ready(0)

    def step(self, operation: int | None, *, until: bool) -> None:
        """Run an operation, others until it is ready, or for None all that is left."""
        if operation is None:
            self.stepper.run_to_end(0)
        elif until:
            self.stepper.run_to(operation, STEP_SECONDS)
        else:
            self.stepper.run(operation, STEP_SECONDS)
