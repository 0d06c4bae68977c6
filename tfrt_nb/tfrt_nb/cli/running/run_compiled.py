"""Implement `tfrt-nb run` for a compiled function: output, results, errors, and leftover objects.

The function runs on another thread, so that the main thread can handle Ctrl-C and the time limit.
While compiled code is computing, Python cannot handle a signal.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from ctypes import c_float
from typing import TYPE_CHECKING, NoReturn

from tfrt_nb.cli.expectations import check, find_expectations
from tfrt_nb.cli.files import EXIT_INTERRUPTED, EXIT_PROBLEM, show
from tfrt_nb.compiled.kernels import HostCode
from tfrt_nb.programs import Program
from tfrt_nb.report import word_at
from tfrt_runtime.async_runtime import LiveObject
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error, note
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.native.machine import HAS_THREADS

if TYPE_CHECKING:
    from tfrt_nb.cli.running.following import Follower

GRACE_SECONDS = 0.25
"""The time in seconds that a stopped run may take to finish."""
MAX_LEFT_OVER = 20
"""The maximum number of leftover objects that are shown."""


def run_compiled(
    host: HostContext,
    program: Program,
    name: str,
    arguments: Sequence[object],
    options: argparse.Namespace,
    follower: Follower | None,
) -> int:
    """Run a compiled function, and return the exit status.

    Raises:
        TfrtError: if the function cannot be compiled, or cannot take the arguments.
    """
    shared = host.shared_context(HostCode)
    assert program._compiled is not None
    shared.check(program._compiled)
    # Without the option, references are checked only if the program itself counts references.
    if options.check_references is not None:
        shared.runtime.checked = options.check_references
    watch = follower.watch(None) if follower is not None else None
    execution = program.run(host, name, arguments, watch=watch or False, tier=Tier(options.tier))
    if follower is not None:
        follower.follow(execution)
    if not _finish(execution, options.timeout):
        return _too_late(execution, program, options.timeout)
    if execution.results:
        texts = ",".join(map(result_text, execution.results))
        sys.stdout.write(f"'{name}' returned {texts}\n")
    raised = execution.diagnostics
    problems = check(raised, {program.name: find_expectations(program.text, program.name)}, "")
    # The results must not count as leftover objects, even if other code still refers to the run.
    execution.forget_results()
    problems += left_over(shared, program, raised)
    show_all(problems, program)
    return int(bool(problems))


def _finish(execution: Execution, timeout: float | None) -> bool:
    """Wait on another thread for a run to finish. Return False if the timeout expires first.

    Raises:
        KeyboardInterrupt: if the user interrupts the run. The run has stopped by then.
    """
    if not HAS_THREADS:
        return execution.wait(timeout)
    finished = threading.Event()

    def work() -> None:
        execution.wait()
        finished.set()

    start_thread("program", work)
    try:
        return finished.wait(timeout)
    except KeyboardInterrupt:
        execution.cancel("interrupted")
        if not finished.wait(GRACE_SECONDS):
            print("tfrt-nb: interrupted", file=sys.stderr)
            leave_process(EXIT_INTERRUPTED)
        raise


def _too_late(execution: Execution, program: Program, timeout: float) -> int:
    """Report that the timeout has expired, and what the function waits for.

    Return the exit status.
    """
    notes = execution.waiting_for()
    text = f"@{execution.function.name} did not finish within {timeout:g} s and was cancelled"
    before = len(execution.diagnostics)
    finished = threading.Event()
    execution.on_done(finished.set)
    execution.cancel(f"timed out after {timeout:g} s")
    has_stopped = finished.wait(GRACE_SECONDS)
    notes += [
        note("it had reached this line", left.location) for left in execution.diagnostics[before:]
    ]
    place = execution.program.file.location(execution.function.location)
    show_all([error(text, place, notes)], program)
    if not has_stopped:
        leave_process(EXIT_PROBLEM)
    return EXIT_PROBLEM


def leave_process(status: int) -> NoReturn:
    """Exit the process, which is the only way to stop compiled code that is still running."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def left_over(shared: HostCode, program: Program, raised: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Return an error for each object that a program left behind.

    The error is at the operation that created the object. If nothing could resolve some objects,
    return only the reason for that, unless `raised` already has the reason.
    """
    left = shared.runtime.live_objects()
    objects = [one for one in left if one.reason is None]
    reasons = [one.reason for one in left if one.reason is not None]
    if reasons and not any(reason in raised for reason in reasons):
        return [reasons[0]]
    found = [_left_over(one, program) for one in objects[:MAX_LEFT_OVER]]
    if len(objects) > MAX_LEFT_OVER:
        found.append(error(f"{len(objects) - MAX_LEFT_OVER} more objects are left over"))
    if not objects and not shared.runtime.checked and (count := shared.host.live_values()) > 0:
        plural = "object is" if count == 1 else "objects are"
        found.append(error(f"{count} {plural} left over; run with --check-references to see which"))
    return found


def _left_over(one: LiveObject, program: Program) -> Diagnostic:
    maker = one.maker or word_at(program.text, one.location)
    of_maker = f" of '{maker}'" if maker else ""
    plural = "" if one.references == 1 else "s"
    state = f"{one.references} reference{plural}, {one.state}"
    return error(f"a {one.kind}{of_maker} is left over: {state}", one.location)


def result_text(value: AsyncValue) -> str:
    """Format a result for the command line, in MLIR's notation.

    A float has just enough digits to distinguish it from its neighbors.
    """
    problem = value.exception(0)
    if problem is not None:
        return f"<<error: {problem.diagnostics[0].message}>>"
    match payload := value.result(0):
        case bool():
            return "true" if payload else "false"
        case float() if value.type == "f32":
            # NumPy can do this, too, but importing it takes as long as running a small program.
            shorter = (float(f"{payload:.{digits}g}") for digits in range(1, 10))
            return repr(next((one for one in shorter if c_float(one).value == payload), payload))
        case float():
            return repr(payload)
        case _:
            return "token" if payload is CHAIN else str(payload)


def show_all(problems: Sequence[Diagnostic], program: Program) -> None:
    """Print diagnostics with their source lines to standard error, after the program's output."""
    if problems:
        show(TfrtError(*problems), program.text)
