"""Exercises of tutorial 05, calls: strict and non-strict."""

from __future__ import annotations

from tfrt_nb.exercises.answer import Answer, Code
from tfrt_nb.exercises.exercise import exercise
from tfrt_runtime.host.default_host import unavailable


@exercise(
    "control.when",
    form="a = start\nb = start\nc = start\nd = start",
    right=(
        "a = late\nb = start\nc = late\nd = start",
        "a = 'late'; b = 'start'; c = late; d = start",
    ),
    wrong={
        "a = start\nb = start\nc = late\nd = start": "waits for all",
        "a = late\nb = late\nc = late\nd = start": "ignores",
        "a = late\nb = start\nc = start\nd = start": "inside",
        "a = late\nb = start\nc = late\nd = late": "condition",
        "a = late\nb = start\nc = late": "Part d",
    },
    why="A strict call waits for all arguments.  A non-strict one starts at once; kernels inside "
    "wait only if they use the late value.",
)
def when(answer: Answer) -> str | None:
    """`%x` is available; `%late` arrives after a second. `@first` returns its first argument and
    ignores the second; `@add` adds both. When is each result available: `start` or `late`?

    ```
    %a = tfrt.call @first(%x, %late)
    %b = tfrt.call @first(%x, %late) {bef.nonstrict}
    %c = tfrt.call @add(%x, %late) {bef.nonstrict}
    %d = tfrt.cond %yes @first @add (%x, %late) {bef.nonstrict}  // %yes is true
    ```
    """
    return answer.hint_for_parts(
        a=(
            "late",
            "start",
            "this call is strict: it waits for all its arguments, whatever @first does with them.",
        ),
        b=("start", "late", "the call starts at once, and @first ignores the late argument."),
        c=(
            "late",
            "start",
            "the call starts at once, but the addition inside it needs both numbers.",
        ),
        d=(
            "start",
            "late",
            "a non-strict cond needs only its condition, and the branch that it takes is @first.",
        ),
    )


@exercise(
    "control.error",
    form="[7, 8, error]",
    right=("[error, 4, error]", "error, 4, 'error'"),
    wrong={
        "[4, 4, error]": "strict",
        "[error, error, error]": "never touches",
        "[error, 4, 4]": "uses",
        "[error, 4]": "Write 3 values",
        "[error, 4, skipped]": "its result is an error",
    },
    why="The strict call is skipped.  The non-strict @first never touches the error.  The "
    "non-strict @add has an addition inside that takes it.",
)
def control_error(answer: Answer) -> str | None:
    """`%x` is 4, and `%bad` is an error. `@first` and `@add` are as above. What are the three
    results: a number or `error`?

    ```
    %a = tfrt.call @first(%x, %bad)
    %b = tfrt.call @first(%x, %bad) {bef.nonstrict}
    %c = tfrt.call @add(%x, %bad) {bef.nonstrict}
    ```
    """
    first, second, third = results = answer.items(3, ("error", "skipped"))
    if "skipped" in results:
        return "An operation is skipped; its result is an error.  Write `error`."
    if first != "error":
        return "The first call is strict: an error in any of its arguments skips it."
    if second == "error":
        return "The second call starts with what is available, and @first never touches %bad."
    if second != 4:
        return "@first returns its first argument.  Which number is that in the second call?"
    return None if third == "error" else "@add uses %bad: its addition is a strict kernel."


_COND = """\
func.func @plain(%price: i32, %discount: i32) -> i32 {
  tfrt.return %price : i32
}
func.func @reduced(%price: i32, %discount: i32) -> i32 {
  %less = tfrt.minus.i32 %price, %discount
  tfrt.return %less : i32
}
func.func @main(%has_discount: i1, %price: i32, %discount: i32) -> i32 {
  %cost = tfrt.cond %has_discount @reduced @plain (%price, %discount) : (i32, i32) -> (i32)
  tfrt.return %cost : i32
}"""


@exercise(
    "control.branch",
    start=_COND,
    right=(
        _COND.replace("(%price, %discount) :", "(%price, %discount) {bef.nonstrict} :"),
        _COND.replace(
            "tfrt.cond %has_discount @reduced @plain (%price, %discount) :",
            "tfrt.if %has_discount, %price, %discount attributes {bef.nonstrict} :",
        ).replace(
            " -> (i32)\n",
            """ -> (i32) {
    %less = tfrt.minus.i32 %price, %discount
    tfrt.return %less : i32
  } else {
    tfrt.return %price : i32
  }
""",
        ),
    ),
    wrong={
        _COND.replace(": (i32, i32)", ": (i1, i32, i32)"): "not correct yet",
        _COND.replace("@reduced @plain", "@plain @reduced"): "even if @plain never uses it",
        _COND.replace("return %cost", "return %price"): "With a discount of 3",
        _COND.replace("(%price, %discount) :", "(%price, %discount) {bef.nonstrict} :").replace(
            "@reduced @plain", "@plain @reduced"
        ): "even if @plain never uses it",
    },
    why="A strict `cond` waits for all arguments before it chooses.  A non-strict one waits for "
    "its condition, and @plain never touches the box of %discount.",
)
def branch(answer: Code) -> str | None:
    """`@main` returns `%price`, or the price after a discount.  Change it so that, without a
    discount, the result is available before `%discount` is.
    """
    late = unavailable()
    with_discount = answer.run(True, 10, 3).result
    run = answer.program.run(False, 10, late)
    try:
        without = run.results[0].result(timeout=1)
    except TimeoutError:
        return "Without a discount it waits for %discount, even if @plain never uses it."
    finally:
        late.set_result(3)
    if with_discount != 7:
        return f"With a discount of 3, a price of 10 becomes {with_discount}, not 7."
    return None if without == 10 else f"Without a discount, 10 becomes {without}."
