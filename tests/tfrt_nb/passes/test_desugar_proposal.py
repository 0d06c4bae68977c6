"""Test that the 2020 proposal's spellings mean the same as the operations that landed."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.test_golden_programs import CommandLine, Outcome
from xdsl.context import Context

from tfrt_nb.passes.lowering.desugar_proposal import DesugarProposal
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module
from tfrt_runtime.diagnostics import Location, TfrtError

GOLDEN = Path(__file__).parents[2] / "golden" / "async" / "rfc"
LANDED = sorted(GOLDEN.glob("*.landed.mlir"))


def desugared(text: str) -> str:
    """Return the program with the operations that landed."""
    module = parse_module(text, "program")
    DesugarProposal().apply(Context(), module)
    module.verify()
    return print_ir(module)


@pytest.mark.parametrize("landed", LANDED, ids=lambda path: path.name.partition(".")[0])
def test_the_proposal_equals_what_landed(landed: Path) -> None:
    proposal = landed.with_name(landed.name.replace(".landed", ""))
    expected = print_ir(parse_module(landed.read_text(), landed.name))

    # Functions without a visibility were public in 2020; the corpus made one of them private later.
    assert desugared(proposal.read_text()) == expected.replace(" private @show", " @show")


HEAD = (
    "func @work(%x: i64) { return }\nfunc @main() {\n  %rt = async.default_runtime : "
    "!async.runtime\n"
)
CALL = "  %h = async.call %rt : !async.runtime"


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        (
            f"{CALL} @nobody() : () -> !async.handle",
            8,
            "there is no function '@nobody'",
        ),
        (f"{CALL} @work() : () -> !async.handle", 8, "incorrect number of operands for callee"),
        (f"{CALL} @work(%rt) : (!async.runtime) -> !async.handle", 8, "operand type mismatch"),
        (f"{CALL} @work() : () -> i64", 50, "a call on a runtime returns one '!async.handle'"),
        (f"{CALL} @work(%rt) -> !async.handle", 45, "the types of the arguments are missing"),
        (
            "  cf.br ^a(%rt : !async.runtime)\n^a(%r: !async.runtime):",
            None,
            "a runtime can only be",
        ),
    ],
)
def test_misuse_of_a_runtime_is_refused(line: str, column: int | None, message: str) -> None:
    with pytest.raises(TfrtError) as raised:
        desugared(f"{HEAD}{line}\n  return\n}}\n")

    problem = raised.value.diagnostics[0]
    assert message in problem.message
    assert isinstance(problem.location, Location)
    assert column is None or (problem.location.line, problem.location.column) == (4, column)


EMPLACED_BY_HAND = {
    "after_an_await": """
  async.await %gate : !async.handle
  async.emplace_handle %ret : !async.handle
  return %ret : !async.handle""",
    "before_other_work": """
  async.await %gate : !async.handle
  async.emplace_handle %ret : !async.handle
  call @later(%seven) : (i64) -> ()
  async.await %ret : !async.handle
  return %ret : !async.handle""",
    "in_a_branch": """
  scf.if %yes {
    async.await %gate : !async.handle
    async.emplace_handle %ret : !async.handle
  } else {
    async.emplace_handle %ret : !async.handle
  }
  return %ret : !async.handle""",
    "by_a_function": """
  call @wait(%gate) : (!async.handle) -> ()
  call @finish(%ret) : (!async.handle) -> ()
  return %ret : !async.handle""",
    "through_a_branch": """
  %same = scf.if %yes -> !async.handle {
    async.await %gate : !async.handle
    async.emplace_handle %ret : !async.handle
    scf.yield %ret : !async.handle
  } else {
    scf.yield %ret : !async.handle
  }
  return %same : !async.handle""",
    "or_by_another_return": """
  %no = arith.constant false
  cf.cond_br %no, ^by_hand, ^by_returning
^by_hand:
  async.emplace_handle %ret : !async.handle
  return %ret : !async.handle
^by_returning:
  async.await %gate : !async.handle
  %other = async.ret_handle : !async.handle
  return %other : !async.handle""",
    "before_a_failure": """
  async.await %gate : !async.handle
  async.emplace_handle %ret : !async.handle
  %no = arith.constant false
  cf.assert %no, "nobody is told anymore"
  return %ret : !async.handle""",
    "in_an_async_func": """
  async.await %gate : !async.handle
  async.emplace_handle %ret : !async.handle
  async.return""",
}


@pytest.mark.parametrize("level", ["-O0", "-O1"])
@pytest.mark.parametrize("name", EMPLACED_BY_HAND)
def test_a_function_that_emplaces_its_own_handle_does_not_block_its_caller(
    name: str,
    level: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(by_hand(EMPLACED_BY_HAND[name]))

    done = CommandLine(capsys)("run", level, "--check-references", program)

    assert done == Outcome(0, "7", "")


def test_an_error_reaches_a_handle_that_is_not_emplaced_yet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "program.mlir"
    program.write_text(
        by_hand("""
  async.await %gate : !async.handle
  cf.assert %yes, "it is early enough"
  async.emplace_handle %ret : !async.handle
  return %ret : !async.handle""").replace("arith.constant true", "arith.constant false")
    )

    done = CommandLine(capsys)("run", "--check-references", program)

    assert done.status == 1
    assert "error: it is early enough\n" in done.stderr
    assert done.stderr.count("error:") == 1


def by_hand(body: str) -> str:
    """Return a program whose `@main` opens the gate that `@f` awaits only after the call."""
    return f"""
func private @printI64(i64)
func @later(%x: i64) {{ return }}
func @wait(%gate: !async.handle) {{
  async.await %gate : !async.handle
  return
}}
func @finish(%handle: !async.handle) {{
  async.emplace_handle %handle : !async.handle
  return
}}
func @f(%rt: !async.runtime, %gate: !async.handle, %seven: i64) -> !async.handle {{
  %ret = async.ret_handle : !async.handle
  %yes = arith.constant true{body}
}}
func @main() {{
  %rt = async.default_runtime : !async.runtime
  %gate = async.ret_handle : !async.handle
  %seven = arith.constant 7 : i64
  %h = call @f(%rt, %gate, %seven) : (!async.runtime, !async.handle, i64) -> !async.handle
  async.emplace_handle %gate : !async.handle
  async.sync_await %h : !async.handle
  call @printI64(%seven) : (i64) -> ()
  return
}}
"""


def test_a_function_that_returns_its_own_handle_is_not_inlined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tfrt_nb = CommandLine(capsys)
    program, inlined = tmp_path / "program.mlir", tmp_path / "inlined.mlir"
    program.write_text("""func.func @job() -> !async.handle {
  %ret = async.ret_handle : !async.handle
  return %ret : !async.handle
}
func.func @main() {
  %h = call @job() : () -> !async.handle
  async.sync_await %h : !async.handle
  return
}
""")
    inlined.write_text(tfrt_nb("opt", "-p", "inline", program).stdout)

    assert tfrt_nb("run", inlined) == Outcome(0, "", "")
