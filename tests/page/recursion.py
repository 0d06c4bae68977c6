"""Run async programs and endless recursion in the page; see `test_page`."""

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.context import HostContext

DOWN = """
func.func private @down(%n: i32) -> i32 {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %is = arith.cmpi sle, %n, %zero : i32
  %r = scf.if %is -> i32 {
    scf.yield %n : i32
  } else {
    %m = arith.subi %n, %one : i32
    %q = func.call @down(%m) : (i32) -> i32
    %s = arith.addi %q, %one : i32
    scf.yield %s : i32
  }
  return %r : i32
}
func.func @main(%n: i32) -> i32 {
  %r = func.call @down(%n) : (i32) -> i32
  return %r : i32
}"""
WAIT = """
async.func private @down(%n: i32) -> !async.value<i32> {
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %is = arith.cmpi sle, %n, %zero : i32
  %r = scf.if %is -> i32 {
    scf.yield %n : i32
  } else {
    %m = arith.subi %n, %one : i32
    %v = async.call @down(%m) : (i32) -> !async.value<i32>
    %q = async.await %v : !async.value<i32>
    %s = arith.addi %q, %one : i32
    scf.yield %s : i32
  }
  return %r : i32
}
func.func @main(%n: i32) -> i32 {
  %v = async.call @down(%n) : (i32) -> !async.value<i32>
  %r = async.await %v : !async.value<i32>
  return %r : i32
}"""

host = HostContext("s", output=lambda _: None)
for name, text, depths in (("calls", DOWN, (500, 100_000)), ("awaits", WAIT, (500, 100_000))):
    program = Program.from_source(text, name)
    for depth in depths:
        run = program.run(host, "main", [depth])
        run.wait(60)
        wrong = run.results[0].exception(0)
        found = run.results[0].result(0) if wrong is None else wrong.diagnostics[0].message
        print(f"{depth} {name}:", found)

nested = "func.func @main() -> i32 {\n  %x = tfrt.constant.i32 1\n"
nested += "".join(f"%r{i} = tfrt.repeat.i32 %x, %x : i32 {{\n" for i in range(2000))
nested += "tfrt.return %x : i32\n"
nested += "".join(f"}}\ntfrt.return %r{i} : i32\n" for i in reversed(range(2000))) + "}"
try:
    Program.from_source(nested, "nested")
except TfrtError as problem:
    print("2000 regions:", problem.diagnostics[0].message)


def endless(x):
    return endless(x)


try:
    endless(1)
except RecursionError:
    print("Python's own recursion is an error, too")
