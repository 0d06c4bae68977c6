"""Exercises of the tutorial about async tasks and their order."""

from __future__ import annotations

import re

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "async.kind",
    form="a = host\nb = host\nc = compiled\nd = compiled",
    right="a = host\nb = compiled\nc = host\nd = compiled",
    wrong={
        "a = compiled\nb = compiled\nc = host\nd = compiled": "large step",
        "a = host\nb = host\nc = host\nd = compiled": "ten million",
        "a = host\nb = compiled\nc = compiled\nd = compiled": "last line",
        "a = host\nb = compiled\nc = host\nd = host": "compiled code",
        "a = graph\nb = compiled\nc = host\nd = compiled": "Write compiled or host",
        "a = host": "Part b has no answer yet",
    },
    why="A few large steps, such as Python kernels, belong in a host program; many small steps "
    "belong in a compiled function.  The last line and the operations say which kind it is.",
)
def kind(answer: Answer) -> str | None:
    """Is it a `host` program or a `compiled` one? (a) It calls three functions in Python, each of
    which downloads a page. (b) It adds ten million numbers, one by one. (c) Its last line is
    `tfrt.return %x : i32`. (d) It has an `async.execute`.
    """
    return answer.hint_for_parts(
        a=("host", "compiled", "each download is a large step, and Python functions are kernels."),
        b=("compiled", "host", "ten million kernel calls would cost more than the additions."),
        c=("host", "compiled", "look at the last line: `tfrt.` is the dialect of kernels."),
        d=("compiled", "host", "tasks are how compiled code says what may run at the same time."),
    )


@exercise(
    "async.certain",
    form="a = no\nb = no\nc = yes\nd = no",
    right="a = yes\nb = no\nc = no\nd = yes",
    wrong={
        "a = no\nb = no\nc = no\nd = yes": "parentheses",
        "a = yes\nb = yes\nc = no\nd = yes": "different tasks",
        "a = yes\nb = no\nc = yes\nd = yes": "awaits %c",
        "a = yes\nb = no\nc = no\nd = no": "await of %b",
        "a = maybe\nb = no\nc = no\nd = yes": "Write no or yes",
        "a = yes": "Part b has no answer yet",
    },
    why="1 is before 2 because of the parentheses, and 2 is before 5 because of the await.  No "
    "path leads from or to the print of 3.",
)
def certain(answer: Answer) -> str | None:
    """Which of these are certain in every run: `yes` or `no`? (a) 1 before 2, (b) 2 before 3,
    (c) 3 before 5, (d) 2 before 5.

    ```
    %a, %x = async.execute -> !async.value<i64> { show 1, yield %ten }
    %b = async.execute (%x as %y: !async.value<i64>) { show 2 }
    %c = async.execute { show 3 }
    show 4
    async.await %b
    show 5
    ```
    """
    return answer.hint_for_parts(
        a=("yes", "no", "the second task has %x in its parentheses: it starts when %x is filled."),
        b=("no", "yes", "2 and 3 are in different tasks, and neither waits for the other."),
        c=("no", "yes", "nobody awaits %c, so it may start late, even after the 5."),
        d=("yes", "no", "the 5 is below the await of %b, which is filled after the print of 2."),
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
        _TASKS.replace(_AWAIT, "").replace("  %t1", _AWAIT + "  %t1"): "original program",
        _TASKS.replace("%x, %x", "%x, %y"): "one after the other",
        _TASKS.replace(_AWAIT, "")
        .replace(_AWAIT_B, _AWAIT + _AWAIT_B)
        .replace("arith.addi %left, %right", "arith.constant 84"): "sum of the two tasks",
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
    why="Start everything first, and await afterward.  An await between the two starts makes the "
    "tasks run one after the other.",
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
            "They still run one after the other: the second task starts only after the first await."
        )
    if any(found[at][2] for at in starts):
        return (
            "Values in brackets must be available before a task starts, so the tasks run one "
            "after the other."
        )
    if any(inside > around for _, inside, _ in found):
        return "One task awaits the other in its body, so they run one after the other."
    if results != (84,):
        return f"It returns {results[0] if results else 'nothing'}, not 84."
    # With another number, a program that adds what its tasks yield returns another sum.
    other, changed = re.subn(r"constant 30\b", "constant 31", answer.text)
    if changed != 1 or Code(other).run().results != (86,):
        return "Keep 30 and 12, and return the sum of the two tasks' results."
    return None
