"""Test cancelled runs of compiled code: loops end, coroutines resume, and nothing is left."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.async_runtime.runtime import AsyncRuntime
from tfrt_runtime.diagnostics import Diagnostic, Location, TfrtError, error
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import make_unavailable

SLOW = 60
"""Many more seconds than any step here takes."""

LOOPS = """
func.func @while() -> i64 {
  func.call @started() : () -> ()
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %true = arith.constant true
  %r = scf.while (%x = %c0) : (i64) -> i64 {
    scf.condition(%true) %x : i64
  } do {
  ^bb0(%x: i64):
    %y = arith.addi %x, %c1 : i64
    scf.yield %y : i64
  }
  return %r : i64
}
func.func @blocks() -> i64 {
  func.call @started() : () -> ()
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  cf.br ^again(%c0 : i64)
^again(%x: i64):
  %y = arith.addi %x, %c1 : i64
  %is_over = arith.cmpi slt, %y, %c0 : i64
  cf.cond_br %is_over, ^end, ^again(%y : i64)
^end:
  return %y : i64
}
func.func @counted() -> i64 {
  func.call @started() : () -> ()
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 9223372036854775807 : index
  %one = arith.constant 1 : i64
  %r = scf.for %i = %c0 to %last step %c1 iter_args(%x = %one) -> i64 {
    %n = arith.index_cast %i : index to i64
    %y = arith.muli %x, %n : i64
    %z = arith.xori %x, %y : i64
    scf.yield %z : i64
  }
  return %r : i64
}
func.func @recursive() -> i64 {
  func.call @started() : () -> ()
  %n = arith.constant 90 : i64
  %r = func.call @fib(%n) : (i64) -> i64
  return %r : i64
}
func.func private @fib(%n: i64) -> i64 {
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %is_small = arith.cmpi slt, %n, %c2 : i64
  %r = scf.if %is_small -> i64 {
    scf.yield %n : i64
  } else {
    %a = arith.subi %n, %c1 : i64
    %b = arith.subi %n, %c2 : i64
    %x = func.call @fib(%a) : (i64) -> i64
    %y = func.call @fib(%b) : (i64) -> i64
    %s = arith.addi %x, %y : i64
    scf.yield %s : i64
  }
  return %r : i64
}
func.func @in_a_task() -> i64 {
  %t, %v = async.execute -> !async.value<i64> {
    %r = func.call @blocks() : () -> i64
    async.yield %r : i64
  }
  %r = async.await %v : !async.value<i64>
  return %r : i64
}
async.func @in_a_coroutine(%held: !async.value<i64>) -> (!async.token, !async.value<i64>) {
  %t, %v = async.execute -> !async.value<i64> {
    %one = arith.constant 1 : i64
    async.yield %one : i64
  }
  %one = await %v : !async.value<i64>
  func.call @started() : () -> ()
  cf.br ^again(%one : i64)
^again(%x: i64):
  %t2, %v2 = async.execute -> !async.value<i64> {
    %y = arith.muli %x, %x : i64
    async.yield %y : i64
  }
  %y = await %v2 : !async.value<i64>
  cf.br ^again(%y : i64)
^never:
  %r = await %held : !async.value<i64>
  return %r : i64
}
func.func @of_a_kernel() -> i64 {
  %r = tfrt.call @while() : () -> i64
  tfrt.return %r : i64
}
func.func private @started() {
  %n = arith.constant 1 : i64
  call @printI64(%n) : (i64) -> ()
  return
}
func.func private @printI64(i64)
"""
PLACES = {
    "while": "%r = scf.while",
    "blocks": "cf.cond_br %is_over",
    "counted": "%r = scf.for",
    "recursive": "func.func private @fib",
    "in_a_task": "cf.cond_br %is_over",
    "of_a_kernel": "%r = scf.while",
}


class Start:
    """A sink that waits for the first output, and then calls a function on another thread."""

    def __init__(self, then: Callable[[], object]) -> None:
        self._seen = threading.Event()
        self._then = then
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def __call__(self, _: str) -> None:
        self._seen.set()

    def _run(self) -> None:
        assert self._seen.wait(SLOW)
        self._then()

    def join(self) -> None:
        self._thread.join()


def place(text: str, operation: str) -> Location:
    """Return the location of the operation in the line that starts with this text.

    The location is after the operation's results.
    """
    before, found, _ = text.partition(operation)
    assert found
    skipped = operation.find("= ") + 2 if "= " in operation else 0
    column = len(before) - before.rfind("\n") + skipped
    return Location("f.mlir", before.count("\n") + 1, column)


@pytest.mark.parametrize("function", PLACES)
def test_a_loop_ends_when_its_run_is_cancelled(host: HostContext, function: str) -> None:
    program = Program.from_source(LOOPS, "f.mlir")
    runs = []
    start = Start(lambda: runs[0].cancel("enough"))
    runs.append(program.run(host, function, output=start))
    [run] = runs

    assert run.wait(SLOW)
    start.join()
    assert run.diagnostics == [error("enough", place(LOOPS, PLACES[function]))]
    with pytest.raises(TfrtError, match="enough"):
        run.results[0].result(0)


def test_a_coroutine_that_always_finds_something_to_do_ends(host: HostContext) -> None:
    program = Program.from_source(LOOPS, "f.mlir")
    runs = []
    start = Start(lambda: runs[0].request.cancel())
    never = make_unavailable(host.work_queue, "i64")
    runs.append(program.run(host, "in_a_coroutine", [never], output=start))
    [run] = runs

    assert run.wait(SLOW)
    start.join()
    never.emplace(1)
    with pytest.raises(TfrtError, match="Cancelled"):
        run.results[1].result(0)


@pytest.mark.parametrize("function", ["while", "of_a_kernel"])
def test_a_deadline_ends_a_loop(host: HostContext, function: str) -> None:
    run = Program.from_source(LOOPS, "f.mlir").run(host, function, output=lambda _: None)
    run.cancel_at(time.monotonic() + 0.02)

    assert run.wait(SLOW)
    with pytest.raises(TfrtError, match="deadline exceeded"):
        run.results[0].result(0)


@pytest.mark.parametrize("function", ["counted", "in_a_task", "of_a_kernel"])
def test_ctrl_c_ends_a_loop_that_runs_on_the_main_thread(leak_check: None, function: str) -> None:
    main = threading.get_ident()
    start = Start(lambda: signal.pthread_kill(main, signal.SIGINT))
    with HostContext("s") as host:
        run = Program.from_source(LOOPS, "f.mlir").run(host, function, output=start)
        with pytest.raises(KeyboardInterrupt):
            run.wait(SLOW)
        start.join()
        assert run.wait(SLOW)
        assert run.diagnostics == [error("interrupted", place(LOOPS, PLACES[function]))]


def test_other_runs_of_the_host_go_on(leak_check: None) -> None:
    text = """
func.func @count(%n: i64) -> i64 {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %r = scf.while (%x = %c0) : (i64) -> i64 {
    %more = arith.cmpi ne, %x, %n : i64
    scf.condition(%more) %x : i64
  } do {
  ^bb0(%x: i64):
    %y = arith.addi %x, %c1 : i64
    func.call @printI64(%y) : (i64) -> ()
    scf.yield %y : i64
  }
  return %r : i64
}
func.func private @printI64(i64)
"""
    program = Program.from_source(text, "f.mlir")
    with HostContext("mstd:2") as host:
        runs = []
        start = Start(lambda: runs[0].cancel())
        runs.append(program.run(host, "count", [-1], output=start))
        other = program.run(host, "count", [5], output=lambda _: None)

        assert other.results[0].result(SLOW) == 5
        assert runs[0].wait(SLOW) and other.wait(SLOW)
        start.join()
        assert (other.diagnostics, other.output) == ([], "12345")
        last = program.run(host, "count", [3])
        assert last.results[0].result(SLOW) == 3
        assert last.wait(SLOW)


WAITING = """
func.func @host(%later: i32) -> i32 {
  %r = tfrt.call @waits(%later) : (i32) -> i32
  %c = tfrt.new.chain
  %x, %c1 = "tfrt_test.cancel"(%c) : (!tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r : i32
}
async.func @waits(%v: !async.value<i32>) -> !async.value<i32> {
  %w = await %v : !async.value<i32>
  return %w : i32
}
func.func @lacks_a_member() -> i32 {
  %r = tfrt.call @lacks() : () -> i32
  %c = tfrt.new.chain
  %x, %c1 = "tfrt_test.cancel"(%c) : (!tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %r : i32
}
async.func @lacks() -> !async.value<i32> {
  %n = arith.constant 2 : index
  %g = async.create_group %n : !async.group
  %t = async.execute { async.yield }
  %i = async.add_to_group %t, %g : !async.token
  async.await_all %g
  %w = arith.constant 2 : i32
  return %w : i32
}
"""


def test_a_cancellation_by_a_kernel_wakes_what_waits_for_a_host_value(host: HostContext) -> None:
    never: Future[int] = Future()
    run = Program.from_source(WAITING, "f.mlir").run(host, "host", [never])

    assert run.wait(SLOW)
    with pytest.raises(TfrtError, match="Cancelled"):
        run.results[0].result(0)
    never.set_result(1)


def test_a_cancelled_run_does_not_wait_for_members_that_nobody_adds(host: HostContext) -> None:
    run = Program.from_source(WAITING, "f.mlir").run(host, "lacks_a_member")

    assert run.wait(SLOW)
    assert run.results[0].exception(0) is not None


def test_a_cancelled_call_does_not_wait_for_its_arguments(host: HostContext) -> None:
    never = make_unavailable(host.work_queue, "i32")
    run = Program.from_source(WAITING, "f.mlir").run(host, "waits", [never])
    canceller = threading.Thread(target=run.request.cancel)
    canceller.start()

    assert run.wait(SLOW)
    canceller.join()
    with pytest.raises(TfrtError, match="Cancelled"):
        run.results[0].result(0)
    never.emplace(1)


PRINTING = """
func.func @hosted(%n: i64, %first: i32, %second: i32) -> i64 {
  %r = tfrt.call @print_later(%first, %second, %n) : (i32, i32, i64) -> i64
  tfrt.return %r : i64
}
async.func @print_later(%a: !async.value<i32>, %b: !async.value<i32>, %n: i64)
    -> !async.value<i64> {
  %x = await %a : !async.value<i32>
  func.call @printI64(%n) : (i64) -> ()
  %t = async.execute {
    func.call @printI64(%n) : (i64) -> ()
    async.yield
  }
  await %t : !async.token
  %y = await %b : !async.value<i32>
  func.call @printI64(%n) : (i64) -> ()
  return %n : i64
}
func.func private @printI64(i64)
"""


@pytest.mark.parametrize("function", ["print_later", "hosted"])
def test_each_of_several_runs_gets_its_own_output(host: HostContext, function: str) -> None:
    program = Program.from_source(PRINTING, "f.mlir")
    sinks: list[list[str]] = [[], [], []]
    values = [(Future[int](), Future[int]()) for _ in sinks]
    runs = []
    for number, (sink, given) in enumerate(zip(sinks, values, strict=True)):
        arguments = [*given, number] if function == "print_later" else [number, *given]
        runs.append(program.run(host, function, arguments, output=sink.append))
    for first, _ in reversed(values):
        first.set_result(0)
    for _, second in values:
        second.set_result(0)

    assert all(run.wait(SLOW) for run in runs)
    assert [run.output for run in runs] == ["000", "111", "222"]
    assert ["".join(sink) for sink in sinks] == ["000", "111", "222"]


ENDLESS = """
async.func @down(%n: i64) -> !async.token {
  %t = async.call @down(%n) : (i64) -> !async.token
  return
}
func.func @detached() {
  %n = arith.constant 1 : i64
  %t = async.call @down(%n) : (i64) -> !async.token
  return
}
func.func @copies() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %last = arith.constant 9223372036854775807 : index
  %a = memref.alloc() : memref<1000000xi64>
  %b = memref.alloc() : memref<1000000xi64>
  scf.for %i = %c0 to %last step %c1 {
    memref.copy %a, %b : memref<1000000xi64> to memref<1000000xi64>
    memref.copy %b, %a : memref<1000000xi64> to memref<1000000xi64>
  }
  memref.dealloc %a : memref<1000000xi64>
  memref.dealloc %b : memref<1000000xi64>
  return
}
func.func @prints() {
  %n = arith.constant 1 : i64
  %true = arith.constant true
  scf.while : () -> () {
    scf.condition(%true)
  } do {
    func.call @printI64(%n) : (i64) -> ()
    scf.yield
  }
  return
}
func.func @pyramid() -> i64 {
  %n = arith.constant 1 : i64
  %m = memref.alloc() : memref<1xi64>
  %c0 = arith.constant 0 : index
  memref.store %n, %m[%c0] : memref<1xi64>
  %r = func.call @f50(%m) : (memref<1xi64>) -> i64
  memref.dealloc %m : memref<1xi64>
  return %r : i64
}
func.func private @f0(%m: memref<1xi64>) -> i64 {
  %c0 = arith.constant 0 : index
  %n = memref.load %m[%c0] : memref<1xi64>
  %s = arith.addi %n, %n : i64
  memref.store %s, %m[%c0] : memref<1xi64>
  return %s : i64
}
func.func private @printI64(i64)
""" + "".join(
    f"""func.func private @f{above}(%m: memref<1xi64>) -> i64 {{
  %a = func.call @f{above - 1}(%m) : (memref<1xi64>) -> i64
  %b = func.call @f{above - 1}(%m) : (memref<1xi64>) -> i64
  return %b : i64
}}
"""
    for above in range(1, 51)
)
SOON = 0.05


@pytest.mark.parametrize("function", ["detached", "copies", "prints", "pyramid"])
def test_a_wait_returns_at_its_time_limit_and_a_cancellation_ends_what_runs(
    host: HostContext, function: str
) -> None:
    run = Program.from_source(ENDLESS, "f.mlir").run(host, function, output=lambda _: None)

    assert not run.wait(SOON)
    assert run.cancel()
    assert run.wait(SLOW)


def test_a_run_goes_on_after_a_wait_with_a_time_limit(host: HostContext) -> None:
    program = Program.from_source(LOOPS, "f.mlir")
    goes_on = threading.Event()
    run = program.run(host, "recursive", output=lambda _: goes_on.wait(SLOW))  # when it starts

    assert not run.wait(SOON)
    with pytest.raises(TimeoutError):
        run.results[0].result(SOON)
    goes_on.set()
    assert not run.wait_for_results(SOON)
    run.cancel()
    assert run.wait(SLOW)


def test_without_workers_one_thing_runs_at_a_time_also_with_many_waits(leak_check: None) -> None:
    printed: list[str] = []
    with HostContext("s") as host:
        program = Program.from_source(PRINTING, "f.mlir")
        value: Future[int] = Future()
        value.set_result(0)
        runs = [
            program.run(host, "print_later", [value, value, number], output=printed.append)
            for number in range(5)
        ]
        threads = [
            threading.Thread(target=run.wait, args=(timeout,))
            for run, timeout in zip(runs, (SLOW, None, SLOW, None, SLOW), strict=True)
        ]
        for run in runs:
            run.wait(0.000_001)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(printed) == sorted("000111222333444")


def test_a_closed_host_ends_what_its_runs_have_left_running(leak_check: None) -> None:
    before = set(threading.enumerate())  # other hosts may be open, such as the default host
    with HostContext("mstd:2") as host:
        run = Program.from_source(ENDLESS, "f.mlir").run(host, "detached")
        assert run.wait_for_results(SLOW)
    left = set(threading.enumerate()) - before
    assert [t.name for t in left if t.name.startswith("worker")] == []


def test_the_tasks_of_a_cancelled_run_share_its_error(
    host: HostContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    reasons: list[int] = []
    tell = AsyncRuntime._reason_to_stop

    def reason_to_stop(runtime: AsyncRuntime, context: int, record: int) -> Diagnostic:
        reasons.append(record)
        return tell(runtime, context, record)

    monkeypatch.setattr(AsyncRuntime, "_reason_to_stop", reason_to_stop)
    program = Program(
        """
        func.func @grow(%n: i64) -> i64 {
          %c1 = arith.constant 1 : i64
          %more = arith.addi %n, %c1 : i64
          %t, %x = async.execute -> !async.value<i64> {
            %r = func.call @grow(%more) : (i64) -> i64
            async.yield %r : i64
          }
          %y = func.call @grow(%more) : (i64) -> i64
          %z = async.await %x : !async.value<i64>
          return %z : i64
        }
        """
    )
    run = program.run(host, "grow", [0])
    waits = threading.Thread(target=run.wait)
    waits.start()
    while host.live_values() < 20_000:
        time.sleep(0.001)
    run.cancel("enough")
    waits.join(SLOW)
    assert not waits.is_alive()
    # At most one per place and thread, and not one per task.
    assert len(reasons) < 100
