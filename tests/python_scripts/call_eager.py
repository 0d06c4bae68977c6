# tfrt.call "runs one kernel on the default host and returns its AsyncValue (a tuple when it has several results); attributes by keyword".
import tfrt_nb as tfrt


@tfrt.kernel("eager.scale")
def scale(x: float, *, factor: float = 10.0, offset: float = 0.0) -> float:
    return x * factor + offset


@tfrt.kernel("eager.join")
def join(left, right):
    return left + right


total = tfrt.call("tfrt.add.i32", 1, 2)
print(isinstance(total, tfrt.AsyncValue), total.result(20))
quotient, rest = tfrt.call("tfrt.div.i32", 17, 5)
print(quotient.result(20), rest.result(20))
print(tfrt.call("tfrt.constant.i32", value=5).result(20))
print(tfrt.call("tfrt.multiply.f64", 1.5, 4.0).result(20))
print(tfrt.call("tfrt.add.i32", total, tfrt.call("tfrt.mul.i32", total, total)).result(20))

print(tfrt.call("eager.scale", 2.0).result(20))
print(tfrt.call("eager.scale", 2.0, offset=1.0, factor=3.0).result(20))
print(tfrt.call("eager.join", "to", "gether").result(20), tfrt.call("eager.join", [1], [2]).result(20))
print(tfrt.call("eager.join", 40, 2).result(20))  # "for user kernels from the values"

later = tfrt.unavailable()
waits = tfrt.call("tfrt.add.i32", later, 1)
print(waits.done())
later.set_result(41)
print(waits.result(20))
print("Divide by zero" in str(tfrt.call("tfrt.div.i32", 1, 0)[0].exception(20)))
for name, values in (("eager.no_such", (1,)), ("tfrt.add.i32", (1, "two"))):
    try:
        tfrt.call(name, *values).result(20)
    except tfrt.TfrtError as error:
        print("error", name in str(error) or "two" in str(error))
print(sum(tfrt.call("tfrt.add.i32", i, i).result(20) for i in range(1000)))
print(tfrt.call_each("tfrt.add.i32", range(5), [1] * 5).result(20))
print(tfrt.call_each("eager.scale", [2, 3], factor=4.0).result(20))
