"""Test parallel loops with reductions: blocks reduce separately, and results stay the same."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import Location, TfrtError, error
from tfrt_runtime.host.context import HostContext

SLOW = 60
"""Many more seconds than any step here takes."""
WORKERS = [1, 2, 8]


def loop(dimensions: list[tuple[int, int, int]]) -> str:
    """Return a loop with a sum, a product modulo 2^64, and a maximum.

    Their numbers are computed from the indices.
    """
    rank = len(dimensions)
    bounds = "\n".join(
        f"  %lo{d} = arith.constant {lower} : index\n  %hi{d} = arith.constant {upper} : index\n"
        f"  %st{d} = arith.constant {step} : index"
        for d, (lower, upper, step) in enumerate(dimensions)
    )
    names = [", ".join(f"%{name}{d}" for d in range(rank)) for name in ("i", "lo", "hi", "st")]
    number = "\n".join(
        f"    %n{d} = arith.index_cast %i{d} : index to i64\n"
        f"    %m{d} = arith.muli %a{d}, %seven : i64\n"
        f"    %a{d + 1} = arith.addi %m{d}, %n{d} : i64"
        for d in range(rank)
    )
    return f"""func.func @main(%a0: i64) -> (i64, i64, i64) {{
{bounds}
  %seven = arith.constant 7 : i64
  %one = arith.constant 1 : i64
  %least = arith.constant -9223372036854775808 : i64
  %r:3 = scf.parallel ({names[0]}) = ({names[1]}) to ({names[2]}) step ({names[3]})
      init (%one, %one, %least) -> (i64, i64, i64) {{
{number}
    %odd = arith.ori %a{rank}, %one : i64
    scf.reduce(%a{rank}, %odd, %a{rank} : i64, i64, i64) {{
    ^bb0(%x: i64, %y: i64):
      %s = arith.addi %x, %y : i64
      scf.reduce.return %s : i64
    }}, {{
    ^bb0(%x: i64, %y: i64):
      %s = arith.muli %x, %y : i64
      scf.reduce.return %s : i64
    }}, {{
    ^bb0(%x: i64, %y: i64):
      %s = arith.maxsi %x, %y : i64
      scf.reduce.return %s : i64
    }}
  }}
  return %r#0, %r#1, %r#2 : i64, i64, i64
}}"""


def expected(dimensions: list[tuple[int, int, int]], start: int) -> list[int]:
    """Compute the same with Python's own loops."""
    numbers = [
        functools.reduce(lambda a, n: 7 * a + n, indices, start)
        for indices in itertools.product(*(range(*dimension) for dimension in dimensions))
    ]
    product = functools.reduce(lambda a, n: a * (n | 1) % 2**64, numbers, 1)
    signed = product - 2**64 if product >= 2**63 else product
    return [1 + sum(numbers), signed, max(numbers, default=-(2**63))]


DIMENSION = st.tuples(st.integers(-3, 3), st.integers(-3, 9), st.integers(1, 3))


@pytest.mark.parametrize("workers", WORKERS)
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
@given(
    dimensions=st.lists(DIMENSION, min_size=1, max_size=3),
    task_size=st.sampled_from([1, 3, 1000]),
    is_dispatched_by_halves=st.booleans(),
)
def test_any_loop_gives_what_a_sequential_one_does(
    workers: int,
    dimensions: list[tuple[int, int, int]],
    task_size: int,
    is_dispatched_by_halves: bool,
) -> None:
    options = (
        f"num-workers={workers} min-task-size={task_size} "
        f"async-dispatch={str(is_dispatched_by_halves).lower()}"
    )
    program = Program.from_source(loop(dimensions), "f.mlir", parallel_for=options)
    with HostContext("mstd:2") as host:
        run = program.run(host, "main", [5])
        found = [value.result(SLOW) for value in run.results]
        assert run.wait(SLOW)

    assert found == expected(dimensions, 5)


ORDERED = """
func.func @main(%m: memref<?xf64>) -> f64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %m, %c0 : memref<?xf64>
  %zero = arith.constant 0.0 : f64
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%zero) -> f64 {
    %x = memref.load %m[%i] : memref<?xf64>
    scf.reduce(%x : f64) {
    ^bb0(%a: f64, %b: f64):
      %s = arith.addf %a, %b : f64
      scf.reduce.return %s : f64
    }
  }
  return %r : f64
}"""


@pytest.mark.parametrize("queue", ["s", "mstd:4"])
def test_the_order_of_blocks_does_not_depend_on_who_computes_them(queue: str) -> None:
    random = np.random.default_rng(7)
    numbers = random.standard_normal(1000) * 10.0 ** random.uniform(-8, 8, 1000)
    options = "num-workers=4 min-task-size=1"
    program = Program.from_source(ORDERED, "f.mlir", parallel_for=options)
    size = -(-1000 // 32)
    parts = [
        functools.reduce(lambda a, b: a + b, numbers[start : start + size].tolist())
        for start in range(0, 1000, size)
    ]
    with HostContext(queue) as host:
        found = {program.run(host, "main", [numbers]).results[0].result(SLOW) for _ in range(20)}

    assert found == {functools.reduce(lambda a, b: a + b, parts, 0.0)}


def test_blocks_are_tasks() -> None:
    options = "num-workers=4 min-task-size=1"
    program = Program.from_source(ORDERED, "f.mlir", parallel_for=options, level=1)
    assert program._compiled is not None

    assert "async.runtime.spawn" in program._compiled.emit("async-runtime")


def test_a_reduction_that_fails_is_an_error_and_leaves_nothing_running(leak_check: None) -> None:
    text = ORDERED.replace(
        "    scf.reduce(%x",
        "    %ok = arith.cmpf oge, %x, %zero : f64\n"
        '    cf.assert %ok, "negative"\n    scf.reduce(%x',
    )
    numbers = np.ones(5000)
    numbers[[17, 4321]] = -1.0
    program = Program.from_source(text, "f.mlir", parallel_for="num-workers=2 min-task-size=8")
    line = text[: text.index("cf.assert")].count("\n") + 1
    with HostContext("mstd:2") as host:
        run = program.run(host, "main", [numbers])
        assert run.wait(SLOW)
        assert run.diagnostics == [error("negative", Location("f.mlir", line, 5))]
        with pytest.raises(TfrtError, match="negative"):
            run.results[0].result(0)


def test_without_the_pass_the_loop_is_sequential() -> None:
    with HostContext("s") as host:
        run = Program.from_source(ORDERED, "f.mlir").run(host, "main", [np.arange(10.0)])
        assert run.results[0].result(SLOW) == 45.0
