# "AsyncValue for a value that is not awaited (non-strict)".
import tfrt_nb as tfrt


@tfrt.kernel("c.first")
def first(a: tfrt.AsyncValue, b: tfrt.AsyncValue) -> object:
    return a.done(), b.done()


@tfrt.kernel("c.plus")
def plus(a: tfrt.AsyncValue, n: int) -> object:
    return a.then(lambda x: x + n)


@tfrt.kernel("c.look")
def look(a: tfrt.AsyncValue) -> str:
    return f"{a.state} {a.exception(0).__cause__!r}"


p = tfrt.Program("""
func.func @first(%a: i32, %b: i32) -> !tfrt.object {
  %r = "c.first"(%a, %b) : (i32, i32) -> !tfrt.object
  tfrt.return %r : !tfrt.object
}
func.func @plus(%a: i32, %b: i32) -> !tfrt.object {
  %n = tfrt.add.i32 %b, %b
  %r = "c.plus"(%a, %n) : (i32, i32) -> !tfrt.object
  tfrt.return %r : !tfrt.object
}
func.func @look(%a: i32) -> !tfrt.string {
  %r = "c.look"(%a) : (i32) -> !tfrt.string
  tfrt.return %r : !tfrt.string
}
""")
x = tfrt.unavailable()
print(p.first(x, 2).result(10))
run = p.plus(x, 5)
print(run.wait(0.05))
x.set_result(1)
print(run.result(10), p.first(1, 2).result(10))
bad = tfrt.unavailable()
bad.set_exception(ValueError("v"))
print(p.look(bad).result(10))


@tfrt.program
def traced(a: tfrt.i32):
    return first(a, a)


print(traced(3).result(10))
