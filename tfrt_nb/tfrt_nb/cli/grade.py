"""Implement `tfrt-nb grade`, which checks the answers in notebooks without a kernel.

Each notebook is checked in its own process.

No code from a notebook runs in this process. This process reads the notebook's JSON and starts
`cli.graded`, a process that confines itself. From that process, it accepts only verdicts about the
answers in the notebook.
"""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory, TemporaryFile

from tfrt_nb.cli.files import EXIT_OK, EXIT_PROBLEM, PROGRAM
from tfrt_nb.exercises.answer import Names
from tfrt_nb.exercises.exercise import Mark, answers_of, find
from tfrt_runtime.cache import code_cache
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.native.library import load

ERROR = "error"
"""The mark of an answer, or of a notebook, that could not be graded."""
_MOST_BYTES, _LONGEST, _START_SECONDS, _FORMULA = 1 << 22, 300, 60, (*"=+-@\t\r",)
COLUMNS = ("notebook", "exercise", "mark", "text")
Row = tuple[str, str, str, str]
"""A line of the table: an answer, or a notebook that could not be graded.

The mark is one of `Mark`, or `ERROR`. The text is the hint, or the reason for the error.
"""


def execute(options: argparse.Namespace) -> int:
    """Print the table of all answers, and return 1 unless all are right.

    Raises:
        TfrtError: if a module with exercises cannot be imported.
    """
    if options.exercises:
        sys.path.insert(0, "")  # find modules in this folder, as `python -m` does
    for module in options.exercises:
        try:
            importlib.import_module(module)
        except TfrtError:
            raise
        except Exception as problem:  # noqa: BLE001  # the module of a user may raise anything
            text = f"cannot import '{module}': {type(problem).__name__}: {problem}"
            raise TfrtError(error(text)) from None
    load()  # compile the core here if necessary, because the confined processes cannot store it
    table: list[Row] = []
    open_to_answers: set[str] = set()
    for number, path in enumerate(options.notebooks, 1):
        if sys.stderr.isatty() and len(options.notebooks) > 1:
            print(f"{number} of {len(options.notebooks)}: {_printable(path)}", file=sys.stderr)
        rows = list(_graded(path, options, open_to_answers))
        table += rows
        if options.format == "table":
            _print_lines(path, rows)
    if options.format == "json":
        print(json.dumps([dict(zip(COLUMNS, row, strict=True)) for row in table], indent=1))
    elif options.format == "csv":
        # A spreadsheet would interpret a cell that starts with one of these characters as a
        # formula.
        cells = ([f"'{one}" if one[:1] in _FORMULA else one for one in row] for row in table)
        csv.writer(sys.stdout, lineterminator="\n").writerows([COLUMNS, *cells])
    if missing := ", ".join(sorted(open_to_answers - {""})):
        text = f"{PROGRAM}: warning: this system cannot keep answers away from: {missing}"
        print(text, file=sys.stderr)
    return EXIT_OK if all(mark == Mark.RIGHT for _, _, mark, _ in table) else EXIT_PROBLEM


def _print_lines(path: str, rows: Sequence[Row]) -> None:
    """Print the rows of a notebook, and the number of right answers if it could be graded."""
    for notebook, exercise, mark, text in rows:
        parts = (notebook, exercise, mark, text * (mark == ERROR))
        print(": ".join(_printable(one) for one in parts if one))
    if not rows or rows[0][1]:
        marks = [mark for _, _, mark, _ in rows]
        print(f"{_printable(path)}: {marks.count('right')} of {len(rows)} right", flush=True)


def _printable(text: str) -> str:
    """Escape control characters in a learner's text, because they could move the cursor."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text[:_LONGEST])


def _graded(path: str, options: argparse.Namespace, open_to_answers: set[str]) -> Iterator[Row]:
    """Yield the rows of a notebook, in order, or one row that says why it could not be graded."""
    try:
        answers = answers_of(path)
    except OSError as problem:
        yield (path, "", ERROR, f"cannot be read: {problem.strerror}")
        return
    except TfrtError as problem:
        yield (path, "", ERROR, problem.diagnostics[0].message.removeprefix(f"{path} "))
        return
    rows, kinds = dict[str, Row](), dict[str, type]()
    for name in answers:
        try:
            kinds[name] = find(name).kind
        except TfrtError as problem:
            rows[name] = (path, name, ERROR, problem.diagnostics[0].message)
    # Answers in Python run last, because they could forge the later verdicts of the same process.
    pending = sorted(kinds, key=lambda name: kinds[name] is Names)
    while pending:
        # Each round decides at least one answer: the one that ended the process.
        given = [(name, answers[name]) for name in pending]
        for mark, text in _verdicts(given, options, open_to_answers):
            if pending:  # the message after the last verdict says only how the process ended
                name = pending.pop(0)
                rows[name] = (path, name, mark, text)
    yield from (rows[name] for name in answers)


def _verdicts(
    answers: Sequence[tuple[str, str]], options: argparse.Namespace, open_to_answers: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield a mark and a message for each answer, from a separate process.

    If an answer ends the process or takes too long, the later answers are missing. The last message
    says so.
    """
    with (
        TemporaryDirectory(prefix="tfrt-nb-", ignore_cleanup_errors=True) as folder,
        TemporaryFile("w+") as request,
        TemporaryFile() as messages,
    ):
        asked = {
            "folder": folder,
            "memory": options.memory,
            "seconds": math.ceil(options.timeout * len(answers)) + _START_SECONDS,
            "modules": options.exercises,
            "answers": answers,
        }
        json.dump(asked, request)
        request.seek(0)
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "tfrt_nb.cli.graded"],
            stdin=request,
            stdout=subprocess.PIPE,
            stderr=messages,
            cwd=folder,
            env={
                "HOME": folder,
                "LANG": "C.UTF-8",
                # OpenBLAS reserves memory for each thread, which counts toward the limit.
                "OPENBLAS_NUM_THREADS": "1",
                "PATH": os.defpath,
                "PYTHONPATH": os.pathsep.join(map(os.path.abspath, sys.path)),
                "TFRT_NB_CACHE": str(code_cache().folder),
                "TMPDIR": folder,
            },
            start_new_session=True,
        ) as process:
            reason = ""
            try:
                assert process.stdout is not None
                lines = _lines(process.stdout.fileno(), options.timeout)
                open_to_answers.add(next(lines, b"").decode())
                for _, line in zip(answers, lines, strict=False):
                    mark, hint = json.loads(line)
                    yield Mark(mark).value, str(hint)
                process.wait(options.timeout)  # the exit status says how the process ended
            except (TimeoutError, subprocess.TimeoutExpired):
                reason = f"took longer than {options.timeout:g} s"
            except (ValueError, TypeError, RecursionError):
                reason = "tampered with its verdicts"
            finally:
                with suppress(OSError):  # all processes have exited
                    os.killpg(process.pid, signal.SIGKILL)
        messages.seek(max(0, messages.seek(0, os.SEEK_END) - _LONGEST))
        last = messages.read().decode(errors="replace").strip().rpartition("\n")[2]
    code = process.returncode
    number = -code if code < 0 else code - 128
    is_signal = number in signal.valid_signals()
    ending = signal.strsignal(number) if is_signal else f"exit status {code} {last}".strip()
    yield ERROR, reason or f"ended its process: {ending}"


def _lines(stream: int, timeout: float) -> Iterator[bytes]:
    """Yield the lines of a pipe as they arrive.

    The first line says that the process is ready, and may take any time.

    Raises:
        TimeoutError: if a later line takes longer than `timeout` seconds.
    """
    data, end = b"", math.inf
    while len(data) < _MOST_BYTES:
        left = None if end == math.inf else max(0.0, end - time.monotonic())
        if not select.select([stream], [], [], left)[0]:
            raise TimeoutError
        if not (more := os.read(stream, 1 << 16)):
            return
        *lines, data = (data + more).split(b"\n")
        if lines:
            end = time.monotonic() + timeout
        yield from lines
