"""Exercises of tutorial 05, strict and non-strict."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "control.when",
    right=("a: late\nb: start\nc: late\nd: start", "late\nstart\nlate\nstart"),
    wrong={
        "start\nstart\nlate\nstart": "waits for all",
        "late\nlate\nlate\nstart": "ignores",
        "late\nstart\nstart\nstart": "inside",
        "late\nstart\nlate\nlate": "condition",
        "late\nstart\nlate": "Part d",
    },
    why="A strict call waits for all arguments.  A non-strict one starts at once; what is inside waits only when it"
    " uses the late value.",
)
def when(answer: Answer) -> str | None:
    """`%x` is available, `%late` comes after a second. `@first` returns its first argument and ignores the second; `@add`
    adds both. When is each result available: `start` or `late`?

    ```
    %a = tfrt.call @first(%x, %late)
    %b = tfrt.call @first(%x, %late) {bef.nonstrict}
    %c = tfrt.call @add(%x, %late) {bef.nonstrict}
    %d = tfrt.cond %yes @first @add (%x, %late) {bef.nonstrict}  // %yes is true
    ```
    """
    allowed = ("start", "late")
    parts = answer.parts(a=allowed, b=allowed, c=allowed, d=allowed)
    if parts["a"] == "start":
        return "Part a: this call is strict.  A strict operation waits for all its arguments, whatever @first does with them."
    if parts["b"] == "late":
        return "Part b: the call starts at once, and @first ignores the late argument."
    if parts["c"] == "start":
        return "Part c: the call starts at once, but the addition inside it needs both numbers."
    if parts["d"] == "late":
        return "Part d: a non-strict cond needs only its condition, and the branch that it takes is @first."
    return None


@exercise(
    "control.error",
    right=("error 4 error", "%a: an error, %b: four, %c: an error"),
    wrong={
        "4 4 error": "strict",
        "error error error": "never touches",
        "error 4 4": "uses",
        "error 4": "three",
    },
    why="The strict call is skipped.  The non-strict @first never touches the error.  The non-strict @add has an addition"
    " inside that takes it.",
)
def control_error(answer: Answer) -> str | None:
    """`%x` is 4, `%bad` is an error. `@first` and `@add` are as above. What are the three results: a number or `error`?

    ```
    %a = tfrt.call @first(%x, %bad)
    %b = tfrt.call @first(%x, %bad) {bef.nonstrict}
    %c = tfrt.call @add(%x, %bad) {bef.nonstrict}
    ```
    """
    words = answer.unnamed()
    if len(words) != 3:
        return "Write three words, one for each result."
    if "skipped" in words:
        return "An operation is skipped; its result is an error.  Write `error`."
    if words[0] != "error":
        return "The first call is strict: an error in any of its arguments skips it."
    if words[1] == "error":
        return "The second call starts with what is available, and @first never touches %bad."
    if words[1] != "4":
        return "@first returns its first argument.  Which number is that in the second call?"
    return None if words[2] == "error" else "@add uses %bad: its addition is a strict kernel."


_SUM = """\
func.func @main(%n: i32) -> i32 {
  %sum = tfrt.constant.i32 0
  %number = tfrt.constant.i32 1
  %result:2 = tfrt.repeat.i32 %n, %sum, %number : i32, i32 {
    %next = tfrt.add.i32 %sum, %number
    tfrt.return %next, %number : i32, i32
  }
  tfrt.return %result#0 : i32
}"""
_ONE_MORE = """\
    %one = tfrt.constant.i32 1
    %more = tfrt.add.i32 %number, %one
    tfrt.return %next, %more : i32, i32"""


@exercise(
    "control.sum",
    start=_SUM,
    right=_SUM.replace("    tfrt.return %next, %number : i32, i32", _ONE_MORE),
    wrong={
        _SUM.replace("%next, %number :", "%next, %next :"): "With n = 2",
        _SUM.replace("%result#0", "%result#1"): "returns its second value",
        _SUM.replace("    tfrt.return %next, %number : i32, i32", _ONE_MORE).replace(
            "%result#0", "%result#1"
        ): "returns its second value",
        _SUM.replace(
            "  tfrt.return %result#0", "  %ten = tfrt.constant.i32 10\n  tfrt.return %ten"
        ): ("10 for every n"),
        _SUM.replace("%n, %sum", "%number, %sum"): "only one round",
        _SUM.replace("tfrt.add.i32 %sum, %number", "tfrt.mul.i32 %sum, %number"): "With n = 1",
        _SUM.replace(
            "tfrt.return %next, %number : i32, i32", "tfrt.return %next : i32"
        ): "not right yet",
    },
    why="The second value that the loop carries is the number of the round.  The body returns it one larger, and so the"
    " next round adds 2, then 3, and so on.",
)
def control_sum(answer: Code) -> str | None:
    """The body of a `repeat` gets what the round before returned. This program counts: `@main(4)` is 4. Change the body so that
    `@main(n)` is 1 + 2 + … + n: for 4 it is 10.
    """
    found = [answer.run(n).result for n in range(6)]
    if found == [0, 1, 3, 6, 10, 15]:
        return None
    if "%result#1" in answer.bare:
        return "The sum is the first value of the loop, %result#0; this function returns its second value."
    if found == [found[0]] * 6 and found[0] not in (0, 1):
        return f"It returns {found[0]} for every n.  Return what the loop makes."
    if found == [1] * 6:
        return "It makes only one round: the first operand of `repeat` is the number of rounds."
    # The first number that is wrong says most about the mistake.
    n = next(n for n in range(6) if found[n] != n * (n + 1) // 2)
    where = {0: "Which value does %sum begin with?", 1: "What does the first round add to 0?"}
    return (
        f"With n = {n} it returns {found[n]}, not {n * (n + 1) // 2}.  "
        f"{where.get(n, 'What should the second value of the next round be?')}"
    )
