# "run.wait() is True only when every result is decided. A result that a kernel allocated and has not set keeps the run open."
import threading
import time

import tfrt_nb as tfrt

HELD = []


@tfrt.kernel("slow.pair")
def pair(frame: tfrt.KernelFrame, x: int):
    first, second = frame.allocate(0), frame.allocate(1)
    HELD.extend([first, second])
    return first, second


program = tfrt.Program("""
func.func @main(%x: i32) -> (i32, i32) {
  %a, %b = "slow.pair"(%x) : (i32) -> (i32, i32)
  %c = tfrt.add.i32 %a, %b
  tfrt.return %a, %c : i32, i32
}
""")
run = program.run(3)
while len(HELD) < 2:
    time.sleep(0.01)
print(run.wait(0.2), run.done(), [value.done() for value in run])
HELD[0].emplace(30)
print(list(run)[0].result(20))
print(run.wait(0.2), run.done(), [value.done() for value in run])
threading.Timer(0.1, HELD[1].emplace, [12]).start()
print(run.wait(20), run.done(), run.result(20))
