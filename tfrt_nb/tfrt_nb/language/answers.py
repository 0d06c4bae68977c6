"""What may appear at a place in a program, what is there, and where it is defined."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS

import tfrt_nb.programs  # noqa: F401 - tells the compiler which kernels users have registered
from tfrt_nb.dialects.catalog import HOST_DIALECTS, UPSTREAM_DIALECTS, similar_operations
from tfrt_nb.dialects.types import WORDS
from tfrt_nb.language.operations import Entry, entry, names
from tfrt_nb.language.scan import Function, Scan, Token, Value, scan

MOST = 200
"""The maximum number of completions offered."""
_WORD = re.compile(r'"?[\w.$-]*\Z|[%@!^][\w.$#-]*\Z')
_OPERANDS = re.compile(r'(?:\A|=)\s*"?\w+\.(?:[\w.]+"?\s+|[^:{}=]*[,(]\s*)\Z')
"""What precedes an operand in a line."""
_PREDICATES = {
    "i": tuple(CMPI_COMPARISON_OPERATIONS),
    "f": tuple(CMPF_COMPARISON_OPERATIONS),
}
_KEYWORDS = {
    "func.func": "a function",
    "async.func": "a compiled function that is a coroutine",
    "return": "ends a compiled function and gives its results",
}


@dataclass(frozen=True, slots=True)
class Completion:
    """A replacement for the text from `start` to the cursor, with its type or signature."""

    text: str
    start: int
    type: str


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source: offsets from its start."""

    start: int
    end: int


def complete(
    text: str, cursor: int, functions: Mapping[str, str] | None = None
) -> list[Completion]:
    """List what may appear at `cursor`, the likeliest first.

    `functions` are those of other programs that this one may call, with their signatures.
    """
    cursor = max(0, min(cursor, len(text)))
    line_start = text.rfind("\n", 0, cursor) + 1
    before = text[line_start:cursor]
    if "//" in re.sub(r'"(?:[^"\\]|\\.)*"', "", before):  # in a comment
        return []
    found = _WORD.search(before)
    word = found[0] if found is not None else ""
    start = cursor - len(word)
    known = scan(text)
    if word.startswith("%"):
        offered: Iterable[tuple[str, str]] = [
            (value.name, value.type)
            for value in reversed(known.visible(cursor))
            if not value.start <= start < value.start + len(value.name)
        ]
        return _fitting(offered, word, start)
    if word.startswith("@"):
        there = {**(functions or {}), **{one.name: one.signature for one in known.functions}}
        return _fitting([(f"@{name}", type_) for name, type_ in there.items()], word, start)
    if word.startswith("!"):
        types = {str(type_): "type" for type_ in WORDS.values() if str(type_).startswith("!")}
        types |= dict.fromkeys(("!async.token", "!async.value<", "!async.group"), "type")
        return _fitting(types.items(), word, start)
    head = before[: len(before) - len(word)]
    if word.startswith('"'):
        if not _is_at_operation(head):
            return []
        return _operations(word[1:], start + 1)
    if (operation := _open_attributes(known, text, start)) is not None:
        return _fitting(operation.attributes.items(), word, start)
    if _is_at_operation(head):
        return _operations(word, start)
    if (compared := re.search(r"\barith\.cmp([if])\s+\Z", head)) is not None:
        predicates = _PREDICATES[compared[1]]
        return _fitting([(one, "predicate") for one in predicates], word, start)
    if re.search(r"(:|->)\s*\Z" if not word else r"(:|->|[(,<x])\s*\Z", head):
        return _fitting(
            [(one, "type") for one in WORDS if re.match(r"[a-z]+\d+\Z", one)], word, start
        )
    if not word and _OPERANDS.search(head):
        return [
            Completion(value.name, start, value.type) for value in reversed(known.visible(cursor))
        ]
    return []


def explain(text: str, cursor: int) -> str | None:
    """Describe what is at `cursor`; None if there is nothing to say."""
    known = scan(text)
    token = known.token_at(cursor)
    if token is None or token.kind == "comment":
        return None
    if token.kind == "value":
        value = _value_at(known, token)
        if value is None:
            return f"{token.text} is not defined here"
        return f"{value.name}: {value.type or 'unknown type'}\n\n{_where(text, value.start)}"
    if token.kind == "symbol":
        one = _function_at(known, token)
        if one is None:
            return None
        return f"@{one.name}  {one.signature}\n\n{_where(text, one.start)}"
    name = token.text.strip('"')
    if token.kind == "word" and "=" in text[token.end : token.end + 3]:
        operation = _open_attributes(known, text, token.start)
        if operation is not None and name in operation.attributes:
            return f"{name}: {operation.attributes[name]}, an attribute of {operation.name}"
    if token.kind not in ("word", "string"):
        return None
    found = entry(name)
    if found is not None:
        return found.full
    if name in _KEYWORDS:
        return f"{name}  {_KEYWORDS[name]}"
    near = similar_operations(name) if "." in name else []
    return f"{name} is unknown; did you mean {near[0]}?" if near else None


def definition(text: str, cursor: int) -> Place | None:
    """Where the name at `cursor` is defined in the source."""
    known = scan(text)
    token = known.token_at(cursor)
    if token is None:
        return None
    if token.kind == "value":
        found: Value | Function | None = _value_at(known, token)
    else:
        found = _function_at(known, token)
    if found is None:
        return None
    return Place(found.start, found.start + len(token.text.split("#")[0]))


def _is_at_operation(head: str) -> bool:
    """Whether an operation's name follows this part of a line."""
    return re.search(r"(\A|=|\{|\})\s*\Z", head) is not None and not re.search(
        r"\{[^{}]*=\s*\Z", head
    )


def _open_attributes(known: Scan, text: str, offset: int) -> Entry | None:
    """The operation whose attributes are being written at `offset`."""
    statement = known.statement_at(offset - 1)
    if statement is None:
        return None
    part = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: " " * len(m[0]), text[statement.start : offset])
    opened = part.rfind("{")
    if opened < 0 or "}" in part[opened:]:
        return None
    if re.search(r"(\{|,)\s*\Z", part) is None:
        return None
    found = entry(statement.name)
    return found if found is not None and found.attributes else None


def _operations(word: str, start: int) -> list[Completion]:
    found = names(word)
    if "." not in word:
        dialects = {f"{one}." for one in (*HOST_DIALECTS, *UPSTREAM_DIALECTS) if one != "builtin"}
        offered = [(one, "dialect") for one in sorted(dialects)]
        short = _fitting(offered, word, start) if len(word) < 2 or not found else []
        # `add` is meant to be one of `tfrt.add.i32` and its like.
        if len(word) > 1 and not found:
            found = [name for name in names() if f".{word}" in name]
        keywords = _fitting(_KEYWORDS.items(), word, start) if word else []
        listed = [] if not word else [_completion(name, start) for name in found[:MOST]]
        return [*keywords, *listed, *short]
    return [_completion(name, start) for name in found[:MOST]]


def _completion(name: str, start: int) -> Completion:
    found = entry(name)
    return Completion(name, start, "" if found is None else found.signature or "operation")


def _fitting(offered: Iterable[tuple[str, str]], word: str, start: int) -> list[Completion]:
    return [Completion(text, start, type_) for text, type_ in offered if text.startswith(word)]


def _function_at(known: Scan, token: Token) -> Function | None:
    """The function that a symbol names."""
    return next((one for one in known.functions if f"@{one.name}" == token.text), None)


def _value_at(known: Scan, token: Token) -> Value | None:
    """The value that a use or definition is of."""
    base = token.text.split("#")[0]
    for value in known.values:
        if value.start == token.start:
            return value
    named = [one for one in known.visible(token.start) if one.name.split("#")[0] == base]
    exact = [value for value in named if value.name == token.text] or named
    return exact[-1] if exact else None


def _where(text: str, offset: int) -> str:
    """The line that something is defined in; lines count from 1."""
    number = text.count("\n", 0, offset) + 1
    line = text.split("\n")[number - 1].strip()
    return f"line {number}: {line if len(line) <= 120 else line[:119] + '…'}"
