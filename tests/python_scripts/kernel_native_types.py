# Native kernels take their types from annotations; they write only `tfrt.out[...]`, and return arrays.
import numpy as np

import tfrt_nb as tfrt


@tfrt.kernel("nt.smooth", native=True)
def smooth(x: tfrt.tensor[tfrt.f64, 1]) -> tfrt.tensor[tfrt.f64, 1]:
    return (x[1:] + x[:-1]) / 2


@tfrt.kernel("nt.both", native=True)
def both(x: tfrt.tensor[tfrt.f32, 2], *, by: float = 2.0) -> tuple[tfrt.tensor[tfrt.f64, 2], tfrt.i64]:
    return x * by, x.size


@tfrt.kernel("nt.add", native=True)
def add(x: tfrt.out[tfrt.tensor[tfrt.i64, 1]], y: tfrt.i64) -> None:
    for i in range(len(x)):
        x[i] += y


@tfrt.kernel("nt.spoil", native=True)
def spoil(x: tfrt.tensor[tfrt.f64, 1]) -> tfrt.f64:
    x[0] = 1.0
    return x[0]


@tfrt.kernel("nt.far", native=True)
def far(x: tfrt.tensor[tfrt.f64, 1]) -> tfrt.tensor[tfrt.f64, 1]:
    y = np.zeros(2)
    y[len(x)] = 1.0
    return y


print(tfrt.call("nt.smooth", np.array([1.0, 3.0, 5.0])).result(60).tolist())
print(tfrt.call("nt.smooth", np.arange(8.0)[::-4]).result(60).tolist())
doubled, size = tfrt.call("nt.both", np.ones((2, 2), np.float32), by=3.0)
print(doubled.result(60).tolist(), size.result(60))
mine = np.arange(3)
print(tfrt.call("nt.add", mine, 10).exception(60), mine.tolist())
print(repr(tfrt.call("nt.far", np.zeros(4)).exception(60).__cause__))
for name, given in (("spoil", np.zeros(2)), ("smooth", np.zeros((2, 2))), ("smooth", np.zeros(2, np.float32))):
    try:
        print(tfrt.call(f"nt.{name}", given).result(60))
    except tfrt.TfrtError as error:
        print(error.diagnostics[0].message)
try:
    @tfrt.kernel("nt.wrong", native=True)
    def wrong(x: np.ndarray) -> tfrt.f64:
        return x[0]
except tfrt.TfrtError as error:
    print(error.diagnostics[0].message)
