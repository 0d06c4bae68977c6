"""Run the examples of TFRT's host runtime design verbatim, and check what it says about each.

Quotations in docstrings and comments are from the design document. Rover kernels wait until the
test lets them answer, so that "before" and "after" are facts and not a matter of luck.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import AsyncValue, make_unavailable
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelRegistry
from tfrt_runtime.kernels.standard import standard_kernels
from tfrt_runtime.kernels.users.user import user_kernel

SLOW = 60
"""The number of seconds after which a waiting test has failed."""


def run(
    host: HostContext,
    text: str,
    function: str,
    *arguments: object,
    kernels: KernelRegistry | None = None,
) -> Execution:
    program = Program.from_source(text, "seed.mlir")
    return program.run(host, function, arguments, kernels=kernels, output=lambda _: None)


def outcome(execution: Execution) -> tuple[list[object], str]:
    """Return a run's results and output, after nothing of the run is left to do."""
    assert execution.wait(SLOW)
    return [value.result() for value in execution.results], execution.output


@dataclass
class Mars:
    """Implements `tfrt.async.read.from.mars`; the test gives its answer."""

    may_answer: threading.Event = field(default_factory=threading.Event)
    readers: list[str] = field(default_factory=list)

    def read(self) -> int:
        self.readers.append(threading.current_thread().name)
        assert self.may_answer.wait(SLOW)
        return 7

    def kernels(self) -> KernelRegistry:
        registry = standard_kernels()
        registry.replace(user_kernel("tfrt.async.read.from.mars", self.read, blocking=True))
        return registry


# --- graph execution ---

SAMPLE_FUNCTION = r"""
func @sample_function() -> i32 {
  %one = tfrt.constant.i32 1       // Make AsyncValue with value 1
  %two = tfrt.constant.i32 2       // Make AsyncValue with value 2
  %three = tfrt.add.i32 %one, %two // Make AsyncValue with value 3 (1+2)

  tfrt.print.i32 %three            // Print AsyncValue %three
  tfrt.return %three : i32         // Return AsyncValue %three
}
"""


def test_the_sample_function_prints_and_returns_three(host: HostContext) -> None:
    assert outcome(run(host, SAMPLE_FUNCTION, "sample_function")) == ([3], "int32 = 3\n")


SAMPLE_FUNCTION_WITH_CHAIN = r"""
func @sample_function(%ch0 : !tfrt.chain) -> (i32, !tfrt.chain) {
    // %one is an AsyncValue with constant 1.
    %one = tfrt.constant.i32 1
    // %two is an AsyncValue with constant 2.
    %two = tfrt.constant.i32 2
    // %three is an AsyncValue with constant 3.
    %three = tfrt.add.i32 %one, %two
    // Print %three and produce chain %ch1.
    %ch1 = tfrt.print.i32 %three, %ch0
    // Returns %three and %ch1.
    tfrt.return %three, %ch1 : i32, !tfrt.chain
}
"""


def test_the_sample_function_prints_when_its_chain_is_there(host: HostContext) -> None:
    """ "A Chain orders its consumer after its producer." """
    chain = make_unavailable(host.work_queue, "!tfrt.chain")
    execution = run(host, SAMPLE_FUNCTION_WITH_CHAIN, "sample_function", chain)
    before = execution.results[0].result(SLOW), execution.results[1].state, execution.output
    chain.emplace()
    [three, _], output = outcome(execution)

    assert before == (3, State.UNAVAILABLE, "")
    assert (three, output) == (3, "int32 = 3\n")


# --- dependency management ---

CONTROL_DEP0 = r"""
func @control_dep0() {
  %a = dht.create_uninit_tensor.i32.2 [2: i32, 2: i32]
  dht.fill_tensor.i32 %a 41
  dht.print_tensor.i32 %a
}
"""

CONTROL_DEP1 = r"""
func @control_dep1() {
  %a = dht.create_uninit_tensor.i32.2 [2 : i32, 2 : i32]
  %chain1 = dht.fill_tensor.i32 %a, 41
  %chain2 = dht.print_tensor.i32 %a, %chain1
 }
"""
FILLED = "DenseHostTensor dtype = i32, shape = [2, 2], values = [41, 41, 41, 41]\n"


def test_without_a_chain_the_order_of_effects_is_open(host: HostContext) -> None:
    """ "the `print_tensor` kernel is not guaranteed to execute after the `fill_tensor` kernel" """
    results, output = outcome(run(host, CONTROL_DEP0, "control_dep0"))

    assert results == []
    assert output.startswith("DenseHostTensor dtype = i32, shape = [2, 2], values = [")


def test_a_chain_orders_effects(host: HostContext) -> None:
    """ "explicitly order `dht.print_tensor` after `dht.fill_tensor`" """
    for _ in range(20):
        assert outcome(run(host, CONTROL_DEP1, "control_dep1")) == ([], FILLED)


@pytest.mark.parametrize("name", ["tfrt.print.i32", "hex.print.i32"])
def test_a_return_may_be_left_out_behind_a_chain_in_both_spellings(
    host: HostContext, name: str
) -> None:
    text = f"""func @main() {{
      %c = tfrt.new.chain
      %x = tfrt.constant.i32 3
      {name} %x, %c
    }}"""
    assert outcome(run(host, text, "main")) == ([], "int32 = 3\n")


@pytest.mark.parametrize("name", ["tfrt.constant.i32", "hex.constant.i32"])
def test_a_return_is_asked_for_behind_other_values_in_both_spellings(name: str) -> None:
    with pytest.raises(TfrtError, match="end the function with 'tfrt.return'"):
        Program.from_source(f"func @main() {{ %a = {name} 1 }}", "seed.mlir")


# --- execution examples ---

DOUBLE_AND_PRINT = r"""
func @double_and_print() -> i32 {
  %x = tfrt.constant.i32 42

  // * The ‘+’ in TFRTAddI32 runs synchronously, on the thread that called
  //   Execute(@double_and_print)
  // * TFRTAddI32 returns an available ConcreteAsyncValue<int32_t>
  // * %y points at this available value
  %y = tfrt.add.i32 %x, %x

  // printf in TFRTPrintI32 also run synchronously on the same thread, after
  // TFRTAddI32 due to dataflow dependence on %y
  tfrt.print.i32 %y

  // Returns available ConcreteAsyncValue<int32_t> after TFRTPrintI32
  // completes.
  // Note: tfrt.return is a special form that does not run a kernel. Chain
  // is not needed to sequence the tfrt.print.i32 above, before the
  // tfrt.return below. See Note below.
  tfrt.return %y : i32
}
"""


def test_synchronous_kernels_run_one_after_the_other(host: HostContext) -> None:
    assert outcome(run(host, DOUBLE_AND_PRINT, "double_and_print")) == ([84], "int32 = 84\n")


PRINT_FROM_MARS = r"""
func @print_from_mars() -> i32 {
  // * EnqueueBlockingWork in TFRTAsyncReadI32FromMars runs synchronously on
  //   the thread that calls Execute(print_from_mars)
  // * BlockingRead runs asynchronously on a WorkQueue thread
  // * TFRTAsyncReadFromMars returns an unavailable
  //   ConcreteAsyncValue<int32_t>
  // * %y points at this unavailable value
  %y = tfrt.async.read.from.mars

  // * TFRTPrintI32 will not run until %y becomes available
  // * TFRTPrintI32 runs synchronously on the WorkQueue thread that produced
  //   %y
  tfrt.print.i32 %y

  // Returns unavailable ConcreteAsyncValue<int32_t>, before %y becomes
  // available
  tfrt.return %y : i32
}
"""


def test_an_asynchronous_kernel_returns_before_its_value_is_there(host: HostContext) -> None:
    mars = Mars()
    execution = run(host, PRINT_FROM_MARS, "print_from_mars", kernels=mars.kernels())
    execution.wait_for_results(0.01)
    before = execution.results[0].state, execution.output
    mars.may_answer.set()

    assert before == (State.UNAVAILABLE, "")
    assert outcome(execution) == ([7], "int32 = 7\n")
    assert [name.startswith("blocking ") for name in mars.readers] == [True]


def test_the_rover_of_the_runtime_answers_by_itself(host: HostContext) -> None:
    [answer], output = outcome(run(host, PRINT_FROM_MARS, "print_from_mars"))

    assert output == f"int32 = {answer}\n"


PARTIALLY_ASYNCHRONOUS = r"""
func @both(%x: i32) -> (i32, i32) {
  %sync, %async = "my.sync.async"(%x) : (i32) -> (i32, i32)
  tfrt.return %sync, %async : i32, i32
}
"""


def test_a_kernel_may_be_partially_asynchronous(host: HostContext) -> None:
    """ "by returning a mix of available and unavailable values" """
    promised: list[AsyncValue] = []

    def sync_async(frame: KernelFrame, x: int) -> tuple[object, object]:
        promised.append(frame.allocate(1))
        return x + x, promised[0]

    registry = standard_kernels()
    registry.add(user_kernel("my.sync.async", sync_async))
    execution = run(host, PARTIALLY_ASYNCHRONOUS, "both", 4, kernels=registry)
    sync, later = execution.results
    before = sync.result(SLOW), later.state
    promised[0].emplace(9)

    assert before == (8, State.UNAVAILABLE)
    assert later.result(SLOW) == 9


# --- non-strict control flow ---

SLOW_CALL = r"""
// Return first arg, ignore second arg.
func @return_first_arg(%x: i32, %y: i32) -> i32 {
  tfrt.return %x : i32
}

func @slow_call() -> i32 {
  %x = tfrt.constant.i32 42
  %y = tfrt.async.read.from.mars
  // Executor defers tfrt.call until %y is available, but @return_first_arg
  // won’t use %y!
  %z = tfrt.call @return_first_arg(%x, %y) : (i32) -> (i32)

  // Returns before %y becomes available. %z is an unavailable
  // IndirectAsyncValue
  tfrt.return %z : i32
}
"""

FAST_CALL = r"""
func @return_first_arg(%x: i32, %y: i32) -> i32 {
  tfrt.return %x : i32
}

func @fast_call() -> i32 {
  %x = tfrt.constant.i32 42
  %y = tfrt.async.read.from.mars
  // * The calling executor invokes this nonstrict tfrt.call when any
  //   argument is available. %x is available!
  // * If a kernel in @return_first_arg used %y, called executor would
  //   defer execution of that kernel until it becomes available.
  %z = tfrt.call @return_first_arg(%x, %y) {bef.nonstrict} : (i32) -> (i32)

  // Returns before %y becomes available. %z is a available
  // ConcreteAsyncValue<int32_t>. %y is off the critical path.
  tfrt.return %z : i32
}
"""


def corrected(text: str) -> str:
    """Return the program with two operands in the call's type, which lists only one of them."""
    return text.replace(": (i32) -> (i32)", ": (i32, i32) -> (i32)")


@pytest.mark.parametrize("text", [SLOW_CALL, FAST_CALL], ids=["slow", "fast"])
def test_the_calls_of_the_document_list_one_type_for_two_operands(text: str) -> None:
    with pytest.raises(TfrtError) as refused:
        Program.from_source(text, "seed.mlir")

    [diagnostic] = refused.value.diagnostics
    assert diagnostic.message == "2 operands given, but 1 type listed: write (i32, i32)"


def test_a_strict_call_waits_for_an_argument_that_it_does_not_need(host: HostContext) -> None:
    """ "the executor must defer `tfrt.call` until `%y` becomes available, even though
    `return_first_arg` does not actually use `%y`"
    """
    mars = Mars()
    execution = run(host, corrected(SLOW_CALL), "slow_call", kernels=mars.kernels())
    execution.wait_for_results(0.01)
    [z] = execution.results
    before = z.state, z.is_indirect
    mars.may_answer.set()

    assert before == (State.UNAVAILABLE, True)
    assert outcome(execution) == ([42], "")


def test_a_nonstrict_call_does_not_wait(host: HostContext) -> None:
    """ "the executor can run `tfrt.call` immediately after `%x` is available" """
    mars = Mars()
    execution = run(host, corrected(FAST_CALL), "fast_call", kernels=mars.kernels())
    before = execution.results[0].result(SLOW), execution.is_done
    mars.may_answer.set()

    assert before == (42, False)
    assert outcome(execution) == ([42], "")


# --- errors ---

MATMUL = r"""
func @matmul() -> (!tfrt.chain, i32) {
  %ch = tfrt.new.chain
  %one = tfrt.constant.f32 1.0
  %a = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 3 : i64]
  %b = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %c = tfrt_dht.create_uninitialized_tensor.f32.2 [2 : i64, 2 : i64]
  %ch1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %ch 1.0 : f32
  %ch2 = tfrt_dht.fill_tensor_with_constant.f32 %b, %ch1 1.0 : f32
  %ch3 = tfrt_dht.fill_tensor_with_constant.f32 %c, %ch2 0.0 : f32
  %ch4 = "tfrt_test.matmul.f32.2"(%one, %a, %b, %one, %c, %ch3)
    : (f32, !t.tensor, !t.tensor, f32, !t.tensor, !tfrt.chain) -> !tfrt.chain
  %ch5 = tfrt_dht.print_tensor %c, %ch4
  %other = tfrt.constant.i32 5
  %ch6 = tfrt.print.i32 %other, %ch
  %sum = tfrt.add.i32 %other, %other
  tfrt.return %ch5, %sum : !tfrt.chain, i32
}
"""


def test_only_what_is_downstream_of_an_error_is_skipped(host: HostContext) -> None:
    """ "when a kernel encounters an error, only the affected downstream kernels are skipped" """
    execution = run(host, MATMUL, "matmul")
    assert execution.wait(SLOW)
    chain, total = execution.results
    problem = chain.exception()

    assert problem is not None
    assert problem.diagnostics == tuple(execution.diagnostics)
    [diagnostic] = execution.diagnostics
    assert diagnostic.message.startswith("MatMul argument tensors inner dimension mismatch")
    assert str(diagnostic.location) == "seed.mlir:11:10"
    assert (total.result(), execution.output) == (10, "int32 = 5\n")


# --- cancellation ---


def test_a_pending_execution_can_be_cancelled_at_any_time(host: HostContext) -> None:
    """ "the user can cancel pending execution at any time and kernels that have not been scheduled
    are skipped"
    """
    mars = Mars()
    execution = run(host, PRINT_FROM_MARS, "print_from_mars", kernels=mars.kernels())
    execution.wait_for_results(0.01)
    cancelled = execution.cancel()
    mars.may_answer.set()
    assert execution.wait(SLOW)

    assert cancelled
    assert execution.output == ""  # the print had not been scheduled


# --- AsyncValue ---


class Payload:
    """Counts its live instances."""

    alive = 0

    def __init__(self) -> None:
        Payload.alive += 1

    def __del__(self) -> None:
        Payload.alive -= 1


def test_a_value_lives_until_the_last_kernel_that_uses_it(host: HostContext) -> None:
    """ "The `AsyncValue` object is destroyed once all of the references are dropped." """
    seen: list[int] = []

    def make() -> Payload:
        return Payload()

    def use(payload: Payload) -> None:
        assert isinstance(payload, Payload)

    def count() -> int:
        seen.append(Payload.alive)
        return Payload.alive

    registry = standard_kernels()
    for function in (make, use, count):
        registry.add(user_kernel(f"my.{function.__name__}", function))
    text = """
func @main() -> i32 {
  %p = "my.make"() : () -> !my.payload
  %c1 = "my.use"(%p) : (!my.payload) -> !tfrt.chain
  %c2 = "my.use"(%p, %c1) : (!my.payload, !tfrt.chain) -> !tfrt.chain
  %n = "my.count"(%c2) : (!tfrt.chain) -> i32
  tfrt.return %n : i32
}"""
    assert outcome(run(host, text, "main", kernels=registry)) == ([0], "")
    assert seen == [0]


def test_a_kernel_extends_the_life_of_a_value_by_keeping_it(host: HostContext) -> None:
    """ "Downstream kernels may extend the lifetime of the `AsyncValue`" """
    kept: list[AsyncValue] = []

    def keep(value: AsyncValue) -> None:
        kept.append(value)

    registry = standard_kernels()
    registry.add(user_kernel("my.keep", keep, raw=True))
    text = """
func @main(%x: i32) {
  %y = tfrt.add.i32 %x, %x
  %c = "my.keep"(%y) : (i32) -> !tfrt.chain
  tfrt.return
}"""
    assert outcome(run(host, text, "main", 21, kernels=registry)) == ([], "")
    assert [(value.result(0), value.references) for value in kept] == [(42, 1)]


def test_what_is_unknown_when_a_function_returns_is_indirect(host: HostContext) -> None:
    """ "we create an `IndirectAsyncValue` as a placeholder" """
    late = make_unavailable(host.work_queue, "i32")
    text = """
func @main(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}"""
    execution = run(host, text, "main", late)
    [result] = execution.results
    execution.wait_for_results(0.01)
    before = result.is_indirect, result.state
    late.emplace(4)

    assert before == (True, State.UNAVAILABLE)
    assert result.result(SLOW) == 8


# --- the runtime environment ---


def test_kernels_and_their_work_share_the_same_threads() -> None:
    """ "use the same set of threads to dispatch kernels and run computations in them" """
    names: set[str] = set()

    def work(_: int) -> int:
        names.add(threading.current_thread().name)
        return 1

    registry = standard_kernels()
    registry.add(user_kernel("my.work", work))
    lines = [f'  %r{i} = "my.work"(%x) : (i32) -> i32' for i in range(50)]
    text = "\n".join(["func @main(%x: i32) {", *lines, "  tfrt.return", "}"])
    with HostContext("mstd:2") as host:
        assert outcome(run(host, text, "main", 1, kernels=registry)) == ([], "")

    assert names <= {"MainThread", "worker 1", "worker 2"}
