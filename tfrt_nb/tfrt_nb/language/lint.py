"""Find the mistakes in a source that is being edited, without compiling or running it.

`fixes` returns the edits that the messages suggest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from tfrt_nb.dialects.catalog import similar_operations
from tfrt_nb.language.answers import Place, returned
from tfrt_nb.language.scan import piece_around, scan
from tfrt_nb.programs import Program
from tfrt_runtime.bef.records import FunctionKind
from tfrt_runtime.diagnostics import Diagnostic, Location, TfrtError, error, note
from tfrt_runtime.executor.loading.type_check import types_of
from tfrt_runtime.kernels.registry import PythonKernel
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.annotations import mismatch
from tfrt_runtime.kernels.users.user import USER_KERNELS

MAX_TEXT = 200_000
"""The maximum length, in characters, of a source that is checked before it runs."""
MAX_TEXT_OF_ALL = 50_000
"""The maximum length, in characters, of a source in which all mistakes are reported.

In a longer source, only the mistakes that stop the parser are reported.
"""
MAX_MISTAKES = 20
LONG = 10_000
"""The maximum length, in characters, of a source that is checked as a whole.

A longer source is checked function by function.
"""
_FUNCTION = re.compile(
    r"^(?:func|func\.func|async\.func)[ \t]+(?:[a-z]+[ \t]+)?@([\w$.-]+)", re.MULTILINE
)
_ELSE = re.compile(r"^(?!func|async\.func|//|[}\s]|\Z)", re.MULTILINE)
"""Matches the start of a line that is outside functions and is not a comment."""
_SYMBOL = re.compile(r"@([\w$.-]+)")
_OPERATION = re.compile(
    r'\s*(?:%[\w$.:, %-]+ = )?"?\w+\.(?!return|yield)\w[^{}]*(?:\{[^{}]*\}[^{}]*)*\Z'
)
"""Matches a line with a complete operation that is not the end of a block."""
_RESULT = re.compile(r"%[\w$.-]+")
_OF_BLOCKS = re.compile(r"this is its last line|terminator|non-empty")
"""Matches messages about the end of a block.

Such a message is wrong if the only or last line of the block was removed because of another
mistake.
"""


def lint(
    text: str, name: str, libraries: Mapping[str, Program] | None = None
) -> tuple[Diagnostic, ...]:
    """Return every mistake that can be found in `text`, a source called `name`.

    A long source is checked function by function, and unchanged functions are not checked again.
    Therefore, checking a file of 5,000 lines after a keypress takes milliseconds.
    """
    if len(text) > MAX_TEXT or not text.strip():
        return ()
    # The key of the cache in `_lint_again` does not contain the libraries.
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
            program.load()  # loading reports attributes that a user's kernel does not take
    except TfrtError as problem:
        return all_mistakes(text, name, problem.diagnostics, libraries)
    return found


# `kernels` is part of the key, because the mistakes depend on the registered kernels.
@lru_cache(maxsize=2_000)
def _lint_again(text: str, name: str, kernels: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    return _lint(text, name)


def _by_function(text: str, name: str) -> tuple[Diagnostic, ...] | None:
    """Check each function, together with the functions that it names.

    Return None if the source contains anything other than functions, or contains two functions with
    the same name.
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
        for one in named:  # the list grows in the loop
            named += {*_SYMBOL.findall(pieces[one][1])} & pieces.keys() - {*named}
        # Put the function itself last, because an error at the end of the source then belongs to
        # it.
        others = [pieces[one] for one in sorted(named[1:])]
        before = "".join(_closed(piece) for _, piece in others)
        if len(before) > MAX_TEXT_OF_ALL:
            return None
        numbers = [
            n + at for n, piece in (*others, (first, own)) for at in range(piece.count("\n"))
        ]
        # The text ends with a newline, so an error at its end is on one more line.
        numbers.append(numbers[-1] + 1)
        # A mistake in another function is reported when that function is checked.
        found += [
            _moved(mistake, numbers)
            for mistake in _lint_again(before + own, name, (*USER_KERNELS,))
            if _line(mistake) > before.count("\n")
        ]
    return tuple(found)


def _closed(piece: str) -> str:
    """Close the open braces of a called function, so that its caller is not blamed for them."""
    code = re.sub("//.*", "", piece.rstrip("\n"))
    return code + "}" * (code.count("{") - code.count("}")) + "\n"


def _moved(one: Diagnostic, numbers: Sequence[int]) -> Diagnostic:
    """Return a diagnostic and its notes with the lines of the whole source.

    `numbers[i]` is the line of the whole source, starting at 0, for line `i` of the checked text.
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
    """Return all mistakes in a source.

    `found` contains the mistakes that stopped the parser. The function removes the offending lines,
    and adds the mistakes that the parser finds in the rest. It does not report a missing definition
    or block end that a removed line may have contained.
    """
    lines, lost = text.split("\n"), set[str]()
    known = list(found)
    while len(text) <= MAX_TEXT_OF_ALL and len(known) < MAX_MISTAKES:
        wrong = {one.location.line for one in known if isinstance(one.location, Location)}
        # The pattern does not match a line that is already removed, so the loop ends.
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
    """Return an error for each operation that cannot run.

    The operation has no kernel, or a user's kernel does not accept its types. Loading the program
    reports the same errors.
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


Change = tuple[Place, str]
_HEAD = re.compile(r"^[ \t]*(?:func|func\.func|async\.func)[ \t][^{}\n]*$", re.MULTILINE)
"""Matches the first line of a function, if the line has no brace."""
_FUNCTIONS = ("func", "func.func", "async.func")


def fixes(text: str, one: Diagnostic) -> list[Change]:
    """Return the changes to `text` that a diagnostic and its notes suggest.

    A change is a place and its new text. A change is left out if the line contains the old text
    more than once, or if the message would remain after the change.
    """
    where = one.location
    if not isinstance(where, Location) or where.line < 1:
        return []
    said = (each.message for each in (one, *one.notes))
    changes = (found for message in said for found in _changes(text, message, where))
    worth = [change for change in dict.fromkeys(changes) if not _stays(text, one, change)]
    return worth[:1] or _replaced(text, one, where)


def _replaced(text: str, one: Diagnostic, where: Location) -> list[Change]:
    """Return changes to a line, at the places that a diagnostic and its notes name."""
    start = _offset(text, where.line, where.column)
    end = _line_end(text, start)
    found = []
    for old, new in (each.fix for each in (one, *one.notes) if each.fix is not None):
        at = text.find(old, start, end)
        if at == start or (at > start and text.count(old, at, end) == 1):
            found.append((Place(at, at + len(old)), new))
    return found


def _stays(text: str, one: Diagnostic, change: Change) -> bool:
    """Return whether the message would remain on its line after a change."""
    (place, new), where = change, one.location
    there = lint(text[: place.start] + new + text[place.end :], "fixed")
    assert isinstance(where, Location)
    lines = {where.line, where.line + new.count("\n")}
    return any(
        each.message == one.message
        and isinstance(each.location, Location)
        and each.location.line in lines
        for each in there
    )


def _changes(text: str, message: str, where: Location) -> Iterator[Change]:
    """Yield the changes that a message at a place may suggest."""
    at = _offset(text, where.line, where.column)
    line, line_end = text.rfind("\n", 0, at) + 1, _line_end(text, at)
    before = len(text[:at].rstrip())
    word = at + len(re.split(r'[^\w."%@!-]', text[at:line_end], maxsplit=1)[0])
    if found := re.search(r"end the \w+ with '([\w.]+)': this is its last line", message):
        yield from _ended(text, at, found[1])
    elif message == "expected non-empty function body":
        yield from _ended(text, text.find("{", at) + 1, "tfrt.return")
    elif message == "a '}' is missing here":
        yield _with_closed_braces(text)
    elif message.startswith("this '}' has no '{'"):
        heads = [*_HEAD.finditer(text, 0, at)]
        yield (Place(heads[-1].end(), heads[-1].end()), " {") if heads else (Place(at, at + 1), "")
    elif found := re.search(r"write '(%\S+ = .+)' on a line above, and '(%\S+)' here", message):
        indent = _indentation(text, at)
        yield Place(line, word), f"{indent}{found[1]}\n{text[line:at]}{found[2]}"
    elif found := re.search(r"(?:write|such as) '?([-\w.%@]+)'?(?: instead)?$", message):
        yield Place(at, word), found[1]
    elif found := re.search(r"types? listed: write \((.*)\)$", message):
        yield Place(at, at + len(text[at:line_end].partition("//")[0].rstrip())), found[1]
    elif text.startswith("%", at) and re.match(
        r"a comma must separate|a comma goes|expected '\)'|the types of the operands follow",
        message,
    ):
        yield Place(before, at), ", "
    elif message.startswith("an argument has a type") and re.match(r"[a-z!]", text[at:]):
        yield Place(before, at), ": "
    elif found := re.match(r"expected '([)}\]=])'", message):
        yield Place(before, before), f" {found[1]}" if found[1] == "=" else found[1]


def _ended(text: str, at: int, word: str) -> Iterator[Change]:
    """Yield a change that adds the missing last line of a block.

    `at` is the offset of the last operation of the block. The new line passes the latest values of
    the types that it needs. If no such values exist, yield nothing.
    """
    first, last = piece_around(text, at)
    known, depth, end = scan(text[first:last]), 0, last
    opened: list[int] = []
    for token in known.tokens:
        start = first + token.start
        if start < at and token.text == "{":
            opened.append(token.start)
        elif start < at and token.text == "}" and opened:
            opened.pop()
        elif start >= at and (token.kind == "newline" or token.text in "([{)]}"):
            depth += (token.text in "([{") - (token.text in ")]}")
            if depth < 0 or (not depth and token.kind == "newline"):
                end = start
                break
    holder = known.statement_at(opened[-1]) if opened else None
    if holder is None:
        return
    if holder.name in _FUNCTIONS:
        types = returned(known)
    else:
        own = (one for one in known.values if holder.start <= one.start < holder.operation)
        types = [one.type for one in own]
    if word.startswith("async"):
        prefix = "!async.value<"
        types = [one[len(prefix) : -1] for one in types if one.startswith(prefix)]
    left, values = known.visible(end - first + 1), list[str]()
    # Each result gets the latest value that is left, so results of one type are in the order of
    # their definitions.
    for type_ in reversed(types):
        fitting = [one for one in left if one.type == type_]
        if not fitting:
            return
        left.remove(fitting[-1])
        values.insert(0, fitting[-1].name)
    given = f" {', '.join(values)} : {', '.join(types)}" if types else ""
    end = first + len(text[first:end].rstrip())
    deeper = "  " * (text[at - 1] == "{")  # the block is empty
    yield Place(end, end), f"\n{_indentation(text, at)}{deeper}{word}{given}"


def _with_closed_braces(text: str) -> Change:
    """Return the change that adds a missing brace at the position that the indentation suggests.

    The new brace is placed before the first line that is indented no deeper than the line with the
    opening brace, or at the end.
    """
    opened: list[int] = []
    start = end = 0
    for line in text.splitlines(keepends=True):
        code = re.sub(r'"(?:[^"\\]|\\.)*"|//.*', "", line)
        depth = len(code) - len(code.lstrip())
        if not code.strip():
            start += len(line)
            continue
        if opened and depth < opened[-1] + (code.lstrip()[0] not in "})^"):  # ^ labels a block
            break
        end = start + len(line.rstrip())
        for brace in re.findall(r"[{}]", code):
            if brace == "{":
                opened.append(depth)
            elif opened:
                opened.pop()
        start += len(line)
    return Place(end, end), f"\n{' ' * (opened[-1] if opened else 0)}}}"


def _indentation(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _offset(text: str, line: int, column: int) -> int:
    return sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + column - 1


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
