"""Reference counts on the high-level operations, as the seed's review (D90716) introduced them.

They were later moved to the runtime operations (`async.runtime.add_ref`), where the count is an i64.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from tfrt_nb.dialects.async_.runtime import CountingOp


@irdl_op_definition
class AddRefOp(CountingOp):
    """Takes `count` more references."""

    name = "async.add_ref"
    BITS: ClassVar[int] = 32


@irdl_op_definition
class DropRefOp(CountingOp):
    """Drops `count` references; the last one destroys the object."""

    name = "async.drop_ref"
    BITS: ClassVar[int] = 32
