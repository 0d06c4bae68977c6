"""What is wrong with a source that is being written, found without running or compiling it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tfrt_nb.dialects.catalog import similar_operations
from tfrt_nb.programs import Program
from tfrt_runtime.bef.records import FunctionKind
from tfrt_runtime.diagnostics import Diagnostic, Location, TfrtError, error, note
from tfrt_runtime.executor.loading.type_check import types_of
from tfrt_runtime.kernels.registry import PythonKernel
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.annotations import mismatch
from tfrt_runtime.kernels.users.user import USER_KERNELS

MAX_TEXT = 200_000
"""Characters; a longer text is looked at when it runs."""
MAX_TEXT_OF_ALL = 50_000
"""Of a longer text the mistakes are said at which reading it ends."""
MAX_MISTAKES = 20
_OPERATION = re.compile(
    r'\s*(?:%[\w$.:, %-]+ = )?"?\w+\.(?!return|yield)\w[^{}]*(?:\{[^{}]*\}[^{}]*)*\Z'
)
"""A line that is an operation with all that is its own, and does not end a block."""
_RESULT = re.compile(r"%[\w$.-]+")
_OF_BLOCKS = re.compile(r"this is its last line|terminator|non-empty")
"""What a message says of a block that may have lost its only or its last line because that is
wrong."""


def lint(
    text: str, name: str, libraries: Mapping[str, Program] | None = None
) -> tuple[Diagnostic, ...]:
    """Every mistake that can be seen in `text`, whose source is `name`."""
    if len(text) > MAX_TEXT or not text.strip():
        return ()
    try:
        program = Program.from_source(text, name, libraries=libraries)
        found = wrong_kernels(program)
        if (
            not found
            and program._compiled is None
            and set(program.file.kernel_names) & {*USER_KERNELS}
        ):
            program.load()  # says which attributes a user's kernel does not take
    except TfrtError as problem:
        return all_mistakes(text, name, problem.diagnostics, libraries)
    return found


def all_mistakes(
    text: str,
    name: str,
    found: Sequence[Diagnostic],
    libraries: Mapping[str, Program] | None = None,
) -> tuple[Diagnostic, ...]:
    """What is wrong with a source besides `found`, where reading it ended: the lines that are wrong
    are left out.

    What these lines would define is not missed, nor are ends of blocks.
    """
    lines, lost = text.split("\n"), set[str]()
    known = list(found)
    while len(text) <= MAX_TEXT_OF_ALL and len(known) < MAX_MISTAKES:
        wrong = {one.location.line for one in known if isinstance(one.location, Location)}
        wrong = {n for n in wrong if 0 < n <= len(lines) and _OPERATION.match(lines[n - 1])}
        if not wrong:
            break
        for line in wrong:
            lost |= set(_RESULT.findall(lines[line - 1].partition("=")[0]))
            lines[line - 1] = ""
        try:
            Program.from_source("\n".join(lines), name, libraries=libraries)
            break
        except TfrtError as problem:
            places = {one.location for one in known}
            known += [
                one
                for one in problem.diagnostics
                if one.location not in places
                and _text_at(lines, one) not in lost
                and not _OF_BLOCKS.search(one.message)
            ]
    return tuple(sorted(known, key=_line))


def _text_at(lines: Sequence[str], one: Diagnostic) -> str:
    where = one.location
    if not isinstance(where, Location) or not 1 <= where.line <= len(lines):
        return ""
    return re.split(r"[#:]", lines[where.line - 1][where.column - 1 : where.end_column - 1])[0]


def _line(one: Diagnostic) -> int:
    return one.location.line if isinstance(one.location, Location) else 0


def wrong_kernels(program: Program) -> tuple[Diagnostic, ...]:
    """An error for each operation that no kernel runs, or no user's kernel of these types, as its
    load says it.
    """
    kernels = available_kernels()
    missing = {one for one in program.file.kernel_names if one not in kernels}
    users = {one: USER_KERNELS[one] for one in program.file.kernel_names if one in USER_KERNELS}
    if not missing and not users:
        return ()
    compiled = {one.name for one in program.file.functions if one.kind is FunctionKind.NATIVE}
    found = []
    for function in program.file.functions:
        for kernel in function.kernels:
            if kernel.name in missing - compiled:
                place = program.file.location(kernel.location)
                near = similar_operations(kernel.name)
                notes = [note(f"did you mean '{near[0]}'?", place)] if near else []
                found.append(error(f"unknown kernel: {kernel.name}", place, notes))
            elif isinstance(known := users.get(kernel.name), PythonKernel):
                types = types_of(function, kernel.arguments), types_of(function, kernel.results)
                if (text := mismatch(known, *types)) is not None:
                    found.append(error(text, program.file.location(kernel.location)))
    return tuple(found)
