# "@tfrt.kernel  # registers py.price"; "The decorated name stays a plain Python function. price.kernel is the Kernel".
import inspect

import tfrt_nb as tfrt


@tfrt.kernel
def price(pieces: int, *, cents: int = 250) -> int:
    """What the pieces cost."""
    return pieces * cents


@tfrt.kernel("shop.label", blocking=True)
def label(text: str, *, mark: str = "!") -> str:
    return text + mark


print(price(3), price(3, cents=2), price(pieces=4))
print(inspect.isfunction(price), price.__name__, price.__doc__)
print(price.kernel.name, label.kernel.name)
print("cents" in str(price.kernel.attributes), "mark" in str(label.kernel.attributes))
print("What the pieces cost." in price.kernel.documentation, hasattr(price.kernel, "signature"))

program = tfrt.Program("""
func.func @main(%x: i32, %s: !tfrt.string) -> (i32, i32, !tfrt.string) {
  %a = "py.price"(%x) {cents = 300 : i32} : (i32) -> i32
  %b = "py.price"(%x) : (i32) -> i32
  %c = "shop.label"(%s) {mark = "?"} : (!tfrt.string) -> !tfrt.string
  tfrt.return %a, %b, %c : i32, i32, !tfrt.string
}
""")
print(program.run(2, "milk").result(20))


@tfrt.kernel
def price(pieces: int, *, cents: int = 250) -> int:  # instead of the earlier one
    return -pieces * cents


print(program.run(2, "milk").result(20))
