"""`vt`: a value that prints when it is constructed, moved, copied and destroyed."""

from __future__ import annotations

from tfrt_nb.dialects.tables.signatures import kernel, table

SIGNATURES = table(
    kernel("vt.constant", "-> vt", value="i32"),
    kernel("vt.add", "vt vt -> vt"),
    kernel("vt.print", "vt chain -> chain"),
)
"""The kernels `vt.*`."""
