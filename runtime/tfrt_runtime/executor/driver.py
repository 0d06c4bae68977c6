"""Run a whole file as the command line does: every function that takes no arguments, in order.

Each function runs as a separate run, with its own resources and cancellation.  The text around the
program's output is the same as in TFRT's driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tfrt_runtime.bef.records import FunctionKind
from tfrt_runtime.diagnostics import Diagnostic, note
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.context import HostContext, Sink
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.scalars import INTEGERS
from tfrt_runtime.texts import float_text

GRACE_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class FunctionRun:
    """The outcome of one function.

    `finished` is False if the function exceeded its time limit or was stuck.  In that case, `waits`
    contains notes on the external values for which the function was waiting.
    """

    name: str
    execution: Execution
    finished: bool
    waits: tuple[Diagnostic, ...] = ()


def result_text(value: AsyncValue) -> str:
    """Format a result as TFRT's driver does."""
    if value.state is State.ERROR:
        problem = value.exception(0)
        assert problem is not None
        return f"<<error: {problem.diagnostics[0].message}>>"
    payload = value.result(0)
    match value.type:
        case "i1":
            return str(int(bool(payload)))
        case "f32" | "f64":
            assert isinstance(payload, float)
            return float_text(payload)
    if value.type in INTEGERS:
        return str(payload)
    return f"{value.type} value"


def results_text(execution: Execution) -> str:
    """Format the results of a run as TFRT's driver does.

    The results of a failed sync function are formatted as one error.
    """
    texts = [result_text(value) for value in execution.results]
    has_failed = execution.results[0].state is State.ERROR
    is_one = has_failed and execution.function.kind is FunctionKind.SYNC
    return texts[0] if is_one else ",".join(texts)


def run_functions(
    host: HostContext,
    program: Executable,
    functions: list[int],
    output: Sink,
    timeout: float | None = None,
    arguments: Sequence[object] = (),
    follower: Any = None,
    tier: Tier = Tier.AUTO,
) -> Iterator[FunctionRun]:
    """Run functions one after another.

    Yield the outcome of each function when the function has finished or exceeded its time limit.

    A `follower` is called for each function.  `follower.watch(program)` returns the `Watch` for the
    next function, or None.  `follower.follow(run)` is called when the function's run has started.
    """
    host.work_queue.start()
    for index in functions:
        name = program.functions[index].name
        output(f"--- Running '{name}':\n")
        watch = None if follower is None else follower.watch(program)
        execution = Execution(
            host, program, index, arguments, output=output, watch=watch, tier=tier
        )
        if follower is not None:
            follower.follow(execution)
        finished = execution.wait_for_results(timeout)
        if finished and host.work_queue.threads:
            # Without this wait, a worker's late output could appear before or after the next line.
            finished = execution.wait(timeout)
        waits = () if finished else stop(execution, timeout)
        if execution.results and all(value.done() for value in execution.results):
            output(f"'{name}' returned {results_text(execution)}\n")
        execution.forget_results()
        if finished and not execution.wait(timeout):
            finished = False
            waits = stop(execution, timeout)
        yield FunctionRun(name, execution, finished, waits)


def stop(execution: Execution, timeout: float | None) -> tuple[Diagnostic, ...]:
    """Cancel a run that is stuck or out of time, and wait briefly for kernels that have started.

    Return notes on the external values that the run needed, and on the loop that was running.
    """
    waits = execution.waiting_for()
    execution.cancel("stuck" if timeout is None else f"timed out after {timeout:g} s")
    execution.wait(GRACE_SECONDS)
    if loop := execution.request.native.loop:
        owner, number = native_process().owner_of(loop)
        waits.append(note("it had reached this line", owner.location_of(number)))
    return tuple(waits)
