"""Exercises of tutorial 12, tensors."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "tensors.shape",
    form="(2, 3)",
    right=("(4, 10)", "[4, 10]", "4, 10"),
    wrong={
        "(15, 10)": "inner",
        "(4, 15)": "inner",
        "(10, 4)": "rows",
        "600": "Write 2 values, not 1",
        "4x10": "Line 1 was not understood",
    },
    why="In (4, 15) times (15, 10), the 15 vanishes, and (4, 10) is left: ten numbers for each of "
    "four pictures.",
)
def shape(answer: Answer) -> str | None:
    """Four pictures are a tensor of shape (4, 15), and the weights have the shape (15, 10).
    What is the shape of the product?
    """
    found = answer.numbers(2)
    if 15 in found:
        return "The inner numbers, 15 and 15, must be equal, and they vanish."
    if found == (10, 4):
        return "The rows of the product are the rows of the first tensor."
    return None if found == (4, 10) else "Write the outer numbers of (4, 15) and (15, 10)."


@exercise(
    "tensors.chain",
    form="x",
    right=("cut", '"cut"'),
    wrong={
        "written": "half",
        "ch": "before anything",
        "t": "memory",
        "shown": "own",
        "b": "Write ch",
    },
    why="%cut is available when the tensor has been written and cut.  Wait for the chain of the "
    "last kernel that writes.",
)
def chain(answer: Answer) -> str | None:
    """Which chain must the print take, so that it shows the finished tensor:
    `ch`, `written`, `cut`, `shown` or `t`?

    ```
    %t = create tensor
    %written = matmul … into %t, after %ch
    %cut = relu in place %t, after %written
    %shown = print %t, after …
    ```
    """
    hints = {
        "written": "After %written the product is written, but that is only half of the work: relu "
        "may still change it.",
        "ch": "%ch is available before anything is written.",
        "t": "%t is the tensor: its memory exists from the start, written or not.",
        "shown": "%shown is the print's own chain.",
    }
    return hints.get(answer.choice("ch", "written", "cut", "shown", "t"))


@exercise(
    "tensors.relu",
    form="a = [7, -8]\nb = [9, -9]",
    right="a = [2, 0]\nb = [6, 2]",
    wrong={
        "a = [2, -2]\nb = [6, 2]": "negative",
        "a = [6, 2]\nb = [6, 2]": "Add -4",
        "a = [2, 0]\nb = [2, 0]": "first each -4",
        "a = [2, 0]\nb = [2, -2]": "first each -4",
        "a = [2, 0]": "Part b has no answer yet",
        "a = [2]\nb = [6, 2]": "Write 2 values",
    },
    why="In the right order, -4 and the product add up to 2 and -2, and relu cuts the -2.  In the "
    "wrong one, relu makes each -4 zero, and the product is added to zeros.",
)
def relu(answer: Answer) -> str | None:
    """A tensor of two numbers is filled with -4. One kernel adds the product [6, 2] to it; another
    one is relu. What does the tensor hold at the end, (a) if relu runs after the addition, (b) if a
    wrong chain lets relu run before it?
    """
    a, b = answer.parts("a", "b")
    if (found := a.numbers(2)) != (2, 0):
        negative = "Part a: relu makes negative numbers zero."
        return negative if found == (2, -2) else "Part a: Add -4 and the product, then use relu."
    return (
        None if b.numbers(2) == (6, 2) else "Part b: first each -4 becomes 0, then what is added?"
    )
