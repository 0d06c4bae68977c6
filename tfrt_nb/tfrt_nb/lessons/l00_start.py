"""Exercises of tutorial 00, start."""

from __future__ import annotations

import re

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise

_CONSTANT = "tfrt.constant.i32"


@exercise(
    "start.value",
    form="42",
    right=("30", "# computed by hand\n30"),
    wrong={
        "36": "minus",
        "5": "%result",
        "result": "numbers",
        "24": "from the top",
    },
    why="%less is 6 - 1 = 5, and %result is 5 * 6 = 30.",
)
def value(answer: Answer) -> str | None:
    """Which number does this function return?

    ```
    func.func @main() -> i32 {
      %six = tfrt.constant.i32 6
      %one = tfrt.constant.i32 1
      %less = tfrt.minus.i32 %six, %one
      %result = tfrt.mul.i32 %less, %six
      tfrt.return %result : i32
    }
    ```
    """
    found = answer.number()
    hints = {
        36: "`tfrt.minus` subtracts: %less is not %six.",
        5: "5 is %less.  The function returns %result, which needs one more step.",
    }
    top = "Follow the values from the top: write down %six, %one, %less, then %result."
    return None if found == 30 else hints.get(found, top)


@exercise(
    "start.ready",
    form="[x, y]",
    right=("[left, right]", "left, right", '["right", "left"]'),
    wrong={
        "left": "second",
        "[left, right, sum]": "%sum takes",
        "%left": "Line 1 was not understood",
        "[left, rihgt]": "'rihgt' is not one of the choices",
        "[a, b]": "kernels that compute",
        "[a, b, left, right]": "kernels that compute",
    },
    why="A kernel may run when its own arguments are available.  %left and %right need only "
    "constants, so both may run at once.  %sum needs both of them.",
)
def ready(answer: Answer) -> str | None:
    """The constants are available.  Which values can now be computed at the same time?
    Write a list of their names, without `%`.

    ```
    %a = tfrt.constant.i32 3
    %b = tfrt.constant.i32 4
    %left = tfrt.mul.i32 %a, %a
    %right = tfrt.mul.i32 %b, %b
    %sum = tfrt.add.i32 %left, %right
    ```
    """
    names = {*answer.items(words=("a", "b", "left", "right", "sum"))}
    if names & {"a", "b"}:
        return (
            "%a and %b are constants, which are already available."
            "  Find the kernels that compute the other values."
        )
    if "sum" in names:
        return "%sum takes %left and %right, so it must wait for both."
    if names in ({"left"}, {"right"}):
        return "That is one of them.  Does the second multiplication need the result of the first?"
    return None if names == {"left", "right"} else "Write names of values from the program."


@exercise(
    "start.write",
    start="""\
    func.func @main() -> i32 {
      %seven = tfrt.constant.i32 7
      tfrt.return %seven : i32
    }""",
    right=(
        """\
        func.func @main() -> i32 {
          %seven = tfrt.constant.i32 7
          %five = tfrt.constant.i32 5
          %two = tfrt.constant.i32 2
          %sum = tfrt.add.i32 %seven, %five
          %double = tfrt.mul.i32 %sum, %two
          tfrt.return %double : i32
        }""",
        """\
        func.func @main() -> i32 {
          %seven = "tfrt.constant.i32"() {value = 7 : i32} : () -> i32
          %five = "tfrt.constant.i32"() {value = 5 : i32} : () -> i32
          %two = tfrt.constant.i32 2
          %sum = tfrt.add.i32 %seven, %five
          %double = tfrt.mul.i32 %sum, %two
          tfrt.return %double : i32
        }""",
    ),
    wrong={
        """\
        func.func @main() -> i32 {
          %all = tfrt.constant.i32 24
          tfrt.return %all : i32
        }""": "let the program compute it",
        """\
        func.func @main() -> i32 {
          %seven = tfrt.constant.i32 7
          %five = tfrt.constant.i32 5
          %sum = tfrt.add.i32 %seven, %five
          %product = tfrt.mul.i32 %sum, %sum
          %all = tfrt.constant.i32 24
          tfrt.return %all : i32
        }""": "let the program compute it",
        """\
        func.func @main() -> i32 {
          %twelve = tfrt.constant.i32 12
          %double = tfrt.add.i32 %twelve, %twelve
          tfrt.return %double : i32
        }""": "let the program compute it",
        """\
        func.func @main() -> i32 {
          %seven = tfrt.constant.i32 7
          %five = tfrt.constant.i32 5
          %two = tfrt.constant.i32 2
          %double = tfrt.mul.i32 %five, %two
          %sum = tfrt.add.i32 %seven, %double
          tfrt.return %sum : i32
        }""": "17 is 7 + (5 * 2)",
        """\
        func.func @main() -> i32 {
          %seven = tfrt.constant.i32 7
          %sum = tfrt.add.i32 %seven, 5
          tfrt.return %sum : i32
        }""": "by their names",
        """\
        func.func @main() -> i32 {
          %seven = tfrt.constant.i32 7
          %five = tfrt.constant.i32 5
          %sum = tfrt.add.i32 %seven, %five
          tfrt.return %sum : i32
        }""": "12",
    },
    why="Every number is a constant with a name, and every step names its result for the next one.",
)
def write(answer: Code) -> str | None:
    """Change the program so that it computes (7 + 5) * 2 and returns the result.  Use
    `tfrt.add.i32` and `tfrt.mul.i32`.
    """
    if re.search(r"tfrt\.(?:add|mul)\.i32\s+(?:%\w+,\s*)?\d", answer.text):
        return (
            "A kernel takes values by their names: first make each number a constant with a name."
        )
    result = answer.run().results
    if result == (17,):
        return "17 is 7 + (5 * 2).  Add first, then multiply the sum."
    if result == (12,):
        return "12 is the sum.  Now multiply it by two, and return the product."
    if result != (24,):
        return (
            f"The function returns {result[0] if len(result) == 1 else result}; it should "
            f"return 24."
        )
    computes = answer.needed("tfrt.add.i32") + answer.needed("tfrt.mul.i32") > 1
    if not computes or not {"5", "7"} <= {
        *re.findall(_CONSTANT + r"\b[^\n]*?(?<![\w%.])(\d+)\b", answer.bare)
    }:
        return (
            "24 is right, but let the program compute it: start from 7 and 5, and use "
            "tfrt.add.i32 and tfrt.mul.i32."
        )
    return None
