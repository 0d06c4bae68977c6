"""Measure each case with our work and the peers' in turns: `make bench`, `make bench-all`.

Each peer is a process (`child`), pinned to as many processors as its work is meant for. The works
of a case take turns, sample by sample, so that other load on the machine affects all of them alike.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from benchmarks import processor
from benchmarks.cases import CASES, Case
from benchmarks.report import OURS, RESULTS, Result, Results, table, write

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "benchmarks"
PEERS_PYTHON = Path(sys.prefix, "peers", "bin", "python")
"""The peers' environment, which `make` creates."""
SAMPLES, MIN_SAMPLES = 9, 3
CASE_SECONDS, LONG_CASE_SECONDS = 6.0, 30.0
"""The time limits for the samples of a case; slow works get fewer samples."""
PATIENCE = 120.0
HERTZ = os.sysconf("SC_CLK_TCK")

MODULES = {
    OURS: "benchmarks.ours",
    "plain Python": "benchmarks.peers.plain",
    "asyncio": "benchmarks.peers.coroutines",
    "uvloop": "benchmarks.peers.on_uvloop",
    "concurrent.futures": "benchmarks.peers.threads",
    "Dask": "benchmarks.peers.dask_graphs",
    "numpy": "benchmarks.peers.arrays",
    "numba": "benchmarks.peers.with_numba",
    "ONNX Runtime": "benchmarks.peers.with_onnxruntime",
    "JAX": "benchmarks.peers.with_jax",
    "Ray": "benchmarks.peers.with_ray",
    "IREE": "benchmarks.peers.with_iree",
}
NATIVE = "C++"
UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
"""Variables that an environment may set for old builds of OpenBLAS.

With them, numpy would use other BLAS kernels than its peers.
"""


class Missing(Exception):
    """A peer cannot be measured here; the message says why."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A process's description of one of its works; see `work.Work`."""

    case: str
    name: str
    operations: int
    cores: int
    is_equal: bool


class Peer:
    """A process that works on a given number of processors."""

    def __init__(self, name: str, command: list[str], cores: int) -> None:
        self.name = name
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        for library in ("OPENBLAS", "OMP", "MKL", "NUMBA"):
            environment[f"{library}_NUM_THREADS"] = str(cores)
        for variable in UNSET:
            environment.pop(variable, None)
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - as long as the process
        with pinned(cores):
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
            )

    def ask(self, *fields: str) -> list[str]:
        """Send a line, and read the answer's fields.

        Raises:
            Missing: if the process has exited.
        """
        assert self._process.stdin is not None
        try:
            print(*fields, sep="\t", file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise Missing(self._last_words()) from None
        return self._line()

    def offers(self) -> list[Offer]:
        """Return the works that the peer offers, for any number of processors."""
        found = []
        fields = self.ask("works")
        while fields != ["."]:
            case, name, operations, cores, is_equal = fields
            found.append(Offer(case, name, int(operations), int(cores), is_equal == "1"))
            fields = self._line()
        return found

    def _line(self) -> list[str]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise Missing(self._last_words())
        return line.rstrip("\n").split("\t")

    def _last_words(self) -> str:
        self._process.wait(PATIENCE)
        self._errors.seek(0)
        lines = [line for line in self._errors.read().splitlines() if line.strip()]
        return lines[-1] if lines else f"it ended with {self._process.wait()}"

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()


@contextmanager
def pinned(cores: int) -> Iterator[None]:
    """Pin processes that start in the block to that many of this process's last processors."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[-cores:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


class Peers:
    """All processes, each of which is started on first use."""

    def __init__(self) -> None:
        self.missing: dict[str, str] = {}
        self.offers: dict[str, list[Offer]] = {}
        self._started: dict[tuple[str, int], Peer] = {}

    def __enter__(self) -> Self:
        for name in (*MODULES, NATIVE):
            try:
                self.offers[name] = self.get(name, 1).offers()
            except Missing as problem:
                self.missing[name] = str(problem)
        return self

    def __exit__(self, *_: object) -> None:
        for peer in self._started.values():
            peer.close()

    def get(self, name: str, cores: int) -> Peer:
        """Return the process of a peer for that many processors."""
        if (name, cores) not in self._started:
            self._started[name, cores] = Peer(name, command_of(name), cores)
        return self._started[name, cores]

    def blas(self) -> dict[str, str]:
        """Return the BLAS kernels that each process has loaded so far, by peer and processors."""
        return {
            f"{name} on {cores}": peer.ask("blas")[0]
            for (name, cores), peer in self._started.items()
            if name in self.offers and name != NATIVE
        }


def command_of(name: str) -> list[str]:
    """Return the command that starts a peer.

    Raises:
        Missing: if it cannot be started here.
    """
    if name == NATIVE:
        return [str(native_program())]
    has_own = name != OURS and PEERS_PYTHON.exists()
    python = str(PEERS_PYTHON) if has_own else sys.executable
    return [python, "-m", "benchmarks.child", MODULES[name]]


def native_program(machine: str = "native") -> Path:
    """Return the C++ peer for a `-march`, with oneTBB if it is installed.

    It is compiled if its source is newer.
    """
    source = ROOT / "benchmarks" / "peers" / "native.cpp"
    compiler = shutil.which("g++")
    if compiler is None:
        raise Missing("there is no g++")
    BUILD.mkdir(parents=True, exist_ok=True)
    command = [compiler, "-std=c++20", "-O3", f"-march={machine}", "-pthread", str(source)]
    command += ["-I", os.environ.get("TASKFLOW", str(BUILD / "taskflow"))]
    for libraries in (["-ltbb"], []):
        program = BUILD / f"{machine}{''.join(libraries)}"
        if program.exists() and program.stat().st_mtime > source.stat().st_mtime:
            return program
        built = subprocess.run(
            [*command, "-o", str(program), *libraries], capture_output=True, text=True, check=False
        )
        if built.returncode == 0:
            return program
    raise Missing(built.stderr.strip().splitlines()[-1])


def busy_seconds() -> float:
    """Return the processor time of the whole machine since it started."""
    fields = [int(field) for field in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / HERTZ


@dataclass
class Running:
    """An open work, and its samples: seconds per operation, by the clock and by the processors."""

    peer: Peer
    offer: Offer
    calls: int
    clock: list[float]
    used: list[float]

    def sample(self) -> float:
        """Take a sample, and return the processor time that it used."""
        elapsed, used = map(float, self.peer.ask("sample", self.offer.case, self.offer.name))
        operations = self.calls * self.offer.operations
        self.clock.append(elapsed / operations)
        self.used.append(used / operations)
        return used


def measure(case: Case, peers: Peers, seconds: float) -> list[Result]:
    """Return a result per work of the case."""
    with ExitStack() as stack:
        running = list(opened(case, peers, stack))
        busy, started, own = busy_seconds(), time.perf_counter(), 0.0
        for taken in range(SAMPLES):
            own += sum(work.sample() for work in running)
            if taken + 1 >= MIN_SAMPLES and time.perf_counter() - started > seconds:
                break
        elapsed = time.perf_counter() - started
        foreign = max(0.0, (busy_seconds() - busy - own) / elapsed)
    return [result(case, work, foreign) for work in running]


def opened(case: Case, peers: Peers, stack: ExitStack) -> Iterator[Running]:
    """Yield the works of the case that can be opened, warmed up."""
    for name, offers in peers.offers.items():
        for offer in offers:
            if offer.case != case.key:
                continue
            peer = peers.get(name, offer.cores)
            verdict, what = peer.ask("start", offer.case, offer.name)
            stack.callback(peer.ask, "stop")
            if verdict == "ready":
                yield Running(peer, offer, int(what), [], [])
            else:
                peers.missing[f"{name}: {case.key}, {offer.name}"] = what


def result(case: Case, work: Running, foreign: float) -> Result:
    """Return the samples of a work as one result."""
    return Result(
        case=case.key,
        peer=work.peer.name,
        variant=work.offer.name,
        cores=work.offer.cores,
        is_equal=work.offer.is_equal,
        unit=case.unit,
        min=min(work.clock) * case.scale,
        median=statistics.median(work.clock) * case.scale,
        cpu=min(work.used) * case.scale,
        samples=len(work.clock),
        foreign=foreign,
    )


def machine() -> str:
    """Return a description of the machine that the figures belong to."""
    name, caches = processor.here()
    sizes = "".join(f", {level} {size}" for level, size in caches.items())
    cores = len(os.sched_getaffinity(0))
    return (
        f"{name}{sizes}, {cores} processors, {platform.system()}, Python "
        f"{platform.python_version()}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the named cases, or all of them.

    Only a run of all cases replaces the saved results for this kind of processor.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    keys = [case.key for case in CASES]
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(keys)}, or board")
    parser.add_argument("--all", action="store_true", help="also long cases, with more samples")
    parser.add_argument("--output", type=Path, help=f"folder; by default, for all cases, {RESULTS}")
    options = parser.parse_args(arguments)
    if options.cases == ["board"]:
        from benchmarks import board  # imported here, because it needs the notebook's packages

        return board.main()
    if unknown := set(options.cases) - set(keys):
        parser.error(f"there is no case {', '.join(sorted(unknown))}; there are {', '.join(keys)}")
    chosen = [
        case
        for case in CASES
        if (case.key in options.cases if options.cases else options.all or not case.is_long)
    ]
    seconds = LONG_CASE_SECONDS if options.all else CASE_SECONDS
    print(f"On {machine()}.\n", flush=True)
    found: list[Result] = []
    with Peers() as peers:
        for name, why in peers.missing.items():
            print(f"missing: {name} ({why})", flush=True)
        for case in chosen:
            measured = measure(case, peers, seconds)
            print(table(case, measured), end="\n\n", flush=True)
            found += measured
        missing, blas = dict(peers.missing), peers.blas()
    for name, why in missing.items():
        print(f"missing: {name} ({why})")
    for name, kernels in blas.items():
        print(f"BLAS of {name}: {kernels}")
    output = options.output or (None if options.cases else RESULTS)
    if output is not None:
        name = processor.slug(*processor.here())
        write(Results(machine(), missing, found, blas, name), output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
