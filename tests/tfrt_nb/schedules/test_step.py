"""Test a run whose steps the caller chooses."""

from __future__ import annotations

import threading

import pytest

from tfrt_nb import Program
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.schedules.step import Stepper
from tfrt_runtime.diagnostics import TfrtError

PROGRAM = """\
func.func @main() -> i32 {
  %c1 = tfrt.new.chain
  %c2 = tfrt.new.chain
  %a = tfrt.constant.i32 11
  %b = tfrt.constant.i32 22
  %p = tfrt.print.i32 %a, %c1
  %q = tfrt.print.i32 %b, %c2
  %sum = tfrt.add.i32 %a, %b
  tfrt.return %sum : i32
}
"""
C1, C2, A, B, P, Q, SUM = range(7)


@pytest.fixture
def printed():
    return []


@pytest.fixture
def stepper(printed):
    with Stepper(Program.from_source(PROGRAM, "p"), output=printed.append) as made:
        yield made
    assert not any(thread.name == "stepper" for thread in threading.enumerate())


def test_only_what_is_ready_is_offered_and_only_what_is_chosen_runs(stepper, printed):
    assert stepper.ready() == [C1, C2, SUM]
    assert not stepper.run(P)
    assert stepper.run(C2)
    assert stepper.ready() == [C1, Q, SUM]
    assert stepper.run(Q)
    assert stepper.ready() == [C1, SUM]
    assert printed == ["int32 = 22\n"]
    assert stepper.run_to_end(30)
    assert printed == ["int32 = 22\n", "int32 = 11\n"]
    assert stepper.execution.result(0) == 33


def test_the_events_of_the_steps_are_there_at_once(stepper):
    document = RunDocument(Program.from_source(PROGRAM, "p"), stepper.execution)
    stepper.ready()
    stepper.run(SUM)
    stepper.ready()
    document.drain()
    assert document.previews[SUM] == "33" and document.status == "running"


def test_running_to_an_operation_stops_before_it(stepper, printed):
    assert stepper.run_to(Q, 30)
    assert Q in stepper.ready() and printed == ["int32 = 11\n"] or not printed
    assert stepper.run(Q) and stepper.run_to_end(30)
    assert not stepper.run_to(Q, 30)


def test_to_the_end_is_in_program_order(stepper, printed):
    assert stepper.run_to_end(30)
    assert printed == ["int32 = 11\n", "int32 = 22\n"] and stepper.ready() == []


def test_a_cancelled_run_is_over(stepper):
    stepper.ready()
    stepper.cancel()
    assert stepper.run_to_end(30)
    assert stepper.execution.request.is_cancelled


def test_a_stepper_that_is_left_alone_ends(stepper):
    stepper.ready()


def test_a_function_that_is_not_there_is_an_error():
    with pytest.raises(TfrtError):
        Stepper(Program.from_source(PROGRAM, "p"), "other")


def test_iterations_of_a_loop_are_steps_of_one_operation():
    text = """\
func.func @main() -> i32 {
  %three = tfrt.constant.i32 3
  %r = tfrt.repeat.i32 %three, %three : i32 {
    %next = tfrt.add.i32 %three, %three
    tfrt.return %next : i32
  }
  tfrt.return %r : i32
}
"""
    chosen = []
    with Stepper(Program.from_source(text, "p")) as stepper:
        while ready := stepper.ready(30):
            chosen.append(ready[0])
            assert stepper.run(ready[0])
        assert stepper.execution.result(0) == 24
    assert chosen == [1, 2, 2, 2]


WAITS = """\
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %a = demo.wait.i32 %one {seconds = 1000.0}
  %b = demo.wait.i32 %two {seconds = 10.0}
  %sum = tfrt.add.i32 %a, %b
  tfrt.return %sum : i32
}
"""


def test_a_timer_is_ready_once_its_kernel_has_returned_whatever_its_delay():
    with Stepper(Program.from_source(WAITS, "p")) as stepper:
        assert stepper.ready(30) == [2, 3] and stepper.arriving() == set()
        assert stepper.run(2)
        assert stepper.ready(30) == [2, 3] and stepper.arriving() == {2}
        assert stepper.run(2)
        assert stepper.ready(30) == [3]
        assert stepper.run_to(4, 30)
        assert stepper.run_to_end(30)
        assert stepper.execution.result(0) == 3


def test_a_run_with_a_timer_that_is_never_chosen_can_be_cancelled():
    with Stepper(Program.from_source(WAITS, "p")) as stepper:
        stepper.ready(30)
        stepper.run(2)
        stepper.ready(30)
        stepper.cancel()
        assert stepper.execution.wait(30)
        assert stepper.execution.results[0].cancelled()
