"""W8, W9, and compiling: the work to be done before a program can run."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

from benchmarks.ours import programs
from benchmarks.sizes import CELL, COROUTINES
from benchmarks.work import Run, Work
from tfrt_nb import HostContext, Program
from tfrt_nb.compiled.kernels import HostCode
from tfrt_nb.jit.programs import compile_program
from tfrt_nb.source import parse_module


def loaded(text: str) -> Callable[[], AbstractContextManager[Run]]:
    """Measure the steps from source to an executable that can be started."""

    @contextmanager
    def make() -> Iterator[Run]:
        yield lambda: Program.from_source(text, "benchmark").load()

    return make


def parsed(text: str) -> Callable[[], AbstractContextManager[Run]]:
    """Measure the steps from source to a verified module; machine code is measured separately."""

    @contextmanager
    def make() -> Iterator[Run]:
        yield lambda: parse_module(text, "benchmark")

    return make


def mapped(lines: int) -> Callable[[], AbstractContextManager[Run]]:
    """Measure the steps from the bytes of a BEF file to an executable that can be started."""

    @contextmanager
    def make() -> Iterator[Run]:
        bef = Program.from_source(programs.chain(lines), "benchmark").bef
        yield lambda: Program.from_bef(bef, "benchmark").load()

    return make


def process(name: str, text: str) -> Callable[[], AbstractContextManager[Run]]:
    """Measure a new process that runs a file, with everything in caches.

    The core, its BEF, compiled code, and bytecode are cached.
    """

    @contextmanager
    def make() -> Iterator[Run]:
        command = Path(sys.executable).with_name("tfrt-nb")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            is_text = path.suffix == ".mlir"
            data = text.encode() if is_text else Program.from_source(text, name).bef
            path.write_bytes(data)
            # An installation has bytecode, but the environment may forbid writing it.
            environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(folder, "bytecode"))}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            yield lambda: subprocess.run(
                [command, "run", path], stdout=subprocess.DEVNULL, check=True, env=environment
            )

    return make


@contextmanager
def cell() -> Iterator[Run]:
    """Measure a `%%tfrt` cell in IPython, with the table that it prints."""
    text = programs.chain(CELL)
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "tfrt_nb")

    def run() -> None:
        with redirect_stdout(io.StringIO()):
            shell.run_cell_magic("tfrt", "--work-queue s", text)  # type: ignore[no-untyped-call]

    yield run


@contextmanager
def cell_by_hand() -> Iterator[Run]:
    """Measure the same source as a Program, and its run."""
    text = programs.chain(CELL)
    with HostContext("s") as host:
        yield lambda: Program.from_source(text, "cell").run(host).results[0].result()


def compiled(text: str) -> Callable[[], AbstractContextManager[Run]]:
    """Measure the steps from a parsed module to machine code, without the cache of machine code."""

    @contextmanager
    def make() -> Iterator[Run]:
        with HostContext("s") as host:
            functions = host.shared_context(HostCode).runtime.functions
            module = parse_module(text, "tasks")
            yield lambda: compile_program(module, functions)

    return make


WORKS = (
    Work("text_10000", "text", loaded(programs.chain(10_000))),
    Work("text_calls", "text", loaded(programs.with_calls(10_000))),
    Work("text_loc", "text", loaded(programs.with_locations(10_000))),
    Work("text_async", "text to a module", parsed(programs.with_tasks(10_000))),
    Work("bef_10000", "BEF", mapped(10_000)),
    Work("text_100000", "text", loaded(programs.chain(100_000))),
    Work("bef_100000", "BEF", mapped(100_000)),
    Work("process", "tfrt-nb run small.bef", process("small.bef", programs.SMALL)),
    Work("process", "tfrt-nb run small.mlir", process("small.mlir", programs.SMALL)),
    Work("process", "tfrt-nb run async.mlir", process("async.mlir", programs.SMALL_ASYNC)),
    Work("cell", "%%tfrt", cell),
    Work("cell", "Program and run", cell_by_hand),
    Work(
        "coroutines",
        "distinct bodies",
        compiled(programs.coroutines(COROUTINES, is_distinct=True)),
        COROUTINES,
    ),
    Work(
        "same_coroutines",
        "constants differ",
        compiled(programs.coroutines(COROUTINES, is_distinct=False)),
        COROUTINES,
    ),
)
