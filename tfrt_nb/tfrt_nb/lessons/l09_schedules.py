"""Exercises of tutorial 09, every schedule."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise
from tfrt_nb.exercises.orders import linear_orders


@exercise(
    "schedules.results",
    form="[5, 6]",
    right=("[1, 2, 3]", "{1, 2, 3}", "3, 2, 1"),
    wrong={
        "3": "one schedule",
        "[2, 3]": "no path from %a",
        "[0, 1, 2, 3]": "always before",
        "[1, 2, 3, 4]": "after the get",
        "[1, 2]": "all three",
        "[1, 3]": "without %c",
        "1-3": "Line 1 was not understood",
    },
    why="%b is always before the get, %d never.  %a, and %c after %a, may each be before or after "
    "the get: 1, 2 or 3.",
)
def results(answer: Answer) -> str | None:
    """Which results are possible? Write all numbers."""
    hints = {
        (3,): "3 is the result of one schedule.  A thousand runs with that schedule would not show "
        "the others.",
        (2, 3): "There is no path from %a to the get: the get may run before %a.",
        (1, 2): "%a, %b and %c may all three be before the get.",
        (1, 3): "2 is possible, too: %a may be before the get without %c.",
    }
    found = {*answer.numbers()}
    if 0 in found:
        return "0 is impossible: the get takes the chain of %b, so %b is always before it."
    if 4 in found:
        return "4 would need %d, which takes the chain of the get: it is always after the get."
    each = "For each inc: is it always, never, or sometimes before the get?"
    return None if found == {1, 2, 3} else hints.get(tuple(sorted(found)), each)


_BEFORE = (("b", "get"), ("get", "d"), ("a", "c"), ("b", "c"))
"""What the arrows of the program say: the first is before the second."""


@exercise(
    "schedules.largest",
    form="[get, d, c, b, a]",
    right=("[a, b, c, get, d]", "b, a, c, get, 'd'"),
    wrong={
        "[a, b, c, d, get]": "chain of the get",
        "[a, c, b, get, d]": "chain of %b",
        "[b, get, a, c, d]": "larger",
        "[a, b, get, c, d]": "larger",
        "[a, b, c, get]": "all five",
        "[c, a, b, get, d]": "chain of %a",
        "[get, a, b, c, d]": "The get needs",
    },
    why="%c needs %a and %b, because it takes the merge of their chains.  If %c also runs before "
    "the get, the get reads 3.",
)
def largest(answer: Answer) -> str | None:
    """Write one order of the five kernels `a`, `b`, `c`, `d` and `get` that gives the largest
    result.
    """
    names = ["a", "b", "c", "d", "get"]
    words = answer.items(words=names)
    if sorted(words, key=str) != names:
        return "Write all five kernels, each once: a, b, c, d and get in some order."
    for first, second in _BEFORE:
        if words.index(second) < words.index(first):
            maker, user = (one if one == "get" else f"%{one}" for one in (first, second))
            article = "the " if maker == "get" else ""
            subject = "The get" if user == "get" else user
            return (
                f"{subject} needs the chain of {article}{maker}, so it cannot come before"
                f" {article}{maker}."
            )
    before = words.index("get")
    return (
        None if before == 3 else f"This order gives {before}; another order gives a larger result."
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
}"""  # noqa: E501  # learners see each operation in a line
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
        _RACE.replace(
            _GET,
            "  %m = tfrt.merge.chains %a, %b, %c : !tfrt.chain, !tfrt.chain, !tfrt.chain\n" + _GET,
        )
        .replace("(%k, %c)", "(%k, %m)")
        .replace("-> i32 {", "-> (i32, !tfrt.chain) {")
        .replace("return %v : i32", "return %v, %g : i32, !tfrt.chain"),
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
    why="A path must lead to the get from every inc: a merge of their chains, or one chain through "
    "all of them.",
)
def repair(answer: Code) -> str | None:
    """Change the program so that it returns 3 in every schedule. Keep the three `inc` kernels and
    the `get`.
    """
    kernels = answer.kernels()
    if (
        sum("atomic.inc" in one for one in kernels) != 3
        or sum("atomic.get" in one for one in kernels) != 1
    ):
        return "Keep three `inc` and one `get`."
    function = next(one for one in answer.program.file.functions if one.name == "main")
    touching = [at for at, one in enumerate(kernels) if "atomic.inc" in one or "atomic.get" in one]
    if len({function.kernels[at].arguments[0] for at in touching}) > 1:
        return "Keep one counter: the get must read the counter that each `inc` changes."
    get = next(at for at in touching if "get" in kernels[at])
    if function.result_registers[:1] != function.kernels[get].results[:1]:
        return "Return what the get reads."
    found = sorted({order.index(get) for order in linear_orders(function, touching)})
    if found == [3]:
        return None
    *most, last = map(str, found)
    shown = f"{', '.join(most)} or {last}" if most else last
    return f"This program can return {shown}.  Which inc has no path to the get?"
