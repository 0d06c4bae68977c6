"""Exercises of tutorial 09, async and await."""

from __future__ import annotations

import re

from tfrt_nb.exercises.answer import Answer, Code
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
        "hangs": "goes on",
        "[]": "goes on",
        "[1, 4, 2, 3]": "five numbers",
    },
    why="@work starts hot and prints 1.  Its await finds an empty box, so @main goes on and prints "
    "4.  Then %gate is filled: 2, and after it 3, because the task has the token of @work in its "
    "brackets.  5 comes after the await of the task.",
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
            "Nothing stops here for ever: an await in an async.func keeps no thread, so @main "
            "goes on, and fills %gate."
        )
    if sorted(printed, key=str) != [1, 2, 3, 4, 5]:
        return "Write the five numbers in their order, each once."
    hints = (
        (1, 4, "An async.func starts hot: which prints of it happen in the call itself?"),
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
            "The await stops until the task is finished.  On which side of it is the print of 5?",
        ),
    )
    for first, second, hint in hints:
        if printed.index(second) < printed.index(first):
            return hint
    return None


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
    why="One suspension point for the cold start and one for each await.  What is needed later is "
    "in the frame.  A stopped coroutine is only memory and a note at a box.",
)
def coroutine(answer: Answer) -> str | None:
    """(a) How many suspension points has the coroutine of an `async.execute` with two awaits in its
    body? (b) Where is a value kept that is made before an await and used after it: `stack` or
    `frame`? (c) Does a coroutine that is stopped at an await keep a thread: `yes` or `no`? (d) Who
    runs the first piece of an `async.func` that is called: the `caller` or a `worker`?
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


_TASKS = """\
func.func @main() -> i64 {
  %x = arith.constant 30 : i64
  %y = arith.constant 12 : i64
  %t0, %a = async.execute -> !async.value<i64> {
    %double = arith.addi %x, %x : i64
    async.yield %double : i64
  }
  %left = async.await %a : !async.value<i64>
  %t1, %b = async.execute -> !async.value<i64> {
    %double = arith.addi %y, %y : i64
    async.yield %double : i64
  }
  %right = async.await %b : !async.value<i64>
  %sum = arith.addi %left, %right : i64
  return %sum : i64
}"""
_STEP = re.compile(r"[{}]|\basync\.(?P<step>execute|await)(?:_all)?\b\s*(?P<bracket>[\[(]?)")
_AWAIT = "  %left = async.await %a : !async.value<i64>\n"
_AWAIT_B = "  %right = async.await %b : !async.value<i64>\n"


@exercise(
    "async.together",
    start=_TASKS,
    right=(
        _TASKS.replace(_AWAIT, "").replace(_AWAIT_B, _AWAIT + _AWAIT_B),
        "// an async.execute, then an async.await\n"
        + _TASKS.replace(_AWAIT, "")
        .replace(_AWAIT_B, _AWAIT_B + _AWAIT)
        .replace("  }\n", "  }  // the task\n"),
        _TASKS.replace(_AWAIT, "").replace(_AWAIT_B, _AWAIT + _AWAIT_B).replace("{\n    ", "{ "),
    ),
    wrong={
        """\
async.func @twice(%x: i64) -> !async.value<i64> {
  %double = arith.addi %x, %x : i64
  return %double : i64
}
func.func @main() -> i64 {
  %x = arith.constant 30 : i64
  %y = arith.constant 12 : i64
  %a = async.call @twice(%x) : (i64) -> !async.value<i64>
  %b = async.call @twice(%y) : (i64) -> !async.value<i64>
  %left = async.await %a : !async.value<i64>
  %right = async.await %b : !async.value<i64>
  %sum = arith.addi %left, %right : i64
  return %sum : i64
}""": "starts hot",
        _TASKS.replace(_AWAIT, "").replace("%left,", "%x,"): "not 84",
        _TASKS.replace(
            "async.execute -> !async.value<i64> {\n    %double = arith.addi %y",
            "async.execute [%t0] -> !async.value<i64> {\n    %double = arith.addi %y",
        ): "one after the other",
        _TASKS.replace(_AWAIT, "").replace("  %t1", _AWAIT + "  %t1"): "as it was given",
        _TASKS.replace("%x, %x", "%x, %y"): "one after the other",
        _TASKS.replace(_AWAIT, "")
        .replace(_AWAIT_B, _AWAIT + _AWAIT_B)
        .replace("arith.addi %left, %right", "arith.constant 84"): "what the two tasks yield",
        _TASKS.replace(_AWAIT, "")
        .replace(_AWAIT_B, _AWAIT + _AWAIT_B)
        .replace(
            "async.execute -> !async.value<i64> {\n    %double = arith.addi %y",
            "async.execute [%t0] -> !async.value<i64> {\n    %double = arith.addi %y",
        ): "brackets",
        _TASKS.replace(_AWAIT, "")
        .replace("    %double = arith.addi %y", "  " + _AWAIT + "    %double = arith.addi %y")
        .replace(_AWAIT_B, _AWAIT + _AWAIT_B): "in its body",
    },
    why="Start everything first, await afterwards.  An await between the two starts makes them one "
    "after the other.",
)
def together(answer: Code) -> str | None:
    """These tasks never run at the same time. Change the program so that both can, and it still
    returns 84.
    """
    results = answer.run().results
    # Each start and each await, with the number of braces around it.
    depth, found = 0, list[tuple[str, int, str]]()
    for one in _STEP.finditer(answer.bare):
        depth += {"{": 1, "}": -1}.get(one[0], 0)
        if one["step"]:
            found.append((one["step"], depth, one["bracket"]))
    starts = [at for at, (step, _, _) in enumerate(found) if step == "execute"]
    if not starts and "async.func" in answer.bare:
        return (
            "Keep the two tasks.  An async.func starts hot: each call would run on the thread "
            "of @main, one after the other."
        )
    if len(starts) != 2:
        return "Keep the two tasks."
    first, second = starts
    around = found[first][1]
    if any(inside == around for _, inside, _ in found[first + 1 : second]):
        return (
            "They still run one after the other: the second task is started only when the "
            "first await is over."
        )
    if any(found[at][2] for at in starts):
        return (
            "What is in brackets must be there before a task starts, so they run one after "
            "the other."
        )
    if any(inside > around for _, inside, _ in found):
        return (
            "A task that awaits the other one in its body waits for it, so they run one after "
            "the other."
        )
    if results != (84,):
        return f"It returns {results[0] if results else 'nothing'}, not 84."
    # With another number, a program that adds what its tasks yield returns another sum.
    other, changed = re.subn(r"constant 30\b", "constant 31", answer.text)
    if changed != 1 or Code(other).run().results != (86,):
        return "Keep 30 and 12, and return the sum of what the two tasks yield."
    return None
