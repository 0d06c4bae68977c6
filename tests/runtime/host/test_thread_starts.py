"""Test that hosts report it if no thread can be started, and that pending work still ends."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.queues.threads import start_thread

SLOW = 60


def refuse(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Prevent threads whose names start with any of these from starting."""
    start = threading.Thread.start

    def start_or_not(thread: threading.Thread) -> None:
        if thread.name.startswith(names):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_or_not)


ADDS = """
func @main() -> i32 {
  %a = tfrt.constant.i32 20
  %b = "tfrt_test.async_add.i32"(%a, %a) : (i32, i32) -> i32
  tfrt.return %b : i32
}
"""


def test_a_host_without_workers_says_so(leak_check: None, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse(monkeypatch, "worker")
    with HostContext("mstd:2") as host:
        with pytest.raises(TfrtError, match="the system cannot start thread 'worker 1'"):
            host.work_queue.start()
        monkeypatch.undo()
        run = Program(ADDS).run(host)
        assert run.wait(SLOW)
        assert run.results[0].result(0) == 40


def test_the_workers_that_run_do_the_work(
    leak_check: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(monkeypatch, "worker 2")
    with HostContext("mstd:2") as host:
        with pytest.raises(TfrtError, match="the system cannot start thread 'worker 2'"):
            host.work_queue.start()
        run = Program(ADDS).run(host)
        assert run.wait(SLOW)
        assert run.results[0].result(0) == 40


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_without_threads_for_it_blocking_work_runs_where_it_is_asked_for(
    leak_check: None, monkeypatch: pytest.MonkeyPatch, queue: str
) -> None:
    refuse(monkeypatch, "blocking")
    with HostContext(queue) as host:
        run = Program("""
        func @main() -> (!tfrt.chain, !tfrt.chain, !tfrt.chain) {
          %us = tfrt.constant.i32 1000
          %a = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
          %b = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
          %c = "tfrt_test.blocking.usleep"(%us) : (i32) -> !tfrt.chain
          tfrt.return %a, %b, %c : !tfrt.chain, !tfrt.chain, !tfrt.chain
        }
        """).run(host)
        assert run.wait(SLOW)
        assert run.diagnostics == []
        assert all(value.done() for value in run.results)


AT_THE_END = """
import threading, time
from tfrt_nb.programs import Program
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.queues.threads import start_thread

host = HostContext("s")
endless = Program('''
func.func @main() -> i64 {
  %true = arith.constant true
  %zero = arith.constant 0 : i64
  %end = scf.while (%x = %zero) : (i64) -> i64 {
    scf.condition(%true) %x : i64
  } do {
  ^body(%x: i64):
    scf.yield %x : i64
  }
  return %end : i64
}
''').run(host)
quick = Program("func @main() -> i32 { %a = tfrt.constant.i32 1 tfrt.return %a : i32 }")
waiting = threading.Thread(target=endless.results[0].result, daemon=True)
waiting.start()
time.sleep(0.5)

class Last:
    def __del__(self):
        try:
            endless.results[0].result(0.1)
        except Exception as problem:
            print(problem, flush=True)

last = Last()
last.itself = last
# The collector, which finds them both, may end the run first: this module keeps it longer.
threading.endless = endless
"""


def test_a_wait_that_needs_a_thread_fails_when_the_interpreter_is_ending() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_THE_END],
        capture_output=True,
        text=True,
        timeout=SLOW,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert (
        done.stdout
        == "error: the interpreter is shutting down: it cannot start thread 'stand-in'\n"
    )


def test_a_starting_thread_collects_no_garbage_because_the_caller_may_hold_a_lock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lock, acquired = threading.RLock(), []

    class Garbage:
        def __init__(self) -> None:
            self.cycle = self

        def __del__(self) -> None:
            acquired.append(lock.acquire(timeout=0.1))

    def bootstrap(thread: threading.Thread) -> None:
        Garbage()
        kept = [[] for _ in range(50_000)]  # enough for an automatic collection
        del kept
        original(thread)

    original = threading.Thread._bootstrap  # type: ignore[attr-defined]
    monkeypatch.setattr(threading.Thread, "_bootstrap", bootstrap)
    with lock:
        thread = start_thread("test", lambda: None)
        assert (acquired, gc.isenabled()) == ([], True)
    thread.join(SLOW)
    gc.collect()
    assert acquired == [True]


def test_a_thread_that_cannot_start_leaves_the_garbage_collector_as_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: threading.Thread) -> None:
        assert not gc.isenabled()
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with pytest.raises(TfrtError, match="cannot start thread 'test'"):
        start_thread("test", lambda: None)
    assert gc.isenabled()
