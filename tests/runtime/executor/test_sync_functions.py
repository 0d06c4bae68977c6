"""Test sync functions, whose kernels run in order; the first error ends a call."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.tracing.events import KINDS, logged
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable
from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.user import user_kernel

Run = Callable[..., Execution]
SLOW = 60


def sync(body: str, arguments: str = "", results: str = "i32") -> str:
    """`@main`, a sync function."""
    return f"func.func @main({arguments}) -> ({results}) attributes {{tfrt.sync}} {{\n{body}\n}}\n"


def number(name: str, value: int) -> str:
    """Return a constant."""
    return f'{name} = "tfrt.constant_s.i32"() {{value = {value} : i32}} : () -> i32'


def values_of(execution: Execution) -> list[object]:
    assert execution.wait(SLOW)
    return [value.result(0) for value in execution.results]


def message_of(value: AsyncValue) -> str:
    problem = value.exception(SLOW)
    assert problem is not None
    return problem.diagnostics[0].message


def test_unsigned_and_complex_constants_are_returned_as_they_are_written(run: Run) -> None:
    body = """  %c = tfrt.constant_s.ui32 4000000000
  %d = tfrt.constant_s.ui64 18000000000000000000
  %e = tfrt.constant_s.complex64 1.0, -4.0
  tfrt.return %c, %d, %e : ui32, ui64, complex<f32>"""
    execution = run(sync(body, results="ui32, ui64, complex<f32>"))
    assert values_of(execution) == [4_000_000_000, 18_000_000_000_000_000_000, 1 - 4j]


def test_arguments_of_every_kind_come_in_and_go_out(run: Run) -> None:
    kinds = ["i1", "i32", "i64", "f32", "f64", "!tfrt.string", "!tfrt.chain"]
    copies = [
        f'  %c{i} = "tfrt.copy_s"(%a{i}) : ({kind}) -> {kind}' for i, kind in enumerate(kinds)
    ]
    names = ", ".join(f"%c{i}" for i in range(len(kinds)))
    body = "\n".join([*copies, f"  tfrt.return {names} : {', '.join(kinds)}"])
    arguments = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(kinds))
    given = [True, -1, -(2**40), 0.5, 1e300, "text"]
    execution = run(sync(body, arguments, ", ".join(kinds)), *given, None)
    assert values_of(execution)[:-1] == given


# --- control ---

FIB = f"""
func.func @fib(%n: i32) -> i32 attributes {{tfrt.sync}} {{
  {number("%one", 1)}
  %is_small = tfrt.lessequal_s.i32 %n, %one
  %result = tfrt.if %is_small, %n : (i32) -> i32 {{
    tfrt.return %n : i32
  }} else {{
    {number("%one", 1)}
    %before = tfrt.minus_s.i32 %n, %one
    %first = tfrt.minus_s.i32 %before, %one
    %left = tfrt.call @fib(%before) : (i32) -> i32
    %right = tfrt.call @fib(%first) : (i32) -> i32
    %sum = "tfrt.add_s.i32"(%left, %right) : (i32, i32) -> i32
    tfrt.return %sum : i32
  }}
  tfrt.return %result : i32
}}
func.func @main(%n: i32) -> i32 {{
  %r = tfrt.call @fib(%n) : (i32) -> i32
  tfrt.return %r : i32
}}
"""

DOWN = f"""
func.func @sum(%n: i32) -> i32 attributes {{tfrt.sync}} {{
  {number("%zero", 0)}
  %is_over = tfrt.lessequal_s.i32 %n, %zero
  %r = tfrt.if %is_over, %n : (i32) -> i32 {{
    tfrt.return %n : i32
  }} else {{
    {number("%one", 1)}
    %less = tfrt.minus_s.i32 %n, %one
    %rest = tfrt.call @sum(%less) : (i32) -> i32
    %r = "tfrt.add_s.i32"(%n, %rest) : (i32, i32) -> i32
    tfrt.return %r : i32
  }}
  tfrt.return %r : i32
}}
"""

LOOP = sync(
    f"""
  {number("%zero", 0)}
  %r = tfrt.repeat.i32 %n, %zero : i32 {{
    {number("%one", 1)}
    %next = "tfrt.add_s.i32"(%zero, %one) : (i32, i32) -> i32
    tfrt.return %next : i32
  }}
  tfrt.return %r : i32""",
    "%n: i32",
)

ENDLESS = f"""
func.func @body(%x: i32) -> (i32, i1) attributes {{tfrt.sync}} {{
  {number("%one", 1)}
  %y = "tfrt.add_s.i32"(%x, %one) : (i32, i32) -> i32
  %yes = tfrt.constant_s.i1 true
  tfrt.return %y, %yes : i32, i1
}}
func.func @main() -> i32 attributes {{tfrt.sync}} {{
  {number("%x", 0)}
  %yes = tfrt.constant_s.i1 true
  %r = tfrt.while %yes @body(%x) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}}
"""


def test_a_deep_call_that_is_refused_memory_says_so_once_and_nothing_else() -> None:
    with HostContext("s", memory="4M", output=lambda _: None) as host:
        program = Program.from_source(DOWN, "test.mlir")
        execution = program.run(host, "sum", [300_000], tier="interpreter")
        assert execution.wait(SLOW)

    [problem] = execution.diagnostics
    assert re.match(
        r"out of memory: 'tfrt\.[a-z0-9_.]+' needs \d+ [KM]iB, but .* of the budget of 4 MiB",
        problem.message,
    )
    assert message_of(execution.results[0]) == problem.message


@pytest.mark.parametrize("depth", [1, 10, 100, 1000, 100_000])
def test_deep_calls_need_no_native_stack(run: Run, depth: int) -> None:
    expected = (depth * (depth + 1) // 2 + 2**31) % 2**32 - 2**31
    assert values_of(run(DOWN, depth, function="sum")) == [expected]


@pytest.mark.parametrize("rounds", [0, 1, 7, 10_000_000])
def test_a_loop_runs_as_many_rounds_as_are_asked_for(run: Run, rounds: int) -> None:
    assert values_of(run(LOOP, rounds)) == [rounds]


def test_more_values_than_a_frame_of_the_executor_holds(run: Run) -> None:
    count = 200
    names = [f"%v{i}" for i in range(count)]
    types = ", ".join(["i32"] * count)
    lines = [f"  {number(name, i)}" for i, name in enumerate(names)]
    body = "\n".join([*lines, f"  tfrt.return {', '.join(names)} : {types}"])
    text = sync(body, results=types)
    assert values_of(run(text)) == list(range(count))


# --- errors ---


def test_an_error_deep_in_calls_gives_up_every_frame(run: Run) -> None:
    text = f"""
func.func @down(%n: i32, %text: !tfrt.string) -> i32 attributes {{tfrt.sync}} {{
  {number("%one", 1)}
  %mine = "test.join"(%text, %n) : (!tfrt.string, i32) -> !tfrt.string
  %q, %r = tfrt.div_s.i32 %one, %n
  %less = tfrt.minus_s.i32 %n, %one
  %deeper = tfrt.call @down(%less, %mine) : (i32, !tfrt.string) -> i32
  %length = "test.length"(%mine) : (!tfrt.string) -> i32
  %sum = "tfrt.add_s.i32"(%deeper, %length) : (i32, i32) -> i32
  tfrt.return %sum : i32
}}"""
    kernels = standard_kernels()
    kernels.add(user_kernel("test.join", lambda text, n: f"{text}{n}"))
    kernels.add(user_kernel("test.length", lambda text: len(text)))
    execution = run(text, 200, "x", function="down", kernels=kernels)
    assert execution.wait(SLOW)
    assert message_of(execution.results[0]) == "Divide by zero"


# --- kernels in Python ---


def test_python_kernels_run_in_sync_functions(run: Run) -> None:
    kernels = standard_kernels()
    kernels.add(user_kernel("test.pair", lambda x, y: (x + y, f"{x}-{y}")))
    kernels.add(user_kernel("test.length", lambda text: len(text)))
    body = """
  %sum, %text = "test.pair"(%x, %y) : (i32, f64) -> (f64, !tfrt.string)
  %length = "test.length"(%text) : (!tfrt.string) -> i32
  %more = "tfrt.add_s.i32"(%length, %x) : (i32, i32) -> i32
  tfrt.return %sum, %text, %more : f64, !tfrt.string, i32"""
    text = sync(body, "%x: i32, %y: f64", "f64, !tfrt.string, i32")
    assert values_of(run(text, 2, 0.5, kernels=kernels)) == [2.5, "2-0.5", 7]


def test_what_a_python_kernel_raises_ends_the_function(run: Run) -> None:
    seen: list[int] = []

    def choosy(x: int) -> int:
        seen.append(x)
        if x > 2:
            raise KernelError("too large")
        return x

    kernels = standard_kernels()
    kernels.add(user_kernel("test.choosy", choosy))
    body = f"""
  {number("%start", 1)}
  {number("%step", 1)}
  %r:2 = tfrt.repeat.i32 %n, %start, %step : i32, i32 {{
    %x = "test.choosy"(%start) : (i32) -> i32
    %next = "tfrt.add_s.i32"(%x, %step) : (i32, i32) -> i32
    tfrt.return %next, %step : i32, i32
  }}
  tfrt.return %r#0 : i32"""
    execution = run(sync(body, "%n: i32"), 10, kernels=kernels)
    assert execution.wait(SLOW)

    assert message_of(execution.results[0]) == "too large"
    assert seen == [1, 2, 3]


def test_a_kernel_that_is_late_is_an_error(run: Run, host: HostContext) -> None:
    late = make_unavailable(host.work_queue, "i32")
    kernels = standard_kernels()
    kernels.add(user_kernel("test.late", lambda: late))
    text = sync('  %x = "test.late"() : () -> i32\n  tfrt.return %x : i32')
    execution = run(text, kernels=kernels)
    message = message_of(execution.results[0])
    late.emplace(1)
    assert execution.wait(SLOW)
    assert message == "the kernel's result is not available yet, and a sync function does not wait"


# --- long runs ---


def test_cancelling_ends_an_endless_loop(run: Run) -> None:
    execution = run(ENDLESS)
    threading.Thread(target=execution.cancel).start()
    assert execution.wait(SLOW)
    assert message_of(execution.results[0]) == "Cancelled"


def test_an_endless_recursion_of_loops_is_cancelled(run: Run) -> None:
    text = FIB.replace("@main(%n: i32)", "@start(%n: i32)").replace("@fib", "@main")
    execution = run(text, 60)
    assert not execution.wait(0.05)
    execution.cancel("enough")
    assert execution.wait(SLOW)
    assert message_of(execution.results[0]) == "enough"


def test_two_long_functions_on_one_thread_both_end(run: Run) -> None:
    first, second = run(LOOP, 3_000_000), run(LOOP, 2_000_000)
    assert values_of(second) == [2_000_000]
    assert values_of(first) == [3_000_000]


# --- events ---


def test_registers_are_seen_in_a_watched_run(run: Run) -> None:
    body = """
  %y = "tfrt.add_s.i32"(%x, %x) : (i32, i32) -> i32
  %z = "tfrt.add_s.i32"(%y, %x) : (i32, i32) -> i32
  %r = tfrt.repeat.i32 %x, %z : i32 {
    %n = "tfrt.add_s.i32"(%z, %z) : (i32, i32) -> i32
    tfrt.return %n : i32
  }
  tfrt.return %r : i32"""
    execution = run(sync(body, "%x: i32"), 3, watch=True)
    assert execution.wait(SLOW)
    assert execution.watch is not None
    seen: dict[tuple[int, int], list[int]] = {}
    calls = 0
    for _, function, register, _, kind, _, payload in logged(execution.watch.take()):
        calls += kind == KINDS.index("call")
        if kind == KINDS.index("available"):
            seen.setdefault((function, register), []).append(payload & 0xFFFFFFFF)

    assert seen == {
        (0, 0): [9, 18, 36],
        (0, 1): [18, 36, 72],
        (1, 0): [3],
        (1, 1): [6],
        (1, 2): [9],
        (1, 3): [72],
    }
    # the function itself, and three iterations
    assert calls == 4
