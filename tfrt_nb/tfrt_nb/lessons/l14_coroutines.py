"""Exercises of the tutorial about coroutines and frames."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "async.order",
    form="[5, 4, 3, 2, 1]",
    right=("[1, 4, 2, 3, 5]", "1, 4, 2, 3, 5"),
    wrong={
        "[4, 1, 2, 3, 5]": "hot",
        "[1, 2, 4, 3, 5]": "filled",
        "[1, 4, 3, 2, 5]": "brackets",
        "[1, 4, 5, 2, 3]": "await",
        "[1, 2, 3, 4, 5]": "filled",
        "hangs": "continues",
        "[]": "continues",
        "[1, 4, 2, 3]": "five numbers",
    },
    why="@work starts hot and prints 1.  Its await finds an empty box, so @main continues and "
    "prints 4.  Then %gate is filled: 2, and after it 3, because the task has the token of @work "
    "in its brackets.  5 comes after the await of the task.",
)
def order(answer: Answer) -> str | None:
    """What is printed? (`show` prints a number.)

    ```
    async.func @work(%gate: !async.token) -> !async.token {
      show 1
      await %gate : !async.token
      show 2
      return
    }
    func.func @main() {
      %gate = async.runtime.create : !async.token
      %work = async.call @work(%gate) : (!async.token) -> !async.token
      %task = async.execute [%work] {
        show 3
        async.yield
      }
      show 4
      async.runtime.set_available %gate : !async.token
      async.await %task : !async.token
      show 5
      return
    }
    ```
    """
    printed = answer.items()
    if all(isinstance(one, str) for one in printed):
        return (
            "Nothing waits here forever: an await in an async.func does not tie up a thread, so "
            "@main continues, and fills %gate."
        )
    if sorted(printed, key=str) != [1, 2, 3, 4, 5]:
        return "Write the five numbers in their order, each once."
    hints = (
        (1, 4, "An async.func starts hot: which of its prints happen during the call itself?"),
        (
            4,
            2,
            "The 2 is below the await of %gate.  Is %gate filled before or after the print of 4?",
        ),
        (
            2,
            3,
            "The task has %work in its brackets: it starts when the last line of @work has run.",
        ),
        (
            3,
            5,
            (
                "The await stops @main until the task is finished.  Is the print of 5 before or "
                "after it?"
            ),
        ),
    )
    late = (hint for one, other, hint in hints if printed.index(other) < printed.index(one))
    return next(late, None)


@exercise(
    "async.coroutine",
    form="a = 7\nb = stack\nc = no\nd = worker",
    right="a = 3\nb = frame\nc = no\nd = caller",
    wrong={
        "a = 2\nb = frame\nc = no\nd = caller": "start",
        "a = 3\nb = stack\nc = no\nd = caller": "belongs to the thread",
        "a = 3\nb = frame\nc = yes\nd = caller": "note",
        "a = 3\nb = frame\nc = no\nd = worker": "hot",
        "a = 3\nb = frame\nc = no": "Part d",
    },
    why="One suspension point for the cold start and one for each await.  Values that are needed "
    "later are in the frame.  A stopped coroutine is only memory and a note at a box.",
)
def coroutine(answer: Answer) -> str | None:
    """(a) How many suspension points does the coroutine of an `async.execute` have if its body has
    two awaits? (b) Where is a value kept that is made before an await and used after it: `stack` or
    `frame`? (c) Does a coroutine that is stopped at an await tie up a thread: `yes` or `no`?
    (d) Who runs the first piece of an `async.func` that is called: the `caller` or a `worker`?
    """
    (first,) = answer.parts("a")
    if first.number() == 2:
        return "Part a: a task starts cold, so there is one more at its start."
    if first.number() != 3:
        return "Part a: count one for each await, and one for the start."
    return answer.hint_for_parts(
        b=(
            "frame",
            "stack",
            "the stack belongs to the thread, which does other work while the coroutine waits.",
        ),
        c=("no", "yes", "it leaves a note at the box and returns.  The thread is free."),
        d=("caller", "worker", "an async.func starts hot."),
    )


@exercise(
    "async.frame",
    form="[a, y]",
    right=("[b, gate]", "gate, b"),
    wrong={
        "[b]": "the box",
        "[gate]": "computed before the cut and used after it",
        "[a, b, gate]": "%a is used up",
        "[b, gate, late]": "%late is made after",
        "[b, c, gate]": "%c is made after",
        "[b, gate, y]": "%y is used up",
        "[b, door]": "'door' is not one of",
    },
    why="%b is used after the await, and %gate is read there.  %y and %a are last used before it; "
    "%late and %c are made after it.",
)
def frame(answer: Answer) -> str | None:
    """This task has stopped at its await. Which of `y`, `a`, `b`, `gate`, `late`, and `c` does the
    rest of the body, after the await, need from its frame? (`load` reads memory, so nothing can be
    computed again.)

    ```
    async.execute {
      %a = load %y
      %b = load %a
      %late = await %gate
      %c = add %late, %b
      yield %c
    }
    ```
    """
    hints = {
        "b": "%b is computed before the cut and used after it.",
        "gate": "After the await, the value is read from the box, so the frame keeps the box's "
        "address.",
        "y": "%y is used up before the await.",
        "a": "%a is used up before the await.",
        "late": "%late is made after the await, so it need not be kept.",
        "c": "%c is made after the await, so it need not be kept.",
    }
    found = answer.items(words=hints)
    return next(
        (hint for word, hint in hints.items() if (word in found) != (word in ("b", "gate"))), None
    )
