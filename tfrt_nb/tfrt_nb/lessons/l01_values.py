"""Exercises of tutorial 01, values that are not available yet."""

from __future__ import annotations

import inspect
from concurrent import futures
from functools import partial
from typing import TYPE_CHECKING

from tfrt_nb.exercises.answer import Answer, Names, attempt, raised
from tfrt_nb.exercises.exercise import exercise
from tfrt_runtime.host.default_host import unavailable
from tfrt_runtime.host.queues.threads import run_apart

if TYPE_CHECKING:
    from collections.abc import Callable


@exercise(
    "values.before",
    form="a = [1, 2]\nb = [second]",
    right=("a = [4]\nb = [first, third]", "b = ('third', 'first'); a = 4"),
    wrong={
        "a = []\nb = []": "does not wait for its arguments",
        "a = [4, 8]\nb = [first, third]": "own chain",
        "a = [4]\nb = first": "only the last line",
        "a = [4]\nb = [first, second, third]": "%late",
        "a = [4]": "Part b has no answer",
        "a: 4\nb: first": "Line 1: write `a = 4`",
    },
    why="Nothing that %four and its print need is missing.  %p2 has no number yet, and %p3 waits "
    "for the chain of %p2.  %square needs only %four, so the third result is available, although "
    "its line is the last one.",
)
def before(answer: Answer) -> str | None:
    """The box `%late` is still empty.

    ```
    func.func @main(%late: i32) -> (i32, i32, i32) {
      %ch = tfrt.new.chain
      %four = tfrt.constant.i32 4
      %eight = tfrt.add.i32 %four, %four
      %p1 = tfrt.print.i32 %four, %ch
      %p2 = tfrt.print.i32 %late, %p1
      %p3 = tfrt.print.i32 %eight, %p2
      %more = tfrt.add.i32 %eight, %late
      %square = tfrt.mul.i32 %four, %four
      tfrt.return %eight, %more, %square : i32, i32, i32
    }
    ```

    (a) Which numbers are printed? (b) Which results are available: `first`, `second`, `third`?
    Write two lists; an empty one is `[]`.
    """
    a, b = answer.parts("a", "b")
    printed, results = a.numbers(), {*b.items(words=("first", "second", "third"))}
    if printed == ():
        return (
            "A function does not wait for its arguments; each kernel waits for its own.  Does "
            "%p1 need %late?"
        )
    if printed == (4, 8):
        return "%p3 has its number, but a print also waits for its own chain.  Whose chain is it?"
    if printed != (4,):
        return "Part a: for each print, are its number and its chain available?"
    if "second" in results:
        return "Part b: %more needs %late, which is missing."
    if results == {"first"}:
        return "Part b: %square is only the last line of the text; what does it need?"
    return (
        None if results == {"first", "third"} else "Part b: write the words first, second or third."
    )


@exercise(
    "values.after",
    form="[3, 2]",
    right=("[1, 8]", "1, 8"),
    wrong={
        "[8, 1]": "chain of",
        "[4, 1, 8]": "printed already",
        "1": "second print",
        "[1, 4]": "%eight",
        "1 8": "Line 1 was not understood: `1 8`",
    },
    why="Filling the box lets %p2 run, and its chain lets %p3 run.  4 was printed earlier, and is "
    "not printed again.",
)
def after(answer: Answer) -> str | None:
    """In the same program, `%late` is now filled with 1.  Which numbers are printed from this
    moment on, in order?
    """
    numbers = answer.numbers()
    if numbers[:1] == (4,):
        return "4 was printed already, before the box was filled; a kernel runs only once."
    hints: dict[tuple[int, ...], str] = {
        (8, 1): "%p3 takes the chain of %p2, so it cannot be first.",
        (1,): "A second print was waiting, too: which print takes the chain of %p2?",
        (1, 4): "%p3 prints %eight, not %four.",
    }
    waited = "Two prints were waiting.  Write their numbers in order."
    return None if numbers == (1, 8) else hints.get(numbers, waited)


@exercise(
    "values.double",
    start="""\
    def doubled(box):
        return box.result() * 2
    """,
    right=(
        """\
        def doubled(box):
            return box.then(lambda value: value * 2)
        """,
        """\
        def doubled(box):
            return tfrt.call("tfrt.add.i32", box, box)
        """,
    ),
    wrong={
        "def doubled(box):\n    return box * 2": "raises",
        "def doubled(box):\n    return box.then(lambda value: value + 2)": "not 14",
        "def doubled(box):\n    return 14": "must return an AsyncValue",
        "def doubled(box):\n    return box.then(lambda value: 14)": "With 5 in the box",
        "def doubled(box):\n    return box.result(0) * 2": "before the box is filled",
        "def doubled(box):\n    box.set_result(14)\n    return box": "fills the box itself",
        "doubled = 3": "must be a function",
        "async def doubled(box):\n    return 2 * await box": "returns a coroutine",
    },
    why="`then` leaves a note at the box and returns a new box at once.  `result` would wait, and "
    "in the meantime nothing on this thread could fill the box.",
)
def double(answer: Names) -> str | None:
    """Write a function `doubled(box)` that takes an AsyncValue of a number and returns an
    AsyncValue of twice that number. It must return at once, even if the box is still empty.
    """
    box = unavailable()
    function = answer.get("doubled")
    if not callable(function):
        return "`doubled` must be a function."
    # A function that waits for the box must not keep the cell: it waits on a thread of its own.
    # Where there is only one, its wait is an error.
    calling = futures.Future[object]()
    run_apart("answer", partial(_call, calling, function, box))
    try:
        made = calling.result(timeout=1)
    except TimeoutError:
        waits = not calling.done()
        box.set_result(7)
        if waits:
            return (
                "The function waits until the box is filled, as `result()` does.  Leave a note "
                "at the box instead: `then`."
            )
        return (
            "The function asks for the value before the box is filled, so it raises "
            "TimeoutError.  Use `then`."
        )
    except Exception as problem:  # noqa: BLE001  # the learner's function may raise anything
        return raised("doubled(box)", problem)
    if inspect.iscoroutine(made):
        made.close()
        return (
            "An `async def` returns a coroutine, which starts only when it is awaited.  Use `then`."
        )
    if not hasattr(made, "result"):
        return f"The function must return an AsyncValue; it returned {made!r}."
    if box.done():
        return (
            "The function fills the box itself.  Leave that to other code: return a new box that "
            "follows it."
        )
    box.set_result(7)
    found = attempt("doubled(box).result()", lambda: made.result(timeout=5))
    if found != 14:
        return f"With 7 in the box, the result is {found}, not 14."
    other = unavailable()
    doubled = function(other)
    other.set_result(5)
    found = attempt("doubled(box).result()", lambda: doubled.result(timeout=5))
    return None if found == 10 else f"With 5 in the box, the result is {found}, not 10."


def _call(calling: futures.Future[object], function: Callable[..., object], box: object) -> None:
    try:
        calling.set_result(function(box))
    except BaseException as problem:  # noqa: BLE001  # it is raised again where the call is waited for
        calling.set_exception(problem)
