"""Test messages for a beginner's mistakes: what is wrong, where, and what to write instead."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest


def host(
    *lines: str, head: str = "func.func @main() -> i32 {", end: str = "  tfrt.return %a : i32"
) -> str:
    """Return a cell with a host program; line 3 defines `%a`, and `lines` start at line 4."""
    return "\n".join(
        ["%%tfrt", head, "  %a = tfrt.constant.i32 6", *(f"  {one}" for one in lines), end, "}"]
    )


def compiled(*lines: str) -> str:
    """Return a cell with a compiled program; line 3 defines `%a`, and `lines` start at line 4."""
    made = "  %a = arith.constant 1 : i64"
    return "\n".join(
        ["%%tfrt", "func.func @main() -> i64 {", made, *lines, "  return %a : i64", "}"]
    )


MISTAKES = [
    (host("tfrt.print %a"), 4, "there is no operation 'tfrt.print'", "did you mean 'tfrt.print.i32'?"),
    (host("%b = tfrt.Add.i32 %a, %a"), 4, "there is no operation 'tfrt.Add.i32'", "did you mean 'tfrt.add.i32'?"),
    (host('%s = tfrt.constant.str "hi"'), 4, "there is no operation 'tfrt.constant.str'", "write 'tfrt_test.get_string {value = \"...\"}' instead"),
    (host("%b = tfrt.add.i32 %a"), 4, "'tfrt.add.i32' takes 2 operands (i32, i32), but 1 is given", "takes 2 operands (i32, i32)"),
    (host("%b = tfrt.add.i32 %a, 1"), 4, "an operand must be the name of a value: write '%x = tfrt.constant.i32 1' on a line above, and '%x' here", "write '%x ="),
    (host("%b = tfrt.add.i64 %a, %a"), 4, "'%a' is of type 'i32', but 'i64' is expected here", "'tfrt.add.i32' takes operands of type i32"),
    (host("%a = tfrt.constant.i32 7"), 4, "'%a' already has a value: choose another name", "choose another name"),
    (host("%b == tfrt.add.i32 %a, %a"), 4, "one '=' goes here", "one '='"),
    (host("%1st = tfrt.add.i32 %a, %a"), 4, "a name that begins with a digit has digits only: write '%first' or '%1'", "write '%first'"),
    (host("%b: i32 = tfrt.add.i32 %a, %a"), 4, "a result has no type before '=': the operation determines it", "the operation determines it"),
    (host("%c = tfrt.new.chain()"), 4, "operands have no parentheses here: leave them out", "leave them out"),
    (host("%b = tfrt.call @square(%a) : (i32) -> i32"), 4, "there is no function '@square'", "defined functions: @main"),
    (host("%b = tfrt.call square(%a) : (i32) -> i32"), 4, "names of functions start with '@': write '@square'", "write '@square'"),
    (host("if %a > 3 {", "}"), 4, "an operation compares, as in '%c = tfrt.greater.i32 %x, %y', and 'tfrt.if' takes its result", "did you mean 'tfrt.if'?"),
    (host("# six"), 4, "expected a name after '#'; comments begin with '//'", "comments begin with '//'"),
    (host("%t = async.execute { async.yield }"), 4, "'async.execute' is an operation of compiled functions", "remove the kernels and end the function with 'return'"),
    (host(head="func @main() -> int {"), 2, "'int' is not a type", "did you mean 'i32'?"),
    (host(head="func.func @main() {"), 4, "'@main' returns nothing: write '-> i32' after its arguments", "write '-> i32'"),
    (host(head="func.func @main(i32 %x) -> i32 {"), 2, "the type follows the name, as in '%x: i32'", "'%x: i32'"),
    (host(end="  tfrt.return %a"), 4, "the types of the operands follow them, as in ': i32'", "': i32'"),
    (host(end="  tfrt.return a : i32"), 4, "names of values start with '%': write '%a'", "write '%a'"),
    (host() + "\n" + host().removeprefix("%%tfrt\n"), 6, "'@main' is already defined: choose another name", "choose another name"),
    (host().removesuffix("\n}"), 5, "a '}' is missing here", "the region opens here"),
    ("%%tfrt\nint main() {\n  return 0;\n}", 2, "a function starts with 'func.func @main() {'", "func.func @main() {"),
    ("%%tfrt\nwait 3 seconds", 2, "a line is an operation, as in '%x = tfrt.constant.i32 3', and a comment begins with '//'", "as in '%x ="),
    (compiled("  %b = arith.addf %a, %a : i64"), 4, "'arith.addf' takes floats, not i64", "did you mean 'arith.addi'?"),
    (compiled("  %v = async.execute -> !async.value<i64> { async.yield %a : i64 }"), 4, "'async.execute' has results of the types (!async.token, !async.value<i64>): give each exactly one name", "exactly one name"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "sentence", "instead"), MISTAKES)
def test_a_mistake_says_what_where_and_what_instead(
    cell: Callable[[str], str],
    text: str,
    line: int,
    sentence: str,
    instead: str,
) -> None:
    shown = [re.sub(r"\bcell \d+", "cell N", one) for one in cell(text).splitlines()]
    marks = [one for one in shown if set(one.strip()) == {"^"}]

    # Front ends show this one line; the output has the place, the line itself, and notes.
    assert f"TfrtError: {sentence} – cell N, line {line}" in shown
    assert any(one.startswith(f"cell N:{line}:") and one.endswith(sentence) for one in shown)
    assert instead in "\n".join(shown)
    assert marks


def test_the_exceptions_of_a_group_have_places_in_cells(cell: Callable[[str], str]) -> None:
    cell(
        """import asyncio
import tfrt_nb
async def fetch(page):
    raise ConnectionError(f"page {page} is gone")

@tfrt_nb.kernel("beginners.pages")
async def pages(count: int) -> int:
    async with asyncio.TaskGroup() as group:
        for page in range(count):
            group.create_task(fetch(page))
    return count"""
    )
    shown = cell(host('%b = "beginners.pages"(%a) : (i32) -> i32', end="  tfrt.return %b : i32"))

    assert re.search(
        r"page 1 is gone, raised in fetch, Cell In\[\d+\], line 4$", shown, re.MULTILINE
    )
    assert re.search(r"note: raised in pages, Cell In\[\d+\], line 8$", shown, re.MULTILINE)
