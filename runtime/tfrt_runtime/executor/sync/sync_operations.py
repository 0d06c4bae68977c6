"""Which native kernels are operations of the sync interpreter, by the symbol of the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from tfrt_runtime import scalars
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.native.layouts import TYPE_CHAIN, TYPE_OBJECT
from tfrt_runtime.native.sync import sync_layouts


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation with the payload types of what it reads and writes."""

    number: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]


WIDE = ("complex64", "complex128")
"""Scalars whose payload is more than a word."""


def register_type(text: str) -> int:
    """The payload type of registers for values of an MLIR type, or of a type word."""
    if text in ("!tfrt.chain", "chain"):
        return TYPE_CHAIN
    return TYPE_OBJECT if text in WIDE else SCALAR_TYPES.get(text, TYPE_OBJECT)


def _operations() -> dict[str, Operation]:
    """The table of scalar operations; what loops are made of has instructions of its own."""
    # In two's complement the lower half of a sum does not depend on the upper halves.
    numbers = {"and_i1": sync_layouts.AND}
    for word in ("i32", "i64"):
        numbers |= {
            f"add_{word}": sync_layouts.ADD,
            f"minus_{word}": sync_layouts.SUBTRACT,
            f"mul_{word}": sync_layouts.MULTIPLY,
            f"equal_{word}": getattr(sync_layouts, f"EQUAL_{word.upper()}"),
            f"lessequal_{word}": getattr(sync_layouts, f"LESS_EQUAL_{word.upper()}"),
        }
    return {
        f"scalar_kernels.{operation.symbol}": Operation(
            numbers.get(operation.symbol, sync_layouts.SCALAR),
            tuple(SCALAR_TYPES[word] for word in operation.operands),
            tuple(SCALAR_TYPES[word] for word in operation.results),
        )
        for operation in scalars.OPERATIONS.values()
    }


OPERATIONS = _operations()
"""The kernels that are one operation."""
