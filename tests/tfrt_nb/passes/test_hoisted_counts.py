"""Test that loops that take all their tasks' references at once drop each of them.

This must hold however the run ends.
"""

from __future__ import annotations

import threading

import pytest
from tests.fuzz.watched_memory import WatchedMemory

from tfrt_nb import TfrtError
from tfrt_nb.dialects.async_.extensions import RuntimeAddRefsOp
from tfrt_nb.dialects.async_.runtime import RuntimeAddRefOp
from tfrt_nb.jit.lowering import lowering_steps
from tfrt_nb.passes.control_flow import operations_in
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.host.context import HostContext

HEAD = """
func.func private @fails(%i: index) -> i64 {
  %zero = arith.constant 0 : index
  %no = arith.cmpi ne, %i, %zero : index
  cf.assert %no, "the first fails"
  %x = arith.constant 1 : i64
  return %x : i64
}
func.func @main(%n: index) -> i64 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %seven = arith.constant 7 : i64
  %t, %v = async.execute -> !async.value<i64> {
    async.yield %seven : i64
  }
"""
LOOP = "  scf.for %i = %c0 to %n step %c1 {\n"
BODIES = {
    "a dependency": LOOP + "    %u = async.execute [%t] { async.yield }\n  }",
    "a dependency, a value, and a use": LOOP
    + """    %u, %w = async.execute [%t] (%v as %x: !async.value<i64>) -> !async.value<i64> {
      %y = async.await %v : !async.value<i64>
      async.yield %y : i64
    }
  }""",
    "a group": "  %g = async.create_group %n : !async.group\n"
    + LOOP
    + """    %u = async.execute [%t] {
      async.await %t : !async.token
      async.yield
    }
    %rank = async.add_to_group %u, %g : !async.token
  }
  async.await_all %g""",
    "loops in loops": LOOP
    + """    scf.for %j = %i to %c3 step %c1 {
      %u = async.execute [%t, %t] { async.yield }
    }
    %u = async.execute [%t] { async.yield }
  }""",
    "a step of three, and a condition": """  scf.for %i = %c1 to %n step %c3 {
    %c = arith.cmpi eq, %i, %c1 : index
    scf.if %c {
      %u = async.execute [%t] { async.yield }
    }
    %w = async.execute [%t] { async.yield }
  }""",
    "a loop that awaits": LOOP
    + """    %u = async.execute [%t] { async.yield }
    async.await %u : !async.token
  }""",
    "a task that fails": "  %g = async.create_group %n : !async.group\n"
    + LOOP
    + """    %u = async.execute [%t] {
      %x = func.call @fails(%i) : (index) -> i64
      async.yield
    }
    %rank = async.add_to_group %u, %g : !async.token
  }
  async.await_all %g""",
    "a loop that fails": LOOP
    + """    %u = async.execute [%t] { async.yield }
    %x = func.call @fails(%i) : (index) -> i64
  }""",
    "a loop in a task": "  %o = async.execute {\n"
    + LOOP
    + """    %u = async.execute [%t] { async.yield }
  }
    async.yield
  }
  async.await %o : !async.token""",
    "a dependency that has failed": """  %bad = async.execute {
    %x = func.call @fails(%c0) : (index) -> i64
    async.yield
  }
"""
    + LOOP
    + "    %u = async.execute [%t, %bad] { async.yield }\n  }",
}
END = "\n  %r = async.await %v : !async.value<i64>\n  return %r : i64\n}\n"


@pytest.fixture(scope="module")
def memory() -> WatchedMemory:
    return WatchedMemory()


def counts_of_a_run(text: str) -> list[str]:
    """Return the counting operations in a run's `@main`, and which of them are in the loop."""
    steps = lowering_steps(parse_module(text, "program"))
    module = next(module for name, module in steps if name == "async-hoist-ref-counts")
    return [
        op.name if op.parent_op().name == "func.func" else f"{op.name} in {op.parent_op().name}"
        for op in operations_in(module)
        if isinstance(op, RuntimeAddRefOp | RuntimeAddRefsOp)
    ]


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("name", BODIES)
def test_each_reference_is_dropped_once_in_any_number_of_rounds(
    memory: WatchedMemory, name: str, level: int, queue: str
) -> None:
    text = f"{HEAD}{BODIES[name]}{END}"
    for rounds in (0, 1, 2, 5, 4_000):
        if name == "loops in loops" and rounds > 5:
            continue
        with memory.compiling(), HostContext(queue) as host:
            fails = rounds > 0 and name in ("a task that fails", "a loop that fails")
            run = Program.from_source(text, level=level).run(rounds, host=host)
            if fails:
                with pytest.raises(TfrtError, match="the first fails"):
                    run.result(60)
            else:
                assert run.result(60) == 7
            host.quiesce()
            assert memory.look() == []


@pytest.mark.parametrize("rounds", [0, 1, 1_000])
def test_a_known_number_of_tasks_is_counted_once(memory: WatchedMemory, rounds: int) -> None:
    text = HEAD.replace("%n: index", "").replace(
        "  %c3 =", f"  %n = arith.constant {rounds} : index\n  %c3 ="
    )
    text = f"{text}{BODIES['a dependency']}{END}"
    assert counts_of_a_run(text) == (["async.runtime.add_ref"] if rounds else [])
    with memory.compiling(), HostContext("mstd:2") as host:
        assert Program.from_source(text).run(host=host).result(60) == 7
        host.quiesce()
        assert memory.look() == []


@pytest.mark.parametrize("name", ["a dependency", "a group"])
def test_an_unknown_number_is_counted_once_in_each_piece(name: str) -> None:
    text = f"{HEAD}{BODIES[name]}{END}"
    assert counts_of_a_run(text) == ["async.runtime.add_refs"]


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.parametrize("level", [0, 1])
def test_a_cancelled_loop_of_tasks_ends_soon_and_drops_all(
    memory: WatchedMemory, level: int, queue: str
) -> None:
    with memory.compiling(), HostContext(queue) as host:
        program = Program.from_source(f"{HEAD}{BODIES['a dependency']}{END}", level=level)
        assert program.run(10, host=host).result(60) == 7
        runs, ended = [], threading.Event()

        def start() -> None:
            runs.append(program.run(40_000_000, host=host))
            with pytest.raises(TfrtError, match="Cancelled"):
                runs[0].result(60)
            ended.set()

        thread = threading.Thread(target=start)
        thread.start()
        while not runs:
            assert not ended.wait(0.001)
        runs[0].cancel()
        assert ended.wait(10)
        thread.join()
        host.quiesce()
        assert memory.look() == []
