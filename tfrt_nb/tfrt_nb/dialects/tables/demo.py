"""`demo`: what makes a first program worth watching."""

from __future__ import annotations

from tfrt_nb.dialects.tables.signatures import Form, family, kernel, table

SIGNATURES = table(
    # In quotes it takes operands of any types, and gives them back.
    kernel("demo.wait", "chain -> chain", seconds="f64"),
    family("i1 i32 i64 f32 f64", "demo.wait.{}", "{0} -> {0}", Form.OPERANDS, seconds="f64"),
)
"""The kernels `demo.*`."""
