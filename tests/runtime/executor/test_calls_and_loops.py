"""Test that calls and loops of any depth, length, or breadth do not end the process."""

from __future__ import annotations

import resource
from collections.abc import Callable

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.host.context import HostContext

Run = Callable[..., Execution]
SLOW = 60
SUM_TO = """
func @sum(%n: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %is_over = "tfrt.lessequal.i32"(%n, %zero) : (i32, i32) -> (i1)
  %r = tfrt.if %is_over, %n : (i32) -> (i32) {
    %nothing = tfrt.constant.i32 0
    tfrt.return %nothing : i32
  } else {
    %one = tfrt.constant.i32 1
    %less = tfrt.minus.i32 %n, %one
    %rest = tfrt.call @sum(%less) : (i32) -> (i32)
    %r = tfrt.add.i32 %n, %rest
    tfrt.return %r : i32
  }
  tfrt.return %r : i32
}
func @main(%n: i32) -> i32 {
  %r = tfrt.call @sum(%n) : (i32) -> (i32)
  tfrt.return %r : i32
}
"""

REPEAT = """
func @main(%n: i32) -> i32 {
  %zero = tfrt.constant.i32 0
  %r = tfrt.repeat.i32 %n, %zero : i32 {
    %one = tfrt.constant.i32 1
    %next = tfrt.add.i32 %zero, %one
    tfrt.return %next : i32
  }
  tfrt.return %r : i32
}
"""

WHILE = """
func @body(%left: i32, %total: i64) -> (i32, i64, i1) {
  %one = tfrt.constant.i32 1
  %next = tfrt.minus.i32 %left, %one
  %two = tfrt.constant.i64 2
  %sum = tfrt.add.i64 %total, %two
  %goes_on = "tfrt.lessequal.i32"(%one, %next) : (i32, i32) -> (i1)
  tfrt.return %next, %sum, %goes_on : i32, i64, i1
}
func @main(%n: i32) -> i64 {
  %zero = tfrt.constant.i64 0
  %yes = tfrt.constant.i1 true
  %r:2 = tfrt.while %yes @body(%n, %zero) parallel_iterations(1) : (i32, i64) -> (i32, i64)
  tfrt.return %r#1 : i64
}
"""

ASYNC_WHILE = """
func @body(%left: i32) -> (i32, i1) {
  %one = tfrt.constant.i32 -1
  %zero = tfrt.constant.i32 1
  %next = "tfrt_test.async_add.i32"(%left, %one) : (i32, i32) -> i32
  %goes_on = "tfrt.lessequal.i32"(%zero, %next) : (i32, i32) -> (i1)
  tfrt.return %next, %goes_on : i32, i1
}
func @main(%n: i32) -> i32 {
  %yes = tfrt.constant.i1 true
  %r = tfrt.while %yes @body(%n) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return %r : i32
}
"""


@pytest.mark.parametrize("depth", [0, 1, 1000, 200_000])
def test_a_recursion_may_be_deep(run: Run, depth: int) -> None:
    expected = (depth * (depth + 1) // 2 + 2**31) % 2**32 - 2**31

    assert run(SUM_TO, depth).results[0].result(SLOW) == expected


def largest_memory() -> int:
    """Return this process's peak memory, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.parametrize(("program", "factor"), [(REPEAT, 1), (WHILE, 2)], ids=["repeat", "while"])
def test_a_loop_takes_the_same_memory_however_long_it_runs(
    run: Run, program: str, factor: int
) -> None:
    run(program, 1000).results[0].result(SLOW)
    before = largest_memory()

    assert run(program, 1_000_000).results[0].result(SLOW) == factor * 1_000_000
    assert largest_memory() - before < 2_000


def test_a_loop_whose_condition_comes_late_takes_no_stack(run: Run) -> None:
    assert run(ASYNC_WHILE, 100_000).results[0].result(SLOW) == 0


def test_a_kernel_may_have_thousands_of_arguments_and_results(run: Run) -> None:
    count = 3000
    names = ", ".join(f"%c{i}" for i in range(count))
    types = ", ".join(["i32"] * count)
    constants = "\n".join(f"  %c{i} = tfrt.constant.i32 {i}" for i in range(count))
    text = f"""
func @main() -> i32 {{
{constants}
  %many:{count} = "tfrt_test.multi_arg_result"({names}) : ({types}) -> ({types})
  %sum = "tfrt_test.sum"({", ".join(f"%many#{i}" for i in range(count))}) : ({types}) -> i32
  tfrt.return %sum : i32
}}
"""
    assert run(text).results[0].result(SLOW) == count * (count - 1) // 2


# --- what lives how long ---


CONSTANTS = """
func @helper() -> i32 {
  %x = tfrt.constant.i32 7
  tfrt.return %x : i32
}
func @main(%y: i32) -> (i32, i32, i32, i32, i32) {
  %c = tfrt.new.chain
  %x = tfrt.constant.i32 42
  %same = "tfrt.alias.value"(%c, %x) : (!tfrt.chain, i32) -> i32
  %indirect = "tfrt_test.make_indirect"(%x) : (i32) -> i32
  %called = tfrt.call @helper() : () -> (i32)
  tfrt.return %x, %same, %indirect, %called, %y : i32, i32, i32, i32, i32
}
"""


def test_results_outlive_their_program(host: HostContext) -> None:
    """A constant belongs to its program, but the result of a run is a copy."""
    program = Program.from_source(CONSTANTS, "test.mlir")
    execution = program.run(host, "main", (1,))
    results = execution.results
    execution.wait(SLOW)
    del program, execution
    fill_memory()

    assert [value.result(0) for value in results] == [42, 42, 42, 7, 1]


def test_a_run_outlives_its_program(host: HostContext) -> None:
    """A kernel that waits for a value runs when it comes, even if the program was dropped."""
    from tfrt_runtime.host.values.async_value import make_unavailable

    value = make_unavailable(host.work_queue, "i32")
    text = "func @main(%x: i32) -> i32 {\n  %y = tfrt.add.i32 %x, %x\n  tfrt.return %y : i32\n}"
    results = Program.from_source(text, "test.mlir").run(host, "main", (value,)).results
    fill_memory()
    value.emplace(21)

    assert results[0].result(SLOW) == 42


def fill_memory() -> None:
    """Reuse freed memory, so that a dangling pointer finds something else."""
    [bytearray(b"\xaa" * size) for size in range(64, 4096, 8)]


def test_a_program_is_unloaded_when_nobody_holds_it(run: Run) -> None:
    """The leak check counts loaded programs."""
    for _ in range(3):
        assert run(CONSTANTS, 1).wait(SLOW)
