"""Test compiled async programs on one thread: what they print, why they fail, and what is left."""

from __future__ import annotations

from pathlib import Path

import pytest

GOLDEN = Path(__file__).parents[2] / "golden" / "async"

COUNTED_ON_TASKS = (
    "builtin.module(async-ref-counting,async-func-to-async-runtime{token-last keep-errors},"
    "async-to-async-runtime{token-last keep-errors},async-propagate-failures,"
    "async-drop-on-error-paths,convert-scf-to-cf)"
)


@pytest.mark.parametrize("options", ["num-workers=1", "num-workers=8 async-dispatch=false", ""])
@pytest.mark.parametrize("name", ["par_1d", "par_2d", "par_3d", "par_big_tasks", "par_zero"])
def test_a_parallel_loop_is_the_same_for_all_options(name: str, options: str, run, outcome) -> None:
    path = GOLDEN / "programs" / f"{name}.mlir"
    lines = path.read_text().splitlines()
    text = "\n".join([f"// parallel-for: {options} min-task-size=1", *lines[1:]])

    assert run(text) == outcome(path.with_suffix(".stdout").read_text())


@pytest.mark.parametrize(
    "name", ["error_nested", "error_execute", "nest_four", "exec_capture", "deps_diamond"]
)
def test_counting_on_tasks_balances_too(name: str, run, outcome) -> None:
    path = GOLDEN / "programs" / f"{name}.mlir"

    result = run(path.read_text(), COUNTED_ON_TASKS)

    assert result == outcome(path.with_suffix(".stdout").read_text())


def test_a_body_that_fails_halfway_releases_what_it_holds(run, outcome) -> None:
    text = """
func.func @main() {
  %no = arith.constant false
  %a = async.execute {
    async.yield
  }
  %b = async.execute {
    %c = async.execute {
      async.yield
    }
    cf.assert %no, "halfway"
    async.await %a : !async.token
    async.await %c : !async.token
    async.yield
  }
  async.await %a : !async.token
  async.await %b : !async.token
  async.await %a : !async.token
  return
}
"""
    assert run(text, COUNTED_ON_TASKS) == outcome("", ("halfway", 11))


def test_a_body_that_fails_before_a_call_releases_what_the_call_would_take(run, outcome) -> None:
    text = """
func.func private @use(%t: !async.token) {
  async.await %t : !async.token
  return
}
func.func @main() {
  %no = arith.constant false
  %a = async.execute {
    async.yield
  }
  %b = async.execute {
    cf.assert %no, "before"
    func.call @use(%a) : (!async.token) -> ()
    async.await %a : !async.token
    async.yield
  }
  async.await %b : !async.token
  return
}
"""
    assert run(text, COUNTED_ON_TASKS) == outcome("", ("before", 12))
