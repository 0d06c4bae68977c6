"""Exercises of tutorial 05, strict and non-strict."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "control.when",
    form="a = start\nb = start\nc = start\nd = start",
    right=(
        "a = late\nb = start\nc = late\nd = start",
        "a = 'late'; b = 'start'; c = late; d = start",
    ),
    wrong={
        "a = start\nb = start\nc = late\nd = start": "waits for all",
        "a = late\nb = late\nc = late\nd = start": "ignores",
        "a = late\nb = start\nc = start\nd = start": "inside",
        "a = late\nb = start\nc = late\nd = late": "condition",
        "a = late\nb = start\nc = late": "Part d",
    },
    why="A strict call waits for all arguments.  A non-strict one starts at once; what is inside "
    "waits only when it uses the late value.",
)
def when(answer: Answer) -> str | None:
    """`%x` is available, `%late` comes after a second. `@first` returns its first argument and
    ignores the second; `@add` adds both. When is each result available: `start` or `late`?

    ```
    %a = tfrt.call @first(%x, %late)
    %b = tfrt.call @first(%x, %late) {bef.nonstrict}
    %c = tfrt.call @add(%x, %late) {bef.nonstrict}
    %d = tfrt.cond %yes @first @add (%x, %late) {bef.nonstrict}  // %yes is true
    ```
    """
    return answer.hint_for_parts(
        a=(
            "late",
            "start",
            "this call is strict: it waits for all its arguments, whatever @first does with them.",
        ),
        b=("start", "late", "the call starts at once, and @first ignores the late argument."),
        c=(
            "late",
            "start",
            "the call starts at once, but the addition inside it needs both numbers.",
        ),
        d=(
            "start",
            "late",
            "a non-strict cond needs only its condition, and the branch that it takes is @first.",
        ),
    )


@exercise(
    "control.error",
    form="[7, 8, error]",
    right=("[error, 4, error]", "error, 4, 'error'"),
    wrong={
        "[4, 4, error]": "strict",
        "[error, error, error]": "never touches",
        "[error, 4, 4]": "uses",
        "[error, 4]": "Write 3 values",
        "[error, 4, skipped]": "its result is an error",
    },
    why="The strict call is skipped.  The non-strict @first never touches the error.  The "
    "non-strict @add has an addition inside that takes it.",
)
def control_error(answer: Answer) -> str | None:
    """`%x` is 4, `%bad` is an error. `@first` and `@add` are as above. What are the three results:
    a number or `error`?

    ```
    %a = tfrt.call @first(%x, %bad)
    %b = tfrt.call @first(%x, %bad) {bef.nonstrict}
    %c = tfrt.call @add(%x, %bad) {bef.nonstrict}
    ```
    """
    first, second, third = results = answer.items(3, ("error", "skipped"))
    if "skipped" in results:
        return "An operation is skipped; its result is an error.  Write `error`."
    if first != "error":
        return "The first call is strict: an error in any of its arguments skips it."
    if second == "error":
        return "The second call starts with what is available, and @first never touches %bad."
    if second != 4:
        return "@first returns its first argument.  Which number is that in the second call?"
    return None if third == "error" else "@add uses %bad: its addition is a strict kernel."


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
        ): "not correct yet",
    },
    why="The second value that the loop carries is the number of the round.  The body returns it "
    "one larger, and so the next round adds 2, then 3, and so on.",
)
def control_sum(answer: Code) -> str | None:
    """The body of a `repeat` gets what the round before returned. This program counts: `@main(4)`
    is 4. Change the body so that `@main(n)` is 1 + 2 + … + n: for 4 it is 10.
    """
    found = [answer.run(n).result for n in range(6)]
    if found == [0, 1, 3, 6, 10, 15]:
        return None
    if "%result#1" in answer.bare:
        return (
            "The sum is the first value of the loop, %result#0; this function returns its "
            "second value."
        )
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
