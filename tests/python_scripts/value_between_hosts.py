# "An AsyncValue is an argument of a run while it is still unavailable, also of another host."
import numpy as np

import tfrt_nb as tfrt

program = tfrt.Program("""
func.func @add(%a: i32, %b: i32) -> i32 {
  %c = tfrt.add.i32 %a, %b
  tfrt.return %c : i32
}
func.func @share(%a: i32, %b: i32) -> i32 {
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %q : i32
}
func.func @keep(%x: !tfrt_tensor.tensor, %y: !tfrt.object) -> (!tfrt_tensor.tensor, !tfrt.object) {
  tfrt.return %x, %y : !tfrt_tensor.tensor, !tfrt.object
}
""")
with tfrt.HostContext("mstd:2") as here, tfrt.HostContext("mstd:2") as there:
    start = tfrt.unavailable()
    (x,) = program.run(start, 1, function="add", host=here)
    (y,) = program.run(x, 10, function="add", host=there)
    last = program.run(y, x, function="add", host=here)
    print(x.done(), y.done(), last.done())
    start.set_result(5)
    print(last.result(20), x.result(20), y.result(20))

    zero = tfrt.unavailable()
    (failed,) = program.run(7, zero, function="share", host=here)
    (after,) = program.run(failed, 1, function="add", host=there)
    zero.set_result(0)
    print("Divide by zero" in str(after.exception(20)), after.state == "error")

    array, basket = tfrt.unavailable(), tfrt.unavailable()
    first = program.run(array, basket, function="keep", host=here)
    second = program.run(*first, function="keep", host=there)
    given = {"milk": 2}
    array.set_result(np.array([1.5, 2.5])), basket.set_result(given)
    kept, same = second.result(20)
    print(isinstance(kept, np.ndarray), kept.tolist(), same is given)
