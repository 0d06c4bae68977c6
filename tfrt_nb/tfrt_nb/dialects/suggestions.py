"""What the author of a host program may have meant: names from elsewhere, misspelt ones, and MLIR's operations."""

from __future__ import annotations

import difflib
import itertools
import re
from collections import defaultdict
from collections.abc import Collection, Iterator

from tfrt_runtime.scalars import FAMILIES, Family


def _words(family: Family) -> tuple[str, ...]:
    return (*family.aliases, *family.numpy, *family.arith)


_OTHERS = {
    "const": ("constant",),
    "constant": ("constant",),
    "for": ("repeat",),
    "println": ("print",),
} | {
    alias: tuple(family.name for family in FAMILIES if alias in _words(family))
    for alias in itertools.chain.from_iterable(map(_words, FAMILIES))
}
"""Other names of `tfrt.*`; the type decides whether a product is `mul` or `multiply`."""

_NAME = re.compile(
    r"(?P<dialect>\w+)\.(?P<stem>.+?)"
    r"(?:\.(?P<type>(?:u?i|bf|f|complex|u?int|float)\d\w*(?:\.\w+)?|int|float|double|bool|str))?"
)
_MEANT = {None: "i32", "int": "i32", "float": "f32", "double": "f64", "bool": "i1"}
"""The types of other languages."""
_LIKENESS = 0.7


def similar(name: str, known: Collection[str]) -> list[str]:
    """Names of `known` that `name` may be meant to be, the likeliest first.

    What is like it has a dialect and, without the type, a name that are: a type is a few letters
    that many names share.  The type decides between them; without one it is `i32`.  The kernels of
    sync functions come last: their names differ from others by an `_s` only.
    """
    dialects = {one.partition(".")[0] for one in known}
    written = name if name.partition(".")[0] in dialects else _in_a_dialect(name, dialects)
    match = _NAME.fullmatch(written)
    if match is None:
        return []
    names = defaultdict[str, list[str]](list)
    for one, stem in _stems(match["dialect"], sorted(known)):
        names[stem].append(one)
    near = difflib.get_close_matches(match["stem"], names, n=3, cutoff=_LIKENESS)
    near += [one for one in names if not near and one.startswith(f"{match['stem']}_")]
    wanted = _MEANT.get(match["type"], match["type"])

    def unlikeliness(found: tuple[float, str]) -> tuple[bool, float, bool, float, str]:
        likeness, one = found
        type_text = _type_of(one)
        types_likeness = difflib.SequenceMatcher(None, wanted, type_text).ratio()
        return "_s." in one, -likeness, type_text[:1] != wanted[0], -types_likeness, one

    found = [
        (difflib.SequenceMatcher(None, match["stem"], stem).ratio(), one)
        for stem in near
        for one in names[stem]
    ]
    return list(dict.fromkeys(one for _, one in sorted(found, key=unlikeliness) if one != name))


def _type_of(name: str) -> str:
    match = _NAME.fullmatch(name)
    return match["type"] or "" if match else ""


def _in_a_dialect(name: str, dialects: Collection[str]) -> str:
    """The name with the dialect that it may be meant to have; without one it has `tfrt`."""
    dialect, _, rest = name.partition(".")
    near = difflib.get_close_matches(dialect, dialects, n=1, cutoff=_LIKENESS)
    return f"{near[0]}.{rest}" if near else f"tfrt.{name}"


def _stems(dialect: str, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """The names of a dialect, with all that each is called without its dialect and its type."""
    others = defaultdict[str, list[str]](list)
    for other, meanings in _OTHERS.items():
        for meaning in meanings:
            others[meaning].append(other)
    for one in known:
        match = _NAME.fullmatch(one)
        if match is not None and match["dialect"] == dialect:
            yield one, match["stem"]
            for other in others[match["stem"]] if dialect == "tfrt" else ():
                yield one, other


def in_host_programs(name: str, type_text: str, known: Collection[str]) -> str | None:
    """The kernel that does what an operation of MLIR's dialects does with values of a type."""
    dialect, _, rest = name.partition(".")
    if dialect != "arith" or rest not in _OTHERS:
        return "tfrt.call" if name == "func.call" else None
    found = f"tfrt.{_OTHERS[rest][0]}.{type_text}"
    return found if found in known and re.fullmatch(r"\w+", type_text) else None
