"""Test that Python calls the core's entries with the right number of words."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.python_interface import BOTH, QUICK, SLOW
from tfrt_runtime.native.building import entries

ROOT = Path(__file__).parents[3]
SOURCES = [
    path for part in ("runtime", "tfrt_nb", "magics") for path in (ROOT / part).rglob("*.py")
]
ENTRIES = QUICK | SLOW


def entry_in(node: ast.AST) -> str | None:
    """Return the entry that an expression such as `process.quick.NAME` denotes.

    If it may denote one of two, both take the same words.
    """
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and part.attr in ENTRIES:
            holder = part.value
            if (holder.attr if isinstance(holder, ast.Attribute) else "") in ("quick", "slow"):
                return part.attr
    return None


def calls_of(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the entries that a module calls, each with the number of its arguments."""
    tree = ast.parse(path.read_text())
    named: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Call):
            targets = [node.targets[0]]
            values: list[ast.expr] = [node.value]
            if isinstance(targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                targets, values = targets[0].elts, node.value.elts
            for target, value in zip(targets, values, strict=False):
                if (entry := entry_in(value)) and not isinstance(value, ast.Call):
                    named[ast.unparse(target)] = entry
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and not any(isinstance(a, ast.Starred) for a in node.args):
            function = node.func
            is_direct = isinstance(function, ast.Attribute) and entry_in(function) == function.attr
            entry = function.attr if is_direct else named.get(ast.unparse(function))
            if entry is not None:
                yield entry, len(node.args)


def test_each_call_of_an_entry_has_as_many_words_as_its_function() -> None:
    functions = entries.load()
    counts = {
        name: len(inspect.signature(functions[f"{module}.{name}"]).parameters)
        for name, module in ENTRIES.items()
    }
    calls = [(path, *call) for path in SOURCES for call in calls_of(path)]

    assert len({name for _, name, _ in calls}) > 50
    assert [call for call in calls if call[2] != counts[call[1]]] == []


def test_an_entry_is_called_in_both_ways_only_where_that_is_said() -> None:
    assert QUICK.keys() & SLOW.keys() == BOTH.keys()


@pytest.mark.parametrize("name", ["value_dorp", "worker_loop"])
def test_a_name_that_is_not_called_that_way_is_an_error(name: str) -> None:
    with pytest.raises(AttributeError, match=f"the core has no entry {name} for Python"):
        getattr(native_process().quick, name)
