"""Test Python's names for a program's values: in its text, its graph, and messages."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from IPython.core.compilerop import CachingCompiler

import tfrt_nb as tfrt
from tfrt_nb.convert.rows import CHAIN_TEXT
from tfrt_nb.dialects.types import CHAIN
from tfrt_nb.documents.program import ProgramDocument
from tfrt_runtime.diagnostics import Location, line_of

SLOW = 60


@tfrt.kernel("names.half")
def half(x: int) -> int:
    return x // 2


@tfrt.kernel("names.both")
def both(x: int) -> tuple[int, int]:
    return x, x + 1


def named(program: Any) -> list[str]:
    """Return the named values of a program's source in order, from the main function only."""
    main = program.mlir.rpartition("func.func @")[2]
    return re.findall(r"%([A-Za-z_]\w*)(?=[,\w %]* = )", main)


def test_values_have_the_names_of_the_variables_that_they_are_assigned_to() -> None:
    @tfrt.program
    def order(apples: tfrt.i64, people: tfrt.i64):  # type: ignore[no-untyped-def]
        pears = half(apples)
        share, rest = divmod(pears, people)
        low, high = both(share)
        total = low + high + 5
        return half(total), rest

    assert named(order) == ["pears", "share", "rest", "low", "high", "total"]
    assert order(8, 2).result(SLOW) == (5, 0)


def test_a_variable_that_is_assigned_again_has_a_number() -> None:
    @tfrt.program
    def thrice(x: tfrt.i64):  # type: ignore[no-untyped-def]
        for _ in range(2):
            x = half(x)
        x_1 = half(x)
        return x_1

    names = named(thrice)
    assert len(set(names)) == 3
    assert names[:2] == ["x_1", "x_2"]
    assert tfrt.Program(thrice.mlir).run(16).result(SLOW) == 2


def test_bodies_and_called_programs_have_the_names_of_their_parameters() -> None:
    @tfrt.program
    def inner(pieces: tfrt.i64):  # type: ignore[no-untyped-def]
        return half(pieces)

    @tfrt.program
    def outer(x: tfrt.i64):  # type: ignore[no-untyped-def]
        return tfrt.repeat(2, lambda rest: half(rest), inner(x))

    assert "@inner(%pieces: i64)" in outer.mlir
    assert "@outer.repeat(%rest: i64)" in outer.mlir


def test_the_graph_shows_names_and_no_places() -> None:
    @tfrt.program
    def order(apples: tfrt.i64):  # type: ignore[no-untyped-def]
        pears = half(apples)
        return half(pears)

    dot = order.graph().dot
    assert "pears = half(apples)" in dot
    assert "loc(" not in dot
    assert __file__ not in dot


def test_a_message_names_an_argument_of_a_kernel_by_its_variable() -> None:
    @tfrt.program
    def order(apples: tfrt.i64):  # type: ignore[no-untyped-def]
        return half(apples)

    with pytest.raises(tfrt.TfrtError, match=r"argument 1 \(%apples\) of @order"):
        order("three")


def test_a_place_in_a_cell_is_named_as_the_notebook_names_it(monkeypatch: Any) -> None:
    class Shell:
        compile = CachingCompiler()

    source = Shell.compile.cache("1 / 0", number=2)
    monkeypatch.setattr("IPython.get_ipython", Shell)

    assert line_of(source, 9) == "Cell In[2], line 9"
    assert str(Location(source, 9, 5)) == "Cell In[2], line 9"
    assert str(Location("shop.mlir", 9, 5)) == "shop.mlir:9:5"
    assert line_of("shop.py", 9) == "shop.py:9"


def test_a_traced_program_runs_without_the_ir() -> None:
    code = """
import sys
import tfrt_nb as tfrt

@tfrt.kernel
def half(x: int) -> int:
    return x // 2

@tfrt.program
def order(apples: tfrt.i64):
    return half(apples) + 1

assert order(4).result(60) == 3
print([name for name in ("xdsl", "numpy", "numba", "llvmlite") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_the_word_for_a_chain_is_that_of_the_dialect() -> None:
    assert CHAIN_TEXT == str(CHAIN)


def test_a_board_has_names_and_expressions_for_what_a_line_makes() -> None:
    @tfrt.program
    def order(apples: tfrt.i64):  # type: ignore[no-untyped-def]
        pears = half(apples)
        return half(pears) * 2 + pears

    rows = ProgramDocument(order.trace()).data
    assert [one["name"] for one in rows["values"]] == [
        *("apples", "pears", "half(pears)", "", "half(pears) * 2", "half(pears) * 2 + pears"),
    ]
    assert [one["text"] for one in rows["operations"]] == [
        *("pears = half(apples)", "half(pears)", "tfrt.constant.i64"),
        *("half(pears) * 2", "half(pears) * 2 + pears"),
    ]
