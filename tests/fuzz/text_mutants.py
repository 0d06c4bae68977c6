"""Mutants of program texts: tokens and lines are swapped, dropped, doubled, or take another's place.

A token is replaced by one of its own class (a name, a type, a number, an operation) most of the time, so
that many mutants are still programs.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

TOKEN = re.compile(
    r'//[^\n]*|"[^"\n]*"|!?[A-Za-z_][\w$.]*|%[\w$.#-]+|@[\w$.-]+|\^\w+|-?0x[0-9a-fA-F]+|-?[0-9][0-9.e]*|->|\n|[ \t]+|.'
)
"""Every character of a text belongs to one token."""

STRANGE = [
    *'"{}(<[*\t\0é',
    *("#x", "!y", "0x", "-", "1.", "1e9999", "9" * 40, "@", "%", "^bb0:", "loc(", "//", "\ud800"),
    *("tensor<", "dense<", "i0", "i99999999", "ui7", "f128", "affine_map<", "#corert.shape<"),
]
"""Pieces that no program has, or that begin what then does not end."""

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
    """The tokens of a text; joined they are the text."""
    return TOKEN.findall(text)


def class_of(token: str) -> str:
    """What kind of token this is: those of one class may take each other's place."""
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
    """Each function of a program with those that it names, as a program of its own.

    Such a mutant is read and compiled in a fraction of the time, and an error elsewhere does not hide it.
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
    """Whether every brace before is closed."""
    found = tokens(text)
    return found.count("{") == found.count("}")


def mutate(text: str, others: Sequence[str], chance: Chance) -> str:
    """A text with one to three changes; `others` are programs that pieces may come from."""
    for _ in range(chance.choice((1, 1, 1, 1, 2, 2, 3))):
        [change] = chance.choices(list(_CHANGES), list(_CHANGES.values()))
        changed = change(text, others, chance)
        if len(changed) < 200_000:
            text = changed
    return text


def damaged(text: str, chance: Chance) -> str:
    """A text cut off, or with tokens left out, exchanged, doubled or replaced by strange ones."""
    if chance.random() < 0.2:
        return text[: chance.randrange(len(text) + 1)]
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        change = chance.choice((_drop, _drop, _exchange, _double, _strange))
        text = change(text, (), chance)
    return text


# --- single changes: each takes the text, other texts and chance ---


def _at(text: str, chance: Chance, wanted: Callable[[str], bool]) -> tuple[list[str], int] | None:
    """The tokens of a text and the position of one that is wanted."""
    found = tokens(text)
    places = [i for i, token in enumerate(found) if wanted(token)]
    return (found, chance.choice(places)) if places else None


def _is_solid(token: str) -> bool:
    return class_of(token) != "space"


def _drop(text: str, _: Sequence[str], chance: Chance) -> str:
    if (at := _at(text, chance, _is_solid)) is None:
        return text
    found, place = at
    del found[place]
    return "".join(found)


def _double(text: str, _: Sequence[str], chance: Chance) -> str:
    if (at := _at(text, chance, _is_solid)) is None:
        return text
    found, place = at
    found[place] += " " + found[place]
    return "".join(found)


def _exchange(text: str, _: Sequence[str], chance: Chance) -> str:
    """One token is written over another one."""
    if (at := _at(text, chance, _is_solid)) is None:
        return text
    found, place = at
    found[place] = chance.choice([token for token in found if _is_solid(token)])
    return "".join(found)


def _swap(text: str, _: Sequence[str], chance: Chance) -> str:
    """Two tokens of one class change their places."""
    if (at := _at(text, chance, _is_solid)) is None:
        return text
    found, place = at
    kind = class_of(found[place])
    other = chance.choice([i for i, token in enumerate(found) if class_of(token) == kind])
    found[place], found[other] = found[other], found[place]
    return "".join(found)


def _strange(text: str, _: Sequence[str], chance: Chance) -> str:
    if (at := _at(text, chance, _is_solid)) is None:
        return text
    found, place = at
    found[place] = chance.choice(STRANGE)
    return "".join(found)


def _name(text: str, _: Sequence[str], chance: Chance) -> str:
    """A name becomes another name of the text."""
    if (at := _at(text, chance, lambda token: token[:1] in "%@^" and len(token) > 1)) is None:
        return text
    found, place = at
    first = found[place][0]
    found[place] = chance.choice([t for t in found if t[:1] == first and len(t) > 1])
    return "".join(found)


def _number(text: str, _: Sequence[str], chance: Chance) -> str:
    if (at := _at(text, chance, lambda token: class_of(token) == "number")) is None:
        return text
    found, place = at
    found[place] = chance.choice(EDGES)
    return "".join(found)


def _type(text: str, _: Sequence[str], chance: Chance) -> str:
    """A type becomes another one, at one place or everywhere."""
    if (at := _at(text, chance, lambda token: class_of(token) == "type")) is None:
        return text
    found, place = at
    old = found[place]
    here = [token for token in found if class_of(token) == "type"]
    new = chance.choice(TYPES) if chance.random() < 0.6 else chance.choice(here)
    if chance.random() < 0.5:
        return "".join(new if token == old else token for token in found)
    found[place] = new
    return "".join(found)


def _operation(text: str, others: Sequence[str], chance: Chance) -> str:
    """An operation becomes another one of this text or of another one, preferably of its dialect."""
    if (at := _at(text, chance, lambda token: class_of(token) == "operation")) is None:
        return text
    found, place = at
    source = chance.choice(others) if others and chance.random() < 0.5 else text
    names = [token for token in tokens(source) if class_of(token) == "operation"] or [found[place]]
    dialect = found[place].partition(".")[0]
    near = [name for name in names if name.partition(".")[0] == dialect]
    new = chance.choice(near if near and chance.random() < 0.8 else names)
    if chance.random() < 0.2:
        old = found[place]
        return "".join(new if token == old else token for token in found)
    found[place] = new
    return "".join(found)


def _lines(text: str, others: Sequence[str], chance: Chance) -> str:
    """Lines are dropped, doubled, swapped, moved, or come from another text."""
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
    """The beginning of one program and the end of another one, or one after the other."""
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
    """An attribute of a dictionary is left out, doubled, renamed, or gets another value or type."""
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


_CHANGES: dict[Callable[[str, Sequence[str], Chance], str], float] = {
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
"""How often each change is made."""
