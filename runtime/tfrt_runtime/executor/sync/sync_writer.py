"""Sync code as the interpreter reads it, in an arena.

First the code is tidied, then each register gets its place in the frame, where a word is used again as soon as it
is free; then the instructions become words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from tfrt_runtime.executor.loading.arena import Arena
from tfrt_runtime.executor.sync.sync_code import (
    LABEL,
    Instruction,
    Label,
    Record,
    Register,
    SyncCode,
    final,
)
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
    FRAME_REGISTERS,
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


def tidied(code: Sequence[Instruction]) -> list[Instruction]:
    """The same code with registers as what they have become."""
    for instruction in code:
        instruction.reads = [final(register) for register in instruction.reads]
        instruction.writes = [final(register) for register in instruction.writes]
    return return_early(
        [one for one in code if not (one.operation == ops.MOVE and one.reads == one.writes)]
    )


def return_early(code: Sequence[Instruction]) -> list[Instruction]:
    """Return where a branch ends, in the place of going to where all branches return."""
    returns: dict[Label, Instruction] = {}
    for place, following in pairwise(code):
        if place.operation == LABEL and following.operation == ops.RETURN:
            returns[place.labels[0]] = following
    made: list[Instruction] = []
    for instruction in code:
        if instruction.operation == ops.JUMP and instruction.labels[0] in returns:
            instruction = Instruction(ops.RETURN, reads=list(returns[instruction.labels[0]].reads))
        if instruction.operation == ops.RETURN:
            while made and made[-1].operation == ops.MOVE:  # to a frame that is about to vanish
                moved = made.pop()
                instruction.reads = [
                    moved.reads[0] if register is moved.writes[0] else register
                    for register in instruction.reads
                ]
        made.append(instruction)
    return made


@dataclass(frozen=True, slots=True)
class Frame:
    """Where registers are, as byte offsets in a frame.

    Behind the arguments come `boxes` boxed registers, then the `constants`, then all others.
    """

    places: Mapping[Register, int]
    boxes: int
    constants: Sequence[Register]
    size: int


def allocate(parameters: Sequence[Register], code: Sequence[Instruction]) -> Frame:
    """Places for all registers of `code`."""
    fixed = set(parameters)
    constants = list(
        dict.fromkeys(
            register
            for instruction in code
            for register in instruction.reads
            if register.constant is not None
        )
    )
    fixed.update(constants)
    lifetimes = _lifetimes(code, fixed)
    boxed: dict[Register, int] = {}
    plain: dict[Register, int] = {}
    for is_boxed, numbers in ((True, boxed), (False, plain)):
        _number(code, lifetimes, is_boxed, numbers)
    boxes = 1 + max(boxed.values(), default=-1)
    words = [*parameters]
    first_box = len(words)
    first_constant = first_box + boxes
    first_plain = first_constant + len(constants)
    indexes = {register: index for index, register in enumerate(parameters)}
    indexes |= {register: first_box + number for register, number in boxed.items()}
    indexes |= {register: first_constant + i for i, register in enumerate(constants)}
    indexes |= {register: first_plain + number for register, number in plain.items()}
    count = first_plain + 1 + max(plain.values(), default=-1)
    places = {register: FRAME_REGISTERS + 8 * index for register, index in indexes.items()}
    return Frame(places, boxes, constants, FRAME_REGISTERS + 8 * count)


def _lifetimes(
    code: Sequence[Instruction], fixed: set[Register]
) -> dict[Register, tuple[int, int]]:
    """The first and the last instruction of each register.

    What is made before a loop and used in it lasts until the loop ends.
    """
    first: dict[Register, int] = {}
    last: dict[Register, int] = {}
    labels: dict[Label, int] = {}
    for position, instruction in enumerate(code):
        for register in (*instruction.reads, *instruction.writes):
            if register not in fixed:
                first.setdefault(register, position)
                last[register] = position
        if instruction.operation == LABEL:
            labels[instruction.labels[0]] = position
        for target in instruction.labels:
            if labels.get(target, position) < position:
                _outlive(code, labels[target], position, first, last)
    return {register: (position, last[register]) for register, position in first.items()}


def _outlive(
    code: Sequence[Instruction],
    start: int,
    end: int,
    first: Mapping[Register, int],
    last: dict[Register, int],
) -> None:
    """The code from `start` to `end` is a loop."""
    for position in range(start, end + 1):
        for register in (*code[position].reads, *code[position].writes):
            if first.get(register, start) < start:
                last[register] = max(last[register], end)


def _number(
    code: Sequence[Instruction],
    lifetimes: Mapping[Register, tuple[int, int]],
    is_boxed: bool,
    numbers: dict[Register, int],
) -> None:
    """Number the registers of one kind from 0 on.

    A plain register may take the place of one that the same instruction reads last: all operations
    read before they write.  A boxed one may not.
    """
    free: list[int] = []
    count = 0
    for position, instruction in enumerate(code):
        touched = [
            register
            for register in dict.fromkeys((*instruction.reads, *instruction.writes))
            if register in lifetimes and register.is_boxed == is_boxed
        ]
        ended = [register for register in touched if lifetimes[register][1] == position]
        if not is_boxed:
            free += [numbers[register] for register in ended if register in numbers]
        for register in touched:
            if register not in numbers:
                if not free:
                    free.append(count)
                    count += 1
                numbers[register] = free.pop()
                if not is_boxed and register in ended:
                    free.append(numbers[register])
        if is_boxed:
            free += [numbers[register] for register in ended]
