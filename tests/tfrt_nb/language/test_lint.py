"""Mistakes in a source that has not run."""

from __future__ import annotations

import pytest

from tfrt_nb import Program, kernel
from tfrt_nb.language.lint import lint

RIGHT = "func.func @main() -> i32 {\n  %a = tfrt.constant.i32 1\n  tfrt.return %a : i32\n}"


def test_a_right_text_and_none_have_no_mistakes() -> None:
    for text in ("", "\n\n", "// only a remark", RIGHT, RIGHT.replace("\n", "\r\n")):
        assert lint(text, "cell") == ()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("tfrt.addd.i32 %a, %a", "cell:2:8: error: there is no operation 'tfrt.addd.i32'"),
        ('"shop.unheard"() : () -> i32', "cell:2:8: error: unknown kernel: shop.unheard"),
        ("tfrt.add.i32 %b, %b", "cell:2:21: error: '%b' is not defined"),
    ],
)
def test_a_mistake_is_at_its_place(wrong: str, message: str) -> None:
    (found,) = lint(RIGHT.replace("tfrt.constant.i32 1", wrong), "cell")[:1]
    assert str(found).startswith(message)


def test_attributes_of_a_users_kernel_are_checked() -> None:
    @kernel("lint.later")
    def later(x: int, *, ms: int) -> int:
        return x

    call = 'tfrt.constant.i32 1\n  %b = "lint.later"(%a) {ATTRIBUTES} : (i32) -> i32'
    text = RIGHT.replace("tfrt.constant.i32 1", call)
    for attributes, said in (
        ("mss = 1 : i32", "'lint.later' has no attribute 'mss'; its attributes are: 'ms'"),
        ("", "'lint.later' needs an attribute 'ms'"),
        ("ms = 1.5 : f32", "attribute 'ms' of 'lint.later' is f32"),
    ):
        (found,) = lint(text.replace("ATTRIBUTES", attributes), "cell")
        assert str(found).startswith("cell:3:8: error: ") and said in found.message
    assert lint(text.replace("ATTRIBUTES", "ms = 1 : i32"), "cell") == ()


def test_functions_of_other_programs_are_known() -> None:
    text = (
        "func.func @f() -> i32 {\n  %a = tfrt.call @main() : () -> i32\n  tfrt.return %a : i32\n}"
    )
    assert len(lint(text, "cell")) == 1
    assert lint(text, "cell", {"one": Program.from_source(RIGHT)}) == ()


def test_compiled_functions_are_looked_at_without_compiling() -> None:
    text = "func.func @main() -> i64 {\n  %a = arith.constant 1 : i64\n  return %a : i32\n}"
    assert len(lint(text, "cell")) >= 1


@pytest.mark.parametrize(
    ("lines", "places"),
    [
        (
            "%b = tfrt.addd.i32 %a, %a|%c = tfrt.mul.i32 %b, %z|%d = tfrt.mull.i32 %c, %b",
            "3:8 4:25 5:8",
        ),
        ("%b = tfrt.add.i64 %a, %a|%c = tfrt.add.i32 %a {x = 1 : i32}", "3:21 4:21"),
        ("%b = tfrt.addd.i32 %a, %a|tfrt.return %b, %y : i32, i32", "3:8 4:19"),
        (
            "%b = tfrt.repeat.i32 %a, %q : i32 {|%c = tfrt.mull.i32 %a, %a|tfrt.return %c : i32|}",
            "3:28 4:8",
        ),
    ],
)
def test_a_line_that_is_wrong_hides_no_other_mistake(lines: str, places: str) -> None:
    text = RIGHT.replace("  tfrt.return", f"  {lines.replace('|', chr(10) + '  ')}\n  tfrt.return")
    found = lint(text, "cell")
    assert " ".join(f"{one.location.line}:{one.location.column}" for one in found) == places


def test_a_last_line_that_is_wrong_is_not_missed_as_the_end_of_its_block() -> None:
    found = lint(RIGHT.replace("tfrt.return", "tfrt.retrun"), "cell")
    assert [one.message for one in found] == ["there is no operation 'tfrt.retrun'"]
