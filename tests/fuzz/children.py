"""Children: watched processes that try cases, and may die or hang.

The parent has imported everything and loaded the native core, and has no threads, so a child starts
in milliseconds. Each child stores in shared memory which case it tries, and writes problems to a
pipe.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import mmap
import os
import re
import resource
import select
import signal
import struct
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from tfrt_nb.jit.programs import code_cache as programs_cache
from tfrt_runtime.cache import code_cache as files_cache

MAX_MEMORY = 4 << 30
"""The address space of a child in bytes: an allocation that is too large must fail by itself."""
HANG_SECONDS = 12.0
"""A child that tries one case for this long hangs; see `HangClock` for exceptions.

The exception is that other processes kept it from the processor.
"""
PATIENCE = 10
"""The factor for this limit if other processes keep it from the processor."""
READY = 0.2
"""The share of samples in which a process that needs a processor has a ready thread.

A blocked process rarely has one.
"""
LOOK_SECONDS = 0.2
MAX_OUTPUT = 1 << 20
FOLDERS = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""The folder for the children's files, in memory if possible.

On a disk, the cache would wait until each file is written.
"""

STATE = struct.Struct("<qdqq")
"""The current case, when it started, and how many cases were tried and functions ran."""


@dataclass
class Problem:
    """A case's forbidden behavior. Problems of one kind are one find."""

    kind: str
    case: int
    text: str


@dataclass
class Outcome:
    """The outcome of a child."""

    tried: int = 0
    ran: int = 0
    last: int = -1
    problems: list[Problem] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def has_ended_badly(self) -> bool:
        """Whether the child died or hung at its last case."""
        return any(problem.kind.startswith(("death", "hang")) for problem in self.problems)


Work = Callable[[int], tuple[list[str], int]]
"""A function that tries the case with a number.

It returns the case's problems and how many functions ran.
"""


def run_child(
    numbers: Iterable[int],
    open_work: Callable[[], Work],
    *,
    seconds: float = 1e9,
    hang_seconds: float = HANG_SECONDS,
) -> Outcome:
    """Try cases in a new process, until all are tried, it dies or hangs, or the seconds are up."""
    started = time.monotonic()
    shared = mmap.mmap(-1, STATE.size)
    STATE.pack_into(shared, 0, -1, time.monotonic(), 0, 0)
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=FOLDERS) as folder:
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            # Python warns about threads of the parent; if there are any, they hold none of our
            # locks.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            os.close(reading)
            status = 99
            try:
                _limit(Path(folder))
                _try_all(numbers, open_work, shared, writing, started + seconds)
                status = 0
            except BaseException:  # noqa: BLE001
                traceback.print_exc(file=sys.__stderr__)
            finally:
                os._exit(status)
        os.close(writing)
        try:
            outcome = watch(child, reading, shared, started, hang_seconds, Path(folder))
        finally:
            os.close(reading)
    outcome.seconds = time.monotonic() - started
    return outcome


def _limit(folder: Path) -> None:
    """Set up the child: its limits, its own folder, and a file for its output."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (8 * MAX_OUTPUT, 8 * MAX_OUTPUT))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    os.environ["TFRT_NB_CACHE"] = str(folder / "cache")
    files_cache.cache_clear()  # the parent's cache belongs to the user
    programs_cache.cache_clear()
    work = folder / "work"
    work.mkdir()
    os.chdir(work)
    for number, name in ((1, "stdout"), (2, "stderr")):
        handle = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(handle, number)
        os.close(handle)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR1, 2, all_threads=True)


def _try_all(
    numbers: Iterable[int],
    open_work: Callable[[], Work],
    shared: mmap.mmap,
    pipe: int,
    until: float,
) -> None:
    nap = time.sleep
    time.sleep = lambda duration: nap(min(duration, 0.01))
    work = open_work()
    tried = ran = 0
    for number in numbers:
        now = time.monotonic()
        if now > until:
            break
        STATE.pack_into(shared, 0, number, now, tried, ran)
        problems, count = work(number)
        tried, ran = tried + 1, ran + count
        for text in problems:
            kind, _, rest = text.partition("\n")
            os.write(pipe, json.dumps([kind, number, rest[-6000:]]).encode() + b"\n")
        _forget_output()
    STATE.pack_into(shared, 0, -1, time.monotonic(), tried, ran)


def _forget_output() -> None:
    sys.stdout.flush()
    sys.stderr.flush()
    for number in (1, 2):
        if os.fstat(number).st_size > MAX_OUTPUT:
            os.ftruncate(number, 0)


def watch(
    child: int, reading: int, shared: mmap.mmap, started: float, timeout: float, folder: Path
) -> Outcome:
    """Wait until a child exits, or kill it if it hangs."""
    outcome, received, hung = Outcome(), b"", False
    case, clock = 0.0, HangClock(child, timeout)
    while True:
        ready, _, _ = select.select([reading], [], [], LOOK_SECONDS)
        if ready:
            data = os.read(reading, 1 << 16)
            if not data:
                break
            received += data
        number, since, _, _ = STATE.unpack_from(shared, 0)
        if since < started:
            continue  # The child is about to write it; `pack_into` writes zeros first.
        if since != case:
            case, clock = since, HangClock(child, timeout)
        if clock.is_over():
            os.kill(child, signal.SIGUSR1)
            time.sleep(0.3)
            os.kill(child, signal.SIGKILL)
            hung = True
            break
    _, status = os.waitpid(child, 0)
    number, _, outcome.tried, outcome.ran = STATE.unpack_from(shared, 0)
    outcome.last = number
    for line in received.splitlines():
        try:
            outcome.problems.append(Problem(*json.loads(line)))
        except ValueError:
            continue
    if hung or status != 0:
        outcome.tried += 1
        errors = folder / "stderr"
        said = errors.read_text(errors="replace")[-20_000:] if errors.exists() else ""
        kind = _kind_of_end(status, said, hung=hung)
        shown = said[max(0, said.find("Fatal Python error") - 500) :][:6000]
        outcome.problems.append(Problem(kind, number, shown))
    return outcome


class HangClock:
    """Distinguishes a process that hangs from one that other processes slow down.

    A hanging process has used its seconds of processor time, or does not need any because its
    threads are blocked.
    """

    def __init__(self, process: int, seconds: float) -> None:
        self._process, self._seconds = process, seconds
        self._started, self._worked = time.monotonic(), self._processor_seconds()
        self._looked, self._looks, self._ready = 0.0, 0, 0

    def is_over(self) -> bool:
        """Return whether it hangs; call this every `LOOK_SECONDS` or more often."""
        now = time.monotonic()
        waited = now - self._started
        if waited > self._seconds / 2 and now - self._looked >= LOOK_SECONDS / 2:
            self._looked = now
            self._looks += 1
            self._ready += self._is_ready()
        if waited <= self._seconds:
            return False
        is_blocked = self._ready < READY * self._looks
        has_worked = self._processor_seconds() - self._worked >= self._seconds
        return is_blocked or has_worked or waited > PATIENCE * self._seconds

    def _processor_seconds(self) -> float:
        """Return the processor time of all threads so far."""
        with contextlib.suppress(OSError):
            fields = _status(Path(f"/proc/{self._process}/stat"))
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return 0.0

    def _is_ready(self) -> bool:
        """Return whether a thread runs, would run if it had a processor, or waits for a disk."""
        for task in Path(f"/proc/{self._process}/task").glob("*/stat"):
            with contextlib.suppress(OSError):
                if _status(task)[0] in "RD":
                    return True
        return False


def _status(file: Path) -> list[str]:
    """Return the fields of a `stat` file that follow the name."""
    return file.read_text().rpartition(")")[2].split()


def _kind_of_end(status: int, said: str, *, hung: bool) -> str:
    """Return what distinguishes ends: the signal, and the Python functions on its thread."""
    if hung:
        what = "hang"
    elif os.WIFSIGNALED(status):
        what = f"death by {signal.Signals(os.WTERMSIG(status)).name}"
    else:
        what = f"death with status {os.WEXITSTATUS(status)}"
    for words in ("double free", "corrupted", "malloc(", "terminate called", "LLVM ERROR"):
        if words in said[-20_000:]:
            what += f", {words}"
    places = re.findall(r'File ".*?/(\w+)\.py", line \d+ in (\w+)', _present_thread(said))
    skipped = ("running", "children", "nets", "__main__", "threading")
    ours = [f"{module}:{name}" for module, name in places if module not in skipped][:3]
    return f"{what} in {' < '.join(ours)}" if ours else what


def _present_thread(said: str) -> str:
    """Return the part of faulthandler's text about the thread at fault; all of it for a hang."""
    start = said.rfind("Current thread")
    if start < 0:
        return said[-3000:]
    end = said.find("\n\n", start)
    return said[start : end if end > 0 else None]
