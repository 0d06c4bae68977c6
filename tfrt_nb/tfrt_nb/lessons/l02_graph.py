"""Exercises of tutorial 02, kernels and the graph."""

from __future__ import annotations

import re

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "graph.path",
    form="1000",
    right=("500", "# a, c, d\n500"),
    wrong={
        "900": "longest path",
        "600": "no arrow",
        "400": "longest",
        "half a second": "Line 1 was not understood",
    },
    why="The paths are a-c-d (300 + 100 + 100) and b-d (400 + 100).  Each takes 500 ms.",
)
def path(answer: Answer) -> str | None:
    """The numbers are the times of the kernels in ms. There are enough threads. How many ms does a
    run take?

    ```
    %a = slow 300 (%x)
    %b = slow 400 (%x)
    %c = slow 100 (%a)
    %d = slow 100 (%b, %c)
    ```
    """
    found = answer.number()
    hints = {
        900: "900 is the sum of all times.  Kernels without an arrow between them run at the same "
        "time: find the longest path.",
        600: "600 would need a path through %b, %c and %d.  There is no arrow from %b to %c.",
        400: "400 is the longest kernel.  What is the longest path?",
    }
    paths = "Write down each path from %x to %d, and add its times."
    return None if found == 500 else hints.get(found, paths)


@exercise(
    "graph.faster",
    form="x",
    right=("b", '"b"'),
    wrong={
        "a": "not on the critical path",
        "c": "not on the critical path",
        "d": "takes the least",
        "all": "Write a, b, c or d; found 'all'.",
    },
    why="The critical path is %b, %d: 700 + 50.  The other path takes 300 + 300 + 50 = 650, so "
    "shortening %a or %c changes nothing, and %d takes only 50 ms.",
)
def faster(answer: Answer) -> str | None:
    """You may make one kernel twice as fast. Which one should you choose to make the run as
    short as possible? Write its name, without `%`.

    ```
    %a = slow 300 (%x)
    %b = slow 700 (%x)
    %c = slow 300 (%a)
    %d = slow 50 (%b, %c)
    ```
    """
    name = answer.choice("a", "b", "c", "d")
    if name in ("a", "c"):
        return f"%{name} is not on the critical path: the run would still take 750 ms."
    if name == "d":
        return "%d is on the critical path, but it takes the least: only 25 ms would be saved."
    return None


_SLOW = """\
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %a = demo.wait.i32 %one {seconds = 0.25}
  %b = demo.wait.i32 %a {seconds = 0.25}
  %c = demo.wait.i32 %b {seconds = 0.25}
  %ab = tfrt.add.i32 %a, %b
  %sum = tfrt.add.i32 %ab, %c
  tfrt.return %sum : i32
}"""


@exercise(
    "graph.fan",
    start=_SLOW,
    right=(
        _SLOW.replace("i32 %a {", "i32 %one {").replace("i32 %b {", "i32 %one {"),
        "// it was seconds = 0.75\n"
        + _SLOW.replace("i32 %a {", "i32 %one {").replace("i32 %b {", "i32 %one {"),
    ),
    wrong={
        _SLOW.replace("i32 %a {", "i32 %one {"): "still takes",
        _SLOW.replace("seconds = 0.25", "seconds = 0.05"): "three slow kernels of 250",
        _SLOW.replace("i32 %b {", "i32 %one {"): "still takes",
        _SLOW.replace("tfrt.add.i32 %ab, %c", "tfrt.add.i32 %a, %c"): "still takes",
        _SLOW.replace("i32 %a {", "i32 %one {")
        .replace("i32 %b {", "i32 %one {")
        .replace(
            "%sum = tfrt.add.i32 %ab, %c", "%sum = tfrt.constant.i32 3"
        ): "Keep the two additions",
        _SLOW.replace("demo.wait.i32 %b {seconds = 0.25}", "tfrt.add.i32 %one, %one"): "three slow",
    },
    why="All three take %one, which is available at once, so their times overlap.",
)
def fan(answer: Code) -> str | None:
    """This program takes 750 ms, and returns 3. Change it so that it still has three slow kernels
    and returns 3, but takes about 250 ms.
    """
    seconds = re.findall(r"seconds\s*=\s*([\d.]+)", answer.bare)
    if answer.kernels().count("demo.wait.i32") != 3 or [*map(float, seconds)] != [0.25] * 3:
        return "Keep the three slow kernels of 250 ms, and change only their operands."
    steps = answer.longest_path("demo.wait.i32")
    if steps > 1:
        return (
            f"The run still takes {steps * 250} ms: a slow kernel still waits for another one.  "
            "Follow the arrows."
        )
    if answer.needed("demo.wait.i32") < 3:
        return "Keep the two additions, so that the result needs all three slow kernels."
    results = answer.run(queue="mstd:2").results
    return None if results == (3,) else f"The run is fast, but it returns {results}, not 3."
