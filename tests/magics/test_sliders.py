"""Controls for the arguments of a program."""

from __future__ import annotations

import pytest

from tfrt_magics.sliders import sliders
from tfrt_nb.programs import Program

TEXT = """func.func @main(%n: i32, %m: i32) -> i32 {
  %d = tfrt.minus.i32 %n, %m
  tfrt.return %d : i32
}"""


def test_results_follow_the_controls() -> None:
    box = sliders(Program.from_source(TEXT, "cell"), m=(0, 4), n=(0, 10))
    n, m = (next(one for one in box.children if one.description == name) for name in "nm")
    n.value, m.value = 7, 2
    box.update()
    assert box.result == 5


def test_other_arguments_are_refused_by_name() -> None:
    program = Program.from_source(TEXT, "cell")
    with pytest.raises(TypeError, match="@main takes n, m, not n"):
        sliders(program, n=(0, 10))
    with pytest.raises(TypeError, match="no function @other: it has main"):
        sliders(program, "other", n=1)
