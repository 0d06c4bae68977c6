"""Test that interpreted programs print, fail, and leave behind what their machine code does."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.test_golden_programs import CommandLine
from tests.test_run_programs import expected_output, same

from tfrt_nb.compiled.kernels import HostCode
from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.context import HostContext

TESTS = Path(__file__).parents[2]
GOLDEN = [
    path
    for folder in ("programs", "correct", "rfc")
    for path in sorted((TESTS / "golden" / "async" / folder).glob("*.mlir"))
    if any(path.with_suffix(suffix).exists() for suffix in (".stdout", ".expected"))
    and not path.with_suffix(".diag").exists()
]
PROGRAMS = sorted((TESTS / "programs" / "run" / "compiled").glob("*.mlir"))
QUEUES = ("s", "mstd:2")
ADDRESS = re.compile(r"(pointer=|base@ = )0x[0-9a-f]+")


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_a_program_of_the_corpus_prints_the_same(path: Path, queue: str, leak_check: None) -> None:
    program, printed = Program.from_source(path.read_text(), path.name), []
    with HostContext(queue) as host:
        runtime = host.shared_context(HostCode).runtime
        runtime.checked = True
        run = program.run(host, tier=Tier.INTERPRETER, output=printed.append)
        run.wait()

        assert run.tier is Tier.INTERPRETER
        assert run.diagnostics == []
        assert runtime.live_objects() == []
    beside = [path.with_suffix(suffix) for suffix in (".stdout", ".expected")]
    assert "".join(printed) in [one.read_text() for one in beside if one.exists()]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_command_prints_the_same(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    done = CommandLine(capsys)("run", "--tier", "interpreter", "--timeout", "60", path.name)
    printed = ADDRESS.sub(r"\1...", done.stdout + done.stderr)

    assert same(path, printed, expected_output(path, printed))


WITHOUT_LLVM = """
import sys
sys.modules["llvmlite.binding"] = None
from tfrt_nb.programs import Program
from tfrt_runtime.host.context import HostContext
program = Program.from_source(sys.stdin.read(), "fib.mlir")
with HostContext(sys.argv[1]) as host:
    run = program.run(10, host=host)
    print(run.results[0].result(30), run.tier)
"""
FIB = """
async.func @fib(%n: i64) -> !async.value<i64> {
  %two = arith.constant 2 : i64
  %is_small = arith.cmpi slt, %n, %two : i64
  %r = scf.if %is_small -> i64 {
    scf.yield %n : i64
  } else {
    %one = arith.constant 1 : i64
    %a = arith.subi %n, %one : i64
    %b = arith.subi %n, %two : i64
    %t, %x = async.execute -> !async.value<i64> {
      %y = async.call @fib(%a) : (i64) -> !async.value<i64>
      %z = async.await %y : !async.value<i64>
      async.yield %z : i64
    }
    %y = async.call @fib(%b) : (i64) -> !async.value<i64>
    %xv = async.await %x : !async.value<i64>
    %yv = async.await %y : !async.value<i64>
    %s = arith.addi %xv, %yv : i64
    scf.yield %s : i64
  }
  async.return %r : i64
}
"""


@pytest.mark.parametrize("queue", QUEUES)
def test_without_llvm_a_program_is_interpreted(queue: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LLVM, queue],
        input=FIB,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.stdout, done.stderr) == ("55 interpreter\n", "")


RECURSION = """
func.func @plain(%n: i64) -> i64 {
  %m = call @plain(%n) : (i64) -> i64
  %r = arith.addi %m, %n : i64
  return %r : i64
}
async.func @to(%n: i64) -> !async.value<i64> {
  %zero = arith.constant 0 : i64
  %is_last = arith.cmpi eq, %n, %zero : i64
  %r = scf.if %is_last -> i64 {
    scf.yield %zero : i64
  } else {
    %one = arith.constant 1 : i64
    %m = arith.subi %n, %one : i64
    %v = async.call @to(%m) : (i64) -> !async.value<i64>
    %x = async.await %v : !async.value<i64>
    %s = arith.addi %x, %one : i64
    scf.yield %s : i64
  }
  async.return %r : i64
}
"""


@pytest.mark.parametrize("queue", QUEUES)
def test_a_recursion_ends_with_an_error_or_goes_on_as_tasks(queue: str, leak_check: None) -> None:
    program = Program.from_source(RECURSION, "recursion.mlir")
    with HostContext(queue) as host:
        run = program.run(host, "plain", [1], tier=Tier.INTERPRETER)
        run.wait()
        deep = program.run(host, "to", [20_000], tier=Tier.INTERPRETER)
        deep.wait()

        assert [str(one) for one in run.diagnostics] == [
            "recursion.mlir:2:1: error: the stack is exhausted"
        ]
        assert deep.results[0].result(0) == 20_000
        del run, deep


TASKS = """
func.func @down(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %is_last = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %is_last, ^end, ^more
^more:
  %one = arith.constant 1 : i64
  %m = arith.subi %n, %one : i64
  %t = async.execute {
    %r = func.call @down(%m) : (i64) -> i64
    async.yield
  }
  cf.br ^end
^end:
  return %n : i64
}
"""


@pytest.mark.parametrize("queue", QUEUES)
def test_tasks_that_start_tasks_need_no_deep_stack(queue: str, leak_check: None) -> None:
    program = Program.from_source(TASKS, "tasks.mlir")
    with HostContext(queue) as host:
        run = program.run(host, "down", [20_000], tier=Tier.INTERPRETER)
        run.wait()

        assert run.diagnostics == []
        del run


LOOP = """
func.func @endless(%n: i64) -> i64 {
  %true = arith.constant true
  %t = async.execute {
    scf.while : () -> () {
      scf.condition(%true)
    } do {
      scf.yield
    }
    async.yield
  }
  async.await %t : !async.token
  return %n : i64
}
"""


@pytest.mark.parametrize("queue", QUEUES)
def test_a_cancelled_loop_ends_where_it_is(queue: str, leak_check: None) -> None:
    program = Program.from_source(LOOP, "loop.mlir")
    with HostContext(queue) as host:
        run = program.run(host, "endless", [1], tier=Tier.INTERPRETER)
        threading.Timer(0.2, run.cancel).start()
        run.wait()
        ended = time.monotonic()

        assert [str(one) for one in run.diagnostics] == ["loop.mlir:5:5: error: Cancelled"]
        assert time.monotonic() - ended < 1
        del run


SUM = """
func.func @total(%a: memref<?xf64>, %n: index) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f64 {
    %x = memref.load %a[%i] : memref<?xf64>
    %t = arith.addf %s, %x : f64
    scf.yield %t : f64
  }
  return %r : f64
}
"""


def test_arrays_are_read_in_place_and_within_their_bounds(leak_check: None) -> None:
    program = Program.from_source(SUM, "sum.mlir")
    with HostContext("s") as host:
        run = program.run(host, "total", [np.arange(5.0), 5], tier=Tier.INTERPRETER)
        beyond = program.run(host, "total", [np.arange(5.0), 6], tier=Tier.INTERPRETER)

        assert run.results[0].result(5) == 10.0
        with pytest.raises(TfrtError, match=r"sum.mlir:7:10: error: .*out of bounds"):
            beyond.results[0].result(5)
        del run, beyond


def test_what_cannot_be_compiled_is_refused_in_the_same_words() -> None:
    text = 'func.func @f() {\n  "my.op"() : () -> ()\n  return\n}'
    said = []
    for tier in (Tier.INTERPRETER, Tier.COMPILED):
        with pytest.raises(TfrtError) as refused:
            Program.from_source(text, "f.mlir").run(tier=tier)
        said.append(str(refused.value))

    assert said[0] == said[1]
    assert "'my.op' cannot be compiled" in said[0]
