"""The spellings of the 2020 proposal mean what the operations that landed mean."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.context import Context

from tfrt_nb.passes.lowering.desugar_proposal import DesugarProposal
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module
from tfrt_runtime.diagnostics import Location, TfrtError

GOLDEN = Path(__file__).parents[2] / "golden" / "async" / "rfc"
LANDED = sorted(GOLDEN.glob("*.landed.mlir"))


def desugared(text: str) -> str:
    """The program in the operations that landed."""
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


HEAD = "func @work(%x: i64) { return }\nfunc @main() {\n  %rt = async.default_runtime : !async.runtime\n"
CALL = "  %h = async.call %rt : !async.runtime"


@pytest.mark.parametrize(
    ("line", "column", "message"),
    [
        (
            f"{CALL} @nobody() : () -> !async.handle",
            8,
            "'nobody' does not reference a valid function",
        ),
        (f"{CALL} @work() : () -> !async.handle", 8, "incorrect number of operands for callee"),
        (f"{CALL} @work(%rt) : (!async.runtime) -> !async.handle", 8, "operand type mismatch"),
        (f"{CALL} @work() : () -> i64", 50, "a call on a runtime gives one '!async.handle'"),
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
