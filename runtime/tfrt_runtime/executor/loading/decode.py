"""Decode a BEF function for the executor: records, slots, and a template, in native memory.

Constants are kernels that do not run.  The loader creates each constant's value once, and writes it
into the template.  Uses of constants do not count in ready counts.  A kernel with a ready count of
0 is an entry.

Ready counts and users are computed from the kernels' arguments instead of being read from the file,
so an inconsistent file cannot make the executor wait forever.  Later users come first, as in BEF.

The kernels of a sync function have no ready counts and no users: they run in program order.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import NamedTuple

from tfrt_runtime.bef.records import BefFunction, FunctionKind
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.native import layouts as at


class Mark(NamedTuple):
    """A position in an arena, as the number of preceding words and of preceding relocations."""

    words: int
    relocations: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of an arena that other functions can repeat: a head, and the words appended after it.

    `addresses` are the positions of addresses, and `inner` are the positions of addresses that
    point into the piece.  `numbers` are the positions of words that increase from piece to piece.
    """

    words: array[int]
    head_words: int
    offset: int
    addresses: tuple[int, ...]
    inner: tuple[int, ...]
    numbers: tuple[int, ...]


class Arena:
    """A list of words in which some words are offsets.  `seal` turns the offsets into addresses.

    All offsets are in bytes from the start.
    """

    def __init__(self) -> None:
        self.words = array("q")
        self._relocations = array("q")

    @property
    def offset(self) -> int:
        """The offset of the next word."""
        return 8 * len(self.words)

    def add(self, *words: int) -> int:
        """Append plain words; return the offset of the first."""
        return self.add_array(array("q", words))

    def add_array(self, words: array[int]) -> int:
        """Append plain words, or an even number of half words; return the offset of the first."""
        offset = self.offset
        self.words.frombytes(words.tobytes())
        return offset

    def add_addresses(self, *offsets: int) -> int:
        """Append offsets, which `seal` turns into addresses; return the position of the first."""
        first = len(self.words)
        self.words.extend(offsets)
        self._relocations.extend(range(first, first + len(offsets)))
        return 8 * first

    def reserve(self, count: int) -> int:
        """Append `count` zero words, to be filled later; return the offset of the first."""
        offset = 8 * len(self.words)
        self.words.frombytes(bytes(8 * count))
        return offset

    def put(self, offset: int, word: int) -> None:
        """Fill a reserved word."""
        self.words[offset // 8] = word

    def put_address(self, offset: int, target: int) -> None:
        """Fill a reserved word with an offset in the arena that `seal` turns into an address."""
        self.words[offset // 8] = target
        self._relocations.append(offset // 8)

    @property
    def mark(self) -> Mark:
        """The current position, where a piece may start."""
        return Mark(len(self.words), len(self._relocations))

    def piece(self, mark: Mark, head: int, head_words: int, numbers: Iterable[int]) -> Piece:
        """Return the words appended since `mark`, after the head at offset `head`, as a piece.

        `numbers` are the offsets of words that increase from piece to piece.
        """
        first, relocations = mark
        place = head // 8
        moved = head_words - first
        positions = [
            position + moved if position >= first else position - place
            for position in self._relocations[relocations:]
        ]
        words = self.words[place : place + head_words] + self.words[first:]
        return Piece(
            words,
            head_words,
            8 * first,
            tuple(positions),
            tuple([position for position in positions if words[position] >= 8 * first]),
            tuple([number // 8 + moved for number in numbers]),
        )

    def repeat(self, piece: Piece, head: int, step: int) -> int:
        """Fill another head, and append a copy of `piece` whose numbers are increased by `step`.

        Return the distance in bytes from the original to the copy.
        """
        first, place, head_words = len(self.words), head // 8, piece.head_words
        moved = 8 * first - piece.offset
        words = piece.words[:]
        for position in piece.inner:
            words[position] += moved
        for position in piece.numbers:
            words[position] += step
        self.words[place : place + head_words] = words[:head_words]
        self.words += words[head_words:]
        behind = first - head_words
        self._relocations.extend(
            [
                position + (behind if position >= head_words else place)
                for position in piece.addresses
            ]
        )
        return moved

    def seal(self) -> tuple[array[int], int]:
        """Turn offsets into addresses; return the memory and its address.

        The arena is then empty.  The memory lives as long as the returned array, which must not
        grow.
        """
        memory, self.words = self.words, array("q")
        base, _ = memory.buffer_info()
        for position in self._relocations:
            memory[position] += base
        return memory, base


MAX_BYTES = 1 << 31
"""The maximum size of a program's arena, into which records and slots refer with half words."""

_REGISTER = at.REGISTER_SIZE // 4
_CALL, _ARGUMENTS, _RESULTS, _RECORD, _WAITS = (
    slice(place // 4, None, at.PLANNED_SIZE // 4)
    for place in (
        at.PLANNED_CALL,
        at.PLANNED_ARGUMENTS,
        at.PLANNED_RESULTS,
        at.PLANNED_RECORD,
        at.PLANNED_WAITS,
    )
)
"""Columns of the rows of kernels."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A constant: the payload type, and the two words of the payload."""

    payload_type: int
    first: int
    second: int


@dataclass(frozen=True, slots=True)
class Call:
    """The fields of a record without its registers.

    `functions` are function indexes.  `strict_arguments` is how many of a non-strict kernel's first
    arguments are strict.  If that is 0, any one argument starts the kernel.  If it is negative, the
    kernel awaits no arguments.
    """

    address: int
    flags: int = 0
    strict_arguments: int = 0
    data: tuple[int, ...] = ()
    functions: tuple[int, ...] = ()


class FunctionWriter:
    """Writes one function into an arena; native code (`calls.decoding`) writes its kernels."""

    def __init__(
        self,
        arena: Arena,
        function: BefFunction,
        constants: Mapping[int, Constant],
        calls: Sequence[Call | None],
        first_handle: int,
        decode: Callable[[int], object],
    ) -> None:
        """Prepare to write.

        `constants` are keyed by register, and `calls` contains None for constants.  `decode`
        is the core's `calls.decoding.decode`.
        """
        self._arena = arena
        self._function = function
        self._constants = constants
        self._calls = calls
        self._handle = first_handle
        self._decode = decode
        # Kernels of the same shape share one call (`Executable._resolve`), so there are few.
        self._distinct = {id(call): call for call in calls if call is not None}
        flags = [call.flags for call in self._distinct.values()]
        self._is_nonstrict = any(one & at.KERNEL_NONSTRICT for one in flags)
        self._is_in_order = function.kind is FunctionKind.SYNC
        self._rows = array("i", bytes(at.PLANNED_SIZE * len(calls)))
        self._registers = array("i", bytes(at.REGISTER_SIZE * function.register_count))

    def write(self, function_offset: int, function_offsets: Sequence[int]) -> None:
        """Fill the struct FUNCTION at `function_offset`, and write its tables."""
        start, end = self._decode_kernels(self._add_calls(function_offsets))
        records, waits = self._rows[_RECORD], self._rows[_WAITS]
        if self._is_nonstrict:
            self._write_waits()
        if self._is_in_order:
            counts = array("q", bytes(at.IN_ORDER_WORDS))
            entries = self._arena.add_addresses(start, end)
            results = self._function.result_registers
            self._arena.add(*(at.ACTIVATION_REGISTERS + 8 * register for register in results))
        else:
            counts = array("q", (count for count in waits if count or self._is_nonstrict))
            entries = self._write_entries(records, waits)
        self._write_function(function_offset, counts, entries)

    @property
    def handles(self) -> list[int]:
        """The offsets of the words with the kernels' handles."""
        return [record + at.RECORD_HANDLE for record in self._rows[_RECORD] if record]

    def _add_calls(self, function_offsets: Sequence[int]) -> array[int]:
        """Write the calls' data; return the calls, whose numbers go into the kernels' rows."""
        arena, table = self._arena, array("q")
        # A constant has no call; its row contains -1 (PLANNED_CALL).
        numbers = {id(None): -1}
        data: dict[tuple[int, ...], int] = {(): 0}  # kernels with the same data share it
        for number, (key, call) in enumerate(self._distinct.items()):
            numbers[key] = number
            if call.data not in data:
                data[call.data] = arena.add(*call.data)
            functions = 0
            if call.functions:
                functions = arena.add_addresses(*[function_offsets[i] for i in call.functions])
            strict = call.strict_arguments
            table.extend((call.address, call.flags, strict, data[call.data], functions))
        self._rows[_CALL] = array("i", [*map(numbers.__getitem__, map(id, self._calls))])
        return table

    def _decode_kernels(self, calls: array[int]) -> tuple[int, int]:
        """Write the records and slots; return where the records start and end."""
        arena, function, kernels = self._arena, self._function, self._function.kernels
        rows, registers = self._rows, self._registers
        rows[_ARGUMENTS] = array("i", [*kernels.each(attrgetter("argument_count"))])
        rows[_RESULTS] = array("i", [*kernels.each(attrgetter("result_count"))])
        operands = kernels.arguments
        returned = array("i", () if self._is_in_order else function.result_registers)
        for register in self._held:
            registers[_REGISTER * register] += 1
        for register in self._constants:
            registers[_REGISTER * register + at.REGISTER_SLOT // 4] = -1
        # A record has 10 half words, and one per argument and result. A slot has 4, and one per
        # return. Each of them may need one more for alignment.
        # Each use takes at most three half words in a slot.
        halves = 11 * len(kernels) + 6 * function.register_count + 4 * len(operands) + len(returned)
        start = arena.reserve(halves // 2 + 1)
        if arena.offset > MAX_BYTES:
            raise TfrtError(error("the program is too large: its functions would need over 2 GiB"))
        tables = [one.buffer_info()[0] for one in (calls, rows, operands, registers, returned)]
        calls_at, rows_at, operands_at, registers_at, returned_at = tables
        plan = array("q", bytes(at.PLAN_SIZE))
        for place, word in {
            at.PLAN_BASE: arena.words.buffer_info()[0],
            at.PLAN_START: start,
            at.PLAN_HANDLE: self._handle,
            at.PLAN_NONSTRICT: self._is_nonstrict,
            at.PLAN_IN_ORDER: self._is_in_order,
            at.PLAN_CALLS: calls_at,
            at.PLAN_KERNELS: rows_at,
            at.PLAN_KERNEL_COUNT: len(kernels),
            at.PLAN_OPERANDS: operands_at,
            at.PLAN_OPERANDS_END: operands_at + 4 * len(operands),
            at.PLAN_REGISTERS: registers_at,
            at.PLAN_REGISTER_COUNT: function.register_count,
            at.PLAN_RETURNED: returned_at,
            at.PLAN_RETURNED_COUNT: len(returned),
        }.items():
            plan[place // 8] = word
        self._decode(plan.buffer_info()[0])
        # The reservation was an upper bound.
        del arena.words[plan[at.PLAN_END // 8] // 8 :]
        return start, plan[at.PLAN_SLOTS // 8]

    @property
    def _held(self) -> list[int]:
        """The registers of a sync function that have extra references for returns.

        See also `calls.in_order`.
        """
        if not self._is_in_order:
            return []
        held = [*range(len(self._function.argument_types)), *self._function.result_registers]
        for place, call in enumerate(self._calls):
            if call is not None and call.flags & at.KERNEL_CONTROL:
                held += self._function.kernels[place].results
        return held

    def _write_waits(self) -> None:
        """For each non-strict kernel, write what it waits for, and its arguments' references."""
        arena, references = self._arena, self._registers[::_REGISTER]
        records = self._rows[_RECORD]
        for place, (call, record) in enumerate(zip(self._calls, records, strict=True)):
            if call is not None and call.flags & at.KERNEL_NONSTRICT:
                arguments = self._function.kernels[place].arguments
                needed = [references[register] for register in arguments]
                waits = arena.add(max(0, call.strict_arguments), *needed)
                halves = memoryview(arena.words).cast("B").cast("i")
                halves[(record + at.RECORD_WAITS) // 4] = waits - record
                # An array cannot grow while a memoryview of it exists.
                del halves

    def _write_entries(self, records: array[int], waits: array[int]) -> int:
        """Write the list of records that await no argument; return its offset."""
        place, pairs = self._arena.offset, zip(records, waits, strict=True)
        entries = enumerate(record for record, count in pairs if record and not count)
        distances = array("i", (record - place - 4 * number for number, record in entries))
        # One 0 ends the list. If necessary, another one fills the last word.
        distances.extend([0] * (2 - len(distances) % 2))
        return self._arena.add_array(distances)

    def _write_function(self, offset: int, counts: array[int], entries: int) -> None:
        """Write the function struct, and its tables; `counts` are the ready counts at entry."""
        arena, function = self._arena, self._function
        slots = self._registers[at.REGISTER_SLOT // 4 :: _REGISTER]
        arguments = arena.add_addresses(*slots[: len(function.argument_types)])
        values = {
            # The words of a struct VALUE, of which a constant needs only the first five.
            register: arena.add(
                at.IMMORTAL, at.CONCRETE, c.payload_type << 8, c.first, c.second, 0, 0, 0
            )
            for register, c in self._constants.items()
        }
        returns = set() if self._is_in_order else set(function.result_registers)
        returned = [one for one in values if one in returns]
        constant_slots = [self._constant_slot(register) for register in returned]
        constants = arena.offset
        for register, slot in zip(returned, constant_slots, strict=True):
            arena.add_addresses(slot, values[register])
        template = arena.reserve(function.register_count)
        arena.add_array(counts)
        for register, value in values.items():
            arena.put_address(template + 8 * register, value)
        size = 8 * (function.register_count + len(counts))
        flags = at.FUNCTION_NONSTRICT if self._is_nonstrict else 0
        flags |= at.FUNCTION_IN_ORDER if self._is_in_order else 0
        # `kernel_calls.count_heavy` counts these kernels.
        kinds = at.KERNEL_HEAVY | at.KERNEL_CONTROL
        heavy = {
            key for key, call in self._distinct.items() if call.flags & kinds == at.KERNEL_HEAVY
        }
        kernels = sum(call is not None for call in self._calls)
        numbers = {
            at.FUNCTION_SIZE: at.ACTIVATION_REGISTERS + size,
            at.FUNCTION_TEMPLATE_SIZE: size,
            # `activation.begin` counts the kernels of a sync function as one.
            at.FUNCTION_KERNELS: 1 if self._is_in_order else kernels,
            at.FUNCTION_ARGUMENTS: len(function.argument_types),
            at.FUNCTION_RESULTS: len(function.result_types),
            at.FUNCTION_CONSTANTS: len(returned),
            at.FUNCTION_FLAGS: flags,
            at.FUNCTION_HEAVY: 0
            if self._is_in_order
            else sum(heavy and map(heavy.__contains__, map(id, self._calls))),
        }
        tables = {
            at.FUNCTION_TEMPLATE: template,
            at.FUNCTION_ARGUMENT_TABLE: arguments,
            at.FUNCTION_ENTRY_TABLE: entries,
            at.FUNCTION_CONSTANT_TABLE: constants,
        }
        for place, number in numbers.items():
            arena.put(offset + place, number)
        for place, target in tables.items():
            arena.put_address(offset + place, target)

    def _constant_slot(self, register: int) -> int:
        """Write the slot of a constant that the function returns, and return its offset.

        The slot lists the positions of the constant among the function's results.  It lists no
        kernels, because no kernel has to wait for a constant.
        """
        registers = self._function.result_registers
        returns = [number for number, one in enumerate(registers) if one == register]
        spare = at.ACTIVATION_REGISTERS + 8 * register
        padding = [0] * (len(returns) % 2)
        halves = [spare, len(returns), 0, len(returns), *returns, *padding]
        return self._arena.add_array(array("i", halves))
