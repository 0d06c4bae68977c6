"""Name a traced program's values after the Python variables to which the code assigns them.

The bytecode has a variable's name right after the call or operator that makes its value: `pears =
slow(apples)` is a CALL followed by a STORE. Names are looked up only when the source text is
requested, not during tracing.
"""

from __future__ import annotations

import dis
import linecache
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from types import CodeType
from typing import NamedTuple

from tfrt_nb.programs.inspecting import Labels
from tfrt_runtime.diagnostics import place_of_code

_STORES = ("STORE_FAST", "STORE_NAME", "STORE_GLOBAL", "STORE_DEREF")
_BETWEEN = ("CACHE", "COPY", "NOP", "PRECALL", "EXTENDED_ARG", "MAKE_CELL")
_HELPERS = re.compile(
    r"tfrt(_test)?\.(constant|cast|captured|get_string|new|merge|value|list|tuple|dict)\b"
)
"""Matches operations that a line adds only for its operands, unless they are its last operations.
"""
_IS_NAME = re.compile(r"(?!arg\d+$)[A-Za-z_]\w*", re.ASCII)


class Site(NamedTuple):
    """Identifies the bytecode instruction in the user's code that created an operation."""

    code: CodeType
    instruction: int


class Made(NamedTuple):
    """An operation of a function: where it was created, its kernel, and its number of results."""

    site: Site | None
    kernel: str
    results: int


class Function(NamedTuple):
    """The data for finding a traced function's names: its argument names and its operations.

    `arguments` may have names for only the first arguments.
    """

    arguments: Sequence[str]
    made: Sequence[Made]


def labels(count: int, function: Function | None) -> Labels:
    """Return the names that boards show for the values and operations of a function.

    The function has `count` arguments. If `function` is None, no names are returned.
    """
    if function is None:
        return Labels([], [])
    texts = ["" if site is None else expression(site) for site in _sites(function)]
    taken: dict[str, int] = {}
    return Labels([_unique(name, taken) for name in _names(count, function, texts)], texts)


def value_names(count: int, function: Function) -> list[str]:
    """Return unique names for the registers of a function with `count` arguments.

    The name is "" if the value has no name, or if MLIR does not allow the name.
    """
    taken: dict[str, int] = {}
    found = _names(count, function, [""] * len(function.made))
    return [_unique(name, taken) if _IS_NAME.fullmatch(name) else "" for name in found]


def _names(count: int, function: Function, texts: Sequence[str]) -> list[str]:
    """Return the names of the variables to which values are assigned.

    If an operation's only result is not assigned, the operation's entry in `texts` is used.
    """
    names = [*function.arguments, *[""] * count][:count]
    for one, site, text in zip(function.made, _sites(function), texts, strict=True):
        found = (site and assigned(site)) or (text,)
        names += found if len(found) == one.results else [""] * one.results
    return names


def _sites(function: Function) -> list[Site | None]:
    """Return the instruction that created each operation, or None for a helper operation."""
    found: list[Site | None] = []
    # All operations of one instruction have equal keys.
    for _, group in groupby(
        function.made, lambda one: one.site and (id(one.site.code), one.site.instruction)
    ):
        operations = [*group]
        found += [None if _HELPERS.match(one.kernel) else one.site for one in operations[:-1]]
        found.append(operations[-1].site)
    return found


def _unique(name: str, taken: dict[str, int]) -> str:
    """Return the name, or the first unused `name_N`."""
    if not name:
        return ""
    found = name
    while found in taken:
        taken[name] += 1
        found = f"{name}_{taken[name]}"
    taken[found] = 0
    return found


def expression(site: Site) -> str:
    """Return the source text of an instruction, or "" unless it is known and on one line."""
    place = place_of_code(site.code, site.instruction)
    if place.end_column is None or place.end_line != place.line:
        return ""
    line = linecache.getline(place.source, place.line).encode()
    return line[place.column - 1 : place.end_column - 1].decode("utf-8", "replace")


def assigned(site: Site) -> tuple[str, ...]:
    """Return the variables to which an instruction's result is assigned.

    The result has several variables if the line assigns to several, and none if it assigns to none.
    """
    return _assignments(site.code).get(site.instruction, ())


@lru_cache(maxsize=256)
def _assignments(code: CodeType) -> dict[int, tuple[str, ...]]:
    """Map the offsets of instructions to the variables to which their results are assigned."""
    instructions = [one for one in dis.get_instructions(code) if one.opname not in _BETWEEN]
    found: dict[int, tuple[str, ...]] = {}
    for position, one in enumerate(instructions[:-1]):
        following = instructions[position + 1]
        count = 1
        if following.opname == "UNPACK_SEQUENCE":
            count, position = following.arg or 0, position + 1
        stored = _stored(iter(instructions[position + 1 :]), count)
        if len(stored) == count:
            # During a call to a Python function, Python 3.11 reports the offset of one of the
            # call's caches.
            found |= dict.fromkeys(range(one.offset, following.offset, 2), stored)
    return found


def _stored(instructions: Iterator[dis.Instruction], count: int) -> tuple[str, ...]:
    """Return the first `count` variables that are stored one after another, or fewer."""
    names: list[str] = []
    while len(names) < count:
        one = next(instructions, None)
        if one is None or not one.opname.startswith(_STORES):
            break
        # In Python 3.13 and later, one instruction may store two variables, or store one and load
        # another.
        values = one.argval if isinstance(one.argval, tuple) else (one.argval,)
        names += map(str, values[: one.opname.count("STORE_")])
    return tuple(names[:count])
