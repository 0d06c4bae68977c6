# run.cancel("why"); "cancels the run that would have set it, when nobody else holds another unresolved result; otherwise it marks this value only".
from concurrent.futures import CancelledError

import tfrt_nb as tfrt

RAN = []

@tfrt.kernel("cancel.touch")
def touch(x: int) -> int:
    RAN.append(x)
    return x

program = tfrt.Program("""
func.func @one(%x: i32) -> i32 {
  %a = "cancel.touch"(%x) : (i32) -> i32
  tfrt.return %a : i32
}
func.func @two(%x: i32, %y: i32) -> (i32, i32) {
  %a = "cancel.touch"(%x) : (i32) -> i32
  %b = "cancel.touch"(%y) : (i32) -> i32
  tfrt.return %a, %b : i32, i32
}
""")
later = tfrt.unavailable()
run = program.one(later)
run.cancel("out of milk")
later.set_result(1)
try:
    run.result(20)
except (tfrt.TfrtError, CancelledError) as error:
    print("out of milk" in str(error) + str(run.diagnostics))
print(run.wait(20), run.done(), [v.cancelled() for v in run], RAN)

later = tfrt.unavailable()
run = program.one(later)
(only,) = run  # the one result of its run
only.cancel()
later.set_result(2)
print(run.wait(20), only.cancelled(), RAN)

x, y = tfrt.unavailable(), tfrt.unavailable()
first, second = program.two(x, y)  # the second one is held: the run goes on
first.cancel()
x.set_result(3), y.set_result(4)
print(first.cancelled(), second.cancelled(), second.result(20), 4 in RAN)
