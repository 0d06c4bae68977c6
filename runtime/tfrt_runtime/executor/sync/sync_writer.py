"""The sync functions of a program, laid out in an arena for the interpreter.

For the rest of the program a sync function has one kernel, which runs its code.  Each register of
the code gets a place in the frame, where a word is used again as soon as it is free; then the
instructions become words.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.executor.loading.arena import Arena
from tfrt_runtime.executor.loading.decode import Call, FunctionWriter, write_constant
from tfrt_runtime.executor.loading.native_functions import one_kernel
from tfrt_runtime.executor.sync.sync_code import (
    LABEL,
    Instruction,
    Label,
    Record,
    Register,
)
from tfrt_runtime.executor.sync.sync_lowering import Lowering, SyncFunction
from tfrt_runtime.kernels.registry import ControlKernel
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.sync import sync_layouts as ops
from tfrt_runtime.native.sync.sync_layouts import (
    CODE_ARGUMENTS,
    CODE_BOXES,
    CODE_ENTRY,
    CODE_FRAME,
    CODE_MACHINE,
    CODE_RESULTS,
    CODE_RESUME,
    CODE_TYPES,
    CODE_WEIGHT,
    FRAME_REGISTERS,
)

INTERPRETER = "sync_interpreter.run"
MAX_SINGLE_CONSTANTS = 2
"""More constants than these are copied into the frame all at once."""


class SyncFunctions:
    """Writes what is needed of the sync functions of a program."""

    def __init__(
        self,
        arena: Arena,
        symbols: Callable[[str], int],
        functions: Sequence[SyncFunction],
        machines: Mapping[int, int],
        *,
        watched: bool,
    ) -> None:
        """
        Args:
            functions: those of the program, of any kind, in the order of the file.
            machines: where the arena has what the core knows of the machine code of functions, by
                index.
            watched: the code logs each value in runs that are watched; it is slower in all.
        """
        self._arena = arena
        self._symbols = symbols
        self._functions = functions
        self._machines = machines
        self._watched = watched
        self._codes: dict[int, int] = {}
        self._pending: list[int] = []

    def write(self, function_offsets: Sequence[int]) -> None:
        """Fill the function structs of sync functions; regions of sync functions need none."""
        called = set[int]().union(*map(_called_from_outside, self._functions))
        for index, source in enumerate(self._functions):
            function = source.function
            if function.kind is FunctionKind.SYNC and (function.name or index in called):
                self._write_shell(source, function_offsets[index], self._code(index))
        while self._pending:
            self._write_code(self._pending.pop())

    def _write_shell(self, source: SyncFunction, offset: int, code: int) -> None:
        function = one_kernel(source.function, INTERPRETER)
        call = Call(self._symbols(INTERPRETER), at.KERNEL_CONTROL, code=code)
        writer = FunctionWriter(self._arena, function, {}, [call], source.first_handle)
        writer.write(offset, [], shell=True)

    def _code(self, index: int) -> int:
        """Where the code of a function is going to be."""
        if index not in self._codes:
            function = self._functions[index].function
            arguments, results = len(function.argument_types), len(function.result_types)
            self._codes[index] = self._arena.reserve(CODE_TYPES // 8 + arguments + results)
            self._pending.append(index)
        return self._codes[index]

    def _write_code(self, index: int) -> None:
        """Fill the code struct of a function."""
        arena, offset = self._arena, self._codes[index]
        box = functools.partial(write_constant, arena)
        code = Lowering(self._functions, box, self._watched).lower(index)
        frame = allocate(code.parameters, code.instructions)
        callees = {
            instruction.callee: self._code(instruction.callee)
            for instruction in code.instructions
            if instruction.operation == ops.CALL
        }
        numbers = {
            CODE_FRAME: frame.size,
            CODE_WEIGHT: code.weight + 1,
            CODE_RESUME: self._symbols("sync_interpreter.resume"),
            CODE_ARGUMENTS: len(code.parameters),
            CODE_BOXES: frame.boxes,
            CODE_RESULTS: len(code.result_types),
        }
        for place, number in numbers.items():
            arena.put(offset + place, number)
        types = [register.type for register in code.parameters] + code.result_types
        arena.put_all(offset + CODE_TYPES, types, ())
        entry = _Writer(arena, frame, callees).write(code.instructions)
        arena.put_address(offset + CODE_ENTRY, entry)
        if index in self._machines:
            arena.put_address(offset + CODE_MACHINE, self._machines[index])


def _called_from_outside(source: SyncFunction) -> set[int]:
    """The functions that a function calls otherwise than sync code calls sync code."""
    if source.function.kind is not FunctionKind.SYNC:
        return source.function.callees
    called = set[int]()
    for kernel, record in zip(source.kernels, source.function.kernels, strict=True):
        if not isinstance(kernel, ControlKernel):
            called.update(record.functions)
    return called


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
        operation, number, start = instruction.operation, instruction.number, 8 * len(self._words)
        writes, reads = self._places(instruction.writes), self._places(instruction.reads)
        match operation:
            case ops.JUMP | ops.JUMP_IF | ops.JUMP_UNLESS | ops.REPEAT:
                fields = [0, *(reads or [0]), 0, number]
            case ops.START_REPEAT:
                fields = [0, writes[0], reads[0]]
            case ops.CASE:
                fields = [reads[0], number]
            case ops.FAIL:
                fields = [number]
            case ops.KERNEL | ops.SCALAR:
                fields = []
            case ops.CALL:
                fields = [len(reads)]
            case ops.RETURN:
                fields = [len(reads), *reads]
            case ops.LOG:
                fields = [reads[0], instruction.reads[0].type]
            case ops.UNBOX:
                fields = [*writes, *reads, instruction.writes[0].type]
            case ops.BOX:
                fields = [*writes, *reads, instruction.reads[0].type]
            case ops.HAND_ON:
                fields = [writes[0], *reads]
            case _:
                fields = [*writes, *reads]
        self._fields(operation, *fields)
        if operation == ops.LOG:
            self._words.append((number, False))
        elif operation == ops.CALL:
            self._words.append((self._callees[instruction.callee], True))
        if instruction.record is not None:
            self._record(instruction, instruction.record)
        if operation == ops.CALL:
            length = ops.CALL_REGISTERS + 8 * ((len(reads) + len(writes) + 1) // 2)
            self._fields(self._frame.size, length, *reads, *writes)
        first = 24 if operation == ops.CASE else 4
        for index, target in enumerate(instruction.labels):
            self._jumps.append((start + first + 4 * index, start, target))
        if operation == ops.CASE:
            self._fields(*[0] * len(instruction.labels))

    def _record(self, instruction: Instruction, record: Record) -> None:
        """Append the address of the instruction's record."""
        registers: tuple[int, ...] = ()
        arguments = len(instruction.reads)
        if instruction.operation in (ops.KERNEL, ops.SCALAR):
            registers = tuple(
                self._place(register) | register.type << 32
                for register in (*instruction.reads, *instruction.writes)
            )
        key = (record, registers, arguments)
        if key not in self._records:
            results = len(instruction.writes)
            self._records[key] = self._write_record(record, registers, arguments, results)
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
    constants = list(
        dict.fromkeys(
            register
            for instruction in code
            for register in instruction.reads
            if register.constant is not None
        )
    )
    lifetimes = _lifetimes(code, {*parameters, *constants})
    boxed, plain = (_numbers(code, lifetimes, is_boxed) for is_boxed in (True, False))
    boxes = 1 + max(boxed.values(), default=-1)
    first_constant = len(parameters) + boxes
    first_plain = first_constant + len(constants)
    indexes = {register: index for index, register in enumerate(parameters)}
    indexes |= {register: len(parameters) + number for register, number in boxed.items()}
    indexes |= {register: first_constant + index for index, register in enumerate(constants)}
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


def _numbers(
    code: Sequence[Instruction], lifetimes: Mapping[Register, tuple[int, int]], is_boxed: bool
) -> dict[Register, int]:
    """Numbers for the registers of one kind, from 0 on.

    A plain register may take the place of one that the same instruction reads last: all operations
    read before they write.  A boxed one may not.
    """
    numbers: dict[Register, int] = {}
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
    return numbers
