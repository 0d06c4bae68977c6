"""Exercises of tutorial 07, Python all the way."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer, Names, attempt, waited_for
from tfrt_nb.exercises.exercise import exercise
from tfrt_runtime.kernels.users.user import kernel

_told: list[int] = []


@kernel("lesson.tell")
def tell(number: int) -> None:
    """Add the number to the list that the exercise reads."""
    _told.append(number)


@exercise(
    "python.outputs",
    form="[[3, 4], [4, 3]]",
    right=("[[1, 2, 9], [1, 9, 2], [9, 1, 2]]", "(9, 1, 2), (1, 2, 9), (1, 9, 2)"),
    wrong={
        "[[1, 2, 9]]": "line by line",
        "[[1, 2, 9], [1, 9, 2], [9, 1, 2], [2, 1, 9]]": "after=a",
        "[[1, 2, 9], [9, 1, 2]]": "between",
        "[[1, 2], [2, 1]]": "complete output",
    },
    why="Only `after=a` gives order: 1 is before 2.  The third call has no chain, so 9 may be "
    "anywhere.",
)
def outputs(answer: Answer) -> str | None:
    """`say` is a kernel that prints its argument. Write every output that `f(1, 2)` may have,
    each as a list of its numbers.

    ```python
    @tfrt.program
    def f(x: tfrt.i32, y: tfrt.i32):
        a = say(x)
        b = say(y, after=a)
        say(9)
        return x * y
    ```
    """
    orders = answer.orders()
    if any(sorted(one, key=str) != [1, 2, 9] for one in orders):
        return "Each list is one complete output: 1, 2 and 9 in some order."
    if any(one.index(2) < one.index(1) for one in orders):
        return "The second call has `after=a`, so 2 never comes before 1."
    if orders == {(1, 2, 9)}:
        return (
            "A traced function does not run line by line: each call is an operation.  Which "
            "chain does the last one wait for?"
        )
    return None if len(orders) == 3 else "One is missing: 9 may be first, last, or between the two."


@exercise(
    "python.program",
    start="""\
    @tfrt.program
    def larger(x: tfrt.i32, y: tfrt.i32):
        if x > y:
            return x
        return y
    """,
    right=(
        """\
        @tfrt.program
        def larger(x: tfrt.i32, y: tfrt.i32):
            return tfrt.max(x, y)
        """,
        """\
        @tfrt.program
        def larger(x: tfrt.i32, y: tfrt.i32):
            return tfrt.cond(x > y, lambda a, b: a, lambda a, b: b, x, y)
        """,
    ),
    wrong={
        "@tfrt.program\ndef larger(x: tfrt.i32, y: tfrt.i32):\n    return "
        "max(x, y)": "raises TfrtError",
        "def larger(x, y):\n    return max(x, y)": "@tfrt.program",
        "@tfrt.program\ndef larger(x: tfrt.i32, y: tfrt.i32):\n    "
        "tfrt.max(x, y)": "returns nothing",
        "@tfrt.program\ndef larger(x: tfrt.i32):\n    "
        "return x": "raises TfrtError: @larger takes 1 argument",
        "@tfrt.program\ndef larger(x: tfrt.i32, y: tfrt.i32):\n    return tfrt.min(x, y)": "not 5",
        "@tfrt.program\ndef larger(x: tfrt.i32, y: tfrt.i32):\n    return tfrt.cond(x > y, lambda "
        "a, b: b, lambda a, b: a, x, y)": "not 5",
    },
    why="While the function is traced, there is no number to compare.  `tfrt.cond` makes the "
    "choice part of the program; `tfrt.max` is a kernel that makes the choice.",
)
def program(answer: Names) -> str | None:
    """This program cannot be traced. Write `larger` so that it is still a `@tfrt.program`, and
    returns the larger of two numbers.
    """
    if not hasattr(answer.get("larger"), "trace"):
        return "`larger` must be a `@tfrt.program`."
    for x, y in ((5, 3), (3, 5), (-2, -2)):
        found = answer.call("larger", x, y)
        if found == ():
            return "`larger` returns nothing: its value needs a `return`."
        if found != max(x, y):
            return f"larger({x}, {y}) returns {found}, not {max(x, y)}."
    return None


@exercise(
    "python.order",
    start="""\
    from tfrt_nb.lessons.l07_python import tell

    @tfrt.program
    def count(x: tfrt.i32):
        tell(x)
        tell(x + 1)
        tell(x + 2)
        return x
    """,
    right=(
        """\
        from tfrt_nb.lessons.l07_python import tell

        @tfrt.program
        def count(x: tfrt.i32):
            with tfrt.in_order():
                tell(x)
                tell(x + 1)
                tell(x + 2)
            return x
        """,
        """\
        from tfrt_nb.lessons.l07_python import tell

        @tfrt.program
        def count(x: tfrt.i32):
            a = tell(x)
            b = tell(x + 1, after=a)
            tell(x + 2, after=b)
            return x
        """,
    ),
    wrong={
        """\
        from tfrt_nb.lessons.l07_python import tell

        @tfrt.program
        def count(x: tfrt.i32):
            a = tell(x)
            tell(x + 1, after=a)
            tell(x + 2, after=a)
            return x
        """: "may also tell",
        """\
        from tfrt_nb.lessons.l07_python import tell

        @tfrt.program
        def count(x: tfrt.i32):
            with tfrt.in_order():
                tell(1)
                tell(2)
                tell(3)
            return x
        """: "not [4, 5, 6]",
        """\
        from tfrt_nb.lessons.l07_python import tell

        def count(x):
            tell(x)
            tell(x + 1)
            tell(x + 2)
            return x
        """: "@tfrt.program",
        """\
        from tfrt_nb.lessons.l07_python import tell

        @tfrt.program
        def count(x: tfrt.i32):
            with tfrt.in_order():
                tell(x)
                tell(x + 1)
            return x
        """: "three",
        """\
        @tfrt.program
        def count(x: tfrt.i32):
            if tell(x):
                tell(x + 1)
            return x
        """: "not defined",
    },
    why="A call is an operation; only a chain puts one after the other.  `in_order` passes the "
    "chain along automatically.",
)
def python_order(answer: Names) -> str | None:
    """`tell` is a kernel with an effect. Change `count` so that it always tells x, then x + 1, then
    x + 2.
    """
    from tfrt_nb.exercises.orders import linear_orders

    function = answer.get("count")
    if not callable(function) or not hasattr(function, "trace"):
        return "`count` must be a `@tfrt.program`."
    traced = attempt("count", lambda: function.trace())
    body = next(one for one in traced.file.functions if one.name == "count")  # type: ignore[attr-defined]
    calls = [at for at, one in enumerate(body.kernels) if one.name == "lesson.tell"]
    if len(calls) != 3:
        return f"`count` itself must call `tell` three times; calls here: {len(calls)}."
    if len(linear_orders(body, calls)) > 1:
        return (
            "The program may also tell the numbers in another order: two of the calls have no "
            "chain between them."
        )
    _told.clear()
    run = attempt("count(4)", lambda: function(4))
    attempt("count(4)", lambda: waited_for(run))
    run.wait(5)  # type: ignore[attr-defined]
    return None if _told == [4, 5, 6] else f"count(4) tells {_told}, not [4, 5, 6]."
