"""Changes of the text that messages suggest."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tfrt_nb.language.answers import Place, returned
from tfrt_nb.language.lint import lint
from tfrt_nb.language.scan import piece_around, scan
from tfrt_runtime.diagnostics import Diagnostic, Location

Change = tuple[Place, str]
_HEAD = re.compile(r"^[ \t]*(?:func|func\.func|async\.func)[ \t][^{}\n]*$", re.MULTILINE)
"""The first line of a function that has no brace."""
_FUNCTIONS = ("func", "func.func", "async.func")


def fixes(text: str, one: Diagnostic) -> list[Change]:
    """Return the places in `text` that a diagnostic and its notes suggest to change, and the new
    text.

    A change is omitted if it is ambiguous, because the line has the text to replace more than once,
    or if the message would stay.
    """
    where = one.location
    if not isinstance(where, Location) or where.line < 1:
        return []
    said = (each.message for each in (one, *one.notes))
    changes = (found for message in said for found in _changes(text, message, where))
    worth = [change for change in dict.fromkeys(changes) if not _stays(text, one, change)]
    return worth[:1] or _replaced(text, one, where)


def _replaced(text: str, one: Diagnostic, where: Location) -> list[Change]:
    """Return the parts of the line that the diagnostic and its notes name, and their
    replacements.
    """
    start = _offset(text, where.line, where.column)
    end = _line_end(text, start)
    found = []
    for old, new in (each.fix for each in (one, *one.notes) if each.fix is not None):
        at = text.find(old, start, end)
        if at == start or (at > start and text.count(old, at, end) == 1):
            found.append((Place(at, at + len(old)), new))
    return found


def _stays(text: str, one: Diagnostic, change: Change) -> bool:
    """Return whether the message stays at its line after a change."""
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
        yield _closed(text)
    elif message.startswith("this '}' has no '{'"):
        heads = [*_HEAD.finditer(text, 0, at)]
        yield (Place(heads[-1].end(), heads[-1].end()), " {") if heads else (Place(at, at + 1), "")
    elif found := re.search(r"write '(%\S+ = .+)' before, and '(%\S+)' here", message):
        indent = _indentation(text, at)
        yield Place(line, word), f"{indent}{found[1]}\n{text[line:at]}{found[2]}"
    elif found := re.search(r"(?:write|such as) '?([-\w.%@]+)'?(?: instead)?$", message):
        yield Place(at, word), found[1]
    elif found := re.search(r"types of \d+ listed: write \((.*)\)$", message):
        yield Place(at, at + len(text[at:line_end].partition("//")[0].rstrip())), found[1]
    elif text.startswith("%", at) and re.match(
        r"commas separate|a comma goes|expected '\)'|the types of the operands follow", message
    ):
        yield Place(before, at), ", "
    elif message.startswith("an argument has a type") and re.match(r"[a-z!]", text[at:]):
        yield Place(before, at), ": "
    elif found := re.match(r"expected '([)}\]=])'", message):
        yield Place(before, before), f" {found[1]}" if found[1] == "=" else found[1]


def _ended(text: str, at: int, word: str) -> Iterator[Change]:
    """Yield the missing last line of the block whose last operation is at `at`, with the latest
    values of the types that it needs; nothing if no such values exist.
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
    for type_ in reversed(types):
        fitting = [one for one in left if one.type == type_]
        if not fitting:
            return
        left.remove(fitting[-1])
        values.insert(0, fitting[-1].name)
    given = f" {', '.join(values)} : {', '.join(types)}" if types else ""
    end = first + len(text[first:end].rstrip())
    deeper = "  " * (text[at - 1] == "{")
    yield Place(end, end), f"\n{_indentation(text, at)}{deeper}{word}{given}"


def _closed(text: str) -> Change:
    """Return the missing brace, placed by indentation: before the line that is indented no deeper
    than the line with the opening brace, or at the end.
    """
    opened: list[int] = []
    start = end = 0
    for line in text.splitlines(keepends=True):
        code = re.sub(r'"(?:[^"\\]|\\.)*"|//.*', "", line)
        depth = len(code) - len(code.lstrip())
        if not code.strip():
            start += len(line)
            continue
        if opened and depth < opened[-1] + (code.lstrip()[0] not in "})^"):  # ^ is of a block
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
