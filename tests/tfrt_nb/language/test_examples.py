"""Test examples of operations; `tests/test_docs.py` tests that the kernels' examples run."""

from __future__ import annotations

from tfrt_nb.cli.examples import run_example
from tfrt_nb.language.examples import example


def test_an_example_of_the_rule_shows_operands_kernel_and_result() -> None:
    assert (
        example("tfrt.floordiv.i64")
        == """\
func.func @main() -> (i64, i64) {
  %a = tfrt.constant.i64 13
  %b = tfrt.constant.i64 6
  %x, %y = tfrt.floordiv.i64 %a, %b
  tfrt.return %x, %y : i64, i64
}"""
    )
    assert run_example(example("tfrt.floordiv.i64")) == "'main' returned 2,1"


def test_an_example_by_hand_has_the_types_of_the_kernel() -> None:
    program = example("tfrt_test.matmul.f32.2")
    assert "dense<[[1.0, 2.0]]> : tensor<1x2xf32>" in program
    assert "dense<[[1, 2]]> : tensor<1x2xi32>" in example("tfrt_test.matmul.i32.2")
    # 2 * (1 * 3 + 2 * 4) + 5
    assert "values = [2.700000e+01]" in run_example(program)
