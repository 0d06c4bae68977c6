"""Exercises of tutorial 08, tensors."""

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
    why="(4, 15) times (15, 10): the 15 vanishes, and (4, 10) is left: ten numbers for each of "
    "four pictures.",
)
def shape(answer: Answer) -> str | None:
    """Four pictures are a tensor of shape (4, 15), the weights have the shape (15, 10).
    Which shape has the product?
    """
    found = answer.numbers(2)
    if 15 in found:
        return "The inner numbers, 15 and 15, must be equal, and vanish."
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
    why="%cut is available when the tensor is written and cut.  The chain of the last kernel that "
    "writes is the one to wait for.",
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
        "written": "After %written the product is written, but that is half of the work: relu may "
        "still change it.",
        "ch": "%ch is available before anything is written.",
        "t": "%t is the tensor: its memory exists from the start, written or not.",
        "shown": "%shown is the print's own chain.",
    }
    return hints.get(answer.choice("ch", "written", "cut", "shown", "t"))


@exercise(
    "tensors.relu",
    form="[5, -6, 7, -8]",
    right=("[1, 0, 3, 0]", "1, 0, 3, 0"),
    wrong={
        "[1, 2, 3, 4]": "sign",
        "[0, -2, 0, -4]": "other way",
        "[1, -2, 3, -4]": "negative",
        "[1, 3]": "Write 4 values",
    },
    why="relu keeps positive numbers, and makes negative ones zero.",
)
def relu(answer: Answer) -> str | None:
    """What does relu make of the tensor 1, -2, 3, -4?"""
    found = answer.numbers(4)
    hints: dict[tuple[int, ...], str] = {
        (1, 2, 3, 4): "That takes the sign away.  relu makes negative numbers zero.",
        (0, -2, 0, -4): "It is the other way round: positive numbers stay.",
        (1, -2, 3, -4): "Nothing has changed; what happens to negative numbers?",
    }
    return None if found == (1, 0, 3, 0) else hints.get(found, "Take each number alone.")
