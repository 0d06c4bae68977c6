"""Which native kernels are operations of the sync interpreter, by the symbol of the kernel."""

from __future__ import annotations

from dataclasses import dataclass

from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.native import sync_layouts
from tfrt_runtime.native.layouts import TYPE_CHAIN, TYPE_OBJECT


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation with the payload types of what it reads and writes."""

    number: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    may_fail: bool = False


WIDE = ("complex64", "complex128")
"""Scalars whose payload is more than a word."""


def register_type(text: str) -> int:
    """The payload type of registers for values of an MLIR type, or of a type word."""
    if text in ("!tfrt.chain", "chain"):
        return TYPE_CHAIN
    return TYPE_OBJECT if text in WIDE else SCALAR_TYPES.get(text, TYPE_OBJECT)


def _types(words: str) -> tuple[int, ...]:
    return tuple(SCALAR_TYPES[word] for word in words.split())


def _operations() -> dict[str, Operation]:
    found: dict[str, Operation] = {}

    def add(symbol: str, number: int, reads: str, writes: str, may_fail: bool = False) -> None:
        found[f"scalar_kernels.{symbol}"] = Operation(
            number, _types(reads), _types(writes), may_fail
        )

    for word in ("i32", "i64"):
        # In two's complement the lower half of a sum does not depend on the upper halves.
        add(f"add_{word}", sync_layouts.ADD, f"{word} {word}", word)
        add(f"minus_{word}", sync_layouts.SUBTRACT, f"{word} {word}", word)
        add(f"multiply_{word}", sync_layouts.MULTIPLY, f"{word} {word}", word)
        for name in ("EQUAL", "LESS_EQUAL"):
            number = getattr(sync_layouts, f"{name}_{word.upper()}")
            add(f"{name.lower()}_{word}", number, f"{word} {word}", "i1")
        number = getattr(sync_layouts, f"DIVIDE_{word.upper()}")
        add(f"divide_{word}", number, f"{word} {word}", f"{word} {word}", True)
    for word in ("f32", "f64"):
        for name in ("ADD", "MULTIPLY", "MINIMUM"):
            number = getattr(sync_layouts, f"{name}_{word.upper()}")
            add(f"{name.lower()}_{word}", number, f"{word} {word}", word)
        number = getattr(sync_layouts, f"DIVIDE_{word.upper()}")
        add(f"divide_{word}", number, f"{word} {word}", word, True)
        add(
            f"cast_i64_to_{word}", getattr(sync_layouts, f"CAST_I64_TO_{word.upper()}"), "i64", word
        )
        add(
            f"cast_{word}_to_i64", getattr(sync_layouts, f"CAST_{word.upper()}_TO_I64"), word, "i64"
        )
    add("and_i1", sync_layouts.AND, "i1 i1", "i1")
    return found


OPERATIONS = _operations()
"""The kernels that are one operation."""
