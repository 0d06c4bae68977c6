"""W3 to W5 and the async dialect: work submitted to a queue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from xdsl.passes import ModulePass

from benchmarks import sizes
from benchmarks.inputs import ADDEND, ELEMENTS, FACTOR, TERMS
from benchmarks.ours import programs
from benchmarks.ours.running import QUEUES, on_each_queue, opened
from benchmarks.work import Run, Work
from tfrt_nb import HostContext, Program
from tfrt_nb.passes.speed.fast_path import FastPath

SLEEPERS = f"mstd:2,{sizes.SLEEPING_THREADS}"
SLEEPS = programs.sleeps(sizes.SLEEPS, round(sizes.SLEEP_SECONDS * 1e6))
TWO = QUEUES[:3:2]


@contextmanager
def beside_sleeps() -> Iterator[Run]:
    """Yield a run that computes while sleeps are always pending; only the run is timed."""
    chain = Program(programs.chain(10_000))
    sleeps = Program.from_source(SLEEPS, "sleeps")
    with HostContext(SLEEPERS, output=lambda _: None) as host:
        sleeping = [sleeps.run(host)]

        def run() -> None:
            if sleeping[0].results[0].done():
                sleeping[0] = sleeps.run(host)
            chain.run(host).wait()

        yield run
        sleeping[0].wait()


def independent(size: int) -> list[Work]:
    """Return W4 in a given size."""
    text = programs.independent_tasks(size)
    return on_each_queue(f"tasks_{size}", text, size, size)


def shortcut(
    case: str, pass_: type[ModulePass], text: str, expected: int, operations: int, argument: int
) -> list[Work]:
    """Return works that show what a pass of `passes.speed` gains.

    The program is measured as it is, and compiled without the pass.
    """
    whole = opened("s", text, (argument,), expected)
    # The source differs, because machine code is cached by its source.
    bare = opened("s", f"// without {pass_.name}\n{text}", (argument,), expected)

    @contextmanager
    def without() -> Iterator[Run]:
        with ExitStack() as stack:
            with patch.object(pass_, "apply"):  # compiled when it is opened
                run = stack.enter_context(bare())
            yield run

    name = f"`{pass_.name}`"
    return [
        Work(case, f"with {name}", whole, operations),
        Work(case, f"without {name}", without, operations),
    ]


def parallel(workers: int) -> str:
    """Return the compute-bound loop."""
    return programs.parallel(ELEMENTS, TERMS, FACTOR, ADDEND, workers)


WORKS = (
    *on_each_queue(
        "fib_tasks", programs.FIB_TASKS, sizes.FIB_RESULT, sizes.FIB_CALLS, (sizes.FIB,)
    ),
    *on_each_queue(
        "async_fib", programs.ASYNC_FIB, sizes.FIB_RESULT, sizes.FIB_CALLS, (sizes.FIB,), TWO
    ),
    *independent(1_000),
    *independent(10_000),
    *independent(100_000),
    *on_each_queue("group", programs.GROUPED, sizes.GROUP, sizes.GROUP, (sizes.GROUP,)),
    *on_each_queue(
        "awaited", programs.ONE_BY_ONE, sizes.AWAITED, sizes.AWAITED, (sizes.AWAITED,), TWO
    ),
    *shortcut(
        "fast_path", FastPath, programs.ASYNC_FIB, sizes.FIB_RESULT, sizes.FIB_CALLS, sizes.FIB
    ),
    Work("sleeps", SLEEPERS, opened(SLEEPERS, SLEEPS, (), 1), cores=2),
    Work("beside_sleeps", f"{SLEEPERS}, 1 000 sleeps", beside_sleeps, cores=2),
    Work(
        "beside_sleeps",
        f"{SLEEPERS}, alone",
        opened(SLEEPERS, programs.chain(10_000), (), 10_000),
        cores=2,
    ),
    Work("parallel", "mstd:1", opened("mstd:1", parallel(1), (0,), None)),
    Work("parallel", "mstd:2", opened("mstd:2", parallel(2), (0,), None), cores=2),
)
