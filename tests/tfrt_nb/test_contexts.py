"""Test Python's context variables: a kernel has those of the call that started its run.

This must not depend on which thread runs the kernel.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest

import tfrt_nb as tfrt
from tfrt_runtime.host.queues.threads import start_thread

SLOW = 20
NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME", default="nobody")


class Pool:
    """A user's work queue."""

    name, parallelism_level = "pool", 2

    def __init__(self) -> None:
        self.threads = ThreadPoolExecutor(2, "pool")

    def add_task(self, task: Callable[[], None]) -> None:
        self.threads.submit(task)

    def add_blocking_task(self, task: Callable[[], None], allow_queuing: bool) -> None:
        del allow_queuing
        threading.Thread(target=task).start()

    def await_values(self, values) -> None:
        for value in values:
            ended = threading.Event()
            value.and_then(ended.set)
            ended.wait(SLOW)

    def quiesce(self) -> None: ...

    def is_in_worker_thread(self) -> bool:
        return threading.current_thread().name.startswith("pool")


@pytest.fixture(params=["s", "mstd:2,2", "user"])
def host(request: pytest.FixtureRequest) -> Iterator[tfrt.HostContext]:
    if request.param != "user":
        with tfrt.HostContext(request.param) as host:
            yield host
        return
    pool = Pool()
    with tfrt.HostContext(pool) as host:
        yield host
    pool.threads.shutdown()


@contextmanager
def named(name: str) -> Iterator[None]:
    token = NAME.set(name)
    yield
    NAME.reset(token)


@tfrt.kernel("context.plain")
def plain(x: int) -> str:
    return NAME.get()


@tfrt.kernel("context.framed")
def framed(frame: tfrt.KernelFrame, x: int) -> str:
    return NAME.get()


@tfrt.kernel("context.blocking", blocking=True)
def blocking(x: int) -> str:
    return NAME.get()


@tfrt.kernel("context.limited", blocking=True, timeout=SLOW, limit=1, retries=1)
def limited(x: int) -> str:
    return NAME.get()


@tfrt.kernel("context.later")
async def later(x: int) -> str:
    await asyncio.sleep(0.001)
    return await asyncio.to_thread(NAME.get)


KERNELS = [plain, framed, blocking, limited, later]


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_kernel_has_the_context_of_the_call_that_started_its_run(host, kernel) -> None:
    @tfrt.program
    def main(x: tfrt.i32):
        return kernel(x)

    runs = []
    for name in ("one", "two"):
        with named(name):
            runs.append(main.trace().run(1, host=host))

    assert [run.result(SLOW) for run in runs] == ["one", "two"]


def test_a_batch_and_an_eager_call_carry_the_context() -> None:
    with tfrt.HostContext("mstd:2") as host:
        tfrt.set_default_host(host)
        try:
            with named("one"):
                value, batch = tfrt.call(plain, 1), tfrt.call_each(plain, [1, 2, 3])
            assert value.result(SLOW) == "one"
            assert batch.result(SLOW) == ["one"] * 3
        finally:
            tfrt.set_default_host(None)


def test_what_a_kernel_sets_no_other_code_sees(host) -> None:
    @tfrt.kernel("context.sets")
    def sets(x: int) -> str:
        before = NAME.get()
        NAME.set("kernel")
        return before

    @tfrt.program
    def twice(x: tfrt.i32):
        return sets(x), sets(x), plain(x)

    with named("caller"):
        results = twice.trace().run(1, host=host).result(SLOW)
        assert NAME.get() == "caller"

    assert results == ("caller",) * 3


def test_callbacks_have_the_context_in_which_they_were_added(host) -> None:
    seen: dict[str, str] = {}
    events = {what: threading.Event() for what in ("done", "on_done", "on_progress", "timer")}

    def note(what: str) -> Callable[..., object]:
        return lambda *_: (seen.setdefault(what, NAME.get()), events[what].set())

    with named("starter"):
        value: Future[int] = Future()
        run = tfrt.Program("func.func @main(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}").run(
            value, host=host
        )
    with named("then"):
        after = run.results[0].then(lambda x: NAME.get())
        run.results[0].add_done_callback(note("done"))
        run.on_done(note("on_done"))
        run.on_progress(note("on_progress"))
        host.timers.after(0, note("timer"))
    value.set_result(1)

    assert after.result(SLOW) == "then"
    assert all(events[what].wait(SLOW) for what in events)
    assert seen == dict.fromkeys(events, "then")


@tfrt.program
def asks(x: tfrt.i32):
    return plain(x)


def test_a_kernel_that_starts_a_run_hands_on_its_context(host) -> None:
    @tfrt.kernel("context.starts", blocking=True)
    def starts(x: int) -> str:
        NAME.set("outer")
        with tfrt.HostContext("mstd:1") as other:
            return str(asks.trace().run(x, host=other).result(SLOW))

    @tfrt.program
    def outer(x: tfrt.i32):
        return starts(x)

    assert outer.trace().run(1, host=host).result(SLOW) == "outer"


def test_a_thread_of_ours_has_an_empty_context() -> None:
    found: list[str] = []
    with named("caller"):
        start_thread("test", lambda: found.append(NAME.get())).join(SLOW)

    assert found == ["nobody"]


def test_a_run_that_is_dropped_keeps_nothing_of_its_context() -> None:
    class Thing: ...

    holder: contextvars.ContextVar[Thing | None] = contextvars.ContextVar("holder", default=None)
    program = asks.trace()
    with tfrt.HostContext("mstd:2") as host:
        thing = Thing()
        reference = weakref.ref(thing)
        token = holder.set(thing)
        assert program.run(1, host=host).result(SLOW) == "nobody"
        holder.reset(token)
        del thing, token
        program.run(1, host=host).result(
            SLOW
        )  # the copy of the last context is kept for the next run

        assert reference() is None
