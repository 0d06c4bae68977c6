# A kernel of numbers runs at once, with numbers and with values that are there; everything else goes the long way.
import tfrt_nb as tfrt


@tfrt.kernel("numbers.within")
def within(x: int) -> int:
    return tfrt.call("tfrt.mul.i32", tfrt.call("tfrt.add.i32", x, 1), 2).result(20)


def attempt(name, *values):
    try:
        return tfrt.call(name, *values).result(20)
    except tfrt.TfrtError as error:
        return error.diagnostics[0].message


def call_all():
    one = tfrt.call("tfrt.add.i32", 2**31 - 1, 1)
    print(one.done(), one.result(), one.cancel(), one.cancelled(), one.type)
    print(tfrt.call("tfrt.add.i32", one, one).result(20), tfrt.call("tfrt.equal.i32", one, one).result(20))
    print(attempt("tfrt.add.f32", 0.5, 0.25), attempt("tfrt.add.f64", 0.5, 1), attempt("tfrt.add.i64", 2**62, True))
    for values in ((1,), (1, 2, 3), (1, 2.0), (1, "2"), (2**31, 0), (None, 1), (one, 2.5)):
        print(attempt("tfrt.add.i32", *values))
    wrong = tfrt.call("tfrt.add.f64", 1.5, 2.5)
    print(attempt("tfrt.add.i32", wrong, 1))
    quotient, _ = tfrt.call("tfrt.div.i32", 1, 0)
    print(attempt("tfrt.add.i32", quotient, 1), tfrt.call("numbers.within", 4).result(20))
    later = tfrt.unavailable()
    sum_ = tfrt.call("tfrt.add.i32", later, 1)
    print(sum_.done(), later.set_result(41), sum_.result(20))


for queue in ("s", "mstd:2"):
    with tfrt.HostContext(queue) as host:
        tfrt.set_default_host(host)
        call_all()
        host.quiesce(20)  # a worker may still drop a value
        before = host.live_values()
        for i in range(1000):
            tfrt.call("tfrt.minus.i32", i, i)
        print(host.live_values() - before)
        host.cancel("no more")
        print(attempt("tfrt.add.i32", 1, 2))
with tfrt.HostContext("s") as other:
    given = tfrt.Program("func.func @main() -> i32 {\n  %x = tfrt.constant.i32 5\n  tfrt.return %x : i32\n}").run(host=other)
    (value,) = given
    value.result(20)
    print(tfrt.call("tfrt.add.i32", value, 1).result(20))
