"""The async programs of the corpus on the native runtime: every reference is checked, none is left.

Each runs without workers, where the main thread does everything, and with two.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tfrt_nb import kernel
from tfrt_nb.jit.coroutines import packed_name
from tfrt_nb.jit.programs import compile_program
from tfrt_nb.passes.errors import PassError
from tfrt_nb.passes.notation import parse_pipeline
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.async_runtime import AsyncRuntime, LiveObject
from tfrt_runtime.diagnostics import Diagnostic, Location, TfrtError, error, note
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.values.async_value import State

GOLDEN = Path(__file__).parents[2] / "golden" / "async"
PROGRAMS = sorted(path.with_suffix(".mlir") for path in GOLDEN.glob("*/*.stdout"))
CORRECT = sorted(GOLDEN.glob("correct/*.mlir"))
LANDED = sorted(GOLDEN.glob("rfc/*.landed.mlir"))
QUEUES = ["s", "mstd:2"]


@dataclass(frozen=True)
class Outcome:
    """What a program printed, why it failed, and what it left behind."""

    output: str
    errors: tuple[Diagnostic, ...] = ()
    left_over: tuple[LiveObject, ...] = ()


def run(text: str, queue: str, name: str = "program", *, checked: bool = True) -> Outcome:
    """Compile a program and run its `main`; a first line `// parallel-for: OPTIONS` asks for that pass."""
    output: list[str] = []
    first = text.splitlines()[0]
    options = first.removeprefix("// parallel-for:") if first.startswith("// parallel-for:") else ""
    loops = f"async-parallel-for{{{options.strip()} clamp-trip-counts}}" if options else ""
    module = parse_module(text, name)
    with (
        HostContext(queue) as host,
        AsyncRuntime(host, checked=checked, output=output.append) as runtime,
    ):
        code = compile_program(module, runtime.functions, *parse_pipeline(loops).passes)
        errors: tuple[Diagnostic, ...] = ()
        try:
            runtime.run(code.address(packed_name("main")))
        except TfrtError as problem:
            errors = problem.diagnostics
        return Outcome("".join(output), errors, tuple(runtime.live_objects()))


def _stem(path: Path) -> str:
    return path.stem


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("path", PROGRAMS, ids=_stem)
def test_a_program_prints_what_mlir_prints(path: Path, queue: str) -> None:
    assert run(path.read_text(), queue) == Outcome(path.with_suffix(".stdout").read_text())


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("path", PROGRAMS, ids=_stem)
def test_it_does_so_where_nobody_checks_references(path: Path, queue: str) -> None:
    outcome = run(path.read_text(), queue, checked=False)

    assert outcome == Outcome(path.with_suffix(".stdout").read_text())


@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("path", LANDED, ids=_stem)
def test_a_landed_program_prints_what_the_proposal_prints(path: Path, queue: str) -> None:
    expected = path.with_name(path.name.replace(".landed.mlir", ".stdout")).read_text()

    assert run(path.read_text(), queue) == Outcome(expected)


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("path", CORRECT, ids=_stem)
def test_a_program_that_mlir_gets_wrong_is_right(path: Path, queue: str) -> None:
    if path.name == "declared_func.mlir":
        with pytest.raises(PassError, match="'elsewhere' is declared but not defined"):
            run(path.read_text(), queue)
        return

    outcome = run(path.read_text(), queue, path.name)

    assert (outcome.output, outcome.left_over) == (path.with_suffix(".expected").read_text(), ())
    wanted = path.with_suffix(".diag")
    assert len(outcome.errors) == int(wanted.exists())
    if wanted.exists():
        [problem] = outcome.errors
        line = problem.location.line if isinstance(problem.location, Location) else 0
        for part in wanted.read_text().splitlines():
            assert part in problem.message or part == str(line)


PRINTING = "\nfunc.func private @printI64(i64)\n"

CHAIN = """
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 200000 : index
  %first = async.execute {
    async.yield
  }
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %first) -> (!async.token) {
    %next = async.execute [%before] {
      async.yield
    }
    scf.yield %next : !async.token
  }
  async.await %last : !async.token
  return
}
"""


@pytest.mark.parametrize("queue", QUEUES)
def test_a_chain_of_many_tasks_takes_no_stack(queue: str) -> None:
    assert run(CHAIN, queue, checked=False) == Outcome("")


RECURSION = """
async.func @down(%n: i64) -> (!async.token, !async.value<i64>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %is_zero = arith.cmpi eq, %n, %zero : i64
  cf.cond_br %is_zero, ^end(%zero : i64), ^deeper
^deeper:
  %m = arith.subi %n, %one : i64
  %t, %v = async.call @down(%m) : (i64) -> (!async.token, !async.value<i64>)
  %x = await %v : !async.value<i64>
  %y = arith.addi %x, %one : i64
  cf.br ^end(%y : i64)
^end(%r: i64):
  return %r : i64
}
func.func @main() {
  %n = arith.constant 300000 : i64
  %t, %v = async.call @down(%n) : (i64) -> (!async.token, !async.value<i64>)
  %x = async.await %v : !async.value<i64>
  call @printI64(%x) : (i64) -> ()
  return
}
"""


@pytest.mark.parametrize("queue", QUEUES)
def test_a_deep_recursion_of_async_functions_ends_well(queue: str) -> None:
    assert run(RECURSION + PRINTING, queue, checked=False) == Outcome("300000")


BURYING = """
func.func @main() {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  %waiting, %size = async.execute -> !async.value<i64> {
    WAIT
    async.yield %n : i64
  }
  %ready = async.execute {
    async.yield
  }
  async.await %ready : !async.token
  %rank = async.add_to_group %ready, %g : !async.token
  %n = async.await %size : !async.value<i64>
  call @printI64(%n) : (i64) -> ()
  return
}
func.func private @wait_for(%g: !async.group) -> (i64, !async.token) {
  async.await_all %g
  %seven = arith.constant 7 : i64
  %t = async.execute {
    async.yield
  }
  return %seven, %t : i64, !async.token
}
"""
BURYING_WAITS = {
    "in a function that it calls": """
    %n, %t = func.call @wait_for(%g) : (!async.group) -> (i64, !async.token)
    async.await %t : !async.token""",
    "in an operation of the runtime": """
    async.runtime.await %g : !async.group
    %n = arith.constant 7 : i64""",
}


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize("where", BURYING_WAITS)
def test_a_task_that_waits_does_not_bury_a_thread_that_has_to_go_on_first(
    where: str, queue: str
) -> None:
    assert run(BURYING.replace("WAIT", BURYING_WAITS[where]) + PRINTING, queue) == Outcome("7")


TASK_WITH_SHORT_GROUP = """
func.func @main() {
  %two = arith.constant 2 : index
  %t = async.execute {
    %g = async.create_group %two : !async.group
    %u = async.execute {
      async.yield
    }
    %r = async.add_to_group %u, %g : !async.token
    async.await_all %g
    async.yield
  }
  async.await %t : !async.token
  return
}
"""


def at(program: str, operation: str) -> Location:
    """Where the first operation of that name is."""
    before = program.partition(operation)[0]
    return Location("program", before.count("\n") + 1, len(before) - before.rfind("\n"))


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_a_task_that_waits_for_a_group_in_vain_fails_for_that_reason(queue: str) -> None:
    place = at(TASK_WITH_SHORT_GROUP, "async.create_group")
    problem = error("the group waits forever: 1 of 2 members were added", place)

    assert run(TASK_WITH_SHORT_GROUP, queue) == Outcome("", (problem,))


NOBODY_AWAITS = TASK_WITH_SHORT_GROUP.replace("  async.await %t : !async.token\n", "")


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_it_does_not_stay_behind_when_nobody_waits_for_it(queue: str) -> None:
    assert run(NOBODY_AWAITS, queue) == Outcome("")


FULL_GROUP = """
func.func @main() {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  %t = async.execute {
    async.yield
  }
  %u = async.execute {
    async.yield
  }
  %a = async.add_to_group %t, %g : !async.token
  %b = async.add_to_group %u, %g : !async.token
  async.await_all %g
  return
}
"""


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_a_group_with_too_many_members_fails(queue: str) -> None:
    assert run(FULL_GROUP, queue) == Outcome("", (overfull(FULL_GROUP),))


def overfull(program: str) -> Diagnostic:
    """What is said at the addition of %u, which is one too many."""
    made = note("the group is made here", at(program, "async.create_group"))
    place = at(program, "async.add_to_group %u")
    return error("the group is full: it has room for 1", place, [made])


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_a_member_too_many_is_an_error_although_no_task_awaits_the_group(queue: str) -> None:
    program = FULL_GROUP.replace("  async.await_all %g\n", "")

    assert run(program, queue) == Outcome("", (overfull(program),))


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_a_task_that_is_started_into_a_full_group_is_an_error_at_the_addition(queue: str) -> None:
    program = """
func.func @main() {
  %one = arith.constant 1 : index
  %g = async.create_group %one : !async.group
  %t = async.execute {
    async.yield
  }
  %a = async.add_to_group %t, %g : !async.token
  %u = async.execute {
    async.yield
  }
  %b = async.add_to_group %u, %g : !async.token
  return
}
"""
    assert run(program, queue) == Outcome("", (overfull(program),))


MADE_BY_HAND = """
func.func @main() {
  %t = async.runtime.create : !async.token
  OPERATIONS
  return
}
"""


def by_hand(*operations: str) -> tuple[str, Location]:
    """A program of runtime operations on one token, and where the token is made."""
    program = MADE_BY_HAND.replace("OPERATIONS", "\n  ".join(operations))
    return program, at(program, "async.runtime.create")


AWAIT = "async.runtime.await %t : !async.token"
RESOLVE = "async.runtime.set_available %t : !async.token"
DROP = "async.runtime.drop_ref %t {count = 1 : i64} : !async.token"


@pytest.mark.parametrize("queue", QUEUES)
def test_a_token_that_nobody_resolves_is_left_over_with_the_place_where_it_was_made(
    queue: str,
) -> None:
    program, place = by_hand(AWAIT)

    left_over = LiveObject("token", 1, State.ERROR, "async.runtime.create", place)
    assert run(program, queue) == Outcome("", (), (left_over,))


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_a_token_that_is_resolved_twice_is_an_error_of_the_run(queue: str) -> None:
    program, place = by_hand(RESOLVE, RESOLVE)

    assert run(program, queue) == Outcome(
        "", (error("a token of 'async.runtime.create' is resolved twice", place),)
    )


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_a_program_that_counts_by_hand_is_not_counted_again(queue: str) -> None:
    program, _ = by_hand(RESOLVE, DROP)

    assert run(program, queue) == Outcome("")


AWAITED = "async.await %t : !async.token"
TAKE = "async.runtime.add_ref %t {count = 1 : i64} : !async.token"
FAIL = 'cf.assert %no, "no"'


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_what_a_program_with_awaits_takes_and_gives_up_is_on_top_of_what_is_counted(
    queue: str,
) -> None:
    program, _ = by_hand(RESOLVE, TAKE, AWAITED, DROP)
    wrong, _ = by_hand(RESOLVE, AWAITED, DROP)

    assert run(program, queue) == Outcome("")
    assert run(wrong, queue) == Outcome("", (too_often(wrong),))


def too_often(program: str, operation: str = "async.runtime.drop_ref") -> Diagnostic:
    """What is said at the last such operation of a program."""
    start = program.rindex(operation)
    line, column = program.count("\n", 0, start) + 1, start - program.rindex("\n", 0, start)
    place = Location("program", line, column)
    return error("a reference to a token is dropped too often", place)


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize(
    "operations", [(RESOLVE, FAIL, DROP), (RESOLVE, TAKE, AWAITED, FAIL, DROP)]
)
def test_what_a_program_gives_up_is_given_up_when_it_fails_before(
    operations: tuple[str, ...], queue: str
) -> None:
    program, _ = by_hand("%no = arith.constant false", *operations)

    outcome = run(program, queue)

    assert [problem.message for problem in outcome.errors] == ["no"]
    assert outcome.left_over == ()


MAY_FAIL = """
func.func @may_fail(%ok: i1) {
  cf.assert %ok, "no"
  return
}
"""


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_what_is_given_up_behind_calls_that_may_fail_is_given_up_when_one_of_them_fails(
    queue: str,
) -> None:
    call = "func.call @may_fail({}) : (i1) -> ()".format
    start = ("%no = arith.constant false", "%yes = arith.constant true", RESOLVE, TAKE)
    program, _ = by_hand(*start, call("%yes"), call("%no"), call("%yes"), AWAITED, DROP)

    outcome = run(program + MAY_FAIL, queue)

    assert [problem.message for problem in outcome.errors] == ["no"]
    assert outcome.left_over == ()


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
def test_a_reference_that_is_given_up_too_often_is_an_error_of_the_run(queue: str) -> None:
    program, _ = by_hand(RESOLVE, DROP, DROP)

    assert run(program, queue) == Outcome("", (too_often(program),))


@pytest.mark.usefixtures("leak_check")
@pytest.mark.parametrize("queue", QUEUES)
@pytest.mark.parametrize(
    ("operation", "type_", "times"),
    [("async.drop_ref", "i32", 2), ("async.runtime.drop_ref", "i64", 1)],
)
def test_a_reference_dropped_too_often_is_found_by_default(
    queue: str, operation: str, type_: str, times: int
) -> None:
    drop = f"  {operation} %t {{count = 1 : {type_}}} : !async.token\n"
    text = f"""
func.func @main() {{
  %t = async.execute {{
    async.yield
  }}
  async.await %t : !async.token
{drop * times}  return
}}
"""
    with HostContext(queue) as host:
        execution = Program.from_source(text, "program").run(host)
        assert execution.wait(20)
        assert execution.diagnostics == [too_often(text, operation)]


_begun = threading.Event()


@kernel("test_native_runtime.busy")
def busy() -> None:
    _begun.set()
    time.sleep(0.1)


@pytest.mark.usefixtures("leak_check")
def test_a_runtime_that_is_closed_before_its_host_keeps_no_error() -> None:
    text = 'func.func @main() -> !tfrt.chain {\n  %c = "test_native_runtime.busy"() : () -> !tfrt.chain\n  tfrt.return %c : !tfrt.chain\n}'
    with HostContext("mstd:1") as host:
        runtime = AsyncRuntime(host)
        runtime.close()
        run = Program(text).run(host=host)
        assert _begun.wait(10)
        host.close()
        assert run.wait(10)
