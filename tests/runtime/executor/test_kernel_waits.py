"""Test that a kernel gets an error if it waits for something that needs its own return."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

import tfrt_nb as tfrt
from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import make_unavailable
from tfrt_runtime.kernels.registry import Kernel
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.policies import Policy
from tfrt_runtime.kernels.users.user import user_kernel

SLOW = 60

ONE = """func @main() -> i32 {
  %x = tfrt.constant.i32 1
  %a = "my.waits"(%x) : (i32) -> i32
  %b = tfrt.add.i32 %a, %a
  tfrt.return %b : i32
}"""

TWO = """func @main() -> (i32, i32) {
  %x = tfrt.constant.i32 1
  %a = "my.waits"(%x) : (i32) -> i32
  %b = "my.other"(%x) : (i32) -> i32
  tfrt.return %a, %b : i32, i32
}"""

TWICE = """func @main(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}"""

NEVER = (
    "which never comes: nothing else runs, and nothing is queued; return the AsyncValue instead of"
    " waiting for it"
)


@pytest.fixture(params=["s", "mstd:1", "mstd:2"])
def host(request: pytest.FixtureRequest, leak_check: None) -> Iterator[HostContext]:
    """A host without workers, with one worker, or with two."""
    with HostContext(request.param) as made:
        yield made


class Started:
    """A run that its own kernels can refer to."""

    def __init__(self) -> None:
        self._run: Execution | None = None
        self._is_known = threading.Event()

    def __call__(self) -> Execution:
        assert self._is_known.wait(SLOW)
        assert self._run is not None
        return self._run

    def start(self, host: HostContext, text: str, **functions: Kernel) -> Execution:
        """Run `@main` with kernels `my.NAME`."""
        kernels: Mapping[str, Kernel] = {
            **standard_kernels(),
            **{f"my.{name}": kernel for name, kernel in functions.items()},
        }
        self._run = Program.from_source(text, "test.mlir").run(host, kernels=kernels)
        self._is_known.set()
        return self._run

    def forget(self) -> None:
        """Drop the run, because its kernels hold this object."""
        self._run = None


@pytest.fixture
def own() -> Iterator[Started]:
    """A run whose kernels wait for it."""
    started = Started()
    yield started
    started.forget()


def errors_of(run: Execution) -> list[str]:
    """Return the errors of a run after nothing of it is left."""
    assert run.wait(SLOW)
    return [str(diagnostic) for diagnostic in run.diagnostics]


async def awaited(run: Execution) -> object:
    return await run


WAITS: dict[str, tuple[Callable[[Execution], object], str]] = {
    "the run": (lambda run: run.wait(), "the end of @main"),
    "its results": (lambda run: run.wait_for_results(), "the end of @main"),
    "its result": (lambda run: run.result(), "the result of @main"),
    "the value": (lambda run: run.results[0].result(), "the result of @main"),
    "what follows": (lambda run: run.results[0].then(str).result(), "the result of @main"),
    "a tuple of it": (lambda run: tfrt.gather(run.results[0], 2).result(), "the result of @main"),
    "on a loop": (lambda run: asyncio.run(awaited(run)), "the result of @main"),
}


@pytest.mark.parametrize("way", WAITS)
def test_a_kernel_that_waits_for_its_own_run_is_refused(
    host: HostContext, own: Started, way: str
) -> None:
    wait, what = WAITS[way]
    run = own.start(host, ONE, waits=user_kernel("my.waits", lambda x: wait(own()) and x))

    assert errors_of(run) == [f"test.mlir:3:8: error: kernel 'my.waits' waits for {what}, {NEVER}"]
    with pytest.raises(TfrtError, match="kernel 'my.waits' waits for"):
        run.result(0)


@pytest.mark.parametrize("options", [{"blocking": True}, {"policy": Policy(limit=1)}])
def test_a_kernel_of_the_pool_or_with_a_limit_that_waits_for_its_own_run_is_refused(
    host: HostContext, own: Started, options: dict[str, Any]
) -> None:
    kernel = user_kernel("my.waits", lambda x: own().result(), **options)
    run = own.start(host, ONE, waits=kernel)

    text = f"kernel 'my.waits' waits for the result of @main, {NEVER}"
    assert errors_of(run) == [f"test.mlir:3:8: error: {text}"]


@pytest.mark.parametrize("blocks", [False, True])
def test_a_coroutine_that_waits_for_its_own_run_is_refused(
    host: HostContext, own: Started, blocks: bool
) -> None:
    async def waits(x: int) -> object:
        value = own().results[0]
        return value.result() if blocks else await value

    run = own.start(host, ONE, waits=user_kernel("my.waits", waits))

    text = f"kernel 'my.waits' waits for the result of @main, {NEVER}"
    assert errors_of(run) == [f"test.mlir:3:8: error: {text}"]


@pytest.mark.parametrize("blocking", [False, True])
def test_of_kernels_that_wait_for_each_other_the_last_one_is_refused(
    host: HostContext, own: Started, blocking: bool
) -> None:
    run = own.start(
        host,
        TWO,
        waits=user_kernel("my.waits", lambda x: own().results[1].result(), blocking=blocking),
        other=user_kernel("my.other", lambda x: own().results[0].result(), blocking=blocking),
    )
    first, second = errors_of(run)

    assert NEVER in first
    assert (
        second.rpartition("error: ")[2] == first.rpartition("error: ")[2]
    )  # the error is passed on
    other = {"waits": "other", "other": "waits"}
    [refused] = [name for name in other if f"kernel 'my.{name}' waits for" in first]
    notes = [str(note) for note in run.diagnostics[0].notes]
    assert any(f"kernel 'my.{other[refused]}' waits for result" in note for note in notes)


def test_a_wait_for_a_run_that_needs_a_result_of_the_own_one_is_refused(
    host: HostContext, own: Started
) -> None:
    twice = Program.from_source(TWICE, "twice.mlir")

    def waits(x: int) -> object:
        return twice.run(host, "main", [own().results[0]]).result()

    [error] = errors_of(own.start(host, ONE, waits=user_kernel("my.waits", waits)))

    assert (
        error == f"test.mlir:3:8: error: kernel 'my.waits' waits for the result of @main, {NEVER}"
    )


def test_a_kernel_that_waits_for_another_one_of_its_run_lets_it_run(
    host: HostContext, own: Started
) -> None:
    run = own.start(
        host,
        TWO,
        waits=user_kernel("my.waits", lambda x: own().results[1].result() + 1),
        other=user_kernel("my.other", lambda x: 41),
    )

    assert run.result(SLOW) == (42, 41)


def test_coroutines_may_await_each_other(host: HostContext, own: Started) -> None:
    async def waits(x: int) -> int:
        return await own().results[1] + 1

    async def other(x: int) -> int:
        await asyncio.sleep(0.2)  # longer than a waiting thread needs to see that nothing runs
        return 41

    run = own.start(
        host, TWO, waits=user_kernel("my.waits", waits), other=user_kernel("my.other", other)
    )

    assert run.result(SLOW) == (42, 41)


def test_a_kernel_may_wait_for_what_comes_from_outside(host: HostContext, own: Started) -> None:
    late = make_unavailable(host.work_queue, "i32")
    begun = threading.Event()

    def waits(x: int) -> object:
        begun.set()
        return late.result()

    run = own.start(host, ONE, waits=user_kernel("my.waits", waits))
    waiter = threading.Thread(target=run.wait)
    waiter.start()
    assert begun.wait(SLOW)
    is_over = run.results[0].done() or waiter.join(0.2) or not waiter.is_alive()
    late.emplace(21)
    waiter.join(SLOW)

    assert not is_over
    assert run.result(SLOW) == 42


def test_a_wait_with_a_limit_ends_with_it(host: HostContext, own: Started) -> None:
    def waits(x: int) -> int:
        with pytest.raises(TimeoutError):
            own().result(0.2)
        return 21

    assert own.start(host, ONE, waits=user_kernel("my.waits", waits)).result(SLOW) == 42


def test_kernels_on_the_callers_loop_may_take_their_time(leak_check: None, own: Started) -> None:
    async def waits(x: int) -> int:
        await asyncio.sleep(0.2)  # longer than a waiting thread needs to see that nothing runs
        return 21

    async def main() -> object:
        with HostContext("mstd:1", loop=asyncio.get_running_loop()) as host:
            return await own.start(host, ONE, waits=user_kernel("my.waits", waits))

    assert asyncio.run(main()) == 42


def test_a_run_is_cancelled_whose_kernel_was_on_a_loop_that_is_closed(
    leak_check: None, own: Started, capfd: pytest.CaptureFixture[str]
) -> None:
    async def waits(x: int) -> int:
        await asyncio.sleep(1000)
        return 21

    loop = asyncio.new_event_loop()
    with HostContext("mstd:1", loop=loop) as host:
        run = own.start(host, ONE, waits=user_kernel("my.waits", waits))
        loop.run_until_complete(asyncio.sleep(0.05))
        loop.close()
        run.cancel()
        assert run.wait(SLOW)
    assert "Traceback" not in capfd.readouterr().err
