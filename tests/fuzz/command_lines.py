"""Make and run random lines: for the command `tfrt-nb`, and for cells with `%%tfrt` in IPython."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from tests.fuzz.children import HangClock
from tests.fuzz.running import Runner, headline
from tests.fuzz.text_mutants import EDGES, STRANGE, damaged, mutate

Chance = random.Random

QUEUES = ["s", "mstd", "mstd:1", "mstd:2", "mstd:2,3", "mstd:01", "mstd:0", "mstd:-1", "mstd:", "S"]
QUEUES += ["mstd:99999999999", "mstd:2,", "mstd:2,0", "mstd:1,99999999999", "", "mstd:²", "mstd:2 "]
SECONDS = ["1", "0.2", "0", "-1", "nan", "inf", "1e308", "1e-308", "9" * 30, "x", "", "0x1"]
NAMES = ["main", "@main", "", "@", "f", "a b", "é", "__init__", "main ", "\udce9", "x" * 5000]
LOOPS = ["", "num-workers=4", "num-workers=4 min-task-size=1", "num-workers=-1", "num-workers", "="]
LOOPS += ["num-workers=99999999999", "min-task-size=0", "min-task-size=x", "bad=1", "{"]
LOOPS += ["async-dispatch=true"]
STAGES = ["async-runtime", "coroutine", "llvm", "llvm-split", "asm", "obj", ""]
PIPELINES = [
    "builtin.module(canonicalize,dce)",
    "builtin.module()",
    "canonicalize",
    "func.func(cse)",
]
PIPELINES += [
    "builtin.module(",
    "builtin.module(async-parallel-for{num-workers=2})",
    "(,)",
    "{}",
    "",
]
PIPELINES += ["builtin.module(async-to-async-runtime,async-runtime-ref-counting)"]
PIPELINES += ["builtin.module(dce,cse,async-runtime-ref-counting)", "builtin.module(a{b=c})"]
PIPELINES += ["builtin.module(x)"]
OPTIONS: dict[str, list[str]] = {
    "--work-queue": QUEUES,
    "--allocator": ["malloc", "profiled", "leak_check", "fixed_size", "x", ""],
    "--function": NAMES,
    "--timeout": SECONDS,
    "--parallel-for": LOOPS,
    "--emit": STAGES,
    "--check-references": [],
    "--no-check-references": [],
    "--trace": ["trace.json", "/nowhere/trace.json", "", ".", "/dev/full"],
    "--tracing-sink": ["debug", "simple", "x"],
    "--trace-level": ["none", "default", "verbose", "debug", "x"],
    "--passes": PIPELINES,
    "-p": PIPELINES,
    "-o": ["out.bef", "/nowhere/out.bef", "", ".", "-", "/dev/full"],
    "--tfrt-cost-threshold": EDGES,
    "--help": [],
    "--version": [],
    "--memory": ["2G", "1", "0", "-1", "x", "1e9", "99999999999G", "1K", ""],
}
COMMANDS = ["run", "run", "run", "run", "mlir-to-bef", "bef-to-mlir", "opt", "opt", "nothing"]
STATUSES = (0, 1, 2, 130)
HANG_SECONDS = 10.0
"""As `children.HangClock` counts them."""

CELL_OPTIONS: dict[str, list[str]] = {
    "-q": QUEUES,
    "--work-queue": QUEUES,
    "-f": NAMES,
    "--function": NAMES,
    "-t": SECONDS,
    "--timeout": SECONDS,
    "-o": ["total", "x y", "1", "class", "", "_", "é", "__name__", "print"],
    "--no-wait": [],
    "--parallel-for": [f"'{loops}'" for loops in LOOPS],
    "--emit": STAGES,
}
LINES = """\
%config TFRT
%config TFRT.work_queue = 's'
%config TFRT.work_queue = 'mstd:0'
%config TFRT.work_queue = 'mstd:2'
%config TFRT.timeout = -1
%config TFRT.timeout = 0.0
%config TFRT.timeout = 1e308
%config TFRT.timeout = 'x'
%config TFRT.live = 'never'
%config TFRT.live = 3
%config TFRT.check_references = False
%config TFRT.check_references = True
%tfrt_kernels
%tfrt_kernels add
%tfrt_kernels [
%tfrt_kernels *?[!
%async_leaks
%async_leaks x
%tfrt_reset
%tfrt_reset --all
%%tfrt?
%tfrt
%load_ext tfrt_nb
""".splitlines()


def options_of(known: dict[str, list[str]], chance: Chance) -> list[str]:
    """Return some options with values, which are rarely wrong or missing."""
    words: list[str] = []
    for name in chance.choices(list(known), k=chance.choice((0, 1, 1, 2, 2, 3, 5))):
        values = known[name]
        words.append(name if chance.random() < 0.97 else name[:-1] + chance.choice("x -="))
        if values and chance.random() < 0.97:
            value = chance.choice(values)
            value = value if chance.random() < 0.95 else chance.choice(STRANGE)
            if chance.random() < 0.2:
                words[-1] += f"={value}"
            else:
                words.append(value)
    return words


def program_of(texts: Sequence[str], chance: Chance) -> str:
    """Return a program, usually a valid one."""
    text = chance.choice(texts)
    if chance.random() < 0.7:
        return text
    return mutate(text, texts, chance) if chance.random() < 0.8 else damaged(text, chance)


def random_command(chance: Chance) -> list[str]:
    """Return the words after `tfrt-nb`; the program is `in.mlir`."""
    inputs = ["in.mlir"] * 8 + ["-", "nothing.mlir", ".", "", "/dev/null", "in.bef"]
    words = [chance.choice(inputs), *options_of(OPTIONS, chance)]
    if chance.random() < 0.5:
        words.append("--timeout=1")
    if chance.random() < 0.1:
        chance.shuffle(words)
    return [chance.choice(COMMANDS), *words]


def random_cell(texts: Sequence[str], chance: Chance) -> str:
    """Return a cell of a notebook."""
    if chance.random() < 0.15:
        return chance.choice(LINES)
    line = " ".join(options_of(CELL_OPTIONS, chance))
    if "-t" not in line:
        line += " -t 0.3"
    if chance.random() < 0.05:
        line += " " + chance.choice((*STRANGE, "'", "$x", "{x}", "!ls", "\\"))
    return f"%%tfrt {line}\n{program_of(texts, chance)}"


def run_command(words: list[str], text: str) -> list[str]:
    """Run a command in its own process, within a child, and return its problems."""
    Path("in.mlir").write_bytes(text.encode(errors="surrogatepass"))
    child = os.fork()
    if child == 0:
        status = 99
        try:
            status = _status_of(words)
        finally:
            os._exit(status)
    clock = HangClock(child, HANG_SECONDS)
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        if clock.is_over():
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return [f"a command hangs: {words[0]}\n{words}"]
        time.sleep(0.003)
    said = Path("said").read_text(errors="replace")[-6000:]
    if os.WIFSIGNALED(status):
        return [f"a command dies by {signal.Signals(os.WTERMSIG(status)).name}\n{words}\n{said}"]
    if "Traceback (most recent" in said or os.WEXITSTATUS(status) not in STATUSES:
        lines = [line for line in said.splitlines() if line and not line.startswith(" ")]
        kind = lines[-1][:100] if lines else f"status {os.WEXITSTATUS(status)}"
        return [f"a command fails: {kind}\n{words}\n{said}"]
    return []


def _status_of(words: list[str]) -> int:
    """Run `tfrt-nb` with these words, in its process, and return the exit status."""
    from tfrt_nb.cli.main import main

    handle = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(handle, 1)
    os.dup2(handle, 2)
    sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__
    sys.excepthook = sys.__excepthook__
    sys.argv = ["tfrt-nb", *words]
    try:
        return main(words)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else 1
    except BaseException as problem:  # noqa: BLE001
        traceback.print_exc()
        print(headline(problem), file=sys.stderr)
        return 99
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()


class Notebook:
    """An IPython shell with the extension, in a child."""

    def __init__(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        self.shell = InteractiveShell.instance(config=config)
        self.shell.colors = "nocolor"
        self.shell.run_line_magic("load_ext", "tfrt_nb")

    def run(self, runner: Runner, cell: str) -> None:
        """Run a cell; an exception that is not a user's mistake is a problem."""
        from IPython.core.error import UsageError
        from traitlets import TraitError

        from tfrt_magics.cell import CellFailed, RunInterrupted

        done = self.shell.run_cell(cell)
        runner.ran += 1
        raised = done.error_in_exec or done.error_before_exec
        allowed = (UsageError, TraitError, RunInterrupted, CellFailed)
        if raised is not None and not isinstance(raised, allowed):
            runner.problem(raised)
