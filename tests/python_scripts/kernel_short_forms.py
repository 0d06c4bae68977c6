# A kernel with annotations has a short form: its operands have the types of their values, its results those of the annotations.
import numpy as np

import tfrt_nb as tfrt
from tfrt_nb.language.answers import complete, explain
from tfrt_nb.language.lint import lint


@tfrt.kernel("shop.price")
def price(pieces: int, *, cents: int = 250) -> int:
    """What some pieces cost."""
    return pieces * cents


@tfrt.kernel
def half(x: float) -> float:
    return x / 2


@tfrt.kernel("shop.split")
def split(x: int, y: tfrt.i64) -> tuple[int, str]:
    return x // 2, str(y)


@tfrt.kernel("shop.say")
def say(text: str) -> None:
    print(text)


@tfrt.kernel("shop.double")
def double(x: np.ndarray) -> np.ndarray:
    return 2 * x


@tfrt.kernel("shop.show")
def show(text: str):
    print(text)


def attempt(text, *arguments):
    try:
        return tfrt.Program(f"func.func @main(%x: i32) -> i32 {{\n{text}\n}}").run(7).result(20)
    except tfrt.TfrtError as error:
        return error


print(attempt("  %y = shop.price %x\n  %z = shop.price %y {cents = 2}\n  tfrt.return %z : i32"))
print(
    tfrt.Program("""
func.func @main(%x: i32, %n: i64, %f: f32, %t: !t.tensor) -> (i32, f32, !t.tensor, !tfrt.chain, i64) {
  %a, %s = shop.split %x, %n
  %h = py.half %f
  %c = shop.say %s
  %u = shop.double %t
  %w = shop.price %x : (i32) -> i64
  tfrt.return %a, %h, %u, %c, %w : i32, f32, !t.tensor, !tfrt.chain, i64
}
""")
    .run(3, 4, 5.0, np.array([1.5]))
    .result(20)
)
for line in (
    "%y = shop.prise %x",  # a letter is wrong
    "%y = shop.price %z",
    "%y = shop.price %x#1",
    "%y = shop.price %x, %x",
    "%y = shop.price %x {sents = 2}",
    "%y = shop.say %x",
    "%y = shop.show %x",  # which has no annotation
):
    print(attempt(f"  {line}\n  tfrt.return %x : i32"))

written = "func.func @main(%x: i32) -> i32 {\n  %y = shop.price %x\n  %z = shop.pr"
print([one.text for one in complete(written, len(written))])
print(explain(written, written.index("shop.price")))
written = written.replace("%z = shop.pr", "%c = shop.say %y\n  tfrt.return %y : i32\n}")
print([(one.location.line, one.message) for one in lint(written, "cell")])
