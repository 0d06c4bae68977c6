"""Test errors as values in programs and runs.

Errors are kept, recovered from, retried, caused by a time limit, or the first of several.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
import traceback
from typing import Any

import pytest

import tfrt_nb as tfrt

UNTYPED: Any = tfrt
SLOW = 60
NEVER = threading.Event()
"""This is set after a test, so that its threads exit."""


@pytest.fixture(autouse=True)
def _threads_end() -> Any:
    NEVER.clear()
    yield
    NEVER.set()


@tfrt.kernel("values.part")
def part(x: int) -> int:
    if x == 3:
        raise ValueError("three")
    return 10 * x


@tfrt.kernel("values.show")
def show(x: int) -> None:
    part(x)


@tfrt.kernel("values.slow_part")
async def slow_part(x: int) -> int:
    await asyncio.sleep(0.01)
    return part(x)


@tfrt.kernel("values.stuck", blocking=True)
def stuck(x: int) -> int:
    NEVER.wait(SLOW if x else 0)
    return x


page: Any = tfrt.program(lambda x: stuck(x))


@tfrt.kernel("values.dive")
def dive(depth: int) -> int:
    return dive(depth - 1) if depth else 1 // depth


def said(results: list[Any]) -> list[object]:
    """Return values as they are, and errors as the types of their causes."""
    return [type(r.__cause__) if isinstance(r, tfrt.TfrtError) else r for r in results]


@pytest.mark.parametrize("kernel", [part, slow_part])
def test_a_map_keeps_an_error_in_the_place_of_its_value(kernel: Any) -> None:
    known_later: Any = tfrt.program(lambda xs: tfrt.map(kernel, xs, errors="keep"))
    known_now: Any = tfrt.program(lambda a, b: tfrt.map(kernel, [a, b], errors="keep"))

    assert said(known_later([1, 3, 4]).result(SLOW)) == [10, ValueError, 40]
    assert said(known_now(3, 4).result(SLOW)) == [ValueError, 40]
    assert known_later([]).result(SLOW) == []


def test_a_map_keeps_errors_of_kernels_that_return_nothing() -> None:
    def shown(xs: object) -> Any:
        return tfrt.map(show, xs, errors="keep")

    program: Any = tfrt.program(shown)
    assert [isinstance(one, tfrt.TfrtError) for one in program([1, 3]).result(SLOW)] == [
        False,
        True,
    ]


def test_an_error_is_recovered_by_a_number_an_object_or_another_value() -> None:
    number: Any = tfrt.program(lambda x: tfrt.recover(part(x), 7))
    nothing: Any = tfrt.program(lambda x: tfrt.recover(part(x), None))
    other: Any = tfrt.program(lambda x: tfrt.recover(slow_part(x), slow_part(x + 1)))

    assert [number(x).result(SLOW) for x in (2, 3)] == [20, 7]
    assert [nothing(x).result(SLOW) for x in (2, 3)] == [20, None]
    # 3 replaces 2, which needs no replacement itself; the replacement of 3 is 4.
    assert [other(x).result(SLOW) for x in (2, 3)] == [20, 40]


def test_a_run_that_goes_on_despite_its_errors_has_not_failed() -> None:
    kept: Any = tfrt.program(lambda xs: tfrt.map(part, xs, errors="keep"))
    replaced: Any = tfrt.program(lambda xs: tfrt.recover(tfrt.map(slow_part, xs), None))
    for program in (kept, replaced, tfrt.program(lambda _: tfrt.recover(show(3), None))):
        run = program([3, 1, 3])
        assert (run.exception(SLOW), run.wait(SLOW), run.diagnostics) == (None, True, [])
        assert " done, " in repr(run)
    run = tfrt.program(lambda x: (tfrt.recover(part(x), 0), part(x)))(3)
    assert [type(run.exception(SLOW).__cause__), len(run.diagnostics)] == [ValueError, 1]


def test_what_cannot_be_recovered_or_kept_is_refused_where_it_is_written() -> None:
    wrong: list[tuple[Any, str]] = [
        (lambda x: tfrt.recover(5, x), "a value that a kernel returns"),
        (lambda x: tfrt.recover(show(x), 5), "replaced by None"),
        (lambda x: UNTYPED.map(part, [x], errors="drop"), "'raise' or 'keep', found 'drop'"),
    ]
    for function, message in wrong:
        with pytest.raises(tfrt.TfrtError, match=message):
            tfrt.program(function)(1)
    with pytest.raises(tfrt.TfrtError, match="a function decorated with"):
        tfrt.recover(1, 2)


def test_a_program_of_effects_that_are_recovered_goes_on() -> None:
    seen: list[int] = []

    @tfrt.kernel("values.note")
    def note(x: int) -> None:
        seen.append(x)

    @tfrt.program
    def both(x: tfrt.i64):  # type: ignore[no-untyped-def]
        with tfrt.in_order():
            tfrt.recover(show(x), None)
            note(x)

    assert both(3).wait(SLOW)
    assert seen == [3]


def test_the_error_of_a_map_names_the_element() -> None:
    mapped: Any = tfrt.program(lambda xs: tfrt.map(part, xs))
    each: Any = tfrt.program(lambda x: part(x))

    for error in (mapped(range(10)).exception(SLOW), each.map(range(10)).exception(SLOW)):
        assert any("element 3 of 10" in note for note in error.__notes__)


def test_a_run_and_a_batch_have_the_exception_that_result_raises() -> None:
    each: Any = tfrt.program(lambda x: part(x))

    assert (each(1).exception(SLOW), each.map([1, 2]).exception(SLOW)) == (None, None)
    for run in (each(3), each.map([1, 3])):
        assert type(run.exception(SLOW).__cause__) is ValueError


def test_calls_and_maps_take_a_timeout_and_a_host() -> None:
    host = tfrt.HostContext("mstd:1")
    with host:
        assert page(0, host=host, timeout=SLOW).result(SLOW) == 0
        assert page.options(host=host).map([0, 0], timeout=SLOW).result(SLOW) == [0, 0]
    for run in (page(1, timeout=0.05), page.options(timeout=SLOW).options(timeout=0.05)(1)):
        assert isinstance(run.exception(SLOW), tfrt.TimeoutError)
    first, second = page.map([0, 1], timeout=0.2)
    assert (first.result(SLOW), type(second.exception(SLOW))) == (0, tfrt.TimeoutError)


@pytest.mark.parametrize("timeout", [0, -1])
def test_a_deadline_that_has_passed_cancels_the_run(timeout: float) -> None:
    late = page(1, timeout=timeout).exception(SLOW)
    assert isinstance(late, TimeoutError)
    assert f"the run had {timeout:g} s" in str(late)
    assert isinstance(page.map([1], timeout=timeout).exception(SLOW), TimeoutError)


def test_a_parameter_with_the_name_of_an_option_is_an_argument() -> None:
    @tfrt.program
    def late(timeout: tfrt.i64):  # type: ignore[no-untyped-def]
        return part(timeout)

    assert late(timeout=2).result(SLOW) == 20
    assert isinstance(late.options(timeout=SLOW)(timeout=3).exception(SLOW), tfrt.TfrtError)


def test_options_are_of_runs_only() -> None:
    outer: Any = tfrt.program(lambda x: page.options(timeout=1)(x))
    with pytest.raises(tfrt.TfrtError, match="a call inside a program is part of"):
        outer(1)


@pytest.mark.parametrize("kind", ["async", "blocking"])
def test_a_kernel_is_tried_again_as_it_says_and_its_notes_list_every_attempt(kind: str) -> None:
    begun: list[float] = []
    options: Any = {"retries": 2, "delay": 0.02, "growth": 2, "jitter": 0.001}

    def call(x: int) -> int:
        begun.append(time.monotonic())
        raise OSError(f"busy {len(begun)}")

    async def later(x: int) -> int:
        return call(x)

    if kind == "async":
        tfrt.kernel("values.again", **options)(later)
    else:
        tfrt.kernel("values.again", blocking=True, **options)(call)
    error = tfrt.call("values.again", 1).exception(SLOW)

    assert [note for note in error.__notes__ if "attempt" in note] == [
        "note: attempt 1 of 3: OSError: busy 1",
        "note: attempt 2 of 3: OSError: busy 2",
    ]
    assert "busy 3" in str(error)
    assert begun[1] - begun[0] >= 0.02
    assert begun[2] - begun[1] >= 0.04


def test_only_errors_that_retry_on_names_are_tried_again_and_never_a_kernel_error() -> None:
    tries: list[object] = []

    def failing(error: BaseException, **options: Any) -> int:
        tries.clear()

        @tfrt.kernel("values.failing", retries=2, **options)
        def fail(x: int) -> int:
            tries.append(x)
            raise error

        tfrt.call("values.failing", 1).exception(SLOW)
        return len(tries)

    assert failing(OSError()) == 3
    assert failing(tfrt.KernelError("no such page")) == 1
    assert failing(OSError(), retry_on=(KeyError, ValueError)) == 1
    assert failing(OSError(), retry_on=lambda error: "busy" in str(error)) == 1
    assert failing(OSError("busy"), retry_on=lambda error: "busy" in str(error)) == 3
    assert failing(ConnectionError(), retry_on=OSError) == 3


def test_what_the_predicate_of_a_retry_raises_is_the_error() -> None:
    @tfrt.kernel("values.predicate", retries=2, retry_on=lambda error: error.status == 503)
    def fetch(x: int) -> int:
        raise OSError("busy")

    error = tfrt.call(fetch, 1).exception(SLOW)
    assert type(error.__cause__) is AttributeError
    assert any("OSError: busy" in note for note in error.__notes__)


def test_an_exception_that_is_raised_again_has_the_notes_of_its_last_call_only() -> None:
    problem = OSError("busy")

    @tfrt.kernel("values.same", retries=1)
    def same(x: int) -> int:
        raise problem

    for _ in range(2):
        error = tfrt.call(same, 1).exception(SLOW)
        assert sum("attempt" in note for note in error.__notes__) == 1


def test_a_server_may_say_when_to_come_again() -> None:
    class Busy(OSError):
        after = 0.03

    begun: list[float] = []

    @tfrt.kernel("values.after", retries=1, delay=lambda error: error.after)
    async def fetch(x: int) -> int:
        begun.append(time.monotonic())
        raise Busy

    tfrt.call(fetch, 1).exception(SLOW)
    assert begun[1] - begun[0] >= 0.03


@pytest.mark.parametrize("kind", ["async", "blocking"])
def test_one_deadline_covers_all_attempts_and_is_a_timeout_error(kind: str) -> None:
    tries: list[int] = []
    options: Any = {"retries": 100, "timeout": 0.05, "deadline": 0.12}

    async def later(x: int) -> int:
        tries.append(x)
        await asyncio.sleep(SLOW)
        return x

    def call(x: int) -> int:
        tries.append(x)
        NEVER.wait(SLOW)
        return x

    if kind == "async":
        tfrt.kernel("values.deadline", **options)(later)
    else:
        tfrt.kernel("values.deadline", blocking=True, **options)(call)
    error = tfrt.call("values.deadline", 1).exception(SLOW)

    assert isinstance(error, TimeoutError)
    assert "'values.deadline' took longer than 0.12 s in " in str(error)
    assert 2 <= len(tries) <= 3


def test_a_delay_that_does_not_fit_in_the_deadline_ends_the_call_with_its_error() -> None:
    @tfrt.kernel("values.fits", retries=5, delay=SLOW, deadline=SLOW / 2)
    async def fetch(x: int) -> int:
        raise OSError("busy")

    assert type(tfrt.call(fetch, 1).exception(SLOW).__cause__) is OSError


def test_a_cancelled_run_waits_for_no_delay() -> None:
    @tfrt.kernel("values.wakes", blocking=True, retries=5, delay=SLOW)
    def fetch(x: int) -> int:
        NEVER.set()
        raise OSError("busy")

    run: Any = tfrt.program(lambda x: fetch(x))(1)
    assert NEVER.wait(SLOW)
    run.cancel()
    assert run.wait(SLOW / 2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"retries": 1, "delay": 1.0}, "would block its worker in the meantime"),
        ({"deadline": 1.0}, "cannot be stopped"),
        ({"retries": 1, "delay": -1.0}, "delay of a kernel must be a number of seconds"),
        ({"retries": 1, "growth": 0.5}, "growth of a kernel must be a factor, 1 or more"),
        ({"retries": 1, "jitter": -1}, "jitter of a kernel must be"),
        ({"retries": 1, "retry_on": int}, "retry_on of a kernel must be exception types"),
        ({"retry_on": OSError}, "give retries="),
        ({"deadline": 0}, "deadline of a kernel must be a number of seconds above 0"),
    ],
)
def test_options_of_retries_that_make_no_sense_are_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(tfrt.TfrtError, match=message):
        tfrt.kernel("values.wrong", **options)(lambda x: x)


def test_a_timeout_names_the_seconds_that_were_asked_for() -> None:
    two: Any = tfrt.program(lambda x: (stuck(x), stuck(x + 1)))
    for wait in (page(1).result, two(1).result, page.map([1, 3]).result):
        with pytest.raises(TimeoutError, match=r"after 0\.05 s"):
            wait(0.05)


def test_a_batch_that_is_out_of_time_says_so_though_a_call_has_failed() -> None:
    batch: Any = tfrt.program(lambda x: tfrt.cond(x == 3, part, stuck, x)).map([3, 1])
    assert next(iter(batch)).exception(SLOW) is not None
    with pytest.raises(TimeoutError, match=r"not finished after 0\.05 s"):
        batch.result(0.05)


def test_results_come_in_the_order_in_which_they_are_decided() -> None:
    gates = [tfrt.unavailable() for _ in range(3)]
    values: Any = tfrt.program(lambda a, b, c: (part(a), part(b), part(c)))
    run = values(*gates)
    results = [*run]
    seen = []
    for index in (2, 0, 1):
        if index == 2:
            coming = iter(run.as_completed(SLOW))
        gates[index].set_result(index + 1)
        seen.append(results.index(next(coming)))
    assert (seen, next(coming, None)) == ([2, 0, 1], None)
    assert [v.exception(0) is None for v in results] == [True, True, False]


def test_a_coroutine_takes_results_as_they_come() -> None:
    async def main() -> list[int]:
        each: Any = tfrt.program(lambda x: slow_part(x))
        return [await value async for value in each.map([1, 2]).as_completed(SLOW)]

    assert sorted(asyncio.run(main())) == [10, 20]


def test_the_first_results_end_the_others() -> None:
    batch: Any = page.map([1, 0, 2, 0])

    assert batch.first(2, SLOW) == [0, 0]
    assert [value.cancelled() for value in batch] == [True, False, True, False]
    with pytest.raises(TimeoutError, match="2 of 2 results still unavailable after 0"):
        page.map([1, 1]).first(1, timeout=0.01)
    with pytest.raises(tfrt.TfrtError, match="three") as info:
        tfrt.program(lambda x: part(x)).map([1, 3]).first(2, SLOW)
    assert "only 1 result of 2" in info.value.__notes__[-1]
    with pytest.raises(tfrt.TfrtError, match="a number from 1 to 2, found 3"):
        page.map([0, 0]).first(3)


def test_a_value_of_a_batch_that_is_cancelled_does_not_wait_for_its_kernel() -> None:
    batch = page.map([1])
    [value] = batch
    batch.cancel("enough")
    assert value.cancelled()
    assert batch.results[0] is value


def test_a_batch_that_is_dropped_goes_on_and_its_values_come() -> None:
    each: Any = tfrt.program(lambda x: slow_part(x))
    values = [*each.map([1, 2])]
    assert [value.result(SLOW) for value in values] == [10, 20]


def frames_of(problem: BaseException) -> list[str]:
    """Return the names of the files in a traceback."""
    return [
        os.path.basename(frame.filename) for frame in traceback.extract_tb(problem.__traceback__)
    ]


def test_tracebacks_have_the_frames_of_users_and_one_of_ours() -> None:
    own = os.path.basename(__file__)
    run: Any = tfrt.program(lambda x: part(x))
    for wait in (run(3).result, run.map([3]).result, next(iter(run(3))).result):
        with pytest.raises(tfrt.TfrtError) as info:
            wait(SLOW)
        assert frames_of(info.value).count(own) == 1
        assert len(frames_of(info.value)) == 2
    with pytest.raises(TimeoutError) as late:
        page(1).result(0.01)
    assert len(frames_of(late.value)) == 2


def test_an_interrupt_has_the_frames_of_users_and_one_of_ours() -> None:
    threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt) as info:
        page(1).result(SLOW)
    assert len(frames_of(info.value)) <= 2


@tfrt.kernel("values.refuse")
def refuse(x: int) -> int:
    raise ValueError(f"no {x}")


def test_an_error_names_the_other_steps_that_failed_and_not_those_that_were_skipped() -> None:
    two: Any = tfrt.program(lambda x: part(refuse(x)) + part(refuse(x + 1)))
    run = two(1)
    assert run.wait(SLOW)
    error = run.exception(SLOW)
    first, second = (str(one) for one in run.diagnostics)
    other = second if str(error) == first else first
    assert error.__notes__[-2:] == [
        f"note: also failed: {other}",
        "note: what depends on a failed step was skipped",
    ]
    five: Any = tfrt.program(lambda: [refuse(number) for number in range(5)])
    run = five()
    assert run.wait(SLOW)
    notes = run.exception(SLOW).__notes__
    assert sum("also failed" in note for note in notes) == 3
    assert notes[-1] == "note: 1 more failed; what depends on a failed step was skipped"


def test_an_error_of_a_batch_counts_the_calls_that_failed() -> None:
    some: Any = tfrt.program(lambda x: part(x))
    assert some.map([1, 3, 2, 3]).exception(SLOW).__notes__[-2:] == [
        "note: element 1 of 4",
        "note: 2 of 4 calls failed: elements 1, 3",
    ]
    assert some.map([1, 3]).exception(SLOW).__notes__[-1] == "note: element 1 of 2"


@pytest.mark.parametrize("option", ["timeout", "host"])
@pytest.mark.parametrize("kernel", [part, "tfrt.add.i32"])
def test_a_call_of_one_kernel_says_where_options_go(option: str, kernel: Any) -> None:
    for call in (tfrt.call, tfrt.call_each):
        with pytest.raises(tfrt.TfrtError, match=f"no option {option}=.*page.options"):
            call(kernel, [1], **{option: None})

    @tfrt.kernel("values.takes_them")
    def takes_them(timeout: int, *, host: int = 0) -> int:
        return timeout + host

    assert tfrt.call(takes_them, timeout=1, host=2).result(SLOW) == 3


def test_an_option_that_no_run_has_is_refused_where_it_is_given() -> None:
    for given in (page, page.options(timeout=1)):
        with pytest.raises(tfrt.TfrtError, match=r"options: tiemout= is not an option"):
            given.options(tiemout=1)
    with pytest.raises(tfrt.TfrtError, match=r"run: tiemout= is not an option of run$"):
        page.run(1, tiemout=1)
    with pytest.raises(tfrt.TfrtError, match=r"errors= is not an option of map: call tfrt.map"):
        page.map([1], errors="keep")
    assert page.options(timeout=SLOW, at_once=1).map([0, 0]).result(SLOW) == [0, 0]


def test_the_traceback_of_a_kernel_that_calls_itself_has_its_own_frames() -> None:
    problem = tfrt.call(dive, 5).exception(SLOW)
    assert isinstance(problem, tfrt.TfrtError)
    assert problem.__cause__ is not None
    names = [each.name for each in traceback.extract_tb(problem.__cause__.__traceback__)]
    assert names == ["dive"] * 6
