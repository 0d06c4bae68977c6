"""Test that stuck runs are distinguished from runs that wait for code outside the runtime."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.default_host import gather
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable
from tfrt_runtime.host.waiting import rest_of
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelRegistry
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.user import user_kernel

Run = Callable[..., Execution]
SLOW = 60
SHORT = 0.05

SUM = """func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %one, %one
  %three = tfrt.add.i32 %two, %one
  tfrt.return %three : i32
}"""

LATER = """func @main() -> i32 {
  %a = "test.later"() : () -> i32
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}"""


# --- runs ---


@pytest.fixture
def indirect() -> Iterator[list[AsyncValue]]:
    """The values that `test.later` has returned, which the runtime never resolves."""
    values: list[AsyncValue] = []
    yield values
    values.clear()


@pytest.fixture
def never(indirect: list[AsyncValue]) -> Mapping[str, object]:
    def later(frame: KernelFrame) -> AsyncValue:
        queue = frame.request.queue
        make = native_process().quick.value_make_indirect
        indirect.append(AsyncValue(queue, make(queue.context())))
        return indirect[-1]

    registry = standard_kernels()
    registry.kernel("test.later", frame=True)(later)
    return registry


STUCK = "@main cannot go on: nothing runs, nothing is queued, and its result is unavailable"


def test_a_run_that_nobody_can_go_on_with_is_stuck(
    run: Run, never: Mapping[str, object], indirect: list[AsyncValue]
) -> None:
    execution = run(LATER, kernels=never)
    seen = [execution.wait(), execution.is_stuck, execution.wait_for_results(), execution.wait()]
    diagnostics = execution.diagnostics

    # The rest of the run ends: its values are errors.
    assert seen == [False, True, True, True]
    assert str(execution.results[0].exception()) == str(indirect[0].exception())
    assert [str(d) for d in diagnostics] == [f"test.mlir:1:1: error: {STUCK}"]
    assert [str(note) for note in diagnostics[0].notes] == [
        (
            "test.mlir:2:8: note: kernel 'test.later' has not resolved its result 0 yet: it is "
            "waiting for a thread, or a callback, that sets it"
        )
    ]


@pytest.mark.parametrize(
    "made_of", [lambda result: result.then(str), lambda result: gather(1, result)]
)
def test_values_that_are_made_of_a_result_never_come_either(
    run: Run,
    never: Mapping[str, object],
    indirect: list[AsyncValue],
    made_of: Callable[[AsyncValue], AsyncValue],
) -> None:
    execution = run(LATER, kernels=never)
    with pytest.raises(TfrtError, match=STUCK):
        made_of(execution.results[0]).result()
    assert not execution.wait()


@pytest.mark.parametrize("timeout", [None, SLOW])
def test_who_waits_for_a_result_alone_is_told_that_it_never_comes(
    run: Run, never: Mapping[str, object], indirect: list[AsyncValue], timeout: float | None
) -> None:
    execution = run(LATER, kernels=never)
    [result] = execution.results
    with pytest.raises(TfrtError, match=STUCK):
        result.result(timeout)
    with pytest.raises(TfrtError, match=STUCK):
        result.exception(timeout)
    assert not execution.wait()


@pytest.fixture
def own() -> KernelRegistry:
    """A registry in which `test.later` returns the result of the run that calls it."""
    registry = standard_kernels()

    def result(frame: KernelFrame) -> AsyncValue:
        [result] = frame.request.held_results()
        return result

    registry.kernel("test.later", frame=True)(result)
    return registry


RETURNS = """func @main() -> i32 {
  %a = "test.later"() : () -> i32
  tfrt.return %a : i32
}"""
CALLS = """func @main() -> i32 {
  %a = tfrt.once @one() : () -> i32
  tfrt.return %a : i32
}
func @one() -> i32 {
  %a = tfrt.once @two() : () -> i32
  tfrt.return %a : i32
}
func @two() -> i32 {
  %a = tfrt.once @one() : () -> i32
  tfrt.return %a : i32
}"""


@pytest.mark.parametrize("text", [LATER, RETURNS, CALLS])
@pytest.mark.parametrize("is_cancelled", [False, True])
def test_values_that_wait_for_themselves_end_as_errors(
    run: Run, own: KernelRegistry, text: str, is_cancelled: bool
) -> None:
    execution = run(text, kernels=own)
    if is_cancelled:
        execution.cancel()
    execution.wait()

    with pytest.raises(TfrtError, match="Cancelled" if is_cancelled else STUCK):
        execution.result()
    assert execution.wait()


def test_a_wait_for_the_rest_of_a_stuck_run_lasts_until_it_has_finished(
    own: KernelRegistry,
) -> None:
    busy, free = threading.Event(), threading.Event()

    def occupy() -> int:
        busy.set()
        assert free.wait(SLOW)
        return 1

    registry = standard_kernels()
    registry.add(user_kernel("test.later", occupy))
    program = Program.from_source(LATER, "test.mlir")
    with HostContext("mstd:1") as host:
        other: list[Execution] = []

        def occupy_the_worker() -> None:
            other.append(program.run(host, kernels=registry))
            assert busy.wait(SLOW)

        execution = program.run(host, kernels=own)
        # The waiting thread calls this after it has made the result an error.  The rest is queued
        # later.
        execution.results[0].and_then(occupy_the_worker)
        seen = [execution.wait()]
        timer = threading.Timer(4 * SHORT, free.set)
        timer.start()
        seen.append(execution.wait())

        assert seen == [False, True]
        timer.join()
        assert other[0].result() == 2


# --- code outside the runtime ---


@pytest.fixture
def held() -> Iterator[list[AsyncValue]]:
    """The values that `test.later` has promised."""
    values: list[AsyncValue] = []
    yield values
    values.clear()


@pytest.fixture
def kernels(held: list[AsyncValue]) -> Mapping[str, object]:
    registry = standard_kernels()

    def later(frame: KernelFrame) -> AsyncValue:
        held.append(frame.allocate())
        return held[-1]

    registry.kernel("test.later", frame=True)(later)
    return registry


def test_a_value_that_somebody_holds_may_still_come(
    run: Run, kernels: Mapping[str, object], held: list[AsyncValue]
) -> None:
    execution = run(LATER, kernels=kernels)
    seen = (execution.wait(SHORT), execution.stuck(), list(map(str, execution.waiting_for())))
    held.pop().emplace(4)

    assert seen == (
        False,
        [],
        [
            (
                "test.mlir:2:8: note: kernel 'test.later' has not resolved its result 0 yet: it is "
                "waiting for a thread, or a callback, that sets it"
            )
        ],
    )
    assert execution.wait(SLOW)
    assert (execution.results[0].result(0), execution.waiting_for()) == (8, [])


def test_a_value_that_nobody_holds_is_an_error(
    run: Run, kernels: Mapping[str, object], held: list[AsyncValue]
) -> None:
    execution = run(LATER, kernels=kernels)
    assert not execution.wait(SHORT)
    held.clear()

    assert execution.wait(SLOW)
    assert [str(d) for d in execution.diagnostics] == [
        "test.mlir:2:8: error: kernel 'test.later' dropped its result unresolved"
    ]


def test_a_result_that_was_handed_out_unresolved_may_still_come(
    run: Run, kernels: Mapping[str, object], held: list[AsyncValue]
) -> None:
    text = """func @main() -> i32 {
  %a = "test.later"() : () -> i32
  tfrt.return %a : i32
}"""
    execution = run(text, kernels=kernels)
    seen = (execution.wait(SHORT), execution.wait_for_results(SHORT), execution.stuck())
    held.pop().emplace(4)

    assert seen == (False, False, [])
    assert execution.wait(SLOW)
    assert execution.results[0].result(0) == 4


IDENTITY = """func @main(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}"""


def test_an_argument_may_still_come(run: Run, host: HostContext) -> None:
    argument = make_unavailable(host.work_queue, "i32")
    execution = run(IDENTITY, argument)
    seen = (execution.wait(SHORT), [str(note) for note in execution.waiting_for()])
    argument.emplace(2)

    assert seen == (False, ["note: argument 1 of @main is unavailable"])
    assert execution.wait(SLOW)
    assert execution.results[0].result(0) == 4


def test_the_result_of_another_run_may_still_come(
    run: Run, kernels: Mapping[str, object], held: list[AsyncValue]
) -> None:
    first = run(LATER, kernels=kernels)
    second = run(IDENTITY, first.results[0])
    assert (second.wait(SHORT), second.stuck(), len(second.waiting_for())) == (False, [], 1)
    held.pop().emplace(1)

    assert second.wait(SLOW)
    assert second.results[0].result(0) == 4


def test_the_result_of_another_run_that_a_kernel_returns_may_still_come(
    run: Run, kernels: KernelRegistry, held: list[AsyncValue]
) -> None:
    first = run(LATER, kernels=kernels)
    assert not first.wait(SHORT)
    registry = standard_kernels()
    registry.kernel("test.later")(lambda: first.results[0])
    second = run(LATER, kernels=registry)
    assert (second.wait(SHORT), second.stuck()) == (False, [])
    held.pop().emplace(1)

    assert second.wait(SLOW)
    assert second.result() == 4


def test_a_coroutine_may_take_its_time(run: Run) -> None:
    started, loops = threading.Event(), list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]()

    async def slow() -> int:
        loops.append((asyncio.get_running_loop(), asyncio.Event()))
        started.set()
        await loops[0][1].wait()
        return 3

    registry = standard_kernels()
    registry.add(user_kernel("test.later", slow))
    execution = run(LATER, kernels=registry)
    assert not execution.wait(SHORT)
    assert started.wait(SLOW)
    seen = (execution.wait(SHORT), execution.stuck(), len(execution.waiting_for()))
    loop, event = loops.pop()
    loop.call_soon_threadsafe(event.set)

    assert seen == (False, [], 1)
    assert execution.wait(SLOW)
    assert execution.results[0].result(0) == 6


def test_a_kernel_that_runs_is_not_stuck(run: Run) -> None:
    enter, leave = threading.Event(), threading.Event()

    def slow() -> int:
        enter.set()
        assert leave.wait(SLOW)
        return 1

    registry = standard_kernels()
    registry.kernel("test.later", results=("i32",), blocking=True)(slow)
    execution = run(LATER, kernels=registry)
    assert not execution.wait(SHORT)
    assert enter.wait(SLOW)
    seen = execution.stuck()
    leave.set()

    assert seen == []
    assert execution.wait(SLOW)


def test_a_queue_is_idle_before_and_after_a_run(host: HostContext) -> None:
    program = Program.from_source(SUM, "test.mlir")
    seen = [rest_of(host.work_queue) is not None]
    execution = program.run(host, wake=False)
    seen.append(rest_of(host.work_queue) is not None)
    assert execution.wait(SLOW)

    assert seen == [True, False]
    assert execution.stuck() == []


# --- a run that goes on is never taken for one that is stuck ---


@pytest.fixture
def all_kinds() -> Iterator[KernelRegistry]:
    """Kernels that run on a worker, in the blocking pool, on an event loop, and on a thread."""
    registry = standard_kernels()
    pool = ThreadPoolExecutor(2)

    async def on_loop(value: int) -> int:
        await asyncio.sleep(0)
        return value

    def on_thread(frame: KernelFrame, value: int) -> AsyncValue:
        result = frame.allocate()
        pool.submit(result.emplace, value)
        return result

    registry.add(user_kernel("test.on_loop", on_loop))
    registry.kernel("test.on_thread", frame=True)(on_thread)
    registry.kernel("test.blocks", results=("i32",), blocking=True)(lambda value: value)
    registry.kernel("test.plain", results=("i32",))(lambda value: value)
    yield registry
    pool.shutdown()


STEPS = ["test.on_loop", "test.on_thread", "test.blocks", "test.plain", "tfrt_test.async_copy.i32"]


def lanes(seed: int) -> str:
    """Return a program with several chains of steps in a random order, which are merged."""
    chance = random.Random(seed)
    lines = ["func @main(%x: i32) -> !tfrt.chain {"]
    ends = []
    for lane in range(4):
        value = "%x"
        for step in range(8):
            name = f"%v{lane}_{step}"
            lines.append(f'  {name} = "{chance.choice(STEPS)}"({value}) : (i32) -> i32')
            value = name
        ends.append(value)
    lines.append(f"  %m = tfrt.merge.chains {', '.join(ends)} : {', '.join(['i32'] * len(ends))}")
    return "\n".join([*lines, "  tfrt.return %m : !tfrt.chain", "}"])


@pytest.mark.parametrize("seed", range(8))
def test_a_run_that_goes_on_is_never_stuck(
    seed: int, all_kinds: KernelRegistry, host: HostContext
) -> None:
    program = Program.from_source(lanes(seed), "test.mlir")
    for _ in range(10):
        execution = program.run(host, "main", (1,), kernels=all_kinds)
        waiting = threading.Thread(target=execution.wait, args=(SLOW,))
        waiting.start()
        found: list[object] = []
        while not execution.is_done:
            found += execution.stuck()
        waiting.join()

        assert (found, execution.diagnostics) == ([], [])
