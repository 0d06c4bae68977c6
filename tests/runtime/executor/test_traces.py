"""What a traced run shows of its registers, and that it leaves no value behind."""

from __future__ import annotations

from collections.abc import Callable

from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.async_value import State, make_unavailable
from tfrt_runtime.host.context import HostContext

Run = Callable[..., Execution]
SLOW = 20

TEXT = """
func @main(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %y = tfrt.add.i32 %x, %one
  %unused = tfrt.add.i32 %y, %y
  %r = tfrt.repeat.i32 %x, %y : i32 {
    %next = tfrt.add.i32 %y, %y
    tfrt.return %next : i32
  }
  tfrt.return %r : i32
}
"""


def seen(execution: Execution) -> list[tuple[int, int, object, int]]:
    """Function, register, latest value and count of each traced register."""
    return [
        (view.function, view.register, view.value and view.value.result(0), view.count)
        for view in execution.registers()
    ]


def test_the_latest_value_of_each_register_is_seen(run: Run) -> None:
    execution = run(TEXT, 3, trace=True)
    assert execution.wait(SLOW)

    assert seen(execution) == [
        (0, 0, 16, 3),
        (0, 1, 32, 3),
        (1, 0, 3, 1),
        (1, 1, 1, 1),
        (1, 2, 4, 1),
        (1, 3, 8, 1),
        (1, 4, 32, 1),
    ]


def test_each_run_has_a_trace_of_its_own(run: Run) -> None:
    first, second = (run(TEXT, count, trace=True) for count in (1, 2))
    assert first.wait(SLOW)
    assert second.wait(SLOW)

    assert [view[3] for view in seen(first)][:2] == [1, 1]
    assert [view[3] for view in seen(second)][:2] == [2, 2]


def test_times_and_workers_are_known(run: Run) -> None:
    execution = run(TEXT, 3, trace=True)
    assert execution.wait(SLOW)
    results = execution.registers()[-1]

    assert results.worker in {"main", "worker 1", "worker 2"}
    assert results.started_ns is not None
    assert results.resolved_ns is not None
    assert 0 <= results.started_ns <= results.resolved_ns


def test_a_value_that_is_not_there_yet_is_seen_as_such(host: HostContext, run: Run) -> None:
    late = make_unavailable(host.work_queue, "i32")
    execution = run(TEXT, late, trace=True)
    execution.wait_for_results(0)
    states = [view.value and view.value.state for view in execution.registers()[2:5]]
    late.emplace(1)
    assert execution.wait(SLOW)

    assert states == [State.UNAVAILABLE, State.AVAILABLE, None]


def test_values_that_nobody_looked_at_are_dropped_with_their_run(run: Run) -> None:
    """The leak check counts them; so are those of a run that is forgotten while it runs."""
    run(TEXT, 3, trace=True).wait(SLOW)
    run(TEXT, 4, trace=True)
