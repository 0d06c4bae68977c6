# Arrays of any order, stride, byte order and size go in; what comes out is read-only and shares what it can.
import numpy as np

import tfrt_nb as tfrt


@tfrt.kernel("kinds.same")
def same(x):
    return x


@tfrt.kernel("kinds.part")
def part(x: np.ndarray) -> np.ndarray:
    return x[1:]


@tfrt.kernel("kinds.spoil")
def spoil(x: np.ndarray) -> bool:
    try:
        x[...] = -1
    except ValueError:
        return True  # read-only, as others have it, too
    return False


def run(name, value):
    return tfrt.Program(f"""
func.func @main(%x: !t.tensor) -> !t.tensor {{
  %y = "kinds.{name}"(%x) : (!t.tensor) -> !t.tensor
  tfrt.return %y : !t.tensor
}}
""").run(value).result(20)


GIVEN = [
    np.zeros(0),
    np.zeros((0, 3)),
    np.array(5.0),
    np.asfortranarray(np.arange(6).reshape(2, 3)),
    np.arange(4, dtype=">i4"),
    np.array([True, False]),
    np.array([1 + 2j]),
    np.frombuffer(b"abcd", np.uint8),
    np.broadcast_to(np.arange(3.0), (2, 3)),
]
for given in GIVEN:
    got = run("same", given)
    print(got.dtype, got.shape, bool((got == given).all()), got.flags.writeable)
mine = np.arange(4.0)
rest = run("part", mine)
print(rest.tolist(), np.shares_memory(mine, rest), np.shares_memory(mine, run("part", rest)))
print(tfrt.call("kinds.spoil", mine).result(20), mine.tolist())
for wrong in (np.array(["a"]), np.array([None]), [1, 2], None, 3):
    try:
        run("same", wrong)
    except tfrt.TfrtError as error:
        print(str(error).split("@main: ")[1])
