"""Test pipelines in MLIR's notation."""

from __future__ import annotations

import pytest

from tfrt_nb.passes.lowering.convert_scf_to_cf import ConvertScfToCf
from tfrt_nb.passes.parallel.async_parallel_for import AsyncParallelFor
from tfrt_nb.passes.pipeline import (
    PASSES,
    Pipeline,
    PipelineError,
    executable_pipeline,
    parse_pipeline,
    pass_named,
)


def test_options_and_anchors_are_read() -> None:
    text = (
        "builtin.module(async-parallel-for{async-dispatch=false num-workers=-1}, "
        "func.func(convert-scf-to-cf))"
    )

    assert parse_pipeline(text) == Pipeline(
        (AsyncParallelFor(async_dispatch=False, num_workers=-1), ConvertScfToCf())
    )


def test_an_empty_pipeline_has_no_passes() -> None:
    assert parse_pipeline("builtin.module()") == Pipeline(())


def test_the_notation_of_a_pipeline_makes_the_same_pipeline() -> None:
    pipeline = executable_pipeline(AsyncParallelFor(min_task_size=7))

    assert parse_pipeline(str(pipeline)) == pipeline


def test_a_pass_is_found_by_its_own_name() -> None:
    assert {name: pass_named(name).name for name in PASSES} == {name: name for name in PASSES}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("builtin.module(canonicalise)", "1:16: error: no pass is named 'canonicalise'"),
        ("builtin.module(", "1:16: error: expected '\\)'"),
        ("builtin.module())", "1:17: error: unexpected '\\)'"),
        ("builtin.module(,)", "1:16: error: no pass is named ','"),
        ("convert-scf-to-cf{fast}", "1:1: error: 'convert-scf-to-cf' has no option 'fast'"),
        ("async-parallel-for{num-workers=x}", "1:1: error: 'x' is not a value for 'num-workers'"),
        ("async-parallel-for{async-dispatch=2}", "'2' is not a value for 'async-dispatch'"),
    ],
)
def test_a_wrong_pipeline_is_refused_at_its_column(text: str, message: str) -> None:
    with pytest.raises(PipelineError, match=message):
        parse_pipeline(text)
