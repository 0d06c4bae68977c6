"""Test non-strict kernels, which run when one argument is available and may not need the others."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelRegistry
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.user import user_kernel

Run = Callable[..., Execution]
SLOW = 60

CALL = """
func @first(%x: i32, %y: i32) -> i32 {
  tfrt.return %x : i32
}
func @sum(%x: i32, %y: i32) -> i32 {
  %r = tfrt.add.i32 %x, %y
  tfrt.return %r : i32
}
func @main(%x: i32, %y: i32) -> i32 {
  %r = tfrt.call @CALLEE(%x, %y) {bef.nonstrict} : (i32, i32) -> (i32)
  tfrt.return %r : i32
}
"""


def unavailable(host: HostContext) -> AsyncValue:
    return make_unavailable(host.work_queue, "i32")


def states(values: list[AsyncValue]) -> list[State]:
    return [value.state for value in values]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_callee_defers_what_needs_the_missing_argument(
    host: HostContext, run: Run, order: tuple[int, int]
) -> None:
    values = unavailable(host), unavailable(host)
    execution = run(CALL.replace("CALLEE", "sum"), *values)
    for position in order:
        execution.wait_for_results(0)
        assert execution.results[0].state is State.UNAVAILABLE
        values[position].emplace(20 + position)

    assert execution.results[0].result(SLOW) == 41


def test_an_error_argument_reaches_the_callee(host: HostContext, run: Run) -> None:
    """The callee starts if an argument is an error, and only operations that use it are skipped."""
    failed = unavailable(host)
    failed.set_error(error("bad"))

    assert run(CALL.replace("CALLEE", "first"), 42, failed).results[0].result(SLOW) == 42
    with pytest.raises(TfrtError, match="bad"):
        run(CALL.replace("CALLEE", "sum"), 42, failed).results[0].result(SLOW)


IF = """
func @main(%c: i1, %x: i32, %y: i32) -> i32 {
  %r = tfrt.if %c, %x, %y {bef.nonstrict} : (i32, i32) -> (i32) {
    tfrt.return %x : i32
  } else {
    tfrt.return %y : i32
  }
  tfrt.return %r : i32
}
"""


@pytest.mark.parametrize("condition", [True, False])
def test_an_if_waits_for_its_condition_only(host: HostContext, run: Run, condition: bool) -> None:
    text = IF.replace("tfrt.if %c, %x, %y {bef.nonstrict}", "tfrt.if %c, %x, %y")
    text = text.replace(
        ": (i32, i32) -> (i32) {", "attributes {bef.nonstrict} : (i32, i32) -> (i32) {"
    )
    late = unavailable(host)
    arguments = (condition, 1, late) if condition else (condition, late, 1)
    execution = run(text, *arguments)
    early = execution.results[0].result(SLOW)
    late.emplace(0)

    assert early == 1
    assert execution.wait(SLOW)


def ternary_kernels() -> KernelRegistry:
    """Return kernels with the reference's example.

    It is a kernel that forwards one of two values, which it does not read.
    """

    def ternary(
        frame: KernelFrame, condition: AsyncValue, true_result: AsyncValue, false_result: AsyncValue
    ) -> AsyncValue:
        if not condition.done():
            return waiting(frame, condition, true_result, false_result)
        return true_result if condition.result(0) else false_result

    def waiting(
        frame: KernelFrame, condition: AsyncValue, true_result: AsyncValue, false_result: AsyncValue
    ) -> AsyncValue:
        result = frame.allocate()

        def choose() -> None:
            chosen = true_result if condition.result(0) else false_result
            chosen.add_done_callback(lambda value: result.emplace(value.result(0)))

        condition.and_then(choose)
        return result

    registry = standard_kernels()
    registry.add(user_kernel("my.ternary", ternary, raw=True))
    return registry


TERNARY = """
func @main(%c: i1, %x: i32, %y: i32) -> i32 {
  %r = "my.ternary"(%c, %x, %y) {bef.nonstrict} : (i1, i32, i32) -> i32
  tfrt.return %r : i32
}
"""


def test_a_kernel_in_python_may_be_nonstrict(host: HostContext, run: Run) -> None:
    late = unavailable(host)
    execution = run(TERNARY, True, 1, late, kernels=ternary_kernels())
    early = execution.results[0].result(SLOW)
    late.emplace(2)

    assert early == 1


def test_a_nonstrict_kernel_may_return_an_unavailable_value(host: HostContext, run: Run) -> None:
    condition, late = make_unavailable(host.work_queue, "i1"), unavailable(host)
    execution = run(TERNARY, condition, 1, late, kernels=ternary_kernels())
    seen = []
    for value in (condition, late):
        execution.wait_for_results(0)
        seen += states(execution.results)
        value.emplace(0)
    seen += [execution.results[0].result(SLOW)]

    assert seen == [State.UNAVAILABLE, State.UNAVAILABLE, 0]


def test_a_kernel_that_must_see_its_arguments_cannot_be_nonstrict(host: HostContext) -> None:
    text = """func @main(%x: i32) -> i32 {
  %r = "tfrt_test.async_copy.i32"(%x) {bef.nonstrict} : (i32) -> i32
  tfrt.return %r : i32
}"""
    with pytest.raises(TfrtError, match="'tfrt_test.async_copy.i32' cannot run non-strictly"):
        Program.from_source(text, "test.mlir").run(host, "main", (1,))


def test_a_nonstrict_file_comes_back_from_its_bytes(host: HostContext) -> None:
    program = Program.from_source(CALL.replace("CALLEE", "first"), "test.mlir")
    late = unavailable(host)
    execution = Program.from_bef(program.bef, "test.bef").run(host, "main", (42, late))
    early = execution.results[0].result(SLOW)
    late.emplace(1)

    assert early == 42
