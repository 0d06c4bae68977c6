"""Exercises of tutorial 03, order without time."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise


@exercise(
    "chains.outputs",
    form="[[1, 2], [2, 1]]",
    right=("[[5, 6, 7], [5, 7, 6], [7, 5, 6]]", "[\n  (7, 5, 6),\n  (5, 7, 6),\n  (5, 6, 7),\n]"),
    wrong={
        "[[5, 6, 7]]": "not text order",
        "[[5, 6, 7], [5, 7, 6]]": "may come first",
        "[[5, 6, 7], [5, 7, 6], [7, 5, 6], [6, 5, 7]]": "6 before 5",
        "[[5, 6, 7], [5, 7, 6], [7, 5, 6], [7, 6, 5]]": "6 before 5",
        "[5, 6, 7]\n[5, 7, 6]": "Line 2 is another answer",
        "[[5, 6]]": "numbers 5, 6 and 7",
    },
    why="The print of 6 takes the chain of the print of 5, so 5 is before 6.  The print of 7 takes "
    "only the first chain, which is available at once: 7 may be first, between them, or last.",
)
def outputs(answer: Answer) -> str | None:
    """Write every output that the program above may have, each as a list of its numbers."""
    orders = answer.orders()
    if any(sorted(order, key=str) != [5, 6, 7] for order in orders):
        return "Each list is one complete output: the numbers 5, 6 and 7 in some order."
    if any(order.index(6) < order.index(5) for order in orders):
        return "One of your lists has 6 before 5.  Whose chain does the print of 6 take?"
    if orders == {(5, 6, 7)}:
        return (
            "You wrote only the order of the lines, but order comes from chains, not text order.  "
            "Which chain does the print of 7 wait for?"
        )
    if (7, 5, 6) not in orders:
        return "The print of 7 waits only for the first chain.  So 7 may come first, too."
    missing = "A list is missing.  Put 7 at each of the three places around 5 and 6."
    return None if len(orders) == 3 else missing


_TWO = """\
func.func @main() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %three = tfrt.constant.i32 3
  %a = tfrt.print.i32 %three, %ch
  %b = tfrt.print.i32 %two, %ch
  %c = tfrt.print.i32 %one, %ch
  %done = tfrt.merge.chains %a, %b, %c : !tfrt.chain, !tfrt.chain, !tfrt.chain
  tfrt.return %done : !tfrt.chain
}"""


@exercise(
    "chains.countdown",
    start=_TWO,
    right=_TWO.replace("%two, %ch", "%two, %a").replace("%one, %ch", "%one, %b"),
    wrong={
        _TWO.replace("%two, %ch", "%two, %a"): "also print",
        _TWO.replace("%one, %ch", "%one, %b"): "also print",
        _TWO.replace("%one, %ch", "%one, %a").replace("%two, %ch", "%two, %a"): "also print",
        _TWO.replace("%two, %ch", "%two, %three"): "not correct yet",
        _TWO.replace(
            "tfrt.print.i32 %three, %ch",
            "tfrt.call @show(%three, %ch) : (i32, !tfrt.chain) -> !tfrt.chain",
        )
        + """
func.func @show(%x: i32, %ch: !tfrt.chain) -> !tfrt.chain {
  %p = tfrt.print.i32 %x, %ch
  tfrt.return %p : !tfrt.chain
}""": "in @main itself",
    },
    why="Each print takes the chain of the one before it.  A merge orders what comes after it; it "
    "does not order the chains that it merges.",
)
def countdown(answer: Code) -> str | None:
    """Change the program so that it always prints 3, then 2, then 1."""
    orders = answer.orders()
    if orders == {("3", "2", "1")}:
        return None
    if ("3", "2", "1") not in orders:
        return f"This program never prints 3 2 1; it can print {_listed(orders)}."
    return (
        f"It can print 3 2 1, but it can also print {_listed(orders - {('3', '2', '1')})}.  A "
        f"print waits only for its own chain; the merge orders what comes after it."
    )


def _listed(orders: set[tuple[str, ...]]) -> str:
    return " and ".join(sorted(" ".join(one) or "nothing" for one in orders)[:3])


@exercise(
    "chains.after",
    form="10",
    right="3",
    wrong={
        "24": "without any arrows",
        "1": "text order",
        "2": "either side",
        "6": "waits for %b",
        "4": "list them",
    },
    why="1 is first, because %b and %c wait for %a.  4 waits for %b.  That leaves 1 2 3 4, 1 2 4 "
    "3 and 1 3 2 4.",
)
def after(answer: Answer) -> str | None:
    """How many different outputs may this program have?

    ```
    %a = tfrt.print.i32 %one, %ch
    %b = tfrt.print.i32 %two, %a
    %c = tfrt.print.i32 %three, %a
    %d = tfrt.print.i32 %four, %b
    ```
    """
    found = answer.number()
    hints = {
        24: "24 is the number of orders without any arrows.  Which print must be first?",
        1: "1 counts only the text order.  Does a path lead from %b to %c?",
        2: "Put 2 and then 4 after 1.  The 3 may be on either side of each of them.",
        6: "6 would be right if 4 could be anywhere, but %d waits for %b.",
    }
    return (
        None if found == 3 else hints.get(found, "Write 1 first, then list them: where may 3 go?")
    )
