"""The entries that Python declares are those of the core."""

from __future__ import annotations

import inspect

import pytest

from tfrt_runtime.host.entries import MODULES, Quick, Slow
from tfrt_runtime.host.process import native_process
from tfrt_runtime.native.building import entries

DECLARED = [
    (kind, name) for kind in (Quick, Slow) for name in dir(kind) if not name.startswith("_")
]


@pytest.mark.parametrize(("kind", "name"), DECLARED)
def test_an_entry_has_the_words_and_the_result_of_its_function(kind: type, name: str) -> None:
    declared = inspect.signature(getattr(kind, name))
    function = inspect.signature(entries.load()[f"{MODULES[name]}.{name}"])

    # The core marks words that it does not read by an underscore.
    words = ["self", *(word.lstrip("_") for word in function.parameters)]
    assert list(declared.parameters) == words
    assert (declared.return_annotation == "None") == (function.return_annotation == "None")


def test_a_name_that_the_core_does_not_have_is_an_error() -> None:
    with pytest.raises(AttributeError, match="the core has no entry value_dorp for Python"):
        getattr(native_process().quick, "value_dorp")  # noqa: B009 - mypy refuses the name
