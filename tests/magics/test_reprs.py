"""Test what a notebook shows of runs and values that Python created."""

from __future__ import annotations

import re

import tfrt_nb as tfrt

SLOW = 60
SHARE = """func.func @main(%a: i32, %b: i32) -> (i32, i32) {
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %q, %r : i32, i32
}"""


def cells(html: str) -> list[str]:
    """Return the texts in the table and around it."""
    return [text.strip() for text in re.split(r"<[^>]*>", html) if text.strip()]


def test_a_run_is_a_static_board() -> None:
    run = tfrt.Program(SHARE).run(4, 0)
    assert run.wait(SLOW)

    shown = cells(run._repr_html_())
    assert "@main: failed, 2 of 2 values" in shown
    assert shown[shown.index("result 0") - 1 : shown.index("result 0") + 3] == [
        "error",
        "result 0",
        "Divide by zero",
        "i32",
    ]
    assert shown[-1] == "&lt;program&gt;:2:12: error: Divide by zero"


def test_a_cancelled_run_says_why() -> None:
    never = tfrt.unavailable()  # keep it, because a value that is dropped unresolved is an error
    run = tfrt.Program(SHARE).run(4, never)
    run.cancel("out of <milk>")
    assert run.wait(SLOW)

    shown = cells(run._repr_html_())
    assert "@main: cancelled, 0 of 2 values" in shown
    assert "out of &lt;milk&gt;" in shown


def test_a_value_is_a_chip() -> None:
    value = tfrt.unavailable()
    assert cells(value._repr_html_()) == ["○", "value", "unavailable"]
    value.set_result([1])
    assert cells(value._repr_html_()) == ["●", "value", "= [1]"]


def test_a_board_of_a_run_is_small_whatever_the_run_says_and_prints() -> None:
    @tfrt.kernel("reprs.loud")
    def loud(x: int) -> int:
        raise ValueError("a<b>\u202e\n" * 200_000)

    text = "<i>" * 200_000
    program = tfrt.Program(f"""func.func @main(%x: i32) -> i32 {{
  %c = tfrt.new.chain
  %s = tfrt_test.get_string {{value = "{text}"}}
  %d = "tfrt_test.print_string"(%s, %c) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  %y = "reprs.loud"(%x) : (i32) -> i32
  tfrt.return %y : i32
}}""")
    run = program.run(1)
    assert run.wait(SLOW)

    shown = run._repr_html_()
    assert len(shown) < 2_000_000
    assert "more characters" in shown
    assert "<b>\u202e" not in shown
