"""Run a notebook's cells in the page; see `test_page`."""

import sys

from lite_shell import RUN, run, shell, without_times

from tfrt_nb.programs import Program
from tfrt_nb.schedules.step import Stepper

shown, problem = run(
    """%%tfrt
func.func @main() -> i32 {
  %c0 = tfrt.new.chain
  %x = tfrt.constant.i32 40
  %y = tfrt.constant.i32 2
  %sum = tfrt.add.i32 %x, %y
  %c1 = tfrt.print.i32 %sum, %c0
  tfrt.return %sum : i32
}"""
)
boards = [data for data in shown if RUN in data]
print("a cell:", problem, boards[-1][RUN]["status"])
print(without_times(boards[-1]["text/plain"]))

shown, problem = run(
    """%%tfrt
func.func @main() -> i32 {
  %x = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %x, %zero
  tfrt.return %q : i32
}"""
)
print("an error:", problem)
print(shown[-1]["text/plain"])

shown, problem = run(
    """import tfrt_nb as tfrt

@tfrt.kernel
def twice(x: int) -> int:
    return 2 * x

@tfrt.program
def four(x: int) -> int:
    return twice(twice(x))

four(3)"""
)
print("a call of Python:", problem, *shown[-1])
run("result = four(3).result()")
print("its result:", shell.user_ns["result"])

shown, problem = run(
    """%%tfrt --explore
func.func @main() {
  %c = tfrt.new.chain
  %x = tfrt.constant.i32 1
  %y = tfrt.constant.i32 2
  %a = tfrt.print.i32 %x, %c
  %b = tfrt.print.i32 %y, %c
  tfrt.return
}"""
)
print("explored:", problem)
print(shown[-1]["text/plain"])

program = """
func.func @main() -> i32 {
  %x = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %x
  %z = tfrt.add.i32 %y, %y
  tfrt.return %z : i32
}"""
with Stepper(Program.from_source(program)) as stepper:
    while ready := stepper.ready():
        print("a step:", ready, stepper.run(ready[0]))
    print("stepped:", stepper.execution.result())

print("numpy:", sys.modules.get("numpy"))
