"""Exercises of tutorial 06, loops."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise

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
    "increased by one, so the next round adds 2, then 3, and so on.",
)
def control_sum(answer: Code) -> str | None:
    """The body of a `repeat` gets what the previous round returned. This program counts:
    `@main(4)` is 4. Change the body so that `@main(n)` is 1 + 2 + … + n: for 4 it is 10.
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
        return f"It returns {found[0]} for every n.  Return a result of the loop."
    if found == [1] * 6:
        return "The loop has only one round: the first operand of `repeat` is the number of rounds."
    # The first number that is wrong says most about the mistake.
    n = next(n for n in range(6) if found[n] != n * (n + 1) // 2)
    where = {0: "Which value does %sum begin with?", 1: "What does the first round add to 0?"}
    return (
        f"With n = {n} it returns {found[n]}, not {n * (n + 1) // 2}.  "
        f"{where.get(n, 'What should the second value of the next round be?')}"
    )


@exercise(
    "loops.rounds",
    form="a = 8\nb = 9",
    right=("a = 3\nb = 40", "b = 40; a = 3"),
    wrong={
        "a = 2\nb = 20": "the number that the round began with",
        "a = 1\nb = 10": "10 is one of them",
        "a = 3\nb = 20": "part b",
        "a = 4\nb = 80": "20 is more than 10",
        "a = 3": "Part b has no answer",
    },
    why="The rounds begin with 5, 10, and 20.  5 and 10 are 10 or less, so another round follows; "
    "20 is not.  The third round still returns its sum, 40.",
)
def rounds(answer: Answer) -> str | None:
    """(a) How many times does `@grow` run, and (b) what is the result?

    ```
    func.func @grow(%x: i32) -> (i32, i1) {
      %ten = tfrt.constant.i32 10
      %y = tfrt.add.i32 %x, %x
      %again = tfrt.lessequal.i32 %x, %ten
      tfrt.return %y, %again : i32, i1
    }
    …
    %five = tfrt.constant.i32 5
    %result = tfrt.while %yes @grow(%five) parallel_iterations(1) : (i32) -> (i32)
    ```
    """
    hints = {
        2: "The condition tests %x, the number that the round began with, not %y.",
        1: "Another round follows for every %x of 10 or less, and 10 is one of them.",
        4: "A round that begins with 20 is the last one: 20 is more than 10.",
    }
    a, b = (one.number() for one in answer.parts("a", "b"))
    if a != 3:
        return hints.get(a, "Write a table: what does each round begin with, and return?")
    return None if b == 40 else "Right for a.  For part b: what does the last round return?"


@exercise(
    "loops.time",
    form="1000",
    right=("800", "800  # 4 * 200"),
    wrong={
        "1200": "at the same time",
        "200": "do not overlap",
        "400": "slower of the two",
        "300": "do not overlap",
    },
    why="In a round, the two slow kernels run at the same time: 200 ms.  The rounds follow each "
    "other: 4 * 200.",
)
def time_of_loop(answer: Answer) -> str | None:
    """The numbers are the times of the kernels in ms, and `%four` is 4. There are enough threads.
    How many ms does the loop take?

    ```
    %result = tfrt.repeat.i32 %four, %x : i32 {
      %a = slow 100 (%x)
      %b = slow 200 (%x)
      %next = tfrt.add.i32 %a, %b
      tfrt.return %next : i32
    }
    ```
    """
    found = answer.number()
    apart = "The rounds do not overlap: a round needs the values that the one before it returned."
    hints = {
        1200: "Inside a round, %a and %b have no arrow between them: they run at the same time.",
        200: apart,
        300: apart,
        400: "A round ends with the slower of the two kernels.",
    }
    steps = "How long does one round take, and how many rounds are there?"
    return None if found == 800 else hints.get(found, steps)
