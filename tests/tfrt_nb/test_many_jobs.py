"""Test many calls at once: their progress, how many are in flight, and their memory."""

from __future__ import annotations

import asyncio
import gc
import inspect
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrt_nb as tfrt
import tfrt_runtime
from tfrt_nb.programs import running
from tfrt_runtime import diagnostics
from tfrt_runtime.host.process import native_process
from tfrt_runtime.kernels.standard import FAMILIES, standard_kernels

UNTYPED: Any = tfrt
SLOW = 60


@pytest.mark.parametrize("kind", ["Batch", "Execution"])
def test_a_limit_counts_from_the_start(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # A process's first batch imports numpy, which may take longer than the limit.
    passed = 0

    class Clock:
        @staticmethod
        def monotonic() -> float:
            return time.monotonic() - 100 + passed

    def start(*arguments: Any, **options: Any) -> Any:
        nonlocal passed
        started = original(*arguments, **options)
        passed = 100
        return started

    original = getattr(running, kind)
    monkeypatch.setattr(running, kind, start)
    monkeypatch.setattr(diagnostics, "time", Clock)

    @tfrt.kernel("limit.late", blocking=True)
    def late(x: int) -> int:
        time.sleep(0.2)
        return x

    @tfrt.program
    def page(x: tfrt.i64) -> object:
        return late(x)

    run = page.map([7], timeout=SLOW) if kind == "Batch" else page(7, timeout=SLOW)
    assert next(iter(run)).result(SLOW) == 7


def test_a_coroutine_counts_when_it_is_over() -> None:
    gate, begun = asyncio.Event(), threading.Event()
    loops = []

    @tfrt.kernel("progress.wait")
    async def wait(x: int) -> int:
        loops.append(asyncio.get_running_loop())
        if len(loops) == 3:
            begun.set()
        await gate.wait()
        return x

    batch = tfrt.call_each(wait, [1, 2, 3])
    assert begun.wait(SLOW)
    decided = batch.progress[0]
    loops[0].call_soon_threadsafe(gate.set)
    assert batch.wait(SLOW)
    assert (decided, len(set(batch.progress))) == (0, 1)
    assert repr(batch) == "<Batch @progress.wait done, 3 calls>"


class InFlight:
    """Counts calls that have started and not finished."""

    def __init__(self) -> None:
        self.now = self.most = 0

    async def call(self, x: int) -> int:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001)
        self.now -= 1
        if x == 7:
            raise ValueError("seven")
        return x


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_at_most_so_many_calls_of_a_batch_are_in_flight(queue: str) -> None:
    flight = InFlight()

    @tfrt.kernel("jobs.batch")
    async def call(x: int) -> int:
        return await flight.call(x)

    each: Any = tfrt.program(lambda x: call(x))
    with tfrt.HostContext(queue) as host:
        batch = each.map(range(20), at_once=3, host=host)
        errors = [value.exception(SLOW) for value in batch]
    assert [index for index, error in enumerate(errors) if error] == [7]
    assert flight.most == 3


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_at_most_so_many_calls_of_a_map_are_in_flight(queue: str) -> None:
    flight = InFlight()

    @tfrt.kernel("jobs.map")
    async def call(x: int) -> int:
        return await flight.call(x)

    mapped: Any = tfrt.program(lambda xs: tfrt.map(call, xs, at_once=3, errors="keep"))
    listed: Any = tfrt.program(lambda a, b: tfrt.map(call, [a, b], at_once=1))
    with tfrt.HostContext(queue) as host:
        found = mapped(range(20), host=host).result(SLOW)
        assert [isinstance(one, tfrt.TfrtError) for one in found].index(True) == 7
        assert flight.most == 3
        assert listed(1, 2, host=host).result(SLOW) == [1, 2]


@tfrt.kernel("jobs.same")
def same(x: object) -> object:
    return x


def test_calls_that_end_while_they_are_started_do_not_nest() -> None:
    at_once: Any = tfrt.program(lambda xs: tfrt.map(lambda x: x, xs, at_once=1))
    assert at_once(range(3000)).result(SLOW) == [*range(3000)]
    batch = UNTYPED.program(lambda x: x).map(range(3000), at_once=1)
    assert batch.result(SLOW) == [*range(3000)]


def test_a_bounded_batch_ends_when_it_is_cancelled() -> None:
    @tfrt.kernel("jobs.never")
    async def never(x: int) -> int:
        await asyncio.sleep(SLOW)
        return x

    each: Any = tfrt.program(lambda x: never(x))
    mapped: Any = tfrt.program(lambda xs: tfrt.map(never, xs, at_once=2))
    for run in (each.map(range(100), at_once=2), mapped(range(100))):
        run.cancel()
        assert run.wait(SLOW)
    assert isinstance(each.map(range(9), at_once=2, timeout=0.05).exception(SLOW), TimeoutError)


def test_a_bounded_batch_goes_on_when_it_is_dropped() -> None:
    each: Any = tfrt.program(lambda x: same(x))
    values = [*each.map(range(50), at_once=2)]
    assert [value.result(SLOW) for value in values] == [*range(50)]


@pytest.mark.parametrize("at_once", [0, -1, 2.5, True])
def test_a_bound_that_makes_no_sense_is_refused(at_once: Any) -> None:
    each: Any = tfrt.program(lambda x: same(x))
    with pytest.raises(tfrt.TfrtError, match="1 or more"):
        each.map([1], at_once=at_once)
    with pytest.raises(tfrt.TfrtError, match="1 or more"):
        UNTYPED.program(lambda xs: tfrt.map(same, xs, at_once=at_once))([1])


def test_a_coroutine_that_is_over_needs_no_garbage_collector() -> None:
    @UNTYPED.kernel
    async def soon(x: int) -> int:
        await asyncio.sleep(0)
        return x

    each: Any = UNTYPED.program(lambda xs: tfrt.map(soon, xs))
    each([1, 2]).result(SLOW)
    gc.collect()
    gc.disable()
    try:
        assert each(list(range(500))).result(SLOW) == [*range(500)]
        found = gc.collect()
    finally:
        gc.enable()
    assert found < 500


def test_a_map_takes_nothing_a_million_items_and_no_generator() -> None:
    each: Any = tfrt.program(lambda x: x + 1)
    typed: Any = tfrt.program(_increased)
    assert typed.map([]).result(SLOW) == []
    assert typed.map(range(1_000_000)).result(SLOW)[-1] == 1_000_000
    with pytest.raises(tfrt.TfrtError, match=r"a sequence .*an iterator in list\(\.\.\.\)"):
        each.map(x for x in range(3))
    with pytest.raises(tfrt.TfrtError, match="annotate the parameter if a column may be empty"):
        each.map([])
    with pytest.raises(
        tfrt.TfrtError, match=r"a column must be a sequence .*an iterator in list\(\.\.\.\)"
    ):
        typed.map(x for x in range(3))


def test_cancelling_a_run_ends_its_map_over_an_endless_iterator() -> None:
    taken = threading.Event()

    def endless() -> Iterator[int]:
        while True:
            yield 1
            taken.set()

    mapped: Any = tfrt.program(lambda items: tfrt.map(same, items, at_once=2))
    run = mapped(endless())
    assert taken.wait(SLOW)
    run.cancel()

    assert run.wait(SLOW)


def _increased(x: tfrt.i64):  # type: ignore[no-untyped-def]
    return x + 1


ARRAYS = {
    "transposed": lambda a: a.T,
    "every other": lambda a: a[:, ::2],
    "fortran": np.asfortranarray,
    "reversed": lambda a: a[::-1],
    "broadcast": lambda a: np.broadcast_to(a[0], (3, 4)),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_strided_array_reaches_a_kernel_without_a_copy(name: str) -> None:
    array = ARRAYS[name](np.arange(12.0).reshape(3, 4))
    seen: list[Any] = []

    @tfrt.kernel("jobs.look")
    def look(a: np.ndarray) -> np.ndarray:
        seen.append(a)
        return a

    @tfrt.kernel("jobs.rows", native=True)
    def rows(a: tfrt.tensor[tfrt.f64, 2]) -> tfrt.f64:
        total = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                total += a[i, j] * (i + 1)
        return total

    both: Any = tfrt.program(lambda a: (look(a), rows(a)))
    again, total = both(array).result(SLOW)
    for one in (seen[0], again):
        assert np.shares_memory(one, array)
        assert one.strides == array.strides
        assert not one.flags.writeable
    assert total == sum((array * np.arange(1, len(array) + 1)[:, None]).ravel())
    assert array.flags.writeable == (name != "broadcast")


def test_a_kernel_that_changes_an_array_that_is_not_its_own_fails() -> None:
    @tfrt.kernel("jobs.zero")
    def zero(a: np.ndarray) -> float:
        a[0] = 0
        return 0.0

    @tfrt.kernel("jobs.write", native=True)
    def write(a: tfrt.out[tfrt.tensor[tfrt.f64, 2]]) -> tfrt.f64:
        a[0, 0] = 0.0
        return 0.0

    array = np.ones((3, 4))
    for one in (array, array.T):
        assert type(tfrt.call(zero, one).exception(SLOW).__cause__) is ValueError
    with pytest.raises(tfrt.TfrtError, match="not C-contiguous"):
        tfrt.call(write, array.T)
    assert array.all()


@pytest.mark.parametrize("result", [np.ndarray, object, None])
@pytest.mark.parametrize("kind", ["plain", "async", "blocking"])
def test_arrays_that_kernels_return_count_in_the_budget(kind: str, result: Any) -> None:
    def make(count: int):
        return np.zeros(count)

    async def make_later(count: int):
        return np.zeros(count)

    if result is not None:
        make.__annotations__["return"] = make_later.__annotations__["return"] = result

    kernel: Any = tfrt.kernel("jobs.make", blocking=kind == "blocking")(
        make_later if kind == "async" else make
    )
    made: Any = tfrt.program(lambda count: kernel(count))
    # Memory that native code holds also counts. When a run ends, native code frees what it had kept
    # for later runs.
    gc.collect()
    with tfrt.HostContext() as host:
        made(1, host=host).result(SLOW)
        host.quiesce(SLOW)
    held = native_process().memory_held
    with tfrt.HostContext(memory=held + (100 << 20)) as host:
        error = made(20_000_000, host=host).exception(SLOW)
        assert "an array of 152.6 MiB would exceed the budget of " in str(error)
        kept = made(10_000_000, host=host).result(SLOW)
        assert "out of memory" in str(made(10_000_000, host=host).exception(SLOW))
        del kept
        gc.collect()
        assert made(10_000_000, host=host).exception(SLOW) is None


def test_a_coroutine_that_is_cancelled_before_it_begins_is_an_error() -> None:
    begun = []

    @tfrt.kernel("jobs.alone")
    async def alone(number: int) -> int:
        begun.append(number)
        for other in asyncio.all_tasks() - {asyncio.current_task()}:
            other.cancel()
        return number

    @tfrt.kernel("jobs.halt")
    async def halt() -> None:
        is_halted.set()
        go_on.wait(SLOW)

    is_halted, go_on = threading.Event(), threading.Event()
    with tfrt.HostContext() as host:
        first = tfrt.program(lambda: halt())(host=host)
        assert is_halted.wait(SLOW)
        both: Any = tfrt.program(lambda: (alone(1), alone(2)))
        run = both(host=host)
        while run.request.outside < 2:  # both are waiting for the loop
            threading.Event().wait(0.01)
        go_on.set()
        errors = [value.exception(SLOW) for value in run]
        assert first.exception(SLOW) is None
    assert len(begun) == 1
    assert errors[begun[0] - 1] is None
    assert "CancelledError" in str(errors[2 - begun[0]])


@tfrt.kernel("jobs.nap")
async def nap(number: int) -> int:
    await asyncio.sleep(SLOW if number < 0 else 0.2)
    return number


@tfrt.program
def napped(number: tfrt.i64) -> tfrt.i64:
    return nap(number)


def test_thousands_of_coroutines_start_with_a_few_wake_ups_of_the_loop() -> None:
    thresholds, numbers = gc.get_threshold(), list(range(3000))
    with tfrt.HostContext("mstd:2") as host:
        assert napped(1, host=host).result(SLOW) == 1
        loop: Any = host.serving_loop
        wake_ups, wake = [], loop.call_soon_threadsafe
        loop.call_soon_threadsafe = lambda *given: (wake_ups.append(given), wake(*given))
        assert napped.map(numbers, host=host).result(SLOW) == numbers
        assert len(wake_ups) < 1000
        assert gc.get_threshold() == thresholds


def test_the_call_of_a_coroutine_takes_few_python_functions() -> None:
    ours, called = str(Path(tfrt_runtime.__file__).parent), [0]

    def count(frame: Any, event: str, _: object) -> None:
        called[0] += event == "call" and frame.f_code.co_filename.startswith(ours)

    threading.setprofile(count)
    try:
        with tfrt.HostContext("mstd:1") as host:
            assert napped(1, host=host).result(SLOW) == 1
            called[0] = 0
            assert napped.map(range(500), host=host).result(SLOW) == [*range(500)]
    finally:
        threading.setprofile(None)
    # Making the result in Python and resolving it there takes 20 more.
    assert called[0] < 55 * 500


@pytest.mark.parametrize("kind", [int, float, bool, str, None, object, tfrt.f32, np.ndarray])
def test_a_coroutine_gives_what_a_plain_kernel_gives(kind: Any) -> None:
    items = [1, 2**70, True, 1.5, 1e300, "text", None, [1], (1,), (1, 2), {}, np.int64(7)]
    for item in [*items, np.arange(3), tfrt.KernelError("no"), object]:

        def plain() -> Any:
            return item  # noqa: B023 - the kernel is called before the next round

        async def late() -> Any:
            return item  # noqa: B023 - the same

        plain.__annotations__ = late.__annotations__ = {"return": kind}
        found = []
        for function in (plain, late):
            called: Any = UNTYPED.kernel("jobs.same")(function)
            value = tfrt.call(called)
            failed = value.exception(SLOW)
            given = None if failed is not None else value.result(SLOW)
            found.append((type(given), repr(given), failed and failed.diagnostics[0].message))
        assert found[0] == found[1]


def test_thousands_of_coroutines_that_are_starting_can_be_cancelled() -> None:
    with tfrt.HostContext("mstd:2") as host:
        batch = napped.map([-1] * 3000, host=host)
        while batch.request.outside < 500:
            threading.Event().wait(0.001)
        batch.cancel("enough")
        assert batch.wait(SLOW)
        errors = [value.exception(0) for value in batch.results]
    assert {error.diagnostics[0].message for error in errors if error is not None} == {"enough"}
    assert None not in errors


def test_what_a_kernel_passes_on_counts_once_and_a_mapped_file_not_at_all(tmp_path: Path) -> None:
    held = native_process().memory_held
    kept = np.zeros(5_000_000)
    np.save(tmp_path / "a.npy", kept)
    mapped = np.load(tmp_path / "a.npy", mmap_mode="r")

    @tfrt.kernel("jobs.kept")
    def again(x: int) -> np.ndarray:
        return (kept, kept[1:], kept.reshape(2, -1))[x]

    @tfrt.kernel("jobs.mapped")
    def file(x: int) -> np.ndarray:
        return mapped

    results = [tfrt.call(again, x).result(SLOW) for x in (0, 1, 2)]
    results += [tfrt.call(file, 1).result(SLOW)]
    assert 40_000_000 <= native_process().memory_held - held < 60_000_000
    results.clear()


def test_the_warning_about_a_blocked_worker_says_what_to_do() -> None:
    text = inspect.getsource(sys.modules[tfrt.BlockingWarning.__module__])
    assert all(said in text for said in ("blocking=True", "limit=4", "releases the GIL"))


def test_a_program_of_numbers_and_a_kernel_in_python_imports_little() -> None:
    program = """
import sys
import tfrt_nb as tfrt

@tfrt.kernel
def price(pieces: int) -> int:
    return 250 * pieces

@tfrt.program
def order(apples: tfrt.i32):
    return price(apples) + 1

print(order(2).result(60), {"numpy", "asyncio", "sysconfig"}.intersection(sys.modules))
"""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "501 set()\n"


def test_the_families_of_the_standard_kernels_are_known_before_they_are_imported() -> None:
    assert {name.partition(".")[0] for name in standard_kernels()} == FAMILIES


def test_the_first_of_no_results_are_refused() -> None:
    @tfrt.kernel("first.part")
    def part(x: int) -> int:
        return x

    @tfrt.program
    def page(x: tfrt.i64):  # type: ignore[no-untyped-def]
        return part(x)

    batch: Any = page.map([])
    with pytest.raises(tfrt.TfrtError, match="some of its results: it has none, found 1"):
        batch.first()


def test_a_kernel_that_writes_its_argument_is_told_to_copy_it() -> None:
    @tfrt.kernel("written.argument")
    def write(a: np.ndarray[Any, Any]) -> float:
        a[0] = 1
        return float(a[0])

    problem = tfrt.call(write, np.zeros(2)).exception(SLOW)
    assert isinstance(problem, tfrt.TfrtError)
    assert "change a copy, as in a = a.copy()" in problem.__notes__[-1]
