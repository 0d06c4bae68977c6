"""Test that kernels get arguments of the right types, whatever a file connects."""

from __future__ import annotations

import re

import pytest

from tfrt_nb.programs import Program
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.context import HostContext


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (
            '%r = "tfrt.lessequal.i32"(%a, %b) : (i64, i64) -> i1',
            "'tfrt.lessequal.i32' takes i32 as argument 0, found i64",
        ),
        (
            '%r = "tfrt_test.sum"(%x, %b) : (i32, i64) -> i32',
            "'tfrt_test.sum' takes i32 as argument 1, found i64",
        ),
        (
            '%r = "tfrt.lessequal.i32"(%x, %x, %s) : (i32, i32, !tfrt.string) -> i1',
            "'tfrt.lessequal.i32' takes 2 arguments, found 3",
        ),
    ],
)
def test_another_type_is_an_error_at_its_kernel(
    host: HostContext, operation: str, message: str
) -> None:
    text = f"""
func @main() {{
  %x = tfrt.constant.i32 1
  %a = tfrt.constant.i64 1
  %b = tfrt.constant.i64 2
  %s = "tfrt_test.get_string"() {{value = "text"}} : () -> !tfrt.string
  {operation}
  tfrt.return
}}
"""
    with pytest.raises(TfrtError, match=re.escape(f":7:8: error: {message}")):
        Program(text).run(host, "main")


def test_a_chain_too_many_only_orders(host: HostContext) -> None:
    program = Program("""
func @main() -> i1 {
  %a = tfrt.constant.i32 1
  %c = tfrt.new.chain
  %r = "tfrt.lessequal.i32"(%a, %a, %c) : (i32, i32, !tfrt.chain) -> i1
  tfrt.return %r : i1
}
""")
    assert program.run(host).result() is True


def test_what_only_a_run_knows_is_looked_at_then(host: HostContext) -> None:
    program = Program("""
func @main(%y: i64) -> i32 {
  %c = tfrt.new.chain
  %x = "tfrt_test.identity"(%c, %y) : (!tfrt.chain, i64) -> i32
  %r = tfrt.add.i32 %x, %x
  tfrt.return %r : i32
}
""")
    run = program.run(host, "main", [7])
    run.wait()
    assert [problem.message for problem in run.diagnostics] == [
        "an argument has a different type than the kernel takes"
    ]
