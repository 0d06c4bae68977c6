"""Test values, runs, and kernels in Python, and what users of `concurrent.futures` expect."""

from __future__ import annotations

import asyncio
import concurrent.futures
import copy
import functools
import gc
import math
import mmap
import pickle
import pydoc
import re
import sys
import threading
import time
import traceback
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trio

import tfrt_nb as tfrt
from tfrt_nb.cli.running.run import read_source
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.values.async_value import make_unavailable
from tfrt_runtime.host.values.promises import from_future
from tfrt_runtime.kernels.users.policies import Gates
from tfrt_runtime.kernels.users.user import USER_KERNELS

UNTYPED: Any = tfrt
"""The same module without types, for arguments of wrong types."""
CODE: Any = tfrt.Program("func.func @main(%x: i32) -> i32 { return %x : i32 }")
SLOW = 60
GATE, BEGUN = threading.Event(), threading.Event()


@pytest.fixture(autouse=True)
def open_gate() -> Iterator[None]:
    GATE.clear()
    yield
    GATE.set()


@tfrt.kernel("api.gated")
def gated(x: int) -> int:
    GATE.wait(SLOW)
    return x


@tfrt.kernel("api.attribute")
def attribute(*, value: object) -> object:
    return value


@tfrt.kernel("api.outer")
def outer(x: int) -> int:
    return int(tfrt.call("tfrt.div.i32", x, 0)[0].result(SLOW))  # type: ignore[index, call-overload]


@tfrt.kernel("api.digits")
def digits(x: int, y: int = 5, *rest: int, z: int = 7) -> int:
    return int("".join(map(str, (x, y, *rest, z))))


@tfrt.kernel("api.defaults")
def defaults(x: int, y: int = 5, z: int = 7) -> int:
    return 100 * x + 10 * y + z


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (lambda: tfrt.call(digits, 1, y=2), 127),
        (lambda: tfrt.call("api.digits", z=3, y=2, x=1), 123),
        (lambda: tfrt.call(digits, 1, 2, 4, z=3), 1243),
        (lambda: tfrt.call(defaults, 1, z=3), 153),
        (lambda: tfrt.call_each(defaults, [1, 2], y=[3, 4]), [137, 247]),
        (lambda: tfrt.call_each(defaults, [1, 2], z=[3, 4]), [153, 254]),
        (lambda: tfrt.program(lambda x: defaults(x, z=3))(1), 153),
    ],
)
def test_arguments_of_a_users_kernel_may_have_their_names(
    value: Callable[[], Any], wanted: object
) -> None:
    assert value().result(SLOW) == wanted


def test_an_argument_that_is_given_twice_is_refused() -> None:
    with pytest.raises(tfrt.TfrtError, match="'api.defaults': multiple values for argument 'x'"):
        tfrt.call(defaults, 1, x=2)


def test_callbacks_are_called_in_the_order_in_which_they_came() -> None:
    value = tfrt.unavailable()
    heard: list[int] = []
    for number in range(4):
        value.add_done_callback(lambda _, number=number: heard.append(number))
    value.set_result(None)

    assert heard == [0, 1, 2, 3]


def test_callbacks_of_a_cancelled_result_are_called_in_order() -> None:
    heard: list[int] = []
    run = tfrt.Program(
        "func.func @main(%x: i32, %y: i32) -> (i32, i32) { tfrt.return %x, %y : i32, i32 }"
    ).run(tfrt.unavailable(), tfrt.unavailable())
    first, _ = run
    for number in range(3):
        first.add_done_callback(lambda _, number=number: heard.append(number))
    run.cancel()

    assert heard == [0, 1, 2]


def test_a_cancelled_value_takes_no_other_one(capsys: pytest.CaptureFixture[str]) -> None:
    value = tfrt.unavailable()
    after = value.then(lambda x: x)
    after.cancel()
    value.set_result(1)

    assert after.cancelled()
    assert capsys.readouterr().err == ""


def test_an_eager_call_is_refused_at_the_line_of_the_caller() -> None:
    for name, values, part in (
        ("api.gate", (1,), "did you mean 'api.gated'?"),
        ("api.gated", (), "takes 1 argument"),
        ("api.gated", (1.5,), "is int, found f64"),
        ("tfrt.constant.i32", (), "requires attribute 'value'"),
        (5, (), "takes the name of a kernel"),
    ):
        with pytest.raises(tfrt.TfrtError) as caught:
            tfrt.call(name, *values)  # type: ignore[arg-type]
        assert part in str(caught.value)
        assert caught.value.diagnostics[0].location.source == __file__


def test_a_line_that_calls_again_with_other_attributes_gets_other_ones() -> None:
    values = (1, True, 1.0, 0.0, -0.0, "1", (1, 2), (1.0, 2.0), (True, 2), (np.int64(1),), [1.0])
    found = [repr(tfrt.call("api.attribute", value=one).result(SLOW)) for one in values]  # type: ignore[union-attr]

    assert found == [
        "1",
        "True",
        "1.0",
        "0.0",
        "-0.0",
        "'1'",
        "(1, 2)",
        "(1.0, 2.0)",
        "(True, 2)",
        "(1,)",
        "(1.0,)",
    ]


def test_a_line_that_calls_again_with_other_types_gets_another_program() -> None:
    for one in (1, "a", 2.5, None):
        tfrt.call("tfrt.merge.chains", one).result(SLOW)  # type: ignore[union-attr]


def test_the_error_of_a_program_that_a_kernel_waits_for_is_the_kernels_own() -> None:
    error = tfrt.call(outer, 1).exception(SLOW)  # type: ignore[union-attr]
    diagnostic = error.diagnostics[0]  # type: ignore[union-attr]
    line = outer.__wrapped__.__code__.co_firstlineno + 2  # type: ignore[attr-defined]

    assert diagnostic.message == "Divide by zero"
    assert [str(one) for one in diagnostic.notes] == [
        f"note: raised in outer, {__file__}:{line}",
        f"{__file__}:{line}:16: note: this failed",
    ]


@tfrt.kernel("api.same")
def same(x: object) -> object:
    return x


@tfrt.kernel("api.table")
def table(x: int, *, values: np.ndarray) -> float:
    return float(values[x])


@tfrt.kernel("api.interrupt")
def interrupt(x: int) -> int:
    raise KeyboardInterrupt


@tfrt.kernel("api.scaled")
def scaled(
    x: tfrt.f32, *, factor: tfrt.f32 = 2.0, more: float = 0.0, places: tfrt.i8 = 0
) -> tfrt.f32:
    return round(x * factor + more, places)


@tfrt.program
def scaled_in_program(x: tfrt.f32):
    return scaled(x, factor=3, more=1, places=1)


def test_python_numbers_take_the_types_of_the_kernels_annotations() -> None:
    call: Any = tfrt.call

    assert call(scaled, 2.5).result(SLOW) == 5.0
    assert call(scaled, 2, factor=1.5).result(SLOW) == 3.0
    assert call(scaled, np.float64(2.5), more=np.float32(1), places=1).result(SLOW) == 6.0
    assert scaled_in_program(2.5).result(SLOW) == 8.5


def test_python_numbers_that_do_not_fit_the_kernels_annotations_are_refused() -> None:
    call: Any = tfrt.call
    wrong: tuple[tuple[dict[str, object], str], ...] = (
        ({"places": 200}, "attribute 'places': 200 does not fit in i8"),
        ({"places": 1.5}, "attribute 'places' of 'api.scaled' is f64, and the kernel takes i8"),
        ({"more": True}, "attribute 'more' of 'api.scaled' is i1, and the kernel takes float"),
        ({"factor": 1e300}, "attribute 'factor': 1e+300 does not fit in f32"),
    )
    for attributes, text in wrong:
        with pytest.raises(tfrt.TfrtError, match=re.escape(text)):
            call(scaled, 1.0, **attributes)


def test_an_attribute_of_many_elements_is_an_array() -> None:
    program = tfrt.Program(
        """func.func @main(%x: i32) -> f64 {
  %y = "api.table"(%x) {values = dense<[1.5, 2.5]> : tensor<2xf64>} : (i32) -> f64
  tfrt.return %y : f64
}"""
    )

    assert program.run(1).result(SLOW) == 2.5


def test_a_function_as_attribute_is_refused_where_the_kernel_could_not_see_it() -> None:
    program = tfrt.Program(
        """func.func @main(%x: i32) -> i32 {
  %y = "api.attribute"() {value = @main} : () -> i32
  tfrt.return %y : i32
}"""
    )

    with pytest.raises(
        tfrt.TfrtError, match=r":2:\d+: error: 'api.attribute' takes no functions, found 1"
    ):
        program.run(1)


def test_an_array_with_a_mask_is_no_tensor() -> None:
    masked = np.ma.array([1, 2], mask=[0, 1])  # type: ignore[no-untyped-call]
    program = tfrt.Program(
        "func.func @main(%x: !t.tensor) -> !t.tensor { tfrt.return %x : !t.tensor }"
    )

    with pytest.raises(tfrt.TfrtError, match="a tensor cannot have a mask"):
        program.run(masked)
    assert tfrt.program(lambda x: same(x)).trace(object).run(masked).result(SLOW) is masked


def test_an_interrupt_in_a_kernel_cancels_the_results() -> None:
    later = tfrt.unavailable()
    run = tfrt.Program(
        """func.func @main(%x: i32, %later: i32) -> (i32, i32) {
  %y = "api.interrupt"(%x) : (i32) -> i32
  tfrt.return %y, %later : i32, i32
}"""
    ).run(1, later)

    with pytest.raises(KeyboardInterrupt):
        run.result(SLOW)
    assert [value.cancelled() for value in run] == [True, True]


def test_a_closed_host_keeps_nothing_of_what_a_run_was_given() -> None:
    program = tfrt.Program(
        "func.func @main(%x: !tfrt.string) -> !tfrt.string { tfrt.return %x : !tfrt.string }"
    )
    with tfrt.HostContext("s") as host:
        assert program.run("text", host=host).result() == "text"
    held = len(native_process().objects)
    with pytest.raises(tfrt.TfrtError, match="the host is closed"):
        program.run("text", host=host)

    assert len(native_process().objects) == held


def test_a_kernel_may_have_two_names() -> None:
    async def later(x: int) -> int:
        return x + 1

    tfrt.kernel("api.second")(tfrt.kernel("api.first")(later))

    assert tfrt.call("api.second", 1).result(SLOW) == 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("attempt", "part"),
    [
        (lambda: UNTYPED.external(3, "() -> ()"), "name of an external function must be a string"),
        (
            lambda: tfrt.external("a.b", "i64"),
            r"expected a type such as '\(i64, f64\) -> f64', found",
        ),
        (lambda: UNTYPED.Tracing(3), "an object with begin, end, event, and close, found 3"),
        (
            lambda: UNTYPED.default_host().cancel(3),
            "the reason to cancel must be a string, found 3",
        ),
        (
            lambda: tfrt.kernel("api.second")(second),
            "the frame must be the first parameter, not 'frame'",
        ),
        (lambda: tfrt.call("arith.addi", 1, 2), "a program operation, not a kernel"),
        (lambda: UNTYPED.call_each("tfrt.add.i32", [1], 2), "a column must be a sequence"),
        (lambda: UNTYPED.call_each("api.defaults", [1], z=2), "a column must be a sequence"),
        (lambda: UNTYPED.Program(5), "a program must be a string, found int"),
        (
            lambda: UNTYPED.wait_for(tfrt.unavailable()),
            "what is waited for must be AsyncValues, as",
        ),
        (lambda: UNTYPED.wait_for([CODE.run(1)]), r"or wait_for\(run\), found \[<Execution"),
        (lambda: tfrt.gather([tfrt.unavailable()]), r"values, as in gather\(\*values\), found"),
        (lambda: tfrt.gather([CODE.run(1)]), r"values, as in gather\(\*values\), found"),
        (
            lambda: tfrt.gather((concurrent.futures.Future[int](),)),
            r"values, as in gather\(\*values\), found",
        ),
        (lambda: tfrt.Program("a/shop.mlir"), "found the name of a file: Program.from_file"),
        (lambda: UNTYPED.Program(Path("shop.bef")), "PosixPath: Program.from_file reads a file"),
        (lambda: UNTYPED.Program(CODE.bef), "bytes: Program.from_bef takes the bytes"),
        (lambda: UNTYPED.Program.from_bef("0bef"), "a BEF file must be bytes, found str"),
        (lambda: UNTYPED.Program("", 5), "the name of a program must be a string, found 5"),
        (lambda: UNTYPED.Program("", level=7), "level must be 0, 1 or None, found 7"),
        (lambda: UNTYPED.Program("", parallel_for=7), "parallel_for must be a string"),
        (
            lambda: UNTYPED.Program.from_source("", libraries={"a": 1}),
            "a dictionary of programs by name",
        ),
        (lambda: UNTYPED.Program("").load({1}), "kernels must be a KernelRegistry"),
        (lambda: CODE.emit("asn"), "stage must be one of mlir, bef, dot, async-runtime"),
        (lambda: CODE.run(timeout="x"), "timeout must be a number of seconds or None, found 'x'"),
        (lambda: CODE.run(timeout=math.nan), "timeout must be a number of seconds"),
        (lambda: CODE.run(host="s"), "host must be a HostContext or None, found 's'"),
        (lambda: CODE.run(function=CODE.main), "function must be the name of a function"),
        (lambda: CODE.run(arguments={"x": 1}), "arguments must be a list of values"),
        (lambda: CODE.run(output="x"), "output must be a function that takes a string"),
        (lambda: CODE.run(watch="x"), "watch must be True, False or a Watch"),
        (lambda: CODE.map(1), r"a column must be a sequence of values \(.*\), found 1"),
        (lambda: CODE.run(1).result("x"), "timeout must be a number of seconds"),
        (lambda: CODE.run(1).cancel(3), "the reason to cancel must be a string"),
        (lambda: CODE.run(1).on_progress(3), "callback must be a function"),
        (lambda: UNTYPED.unavailable().result("x"), "timeout must be a number of seconds"),
        (
            lambda: UNTYPED.unavailable().then(3),
            r"the argument of then\(\) must be a function of the value",
        ),
        (lambda: UNTYPED.unavailable().add_done_callback(3), "a callback must be a function"),
        (lambda: UNTYPED.unavailable().cancel(3), "the reason to cancel must be a string"),
        (lambda: UNTYPED.HostContext(2), "work_queue must be a string such as 'mstd:2'"),
        (lambda: UNTYPED.HostContext(allocator=2), "allocator must be one of malloc, "),
        (lambda: UNTYPED.HostContext(output="x"), "output must be a function that takes a string"),
        (lambda: UNTYPED.HostContext(on_diagnostic="x"), "on_diagnostic must be a function"),
        (lambda: UNTYPED.HostContext(tracing="x"), "tracing must be a Tracing"),
        (lambda: UNTYPED.HostContext(loop="x"), "loop must be an event loop"),
        (lambda: UNTYPED.HostContext(timers="x"), "timers must be a TimerQueue"),
        (lambda: UNTYPED.HostContext(memory="x"), "memory 'x': expected a number of bytes"),
        (lambda: UNTYPED.HostContext(memory=1), "memory 1: expected at least 1M"),
        (lambda: UNTYPED.set_default_host("s"), "the default host must be a HostContext or None"),
        (lambda: UNTYPED.kernel(5), "the name of a kernel must be a printable string"),
        (lambda: UNTYPED.kernel(""), "the name of a kernel must be a printable string"),
        (lambda: UNTYPED.kernel("my.name\n"), "the name of a kernel must be a printable string"),
        (lambda: UNTYPED.kernel(blocking="no"), "blocking must be True or False, found 'no'"),
        (lambda: UNTYPED.kernel(native=1.5), "native must be True, False, or a string of types"),
        (lambda: UNTYPED.kernel("my.name")(5), "a kernel must be a function, found 5"),
        (lambda: UNTYPED.kernel(lambda x: x), "has no name: give the kernel one"),
        (lambda: UNTYPED.kernel(functools.partial(max, 1)), "has no name: give the kernel one"),
    ],
)
def test_an_argument_of_the_wrong_kind_is_refused_at_the_line_of_the_caller(
    attempt: Callable[[], object], part: str
) -> None:
    with pytest.raises(tfrt.TfrtError, match=part) as caught:
        attempt()
    assert caught.value.diagnostics[0].location.source == __file__


def test_a_value_that_is_dropped_says_where_it_was_made() -> None:
    with pytest.raises(tfrt.TfrtError, match="created here was dropped unresolved") as caught:
        CODE.run(tfrt.unavailable()).result(SLOW)

    assert caught.value.diagnostics[0].location.source == __file__


def test_a_future_that_a_kernel_drops_is_an_error_at_the_operation() -> None:
    @tfrt.kernel("api.dropped")
    def dropped(x: int) -> concurrent.futures.Future[int]:
        return concurrent.futures.Future()

    error = tfrt.call(dropped, 1).exception(SLOW)  # type: ignore[union-attr]

    assert str(error).endswith(
        "the result of 'api.dropped': the future was dropped before it was done"
    )
    assert error.diagnostics[0].location.source == __file__  # type: ignore[union-attr]


def test_a_kernel_allocates_the_results_that_it_has() -> None:
    @tfrt.kernel("api.other")
    def other(frame: tfrt.KernelFrame) -> int:
        return frame.allocate(1)  # type: ignore[return-value]

    error = tfrt.call(other).exception(SLOW)  # type: ignore[union-attr]

    assert str(error).endswith("'api.other' has 1 result, found no result 1")


def test_the_note_of_an_error_is_of_the_users_line_also_within_a_library() -> None:
    @tfrt.kernel("api.singular")
    def singular(x: int) -> None:
        np.linalg.inv(np.zeros((2, 2)))

    error = tfrt.call(singular, 1).exception(SLOW)  # type: ignore[union-attr]
    [note] = error.diagnostics[0].notes  # type: ignore[union-attr]

    assert note.message.startswith(f"raised in singular, {__file__}:")


@pytest.mark.parametrize(("notes", "shown"), [(["note one"], ["note one"]), (5, [])])
def test_notes_of_an_exception_are_notes_of_the_error(notes: Any, shown: list[str]) -> None:
    @tfrt.kernel("api.noted")
    def noted(x: int) -> int:
        problem = ValueError("no")
        problem.__notes__ = notes
        raise problem

    error = tfrt.call(noted, 1).exception(SLOW)  # type: ignore[union-attr]

    assert [one.message for one in error.diagnostics[0].notes][1:] == shown  # type: ignore[union-attr]


def test_a_time_limit_of_ages_is_none() -> None:
    with tfrt.HostContext("mstd:1") as host:
        for timeout in (math.inf, 1e300, 1e10):
            assert CODE.run(3, host=host, timeout=timeout).result(timeout) == 3
        never = tfrt.unavailable()
        late = CODE.run(never, host=host, timeout=0.01)
        with pytest.raises(tfrt.TimeoutError):
            late.result(SLOW)


def test_a_kernel_with_the_name_of_another_one_is_refused_at_its_line() -> None:
    @tfrt.kernel("demo.wait")
    def wait(x: int) -> int:
        return x

    try:
        with pytest.raises(tfrt.TfrtError, match="is already in the standard kernels") as caught:
            tfrt.call(wait, 1)
    finally:
        del USER_KERNELS["demo.wait"]
    place = caught.value.diagnostics[0].location
    code = wait.__wrapped__.__code__  # type: ignore[attr-defined]
    assert (place.source, place.line) == (__file__, code.co_firstlineno)


def test_a_host_says_its_workers_and_whether_it_is_closed() -> None:
    host = tfrt.HostContext("mstd:2")
    before = repr(host)
    host.close()

    assert before == "<HostContext with 2 workers>"
    assert repr(host) == "<HostContext with 2 workers, closed>"


def test_a_call_whose_result_was_dropped_is_forgotten_when_it_is_over() -> None:
    known, over = native_process().requests, threading.Event()
    before = set(known)
    tfrt.call("api.gated", 1)
    [address] = set(known) - before
    weakref.finalize(known[address], over.set)
    assert not over.is_set()

    GATE.set()

    assert over.wait(SLOW)


def test_a_cancelled_host_decides_the_results_of_calls() -> None:
    with tfrt.HostContext("mstd:1") as host:
        tfrt.set_default_host(host)
        try:
            results = [tfrt.call("api.gated", i) for i in range(4)]
            host.cancel()
            assert all(one.cancelled() for one in results)
        finally:
            GATE.set()
            tfrt.set_default_host(None)


@pytest.mark.parametrize("kernel", ["tfrt.add.i32", "tfrt.add.f64", "tfrt.and.i1"])
def test_an_integer_of_thousands_of_digits_does_not_fit(kernel: str) -> None:
    word = kernel.rsplit(".", 1)[1]
    with pytest.raises(tfrt.TfrtError, match=f"an integer of 16610 bits does not fit in {word}"):
        tfrt.call(kernel, 10**5000, 10**5000)


@pytest.mark.parametrize(
    ("word", "value", "found"),
    [
        ("i32", int, "type <class 'int'>"),
        ("i64", np.array(1.5), "ndarray array(1.5)"),
        ("i1", np.array([True]), "ndarray array([ True])"),
        ("i1", np.array([True, False]), "ndarray array([ True, False])"),
        ("!t.tensor", [1, 2], "list [1, 2]: convert it to an array, as in numpy.array(...)"),
    ],
)
def test_what_only_looks_like_a_value_of_the_type_is_refused(
    word: str, value: object, found: str
) -> None:
    program = tfrt.Program(f"func.func @main(%x: {word}) {{\n  tfrt.return\n}}")

    with pytest.raises(tfrt.TfrtError) as caught:
        program.run(value)
    message = caught.value.diagnostics[0].message
    assert message == f"argument 1 (%x) of @main: expected {word}, found {found}"


def test_after_a_host_come_the_function_and_its_arguments() -> None:
    program: Any = tfrt.Program("func.func @main(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}")
    host = tfrt.default_host()

    runs = [program.run(host, None, [5]), program.run(host, [5], function="main")]
    assert [run.result(SLOW) for run in runs] == [5, 5]
    for given in ([[5]], [5], ["main", 5], ["main", [5], 6]):
        with pytest.raises(TypeError, match="takes the function and a list of its arguments"):
            program.run(host, *given)


class Indexed:
    """A column with an index of its own, as a pandas Series has."""

    def __len__(self) -> int:
        return 1

    def __iter__(self) -> Iterator[int]:
        return iter([5])

    def __getitem__(self, index: int) -> str:
        return {7: "five"}[index]


def test_a_column_is_any_collection() -> None:
    program = tfrt.Program("func.func @main(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}")

    traced: Any = tfrt.program(lambda x: x)
    columns: list[Any] = [{5}, {5: 6}, {4: 5}.values(), range(5, 6), memoryview(b"\5"), b"\5"]
    columns += [bytearray(b"\5"), Indexed()]
    assert [program.map(one).result(SLOW) for one in columns] == [[5]] * 8
    assert [traced.map(one).result(SLOW) for one in columns] == [[5]] * 8
    assert [tfrt.call_each(digits, one).result(SLOW) for one in columns] == [[557]] * 8


def test_numbers_of_numpy_are_those_of_python() -> None:
    program = tfrt.Program("func.func @main(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}")

    found = [program.run(one).result(SLOW) for one in (np.True_, np.int8(2), np.array(3))]
    assert found == [1, 2, 3]


def test_a_coroutine_is_made_a_task_before_it_is_an_argument() -> None:
    async def seven() -> int:
        return 7

    async def main() -> object:
        program = tfrt.Program("func.func @main(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}")
        coroutine = seven()
        with pytest.raises(
            tfrt.TfrtError, match=r"found coroutine .*: create a task from it, as in"
        ):
            program.run(coroutine)
        return await program.run(asyncio.create_task(coroutine))

    assert asyncio.run(main()) == 7


@tfrt.kernel("api.one_at_a_time", limit=1)
def one_at_a_time(x: int) -> int:
    BEGUN.set()
    gates = tfrt.default_host().shared_context(Gates)
    function = one_at_a_time.kernel.function
    while x == 0 and not gates.of(function, 1, blocking=False).waiting:
        time.sleep(0.001)
    if x > 0:
        GATE.wait(SLOW)
    return x


def test_a_call_of_a_kernel_with_a_limit_does_not_wait_for_the_next_one() -> None:
    first = tfrt.call("api.one_at_a_time", 0)
    assert BEGUN.wait(SLOW)
    second = tfrt.call("api.one_at_a_time", 1)

    assert (first.result(SLOW), second.done()) == (0, False)
    GATE.set()
    assert second.result(SLOW) == 1


def test_thousands_that_wait_for_a_kernel_with_a_limit_may_be_cancelled() -> None:
    program = tfrt.Program("func.func @main(%x: i32) { %y = api.one_at_a_time %x\n tfrt.return }")
    runs = [program.run(1) for _ in range(2000)]
    for run in runs[1:]:
        run.cancel("enough")
    GATE.set()

    assert all(run.wait(SLOW) for run in runs)
    assert tfrt.call("api.one_at_a_time", 2).result(SLOW) == 2


@tfrt.kernel("api.gated_coroutine")
async def gated_coroutine(x: int) -> int:
    await asyncio.to_thread(GATE.wait, SLOW)
    return x


def result_of_a_run(x: int) -> object:
    program = tfrt.Program(
        "func.func @main(%x: i64) -> i64 { %y = api.gated_coroutine %x\n tfrt.return %y : i64 }"
    )
    return program.run(x).results[0]  # nothing else holds the run or its result


async def result_of_a_run_later(x: int) -> object:
    return result_of_a_run(x)


@pytest.mark.parametrize(
    "returns",
    [
        tfrt.kernel("api.hands_plain")(result_of_a_run),
        tfrt.kernel("api.hands_blocking", blocking=True)(result_of_a_run),
        tfrt.kernel("api.hands_limited", limit=1)(result_of_a_run),
        tfrt.kernel("api.hands_async")(result_of_a_run_later),
    ],
)
def test_a_run_waits_for_a_value_that_its_kernel_returns(returns: Callable[..., object]) -> None:
    run = tfrt.program(lambda x: returns(x))(5)
    assert (run.wait(0.05), run.is_stuck) == (False, False)
    GATE.set()

    assert run.result(SLOW) == 5
    assert run.wait(SLOW)


def test_a_coroutine_may_return_what_a_thread_resolves() -> None:
    value = tfrt.unavailable()

    async def returns(x: int) -> object:
        return value

    kernel = tfrt.kernel("api.hands_promise")(returns)
    run = tfrt.program(lambda x: kernel(x))(5)
    assert (run.wait(0.05), run.is_stuck) == (False, False)
    value.set_result(6)

    assert run.result(SLOW) == 6


def second(x: int, frame: tfrt.KernelFrame) -> int:
    return x


FRAMES: list[tfrt.KernelFrame] = []


@tfrt.kernel("api.keeps_frame")
def keeps_frame(frame: tfrt.KernelFrame) -> None:
    FRAMES.append(frame)


def test_a_frame_is_of_no_use_when_its_run_is_over() -> None:
    tfrt.call("api.keeps_frame").result(SLOW)
    frame = FRAMES.pop()
    while not frame.request.is_done:
        time.sleep(0.001)

    with pytest.raises(tfrt.TfrtError, match="the run of this frame is over"):
        frame.enqueue(print)


def test_a_copy_of_a_program_is_the_program() -> None:
    program = tfrt.program(lambda x: (x, {"a": 1})).trace(tfrt.i32)

    assert [copy.copy(program) is program, copy.deepcopy([program])[0] is program] == [True, True]


@tfrt.kernel("api.optional")
def optional(x: int, *, unit: str | None = None) -> str:
    return f"{x} {unit}"


def test_an_attribute_of_none_is_its_default() -> None:
    found = [tfrt.call("api.optional", 3, unit=one).result(SLOW) for one in (None, "kg")]
    assert found == ["3 None", "3 kg"]
    with pytest.raises(tfrt.TfrtError, match="attribute 'value' cannot be NoneType"):
        tfrt.call("api.attribute", value=None)


class Page:
    def __init__(self, number: int) -> None:
        self.number = number


class Unevaluated:
    def __init__(self, number: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
        self.number = number


@pytest.mark.parametrize("kind", [Page, Unevaluated])
def test_a_class_is_a_kernel_whose_result_is_an_object_of_it(kind: type[Any]) -> None:
    made = tfrt.call(tfrt.kernel(f"api.{kind.__name__}")(kind), 3).result(SLOW)
    assert (type(made), made.number) == (kind, 3)


def test_a_function_of_c_is_a_kernel_with_defaults_of_its_own() -> None:
    tfrt.kernel("api.sine")(np.sin)

    assert tfrt.call("api.sine", 0.0).result(SLOW) == 0.0


@tfrt.kernel("api.in_a_tuple")
def in_a_tuple(x: int) -> tuple[int]:
    return (x,)


@tfrt.kernel("api.any_number")
def any_number(x: int) -> tuple[int, ...]:
    return (x,) * x


def test_a_tuple_of_one_value_or_of_any_number_is_one_result() -> None:
    calls = [tfrt.call("api.in_a_tuple", 3), tfrt.call("api.any_number", 2)]
    assert [one.result(SLOW) for one in calls] == [(3,), (2, 2)]


def test_a_copy_of_a_chain_is_the_chain() -> None:
    copies = [
        copy.copy(tfrt.CHAIN),
        copy.deepcopy(tfrt.CHAIN),
        pickle.loads(pickle.dumps(tfrt.CHAIN)),
    ]
    assert [one is tfrt.CHAIN for one in copies] == [True] * 3


def test_an_error_among_others_shows_its_message() -> None:
    found = tfrt.call("tfrt.div.i32", 1, 0)[0].exception()

    assert re.fullmatch(r"\[TfrtError\('.*: error: Divide by zero'\)\]", repr([found]))


@tfrt.kernel("api.fill", native=True)
def fill(array: tfrt.out[tfrt.f64, 1], number: tfrt.f64) -> None:
    for i in range(array.shape[0]):
        array[i] = number


def read_only() -> np.ndarray[Any, Any]:
    array = np.zeros(3)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (read_only, "which is read-only"),
        (lambda: np.zeros(6)[::2], "which is not C-contiguous"),
        (lambda: np.zeros((3, 3))[:, 1], "which is not C-contiguous"),
        (lambda: np.zeros(3, ">f8"), "which is in another byte order"),
    ],
)
def test_an_array_that_a_kernel_writes_is_not_copied(make: Callable[[], Any], why: str) -> None:
    array = make()
    with pytest.raises(tfrt.TfrtError, match=f"argument 1 .*'api.fill' writes this array, {why}"):
        tfrt.call(fill, array, 3.0)
    with pytest.raises(tfrt.TfrtError, match=f"call 1: argument 1 .*'api.fill' writes .* {why}"):
        tfrt.call_each(fill, [array], [3.0])
    for function in ("through", "in_region", "in_loop"):
        with pytest.raises(tfrt.TfrtError, match=f"argument 2 .*'api.fill' writes .* {why}"):
            FILLS.run(True, array, 3.0, function=function)


FILLS: Any = tfrt.Program("""
func.func @fills(%a: !tfrt_tensor.tensor, %x: f64) -> !tfrt.chain {
  %c = "api.fill"(%a, %x) : (!tfrt_tensor.tensor, f64) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}
func.func @through(%p: i1, %a: !tfrt_tensor.tensor, %x: f64) -> !tfrt.chain {
  %c = tfrt.call @fills(%a, %x) : (!tfrt_tensor.tensor, f64) -> !tfrt.chain
  tfrt.return %c : !tfrt.chain
}
func.func @in_region(%p: i1, %a: !tfrt_tensor.tensor, %x: f64) -> !tfrt.chain {
  %c = tfrt.if %p, %a, %x : (!tfrt_tensor.tensor, f64) -> (!tfrt.chain) {
    %d = tfrt.call @fills(%a, %x) : (!tfrt_tensor.tensor, f64) -> !tfrt.chain
    tfrt.return %d : !tfrt.chain
  } else {
    %d = tfrt.new.chain
    tfrt.return %d : !tfrt.chain
  }
  tfrt.return %c : !tfrt.chain
}
func.func @in_loop(%p: i1, %a: !tfrt_tensor.tensor, %x: f64) -> !tfrt.chain {
  %n = tfrt.constant.i32 2
  %c = tfrt.new.chain
  %d:3 = tfrt.repeat.i32 %n, %c, %a, %x : !tfrt.chain, !tfrt_tensor.tensor, f64 {
    %e = tfrt.call @fills(%a, %x) : (!tfrt_tensor.tensor, f64) -> !tfrt.chain
    tfrt.return %e, %a, %x : !tfrt.chain, !tfrt_tensor.tensor, f64
  }
  tfrt.return %d#0 : !tfrt.chain
}
""")


def test_a_kernel_writes_a_part_of_an_array_and_a_read_only_one_may_be_read() -> None:
    @tfrt.kernel("api.total", native=True)
    def total(array: tfrt.tensor[tfrt.f64, 1]) -> tfrt.f64:
        return array.sum()

    array = np.zeros(4)
    tfrt.call(fill, array[1:3], 3.0).result(SLOW)
    assert array.tolist() == [0, 3, 3, 0]
    tfrt.call(fill, array[:0], 3.0).result(SLOW)
    assert tfrt.call(total, read_only()).result(SLOW) == 0
    assert tfrt.call(total, array[::-1]).result(SLOW) == 6


def test_a_run_in_the_place_of_a_value_is_told_to_give_its_results() -> None:
    program = tfrt.Program(
        "func.func @main(%a: i32) -> i32 { %r = tfrt.add.i32 %a, %a\n tfrt.return %r : i32 }"
    )
    run = program.run(1)
    with pytest.raises(
        tfrt.TfrtError, match=r"expected i32, found .*: pass its results, as in run\(\*"
    ):
        program.run(run)
    assert program.run(*run).result(SLOW) == 4


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (lambda: "much", "LoudError: much"),
        (lambda: 1 / 0, "LoudError: <its __str__ raised ZeroDivisionError>"),
        (lambda: "\ud800", r"LoudError: \ud800"),
    ],
)
def test_what_follows_a_value_may_raise_anything(
    host: tfrt.HostContext, said: Callable[[], str], shown: str
) -> None:
    class LoudError(Exception):
        def __str__(self) -> str:
            return said()

    def fail(value: object) -> None:
        raise LoudError

    future: concurrent.futures.Future[object] = concurrent.futures.Future()
    given, set_by_user = make_unavailable(host.work_queue), make_unavailable(host.work_queue)
    followed, awaited = given.then(fail), from_future(host.work_queue, future)
    given.set_result(1)
    future.set_exception(LoudError())
    set_by_user.set_exception(LoudError())

    for value in (followed, awaited, set_by_user):
        with pytest.raises(tfrt.TfrtError) as caught:
            value.result(SLOW)
        assert caught.value.diagnostics[0].message == shown
        assert isinstance(caught.value.__cause__, LoudError)


def test_an_error_holds_nothing_of_the_frames_that_it_was_raised_in(host: tfrt.HostContext) -> None:
    def fail(value: object) -> None:
        held = given[0]  # this holds the value's own error
        raise KeyError(type(held).__name__)

    given = [make_unavailable(host.work_queue)]
    followed, dead = given[0].then(fail), weakref.ref(given[0])
    given[0].set_result(1)
    cause = followed.exception(SLOW)
    assert cause is not None and cause.__cause__ is not None
    frames = list(traceback.walk_tb(cause.__cause__.__traceback__))
    assert [frame.f_code.co_name for frame, _ in frames] == ["fail"]
    assert [frame.f_locals for frame, _ in frames] == [{}]
    given.clear()
    del followed, cause, frames

    own = make_unavailable(host.work_queue)
    try:
        own_value = own  # like code that sets a value to the error that it caught
        raise KeyError("own")
    except KeyError as problem:
        own_value.set_exception(problem)
    ended = weakref.ref(own)
    del own, own_value
    gc.collect()
    assert (dead(), ended()) == (None, None)


@pytest.mark.parametrize(
    ("parameters", "taken"),
    [
        ("x", "takes 1 argument"),
        ("x, y=0", "takes 1 or 2 arguments"),
        ("x, y=0, z=0", "takes 1 to 3 arguments"),
        ("x, *more", "takes at least 1 argument"),
    ],
)
def test_a_kernel_says_how_many_arguments_it_takes(parameters: str, taken: str) -> None:
    function = eval(f"lambda {parameters}: x")
    tfrt.kernel("api.counted")(function)
    for count in [0] if "*" in parameters else [0, 4]:
        values = ", ".join(["%x"] * count)
        types = ", ".join(["i32"] * count)
        program = tfrt.Program(
            f"""func.func @main(%x: i32) -> i32 {{
  %y = "api.counted"({values}) : ({types}) -> i32
  tfrt.return %y : i32
}}"""
        )
        with pytest.raises(tfrt.TfrtError) as caught:
            program.load()
        assert caught.value.diagnostics[0].message == f"'api.counted' {taken}, found {count}"


MEMBERS = {*vars(CODE)}.union(
    *(vars(one) for one in tfrt.Program.__mro__ if one.__module__.startswith("tfrt_nb.programs"))
)
INTERNALS = sorted(
    {
        name.removeprefix("_")
        for name in MEMBERS
        if name.startswith("_") and not name.startswith("__")
    }
    | {"records", "source", "keys", "host", "call"}
)


def named_function(name: str) -> Any:
    """Return a program whose only function is called `name` and returns 7."""
    text = "() -> i32 { %a = tfrt.constant.i32 7  tfrt.return %a : i32 }"
    return tfrt.Program(f"func.func @{name}{text.replace('  ', chr(10))}")


@pytest.mark.parametrize("name", [name for name in INTERNALS if not name.endswith("_")])
def test_a_function_may_have_the_name_of_an_internal(name: str) -> None:
    program = named_function(name)
    assert getattr(program, name)().result(SLOW) == 7
    assert name in dir(program)


@pytest.mark.parametrize("name", ["map", "name", "__class__", "_bound", "_repr_png_", "my fun"])
def test_an_index_is_a_function_of_any_name(name: str) -> None:
    program = named_function(f'"{name}"' if " " in name else name)
    assert program[name]().result(SLOW) == 7
    assert list(program) == program._ipython_key_completions_() == [name]
    assert ("my fun" in dir(program), program.name) == (False, "<program>")
    assert getattr(program, "_repr_png_", None) is None, "a page would call it"


def test_an_index_without_a_function_names_the_nearest_one() -> None:
    with pytest.raises(KeyError, match="the program has no function @mian: it has @main") as caught:
        CODE["mian"]
    assert isinstance(caught.value, tfrt.TfrtError)
    assert "did you mean @main?" in caught.value.__notes__[0]
    with pytest.raises(tfrt.TfrtError, match="must be the name of a function, found 0"):
        CODE[0]


def test_the_guide_lists_the_public_members_of_programs() -> None:
    guide = Path(__file__).parents[2].joinpath("docs/guide.md").read_text(encoding="utf-8")
    table, _, others = guide.partition("| reserved names of a `Program` |")[2].partition("\n\n")
    rows = table.splitlines()[2:]
    assert sorted(re.findall(r"`(\w+)`", " ".join(row.split("|")[1] for row in rows))) == sorted(
        {name for name in MEMBERS if not name.startswith("_")}
    )
    listed = others.partition("The members of a `@tfrt.program` are ")[2].partition(";")[0]
    assert set(re.findall(r"`(\w+)`", listed)) == {
        name for name in vars(tfrt.TracedProgram) if not name.startswith("_")
    }


def test_a_former_member_works_and_says_that_it_is_internal() -> None:
    with pytest.warns(DeprecationWarning, match=r"Program\.default_function is internal"):
        assert CODE.default_function == "main"


def test_a_bef_file_is_mapped_and_its_program_survives_a_change_of_the_file(tmp_path) -> None:
    path = tmp_path / "mapped.bef"
    text = "func.func @main() -> f64 {\n  %x = tfrt.constant.f64 2.5\n  tfrt.return %x : f64\n}"
    written = tfrt.Program(text).bef
    path.write_bytes(written)

    program = tfrt.Program.from_file(path)
    source = read_source(str(path))

    assert isinstance(source, memoryview) and isinstance(source.obj, mmap.mmap)
    del source
    assert "mapped.bef" in Path("/proc/self/maps").read_text()
    assert program.bef == written
    path.write_bytes(b"")
    assert program.run().result(60) == 2.5
    assert program.bef == written


def test_awaiting_a_cancelled_value_cancels_the_task() -> None:
    async def wait(value: tfrt.AsyncValue) -> object:
        return await value

    async def main() -> asyncio.Task[object]:
        value = tfrt.unavailable()
        task = asyncio.create_task(wait(value))
        await asyncio.sleep(0)
        value.cancel()
        await asyncio.wait([task])
        with pytest.raises(tfrt.CancelledError):
            await value
        return task

    assert asyncio.run(main()).cancelled()


def test_futures_of_the_standard_library_are_what_its_waits_take() -> None:
    value = tfrt.call("tfrt.add.i32", 1, 2)
    for wait in (
        concurrent.futures.wait,
        lambda values: [*concurrent.futures.as_completed(values)],
    ):
        with pytest.raises(TypeError, match=r"value\.to_future\(\)"):
            wait([value])
    assert concurrent.futures.wait([value.to_future()]).done.pop().result() == 3


@pytest.mark.parametrize("options", ["", "blocking=True", "async"])
def test_quiesce_is_refused_in_a_kernel(options: str) -> None:
    with tfrt.HostContext("mstd:2") as host:

        def stop(x: int) -> int:
            return int(host.quiesce(1))

        async def stop_later(x: int) -> int:
            return stop(x)

        function: Callable[..., Any] = stop_later if options == "async" else stop
        tfrt.kernel("py.stop", blocking=options == "blocking=True")(function)
        text = '%y = "py.stop"(%x) : (i32) -> i32'
        program = tfrt.Program(f"func.func @main(%x: i32) {{\n  {text}\n  tfrt.return\n}}")
        run = program.run(1, host=host)
        assert run.wait(60)
        assert "quiesce() waits for all runs" in run.diagnostics[0].message
        assert host.quiesce(60)


def test_the_graph_is_a_stage() -> None:
    text = tfrt.Program("func.func @main() {\n  tfrt.return\n}").emit("dot")
    assert text.startswith("digraph program {")


def test_a_broken_numba_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @tfrt.kernel("py.broken", native="(f64) -> f64")
    def broken(x: float) -> float:
        return x

    (tmp_path / "numba.py").write_text("raise ImportError('Numba needs NumPy 2.3 or less')")
    for name in [one for one in sys.modules if one.partition(".")[0] == "numba"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(tfrt.TfrtError, match=r"cannot be imported: ImportError: Numba needs NumPy"):
        tfrt.call("py.broken", 1.0).result(60)


def test_trio_is_told_how_to_wait() -> None:
    value, done = tfrt.unavailable(), tfrt.unavailable()
    done.set_result(4)

    async def main() -> tuple[int, int]:
        with pytest.raises(RuntimeError, match="with trio, write `await trio.to_thread"):
            await value
        return await done, await trio.to_thread.run_sync(done.result)

    assert trio.run(main) == (4, 4)


def test_help_and_tab_show_the_public_members_of_a_value() -> None:
    names = [name for name in dir(tfrt.AsyncValue) if not name.startswith("_")]
    assert "result" in names
    assert {"addresses", "have_made", "decide", "for_waiter", "basis", "source"}.isdisjoint(names)
    assert [name for name in dir(tfrt.unavailable()) if not name.startswith("_")] == names
    text = pydoc.plain(pydoc.render_doc(tfrt.AsyncValue))
    assert "add_done_callback(self" in text
    assert "have_made" not in text
    assert "__radd__" not in text
