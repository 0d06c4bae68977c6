"""Exercises of tutorial 04, when things go wrong."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer, Code, Failed
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "errors.which",
    form="a = [1, 2]\nb = [3, chain, 4]",
    right=("a = [9]\nb = [error, 18, error]", "a = 9\nb = error, 18, 'error'"),
    wrong={
        "a = []\nb = [error, error, error]": "stops only",
        "a = [9, 9]\nb = [error, 18, chain]": "carry errors",
        "a = [9]\nb = [error, error, error]": "no path",
        "a = [9]\nb = [error, 18, chain]": "carry errors",
        "a = [9]": "Part b",
        "a = [9]\nb = [error, 9, error]": "9 + 9",
        "a = [9]\nb = [chain, 18, error]": "%bad itself",
        "a = [9]\nb = [error, 18]": "Write 3 values",
        "a = [9]\nb = [error, 18, skipped]": "their results are errors",
    },
    why="%bad is an error.  %p has a good number and chain, so 9 is printed.  The merge takes "
    "%bad, so %m is an error, and %q is skipped although %nine is good.  %twice has no path from "
    "%bad.",
)
def which(answer: Answer) -> str | None:
    """The division by zero makes `%bad` an error. (a) What is printed? (b) What are the three
    results: a number, `chain` or `error`? Write two lists.

    ```
    %bad, %rest = tfrt.div.i32 %nine, %zero
    %twice = tfrt.add.i32 %nine, %nine
    %p = tfrt.print.i32 %nine, %ch
    %m = tfrt.merge.chains %p, %bad : !tfrt.chain, i32
    %q = tfrt.print.i32 %nine, %m
    tfrt.return %bad, %twice, %q : i32, i32, !tfrt.chain
    ```
    """
    a, b = answer.parts("a", "b")
    printed, results = a.numbers(), b.items(3, ("chain", "error", "skipped"))
    if printed == ():
        return "An error stops only what depends on it.  Does %p depend on %bad?"
    if printed == (9, 9) or results[2] == "chain":
        return (
            "Chains carry errors: check which values the merge takes, and which operation takes %m."
        )
    if "skipped" in results:
        return "Part b: operations are skipped, but their results are errors.  Write `error`."
    if results[1] == "error":
        return "There is no path from %bad to %twice."
    if printed != (9,):
        return "Part a: for each print, is its number good, and is its chain good?"
    if results[0] != "error":
        return "Part b: the first result is %bad itself."
    if results[1] != 18:
        return "Part b: the second result is %twice, 9 + 9."
    return None if results[2] == "error" else "Part b: the third result is %q.  Is %m good?"


@exercise(
    "errors.cancel",
    form="[7, 8, cancelled]",
    right=("[2, cancelled, cancelled]", "2, 'canceled', canceled"),
    wrong={
        "[cancelled, cancelled, cancelled]": "keep their values",
        "[2, 3, cancelled]": "after 400 ms",
        "[1, cancelled, cancelled]": "%one + %one",
        "[2, unavailable, unavailable]": "empty boxes",
        "[2, cancelled, 4]": "%four takes %three",
        "[2, error, error]": "special kind",
        "[2, 3, 4]": "200 ms",
        "[2, cancelled]": "Write 3 values",
    },
    why="After 200 ms, only the first box is filled; it keeps its value.  The other two are "
    "empty, and become errors at once; nothing waits for the slow kernel.",
)
def cancel(answer: Answer) -> str | None:
    """A run is cancelled 200 ms after its start. `%one` is 1. What are the three results: a number
    or `cancelled`?

    ```
    %two = tfrt.add.i32 %one, %one
    %slow = slow 400 (%two)
    %three = tfrt.add.i32 %slow, %one
    %four = tfrt.add.i32 %three, %one
    tfrt.return %two, %three, %four : i32, i32, i32
    ```
    """
    words = ("cancelled", "canceled", "unavailable", "error", "skipped")
    results = tuple("cancelled" if one == "canceled" else one for one in answer.items(3, words))
    if {"error", "skipped"} & {*results}:
        return "A cancelled box holds an error of a special kind: write `cancelled`."
    if results[0] == "cancelled":
        return "Boxes that are already filled keep their values.  When was %two computed?"
    if results[0] != 2:
        return "The first result is %two, %one + %one."
    hints: dict[tuple[object, ...], str] = {
        (
            "unavailable",
            "unavailable",
        ): "Cancelling does not leave empty boxes empty.  What do they become?",
        (3, "cancelled"): "%three needs %slow, which would arrive after 400 ms.",
        ("cancelled", 4): "%four takes %three.  Can it be computed when %three is cancelled?",
        (3, 4): "After 200 ms, %slow is still empty.  What does cancelling do to empty boxes?",
    }
    each = "For each result: is its box filled after 200 ms?"
    return None if results[1:] == ("cancelled",) * 2 else hints.get(results[1:], each)


_LOST = """\
func.func @main(%cake: i32, %guests: i32) -> (i32, !tfrt.chain) {
  %ch = tfrt.new.chain
  %share, %rest = tfrt.div.i32 %cake, %guests
  %a = tfrt.print.i32 %share, %ch
  %b = tfrt.print.i32 %cake, %a
  tfrt.return %share, %b : i32, !tfrt.chain
}"""


@exercise(
    "errors.save",
    start=_LOST,
    right=(
        _LOST.replace("%cake, %a", "%cake, %ch"),
        _LOST.replace("%share, %ch\n", "%share, %b\n")
        .replace("%cake, %a", "%cake, %ch")
        .replace(
            "  %a = tfrt.print.i32 %share, %b\n  %b = tfrt.print.i32 %cake, %ch",
            "  %b = tfrt.print.i32 %cake, %ch\n  %a = tfrt.print.i32 %share, %b",
        ),
    ),
    wrong={
        _LOST.replace("%share, %ch", "%cake, %ch"): "now prints 10 10",
        _LOST.replace("  %b = tfrt.print.i32 %cake, %a\n", "").replace(
            "%share, %b", "%share, %a"
        ): "now prints 2 and returns",
        _LOST.replace("tfrt.div.i32 %cake, %guests", "tfrt.div.i32 %cake, %cake"): "With 5 guests",
        _LOST.replace("%cake, %a", "%cake, %share"): "not correct yet",
        _LOST.replace("  %share", "  %five = tfrt.constant.i32 5\n  %share")
        .replace("%cake, %guests\n", "%cake, %five\n")
        .replace("%cake, %a", "%cake, %ch"): "Keep the division by %guests",
    },
    why="The print of %cake took the chain of the print of %share, which is an error when there "
    "are no guests.  With the first chain, it no longer depends on the division.",
)
def save(answer: Code) -> str | None:
    """With 10 and 0 this program prints nothing. Change it so that 10, the cake, is printed even
    when there are no guests. With 10 and 5 it must still print both numbers, 2 and 10, in any
    order, and return 2. It may return either chain.
    """
    good = answer.run(10, 5)
    if sorted(good.printed) != ["10", "2"] or good.result != 2:
        shown = " ".join(good.printed) or "nothing"
        return (
            f"With 5 guests the program now prints {shown} and returns {good.result}; it "
            "should print 2 and 10, and return 2."
        )
    bad = answer.run(10, 0)
    if not isinstance(bad.result, Failed):
        return "Keep the division by %guests: without guests the share must still be an error."
    if bad.printed != ("10",):
        return (
            f"With no guests it prints {' '.join(bad.printed) or 'nothing'}.  Which chain does "
            f"the print of %cake take, and can that be an error?"
        )
    return None
