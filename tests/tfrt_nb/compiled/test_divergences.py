"""Test what MLIR's runtime gets wrong and ours does not, unless other tests cover it."""

from __future__ import annotations

import threading

import pytest
from xdsl.context import Context

from tfrt_nb.passes.pipeline import parse_pipeline
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import make_unavailable

SLOW = 200
"""Many more seconds than any step here takes."""

RESOLVES = """
func.func @main() -> i64 {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %flag = memref.alloc() : memref<1xi64>
  memref.store %zero, %flag[%c0] : memref<1xi64>
  %first = async.runtime.create : !async.token
  %second = async.execute [%first] {
    %seen = scf.while (%x = %zero) : (i64) -> i64 {
      %found = memref.atomic_rmw addi %zero, %flag[%c0] : (i64, memref<1xi64>) -> i64
      %more = arith.cmpi eq, %found, %zero : i64
      scf.condition(%more) %found : i64
    } do {
    ^bb0(%x: i64):
      scf.yield %x : i64
    }
    async.yield
  }
  async.runtime.set_available %first : !async.token
  %old = memref.atomic_rmw assign %one, %flag[%c0] : (i64, memref<1xi64>) -> i64
  async.await %second : !async.token
  memref.dealloc %flag : memref<1xi64>
  return %old : i64
}"""


@pytest.mark.parametrize("queue", ["s", "mstd:1", "mstd:2"])
def test_who_resolves_a_token_goes_on_before_those_who_wait_for_it(
    queue: str, leak_check: None
) -> None:
    """MLIR runs waiting code inside the resolving call; here, it would wait for what follows."""
    with HostContext(queue) as host:
        run = Program.from_source(RESOLVES, "f.mlir").run(host, "main")

        assert run.results[0].result(SLOW) == 0
        assert run.wait(SLOW)


CHAIN = """
async.func @chain(%start: !async.value<i64>, %links: i64) -> !async.value<i64> {
  %one = arith.constant 1 : i64
  cf.br ^link(%start, %links : !async.value<i64>, i64)
^link(%v: !async.value<i64>, %left: i64):
  %more = arith.cmpi sgt, %left, %one : i64
  %t, %w = async.execute (%v as %x: !async.value<i64>) -> !async.value<i64> {
    %y = arith.addi %x, %one : i64
    async.yield %y : i64
  }
  %rest = arith.subi %left, %one : i64
  cf.cond_br %more, ^link(%w, %rest : !async.value<i64>, i64), ^end(%w : !async.value<i64>)
^end(%last: !async.value<i64>):
  func.call @printI64(%one) : (i64) -> ()
  %sum = await %last : !async.value<i64>
  return %sum : i64
}
func.func private @printI64(i64)
"""


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_a_chain_of_a_million_tasks_needs_no_stack(queue: str, leak_check: None) -> None:
    """MLIR continues each link inside the previous one."""
    with HostContext(queue) as host:
        start = make_unavailable(host.work_queue, "i64")
        is_linked = threading.Event()

        def resolve() -> None:
            assert is_linked.wait(SLOW)
            start.emplace(5)

        resolver = threading.Thread(target=resolve)
        resolver.start()
        program = Program.from_source(CHAIN, "f.mlir")
        run = program.run(host, "chain", [start, 1_000_000], output=lambda _: is_linked.set())

        assert run.results[0].result(SLOW) == 1_000_005
        assert run.wait(SLOW)
        resolver.join()


VISITS = """
func.func @main() -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = arith.constant ROWS : index
  %columns = arith.constant COLUMNS : index
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %visits = memref.alloc() : memref<ROWSxCOLUMNSxi64>
  scf.for %i = %c0 to %rows step %c1 {
    scf.for %j = %c0 to %columns step %c1 {
      memref.store %zero, %visits[%i, %j] : memref<ROWSxCOLUMNSxi64>
    }
  }
  scf.parallel (%i, %j) = (%c0, %c0) to (%rows, %columns) step (%c1, %c1) {
    %old = memref.atomic_rmw addi %one, %visits[%i, %j] : (i64, memref<ROWSxCOLUMNSxi64>) -> i64
  }
  %wrong = scf.for %i = %c0 to %rows step %c1 iter_args(%a = %zero) -> i64 {
    %row = scf.for %j = %c0 to %columns step %c1 iter_args(%b = %a) -> i64 {
      %found = memref.load %visits[%i, %j] : memref<ROWSxCOLUMNSxi64>
      %is_wrong = arith.cmpi ne, %found, %one : i64
      %more = arith.extui %is_wrong : i1 to i64
      %sum = arith.addi %b, %more : i64
      scf.yield %sum : i64
    }
    scf.yield %row : i64
  }
  memref.dealloc %visits : memref<ROWSxCOLUMNSxi64>
  return %wrong : i64
}"""


@pytest.mark.parametrize("options", ["", "async-dispatch=false", "fold=false"])
@pytest.mark.parametrize(
    ("rows", "columns", "workers"), [(29, 7, 2), (41, 20, 3), (6, 11, 4), (3, 500, 2)]
)
def test_each_iteration_runs_once_in_what_the_pass_prints(
    rows: int, columns: int, workers: int, options: str, leak_check: None
) -> None:
    """MLIR makes blocks of whole inner loops, but as many as if they were smaller."""
    module = parse_module(
        VISITS.replace("ROWS", str(rows)).replace("COLUMNS", str(columns)), "program"
    )
    passes = f"async-parallel-for{{num-workers={workers} min-task-size=1 {options}}}"
    parse_pipeline(passes).apply(Context(), module)
    text = print_ir(module)

    with HostContext("mstd:2") as host:
        run = Program.from_source(text, "printed").run(host, "main")

        assert run.results[0].result(SLOW) == 0
