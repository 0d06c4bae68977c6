"""Sync code as the interpreter reads it, in an arena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfrt_runtime.executor.loading.arena import Arena
from tfrt_runtime.executor.sync.sync_code import (
    LABEL,
    Instruction,
    Label,
    Record,
    Register,
    SyncCode,
)
from tfrt_runtime.executor.sync.sync_registers import Frame, allocate
from tfrt_runtime.executor.sync.sync_tidying import tidied
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.sync import sync_layouts as ops
from tfrt_runtime.native.sync.sync_layouts import (
    CODE_ARGUMENTS,
    CODE_BOXES,
    CODE_ENTRY,
    CODE_FRAME,
    CODE_RESULTS,
    CODE_RESUME,
    CODE_TYPES,
    CODE_WEIGHT,
)

MAX_SINGLE_CONSTANTS = 2
"""More constants than these are copied into the frame all at once."""


def reserve_code(arena: Arena, arguments: int, results: int) -> int:
    """Room for the code struct of a function, to be filled by `write_code`; its offset."""
    return arena.reserve(CODE_TYPES // 8 + arguments + results)


def write_code(
    arena: Arena, offset: int, code: SyncCode, callees: Mapping[int, int], resume: int
) -> None:
    """Fill the code struct at `offset`; `callees` has those of other functions by index."""
    instructions = tidied(code.instructions)
    frame = allocate(code.parameters, instructions)
    numbers = {
        CODE_FRAME: frame.size,
        CODE_WEIGHT: code.weight + 1,
        CODE_RESUME: resume,
        CODE_ARGUMENTS: len(code.parameters),
        CODE_BOXES: frame.boxes,
        CODE_RESULTS: len(code.result_types),
    }
    for place, number in numbers.items():
        arena.put(offset + place, number)
    types = [register.type for register in code.parameters] + code.result_types
    for index, payload_type in enumerate(types):
        arena.put(offset + CODE_TYPES + 8 * index, payload_type)
    writer = _Writer(arena, frame, callees)
    arena.put_address(offset + CODE_ENTRY, writer.write(instructions))


class _Writer:
    """Writes the instructions of one function."""

    def __init__(self, arena: Arena, frame: Frame, callees: Mapping[int, int]) -> None:
        self._arena = arena
        self._frame = frame
        self._callees = callees
        self._records: dict[tuple[Record, tuple[int, ...], int], int] = {}
        self._labels: dict[Label, int] = {}
        self._words: list[tuple[int, bool]] = []
        """Words, and whether they are offsets in the arena that become addresses."""
        self._jumps: list[tuple[int, int, Label]] = []
        """Field, the jump's place, and its target."""

    def write(self, instructions: Sequence[Instruction]) -> int:
        """Where the first instruction is."""
        self._constants()
        for instruction in instructions:
            if instruction.operation == LABEL:
                self._labels[instruction.labels[0]] = 8 * len(self._words)
            else:
                self._instruction(instruction)
        for field, start, target in self._jumps:
            self._set_field(field, self._labels[target] - start)
        first = self._arena.offset
        for word, is_address in self._words:
            if is_address:
                self._arena.add_addresses(word)
            else:
                self._arena.add(word)
        return first

    def _set_field(self, field: int, value: int) -> None:
        """Fill the 32 bits at byte `field`, which are 0."""
        word, _ = self._words[field // 8]
        shifted = (value & 0xFFFFFFFF) << 8 * (field % 8)
        self._words[field // 8] = (_signed(word & 0xFFFFFFFFFFFFFFFF | shifted), False)

    def _fields(self, *fields: int) -> None:
        """Append 32-bit fields, filled up to whole words."""
        padded = [*fields, 0][: len(fields) + len(fields) % 2]
        for low, high in zip(padded[::2], padded[1::2], strict=True):
            self._words.append((_signed(low & 0xFFFFFFFF | (high & 0xFFFFFFFF) << 32), False))

    def _place(self, register: Register) -> int:
        return self._frame.places[register]

    def _places(self, registers: Sequence[Register]) -> list[int]:
        return [self._frame.places[register] for register in registers]

    def _constants(self) -> None:
        constants = self._frame.constants
        if not constants:
            return
        if len(constants) <= MAX_SINGLE_CONSTANTS:
            for register in constants:
                self._fields(ops.CONSTANT, self._place(register))
                self._words.append((register.constant or 0, register.is_boxed))
            return
        pool = self._arena.offset
        for register in constants:
            if register.is_boxed:
                self._arena.add_addresses(register.constant or 0)
            else:
                self._arena.add(register.constant or 0)
        self._fields(ops.CONSTANTS, self._place(constants[0]))
        self._words += [(pool, True), (8 * len(constants), False)]

    def _instruction(self, instruction: Instruction) -> None:
        operation = instruction.operation
        writes, reads = self._places(instruction.writes), self._places(instruction.reads)
        if ops.JUMP <= operation <= ops.REPEAT:
            self._jump(instruction, reads)
        elif operation == ops.START_REPEAT:
            start = 8 * len(self._words)
            self._jumps.append((start + 4, start, instruction.labels[0]))
            self._fields(operation, 0, writes[0], reads[0])
            self._record(instruction)
        elif operation == ops.CASE:
            self._case(instruction, reads)
        elif operation in (ops.KERNEL, ops.SCALAR):
            self._fields(operation)
            self._record(instruction)
        elif operation == ops.FAIL:
            self._fields(operation, instruction.number)
            self._record(instruction)
        elif operation == ops.CALL:
            self._call(instruction, writes, reads)
        elif operation == ops.RETURN:
            self._fields(operation, len(reads), *reads)
        elif operation == ops.LOG:
            self._fields(operation, reads[0], instruction.reads[0].type)
            self._words.append((instruction.number, False))
        elif operation == ops.UNBOX:
            self._fields(operation, *writes, *reads, instruction.writes[0].type)
            self._record(instruction)
        elif operation == ops.BOX:
            self._fields(operation, *writes, *reads, instruction.reads[0].type)
        elif operation == ops.HAND_ON:
            self._fields(operation, writes[0], *reads)
        else:
            self._fields(operation, *writes, *reads)

    def _jump(self, instruction: Instruction, reads: list[int]) -> None:
        start = 8 * len(self._words)
        self._jumps.append((start + 4, start, instruction.labels[0]))
        first, second, *_ = (*reads, 0, 0)
        self._fields(instruction.operation, 0, first, second, instruction.number)

    def _case(self, instruction: Instruction, reads: list[int]) -> None:
        start = 8 * len(self._words)
        self._fields(instruction.operation, reads[0], instruction.number)
        self._record(instruction)
        for index, target in enumerate(instruction.labels):
            self._jumps.append((start + 24 + 4 * index, start, target))
        self._fields(*[0] * len(instruction.labels))

    def _call(self, instruction: Instruction, writes: list[int], reads: list[int]) -> None:
        self._fields(instruction.operation, len(reads))
        self._words.append((self._callees[instruction.callee], True))
        self._record(instruction)
        length = 32 + 8 * ((len(reads) + len(writes) + 1) // 2)
        self._fields(self._frame.size, length, *reads, *writes)

    def _record(self, instruction: Instruction) -> None:
        """Append the address of the instruction's record."""
        assert instruction.record is not None
        registers: tuple[int, ...] = ()
        arguments = len(instruction.reads)
        if instruction.operation in (ops.KERNEL, ops.SCALAR):
            registers = tuple(
                self._place(register) | register.type << 32
                for register in (*instruction.reads, *instruction.writes)
            )
        key = (instruction.record, registers, arguments)
        if key not in self._records:
            results = len(instruction.writes)
            self._records[key] = self._write_record(
                instruction.record, registers, arguments, results
            )
        self._words.append((self._records[key], True))

    def _write_record(
        self, record: Record, registers: tuple[int, ...], arguments: int, results: int
    ) -> int:
        arena = self._arena
        data = arena.add(*record.data) if record.data else 0
        offset = arena.reserve(at.RECORD_REGISTERS // 8)
        arena.add(*registers)
        numbers = {
            at.RECORD_KERNEL: record.address,
            at.RECORD_ARGUMENTS: arguments,
            at.RECORD_RESULTS: results,
            at.RECORD_FLAGS: record.flags,
            at.RECORD_HANDLE: record.handle,
        }
        for place, number in numbers.items():
            arena.put(offset + place, number)
        if data:
            arena.put_address(offset + at.RECORD_DATA, data)
        return offset


def _signed(word: int) -> int:
    return (word + 2**63) % 2**64 - 2**63
