"""Parts that commands share: input files, standard streams, their errors, and exit statuses."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import NoReturn

from tfrt_nb.nesting import MAX_FILE, too_large
from tfrt_nb.report import render_all
from tfrt_runtime.bef.records import MAGIC
from tfrt_runtime.diagnostics import TfrtError, error

EXIT_OK, EXIT_PROBLEM, EXIT_USAGE = 0, 1, 2
EXIT_INTERRUPTED = 130
"""The exit status after Ctrl-C, as in a shell."""
STANDARD_INPUT = "-"
PROGRAM = "tfrt-nb"
"""The name before a diagnostic that has no source location."""


class UsageError(TfrtError):
    """Raised if the command line is invalid."""


def display_name(path: str) -> str:
    """Return the name that locations use for a file."""
    return "<stdin>" if path == STANDARD_INPUT else path


def read_input(path: str) -> bytes:
    """Return the bytes of a file, or of standard input.

    Raises:
        TfrtError: if the file cannot be read, or is a pipe or a device with too much data. The
            message says why.
    """
    try:
        if path == STANDARD_INPUT:
            data = sys.stdin.buffer.read(MAX_FILE + 1)
        elif Path(path).is_file():
            return Path(path).read_bytes()
        else:
            with Path(path).open(
                "rb"
                # Opening the path raises an error that says whether it is missing or is a folder.
            ) as stream:
                data = stream.read(MAX_FILE + 1)
    except OSError as problem:
        raise TfrtError(error(f"cannot read '{path}': {problem.strerror}")) from None
    except ValueError as problem:  # the path contains a NUL or a lone surrogate
        raise TfrtError(error(f"cannot read {path!r}: {problem}")) from None
    if len(data) > MAX_FILE:
        text = f"'{display_name(path)}' produced more than {MAX_FILE} bytes and may be endless"
        raise TfrtError(error(f"{text}; give the name of a file"))
    return data


def write_output(path: str, data: bytes) -> None:
    """Write to a file, or to standard output.

    Raises:
        TfrtError: if the file cannot be written. The message says why.
    """
    try:
        if path == STANDARD_INPUT:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
        else:
            if Path(path).is_file() and not Path(path).is_symlink():
                # Replace the file. A process that has mapped the old file into memory keeps the old
                # content.
                with contextlib.suppress(OSError):
                    Path(path).unlink()
            Path(path).write_bytes(data)
    except BrokenPipeError:
        raise
    except OSError as problem:
        raise TfrtError(error(f"cannot write '{path}': {problem.strerror}")) from None


def open_standard_streams() -> None:
    """Make standard output and standard error accept any text.

    Characters that the encoding lacks are escaped. Text for a closed stream is discarded.
    """
    for name, mode in ("stdin", "r"), ("stdout", "w"), ("stderr", "w"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115
        elif mode == "w" and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def write(text: str) -> None:
    """Write the output of a program. Any thread may call this function.

    The caller must flush standard output after each function. Flushing here would be slow, because
    a program may print millions of lines.
    """
    try:
        sys.stdout.write(text)
    except OSError as problem:
        leave_without_output(problem)


def leave_without_output(problem: OSError) -> NoReturn:
    """Exit because standard output cannot be written.

    The function prints the reason, unless the reader has closed the pipe. Without the exit, a
    program that prints would not stop.
    """
    status = EXIT_OK
    if not isinstance(problem, BrokenPipeError):
        status = EXIT_PROBLEM
        print(f"{PROGRAM}: error: cannot write the output: {problem.strerror}", file=sys.stderr)
    sys.stderr.flush()
    os._exit(status)


def is_bef(path: str, data: bytes) -> bool:
    """Return whether the input is a BEF file, judging by its name or else by its first bytes."""
    return path.endswith(".bef") or data.startswith(MAGIC)


def decode(data: bytes, name: str) -> str:
    """Return the source of a program, without a byte order mark.

    Raises:
        TfrtError: if there are too many bytes, if they are not UTF-8, contain a NUL, or are a BEF
            file, or if `name` is the name of a Python file.
    """
    if name.endswith(".py"):
        text = f"'{name}' is a Python file, not a program: run it with python, or pass its kernels"
        raise TfrtError(error(f"{text} to a program with --with {name}"))
    if len(data) > MAX_FILE:
        raise too_large(name, len(data))
    if data.startswith(MAGIC):
        hint = f"'{name}' is a BEF file; bef-to-mlir converts it to text, and run accepts it as is"
        raise TfrtError(error(hint))
    if (nul := data.find(b"\0")) >= 0:
        raise TfrtError(error(f"'{name}' is not UTF-8 text: there is a NUL at byte {nul}"))
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise TfrtError(error(f"'{name}' is not UTF-8 text at byte {problem.start}")) from None


def show(problem: TfrtError, text: str | None = None, nowhere: str = PROGRAM) -> None:
    """Print diagnostics to standard error, after the program's output.

    `nowhere` replaces the location of a diagnostic without one.
    """
    sys.stdout.flush()
    print(render_all(problem.diagnostics, text, nowhere), file=sys.stderr)
