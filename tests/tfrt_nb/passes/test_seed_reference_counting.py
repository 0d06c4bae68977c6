"""Test reference counting on high-level operations, against the corpus of the seed's review."""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

import pytest
from xdsl.context import Context

from tfrt_nb.passes.control_flow import PassError
from tfrt_nb.passes.counting.async_ref_counting import (
    AsyncRefCounting,
    AsyncRefCountingOptimization,
)
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.host.context import HostContext

GOLDEN = Path(__file__).parents[2] / "golden" / "async" / "refcount"


def counted(text: str) -> str:
    """Return the program with reference counts."""
    module = parse_module(text, "program")
    AsyncRefCounting().apply(Context(), module)
    module.verify()
    return print_ir(module)


def optimized(text: str) -> str:
    """Return the program with reference counts, and without pairs that cancel."""
    module = parse_module(counted(text), "program")
    AsyncRefCountingOptimization().apply(Context(), module)
    module.verify()
    return print_ir(module)


def in_any_order(text: str) -> list[str]:
    """Return the lines, with adjacent counting operations of one kind sorted."""

    def kind(line: str) -> str:
        match = re.match(r"\s*async\.(?:add|drop)_ref", line)
        return match[0] if match else line

    return [line for _, lines in groupby(text.splitlines(), kind) for line in sorted(lines)]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.mlir")), ids=lambda path: path.stem)
def test_counts_are_where_the_review_put_them(path: Path) -> None:
    expected = print_ir(parse_module(path.with_suffix(".out").read_text(), path.name))

    assert in_any_order(counted(path.read_text())) == in_any_order(expected)


def test_a_program_that_counts_by_hand_is_refused() -> None:
    with pytest.raises(PassError, match="2:3: error: explicit reference counting is not supported"):
        counted("""func.func @f(%a: !async.token) {
  async.drop_ref %a {count = 1 : i32} : !async.token
  return
}
""")


CARRIED = """%u = scf.for %i = %n to %n step %n iter_args(%b = %a) -> (!async.token) {
      scf.yield %b : !async.token
    }
    async.await %u : !async.token"""


@pytest.mark.parametrize("around", ["{}", "scf.if %c {{ {} }}"])
def test_a_task_with_a_loop_that_carries_tokens_is_refused(around: str) -> None:
    with pytest.raises(PassError, match="'scf.for' in a task carries async values"):
        counted(f"""
func.func @f(%a: !async.token, %n: index, %c: i1) {{
  %t = async.execute {{
    {around.format(CARRIED)}
    async.yield
  }}
  return
}}
""")


@pytest.mark.parametrize(
    "path", sorted(GOLDEN.parent.glob("programs/*.stdout")), ids=lambda path: path.stem
)
def test_programs_that_are_counted_this_way_give_what_they_give(
    path: Path, leak_check: None
) -> None:
    text = path.with_suffix(".mlir").read_text()
    handed_over = optimized(text)
    printed: list[str] = []
    with HostContext("mstd:2") as host:
        run = Program.from_source(handed_over, path.name).run(host, "main", output=printed.append)
        assert run.wait(60)

    assert "".join(printed) == path.read_text()
