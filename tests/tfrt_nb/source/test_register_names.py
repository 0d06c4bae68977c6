"""Names of registers in a table are found as those in a dictionary are."""

from __future__ import annotations

import random

import pytest

from tfrt_nb.source.plain.register_names import LONGEST, RegisterNames
from tfrt_nb.source.plain.rows import NotPlain

CHARACTERS = "abv01_.$-"


def names(count: int, longest: int, seed: int) -> list[str]:
    """So many different names, in any order."""
    random_ = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        found["%" + "".join(random_.choices(CHARACTERS, k=random_.randint(1, longest)))] = None
    return [*found]


@pytest.mark.parametrize("longest", [6, 8, 9, LONGEST, LONGEST + 1, 30])
def test_each_name_has_its_register(longest: int) -> None:
    known = RegisterNames({})
    listed = names(20_000, longest, longest)
    for first in range(0, len(listed), 1_000):
        part = listed[first : first + 1_000]
        known[part[0]] = first
        known[f"{part[0]}#0"] = first
        known.define(part[1:], first + 1)
    assert known.registers(listed).tolist() == [*range(len(listed))]
    assert [known[name] for name in listed] == [*range(len(listed))]
    assert all(name in known for name in listed)


@pytest.mark.parametrize("longest", [8, LONGEST, 30])
def test_other_names_are_not_there(longest: int) -> None:
    listed = names(4_000, longest, 1)
    known = RegisterNames({})
    known.define(listed[:2_000], 0)
    for name in listed[2_000:]:
        assert name not in known
        with pytest.raises(KeyError):
            known[name]
        with pytest.raises(NotPlain):
            known.registers([*listed[:100], name])


@pytest.mark.parametrize("longest", [8, LONGEST, 30])
@pytest.mark.parametrize("is_alone", [False, True])
def test_a_name_is_not_defined_twice(longest: int, is_alone: bool) -> None:
    listed = names(3_000, longest, 2)
    for twice in listed[0], listed[1_700], listed[-1]:
        known = RegisterNames({})
        known.define(listed[:1_500], 0)
        if is_alone:
            known |= {name: 1_500 + at for at, name in enumerate(listed[1_500:])}
            with pytest.raises(NotPlain):
                known.define(["%other", twice], 3_000)
        else:
            with pytest.raises(NotPlain):
                known.define([*listed[1_500:], twice], 1_500)


def test_names_that_begin_alike_are_not_equal() -> None:
    known = RegisterNames({})
    known.define(["%aaaaaaaa", "%aaaaaaaab", "%aaaaaaaabbbbbbbb", "%aaaaaaaabbbbbbbbc", "%a"], 0)
    with pytest.raises(NotPlain):
        known.registers(["%aaaaaaaabb"])
    assert known.registers(["%aaaaaaaab", "%a", "%aaaaaaaa"]).tolist() == [1, 4, 0]
