"""Test kernels in Python: their arguments, their results, and their failures."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import pytest

from tfrt_nb.convert.mlir_to_bef import to_records
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import Diagnostic, Location, TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.user import native_kernel, user_kernel

Run = Callable[..., Execution]
SLOW = 60


def kernels(
    *functions: Callable[..., object], blocking: bool = False, raw: bool = False
) -> KernelRegistry:
    """Return the runtime's kernels, and each function as kernel `my.` and its name."""
    registry = standard_kernels()
    for function in functions:
        name = f"my.{function.__name__}"
        registry.add(user_kernel(name, function, blocking=blocking, raw=raw))
    return registry


def call(results: str, operands: str = "", attributes: str = "") -> str:
    """Return a program that returns what `my.test` returns for an i32, a string, and a chain."""
    types = {"": "()", "%x": "(i32)", "%x, %c": "(i32, !tfrt.chain)", "%s": "(!tfrt.string)"}
    names = ", ".join(f"%r#{i}" for i in range(results.count(",") + 1))
    count = f":{results.count(',') + 1}" if "," in results else ""
    names = names if count else "%r"
    return f"""func @main(%x: i32) -> ({results}) {{
  %c = tfrt.new.chain
  %s = "tfrt_test.get_string"() {{value = "text"}} : () -> !tfrt.string
  %r{count} = "my.test"({operands}) {attributes} : {types[operands]} -> ({results})
  tfrt.return {names} : {results}
}}
"""


def errors_of(execution: Execution) -> list[str]:
    assert execution.wait(SLOW)
    return [diagnostic.message for diagnostic in execution.diagnostics]


# --- arguments, attributes and results ---


def digits(x: int, *, c: int, b: int = 3, a: int) -> int:
    return 1000 * x + 100 * a + 10 * b + c


async def digits_later(x: int, *, c: int, b: int = 3, a: int) -> int:
    return digits(x, c=c, b=b, a=a)


def digits_of_value(x: AsyncValue, *, c: int, b: int = 3, a: int) -> int:
    return digits(int(x.result(0)), c=c, b=b, a=a)  # type: ignore[call-overload]


KINDS_OF_KERNELS = {
    "ordinary": user_kernel("my.test", digits),
    "blocking": user_kernel("my.test", digits, blocking=True),
    "raw": user_kernel("my.test", digits_of_value, raw=True),
    "async": user_kernel("my.test", digits_later),
    "native": native_kernel(user_kernel("my.test", digits), digits, "(i32) -> i32"),
}


@pytest.fixture(params=KINDS_OF_KERNELS)
def digit_kernels(request: pytest.FixtureRequest) -> KernelRegistry:
    """The runtime's kernels, and a kernel `my.test` with three attributes."""
    registry = standard_kernels()
    registry.add(KINDS_OF_KERNELS[request.param])
    return registry


@pytest.mark.parametrize(
    ("attributes", "result"),
    [
        ("{a = 2 : i32, b = 7 : i32, c = 4 : i32}", 1274),
        ("{c = 4 : i32, a = 2 : i32}", 1234),
    ],
)
def test_attributes_are_bound_by_name(
    run: Run, digit_kernels: KernelRegistry, attributes: str, result: int
) -> None:
    execution = run(call("i32", "%x", attributes), 1, kernels=digit_kernels)

    assert execution.results[0].result(60) == result


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ("{a = 1 : i32}", "'my.test' needs an attribute 'c'"),
        (
            "{a = 1 : i32, b = 2 : i32, d = 3 : i32}",
            "'my.test' has no attribute 'd'; its attributes are: 'c', 'b', 'a'",
        ),
        (
            "{a = 1 : i32, b = 2.0 : f32, c = 3 : i32}",
            "attribute 'b' of 'my.test' is f32, and the kernel takes int",
        ),
    ],
)
def test_wrong_attributes_are_refused_when_the_program_is_loaded(
    digit_kernels: KernelRegistry, attributes: str, message: str
) -> None:
    text = call("i32", "%x", attributes)

    for program in (
        Program.from_source(text, "test.mlir"),
        Program.from_bef(Program.from_source(text, "test.mlir").bef, "test.bef"),
    ):
        with pytest.raises(TfrtError, match=re.escape(f"test.mlir:4:8: error: {message}")):
            program.load(digit_kernels)


@pytest.mark.parametrize(
    ("function", "attributes", "message"),
    [
        (lambda x: x, "{a = 1 : i32}", "has no attribute 'a'; its attributes are: none"),
        (lambda x, *, a: x, '{a = "s"}', ""),
    ],
)
def test_a_kernel_without_annotations_takes_attributes_of_any_type_and_no_others(
    function: Callable[..., object], attributes: str, message: str
) -> None:
    function.__name__ = "test"
    program = Program.from_source(call("i32", "%x", attributes), "test.mlir")
    with pytest.raises(TfrtError, match=message) if message else nullcontext():
        program.load(kernels(function))


def test_an_attribute_that_a_file_names_twice_is_refused() -> None:
    module = to_records(parse_module(call("i32", "%x", "{a = 1 : i32, c = 2 : i32}"), "test.mlir"))
    [main] = module.functions
    names = [("a", "a") if names == ("a", "c") else names for names in main.attribute_names or ()]
    file = write_bef(replace(module, functions=(replace(main, attribute_names=tuple(names)),)))
    registry = standard_kernels()
    registry.add(KINDS_OF_KERNELS["ordinary"])

    with pytest.raises(TfrtError, match="test.mlir:4:8: error: 'my.test' has two attributes 'a'"):
        Program.from_bef(file, "test.bef").load(registry)


@pytest.mark.parametrize(
    ("attributes", "outcome"),
    [
        ("{a = 2 : i32, b = 3 : i32, c = 4 : i32}", 1234),
        ("{a = 2 : i32, c = 4 : i32}", "takes all of its 3 in alphabetical order, found 2"),
        ('{a = 2 : i32, b = "3", c = 4 : i32}', "attribute 'b' of 'my.test' is string"),
    ],
)
def test_without_names_a_file_gives_all_attributes_in_order_or_is_refused(
    host: HostContext, digit_kernels: KernelRegistry, attributes: str, outcome: int | str
) -> None:
    module = to_records(parse_module(call("i32", "%x", attributes), "test.mlir"))
    nameless = [replace(function, attribute_names=None) for function in module.functions]
    program = Program.from_bef(write_bef(replace(module, functions=tuple(nameless))), "test.bef")

    if isinstance(outcome, str):
        with pytest.raises(TfrtError, match=outcome):
            program.load(digit_kernels)
    else:
        run = program.run(host, "main", (1,), kernels=digit_kernels)
        assert run.results[0].result(60) == outcome


@pytest.mark.parametrize(
    ("function", "operands"),
    [
        (lambda x: x, "%x, %c"),
        (lambda x, chain: x if chain is CHAIN else -1, "%x, %c"),
        (lambda *everything: everything[0] if everything[1:] == (CHAIN,) else -1, "%x, %c"),
    ],
    ids=["not named", "named", "variadic"],
)
def test_a_trailing_chain_is_dropped_unless_the_function_takes_it(
    run: Run, function: Callable[..., object], operands: str
) -> None:
    function.__name__ = "test"

    assert run(call("i32", operands), 5, kernels=kernels(function)).results[0].result(SLOW) == 5


def test_the_frame_says_where_the_call_is(run: Run) -> None:
    def test(frame: KernelFrame, x: int) -> str:
        return f"{frame.name} {frame.location} {frame.result_types} {x}"

    execution = run(call("!tfrt.string", "%x"), 1, kernels=kernels(test))

    assert execution.results[0].result(SLOW) == "my.test test.mlir:4:8 ('!tfrt.string',) 1"


# --- failures ---


def test_what_a_kernel_raises_is_the_error_of_each_result(run: Run) -> None:
    def test(x: int) -> tuple[int, int]:
        return x, int(1 / 0)

    execution = run(call("i32, i32", "%x"), 1, kernels=kernels(test))
    problems = [value.exception(SLOW) for value in execution.results]

    assert errors_of(execution) == ["ZeroDivisionError: division by zero"]
    [diagnostic] = execution.diagnostics
    assert [problem.diagnostics[0] for problem in problems if problem] == [diagnostic] * 2
    assert diagnostic.location == Location("test.mlir", 4, 10)
    assert [note.message.split(",")[0] for note in diagnostic.notes] == ["raised in test"]


def fails(x: int) -> int:
    raise KernelError("no")


async def fails_later(x: int) -> int:
    await asyncio.sleep(0.01)
    raise KernelError("no")


@pytest.mark.parametrize("is_blocking", [False, True])
@pytest.mark.parametrize("function", [fails, fails_later])
def test_an_error_names_the_calls_around_its_kernel(
    run: Run, function: Callable[..., object], is_blocking: bool
) -> None:
    text = """func @inner(%x: i32) -> i32 {
  %r = tfrt.repeat.i32 %x, %x : i32 {
    %y = "my.test"(%x) : (i32) -> i32
    tfrt.return %y : i32
  }
  tfrt.return %r : i32
}
func @main(%x: i32) -> i32 {
  %r = tfrt.call @inner(%x) : (i32) -> i32
  tfrt.return %r : i32
}"""
    registry = standard_kernels()
    registry.add(user_kernel("my.test", function, blocking=is_blocking and function is fails))
    execution = run(text, 2, kernels=registry)

    assert errors_of(execution) == ["no"]
    assert [str(one) for one in execution.diagnostics[0].notes][-1:] == [
        "test.mlir:9:8: note: @inner was called here"
    ]


def test_an_error_names_a_few_of_many_calls(run: Run) -> None:
    functions = [
        f"""func @f{number}(%x: i32) -> i32 {{
  %r = tfrt.call @{f"f{number - 1}" if number else "last"}(%x) : (i32) -> i32
  tfrt.return %r : i32
}}
"""
        for number in range(11)
    ]
    last = call("i32", "%x").replace("@main", "@last").replace("my.test", "my.fails")
    execution = run(last + "".join(functions), 1, function="f10", kernels=kernels(fails))

    assert errors_of(execution) == ["no"]
    notes = [one.message for one in execution.diagnostics[0].notes]
    named = ["last", *(f"f{number}" for number in range(7))]
    assert notes == [*(f"@{name} was called here" for name in named), "and 3 more calls"]


@pytest.mark.parametrize("function", [fails, fails_later])
def test_only_the_innermost_calls_are_kept_for_a_kernel_that_may_never_fail(
    run: Run, function: Callable[..., object]
) -> None:
    text = """func @down(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %goes_on = tfrt.lessequal.i32 %one, %x
  %r = tfrt.if %goes_on, %x, %one : (i32, i32) -> i32 {
    %less = "tfrt.minus.i32"(%x, %one) : (i32, i32) -> i32
    %deeper = tfrt.call @down(%less) : (i32) -> i32
    tfrt.return %deeper : i32
  } else {
    %y = "my.test"(%x) : (i32) -> i32
    tfrt.return %y : i32
  }
  tfrt.return %r : i32
}
func @main(%x: i32) -> i32 {
  %r = tfrt.call @down(%x) : (i32) -> i32
  tfrt.return %r : i32
}"""
    registry = standard_kernels()
    registry.add(user_kernel("my.test", function))
    execution = run(text, 30, kernels=registry)

    assert errors_of(execution) == ["no"]
    notes = [str(one) for one in execution.diagnostics[0].notes]
    all_calls = [
        "test.mlir:6:15: note: @down was called here (30 nested calls)",
        "test.mlir:15:8: note: @down was called here",
    ]
    innermost = ["test.mlir:6:15: note: @down was called here (8 nested calls)"]
    is_later = function is fails_later
    assert notes == ([*innermost, "note: and more calls"] if is_later else all_calls)


def test_the_first_errors_of_a_run_name_all_calls(run: Run) -> None:
    text = """func @down(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %q, %rest = tfrt.div.i32 %x, %zero
  %goes_on = tfrt.lessequal.i32 %one, %x
  %r = tfrt.if %goes_on, %x, %one : (i32, i32) -> i32 {
    %less = "tfrt.minus.i32"(%x, %one) : (i32, i32) -> i32
    %deeper = tfrt.call @down(%less) : (i32) -> i32
    tfrt.return %deeper : i32
  } else {
    tfrt.return %x : i32
  }
  tfrt.return %r : i32
}"""
    execution = run(text, 40, function="down")

    assert errors_of(execution) == ["Divide by zero"] * 41
    last = [error.notes[-1].message for error in execution.diagnostics if error.notes]
    assert last.count("and more calls") in range(22, 34)
    assert "@down was called here" in last[0]


def test_a_kernel_error_has_the_kernel_s_words(run: Run) -> None:
    def test() -> int:
        raise KernelError("Shape mismatch")

    execution = run(call("i32"), 1, kernels=kernels(test))

    assert str(execution.results[0].exception(SLOW)) == "test.mlir:4:8: error: Shape mismatch"


def test_a_kernel_error_in_a_tuple_is_the_error_of_that_result_only(run: Run) -> None:
    def test(x: int) -> tuple[object, object]:
        return x, KernelError("only this one")

    first, second = run(call("i32, i32", "%x"), 3, kernels=kernels(test)).results

    assert first.result(SLOW) == 3
    with pytest.raises(TfrtError, match="only this one"):
        second.result(SLOW)


def test_a_kernel_without_results_may_fail_as_well(run: Run) -> None:
    def test() -> None:
        raise KernelError("nobody waits for this")

    text = 'func @main() {\n  "my.test"() : () -> ()\n  tfrt.return\n}'

    assert errors_of(run(text, kernels=kernels(test))) == ["nobody waits for this"]


def test_an_argument_with_a_default_may_be_left_out(run: Run) -> None:
    def test(x: int, y: int = 5) -> int:
        return x + y

    assert run(call("i32", "%x"), 1, kernels=kernels(test)).results[0].result(SLOW) == 6


def test_a_diagnostic_handler_that_raises_is_shown_and_stops_nobody(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def refuse(_: Diagnostic) -> None:
        raise RuntimeError("no more diagnostics")

    text = 'func @main() -> i32 {\n  %x = "tfrt_test.fail"() : () -> i32\n  tfrt.return %x : i32\n}'
    with HostContext("s", on_diagnostic=refuse) as host:
        execution = Program.from_source(text, "test.mlir").run(host)
        problem = execution.results[0].exception(SLOW)
        del execution

    assert str(problem) == "test.mlir:2:8: error: something bad happened"
    assert "no more diagnostics" in capsys.readouterr().err


# --- results that come later ---


def test_the_value_of_another_kernel_may_be_passed_on(run: Run) -> None:
    def test(frame: KernelFrame, value: AsyncValue) -> AsyncValue:
        assert (len(frame.arguments), frame.arguments[0] is value) == (1, True)
        return value

    execution = run(call("i32", "%x"), 8, kernels=kernels(test, raw=True))

    assert execution.results[0].result(SLOW) == 8


def test_a_blocking_kernel_runs_on_a_thread_of_its_own(run: Run) -> None:
    def test() -> str:
        return threading.current_thread().name

    name = run(call("!tfrt.string"), 1, kernels=kernels(test, blocking=True)).results[0]

    assert str(name.result(SLOW)).startswith("blocking ")


# --- kernels that use the runtime ---


def test_many_kernels_may_wait_within_each_other(run: Run) -> None:
    """While a kernel waits, its thread works for the queue, so it may start others that wait."""
    text = """
func @main(%n: i32) -> i32 {
  %r = "my.down"(%n) : (i32) -> i32
  tfrt.return %r : i32
}"""
    program = Program.from_source(text, "test.mlir")
    depth = 20

    def down(frame: KernelFrame, n: int) -> object:
        if n == 0:
            return 0
        inner = program.run(frame.host, "main", (n - 1,), kernels=registry, output=lambda _: None)
        total = inner.results[0].result(SLOW)
        assert isinstance(total, int)
        return total + n

    registry = kernels(down)
    assert run(text, depth, kernels=registry).results[0].result(SLOW) == depth * (depth + 1) // 2
    del registry["my.down"]  # the kernel holds its own registry


def test_a_kernel_may_cancel_its_run(run: Run) -> None:
    def test(frame: KernelFrame) -> int:
        frame.request.cancel("that is enough")
        return 1

    text = call("i32").replace("tfrt.return %r", "%t = tfrt.add.i32 %r, %r\n  tfrt.return %t")
    execution = run(text, 1, kernels=kernels(test))

    with pytest.raises(TfrtError, match="that is enough"):
        execution.results[0].result(SLOW)


def test_data_of_a_request_is_found_by_type(run: Run) -> None:
    def test(frame: KernelFrame, x: int) -> int:
        data = frame.request.data.setdefault(list, [])
        assert isinstance(data, list)
        data.append(x)
        return len(data)

    text = call("i32", "%x").replace(
        "tfrt.return %r", '%t = "my.test"(%r) : (i32) -> i32\n  tfrt.return %t'
    )
    assert run(text, 5, kernels=kernels(test)).results[0].result(SLOW) == 2


def test_an_error_of_an_argument_skips_the_kernel(run: Run) -> None:
    calls: list[int] = []

    def test(x: int) -> int:
        calls.append(x)
        return x

    text = """func @main() -> i32 {
  %x = "tfrt_test.fail"() : () -> i32
  %r = "my.test"(%x) : (i32) -> i32
  tfrt.return %r : i32
}"""
    execution = run(text, kernels=kernels(test))

    assert str(execution.results[0].exception(SLOW)) == (
        "test.mlir:2:8: error: something bad happened"
    )
    assert calls == []


# --- what may be wrong before a kernel runs ---
