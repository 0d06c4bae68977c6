"""Run cells that need more than a page has, and a run for which no cell waits; see `test_page`."""

import asyncio

from lite_shell import RUN, run, shell

run("import threading\nimport tfrt_nb as tfrt")
for text in (
    "threading.Thread(target=print).start()",
    "import numpy as np\nx = np.ones(3)",
    "x + 1",
    "1 // 0",
    "%tfrt_kernels tfrt.add.i*",
):
    print(run(text)[1].__class__.__name__)

run("""import time

@tfrt.kernel("lab.sleep")
def sleep(x: int) -> int:
    time.sleep(60)
    return x""")
_, problem = run("""%%tfrt --timeout 1
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %a = "lab.sleep"(%one) : (i32) -> i32
  tfrt.return %a : i32
}""")
print(str(problem).partition(";")[0])
run("""later = tfrt.unavailable()
door = tfrt.unavailable()

@tfrt.kernel("lab.wait", blocking=True)
def wait(x: int) -> int:
    return x + door.result()

@tfrt.kernel("lab.open", blocking=True)
def open_door(x: int) -> int:
    door.set_result(x)
    return x""")
shown, _ = run("""%%tfrt --timeout 3 --expect-error
func.func @main() -> (i32, i32) {
  %one = tfrt.constant.i32 1
  %a = "lab.wait"(%one) : (i32) -> i32
  %b = "lab.open"(%one) : (i32) -> i32
  tfrt.return %a, %b : i32, i32
}""")
states = [data[RUN]["status"] for data in shown if RUN in data]
print(states[-1], shell.user_ns["door"].state)

shown, problem = run("""%%tfrt --no-wait --in later -o total,double
func.func @main(%later: i32) -> (i32, i32) {
  %wait = demo.wait.i32 %later {seconds = 0.1}
  %two = tfrt.add.i32 %wait, %wait
  tfrt.return %wait, %two : i32, i32
}""")
print(problem, shell.user_ns["total"].state)
run("later.set_result(21)")
await asyncio.sleep(3)  # noqa: F704, PLE1142 - Pyodide runs scripts as cells
print(shell.user_ns["double"].state, shell.user_ns["double"].result(0))
print([data[RUN]["status"] for data in shown if RUN in data][-1])
