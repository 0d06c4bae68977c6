"""Test `tfrt-nb run --explore`, `--replay`, and `--step`."""

from __future__ import annotations

from tests.tfrt_nb.cli.conftest import Shell

PRINTS = """\
func.func @main() -> i32 {
  %c = tfrt.new.chain
  %a = tfrt.constant.i32 11
  %b = tfrt.constant.i32 22
  %p = tfrt.print.i32 %a, %c
  %q = tfrt.print.i32 %b, %c
  %s = tfrt.add.i32 %a, %b
  tfrt.return %s : i32
}
"""
ONE, OTHER = ("  int32 = 11\n  int32 = 22\n", "  int32 = 22\n  int32 = 11\n")


def test_all_outcomes_are_shown_each_with_a_command_that_replays_it(shell: Shell) -> None:
    shell.write("p.mlir", PRINTS)
    found = shell("run", "p.mlir", "--explore")

    assert (found.status, found.stderr) == (0, "")
    assert found.stdout.startswith("--- @main\n2 outcomes in 2 schedules\noutcome 1, 1 schedule\n")
    replays = [line.split() for line in found.stdout.splitlines() if "replay: " in line]
    outputs = [shell(*words[2:]).stdout for words in replays]
    assert outputs == [f"--- @main\n  result = 33\n{order}" for order in (ONE, OTHER)]
    assert all(order in found.stdout for order in (ONE, OTHER))
    assert "  schedule: line 5, line 6\n" in found.stdout


def test_it_is_said_when_the_schedules_are_not_all(shell: Shell) -> None:
    shell.write("p.mlir", PRINTS)

    found = shell("run", "p.mlir", "--explore", "1").stdout
    assert "1 outcome in 1 schedule, which are not all: the limit was reached" in found


def test_tasks_of_compiled_functions_are_explored(shell: Shell) -> None:
    task = "async.execute {{\n    vector.print %{} : i32\n    async.yield\n  }}\n"
    awaits = "  async.await %s : !async.token\n  async.await %t : !async.token\n  return\n}\n"
    constants = "  %a = arith.constant 1 : i32\n  %b = arith.constant 2 : i32\n"
    tasks = f"  %s = {task.format('a')}  %t = {task.format('b')}"
    shell.write("p.mlir", f"func.func @main() {{\n{constants}{tasks}{awaits}")
    found = shell("run", "p.mlir", "--explore").stdout

    assert found.startswith("--- @main\n2 outcomes in ")
    assert "  1\n  2\n" in found and "  2\n  1\n" in found


def test_a_wrong_number_of_schedules_is_refused(shell: Shell) -> None:
    shell.write("p.mlir", PRINTS)
    found = shell("run", "p.mlir", "--explore", "none")

    assert found.status == 2
    assert "argument --explore: expected a number of schedules, found 'none'" in found.stderr


def test_standard_input_says_what_runs_next(shell: Shell) -> None:
    shell.write("p.mlir", PRINTS)
    # First the chain, then %q, which is the second of the ready operations, and then the rest.
    found = shell("run", "p.mlir", "--step", stdin=b"1\n2\nx\n\n")

    assert found.status == 0
    assert found.stdout.startswith("--- @main\n  1  line 2: %c = tfrt.new.chain\n")
    assert "int32 = 22" in found.stdout.split("int32 = 11")[0]
    assert found.stdout.endswith("  result = 33\n")


def test_errors_of_a_stepped_run_have_their_place(shell: Shell) -> None:
    text = "func.func @main() -> i32 {\n  %z = tfrt.constant.i32 0\n"
    text += "  %q, %r = tfrt.div.i32 %z, %z\n  tfrt.return %q : i32\n}\n"
    shell.write("p.mlir", text)
    found = shell("run", "p.mlir", "--step")

    assert found.status == 1
    assert "p.mlir:3:12: error" in found.stderr and "Divide by zero" in found.stderr
