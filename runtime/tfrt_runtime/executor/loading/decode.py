"""Decode a BEF function for the executor: records, slots, and a template, in native memory.

Constants are kernels that do not run.  The loader makes each constant's value once and writes it
into the template.  Uses of constants do not count in ready counts.  A kernel with a ready count of
0 is an entry.

Ready counts and users are computed from the kernels' arguments, not read from the file, so that an
inconsistent file cannot make the executor wait forever.  Later users are first, as in BEF.

The kernels of a sync function have no ready counts and no users: they run in program order.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate
from struct import Struct
from typing import NamedTuple

from tfrt_runtime.bef.records import BefFunction, FunctionKind
from tfrt_runtime.native import layouts as at


class Mark(NamedTuple):
    """A position in an arena, as the number of preceding words and of preceding relocations."""

    words: int
    relocations: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of an arena that other functions can repeat: a head, and the words appended after it.

    `addresses` are the positions of addresses, and `inner` of addresses that point into the piece.
    `numbers` are the positions of words that increase from piece to piece.
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
        """Append offsets that `seal` turns into addresses; return the offset of the first."""
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

        Returns how many bytes the copy is after the original.
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


_RECORD_WORDS = at.RECORD_REGISTERS // 8


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
    arguments are strict.  If it is 0, any one argument starts the kernel.  If it is negative, the
    kernel awaits no argument.
    """

    address: int
    flags: int = 0
    strict_arguments: int = 0
    data: tuple[int, ...] = ()
    functions: tuple[int, ...] = ()


class FunctionWriter:
    """Writes one function into an arena."""

    def __init__(
        self,
        arena: Arena,
        function: BefFunction,
        constants: Mapping[int, Constant],
        calls: Sequence[Call | None],
        first_handle: int,
    ) -> None:
        """Prepare to write a function.

        `constants` are the function's constants, by register.  `calls` has None for constants.
        """
        self._arena = arena
        self._function = function
        self._constants = constants
        self._calls = calls
        self._handle = first_handle
        self._flag_counts = _flag_counts(calls)
        self._is_nonstrict = any(flags & at.KERNEL_NONSTRICT for flags in self._flag_counts)
        self._is_in_order = function.kind is FunctionKind.SYNC
        self._records: Sequence[int] = ()
        self._data: dict[tuple[int, ...], int] = {(): 0}
        """The offsets of data that was written; kernels with equal data share it."""

    @cached_property
    def _ready(self) -> array[int]:
        """The offset of each ready count in an activation, by kernel."""
        first = at.ACTIVATION_REGISTERS + 8 * (self._function.register_count - 1)
        counted = accumulate(n > 0 or self._is_nonstrict for n in self._waits)
        return array("q", (first + 8 * count for count in counted))

    @cached_property
    def _users(self) -> list[Sequence[int]]:
        """The kernels that use each register, later kernels first, once per use."""
        users: list[Sequence[int]] = [()] * self._function.register_count
        more: dict[int, list[int]] = {}
        kernels = self._function.kernels
        for index in range(len(kernels) - 1, -1, -1):
            if self._calls[index] is not None:
                alone = (index,)  # shared by all registers that only this kernel uses
                for register in kernels[index].arguments:
                    if users[register]:
                        more.setdefault(register, [*users[register]]).append(index)
                    else:
                        users[register] = alone
        for register, found in more.items():
            users[register] = found
        return users

    @cached_property
    def _returns(self) -> dict[int, list[int]]:
        """The numbers of the results that return each register, by register."""
        returns: dict[int, list[int]] = {}
        for number, register in enumerate(self._function.result_registers):
            returns.setdefault(register, []).append(number)
        return returns

    def write(self, function_offset: int, function_offsets: Sequence[int]) -> None:
        """Fill the struct FUNCTION at `function_offset`, and write its tables."""
        self._records = self._reserve_records()
        # A sync function's entry table needs the address after the last record.
        end = self._arena.offset
        slots = self._write_slots()
        self._write_records(slots, function_offsets)
        if self._is_in_order:
            waits = [0] * (at.IN_ORDER_WORDS // 8)
            entries = [next(filter(None, self._records), end), end]
        else:
            pairs = zip(self._records, self._waits, strict=True)
            entries = [record for record, n in pairs if record and not n]
            waits = [n for n in self._waits if n or self._is_nonstrict]
        self._write_function(function_offset, slots, array("q", waits), entries)

    @property
    def handles(self) -> list[int]:
        """The offsets of the words with the kernels' handles."""
        return [record + at.RECORD_HANDLE for record in self._records if record]

    def _reserve_records(self) -> array[int]:
        """Reserve records in program order; return their offsets, with 0 for constants."""
        first = end = self._arena.offset
        records = array("q")
        for call, kernel in zip(self._calls, self._function.kernels, strict=True):
            records.append(0 if call is None else end)
            if call is not None:
                end += 8 * (_RECORD_WORDS + (len(kernel.arguments) + len(kernel.results) + 1) // 2)
        self._arena.reserve((end - first) // 8)
        return records

    def _write_records(self, slots: Sequence[int], function_offsets: Sequence[int]) -> None:
        """Write the records, each followed by its registers and the offsets of its result slots."""
        packed = list[bytes]()
        kernels, records = self._function.kernels, self._records
        for index, call in enumerate(self._calls):
            if call is None:
                continue
            arguments, results = kernels[index].arguments, kernels[index].results
            counts = len(arguments), len(results)
            record = records[index]
            tables: Sequence[int] = (0, 0, 0)
            if call.data or call.functions or call.flags & at.KERNEL_NONSTRICT:
                offsets = self._write_data(call, arguments, function_offsets)
                tables = [offset and offset - record for offset in offsets]
            packed.append(
                _record(sum(counts)).pack(
                    call.address,
                    self._handle + index,
                    *counts,
                    _record_flags(call.flags, *counts),
                    *tables,
                    *[at.ACTIVATION_REGISTERS + 8 * register for register in arguments],
                    *[slots[register] - record for register in results],
                )
            )
        first, found = next(filter(None, records), 0), b"".join(packed)
        memoryview(self._arena.words).cast("B")[first : first + len(found)] = found

    def _write_data(
        self, call: Call, arguments: Sequence[int], function_offsets: Sequence[int]
    ) -> tuple[int, int, int]:
        """Write a record's data, functions, and waits; return their offsets, 0 if missing."""
        arena = self._arena
        if call.data not in self._data:
            self._data[call.data] = arena.add(*call.data)
        functions = waits = 0
        if call.functions:
            functions = arena.add_addresses(*[function_offsets[i] for i in call.functions])
        if call.flags & at.KERNEL_NONSTRICT:
            references = [self._references[register] for register in arguments]
            waits = arena.add(max(0, call.strict_arguments), *references)
        return self._data[call.data], functions, waits

    def _uses(self, register: int) -> dict[int, int]:
        """Return how often each kernel uses `register`, in the order of `_users`."""
        users = self._users[register]
        return dict.fromkeys(users, 1) if len(set(users)) == len(users) else Counter(users)

    def _weights(self, register: int) -> dict[int, int]:
        """Return by how much the value of `register` decreases each user's ready count.

        The amount is 0 for a kernel that any one argument starts.
        """
        weights = {}
        for index, uses in self._uses(register).items():
            call = self._calls[index]
            assert call is not None
            if not call.flags & at.KERNEL_NONSTRICT:
                weights[index] = uses
            elif call.strict_arguments == 0:
                weights[index] = 0
            elif call.strict_arguments < 0:
                continue
            else:
                strict = self._function.kernels[index].arguments[: call.strict_arguments]
                if register in strict:
                    weights[index] = strict.count(register)
        return weights

    @cached_property
    def _references(self) -> list[int]:
        """The number of references that the value of each register gets."""
        references = [*map(len, self._users)]
        for register, numbers in self._returns.items():
            references[register] += len(numbers)
        for register in self._held:
            references[register] += 1
        return references

    @cached_property
    def _held(self) -> set[int]:
        """The registers of a sync function with an extra reference (`calls.in_order`)."""
        if not self._is_in_order:
            return set()
        held = set(range(len(self._function.argument_types)))
        for call, kernel in zip(self._calls, self._function.kernels, strict=True):
            if call is not None and call.flags & at.KERNEL_CONTROL:
                held.update(kernel.results)
        return held

    def _write_slots(self) -> array[int]:
        """Write a slot for each register, and return the offsets; the offset is 0 for constants."""
        start = self._arena.offset
        halves: list[int] = []
        slots = array("q")
        records, ready = self._records, [] if self._is_in_order else self._ready
        constants = self._constants
        all_returns = {} if self._is_in_order else self._returns
        weights = self._weights if self._is_nonstrict else self._uses
        mark = at.SLOT_NONSTRICT * self._is_nonstrict
        for register, reference_count in enumerate(self._references):
            if register in constants:
                slots.append(0)
                continue
            returns = all_returns.get(register, ())
            users = {} if self._is_in_order else weights(register)
            slots.append(start + 4 * len(halves))
            place = at.ACTIVATION_REGISTERS + 8 * register
            halves += (place, reference_count, len(users), len(returns) + mark)
            for kernel, weight in users.items():
                here = start + 4 * len(halves)
                halves += (here - records[kernel], ready[kernel], weight)
            halves += returns
            halves += [0] * (len(halves) % 2)
        self._arena.add_array(array("i", halves))
        return slots

    @cached_property
    def _waits(self) -> list[int]:
        """The number of awaited arguments of each kernel, without constants; 0 for a constant."""
        waits = [0] * len(self._calls)
        for register, users in enumerate(self._users):
            if register not in self._constants:
                for index in users:
                    waits[index] += 1
        if self._is_nonstrict:
            for index, call in enumerate(self._calls):
                if call is not None and call.flags & at.KERNEL_NONSTRICT:
                    arguments = self._function.kernels[index].arguments
                    if call.strict_arguments == 0:
                        waits[index] = int(bool(arguments) and waits[index] == len(arguments))
                    else:
                        strict = arguments[: max(0, call.strict_arguments)]
                        waits[index] = sum(one not in self._constants for one in strict)
        return waits

    def _write_function(
        self,
        offset: int,
        slots: Sequence[int],
        waits: array[int],
        entries: Sequence[int],
    ) -> None:
        """Write the struct FUNCTION, with its template and its tables."""
        arena, function = self._arena, self._function
        entry_table = arena.add_addresses(*entries)
        if self._is_in_order:
            registers = function.result_registers
            arena.add(*(at.ACTIVATION_REGISTERS + 8 * register for register in registers))
        arguments = arena.add_addresses(*(slots[i] for i in range(len(function.argument_types))))
        values = {
            register: arena.add(
                at.IMMORTAL, at.CONCRETE, c.payload_type << 8, c.first, c.second, 0, 0, 0
            )
            for register, c in self._constants.items()
        }
        returned = [one for one in values if one in self._returns and not self._is_in_order]
        constant_slots = [self._constant_slot(register) for register in returned]
        constants = arena.offset
        for register, slot in zip(returned, constant_slots, strict=True):
            arena.add_addresses(slot, values[register])
        template = arena.reserve(function.register_count)
        arena.add_array(waits)
        for register, value in values.items():
            arena.put_address(template + 8 * register, value)
        size = 8 * (function.register_count + len(waits))
        flags = at.FUNCTION_NONSTRICT if self._is_nonstrict else 0
        flags |= at.FUNCTION_IN_ORDER if self._is_in_order else 0
        # `kernel_calls.count_heavy` counts these kernels.
        kinds = at.KERNEL_HEAVY | at.KERNEL_CONTROL
        heavy = sum(n for f, n in self._flag_counts.items() if f & kinds == at.KERNEL_HEAVY)
        numbers = {
            at.FUNCTION_SIZE: at.ACTIVATION_REGISTERS + size,
            at.FUNCTION_TEMPLATE_SIZE: size,
            at.FUNCTION_KERNELS: 1 if self._is_in_order else self._flag_counts.total(),
            at.FUNCTION_ARGUMENTS: len(function.argument_types),
            at.FUNCTION_RESULTS: len(function.result_types),
            at.FUNCTION_ENTRIES: 0 if self._is_in_order else len(entries),
            at.FUNCTION_CONSTANTS: len(returned),
            at.FUNCTION_FLAGS: flags,
            at.FUNCTION_HEAVY: 0 if self._is_in_order else heavy,
        }
        tables = {
            at.FUNCTION_TEMPLATE: template,
            at.FUNCTION_ARGUMENT_TABLE: arguments,
            at.FUNCTION_ENTRY_TABLE: entry_table,
            at.FUNCTION_CONSTANT_TABLE: constants,
        }
        for place, number in numbers.items():
            arena.put(offset + place, number)
        for place, target in tables.items():
            arena.put_address(offset + place, target)

    def _constant_slot(self, register: int) -> int:
        """Write a slot that delivers a constant to its returns.  The slot has no users."""
        returns = self._returns[register]
        spare = at.ACTIVATION_REGISTERS + 8 * register
        padding = [0] * (len(returns) % 2)
        halves = [spare, len(returns), 0, len(returns), *returns, *padding]
        return self._arena.add_array(array("i", halves))


@cache
def _record(register_count: int) -> Struct:
    """Return the layout of a record with this many registers, as `native.layouts` declares it."""
    return Struct(f"=qq{6 + register_count}i{4 * (register_count % 2)}x")


@cache
def _record_flags(flags: int, argument_count: int, result_count: int) -> int:
    """Return the flags of a record: its call's, with KERNEL_WIDE or KERNEL_SMALL if it applies."""
    if argument_count + result_count > at.FRAME_ROOM:
        flags |= at.KERNEL_WIDE
    is_small = flags == 0 and argument_count == 2 and result_count == 1
    return at.KERNEL_SMALL if is_small else flags


def _flag_counts(calls: Sequence[Call | None]) -> Counter[int]:
    """Return how many calls have each combination of flags."""
    return Counter([call.flags for call in calls if call is not None])
