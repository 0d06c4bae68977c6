"""Exercises of tutorial 11, every schedule."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise
from tfrt_nb.exercises.orders import linear_orders


@exercise(
    "schedules.results",
    right=("1 2 3", "1, 2, 3", "3 2 1"),
    wrong={
        "3": "thousand runs",
        "2 3": "%b is after %a",
        "0 1 2 3": "always before",
        "1 2 3 4": "after the get",
        "1 2": "both",
    },
    why="%a is always before the get, %d never.  %b and %c may each be before or after it: 1, 2 or 3.",
)
def results(answer: Answer) -> str | None:
    """Which results are possible? Write all numbers."""
    found = {*answer.numbers()}
    if found == {3}:
        return "3 is the result of one schedule.  A thousand runs with that schedule would not show the others."
    if 0 in found:
        return "0 is impossible: the get takes the chain of %a, so %a is always before it."
    if 4 in found:
        return "4 would need %d, which takes the chain of the get: it is always after the get."
    if found == {2, 3}:
        return "%b is after %a, but that does not put it before the get.  And %c has no path to the get."
    if found == {1, 2}:
        return "%b and %c may both be before the get."
    return (
        None
        if found == {1, 2, 3}
        else "For each inc: is it always, never, or sometimes before the get?"
    )


@exercise(
    "schedules.smallest",
    right=("a get b c d", "a get c b d", "%a get %d %b %c", "a, get, b, d, c"),
    wrong={
        "get a b c d": "chain of %a",
        "a b get c d": "smaller",
        "a get b c": "all five",
        "a get b d c d": "all five",
        "a c get b d": "smaller",
    },
    why="Only %a must be before the get.  So the smallest result is 1, with everything else behind the get, in any order that keeps"
    " %d behind it.",
)
def smallest(answer: Answer) -> str | None:
    """Write one order of the five kernels `a`, `b`, `c`, `d` and `get` that gives the smallest result."""
    words = [word.removeprefix("%") for word in answer.words]
    if sorted(words) != ["a", "b", "c", "d", "get"]:
        return "Write all five kernels, each once: a, b, c, d and get in some order."
    if words.index("a") > words.index("get"):
        return "The get takes the chain of %a, so it cannot be before it."
    if words.index("d") < words.index("get"):
        return "%d takes the chain of the get, so it cannot be before it."
    if words.index("b") < words.index("a"):
        return "%b takes the chain of %a, so it cannot be before it."
    before = words.index("get")
    return (
        None
        if before == 1
        else f"This order gives {before}; there is one that gives a smaller result."
    )


_RACE = """\
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %k = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %a = "tfrt_test.atomic.inc.i32"(%k, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %b = "tfrt_test.atomic.inc.i32"(%k, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %c = "tfrt_test.atomic.inc.i32"(%k, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %v, %g = "tfrt_test.atomic.get.i32"(%k, %c) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %v : i32
}"""
_GET = "  %v, %g"


@exercise(
    "schedules.repair",
    start=_RACE,
    right=(
        _RACE.replace(
            _GET,
            "  %m = tfrt.merge.chains %a, %b, %c : !tfrt.chain, !tfrt.chain, !tfrt.chain\n" + _GET,
        ).replace("(%k, %c)", "(%k, %m)"),
        _RACE.replace(
            '%b = "tfrt_test.atomic.inc.i32"(%k, %ch)', '%b = "tfrt_test.atomic.inc.i32"(%k, %a)'
        ).replace(
            '%c = "tfrt_test.atomic.inc.i32"(%k, %ch)', '%c = "tfrt_test.atomic.inc.i32"(%k, %b)'
        ),
    ),
    wrong={
        _RACE.replace(
            '%c = "tfrt_test.atomic.inc.i32"(%k, %ch)', '%c = "tfrt_test.atomic.inc.i32"(%k, %b)'
        ): "2 or 3",
        _RACE.replace('get.i32"(%k, %c)', 'get.i32"(%k, %b)'): "1, 2 or 3",
        _RACE.replace(
            _GET, "  %m = tfrt.merge.chains %b, %c : !tfrt.chain, !tfrt.chain\n" + _GET
        ).replace("(%k, %c)", "(%k, %m)"): "2 or 3",
        _RACE.replace(
            "tfrt.return %v", "%three = tfrt.constant.i32 3\n  tfrt.return %three"
        ): "Return what the get reads",
    },
    why="The get must have a path from every inc: a merge of their chains, or one chain through all of them.",
)
def repair(answer: Code) -> str | None:
    """Change the program so that it returns 3 in every schedule. Keep the three `inc` and the `get`."""
    kernels = answer.kernels()
    if (
        sum("atomic.inc" in one for one in kernels) != 3
        or sum("atomic.get" in one for one in kernels) != 1
    ):
        return "Keep three `inc` and one `get`."
    function = next(one for one in answer.program.file.functions if one.name == "main")
    touching = [at for at, one in enumerate(kernels) if "atomic.inc" in one or "atomic.get" in one]
    get = next(at for at in touching if "get" in kernels[at])
    if function.result_registers != function.kernels[get].results[:1]:
        return "Return what the get reads."
    found = sorted({order.index(get) for order in linear_orders(function, touching)})
    if found == [3]:
        return None
    *most, last = map(str, found)
    shown = f"{', '.join(most)} or {last}" if most else last
    return f"This program can return {shown}.  From which inc is there no path to the get?"
