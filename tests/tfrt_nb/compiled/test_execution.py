"""Test compiled functions called from Python: arguments, results, errors, and cancellation."""

from __future__ import annotations

import gc
import time
import weakref

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.async_runtime.host_runtime import CodeOfRun
from tfrt_runtime.diagnostics import Location, TfrtError, error
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.default_host import unavailable

SLOW = 60
"""Many more seconds than any step here takes."""

TEXT = """
async.func @twice(%x: f64) -> (!async.token, !async.value<f64>) {
  %t, %v = async.execute -> !async.value<f64> {
    %y = arith.addf %x, %x : f64
    async.yield %y : f64
  }
  %r = await %v : !async.value<f64>
  return %r : f64
}
func.func @mixed(%a: i32, %b: index, %c: i1) -> (i64, index, f32, i1) {
  %h = arith.constant 1.5 : f32
  %e = arith.extsi %a : i32 to i64
  call @printI64(%e) : (i64) -> ()
  return %e, %b, %h, %c : i64, index, f32, i1
}
func.func @divide(%a: i64, %b: i64) -> i64 {
  %q = arith.divsi %a, %b : i64
  return %q : i64
}
async.func @fails(%a: i64) -> (!async.token, !async.value<i64>) {
  %z = arith.constant 0 : i64
  %q = arith.divsi %a, %z : i64
  return %q : i64
}
func.func @never() -> !async.value<i64> {
  %v = async.runtime.create : !async.value<i64>
  return %v : !async.value<i64>
}
func.func @stray() {
  %t = async.execute {
    %one = arith.constant 1 : i64
    func.call @printI64(%one) : (i64) -> ()
    async.yield
  }
  return
}
func.func @group() -> !async.group {
  %c1 = arith.constant 1 : index
  %g = async.create_group %c1 : !async.group
  return %g : !async.group
}
func.func private @printI64(i64)
"""


@pytest.fixture
def program() -> Program:
    made = Program.from_source(TEXT, "f.mlir")
    made._load_compiled("twice")  # loaded before anything is counted, because it outlives the test
    return made


def place(operation: str) -> Location:
    """Return the location of the first operation that starts with this text."""
    before = TEXT.partition(operation)[0]
    return Location("f.mlir", before.count("\n") + 1, len(before) - before.rfind("\n"))


def test_a_function_that_fails_gives_errors_with_their_place(
    program: Program, host: HostContext
) -> None:
    execution = program.run(host, "divide", [1, 0])
    problem = error("division by zero", place("arith.divsi %a, %b"))

    assert execution.wait(SLOW)
    assert execution.diagnostics == [problem]
    raised = execution.results[0].exception(0)
    assert raised is not None and raised.diagnostics == (problem,)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        ("twice", [], "@twice takes 1 argument, found 0"),
        ("twice", ["x"], r"argument 1 \(%x\) of @twice: expected f64, found 'x'"),
        ("divide", [1, 2**70], r"argument 2 \(%b\) of @divide: .* does not fit in i64"),
        (
            "group",
            [],
            "@group cannot be called from outside: its result 0 is of type '!async.group'",
        ),
    ],
)
def test_a_wrong_call_is_refused(
    program: Program, host: HostContext, function: str, arguments: list[object], message: str
) -> None:
    with pytest.raises(TfrtError, match=message):
        program.run(host, function, arguments)


def test_a_result_of_types_in_types_is_refused_with_a_short_message(host: HostContext) -> None:
    levels = 2000
    deep = "!async.value<" * levels + "i32" + ">" * levels
    text = (
        f"func.func @deep() -> {deep} "
        f"{{\n  %r = call @deep() : () -> {deep}\n  return %r : {deep}\n}}\n"
    )
    with pytest.raises(TfrtError, match="cannot be called from outside: its result 0") as refusal:
        Program.from_source(text, "deep.mlir").run(host, "deep")

    assert str(refusal.value).startswith("deep.mlir:1:1: error: ")
    assert len(str(refusal.value)) < 300


def test_waiting_lasts_until_the_last_task_is_over(program: Program, host: HostContext) -> None:
    execution = program.run(host, "stray")

    assert execution.wait(SLOW)
    assert execution.output == "1"


def test_a_wait_ends_soon_after_a_task_that_a_worker_has_not_quite_ended(
    program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled = CodeOfRun.has_settled
    looks: list[CodeOfRun] = []

    def at_the_second_look(code: CodeOfRun) -> bool:
        looks.append(code)
        return looks.count(code) > 1 and settled(code)

    monkeypatch.setattr(CodeOfRun, "has_settled", at_the_second_look)
    took = []
    with HostContext("mstd:2") as host:
        for _ in range(10):
            run = program.run(host, "divide", arguments=(6, 3))
            started = time.perf_counter()
            run.wait()
            took.append(time.perf_counter() - started)
    # A thread that waits without a limit checks by itself after 20 ms.
    assert min(took) < 0.01


def test_a_program_is_compiled_once(program: Program) -> None:
    assert program._load_compiled("twice") is program._load_compiled("divide")


def test_a_dropped_run_still_gives_its_results(program: Program, host: HostContext) -> None:
    value = program.run(host, "twice", [1.0]).results[1]
    gc.collect()

    assert value.result(SLOW) == 2.0


def test_its_functions_are_listed_with_the_others() -> None:
    program = Program.from_source(
        "func.func @host() { tfrt.return }\nasync.func @later() -> !async.token { return }",
        "f.mlir",
    )

    assert [(one.name, one.result_types, one.is_compiled) for one in program.functions] == [
        ("host", (), False),
        ("later", ("!async.token",), True),
    ]


def test_what_will_never_come_is_an_error() -> None:
    """The unresolved object is left behind, which is the program's mistake."""
    program = Program.from_source(TEXT, "f.mlir")
    with HostContext("mstd:2") as host:
        execution = program.run(host, "never")

        assert execution.wait(SLOW)
        problem = execution.results[0].exception(0)
        assert problem is not None
        assert "nothing can resolve a value" in str(problem)


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_a_cancelled_run_that_waits_for_python_does_not_hide_a_deadlock(queue: str) -> None:
    waiting = Program.from_source(
        "func.func @add(%x: i32) -> i32 {\n  %y = tfrt.add.i32 %x, %x\n  tfrt.return %y : i32\n}"
    )
    stuck = Program.from_source(
        "func.func @main() {\n"
        "  %gate = async.runtime.create : !async.token\n"
        "  async.runtime.await %gate : !async.token\n"
        "  return\n"
        "}"
    )
    never = unavailable()
    with HostContext(queue) as host:
        waiting.run(host, "add", (never,)).cancel()
        execution = stuck.run(host, "main")
        with pytest.raises(TfrtError, match="nothing can resolve a token of 'async.runtime"):
            execution.result(SLOW)
    assert not never.done()


def test_a_run_that_is_over_is_not_kept_for_what_its_tasks_may_print() -> None:
    with HostContext(work_queue="s", output=print) as host:
        execution = Program.from_source(TEXT).run(host, "mixed", (1, 2, True))
        assert execution.wait(SLOW)
        request = weakref.ref(execution.request)
        del execution
        gc.collect()
        assert request() is None
