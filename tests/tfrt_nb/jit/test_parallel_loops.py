"""Test that each iteration of a parallel loop runs exactly once, for any division into blocks."""

from __future__ import annotations

import threading

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tfrt_nb import HostContext, Program, external
from tfrt_runtime.async_runtime import externals

DIMENSION = st.tuples(
    st.integers(-5, 5),  # lower bound
    st.integers(0, 7),  # trip count
    st.integers(1, 3),  # step
)
OPTIONS = st.fixed_dictionaries(
    {
        "num-workers": st.integers(1, 9),
        "min-task-size": st.integers(1, 12),
        "async-dispatch": st.sampled_from(["true", "false"]),
    }
)


def program(dimensions: list[tuple[int, int, int]], options: dict[str, object]) -> str:
    """Return a program that counts visits in a buffer with a cell per iteration.

    It prints how many cells have one visit, and how many do not.
    """
    settings = " ".join(f"{name}={value}" for name, value in options.items())
    constants, slot = [], []
    for number, (lower, trips, step) in enumerate(dimensions):
        bounds = {"l": lower, "u": lower + trips * step, "s": step, "t": trips}
        constants += [
            f"%{letter}{number} = arith.constant {value} : index"
            for letter, value in bounds.items()
        ]
        slot += [
            f"%d{number} = arith.subi %i{number}, %l{number} : index",
            f"%q{number} = arith.divsi %d{number}, %s{number} : index",
            f"%m{number} = arith.muli %k{number}, %t{number} : index",
            f"%k{number + 1} = arith.addi %m{number}, %q{number} : index",
        ]
    rank = range(len(dimensions))
    listed = {letter: ", ".join(f"%{letter}{number}" for number in rank) for letter in "ilus"}
    new_line = "\n  "
    cells = 1
    for _, trips, _ in dimensions:
        cells *= trips
    return f"""// parallel-for: {settings}
func.func @main() {{
  %k0 = arith.constant 0 : index
  %one = arith.constant 1 : index
  %cells = arith.constant {cells} : index
  {new_line.join(constants)}
  %zero = arith.constant 0 : i64
  %first = arith.constant 1 : i64
  %m = memref.alloc(%cells) : memref<?xi64>
  scf.for %c = %k0 to %cells step %one {{
    memref.store %zero, %m[%c] : memref<?xi64>
  }}
  scf.parallel ({listed["i"]}) = ({listed["l"]}) to ({listed["u"]}) step ({listed["s"]}) {{
    {new_line.join(slot)}
    %v = memref.load %m[%k{len(dimensions)}] : memref<?xi64>
    %w = arith.addi %v, %first : i64
    memref.store %w, %m[%k{len(dimensions)}] : memref<?xi64>
  }}
  %r = scf.for %c = %k0 to %cells step %one iter_args(%n = %zero) -> (i64) {{
    %v = memref.load %m[%c] : memref<?xi64>
    %is_one = arith.cmpi eq, %v, %first : i64
    %x = arith.extui %is_one : i1 to i64
    %y = arith.addi %n, %x : i64
    scf.yield %y : i64
  }}
  call @printI64(%r) : (i64) -> ()
  return
}}
func.func private @printI64(i64)
"""


@given(st.lists(DIMENSION, min_size=1, max_size=3), OPTIONS)
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow])
def test_each_iteration_runs_once(
    run, outcome, dimensions: list[tuple[int, int, int]], options: dict[str, object]
) -> None:
    cells = 1
    for _, trips, _ in dimensions:
        cells *= trips

    assert run(program(dimensions, options)) == outcome(str(cells))


SLOW = 60
"""Many more seconds than any step here takes."""
SQUARES = """
func.func private @meet(i64)
func.func @main(%count: i64) -> memref<?xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %n = arith.index_cast %count : i64 to index
  %m = memref.alloc(%n) : memref<?xf32>
  %squares, %done = async.parallel_for (%i) = (%zero) to (%n) step (%one) {
    %k = arith.index_cast %i : index to i64
    func.call @meet(%k) : (i64) -> ()
    %x = arith.sitofp %k : i64 to f32
    %square = arith.mulf %x, %x : f32
    memref.store %square, %m[%i] : memref<?xf32>
    async.yield %m : memref<?xf32>
  } : memref<?xf32>, !async.handle
  async.await %done : !async.handle
  return %squares : memref<?xf32>
}
"""


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("through_a_file", [False, True])
def test_iterations_of_an_async_loop_meet_without_any_option(
    level: int, through_a_file: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(externals, "_registered", {})
    meeting = threading.Barrier(2)

    @external("meet", "(i64) -> ()")
    def meet(number: int) -> None:
        if number < 2:
            meeting.wait(SLOW)

    program = Program(SQUARES, level=level)
    if through_a_file:
        program = Program.from_bef(program.bef)

    with HostContext("mstd:2") as host:
        assert program.run(7, host=host).result().tolist() == [0, 1, 4, 9, 16, 25, 36]


def test_iterations_of_an_async_loop_share_the_thread_of_a_queue_without_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(externals, "_registered", {})
    seen: list[tuple[int, int]] = []
    external("meet", "(i64) -> ()")(lambda n: seen.append((n, threading.get_ident())))

    with HostContext("s") as host:
        assert Program(SQUARES).run(3, host=host).result().tolist() == [0, 1, 4]

    assert seen == [(number, threading.get_ident()) for number in range(3)]
