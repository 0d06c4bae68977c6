"""Run programs as the JIT compiles them, on the native runtime, which checks references."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from xdsl.context import Context

from tfrt_nb.compiled.module import loop_passes, requested_parallel_for
from tfrt_nb.jit.compiler import load, object_code
from tfrt_nb.jit.coroutines import lower_to_llvm, packed_name
from tfrt_nb.jit.programs import compile_program
from tfrt_nb.passes.pipeline import parse_pipeline
from tfrt_nb.source import parse_module
from tfrt_runtime.async_runtime import AsyncRuntime
from tfrt_runtime.diagnostics import Location, TfrtError
from tfrt_runtime.host.context import HostContext

REPLACED: dict[str, int] = {}
"""Functions by which a test replaces the runtime's own, by name."""


@dataclass
class Outcome:
    """A program's output, the message and line of its error, and the number of objects left."""

    output: str
    failure: tuple[str, int] | None = None
    left_over: int = 0


def run_main(
    text: str, pipeline: str | None = None, *, queue: str = "s", checked: bool = True
) -> Outcome:
    """Compile a program and run its `main`, on one thread if no other queue is named.

    A first line `// parallel-for: OPTIONS` requests that pass. `pipeline` replaces the usual
    passes.
    """
    output: list[str] = []
    failure = None
    module = parse_module(text, "program")
    with (
        HostContext(queue) as host,
        AsyncRuntime(host, checked=checked, output=output.append) as runtime,
    ):
        functions = runtime.functions | REPLACED
        if pipeline is None:
            code = compile_program(module, functions, *loop_passes(requested_parallel_for(text)))
        else:
            parse_pipeline(pipeline).apply(Context(), module)
            code = load(object_code(lower_to_llvm(module)), functions)
        try:
            runtime.run(code.address(packed_name("main")))
        except TfrtError as problem:
            first = problem.diagnostics[0]
            line = first.location.line if isinstance(first.location, Location) else 0
            failure = first.message, line
        return Outcome("".join(output), failure, len(runtime.live_objects()))


@pytest.fixture(scope="session")
def run() -> Callable[..., Outcome]:
    """The function `run_main`."""
    return run_main


@pytest.fixture(scope="session")
def outcome() -> type[Outcome]:
    """The class `Outcome`, for expected values."""
    return Outcome
