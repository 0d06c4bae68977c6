"""Answer questions about a place in a program.

Which names can be completed there? Which token is there? Where is it defined and used?
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from xdsl.dialects.arith import CMPF_COMPARISON_OPERATIONS, CMPI_COMPARISON_OPERATIONS

import tfrt_nb.programs  # noqa: F401 - tells the compiler which kernels users have registered
from tfrt_nb.dialects.catalog import HOST_DIALECTS, UPSTREAM_DIALECTS, similar_operations
from tfrt_nb.dialects.tables import SIGNATURES
from tfrt_nb.dialects.types import WORDS
from tfrt_nb.language.operations import NUMBERS, Entry, entry, names, signature_text
from tfrt_nb.language.scan import (
    Function,
    Scan,
    Token,
    Value,
    functions_of,
    piece_around,
    scan,
    split_types,
    tokens_of,
)
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS

MOST = 200
"""The maximum number of completions."""
_WORD = re.compile(r'"?[\w.$-]*\Z|[%@!^][\w.$#-]*\Z')
_OPERANDS = re.compile(r'(?:\A|=)\s*"?\w+\.(?:[\w.]+"?\s+|[^:{}=]*[,(]\s*)\Z')
"""Matches the part of a line before an operand."""
_TYPE = re.compile(r"!.+|[su]?i\d+|b?f\d+|complex<.+>")
_PREDICATES = {
    "i": tuple(CMPI_COMPARISON_OPERATIONS),
    "f": tuple(CMPF_COMPARISON_OPERATIONS),
}
_RETURNS = ("return", "tfrt.return", "func.return")
_KEYWORDS = {
    "func.func": "a function",
    "async.func": "a compiled function that is a coroutine",
    "return": "ends a compiled function and returns its results",
}


@dataclass(frozen=True, slots=True)
class Completion:
    """A replacement for the text from `start` to the cursor.

    `kind` is a word, such as "kernel" or "value". `type` is the type or the signature, or "".
    """

    text: str
    start: int
    kind: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of an operation.

    `parts` contains the operands, followed by the attributes. Each part is a pair of offsets in
    `label`, its start and its end. `active` is the index of the part at the cursor, or None.
    """

    label: str
    parts: tuple[tuple[int, int], ...]
    active: int | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a source: the offsets of its start and end."""

    start: int
    end: int


def complete(
    text: str, cursor: int, functions: Mapping[str, str] | None = None
) -> list[Completion]:
    """Return the completions at `cursor`, with the most likely one first.

    `functions` maps the names of other programs' functions that this program may call to their
    signatures.
    """
    cursor = max(0, min(cursor, len(text)))
    first, end = piece_around(text, cursor)
    found = _complete_in(text[first:end], cursor - first, partial(_callable, text, functions or {}))
    return [replace(one, start=first + one.start) for one in found]


def _callable(text: str, others: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    there = {**others, **{one.name: one.signature for one in functions_of(text)}}
    return ((f"@{name}", signature) for name, signature in there.items())


def _complete_in(
    text: str, cursor: int, functions: Callable[[], Iterable[tuple[str, str]]]
) -> list[Completion]:
    """Return the completions in a source that contains only one function."""
    line_start = text.rfind("\n", 0, cursor) + 1
    before = text[line_start:cursor]
    if "//" in re.sub(r'"(?:[^"\\]|\\.)*"', "", before):  # the cursor is in a comment
        return []
    found = _WORD.search(before)
    word = found[0] if found is not None else ""
    start = cursor - len(word)
    # Lines after the cursor's line cannot define names that may be used here.
    known = scan(text[:cursor] + text[cursor:].partition("\n")[0])
    head = before[: len(before) - len(word)]
    if word.startswith("%") or (not word and _OPERANDS.search(head)):
        values = [
            (value.name, value.type)
            for value in reversed(known.visible(cursor))
            if not value.start <= start < value.start + len(value.name)
        ]
        wanted = _wanted_type(known, head, start)
        # Sorting is stable, so the latest value of each type stays first.
        values.sort(key=lambda value: wanted is not None and value[1] != wanted)
        return _fitting("value", values, word, start)
    if word.startswith("@"):
        return _fitting("function", functions(), word, start)
    if word.startswith("!"):
        types = [str(type_) for type_ in WORDS.values() if str(type_).startswith("!")]
        types += ["!async.token", "!async.value<", "!async.group"]
        return _fitting("type", types, word, start)
    if word.startswith('"'):
        return _operations(known, word[1:], start + 1) if _is_at_operation(head) else []
    if (operation := _open_attributes(known, text, start)) is not None:
        return _fitting("attribute", operation.attributes.items(), word, start)
    if _is_at_operation(head):
        return _operations(known, word, start)
    if (compared := re.search(r"\barith\.cmp([if])\s+\Z", head)) is not None:
        return _fitting("predicate", _PREDICATES[compared[1]], word, start)
    if re.search(r"(:|->)\s*\Z" if not word else r"(:|->|[(,<x])\s*\Z", head):
        types = [one for one in WORDS if re.match(r"[a-z]+\d+\Z", one)]
        return _fitting("type", types, word, start)
    return []


def explain(text: str, cursor: int) -> str | None:
    """Describe the token at `cursor`, or return None if there is nothing to say."""
    known, token, first = _look(text, cursor)
    if token is None or token.kind == "comment":
        return None
    if token.kind == "value":
        value = _value_at(known, token)
        if value is None:
            return f"{token.text} is not defined here"
        return (
            f"{value.name}: {value.type or 'unknown type'}\n\n{_where(text, first + value.start)}"
        )
    if token.kind == "symbol":
        one = _function_at(text, token)
        return None if one is None else f"@{one.name}  {one.signature}\n\n{_where(text, one.start)}"
    name = token.text.strip('"')
    if token.kind == "word" and "=" in known.text[token.end : token.end + 3]:
        operation = _open_attributes(known, known.text, token.start)
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


def signature(text: str, cursor: int) -> Signature | None:
    """Return the signature of the operation at `cursor`, or of the function that it calls."""
    known, _, first = _look(text, cursor)
    statement = known.statement_at(cursor - first)
    written = "" if statement is None else known.text[statement.operation : cursor - first]
    if statement is None or not re.match(r'[\w.]+"?[\s(]', written):
        return None
    callee = re.search(r"call (@[\w.$-]+)\(", written)
    named = [one for one in functions_of(text) if callee and callee[1] == f"@{one.name}"]
    found = Entry(f"@{named[0].name}", named[0].signature) if named else entry(statement.name)
    if statement.name in _RETURNS and known.functions:
        found = Entry(statement.name, f"({', '.join(returned(known))}) -> ()")
    if found is None or not found.signature:
        return None
    operands, brace, inside = written.partition("{")
    types = split_types(found.signature.partition(" -> ")[0].removeprefix("(").removesuffix(")"))
    names = [*types, *found.attributes]
    parts, at = list[tuple[int, int]](), len(found.name)
    for part in (*types, *(f"{name}: {type_}" for name, type_ in found.attributes.items())):
        # Types repeat, so each search starts after the previous part.
        at = found.line.index(part, at)
        parts.append((at, at + len(part)))
        at += len(part)
    place = operands.count(",")
    if brace:
        given = [one for one in re.findall(r"([\w.$]+)\s*=", inside) if one in names]
        place = names.index(given[-1]) if given else len(types)
    elif place >= len(types):
        place = len(types) - 1 if types[-1:] and types[-1].endswith("...") else -1
    # After a colon, the cursor is among the types.
    is_one = 0 <= place < len(names) and ":" not in operands
    return Signature(found.line, tuple(parts), place if is_one else None, found.text)


def definition(text: str, cursor: int) -> Place | None:
    """Return the place at which the source defines the name at `cursor`, or None."""
    known, token, first = _look(text, cursor)
    if token is None:
        return None
    name = token.text.partition("#")[0]
    if token.kind != "value":
        function = _function_at(text, token)
        return None if function is None else Place(function.start, function.start + len(name))
    value = _value_at(known, token)
    return None if value is None else Place(first + value.start, first + value.start + len(name))


def references(text: str, cursor: int) -> list[Place]:
    """Return all places, in order, that name the value or function at `cursor`.

    The definition is included. The list is empty if the source does not define the name.
    """
    known, token, first = _look(text, cursor)
    if token is None:
        return []
    if token.kind != "value":
        if _function_at(text, token) is None:
            return []
        alike = (one for one in tokens_of(text) if one.text == token.text)
        return [Place(one.start, one.end) for one in alike if one.kind == "symbol"]
    if (value := _value_at(known, token)) is None:
        return []
    name = token.text.partition("#")[0]
    return [
        Place(first + one.start, first + one.start + len(name))
        for one in known.tokens
        if one.kind == "value"
        and one.text.partition("#")[0] == name
        and (own := _value_at(known, one)) is not None
        and own.start == value.start
    ]


def rename(text: str, cursor: int, name: str) -> tuple[str, list[Place]]:
    """Return a new spelling for the name at `cursor`, and the places at which to write it.

    The spelling includes the name's `%` or `@`.

    Raises:
        ValueError: if the cursor is not at a name that the source defines, or if `name` is taken or
            invalid.
    """
    places = references(text, cursor)
    if not places:
        raise ValueError("the cursor is not at a value or a function that is defined here")
    sign = text[places[0].start]
    spelling = sign + name.removeprefix(sign)
    if not re.fullmatch(r"%(?:\d+|[A-Za-z_$.-][\w$.-]*)|@[A-Za-z_][\w$.-]*", spelling, re.ASCII):
        raise ValueError(f"{name!r} is not a name: write letters, digits, and _, as in {sign}sum_2")
    known, token, first = _look(text, cursor)
    taken = functions_of(text) if sign == "@" else [*known.values]
    for one in taken:
        other = f"@{one.name}" if isinstance(one, Function) else one.name.partition("#")[0]
        if other == spelling and token is not None and token.text.partition("#")[0] != spelling:
            start = one.start + (0 if isinstance(one, Function) else first)
            raise ValueError(f"{spelling} is already defined: {_where(text, start)}")
    return spelling, places


def _look(text: str, cursor: int) -> tuple[Scan, Token | None, int]:
    """Return the scanned function around `cursor`, the token there, and the function's offset."""
    first, end = piece_around(text, cursor)
    known = scan(text[first:end])
    return known, known.token_at(cursor - first), first


def _is_at_operation(head: str) -> bool:
    """Return whether an operation's name may follow this part of a line."""
    return re.search(r"(\A|=|\{|\})\s*\Z", head) is not None and not re.search(
        r"\{[^{}]*=\s*\Z", head
    )


def _open_attributes(known: Scan, text: str, offset: int) -> Entry | None:
    """Return the operation whose attributes are being written at `offset`, or None."""
    statement = known.statement_at(offset - 1)
    if statement is None:
        return None
    # Braces in strings do not count; blanks keep the offsets.
    part = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: " " * len(m[0]), text[statement.start : offset])
    opened = part.rfind("{")
    if opened < 0 or "}" in part[opened:] or re.search(r"(\{|,)\s*\Z", part) is None:
        return None
    found = entry(statement.name)
    return found if found is not None and found.attributes else None


def _operations(known: Scan, word: str, start: int) -> list[Completion]:
    found = names(word)
    keywords: list[Completion] = []
    dialects: list[Completion] = []
    if "." not in word:
        offered = {f"{one}." for one in (*HOST_DIALECTS, *UPSTREAM_DIALECTS) if one != "builtin"}
        if len(word) < 2 or not found:
            dialects = _fitting("dialect", sorted(offered), word, start)
        # An author who types `add` may mean `tfrt.add.i32` or another operation of its family.
        if len(word) > 1 and not found:
            found = [name for name in names() if f".{word}" in name]
        keywords = _fitting("keyword", _KEYWORDS.items(), word, start) if word else []
        found = found if word else []
    types = [value.type for value in reversed(known.visible(start))]
    ranked = sorted(found, key=partial(_rank, types))[:MOST]
    return [*keywords, *(_completion(name, start) for name in ranked), *dialects]


def _rank(types: Sequence[str], name: str) -> tuple[int, str, bool, int, str]:
    """Return the sort key of an operation.

    Operations whose operands can be values of `types` come first, in the order of `types` (latest
    value first). A plain name comes before a name with a suffix (`add` before `add_s`).
    """
    operands = [one.removesuffix("...") for one in _operand_types(name)]
    needed = [one for one in operands if one != "!tfrt.chain"]
    # Signatures of upstream dialects have operand names instead of types. Control flow has no
    # signature.
    is_known = all(_TYPE.fullmatch(one) for one in needed) and (operands or name in SIGNATURES)
    fits = all(one in types for one in needed)
    stem, _, suffix = name.partition(".")[2].partition(".")[0].partition("_")
    own = needed or split_types(signature_text(name).rpartition("-> ")[2].strip("()"))
    latest = min((types.index(one) for one in own if one in types), default=len(types))
    order = 2 if not is_known else 3 if not fits else 0 if needed else 1
    return order, stem, bool(suffix), latest, name


def _operand_types(name: str) -> list[str]:
    """Return the operand types in an operation's signature."""
    operands = signature_text(name).partition(" -> ")[0].removeprefix("(").removesuffix(")")
    return [NUMBERS.get(one, one) for one in split_types(operands)]


def _wanted_type(known: Scan, head: str, offset: int) -> str | None:
    """Return the type of the operand that is being written at `offset`, or None if unknown."""
    statement = known.statement_at(offset)
    if statement is None:
        return None
    is_end = statement.name in _RETURNS and known.functions
    types = returned(known) if is_end else _operand_types(statement.name)
    place = head.rpartition(statement.name)[2].count(",")
    return types[place] if place < len(types) else None


def returned(known: Scan) -> list[str]:
    """Return the types that the function returns."""
    return split_types(known.functions[-1].signature.rpartition("-> ")[2].strip("()"))


def _completion(name: str, start: int) -> Completion:
    is_kernel = name in SIGNATURES or name in USER_FUNCTIONS
    return Completion(name, start, "kernel" if is_kernel else "operation", signature_text(name))


def _fitting(
    kind: str, offered: Iterable[str | tuple[str, str]], word: str, start: int
) -> list[Completion]:
    pairs = ((one, "") if isinstance(one, str) else one for one in offered)
    return [Completion(text, start, kind, type_) for text, type_ in pairs if text.startswith(word)]


def _function_at(text: str, token: Token) -> Function | None:
    """Return the function that a symbol names, or None."""
    return next((one for one in functions_of(text) if f"@{one.name}" == token.text), None)


def _value_at(known: Scan, token: Token) -> Value | None:
    """Return the value that a use or a definition refers to, or None."""
    base = token.text.split("#")[0]
    for value in known.values:
        if value.start == token.start:
            return value
    named = [one for one in known.visible(token.start) if one.name.split("#")[0] == base]
    exact = [value for value in named if value.name == token.text] or named
    return exact[-1] if exact else None


def _where(text: str, offset: int) -> str:
    """Return the line number of a definition, starting at 1, and the line's text."""
    number = text.count("\n", 0, offset) + 1
    line = text.split("\n")[number - 1].strip()
    return f"line {number}: {line if len(line) <= 120 else line[:119] + '…'}"
