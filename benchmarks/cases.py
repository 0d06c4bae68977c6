"""The cases: what is measured, with whom, on what sizes.

Each is a context manager, since hosts, event loops and pools live as long as the measurement.
"""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, redirect_stdout
from pathlib import Path

import dask.threaded
from dask.local import get_sync
from IPython.core.interactiveshell import InteractiveShell

from benchmarks import async_runs, async_tasks, peers, programs, starts, sync_functions, tensors
from benchmarks.measure import Case, Variant
from benchmarks.on_queues import OURS, on_each_queue, runs
from tfrt_nb import HostContext, Program

CHAIN = 1_000
LONG_CHAIN = 10_000
TREE = 1_000
TASKS = 1_000
SLEEPS = 1_000
SLEEP_US = 1_000
SLEEPING_THREADS = 64
FIB = 20
ROUNDS = 10_000_000
PEER_ROUNDS = 1_000_000
LARGE = 100_000
CELL = 10


@contextmanager
def chain() -> Iterator[Case]:
    """W1.  The long chain shows the price of a kernel, the short one that of starting a run too."""
    length = CHAIN
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        pool = stack.enter_context(ThreadPoolExecutor(2))
        graph = peers.dask_chain(length)
        last = f"v{length}"
        yield Case(
            "W1",
            f"{length} adds, each waiting for the one before",
            "ns per kernel",
            (
                *on_each_queue(stack, programs.chain(length), (), length, length),
                *long_chain(stack),
                Variant(
                    "function calls", "plain Python", lambda: peers.plain_chain(length), length
                ),
                Variant(
                    "Task each",
                    "asyncio",
                    peers.on_loop(runner, peers.asyncio_chain, length),
                    length,
                ),
                Variant(
                    "Future each, 2 threads",
                    "concurrent.futures",
                    lambda: peers.future_chain(pool, length),
                    length,
                ),
                Variant("one thread", "dask", lambda: get_sync(graph, last), length),
            ),
        )


def long_chain(stack: ExitStack) -> list[Variant]:
    """The chain at a length where the start of a run no longer counts."""
    text = programs.chain(LONG_CHAIN)
    return [
        Variant(f"{ours.name}, {LONG_CHAIN} adds", OURS, ours.run, ours.operations)
        for ours in on_each_queue(stack, text, (), LONG_CHAIN, LONG_CHAIN)
    ]


@contextmanager
def tree() -> Iterator[Case]:
    """W2: much that could run at once, and is too short for it."""
    nodes = 2 * TREE - 1
    queues = ("s", "mstd:1", "mstd:2")
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        pool = stack.enter_context(ThreadPoolExecutor(2))
        graph, last = peers.dask_tree(TREE)
        yield Case(
            "W2",
            f"{TREE} independent adds, and {TREE - 1} adds of their results in pairs",
            "ns per add",
            (
                *on_each_queue(stack, programs.tree(TREE), (), TREE, nodes, queues),
                Variant("function calls", "plain Python", lambda: peers.plain_tree(TREE), nodes),
                Variant(
                    "Task each", "asyncio", peers.on_loop(runner, peers.asyncio_tree, TREE), nodes
                ),
                Variant(
                    "Future each, 2 threads",
                    "concurrent.futures",
                    lambda: peers.future_tree(pool, TREE),
                    nodes,
                ),
                Variant(
                    "two threads",
                    "dask",
                    lambda: dask.threaded.get(graph, last, num_workers=2),
                    nodes,
                ),
            ),
        )


@contextmanager
def sleeps() -> Iterator[Case]:
    """W5: blocking work in threads of its own."""
    seconds = SLEEP_US / 1e6
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        pool = stack.enter_context(ThreadPoolExecutor(SLEEPING_THREADS))
        queue = f"mstd:2,{SLEEPING_THREADS}"
        host = stack.enter_context(HostContext(queue, output=lambda _: None))
        text = programs.sleeps(SLEEPS, SLEEP_US)
        yield Case(
            "W5",
            f"{SLEEPS} sleeps of {SLEEP_US} us on {SLEEPING_THREADS} threads",
            "ms",
            (
                Variant(f"executor, {queue}", OURS, runs(host, text, (), 1)),
                Variant(
                    "Task each, one thread",
                    "asyncio",
                    peers.on_loop(
                        runner, lambda count: peers.asyncio_sleeps(count, seconds), SLEEPS
                    ),
                ),
                Variant(
                    f"Future each, {SLEEPING_THREADS} threads",
                    "concurrent.futures",
                    lambda: peers.future_sleeps(pool, SLEEPS, seconds),
                ),
            ),
        )


@contextmanager
def loop() -> Iterator[Case]:
    """tfrt.repeat.i32 with one add in its body."""
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        yield Case(
            "repeat",
            f"a loop of {ROUNDS} rounds (peers: {PEER_ROUNDS}) that adds one",
            "ns per round",
            (
                *on_each_queue(stack, programs.LOOP, (ROUNDS,), ROUNDS, ROUNDS),
                Variant(
                    "function calls",
                    "plain Python",
                    lambda: peers.plain_loop(PEER_ROUNDS),
                    PEER_ROUNDS,
                ),
                Variant(
                    "coroutine each",
                    "asyncio",
                    peers.on_loop(runner, peers.asyncio_loop, PEER_ROUNDS),
                    PEER_ROUNDS,
                ),
            ),
            samples=3,
        )


@contextmanager
def fib() -> Iterator[Case]:
    """W3: calls, conditions, and calls that could run at once."""
    calls = peers.fib_calls(FIB)
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        yield Case(
            "W3",
            f"recursive fib({FIB}), {calls} calls",
            "ns per call",
            (
                *on_each_queue(stack, programs.FIB, (FIB,), peers.plain_fib(FIB), calls),
                Variant("function calls", "plain Python", lambda: peers.plain_fib(FIB), calls),
                Variant(
                    "coroutine each",
                    "asyncio",
                    peers.on_loop(runner, peers.asyncio_fib, FIB),
                    calls,
                ),
                Variant(
                    "Task each",
                    "asyncio",
                    peers.on_loop(runner, peers.asyncio_fib_tasks, FIB),
                    calls,
                ),
            ),
        )


@contextmanager
def tasks() -> Iterator[Case]:
    """W4: a task of the queue for each add, and one kernel that waits for all."""
    count = TASKS
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner())
        pool = stack.enter_context(ThreadPoolExecutor(2))
        graph = peers.dask_tasks(count)
        yield Case(
            "W4",
            f"{count} independent adds, a task each, and their sum",
            "ns per task",
            (
                *on_each_queue(stack, programs.independent_tasks(count), (), count, count),
                Variant(
                    "Task each", "asyncio", peers.on_loop(runner, peers.asyncio_tasks, count), count
                ),
                Variant(
                    "Future each, 2 threads",
                    "concurrent.futures",
                    lambda: peers.future_tasks(pool, count),
                    count,
                ),
                Variant(
                    "two threads",
                    "dask",
                    lambda: dask.threaded.get(graph, "sum", num_workers=2),
                    count,
                ),
            ),
        )


def process(*command: str | Path) -> Callable[[], None]:
    """Start a process and wait for its end."""

    def run() -> None:
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)

    return run


ASYNCIO_SCRIPT = """
import asyncio
async def add(left, right): return left + right
async def main(): print(await asyncio.create_task(add(40, 2)))
asyncio.run(main())
"""
FUTURES_SCRIPT = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(2) as pool: print(pool.submit(int.__add__, 40, 2).result())
"""
DASK_SCRIPT = "import dask; print(dask.get({'x': (int.__add__, 40, 2)}, 'x'))"
SMALL = """
func.func @main() -> i32 {
  %a = tfrt.constant.i32 40
  %b = tfrt.constant.i32 2
  %sum = "tfrt_test.async_add.i32"(%a, %b) : (i32, i32) -> i32
  tfrt.return %sum : i32
}
"""


@contextmanager
def cold_process() -> Iterator[Case]:
    """W9: from nothing to a printed result; the native core is in the cache."""
    command = Path(sys.executable).with_name("tfrt-nb")
    with tempfile.TemporaryDirectory() as folder:
        text, binary = Path(folder, "small.mlir"), Path(folder, "small.bef")
        text.write_text(SMALL)
        binary.write_bytes(Program.from_source(SMALL, "small.mlir").bef)
        yield Case(
            "W9",
            "a new process that runs one small program",
            "ms",
            (
                Variant("tfrt-nb run small.bef", OURS, process(command, "run", binary)),
                Variant("tfrt-nb run small.mlir", OURS, process(command, "run", text)),
                Variant("print", "plain Python", process(sys.executable, "-c", "print(40 + 2)")),
                Variant("one Task", "asyncio", process(sys.executable, "-c", ASYNCIO_SCRIPT)),
                Variant(
                    "one Future",
                    "concurrent.futures",
                    process(sys.executable, "-c", FUTURES_SCRIPT),
                ),
                Variant("one task", "dask", process(sys.executable, "-c", DASK_SCRIPT)),
            ),
        )


def run_text(host: HostContext, text: str, expected: int) -> Callable[[], None]:
    """From text to the result, everything but the host new."""

    def run() -> None:
        program = Program.from_source(text, "cell")
        assert program.run(host).results[0].result() == expected

    return run


def run_cell(text: str) -> Callable[[], None]:
    """A %%tfrt cell in IPython, with the table that it prints."""
    shell = InteractiveShell.instance()
    shell.run_line_magic("load_ext", "tfrt_nb")

    def run() -> None:
        with redirect_stdout(io.StringIO()) as printed:
            shell.run_cell_magic("tfrt", "--work-queue s", text)  # type: ignore[no-untyped-call]
        assert "done" in printed.getvalue()

    return run


def run_python(text: str) -> Callable[[], None]:
    """Compile and run a Python function."""

    def run() -> None:
        names: dict[str, Callable[[], int]] = {}
        exec(compile(text, "benchmark", "exec"), names)  # noqa: S102 - our own text
        names["main"]()

    return run


@contextmanager
def cell() -> Iterator[Case]:
    """The latency of a small cell in a session that is warm."""
    text = programs.chain(CELL)
    with HostContext("s") as host:
        yield Case(
            "cell",
            f"text of {CELL} kernels to its result, in a warm process",
            "ms",
            (
                Variant("Program and run", OURS, run_text(host, text, CELL)),
                Variant("%%tfrt in IPython", OURS, run_cell(text)),
                Variant(
                    "compile and exec", "plain Python", run_python(programs.python_chain(CELL))
                ),
            ),
        )


@contextmanager
def large_program() -> Iterator[Case]:
    """W8: where the time of a very large program goes."""
    text = programs.chain(LARGE)
    program = Program.from_source(text, "large")
    with HostContext("s") as host:
        yield Case(
            "W8",
            f"a program of {LARGE} adds, from its text to its result",
            "s",
            (
                Variant("text to BEF", OURS, lambda: Program.from_source(text, "large").bef),
                Variant(
                    "text to runnable", OURS, lambda: Program.from_source(text, "large").load()
                ),
                Variant(
                    "BEF to runnable", OURS, lambda: Program.from_bef(program.bef, "large").load()
                ),
                Variant("run", OURS, runs(host, text, (), LARGE)),
                Variant(
                    "compile and exec", "plain Python", run_python(programs.python_chain(LARGE))
                ),
            ),
            samples=3,
        )


ALL = (
    chain,
    *starts.ALL,
    *sync_functions.ALL,
    tree,
    loop,
    fib,
    tasks,
    sleeps,
    tensors.inference,
    tensors.graph_of_products,
    cold_process,
    cell,
    large_program,
    *async_runs.ALL,
    *async_tasks.ALL,
)
