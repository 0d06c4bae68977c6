"""Run programs from their source, on both kinds of queue, and check that nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.kernels.registry import Kernel

Run = Callable[..., Execution]


@pytest.fixture(autouse=True)
def nothing_is_left(leak_check: None) -> None:
    """Check that a test in this folder leaves nothing behind."""


@pytest.fixture
def run(host: HostContext) -> Run:
    """A function: `run(text, *arguments)` starts `@main`; the output is kept, and not printed."""

    def start(
        text: str,
        *arguments: object,
        function: str = "main",
        kernels: Mapping[str, Kernel] | None = None,
        watch: bool = False,
    ) -> Execution:
        program = Program.from_source(text, "test.mlir")
        return program.run(
            host, function, arguments, kernels=kernels, output=lambda _: None, watch=watch
        )

    return start
