"""Mutants of program sources: tokens and lines are swapped, dropped, doubled, or replaced.

A token is usually replaced by one of its own class (a name, a type, a number, an operation), which
leaves many mutants valid.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

TOKEN = re.compile(
    r'//[^\n]*|"[^"\n]*"|!?[A-Za-z_][\w$.]*|%[\w$.#-]+|@[\w$.-]+|\^\w+|-?0x[0-9a-fA-F]+|-?[0-9][0-9.e]*|->|\n|[ \t]+|.'  # noqa: E501
)
"""Every character of a source belongs to one token."""

STRANGE = [
    *'"{}(<[*\t\0é',
    *("#x", "!y", "0x", "-", "1.", "1e9999", "9" * 40, "@", "%", "^bb0:", "loc(", "//", "\ud800"),
    *("tensor<", "dense<", "i0", "i99999999", "ui7", "f128", "affine_map<", "#corert.shape<"),
]
"""Pieces that no program has, or that start something without its end."""

EDGES = [
    *("0", "1", "-1", "2", "3", "7", "16", "127", "128", "255", "256", "-128", "65536", "1000000"),
    *("2147483647", "-2147483648", "2147483648", "4294967295", "9223372036854775807"),
    *("-9223372036854775808", "18446744073709551615", "0.0", "-0.0", "1e308", "0x7FC00000"),
]
TYPES = [
    *("i1", "i8", "i16", "i32", "i64", "index", "f16", "f32", "f64", "ui8", "i0", "i128", "none"),
    *("!async.token", "!async.group", "!async.value<i64>", "!async.value<f32>", "!tfrt.chain"),
    *("memref<4xi64>", "memref<?xi64>", "memref<i64>", "memref<*xi64>", "memref<?x?xf32>"),
    *(
        "vector<4xi64>",
        "tensor<2xi32>",
        "!tfrt.tensor",
        "!tfrt.string",
        "!ts.shape",
        "!coro.handle",
    ),
    *(
        "!async.value<memref<4xi64>>",
        "!async.coro.handle",
        "memref<0xi64>",
        "memref<4xmemref<2xi8>>",
    ),
    *("memref<4xi64, strided<[2], offset: 1>>", "(i64) -> i64", "tuple<i64>", "complex<f32>"),
]
_TYPE = re.compile(r"u?i\d+|b?f\d+|index|none|![\w.]+")
_OPERATION = re.compile(r"[a-z_]+\.[\w.]+")

Chance = random.Random


def tokens(text: str) -> list[str]:
    """Return the tokens of a source; joined, they are the source."""
    return TOKEN.findall(text)


def class_of(token: str) -> str:
    """Return the class of a token: tokens of one class may replace each other."""
    first = token[:1]
    if token.isspace() or token.startswith("//"):
        return "space"
    if first in "%@^":
        return first
    if first.isdigit() or (first == "-" and token[1:2].isdigit()):
        return "number"
    if _TYPE.fullmatch(token):
        return "type"
    if _OPERATION.fullmatch(token):
        return "operation"
    if first == '"':
        return "string"
    return "word" if first.isalpha() else "punctuation"


def parts(text: str) -> list[str]:
    """Return each function of a program, with the functions that it names, as a separate program.

    A mutant of it is read and compiled in a fraction of the time, and an error elsewhere does not
    hide its own.
    """
    pieces = [""]
    for line in text.split("\n"):
        if _DEFINITION.match(line) and _is_closed(pieces[-1]):
            pieces.append("")
        pieces[-1] += line + "\n"
    names = [_SYMBOL.findall(piece) for piece in pieces[1:]]
    found: dict[str, None] = {}
    for own in names:
        wanted, pending = set(own), list(own)
        while pending:
            name = pending.pop()
            for others in names:
                if others[:1] == [name] and not wanted.issuperset(others):
                    pending += set(others) - wanted
                    wanted.update(others)
        kept = [
            p
            for p, other in zip(pieces[1:], names, strict=True)
            if other[:1] and other[0] in wanted
        ]
        found["".join(kept)] = None
    return list(found) or [text]


_DEFINITION = re.compile(r"(?:\w+\.)?(?:func|global)\b")
_SYMBOL = re.compile(r"@[\w$.-]+")


def _is_closed(text: str) -> bool:
    """Return whether every brace in the text is closed."""
    found = tokens(text)
    return found.count("{") == found.count("}")


def mutate(text: str, others: Sequence[str], chance: Chance) -> str:
    """Return a source with one to three changes; pieces may come from `others`."""
    for _ in range(chance.choice((1, 1, 1, 1, 2, 2, 3))):
        [change] = chance.choices(list(_CHANGES), list(_CHANGES.values()))
        changed = change(text, others, chance)
        if len(changed) < 200_000:
            text = changed
    return text


def damaged(text: str, chance: Chance) -> str:
    """Return a source that is cut off, or has tokens omitted, exchanged, doubled, or replaced."""
    if chance.random() < 0.2:
        return text[: chance.randrange(len(text) + 1)]
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        change = chance.choice((_drop, _drop, _exchange, _double, _strange))
        text = change(text, (), chance)
    return text


# --- single changes: each takes the text, other texts and chance ---

Change = Callable[[str, Sequence[str], Chance], str]
ChangeOfTokens = Callable[[list[str], int, Sequence[str], Chance], None]
"""A change of the tokens of a source around one of them."""


def _at(wanted: Callable[[str], bool]) -> Callable[[ChangeOfTokens], Change]:
    """Return a decorator that applies a change at a wanted token.

    A source without such a token stays unchanged.
    """

    def decorated(change: ChangeOfTokens) -> Change:
        def changed(text: str, others: Sequence[str], chance: Chance) -> str:
            found = tokens(text)
            if places := [i for i, token in enumerate(found) if wanted(token)]:
                change(found, chance.choice(places), others, chance)
            return "".join(found)

        return changed

    return decorated


def _is_solid(token: str) -> bool:
    return class_of(token) != "space"


def _is_name(token: str) -> bool:
    return token[:1] in "%@^" and len(token) > 1


def _is(kind: str) -> Callable[[str], bool]:
    return lambda token: class_of(token) == kind


@_at(_is_solid)
def _drop(found: list[str], place: int, _: Sequence[str], chance: Chance) -> None:
    del found[place]


@_at(_is_solid)
def _double(found: list[str], place: int, _: Sequence[str], chance: Chance) -> None:
    found[place] += " " + found[place]


@_at(_is_solid)
def _exchange(found: list[str], place: int, _: Sequence[str], chance: Chance) -> None:
    """Overwrite one token with another one."""
    found[place] = chance.choice([token for token in found if _is_solid(token)])


@_at(_is_solid)
def _swap(found: list[str], place: int, _: Sequence[str], chance: Chance) -> None:
    """Swap two tokens of one class."""
    kind = class_of(found[place])
    other = chance.choice([i for i, token in enumerate(found) if class_of(token) == kind])
    found[place], found[other] = found[other], found[place]


@_at(_is_solid)
def _strange(found: list[str], place: int, _: Sequence[str], chance: Chance) -> None:
    found[place] = chance.choice(STRANGE)


@_at(_is_name)
def _name(found: list[str], place: int, _: Sequence[str], chance: Chance) -> None:
    """Replace a name with another name in the source."""
    first = found[place][0]
    found[place] = chance.choice([t for t in found if _is_name(t) and t[0] == first])


@_at(_is("number"))
def _number(found: list[str], place: int, _: Sequence[str], chance: Chance) -> None:
    found[place] = chance.choice(EDGES)


@_at(_is("type"))
def _type(found: list[str], place: int, _: Sequence[str], chance: Chance) -> None:
    """Replace a type with another one, at one place or everywhere."""
    here = list(filter(_is("type"), found))
    new = chance.choice(TYPES) if chance.random() < 0.6 else chance.choice(here)
    _put(found, place, new, everywhere=chance.random() < 0.5)


@_at(_is("operation"))
def _operation(found: list[str], place: int, others: Sequence[str], chance: Chance) -> None:
    """Replace an operation with another one from any source, preferably of its dialect."""
    source = tokens(chance.choice(others)) if others and chance.random() < 0.5 else found
    names = list(filter(_is("operation"), source)) or [found[place]]
    dialect = found[place].partition(".")[0]
    near = [name for name in names if name.partition(".")[0] == dialect]
    new = chance.choice(near if near and chance.random() < 0.8 else names)
    _put(found, place, new, everywhere=chance.random() < 0.2)


def _put(found: list[str], place: int, new: str, *, everywhere: bool) -> None:
    old = found[place]
    found[place] = new
    if everywhere:
        found[:] = [new if token == old else token for token in found]


def _lines(text: str, others: Sequence[str], chance: Chance) -> str:
    """Drop, double, swap, or move lines, or take some from another source."""
    lines = text.split("\n")
    first, second = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(6 if others else 5):
        case 0:
            del lines[first]
        case 1:
            lines.insert(first, lines[first])
        case 2:
            lines[first], lines[second] = lines[second], lines[first]
        case 3:
            line = lines.pop(first)
            lines.insert(second, line)
        case 4:
            start, end = sorted((first, second))
            if end - start < 12:
                del lines[start:end]
        case _:
            given = chance.choice(others).split("\n")
            start = chance.randrange(len(given))
            lines[first:first] = given[start : start + chance.choice((1, 1, 2, 5))]
    return "\n".join(lines)


def _splice(text: str, others: Sequence[str], chance: Chance) -> str:
    """Join the start of one program and the end of another, or one after another."""
    if not others:
        return text
    other = chance.choice(others)
    if chance.random() < 0.4:
        return text + "\n" + other
    lines, given = text.split("\n"), other.split("\n")
    return "\n".join(
        lines[: chance.randrange(len(lines) + 1)] + given[chance.randrange(len(given)) :]
    )


def _attribute(text: str, _: Sequence[str], chance: Chance) -> str:
    """Omit, double, or rename an attribute of a dictionary, or give it another value or type."""
    entries = list(re.finditer(r"(\w+) = ([^,{}]+?)(?: : ([\w!.<>]+))?(?=[,}])", text))
    if not entries:
        return text
    entry = chance.choice(entries)
    name, value, type_ = entry.groups()
    match chance.randrange(6):
        case 0:
            new = ""
        case 1:
            new = f"{entry.group()}, {entry.group()}"
        case 2:
            new = f"{chance.choice(entries)[1]} = {value}" + (f" : {type_}" if type_ else "")
        case 3:
            values = (*EDGES, '"text"', "[1, 2]", "[]", "true", "@f", "i32", "unit", "dense<1>")
            new = f"{name} = {chance.choice(values)}" + (f" : {type_}" if type_ else "")
        case 4:
            new = f"{name} = {value} : {chance.choice(TYPES)}"
        case _:
            new = chance.choice((name, f"{name} = {value}"))
    return text[: entry.start()] + new + text[entry.end() :]


def _cut(text: str, _: Sequence[str], chance: Chance) -> str:
    return text[: chance.randrange(len(text) + 1)]


_CHANGES: dict[Change, float] = {
    _name: 10,
    _number: 8,
    _type: 6,
    _operation: 6,
    _lines: 8,
    _swap: 4,
    _attribute: 3,
    _drop: 3,
    _double: 2,
    _exchange: 2,
    _splice: 2,
    _strange: 1,
    _cut: 0.3,
}
"""The weight of each change."""
