"""Find the mistakes in a source that is being written, without running or compiling it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

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
"""Characters; a longer text is checked only when it runs."""
MAX_TEXT_OF_ALL = 50_000
"""Characters; in a longer text, only the mistakes that stop the parser are reported."""
MAX_MISTAKES = 20
LONG = 10_000
"""Characters; a longer source is checked function by function."""
_FUNCTION = re.compile(
    r"^(?:func|func\.func|async\.func)[ \t]+(?:[a-z]+[ \t]+)?@([\w$.-]+)", re.MULTILINE
)
_ELSE = re.compile(r"^(?!func|async\.func|//|[}\s]|\Z)", re.MULTILINE)
"""The start of a line that belongs to no function and is not a comment."""
_SYMBOL = re.compile(r"@([\w$.-]+)")
_OPERATION = re.compile(
    r'\s*(?:%[\w$.:, %-]+ = )?"?\w+\.(?!return|yield)\w[^{}]*(?:\{[^{}]*\}[^{}]*)*\Z'
)
"""A line with a complete operation that does not end a block."""
_RESULT = re.compile(r"%[\w$.-]+")
_OF_BLOCKS = re.compile(r"this is its last line|terminator|non-empty")
"""The words of a message about a block whose only or last line may have been removed as wrong."""


def lint(
    text: str, name: str, libraries: Mapping[str, Program] | None = None
) -> tuple[Diagnostic, ...]:
    """Return every mistake that can be found in `text`, whose source is `name`.

    A long source is checked function by function, and an unchanged function is not checked again:
    after a key in 5,000 lines, an answer takes milliseconds.
    """
    if len(text) > MAX_TEXT or not text.strip():
        return ()
    if len(text) > LONG and not libraries and (found := _by_function(text, name)) is not None:
        return found
    return _lint(text, name, libraries)


def _lint(
    text: str, name: str, libraries: Mapping[str, Program] | None = None
) -> tuple[Diagnostic, ...]:
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


@lru_cache(maxsize=2_000)
def _lint_again(text: str, name: str, kernels: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    return _lint(text, name)


def _by_function(text: str, name: str) -> tuple[Diagnostic, ...] | None:
    """Check each function together with the functions that it names; None if the source has
    anything besides functions, or one name twice.
    """
    starts = [*_FUNCTION.finditer(text)]
    if _ELSE.search(text) or len({one[1] for one in starts}) < len(starts):
        return None
    pieces, line = dict[str, tuple[int, str]](), 0
    for at, head in enumerate(starts):
        end = starts[at + 1].start() if at + 1 < len(starts) else len(text)
        piece = text[head.start() if at else 0 : end].rstrip("\n") + "\n"
        pieces[head[1]] = line, piece
        line = text.count("\n", 0, end)
    found: list[Diagnostic] = []
    for function, (first, own) in pieces.items():
        named = [function]
        for one in named:  # which grows
            named += {*_SYMBOL.findall(pieces[one][1])} & pieces.keys() - {*named}
        # Its own function is the last, because an error at the end of the source is in that
        # function.
        others = [pieces[one] for one in sorted(named[1:])]
        before = "".join(_closed(piece) for _, piece in others)
        if len(before) > MAX_TEXT_OF_ALL:
            return None
        numbers = [
            n + at for n, piece in (*others, (first, own)) for at in range(piece.count("\n"))
        ]
        numbers.append(numbers[-1] + 1)
        for mistake in _lint_again(before + own, name, (*USER_KERNELS,)):
            if _line(mistake) > before.count("\n"):
                found.append(_moved(mistake, numbers))
    return tuple(found)


def _closed(piece: str) -> str:
    """Close a function that others call, so that its missing braces are not reported as their
    mistakes.
    """
    code = re.sub("//.*", "", piece.rstrip("\n"))
    return code + "}" * (code.count("{") - code.count("}")) + "\n"


def _moved(one: Diagnostic, numbers: Sequence[int]) -> Diagnostic:
    """Return a diagnostic and its notes at the lines of the source; `numbers` has the source line,
    from 0, of each line.
    """
    where = one.location
    if isinstance(where, Location) and 1 <= where.line <= where.end_line <= len(numbers):
        first, last = numbers[where.line - 1] + 1, numbers[where.end_line - 1] + 1
        where = replace(where, line=first, end_line=last)
    return replace(one, location=where, notes=tuple(_moved(each, numbers) for each in one.notes))


def all_mistakes(
    text: str,
    name: str,
    found: Sequence[Diagnostic],
    libraries: Mapping[str, Program] | None = None,
) -> tuple[Diagnostic, ...]:
    """Return all mistakes of a source: those in `found`, which stopped the parser, and those that
    it finds without the wrong lines.

    Missing definitions and ends of blocks are not reported if a removed line would have had them.
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
    """Return an error for each operation that no kernel, or no user's kernel of these types, runs;
    loading the program reports the same.
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
                fix = (kernel.name, near[0]) if near else None
                notes = [note(f"did you mean '{near[0]}'?", place, fix)] if near else []
                found.append(error(f"unknown kernel: {kernel.name}", place, notes))
            elif isinstance(known := users.get(kernel.name), PythonKernel):
                types = types_of(function, kernel.arguments), types_of(function, kernel.results)
                if (text := mismatch(known, *types)) is not None:
                    found.append(error(text, program.file.location(kernel.location)))
    return tuple(found)
