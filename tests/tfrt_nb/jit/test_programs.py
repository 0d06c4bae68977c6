"""Async programs, compiled and run on one thread: what they print, why they fail, and that nothing is left over."""

from __future__ import annotations

from pathlib import Path

import pytest

from tfrt_nb.jit.stages import Stage, emit
from tfrt_nb.passes.errors import PassError
from tfrt_nb.source import parse_module

GOLDEN = Path(__file__).parents[2] / "golden" / "async"

COUNTED_ON_TASKS = (
    "builtin.module(async-ref-counting,async-func-to-async-runtime{token-last keep-errors},"
    "async-to-async-runtime{token-last keep-errors},async-propagate-failures,"
    "async-drop-on-error-paths,convert-scf-to-cf)"
)


@pytest.mark.parametrize("options", ["num-workers=1", "num-workers=8 async-dispatch=false", ""])
@pytest.mark.parametrize("name", ["par_1d", "par_2d", "par_3d", "par_big_tasks", "par_zero"])
def test_a_parallel_loop_is_the_same_for_all_options(name: str, options: str, run, outcome) -> None:
    path = GOLDEN / "programs" / f"{name}.mlir"
    lines = path.read_text().splitlines()
    text = "\n".join([f"// parallel-for: {options} min-task-size=1", *lines[1:]])

    assert run(text) == outcome(path.with_suffix(".stdout").read_text())


PRINTING = """
func.func private @printI64(i64)
func.func private @printNewline()
"""


def test_a_task_fails_with_what_it_awaited_and_tells_main(run, outcome) -> None:
    assert run(f"""// an error goes up through a plain function and two tasks
func.func private @check(%x: i64) -> i64 {{
  %zero = arith.constant 0 : i64
  %ok = arith.cmpi ne, %x, %zero : i64
  cf.assert %ok, "nothing here"
  return %x : i64
}}
func.func @main() {{
  %zero = arith.constant 0 : i64
  %t, %v = async.execute -> !async.value<i64> {{
    %y = func.call @check(%zero) : (i64) -> i64
    async.yield %y : i64
  }}
  %u = async.execute (%v as %x: !async.value<i64>) {{
    func.call @printI64(%x) : (i64) -> ()
    async.yield
  }}
  async.await %u : !async.token
  return
}}
{PRINTING}""") == outcome("", ("nothing here", 5))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ("%q = arith.divsi %one, %n : i64", "division by zero"),
        ("%q = arith.remui %one, %n : i64", "division by zero"),
        ("%q = memref.load %m[%i] : memref<2xi64>", "index #0 is out of bounds"),
        ("memref.store %one, %m[%i] : memref<2xi64>", "index #0 is out of bounds"),
    ],
)
def test_what_would_end_the_process_is_an_error(operation: str, message: str, run, outcome) -> None:
    assert run(
        f"""func.func @main() {{
  call @work(%n, %i) : (i64, index) -> ()
  return
}}
func.func private @work(%n: i64, %i: index) {{
  %one = arith.constant 1 : i64
  %m = memref.alloc() : memref<2xi64>
  {operation}
  return
}}
""".replace("  call", "  %n = arith.constant 0 : i64\n  %i = arith.constant -1 : index\n  call")
    ) == outcome("", (message, 10))


def test_dividing_the_least_number_by_minus_one_wraps_around(run, outcome) -> None:
    assert run(f"""func.func @main() {{
  %least = arith.constant -9223372036854775808 : i64
  %minus = arith.constant -1 : i64
  %q = call @divide(%least, %minus) : (i64, i64) -> i64
  call @printI64(%q) : (i64) -> ()
  return
}}
func.func @divide(%a: i64, %b: i64) -> i64 {{
  %q = arith.divsi %a, %b : i64
  return %q : i64
}}
{PRINTING}""") == outcome("-9223372036854775808")


@pytest.mark.parametrize(
    "name", ["error_nested", "error_execute", "nest_four", "exec_capture", "deps_diamond"]
)
def test_counting_on_tasks_balances_too(name: str, run, outcome) -> None:
    path = GOLDEN / "programs" / f"{name}.mlir"

    result = run(path.read_text(), COUNTED_ON_TASKS)

    assert result == outcome(path.with_suffix(".stdout").read_text())


def test_a_body_that_fails_halfway_releases_what_it_holds(run, outcome) -> None:
    text = """
func.func @main() {
  %no = arith.constant false
  %a = async.execute {
    async.yield
  }
  %b = async.execute {
    %c = async.execute {
      async.yield
    }
    cf.assert %no, "halfway"
    async.await %a : !async.token
    async.await %c : !async.token
    async.yield
  }
  async.await %a : !async.token
  async.await %b : !async.token
  async.await %a : !async.token
  return
}
"""
    assert run(text, COUNTED_ON_TASKS) == outcome("", ("halfway", 11))


def test_a_recursion_deeper_than_the_stack_is_an_error(run, outcome) -> None:
    assert run("""func.func @main() {
  %n = arith.constant 10000000 : i64
  %m = call @down(%n) : (i64) -> i64
  return
}
func.func @down(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %is_zero = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %is_zero, ^end, ^deeper
^deeper:
  %m = arith.subi %n, %one : i64
  %r = call @down(%m) : (i64) -> i64
  call @printI64(%r) : (i64) -> ()
  return %r : i64
^end:
  return %zero : i64
}
func.func private @printI64(i64)
""") == outcome("", ("the stack is exhausted", 6))


CONTROL_FLOW = {
    "a loop that ends by a condition, with an await": (
        """
async.func @count(%n: i64) -> !async.value<i64> {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r:2 = scf.while (%i = %n, %s = %z) : (i64, i64) -> (i64, i64) {
    %more = arith.cmpi sgt, %i, %z : i64
    scf.condition(%more) %i, %s : i64, i64
  } do {
  ^bb0(%j: i64, %q: i64):
    %t, %v = async.execute -> !async.value<i64> {
      %x = arith.muli %j, %j : i64
      async.yield %x : i64
    }
    %x = await %v : !async.value<i64>
    %k = arith.subi %j, %one : i64
    %w = arith.addi %q, %x : i64
    scf.yield %k, %w : i64, i64
  }
  return %r#1 : i64
}
func.func @main() {
  %n = arith.constant 4 : i64
  %v = async.call @count(%n) : (i64) -> !async.value<i64>
  %x = async.await %v : !async.value<i64>
  call @printI64(%x) : (i64) -> ()
  return
}""",
        "30",
    ),
    "a choice between two futures": (
        """
func.func @main() {
  %yes = arith.constant true
  %a = arith.constant 5 : i64
  %b = arith.constant 6 : i64
  %v = scf.if %yes -> (!async.value<i64>) {
    %t, %x = async.execute -> !async.value<i64> {
      async.yield %a : i64
    }
    scf.yield %x : !async.value<i64>
  } else {
    %t, %x = async.execute -> !async.value<i64> {
      async.yield %b : i64
    }
    scf.yield %x : !async.value<i64>
  }
  %x = async.await %v : !async.value<i64>
  call @printI64(%x) : (i64) -> ()
  return
}""",
        "5",
    ),
    "a parallel loop in an async function": (
        """// parallel-for: num-workers=3 min-task-size=1
async.func @fill(%m: memref<7xi64>) -> !async.token {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.parallel (%i) = (%c0) to (%c7) step (%c1) {
    %k = arith.index_cast %i : index to i64
    memref.store %k, %m[%i] : memref<7xi64>
  }
  return
}
func.func @main() {
  %m = memref.alloc() : memref<7xi64>
  %t = async.call @fill(%m) : (memref<7xi64>) -> !async.token
  async.await %t : !async.token
  %c6 = arith.constant 6 : index
  %x = memref.load %m[%c6] : memref<7xi64>
  call @printI64(%x) : (i64) -> ()
  memref.dealloc %m : memref<7xi64>
  return
}""",
        "6",
    ),
    "a parallel loop in a parallel loop": (
        """// parallel-for: num-workers=2 min-task-size=1
func.func @main() {
  %m = memref.alloc() : memref<3x2xi64>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.parallel (%i) = (%c0) to (%c3) step (%c1) {
    scf.parallel (%j) = (%c0) to (%c2) step (%c1) {
      %s = arith.addi %i, %j : index
      %k = arith.index_cast %s : index to i64
      memref.store %k, %m[%i, %j] : memref<3x2xi64>
    }
  }
  %x = memref.load %m[%c2, %c1] : memref<3x2xi64>
  call @printI64(%x) : (i64) -> ()
  memref.dealloc %m : memref<3x2xi64>
  return
}""",
        "3",
    ),
    "one of several cases": (
        """
func.func @main() {
  %i = arith.constant 2 : index
  %a = arith.constant 10 : i64
  %b = arith.constant 20 : i64
  %x = scf.index_switch %i -> i64
  case 2 {
    %t, %v = async.execute -> !async.value<i64> {
      async.yield %a : i64
    }
    %y = async.await %v : !async.value<i64>
    scf.yield %y : i64
  }
  default {
    scf.yield %b : i64
  }
  call @printI64(%x) : (i64) -> ()
  return
}""",
        "10",
    ),
}


@pytest.mark.parametrize("what", CONTROL_FLOW)
def test_control_flow_runs(what: str, run, outcome) -> None:
    program, printed = CONTROL_FLOW[what]

    assert run(program + PRINTING) == outcome(printed)


def test_a_function_that_nobody_provides_is_named(run, outcome) -> None:
    with pytest.raises(PassError, match=r"program:1:1: error: 'nowhere' is declared but not def"):
        run(
            "func.func private @nowhere()\nfunc.func @main() {\n  call @nowhere() : () -> ()\n  return\n}"
        )


def test_an_operation_without_a_lowering_is_refused_at_its_place(run, outcome) -> None:
    with pytest.raises(PassError, match=r"program:2:8: error: 'math.isnan' cannot be compiled"):
        run('func.func @main(%x: index) {\n  %v = "math.isnan"(%x) : (index) -> i1\n  return\n}')


@pytest.mark.parametrize(
    ("stage", "shows"),
    [
        (Stage.ASYNC_RUNTIME, "async.runtime.await_and_resume %arg0, %2 : !async.token"),
        (Stage.COROUTINE, "call i8 @llvm.coro.suspend(token"),
        (Stage.LLVM_SPLIT, "define internal fastcc void @wait.resume("),
        (Stage.ASM, "wait.resume:"),
    ],
)
def test_each_stage_can_be_looked_at(stage: Stage, shows: str) -> None:
    module = parse_module(
        "async.func @wait(%t: !async.token) -> !async.token {\n"
        "  async.await %t : !async.token\n  return\n}",
        "program",
    )

    assert shows in emit(module, stage)
