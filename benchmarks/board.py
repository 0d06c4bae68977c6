"""Measure the cost of watching: a board's messages, processor time, layout, and saved size.

Run it with `make bench-board`. Each figure is shown with its goal. Unwatched runs are measured as
well, with and "without the log": on a core that lacks the checks of the event log. That core is
compiled for this measurement, which takes some minutes the first time.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.ours import programs
from tfrt_magics.bridge.job import Job
from tfrt_magics.bridge.live import LiveRun
from tfrt_magics.bridge.pump import Pump
from tfrt_magics.bridge.runtime import NotebookHost
from tfrt_magics.views.outlet import run_bundle
from tfrt_nb import HostContext, Program
from tfrt_nb.documents.picture import layout
from tfrt_nb.documents.program import ProgramDocument

ROOT = Path(__file__).parents[1]
PACED_ITERATIONS, PACED_ADDS, PACED_PAUSE_US = 12_000, 14, 150
LAID_OUT, BOARDS, VALUES = 10_000, 20, 200
ROUNDS, CALLS_OF_FIB = 9, 21_891
CHECKS = {
    "return load(load(activation + at.ACTIVATION_REQUEST) + at.REQUEST_WATCH)": "return 0",
    "return load(activation + at.ACTIVATION_SHARED) != 0 and watch_of(activation) != 0": "return False",  # noqa: E501
}
"""The code in `native.events` that an unwatched run executes for the log, and its replacement."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number with its goal."""

    name: str
    value: float
    unit: str
    goal: str


@dataclass
class Wire:
    """A channel to a page, which packs each message as the real one does."""

    place: dict[str, Any] = field(default_factory=lambda: {"session": "", "client": "", "cell": ""})
    messages: int = 0
    size: int = 0

    def send(self, message: object) -> None:
        self.messages += 1
        self.size += len(json.dumps(message))


class Timed:
    """A run that the pump polls, with the processor time of the polls."""

    def __init__(self, run: LiveRun) -> None:
        self.run, self.over, self.seconds = run, run.over, 0.0

    def step(self) -> bool:
        before = time.thread_time()
        try:
            return self.run.step()
        finally:
            self.seconds += time.thread_time() - before


def paced() -> str:
    """Return a loop of additions with pauses: as many events per second as boards should handle."""
    lines = "\n".join(f"    %a{i} = tfrt.add.i32 %x, %us" for i in range(PACED_ADDS))
    return f"""func.func @main(%n: i32) -> i32 {{
  %us = tfrt.constant.i32 {PACED_PAUSE_US}
  %zero = tfrt.constant.i32 0
  %end, %same = tfrt.repeat.i32 %n, %zero, %us : i32, i32 {{
{lines.replace("%x", "%zero")}
    %slept = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
    tfrt.return %a0, %us : i32, i32
  }}
  tfrt.return %end : i32
}}
"""


def board(
    host: NotebookHost, text: str, arguments: Sequence[object] = ()
) -> tuple[LiveRun, Timed, Wire, float]:
    """Return a run that was watched to its end, and how long it took to be first shown."""
    started = time.perf_counter()
    program = Program.from_source(text, "cell 1")
    job = Job(host.load(program), program.functions, {"main": arguments})
    wire = Wire()
    job.start()
    run = LiveRun(job, wire, run_bundle)  # type: ignore[arg-type]
    run.bundle()
    first = time.perf_counter() - started
    timed, pump = Timed(run), Pump()
    pump.watch(timed)
    job.finished.wait()
    pump.drain(60)
    return run, timed, wire, first


def live() -> Iterator[Figure]:
    """Measure a run that has very many events and is watched by a page."""
    host = NotebookHost("mstd:2")
    board(host, paced(), [20])
    started = time.perf_counter()
    run, timed, wire, _ = board(host, paced(), [PACED_ITERATIONS])
    elapsed = time.perf_counter() - started
    yield Figure("events of a busy run", run.record.events / elapsed, "a second", "100 000")
    yield Figure("messages", wire.messages / elapsed, "a second", "at most 30")
    yield Figure("the pump's share of a core", 100 * timed.seconds / elapsed, "%", "at most 10")
    ups = [board(host, programs.chain(10))[-1] for _ in range(5)]
    yield Figure("a warm board is up", 1000 * statistics.median(ups), "ms", "at most 300")
    size = sum(
        len(json.dumps(board(host, programs.chain(VALUES))[0].bundle())) for _ in range(BOARDS)
    )
    name = f"{BOARDS} boards of {VALUES} values in a file"
    yield Figure(name, size / 1e6, "MB", "below 2")
    host.close()


def laid_out() -> Iterator[Figure]:
    """Measure the layout of a large program's graph."""
    document = ProgramDocument(Program.from_source(programs.chain(LAID_OUT), "cell 1")).data
    layout(document)
    taken = []
    for _ in range(5):
        started = time.perf_counter()
        layout(document)
        taken.append(time.perf_counter() - started)
    name = f"layout of {LAID_OUT} operations"
    yield Figure(name, 1000 * statistics.median(taken), "ms", "at most 100")


def unwatched() -> Iterator[Figure]:
    """Measure unwatched runs, with the log in the core and without it, in alternation."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "runtime" / "tfrt_runtime", Path(folder, "tfrt_runtime"))
        events = Path(folder, "tfrt_runtime", "native", "events.py")
        text = events.read_text()
        for check, without in CHECKS.items():
            assert text.count(check) == 1, f"native/events.py has no line {check!r} anymore"
            text = text.replace(check, without)
        events.write_text(text)
        with_log: list[float] = []
        without_log: list[float] = []
        for _ in range(ROUNDS):
            with_log.append(_fib({}))
            without_log.append(_fib({"PYTHONPATH": folder}))
    yield Figure("fib, a call, with the log", min(with_log), "ns", "")
    yield Figure("fib, a call, without it", min(without_log), "ns", "")
    more = 100 * (min(with_log) / min(without_log) - 1)
    yield Figure("more for an unwatched run", more, "%", "at most 2")


def _fib(environment: dict[str, str]) -> float:
    """Return how many nanoseconds a call of fib takes in a new process."""
    command = [sys.executable, "-m", "benchmarks.board", "fib"]
    process = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(process.stdout.split()[-1])


def fib() -> float:
    """Return how many nanoseconds a call of fib takes in this process: the minimum of many runs."""
    program = Program.from_source(programs.FIB, "fib")
    taken = []
    with HostContext("s") as host:
        for _ in range(30):
            started = time.perf_counter()
            program.run(host, arguments=[20]).wait()
            taken.append(time.perf_counter() - started)
    return 1e9 * min(taken) / CALLS_OF_FIB


def main() -> int:
    """Print all figures, each as soon as it is known."""
    for measure in (laid_out, live, unwatched):
        for one in measure():
            goal = f"  (goal: {one.goal})" if one.goal else ""
            print(f"{one.name:38} {one.value:10.4g} {one.unit:9}{goal}", flush=True)
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["fib"]:  # the process that `_fib` starts
        print(fib())
    else:
        sys.exit(main())
