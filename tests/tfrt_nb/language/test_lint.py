"""Test messages about mistakes in a source that has not run."""

from __future__ import annotations

import sys

import pytest

from tfrt_nb import Program, kernel
from tfrt_nb.language.lint import LONG, _lint, fixes, lint

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


FUNCTION = """// Doubles, AT times.
func.func @fAT(%n: i32) -> i32 {
  %two = tfrt.constant.i32 2
  %m = tfrt.mul.i32 %n, %two
  %r = tfrt.call @fNEXT(%m) : (i32) -> (i32)
  tfrt.return %r : i32
}
"""
LAST = "func.func @f99(%n: i32) -> i32 {\n  tfrt.return %n : i32\n}\n"


def long_source() -> str:
    """Return a source with functions in groups of three, each of which calls the next one."""
    parts = []
    for at in range(99):
        following = "99" if at % 3 == 2 else str(at + 1)
        parts.append(FUNCTION.replace("AT", str(at)).replace("NEXT", following))
    return "".join(parts) + LAST


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("", ""),
        ("%n, %two\n  %r = tfrt.call @f52", "%n, %tow\n  %r = tfrt.call @f52"),
        ("@f52(%m)", "@f500(%m)"),
        ("@f52(%m) : (i32)", "@f52(%m) : (i64)"),
        ("func.func @f52(%n: i32)", "func.func @f52(%n: i64)"),
        ("@f50(%n: i32) -> i32 {", "@f50(%n: i32) -> i32 "),
        ("func.func @f50(", "func.func @f51("),
        ("func.func @f50(", "func.func f50("),
        ("// Doubles, 50", '"memref.global"() {sym_name = "x"} : () -> ()\n// Doubles, 50'),
    ],
)
def test_a_long_source_has_the_mistakes_of_its_functions(right: str, wrong: str) -> None:
    source = long_source()
    text = source.replace(right, wrong, 1) if right else source
    assert len(text) > LONG and source.count(right) == 1 or not right
    places = [one.location for one in lint(text, "x")]
    whole = [one.location for one in _lint(text, "x")]
    assert bool(places) == bool(whole) == bool(right)
    assert {place.line for place in places} >= {place.line for place in whole}


def test_a_missing_brace_is_missing_in_its_own_function_only() -> None:
    source = long_source()
    before, after = source.split("}\n// Doubles, 51")
    (found,) = lint(f"{before}// Doubles, 51{after}", "x")
    assert found.message == "a '}' is missing here"
    assert found.location.line == before.count("\n") + 2
    assert found.notes[-1].location.line == before.count("\n", 0, before.index("@f50(%n")) + 1


def test_only_a_function_that_changed_is_looked_at_again(monkeypatch) -> None:
    looked = []
    module = sys.modules[lint.__module__]
    monkeypatch.setattr(module, "_lint", lambda *given: looked.append(given[0]) or _lint(*given))
    source = long_source()
    lint(source, "again")
    looked.clear()
    # A line above all functions moves them; only one function and its caller have changed.
    changed = source.replace("%n, %two\n  %r = tfrt.call @f53", "%n, %n\n  %r = tfrt.call @f53")
    assert lint("// one more line\n" + changed, "again") == ()
    own = [text.rpartition("func.func ")[2].partition("(")[0] for text in looked]
    assert own == [
        "@f0",
        "@f51",
        "@f52",
    ]  # the one with the new comment, the caller, and the changed function


def fixed(line: str) -> list[str]:
    """Return the line after each of the fixes."""
    text = f"func.func @main(%n: i32) -> i32 {{\n  %six = tfrt.constant.i32 6\n  {line}\n"
    text += "}" if "return" in line else "  tfrt.return %six : i32\n}"
    pairs = [pair for one in lint(text, "x") for pair in fixes(text, one)]
    whole = [text[: at.start] + new + text[at.end :] for at, new in pairs]
    return [one.split("\n")[2].strip() for one in whole]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("%a = tfrt.addd.i32 %n, %n", ["%a = tfrt.add.i32 %n, %n"]),
        (
            '%a = "tfrt.add.i33"(%n, %n) : (i32, i32) -> i32',
            ['%a = "tfrt.add.i32"(%n, %n) : (i32, i32) -> i32'],
        ),
        (
            "%a = tfrt.call @mian(%n) : (i32) -> (i32)",
            ["%a = tfrt.call @main(%n) : (i32) -> (i32)"],
        ),
        ("tfrt.return %sxi : i32", ["tfrt.return %six : i32"]),
        ("tfrt.return %six", ["tfrt.return %six : i32"]),
        ("tfrt.return six : i32", ["tfrt.return %six : i32"]),
        ("tfrt.return %six : i64", ["tfrt.return %six : i32"]),
        ("tfrt.return %six : int", ["tfrt.return %six : i32"]),
        ("tfrt.return %six, %n : i64, i64", []),  # it is not known which of the two is wrong
        ("%a = tfrt.add.i32 %n, 6", ["%x = tfrt.constant.i32 6"]),  # and, below it, `%n, %x`
    ],
)
def test_a_note_that_says_what_to_write_has_a_fix(line: str, wanted: list[str]) -> None:
    assert fixed(line)[:1] == wanted


HEAD = "func.func @main(%n: i32) -> i32 {\n  %six = tfrt.constant.i32 6\n"
END = "  tfrt.return %six : i32\n}"


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        (f"{HEAD}}}", f"{HEAD}{END}"),
        ("func.func @f() {\n}", "func.func @f() {\n  tfrt.return\n}"),
        (f"{HEAD}{END[:-2]}", f"{HEAD}{END}"),
        (
            f"// {{\n{HEAD}{END[:-1]}\nfunc.func @g() {{\n  tfrt.return\n}}",
            f"// {{\n{HEAD}{END}\n\nfunc.func @g() {{\n  tfrt.return\n}}",
        ),
        (
            (
                f"{HEAD}  %a = tfrt.repeat.i32 %n, %six : i32 "
                f"{{\n    %b = tfrt.add.i32 %six, %six\n  }}\n{END}"
            ),
            (
                f"{HEAD}  %a = tfrt.repeat.i32 %n, %six : i32 "
                f"{{\n    %b = tfrt.add.i32 %six, %six\n"
                f"    tfrt.return %b : i32\n  }}\n{END}"
            ),
        ),
        (
            f"{HEAD}  %a = tfrt.repeat.i32 %n, %six : i32 {{\n    tfrt.return %six : i32\n{END}",
            (
                f"{HEAD}  %a = tfrt.repeat.i32 %n, %six : i32 "
                f"{{\n    tfrt.return %six : i32\n  }}\n{END}"
            ),
        ),
        (
            (
                "func.func @main(%n: i32) -> i32 {\n  %t, %v = async.execute -> "
                "!async.value<i32> {\n"
                "    %c = arith.constant 1 : i32\n  }\n  return %n : i32\n}"
            ),
            (
                "func.func @main(%n: i32) -> i32 {\n  %t, %v = async.execute -> "
                "!async.value<i32> {\n"
                "    %c = arith.constant 1 : i32\n    async.yield %c : i32\n  }\n  return %n : "
                "i32\n}"
            ),
        ),
        (f"{HEAD.replace(' {', '')}{END}", f"{HEAD}{END}"),
        (f"{HEAD}{END}\n}}", f"{HEAD}{END}\n"),
        (f"{HEAD}  return %six : i32\n}}", f"{HEAD}{END}"),
        (
            f"{HEAD}  %a = tfrt.add.i32 %n %six\n{END}",
            f"{HEAD}  %a = tfrt.add.i32 %n, %six\n{END}",
        ),
        (
            f"{HEAD}  %a = tfrt.add.i32 %n, 2\n{END}",
            f"{HEAD}  %x = tfrt.constant.i32 2\n  %a = tfrt.add.i32 %n, %x\n{END}",
        ),
        (f"{HEAD}  %a tfrt.add.i32 %n, %n\n{END}", f"{HEAD}  %a = tfrt.add.i32 %n, %n\n{END}"),
        (
            f"{HEAD}  %a = demo.wait.i32 %n {{seconds = 1}}\n{END}",
            f"{HEAD}  %a = demo.wait.i32 %n {{seconds = 1.0}}\n{END}",
        ),
        (
            f"{HEAD}  %a = demo.wait.i32 %n {{seconds = 1.0\n{END}",
            f"{HEAD}  %a = demo.wait.i32 %n {{seconds = 1.0}}\n{END}",
        ),
        (f"{HEAD.replace('%n: i32', '%n i32')}{END}", f"{HEAD}{END}"),
        (f"{HEAD.replace(')', '')}{END}", f"{HEAD}{END}"),
        (
            f"{HEAD.replace('i32)', 'i32 %m: i32)')}{END}",
            f"{HEAD.replace('i32)', 'i32, %m: i32)')}{END}",
        ),
    ],
)
def test_what_is_missing_is_written_where_it_belongs(typed: str, wanted: str) -> None:
    (place, new), *others = [pair for one in lint(typed, "x") for pair in fixes(typed, one)]
    assert (typed[: place.start] + new + typed[place.end :], others) == (wanted, [])
    assert lint(wanted, "x") == ()


def test_no_value_is_returned_whose_type_the_function_does_not_have() -> None:
    text = "func.func @main() -> (i32, i64) {\n  %a = tfrt.constant.i32 6\n}"
    assert [fixes(text, one) for one in lint(text, "x")] == [[]]
