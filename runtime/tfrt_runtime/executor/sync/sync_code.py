"""The code of a sync function before it has registers and addresses: a list of instructions.

What an instruction needs beside registers depends on its operation (`native.sync_layouts`).
`OPERATIONS` says which native kernels are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tfrt_runtime import scalars
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.kernels.registry import ControlKernel, Kernel, PythonKernel
from tfrt_runtime.native.layouts import TYPE_CHAIN, TYPE_OBJECT
from tfrt_runtime.native.sync import sync_layouts
from tfrt_runtime.native.sync import sync_layouts as ops

LABEL = -1
"""The operation of a place that jumps go to: it is no instruction of the interpreter."""


@dataclass(eq=False, slots=True)
class Register:
    """A value of a known payload type; TYPE_OBJECT for one that is boxed.

    `constant` is the word of a constant, which is the offset of an AsyncValue in the arena for a
    boxed one.
    """

    type: int
    constant: int | None = None

    @property
    def is_boxed(self) -> bool:
        """Whether it owns a reference to an AsyncValue."""
        return self.type == TYPE_OBJECT


@dataclass(frozen=True, slots=True)
class Record:
    """What a kernel finds in its record, and the report of an error: see `layouts.RECORD_*`."""

    handle: int
    address: int = 0
    flags: int = 0
    data: tuple[int, ...] = ()


@dataclass(eq=False, slots=True)
class Label:
    """A place in the code."""


@dataclass(eq=False, slots=True)
class Instruction:
    """One operation.

    `number` is a constant, a payload type, a message, the function and number of a register or, for
    a jump, its weight; `callee` the index of a function.
    """

    operation: int
    writes: Sequence[Register] = ()
    reads: Sequence[Register] = ()
    number: int = 0
    labels: Sequence[Label] = ()
    record: Record | None = None
    callee: int = -1


@dataclass(slots=True)
class SyncCode:
    """The code of one function: its parameters, then what its return reads."""

    parameters: list[Register]
    result_types: list[int]
    instructions: list[Instruction]
    weight: int


def label(place: Label) -> Instruction:
    """The place itself."""
    return Instruction(LABEL, labels=(place,))


def jump_when(condition: Register, when: bool, place: Label) -> Instruction:
    """Go on at `place` if the condition is `when`."""
    return Instruction(ops.JUMP_IF if when else ops.JUMP_UNLESS, reads=[condition], labels=(place,))


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

CONTROL = frozenset(
    f"control_kernels.{name}" for name in ("call", "cond", "case", "repeat", "while_loop")
)
"""Control kernels that can wait for what they call."""


def runs_in_sync(kernel: Kernel) -> bool:
    """Whether a kernel may be in a sync function.

    An ordinary Python function has its results when it returns, so it may.
    """
    if isinstance(kernel, ControlKernel):
        return kernel.symbol in CONTROL
    if isinstance(kernel, PythonKernel):
        return kernel.sync or not (kernel.raw or kernel.blocking or kernel.has_lazy)
    return kernel.sync
