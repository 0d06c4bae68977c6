"""Test that programs printed by the counting passes run with balanced references.

At each level, no reference may be dropped twice or left over.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz.watched_memory import WatchedMemory
from tests.test_golden_programs import CommandLine, Outcome

from tfrt_nb.programs import Program
from tfrt_runtime.host.context import HostContext

TWO_TASKS = """
  %s = async.execute {
    async.yield
  }
  %t = async.execute {
    async.yield
  }"""
PROGRAMS = {
    "a_dependency": TWO_TASKS
    + """
  %u = async.execute [%s] {
    async.yield
  }
  async.await %u : !async.token
  async.await %t : !async.token""",
    "a_dependency_twice": TWO_TASKS
    + """
  %u = async.execute [%s, %s, %t] {
    async.await %s : !async.token
    async.yield
  }
  async.await %u : !async.token""",
    "a_value_twice": """
  %n = arith.constant 1 : i64
  %s, %v = async.execute -> !async.value<i64> {
    async.yield %n : i64
  }
  %t, %w = async.execute [%s] (%v as %x : !async.value<i64>, %v as %y : !async.value<i64>) -> !async.value<i64> {
    %z = arith.addi %x, %y : i64
    async.yield %z : i64
  }
  %sum = async.await %w : !async.value<i64>""",  # noqa: E501
    "a_dependency_of_a_nested_task": TWO_TASKS
    + """
  %u = async.execute {
    %inner = async.execute [%s] {
      async.await %t : !async.token
      async.yield
    }
    async.await %inner : !async.token
    async.yield
  }
  async.await %u : !async.token""",
    "a_choice": TWO_TASKS
    + """
  %yes = arith.constant true
  %one = arith.select %yes, %s, %t : !async.token
  %same = arith.select %yes, %one, %one : !async.token
  %u = async.execute {
    %inside = arith.select %yes, %t, %one : !async.token
    async.await %inside : !async.token
    async.yield
  }
  async.await %one : !async.token
  async.await %u : !async.token""",
    "equal_tasks": TWO_TASKS
    + """
  async.await %s : !async.token
  async.await %t : !async.token""",
    "an_assertion_before_a_branch": TWO_TASKS
    + """
  %yes = arith.constant true
  cf.assert %yes, "no"
  async.await %s : !async.token
  cf.br ^bb1(%t : !async.token)
^bb1(%u: !async.token):
  async.await %u : !async.token""",
    "a_switch_that_passes_values": TWO_TASKS
    + """
  %one = arith.constant 1 : i32
  cf.switch %one : i32, [
    default: ^bb1(%s : !async.token),
    1: ^bb2,
    2: ^bb1(%t : !async.token)
  ]
^bb2:
  async.await %t : !async.token
  cf.br ^bb1(%s : !async.token)
^bb1(%u: !async.token):
  async.await %u : !async.token""",
    "a_task_in_a_branch": TWO_TASKS
    + """
  %yes = arith.constant true
  scf.if %yes {
    %u = async.execute [%s] {
      async.yield
    }
    async.await %s : !async.token
    async.await %u : !async.token
  }
  async.await %t : !async.token""",
}
LOWERED = "async-func-to-async-runtime,async-to-async-runtime"
PASSES = (
    "async-ref-counting",
    "async-ref-counting,cse",
    "async-ref-counting,async-ref-counting-optimization",
    f"{LOWERED},async-runtime-ref-counting",
    f"{LOWERED},async-runtime-ref-counting,async-runtime-ref-counting-opt,canonicalize,cse",
)


@pytest.fixture
def tfrt_nb(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    return CommandLine(capsys)


@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_counted_program_drops_every_reference_once(
    name: str, passes: str, tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    source, counted = tmp_path / "source.mlir", tmp_path / "counted.mlir"
    source.write_text(f"func.func @main() {{{PROGRAMS[name]}\n  return\n}}\n")
    done = tfrt_nb("opt", "-p", passes, source)
    assert done.status == 0, done
    counted.write_text(done.stdout)

    for level in ("-O0", "-O1"):
        assert tfrt_nb("run", level, "--check-references", counted) == Outcome(0, "", ""), (
            done.stdout
        )


@pytest.mark.parametrize("passes", PASSES)
def test_a_failure_before_a_branch_drops_what_the_branch_passes_once(
    passes: str, tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    source, counted = tmp_path / "source.mlir", tmp_path / "counted.mlir"
    body = PROGRAMS["an_assertion_before_a_branch"].replace("constant true", "constant false")
    source.write_text(f"func.func @main() {{{body}\n  return\n}}\n")
    counted.write_text(tfrt_nb("opt", "-p", passes, source).stdout)

    for level in ("-O0", "-O1"):
        done = tfrt_nb("run", level, "--check-references", counted)
        assert (done.status, done.stderr.count("error: ")) == (1, 1), done.stderr


@pytest.mark.parametrize("passes", ["builtin.module()", *PASSES])
def test_what_a_select_chooses_lives_while_it_is_used(
    passes: str, tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    source, memory = tmp_path / "source.mlir", WatchedMemory()
    source.write_text(f"""func.func @main() {{{TWO_TASKS}
  %no = arith.constant false
  %one = arith.select %no, %s, %t : !async.token
  async.runtime.await %one : !async.token
  %failed = async.runtime.is_error %one : !async.token
  return
}}
""")
    done = tfrt_nb("opt", "-p", passes, source)
    assert done.status == 0, done

    for level in (0, 1):
        with memory.compiling(), HostContext("mstd:2") as host:
            Program.from_source(done.stdout, level=level).run(host).result()
            host.quiesce()
            assert memory.look() == []


@pytest.mark.parametrize("passes", PASSES)
def test_a_value_that_two_calls_take_lives_until_the_second_one_has_it(
    passes: str, tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    source, memory = tmp_path / "source.mlir", WatchedMemory()
    source.write_text("""async.func @take(%t: !async.token) -> !async.token {
  return
}
func.func @main() {
  %t = async.execute {
    async.yield
  }
  async.await %t : !async.token
  %a = async.call @take(%t) : (!async.token) -> !async.token
  %b = async.call @take(%t) : (!async.token) -> !async.token
  async.await %a : !async.token
  async.await %b : !async.token
  return
}
""")
    done = tfrt_nb("opt", "-p", passes, source)
    assert done.status == 0, done

    with memory.compiling(), HostContext("mstd:2") as host:
        Program.from_source(done.stdout, level=0).run(host).result()
        host.quiesce()
        assert memory.look() == []


def test_counting_refuses_operations_of_the_proposal_which_become_tasks_and_awaits(
    tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    program = tmp_path / "program.mlir"
    program.write_text("""func.func @main() {
  %t = async.runtime.create : !async.token
  async.runtime.set_available %t : !async.token
  async.sync_await %t : !async.token
  return
}
""")

    done = tfrt_nb("opt", "-p", "async-runtime-ref-counting", program)

    assert done.status == 1
    assert "4:3: error: async operations must be lowered to async runtime operations" in done.stderr


def test_counts_beside_operations_of_the_proposal_are_lowered_after_those(
    tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    program, counted = tmp_path / "program.mlir", tmp_path / "counted.mlir"
    program.write_text("""func.func @job() -> !async.handle {
  %ret = async.ret_handle : !async.handle
  return %ret : !async.handle
}
func.func @main() {
  %k = call @job() : () -> !async.handle
  async.sync_await %k : !async.handle
  return
}
""")

    done = tfrt_nb("opt", "-p", "async-ref-counting,async-to-async-runtime", program)
    assert done.status == 1
    assert "'async.ret_handle' must be replaced before counts are lowered" in done.stderr

    passes = "async-desugar-proposal,async-ref-counting,async-func-to-async-runtime,async-to-async-runtime"  # noqa: E501
    counted.write_text(tfrt_nb("opt", "-p", passes, program).stdout)
    assert tfrt_nb("run", "--check-references", counted) == Outcome(0, "", "")


def test_a_program_whose_failures_are_propagated_already_is_refused(
    tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    program, passed = tmp_path / "program.mlir", tmp_path / "passed.mlir"
    program.write_text("""func.func @main() {
  %no = arith.constant false
  cf.assert %no, "no"
  return
}
""")
    passed.write_text(tfrt_nb("opt", "-p", "async-propagate-failures", program).stdout)

    done = tfrt_nb("run", passed)

    assert done.status == 1
    assert (
        "2:3: error: 'fallible' is an attribute of passes: programs cannot have it" in done.stderr
    )


@pytest.mark.parametrize("level", ["-O0", "-O1"])
@pytest.mark.parametrize("body", ["", "async.await %t : !async.token"])
def test_a_reference_that_a_task_forgets_to_drop_is_reported(
    body: str, level: str, tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(f"""func.func @main() {{
  %t = async.execute {{
    async.yield
  }}
  async.add_ref %t {{count = 1 : i32}} : !async.token
  %u = async.execute [%t] {{
    {body}
    async.yield
  }}
  async.drop_ref %t {{count = 1 : i32}} : !async.token
  async.await %u : !async.token
  async.drop_ref %u {{count = 1 : i32}} : !async.token
  return
}}
""")

    done = tfrt_nb("run", level, program)

    assert done.status == 1
    assert "2:8: error: a token of 'async.execute' is left over: 1 reference" in done.stderr


def test_a_pass_that_leaves_an_invalid_program_is_named_by_its_rule(
    tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    program = tmp_path / "program.mlir"
    program.write_text("""func.func @main() {
  %yes = arith.constant true
  %t = async.execute {
    scf.if %yes {
      scf.yield
    }
    async.yield
  }
  async.await %t : !async.token
  return
}
""")

    done = tfrt_nb("opt", "-p", "convert-scf-to-cf,async-ref-counting", program)

    assert done.status == 1
    assert "3:8: error: 'async.execute' op expects region #0 to have 0 or 1 blocks" in done.stderr


MERGED = """async.func @work(%n: i64, %d: i64) -> !async.value<i64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1 : i64
  %zero = arith.constant 0 : i64
  %is_last = arith.cmpi sle, %n, %zero : i64
  %m = memref.alloc() : memref<4xi64>
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    %q = arith.divsi %n, %d : i64
    memref.store %q, %m[%i] : memref<4xi64>
    scf.reduce
  }
  %got = memref.load %m[%c1] : memref<4xi64>
  %r = scf.if %is_last -> (i64) {
    scf.yield %got : i64
  } else {
    %less = arith.subi %n, %one : i64
    %v = func.call @rest(%less, %d) : (i64, i64) -> i64
    %sum = arith.addi %v, %got : i64
    scf.yield %sum : i64
  }
  return %r : i64
}
func.func @rest(%n: i64, %d: i64) -> i64 {
  %v = async.call @work(%n, %d) : (i64, i64) -> !async.value<i64>
  %r = async.await %v : !async.value<i64>
  return %r : i64
}
func.func @main(%d: i64) -> i64 {
  %n = arith.constant 8 : i64
  %r = func.call @rest(%n, %d) : (i64, i64) -> i64
  return %r : i64
}
"""
"""A coroutine without an await, with recursion, a division, a loop, and a buffer."""


@pytest.mark.parametrize("passes", [LOWERED, *(f"{one},canonicalize" for one in PASSES[3:])])
@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_a_coroutine_whose_blocks_are_merged_fails_and_ends(
    level: str, passes: str, tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    source, lowered = tmp_path / "source.mlir", tmp_path / "lowered.mlir"
    source.write_text(MERGED)
    lowered.write_text(tfrt_nb("opt", "-p", f"{passes},canonicalize", source).stdout)

    run = ("run", level, "--check-references", "--function", "main", lowered)
    assert tfrt_nb(*run, "2") == Outcome(0, "'main' returned 16\n", "")
    failed = tfrt_nb(*run, "0")
    assert (failed.status, failed.stderr.count("error: ")) == (1, 1), failed.stderr


HANDED_ON = """
func.func @takes(%v: !async.value<i64>) -> !async.token {
  %t = async.execute (%v as %x: !async.value<i64>) {
    async.yield
  }
  return %t : !async.token
}
func.func @main() {
  %n = arith.constant 1 : i64
  %s, %v = async.execute -> !async.value<i64> {
    async.yield %n : i64
  }
  async.await %s : !async.token
  %t = func.call @takes(%v) : (!async.value<i64>) -> !async.token
  %u = async.execute {
    %inner = func.call @takes(%v) : (!async.value<i64>) -> !async.token
    async.yield
  }
  async.await %u : !async.token
  return
}
"""
"""The call in the task takes the task's reference, so optimization leaves no counts in its body."""


@pytest.mark.parametrize("passes", PASSES)
@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_a_task_may_hand_its_reference_to_a_call(
    level: str, passes: str, tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    source, printed = tmp_path / "source.mlir", tmp_path / "printed.mlir"
    source.write_text(HANDED_ON)
    printed.write_text(tfrt_nb("opt", "-p", passes, source).stdout)

    assert tfrt_nb("run", level, "--check-references", printed) == Outcome(0, "", "")


def test_a_lowered_task_that_calls_a_function_that_waits_stays_a_coroutine(
    tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    program, lowered = tmp_path / "program.mlir", tmp_path / "lowered.mlir"
    program.write_text("""func.func @wait(%t: !async.token) -> i64 {
  async.await %t : !async.token
  %seven = arith.constant 7 : i64
  return %seven : i64
}
async.func @outer() -> !async.value<i64> {
  %t, %v = async.execute -> !async.value<i64> {
    %early = async.execute {
      async.yield
    }
    %x = func.call @wait(%early) : (!async.token) -> i64
    async.yield %x : i64
  }
  %y = async.await %v : !async.value<i64>
  return %y : i64
}
func.func @main() -> i64 {
  %v = async.call @outer() : () -> !async.value<i64>
  %y = async.await %v : !async.value<i64>
  return %y : i64
}
""")
    lowered.write_text(tfrt_nb("opt", "-p", "async-to-async-runtime", program).stdout)

    for level in ("-O0", "-O1"):
        assert tfrt_nb("run", level, lowered) == Outcome(0, "'main' returned 7\n", "")


@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_counts_of_lowered_tasks_hold_while_async_functions_are_not_lowered_yet(
    level: str, tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    source, counted = tmp_path / "source.mlir", tmp_path / "counted.mlir"
    source.write_text(f"""async.func @empty() -> !async.token {{
  return
}}
func.func @main() {{{TWO_TASKS}
  async.await %s : !async.token
  %e = async.call @empty() : () -> !async.token
  return
}}
""")
    done = tfrt_nb("opt", "-p", "async-to-async-runtime,async-runtime-ref-counting", source)
    assert done.status == 0, done
    counted.write_text(done.stdout)

    assert tfrt_nb("run", level, "--check-references", counted) == Outcome(0, "", "")


@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_a_failure_drops_what_a_call_takes_under_the_name_of_a_block_argument(
    level: str, tfrt_nb: CommandLine, tmp_path: Path
) -> None:
    source, counted = tmp_path / "source.mlir", tmp_path / "counted.mlir"
    source.write_text(f"""func.func @main() {{{TWO_TASKS}
  %no = arith.constant false
  cf.assert %no, "no"
  %one = scf.if %no -> !async.token {{
    scf.yield %s : !async.token
  }} else {{
    scf.yield %s : !async.token
  }}
  %u = async.execute {{
    %v = async.execute [%s, %one] {{
      async.yield
    }}
    async.yield
  }}
  return
}}
""")
    lowering = "async-to-async-runtime,async-runtime-ref-counting,async-runtime-ref-counting-opt"
    done = tfrt_nb("opt", "-p", lowering, source)
    assert done.status == 0, done
    counted.write_text(done.stdout)

    done = tfrt_nb("run", level, "--check-references", counted)
    assert (done.status, done.stderr.count("error: ")) == (1, 1), done.stderr
