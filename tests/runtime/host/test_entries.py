"""The entries that Python declares are those of the core."""

from __future__ import annotations

import inspect
from typing import get_args, get_type_hints

import pytest

from tfrt_runtime.host.entries import MODULES, Quick, Slow
from tfrt_runtime.host.process import native_process
from tfrt_runtime.native.building import entries

DECLARED = [
    (kind, name, hint) for kind in (Quick, Slow) for name, hint in get_type_hints(kind).items()
]


@pytest.mark.parametrize(("kind", "name", "hint"), DECLARED)
def test_an_entry_takes_as_many_words_as_its_function(kind: type, name: str, hint: object) -> None:
    function = inspect.signature(entries.load()[f"{MODULES[name]}.{name}"])

    words, _ = get_args(hint)
    assert len(words) == len(function.parameters)


def test_every_entry_is_declared_once() -> None:
    assert {name for _, name, _ in DECLARED} == MODULES.keys()


def test_a_name_that_the_core_does_not_have_is_an_error() -> None:
    with pytest.raises(AttributeError, match="the core has no entry value_dorp for Python"):
        getattr(native_process().quick, "value_dorp")  # noqa: B009 - mypy refuses the name
