"""Run random programs on the interpreter and, compiled, on several queues, and compare.

    python run.py FIRST COUNT

Prints what differs, and says how many were alike; its exit status is 1 if some differ.  A crash of
compiled code ends this process only.
"""

from __future__ import annotations

import faulthandler
import sys
from contextlib import ExitStack

from generator import random_program
from interpreter import Result, interpret

from tfrt_nb.jit.coroutines import packed_name
from tfrt_nb.jit.stages import compile_program
from tfrt_nb.passes.async_parallel_for import AsyncParallelFor
from tfrt_nb.source import parse_module
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.async_runtime.printing import Printing
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.testing.leaks import nothing_left_behind

QUEUES = (("s", True), ("s", False), ("mstd:1", True), ("mstd:2", True), ("mstd:8", False))
"""With and without checks of references."""


def run_once(runtime: AsyncRuntime, main: int, output: list[str]) -> Result:
    """What the compiled program does; nothing may be left over."""
    output.clear()
    errors: frozenset[tuple[str, int]] = frozenset()
    try:
        runtime.run(main)
    except TfrtError as problem:
        errors = frozenset((d.message, d.location.line) for d in problem.diagnostics if d.location)
        assert len(problem.diagnostics) == 1, problem
    left = runtime.live_objects()
    assert left == [], left
    return Result("".join(output), errors)


def agree(expected: Result, found: Result) -> bool:
    """Whether the output is the same, and the error one of those that are possible."""
    if expected.output != found.output or bool(expected.errors) != bool(found.errors):
        return False
    return found.errors <= expected.errors


def compare(seed: int, runtimes: dict[tuple[str, bool], AsyncRuntime], output: list[str]) -> str:
    """What is wrong with the program; nothing if all is well."""
    text = random_program(seed)
    module = parse_module(text, "program")
    expected = interpret(module)
    printing = Printing(output.append)
    first = (AsyncParallelFor(num_workers=4, min_task_size=1, clamp_trip_counts=True),)
    functions = next(iter(runtimes.values())).functions | printing.addresses
    code = compile_program(module, functions, *(first if seed % 2 else ()))
    main = code.address(packed_name("main"))
    for name, runtime in runtimes.items():
        try:
            with nothing_left_behind():
                found = run_once(runtime, main, output)
        except AssertionError as problem:
            return f"{name}: {problem}"
        if not agree(expected, found):
            return f"{name}: expected {expected}, found {found}"
    return ""


def main(first: int, count: int) -> int:
    """Compare `count` programs; the exit status."""
    faulthandler.enable()
    output: list[str] = []
    wrong = 0
    with ExitStack() as stack:
        runtimes = {}
        for queue, checked in QUEUES:
            host = stack.enter_context(HostContext(queue))
            runtime = AsyncRuntime(host, checked=checked, output=output.append)
            runtimes[queue, checked] = stack.enter_context(runtime)
            host.work_queue.start()
        for seed in range(first, first + count):
            print(seed, end="\r", file=sys.stderr, flush=True)
            if problem := compare(seed, runtimes, output):
                print(f"program {seed}: {problem}", flush=True)
                wrong += 1
    print(f"{count - wrong} of {count} programs are alike")
    return min(1, wrong)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
