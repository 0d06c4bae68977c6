"""Test that a cancelled host ends its runs, and later runs as well, until it is restarted."""

from __future__ import annotations

from concurrent.futures import Future

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.async_runtime.runs import RUNTIMES, known_runs
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.structs import Context
from tfrt_runtime.native import layouts as at

SLOW = 60
TEXT = """
func.func @host(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @given(%x: i32) -> i32 {
  tfrt.return %x : i32
}
func.func @code() -> i64 {
  %t, %v = async.execute -> !async.value<i64> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %many = arith.constant MANY : index
    %zero = arith.constant 0 : i64
    %r = scf.for %i = %c0 to %many step %c1 iter_args(%a = %zero) -> i64 {
      %b = arith.index_cast %i : index to i64
      %x = arith.xori %a, %b : i64
      scf.yield %x : i64
    }
    async.yield %r : i64
  }
  %r = async.await %v : !async.value<i64>
  return %r : i64
}
"""
ENDLESS = TEXT.replace("MANY", "1000000000000000")
SHORT = TEXT.replace("MANY", "3")


def outcomes(host: HostContext, text: str) -> list[str]:
    """Return the states of a result of each kind of function after everything has stopped."""
    program = Program.from_source(text, "f.mlir")
    runs = [program.run(host, "host", [4]), program.run(host, "code")]
    assert all(run.wait(SLOW) for run in runs)
    return [repr(run.results[0]) for run in runs]


def test_all_runs_of_a_cancelled_host_end(host: HostContext) -> None:
    program = Program.from_source(ENDLESS, "f.mlir")
    later: Future[int] = Future()
    runs = [program.run(host, "host", [later]), program.run(host, "code")]

    host.cancel("enough")
    later.set_result(3)

    assert all(run.wait(SLOW) for run in runs)
    assert [repr(run.results[0]) for run in runs] == [
        "<AsyncValue i32 error 'enough'>",
        "<AsyncValue i64 error 'enough'>",
    ]


def test_runs_of_a_cancelled_host_end_at_once_until_it_is_restarted(host: HostContext) -> None:
    host.cancel("enough")
    assert host.is_cancelled
    assert outcomes(host, ENDLESS) == [
        "<AsyncValue i32 error 'enough'>",
        "<AsyncValue i64 error 'enough'>",
    ]

    host.restart()
    assert not host.is_cancelled
    assert outcomes(host, SHORT) == ["<AsyncValue i32 available 8>", "<AsyncValue i64 available 3>"]


def test_a_run_of_a_cancelled_host_gives_nothing_back_that_it_was_given(host: HostContext) -> None:
    program = Program.from_source(SHORT, "f.mlir")
    host.cancel("enough")
    run = program.run(host, "given", [4])
    assert run.wait(SLOW)  # before its results are requested
    assert run.results[0].cancelled()


# Code without a run ends whatever runs, until the queue is quiet.
@pytest.mark.parametrize(("has_run", "is_quiet"), [(True, True), (True, False), (False, True)])
def test_memory_refused_to_what_outlives_a_run_ends_no_later_run(
    host: HostContext, *, has_run: bool, is_quiet: bool
) -> None:
    before = native_process().live_values()
    program = Program.from_source(SHORT, "f.mlir")
    run = program.run(host, "code")
    assert run.result(SLOW) == 3
    runtime = RUNTIMES[host.work_queue.address]
    own = Context.at(host.work_queue.context())
    # A task of the finished run, which no longer exists, requests too much memory.
    own.run, own.refused = run.request.id if has_run else 0, 1 << 60
    del run
    runtime.on_event(own.address, at.EVENT_REFUSED, 0)
    own.run = 0
    if is_quiet:
        assert host.quiesce(SLOW)
        assert native_process().live_values() == before

    assert program.run(host, "code").result(SLOW) == 3


def test_what_outlives_a_run_stays_stopped_while_another_queue_settles(leak_check: None) -> None:
    program = Program.from_source(SHORT, "f.mlir")
    with HostContext("s") as host, HostContext("mstd:2") as other:
        run = program.run(host, "code")
        assert run.result(SLOW) == program.run(other, "code").result(SLOW) == 3
        number, runs = run.request.id, known_runs()
        own = Context.at(host.work_queue.context())
        own.run, own.refused = number, 1 << 60
        del run
        RUNTIMES[host.work_queue.address].on_event(own.address, at.EVENT_REFUSED, 0)
        own.run = 0

        RUNTIMES[other.work_queue.address].settle()
        assert "memory" in (runs.message(number) or "")
        RUNTIMES[host.work_queue.address].settle()
        assert runs.message(number) is None
