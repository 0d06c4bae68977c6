"""Test that each outcome of a Python kernel becomes a result, or an error at its operation."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import numpy as np
import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.values.async_value import AsyncValue, make_available, make_unavailable
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelRegistry
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.user import user_kernel

Run = Callable[..., Execution]
SLOW = 60
SHORT = 0.05
TENSOR = "!tfrt_tensor.tensor"


def kernels(function: Callable[..., object], *, blocking: bool = False) -> KernelRegistry:
    """Return the runtime's kernels, and the function as `my.test`."""
    registry = standard_kernels()
    registry.add(user_kernel("my.test", function, blocking=blocking))
    return registry


def call(*results: str) -> str:
    """Return a program that returns what `my.test` returns."""
    names = ", ".join(f"%r#{i}" for i in range(len(results))) if len(results) > 1 else "%r"
    count = f":{len(results)}" if len(results) > 1 else ""
    types = ", ".join(results)
    return f"""func.func @main() -> ({types}) {{
  %r{count} = "my.test"() : () -> ({types})
  tfrt.return {names} : {types}
}}
"""


# --- what it raises ---


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


RAISED = {
    "SystemExit: 3": SystemExit(3),
    "GeneratorExit": GeneratorExit(),
    "CancelledError: by itself": asyncio.CancelledError("by itself"),
    "BaseException: b": BaseException("b"),
    "Mute: <its __str__ raised RuntimeError>": Mute(),
    "ValueError: \\udc80": ValueError("\udc80"),
    "MemoryError": MemoryError(),
}


def raising(problem: BaseException) -> Callable[[], int]:
    def test() -> int:
        raise problem

    return test


def later(function: Callable[[], int]) -> Callable[..., object]:
    async def test() -> int:
        return function()

    return test


@pytest.mark.parametrize("kind", ["ordinary", "blocking", "async"])
@pytest.mark.parametrize("message", RAISED)
def test_whatever_a_kernel_raises_is_an_error_with_its_cause(
    run: Run, kind: str, message: str
) -> None:
    problem = RAISED[message]
    function = raising(problem)
    registry = kernels(
        later(function) if kind == "async" else function, blocking=kind == "blocking"
    )

    execution = run(call("i32"), kernels=registry)
    found = execution.results[0].exception(SLOW)

    assert execution.wait(SLOW)
    assert found is not None and found.__cause__ is problem
    line = function.__code__.co_firstlineno + 1
    names = [(f.name, f.lineno) for f in traceback.extract_tb(problem.__traceback__)]
    assert names[-1] == ("test", line)
    assert str(found) == f"test.mlir:2:8: error: {message}"
    assert [n.message for n in found.diagnostics[0].notes] == [f"raised in test, {__file__}:{line}"]
    assert run(call("i32"), kernels=kernels(later(lambda: 4))).results[0].result(SLOW) == 4


def test_an_error_names_what_a_task_group_holds_and_what_it_came_of(run: Run) -> None:
    async def fetch(page: int) -> None:
        try:
            json.loads("{" * page)
        except ValueError as problem:
            raise ConnectionError(f"page {page} is gone") from problem

    async def test() -> int:
        async with asyncio.TaskGroup() as group:
            for page in range(1, 4):
                group.create_task(fetch(page))
        return 0

    found = run(call("i32"), kernels=kernels(test)).results[0].exception(SLOW)

    assert found is not None
    text = "unhandled errors in a TaskGroup (3 sub-exceptions)"
    assert found.diagnostics[0].message == (
        f"ExceptionGroup: {text}: ConnectionError: page 1 is gone; ConnectionError: page 2 is gone;"
        " and 1 more"
    )
    first, second = fetch.__code__.co_firstlineno, test.__code__.co_firstlineno
    notes = [one.message for one in found.diagnostics[0].notes]
    assert notes[:2] == [
        f"raised in test, {__file__}:{second + 1}",
        f"ConnectionError: page 1 is gone, raised in fetch, {__file__}:{first + 4}",
    ]
    assert notes[2].startswith("caused by JSONDecodeError: Expecting property name")
    assert notes[2].endswith(f", raised in fetch, {__file__}:{first + 2}")
    assert (len(notes), notes[-1]) == (7, "and 1 more")


def test_an_error_names_what_was_handled_unless_that_is_suppressed(run: Run) -> None:
    found = []
    for is_suppressed in (False, True):

        def test(is_suppressed: bool = is_suppressed) -> int:
            problem = OSError("no file")
            try:
                return {"a": 1}["b"]
            except KeyError:
                problem.__suppress_context__ = is_suppressed
                raise problem

        error = run(call("i32"), kernels=kernels(lambda f=test: f())).results[0].exception(SLOW)
        assert error is not None
        found.append([one.message.partition(",")[0] for one in error.diagnostics[0].notes])
    shown = "raised while handling KeyError: 'b'"
    assert found == [["raised in test", shown], ["raised in test"]]


@pytest.mark.parametrize("is_argument", [False, True])
def test_the_text_of_an_exception_is_not_waited_for(run: Run, is_argument: bool) -> None:
    is_over, threads = threading.Event(), []

    class SlowError(Exception):
        def __str__(self) -> str:
            threads.append(threading.current_thread())
            is_over.wait(SLOW)
            return "too late"

    problem = ValueError(SlowError()) if is_argument else SlowError()
    execution = run(call("i32"), kernels=kernels(raising(problem)))
    found = str(execution.results[0].exception(SLOW))
    is_over.set()
    for thread in threads:
        thread.join(SLOW)

    name = type(problem).__name__
    assert found == f"test.mlir:2:8: error: {name}: <its __str__ took more than 0.25 s>"


@pytest.mark.parametrize("kind", ["ordinary", "blocking", "async"])
def test_an_interrupt_in_a_kernel_cancels_its_run_and_reaches_the_thread_that_waits(
    run: Run, kind: str
) -> None:
    function = raising(KeyboardInterrupt())
    registry = kernels(
        later(function) if kind == "async" else function, blocking=kind == "blocking"
    )

    execution = run(call("i32"), kernels=registry)
    with pytest.raises(KeyboardInterrupt):
        execution.wait(SLOW)
    with pytest.raises(KeyboardInterrupt):
        execution.results[0].result(SLOW)

    assert execution.request.is_cancelled
    assert str(execution.results[0].exception(0)) == "test.mlir:2:8: error: interrupted"


def test_an_interrupt_that_a_result_has_raised_is_not_raised_by_a_wait_for_the_run(
    run: Run,
) -> None:
    execution = run(call("i32"), kernels=kernels(raising(KeyboardInterrupt())))
    with pytest.raises(KeyboardInterrupt):
        execution.results[0].result(SLOW)

    assert execution.wait(SLOW)


async def stops_the_loop() -> int:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0)
    return 1


async def closes_the_loop() -> int:
    asyncio.get_running_loop().close()
    return 1


async def awaits_a_task_that_exits() -> int:
    async def exits() -> int:
        raise SystemExit(5)

    return await asyncio.create_task(exits())


async def leaves_a_callback_that_exits() -> int:
    asyncio.get_running_loop().call_soon(sys.exit, 6)
    await asyncio.sleep(0)
    return 1


@pytest.mark.parametrize(
    ("function", "outcome"),
    [
        (stops_the_loop, 1),
        (closes_the_loop, "RuntimeError: Cannot close a running event loop"),
        (awaits_a_task_that_exits, "SystemExit: 5"),
        (leaves_a_callback_that_exits, 1),
    ],
)
def test_the_event_loop_goes_on_whatever_a_kernel_does_to_it(
    run: Run, function: Callable[..., object], outcome: int | str
) -> None:
    value = run(call("i32"), kernels=kernels(function)).results[0]
    problem = value.exception(SLOW)

    assert (value.result(0) if problem is None else problem.diagnostics[0].message) == outcome
    assert run(call("i32"), kernels=kernels(later(lambda: 4))).results[0].result(SLOW) == 4


def test_a_cancellation_ends_a_coroutine_that_waits(run: Run) -> None:
    ended: list[str] = []

    async def test() -> int:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        return 1

    execution = run(call("i32"), kernels=kernels(test))
    assert not execution.wait(SHORT)
    execution.cancel("enough")

    assert execution.wait(SLOW)
    assert (str(execution.results[0].exception(0)), ended) == (
        "error: enough",
        ["cancelled"],
    )
    assert execution.diagnostics == []


# --- what it returns ---


@pytest.mark.parametrize(
    ("type_text", "returned", "message"),
    [
        ("i32", None, "expected i32, found NoneType"),
        ("!tfrt.string", b"x", "expected !tfrt.string, found bytes"),
        (TENSOR, np.array([{}]), "a tensor cannot hold elements of type object"),
    ],
)
def test_a_result_of_another_type_of_a_coroutine_is_an_error(
    run: Run, type_text: str, returned: object, message: str
) -> None:
    async def test() -> object:
        return returned

    execution = run(call(type_text), kernels=kernels(test))

    with pytest.raises(TfrtError, match=f"the result of 'my.test': {message}"):
        execution.results[0].result(SLOW)
    assert execution.wait(SLOW)


@pytest.mark.parametrize("is_coroutine", [False, True])
def test_an_index_is_checked_and_a_future_is_awaited_unless_it_is_an_object(
    run: Run, is_coroutine: bool
) -> None:
    done: Future[int] = Future()
    done.set_result(5)

    def given(type_text: str, returned: object) -> object:
        async def late() -> object:
            return returned

        function = late if is_coroutine else lambda: returned
        return run(call(type_text), kernels=kernels(function)).results[0].result(SLOW)

    assert given("!my.thing", done) == 5
    assert given("!tfrt.object", done) is done
    assert given("index", -3) == -3
    with pytest.raises(TfrtError, match="the result of 'my.test': expected i64, found str"):
        given("index", "three")


@pytest.mark.parametrize(
    ("type_text", "returned"),
    [("i1", np.True_), ("i32", np.int8(3)), ("!my.thing", (1,)), ("!tfrt.object", None)],
)
def test_numbers_of_numpy_are_numbers_and_objects_stay_themselves(
    run: Run, type_text: str, returned: object
) -> None:
    value = run(call(type_text), kernels=kernels(lambda: returned)).results[0].result(SLOW)

    assert value == returned
    assert type_text.startswith("i") or value is returned


def test_a_program_does_not_write_into_an_array_that_is_read_only(run: Run) -> None:
    frozen = np.frombuffer(bytes(12), np.int32)
    text = f"""func.func @main() -> !tfrt.chain {{
  %c0 = tfrt.new.chain
  %t = "my.test"() : () -> {TENSOR}
  %c1 = "tfrt_dht.fill_tensor_with_constant.i32"(%t, %c0) {{value = 7 : i32}}
      : ({TENSOR}, !tfrt.chain) -> !tfrt.chain
  tfrt.return %c1 : !tfrt.chain
}}"""

    assert run(text, kernels=kernels(lambda: frozen)).results[0].result(SLOW) is CHAIN
    assert frozen.tolist() == [0, 0, 0]


def test_a_coroutine_that_an_ordinary_kernel_returns_is_an_error(run: Run) -> None:
    async def made() -> int:
        return 1

    with pytest.raises(TfrtError, match="returned a coroutine: await it in an 'async def' kernel"):
        run(call("!tfrt.object"), kernels=kernels(lambda: made())).results[0].result(SLOW)


# --- values that it returns ---


@pytest.fixture
def elsewhere() -> Iterator[HostContext]:
    """Another host."""
    with HostContext("s") as host:
        yield host


def test_a_value_of_another_host_is_brought_to_this_one(run: Run, elsewhere: HostContext) -> None:
    held = [make_unavailable(elsewhere.work_queue, "i32")]
    execution = run(call("i32"), kernels=kernels(lambda: held[0].reference()))
    assert not execution.wait(SHORT)
    held.pop().emplace(5)

    assert (execution.wait(SLOW), execution.results[0].result(0)) == (True, 5)


@pytest.mark.parametrize("is_late", [False, True])
def test_a_value_of_another_type_is_an_error(run: Run, is_late: bool) -> None:
    def test(frame: KernelFrame) -> AsyncValue:
        if not is_late:
            return make_available(frame.request.queue, 5.5, "f64")
        value = make_unavailable(frame.request.queue)
        frame.host.timers.after(0.01, lambda: value.emplace("five"))
        return value

    execution = run(call("i32"), kernels=kernels(test))

    found = "'five'" if is_late else "5.5"
    assert execution.wait(SLOW)
    with pytest.raises(TfrtError, match=f"the result of 'my.test': expected i32, found {found}"):
        execution.results[0].result(0)


def test_the_same_value_may_be_two_results(run: Run) -> None:
    promised: list[AsyncValue] = []

    def test(frame: KernelFrame) -> tuple[AsyncValue, AsyncValue]:
        promised.append(frame.allocate())
        return promised[0], promised[0]

    execution = run(call("i32", "i32"), kernels=kernels(test))
    assert not execution.wait(SHORT)
    promised.pop().emplace(3)

    assert execution.wait(SLOW)
    assert [value.result(0) for value in execution.results] == [3, 3]


def test_a_run_is_open_until_each_allocated_result_is_set(run: Run) -> None:
    held: list[AsyncValue] = []

    def test(frame: KernelFrame) -> tuple[AsyncValue, ...]:
        held.extend((frame.allocate(0), frame.allocate(1)))
        return tuple(held)

    execution = run(call("i32", "i32"), kernels=kernels(test))
    seen = [execution.wait(SHORT), execution.is_done]
    held.pop().emplace(2)
    seen += [execution.wait(SHORT), execution.is_done]
    held.pop().emplace(1)

    assert seen == [False] * 4
    assert (execution.wait(SLOW), execution.is_done) == (True, True)


def test_a_cancellation_decides_what_a_kernel_has_allocated(run: Run) -> None:
    held: list[AsyncValue] = []

    def test(frame: KernelFrame) -> AsyncValue:
        held.append(frame.allocate())
        return held[0]

    execution = run(call("i32"), kernels=kernels(test))
    assert not execution.wait(SHORT)
    execution.cancel("enough")

    assert execution.wait(SLOW)
    assert str(execution.results[0].exception(0)) == "error: enough"
    with pytest.raises(RuntimeError, match="can be resolved only once; this one is error"):
        held.pop().emplace(1)


def test_what_a_kernel_allocates_in_a_cancelled_run_is_cancelled(run: Run) -> None:
    held: list[AsyncValue] = []

    def test(frame: KernelFrame) -> AsyncValue:
        frame.request.cancel("enough")
        held.append(frame.allocate())
        return held[0]

    assert run(call("i32"), kernels=kernels(test)).wait(SLOW)
    assert (held[0].cancelled(), str(held[0].exception(SLOW))) == (True, "error: enough")


def test_a_run_of_a_program_may_be_the_cause_of_an_error(host: HostContext, run: Run) -> None:
    inner = Program.from_source(call("i32"), "inner.mlir")

    def test(frame: KernelFrame) -> object:
        run = inner.run(frame.host, kernels=kernels(raising(ValueError("deep"))))
        return run.results[0].result(SLOW)

    problem = run(call("i32"), kernels=kernels(test)).results[0].exception(SLOW)

    assert problem is not None and isinstance(problem.__cause__, TfrtError)
    assert repr(problem.__cause__.__cause__) == "ValueError('deep')"
