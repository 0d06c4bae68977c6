# "AsyncValue.cancel() cancels the run that would have set it"; as in concurrent.futures.
import tfrt_nb as tfrt

RAN = []


@tfrt.kernel("b.touch")
def touch(x: int) -> int:
    RAN.append(x)
    return x


p = tfrt.Program(
    'func.func @one(%x: i32) -> i32 {\n %a = "b.touch"(%x) : (i32) -> i32\n tfrt.return %a : i32\n}\nfunc.func @two(%x: i32, %y: i32) -> (i32, i32) {\n %a = "b.touch"(%x) : (i32) -> i32\n %b = "b.touch"(%y) : (i32) -> i32\n tfrt.return %a, %b : i32, i32\n}'
)
x = tfrt.unavailable()
run = p.one(x)
(v,) = run
print(v.cancel(), v.cancelled(), run.done(), run.wait(5), v.done(), v.state)
x.set_result(1)
print(RAN)
x = tfrt.unavailable()
run = p.one(x)
print(run.cancel("out of milk"), run.results[0].exception(5).diagnostics[0].message)
x.set_result(1)
try:
    run.result(5)
except tfrt.CancelledError as error:
    print("out of milk" in str(error), run.done(), RAN)
x, y = tfrt.unavailable(), tfrt.unavailable()
run = p.two(x, y)
a, b = run
print(a.cancel(), a.cancelled(), b.cancelled(), run.done())
x.set_result(1)
y.set_result(2)
print(b.result(5), run.wait(5))
x, y = tfrt.unavailable(), tfrt.unavailable()
run = p.two(x, y)
a, _ = run
del _
print(a.cancel(), run.wait(5), [v.cancelled() for v in run])
x, y = tfrt.unavailable(), tfrt.unavailable()
run = p.two(x, y)
a, b = run
y.set_result(7)
b.result(5)
print(a.cancel(), run.wait(5), b.result(), a.cancelled())
v = tfrt.unavailable()
print(v.cancel(), v.cancelled(), v.cancel())
try:
    v.result()
except tfrt.CancelledError:
    print("CancelledError")
try:
    v.set_result(3)
    print("set")
except Exception:
    print("refused")
