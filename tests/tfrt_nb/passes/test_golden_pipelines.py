"""MLIR's own pass outputs, to the letter."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.context import Context

from tfrt_nb.passes.errors import PassError
from tfrt_nb.passes.notation import parse_pipeline
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module

PROGRAMS = Path(__file__).parents[2] / "golden" / "async" / "programs"
OUR_PROGRAMS = Path(__file__).parent / "programs"
CASES = sorted([*PROGRAMS.glob("*.out"), *OUR_PROGRAMS.glob("*.out")])


def transformed(path: Path) -> str:
    """The program after the pipeline that its first line names."""
    text = path.read_text()
    pipeline = text.splitlines()[0].removeprefix("// pipeline: ")
    module = parse_module(text, path.name)
    parse_pipeline(pipeline).apply(Context(), module)
    module.verify()
    return print_ir(module)


@pytest.mark.parametrize("expected", CASES, ids=lambda path: path.stem)
def test_the_pipeline_gives_the_expected_text(expected: Path) -> None:
    assert transformed(expected.with_suffix(".mlir")).rstrip() == expected.read_text().rstrip()


def test_reference_counting_refuses_tasks() -> None:
    path = PROGRAMS / "err_count_high_level.mlir"

    with pytest.raises(PassError) as refusal:
        transformed(path)

    assert str(refusal.value) == path.with_suffix(".error").read_text().strip()
