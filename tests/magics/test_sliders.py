"""Test controls for the arguments of a program."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from ipywidgets import interact

import tfrt_nb as tfrt
from tfrt_magics.live.widgets import FEED, ValuesWidget
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


@pytest.fixture
def gates() -> Any:
    """Events that a run waits for, one for each argument."""
    return {n: threading.Event() for n in range(10)}


@pytest.fixture
def gated(gates: Any) -> Any:
    """A traced program whose run waits for its argument's event."""

    @tfrt.kernel(blocking=True)
    def through(n: int) -> int:
        gates[n].wait(30)
        return 100 + n

    @tfrt.program
    def slow(n: tfrt.i32) -> tfrt.i32:
        return through(n)

    yield slow
    for gate in gates.values():
        gate.set()


def shown(box: Any) -> ValuesWidget:
    return next(one for one in box.children if isinstance(one, ValuesWidget))


def test_a_move_cancels_the_run_before_and_keeps_the_kernel_free(gated: Any, gates: Any) -> None:
    box = sliders(gated, n=(0, 9))
    assert shown(box).rows == [{"name": "result", "state": "unavailable", "type": "i32"}]
    box.children[0].value = 7
    box.children[0].value = 8
    gates[8].set()
    assert shown(box).over.wait(30)
    assert shown(box).value == box.result == 108
    gates[7].set()
    FEED.drain(30)
    assert shown(box).value == 108


def test_a_failure_is_shown_in_place_of_the_result() -> None:
    text = """func.func @main(%n: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %ratio, %rest = tfrt.div.i32 %one, %n
  tfrt.return %ratio : i32
}"""
    box = sliders(Program.from_source(text, "cell"), n=(0, 1))
    box.children[0].value = 0
    assert shown(box).over.wait(30)
    assert (shown(box).state, "zero" in shown(box).error) == ("error", True)


def test_interact_on_a_traced_function_cancels_the_run_before(gated: Any, gates: Any) -> None:
    with pytest.raises(AttributeError, match="has no widget"):
        _ = gated.widget
    interact(gated, n=(0, 9))
    first = gated.widget.result
    assert not first.done()
    gated.widget.children[0].value = 8
    assert first.results[0].cancelled()
    assert "another value was chosen" in str(first.results[0].exception())
    gates[8].set()
    assert gated.widget.result.result() == 108
