"""Test that a run on the waiting thread lets Python's other threads run, however long it takes.

Each case is a separate process: if the GIL were never released, no other thread could end the test.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """func.func @main() -> i64 {
  cf.br ^again
^again:
  cf.br ^again
}
"""
RECURSION = """func.func @main() -> i64 {
  %many = arith.constant 60 : i64
  %r = func.call @fib(%many) : (i64) -> i64
  return %r : i64
}
func.func @fib(%n: i64) -> i64 {
  %two = arith.constant 2 : i64
  %is_small = arith.cmpi slt, %n, %two : i64
  cf.cond_br %is_small, ^small, ^large
^small:
  return %n : i64
^large:
  %one = arith.constant 1 : i64
  %a = arith.subi %n, %one : i64
  %b = arith.subi %n, %two : i64
  %x = func.call @fib(%a) : (i64) -> i64
  %y = func.call @fib(%b) : (i64) -> i64
  %z = arith.addi %x, %y : i64
  return %z : i64
}
"""
LOOP = """func.func @main() -> i32KIND {
  %n = "tfrt.constant_S.i32"() {value = 1 : i32} : () -> i32
  %begins = "tfrt.equal_S.i32"(%n, %n) : (i32, i32) -> i1
  %r = tfrt.while %begins @body(%n) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
func.func @body(%n: i32) -> (i32, i1)KIND {
  %m = "tfrt.add_S.i32"(%n, %n) : (i32, i32) -> i32
  %again = "tfrt.equal_S.i32"(%n, %n) : (i32, i32) -> i1
  tfrt.return %m, %again : i32, i1
}
"""
ASYNC = LOOP.replace("KIND", "").replace("_S.", ".")
SYNC = LOOP.replace("KIND", " attributes {tfrt.sync}").replace("_S.", "_s.")

CHILD = """
import sys, threading
import tfrt_nb as tfrt

program = tfrt.Program.from_source(sys.argv[1])
with tfrt.HostContext(sys.argv[2]) as host:
    run = program.run(host, "main", tier=sys.argv[3])
    waits = threading.Thread(target=run.wait)
    waits.start()  # returns when the thread runs, which needs the GIL as well
    run.cancel("the other thread had its turn")
    waits.join()
    print(run.results[0].exception())
"""


@pytest.mark.parametrize("queue", ["s", "mstd:1"])
@pytest.mark.parametrize(
    ("text", "tier"),
    [
        pytest.param(CODE, "auto", id="a loop of compiled code"),
        pytest.param(RECURSION, "auto", id="a recursion of compiled code"),
        pytest.param(ASYNC, "interpreter", id="a loop of the executor"),
        pytest.param(ASYNC, "compiled", id="a loop of a hot function"),
        pytest.param(SYNC, "interpreter", id="a loop of a sync function"),
        pytest.param(SYNC, "compiled", id="a loop of a hot sync function"),
    ],
)
def test_a_run_that_lasts_can_be_cancelled_by_another_thread(
    text: str, tier: str, queue: str
) -> None:
    child = [sys.executable, "-c", CHILD, text, queue, tier]

    outcome = subprocess.run(child, capture_output=True, text=True, check=False)

    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert "the other thread had its turn" in outcome.stdout


STARTERS = """
import sys, threading
import tfrt_nb as tfrt

program = tfrt.Program.from_source(sys.argv[1])
first, begins, ended = threading.Event(), threading.Event(), []
with tfrt.HostContext(sys.argv[2]) as host:

    def other():
        program.run(host).wait()
        first.set()
        begins.wait()
        program.run(host).wait()
        ended.append(True)

    program.run(host).wait()
    thread = threading.Thread(target=other)
    thread.start()
    first.wait()
    # A thread that has the GIL now keeps it, unless it gives it away by itself.
    sys.setswitchinterval(1000)
    begins.set()
    runs = 0
    while not ended and runs < 100_000:
        program.run(host).wait()
        runs += 1
    print("in turns" if ended else "the other thread waited for all runs")
    sys.setswitchinterval(0.005)
    thread.join()
"""


@pytest.mark.parametrize("queue", ["s", "mstd:1"])
def test_threads_that_start_short_runs_take_turns(queue: str) -> None:
    text = "func @main() -> i32 {\n  %n = tfrt.constant.i32 1\n  tfrt.return %n : i32\n}"
    command = [sys.executable, "-c", STARTERS, text, queue]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("in turns\n", "")
