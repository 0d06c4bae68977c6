"""Large functions by column: `find_alike`, `ColumnWriter`.

What the loader does kernel by kernel is done here for many kernels at once, with NumPy: a tenth of the work for
a function of a hundred thousand kernels.  For a small one it would not be worth to load NumPy.

Of kernels that are called alike only one is resolved and compared.  The words of records and slots are written
where they stay, some kernels after the other, when their address is known: so nothing of the size of the
function is needed beside them but a number or two for each kernel.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfrt_runtime.bef.columns import (
    PIECE,
    Column,
    ColumnKernels,
    Columns,
    Words,
    columns_of,
    lists_of,
    narrowed,
    repeated,
    starts_of,
    users_of,
)
from tfrt_runtime.bef.records import BefFunction, Repeated
from tfrt_runtime.executor.loading.decode import Call, Constant, FunctionWriter
from tfrt_runtime.kernels.registry import Kernel, PythonKernel
from tfrt_runtime.native import layouts as at

_RECORD_WORDS = at.RECORD_REGISTERS // 8
_SLOT_WORDS = at.SLOT_LISTS // 8


@dataclass(frozen=True)
class Alike:
    """The kernels of a function: `numbers` has one for each kernel, which those have in common that are alike.

    `firsts` has the first kernel of each number.  A Python kernel is alone: its place and its types matter.
    """

    columns: Columns
    numbers: Column
    firsts: list[int]

    def spread(
        self, calls: Sequence[Call | None], constants: dict[int, Constant]
    ) -> tuple[Repeated[Call | None], dict[int, Constant]]:
        """The call of each kernel, from those of the first ones; each constant by its own register."""
        columns = self.columns
        is_constant = np.array([call is None for call in calls], np.bool_)
        made = np.flatnonzero(is_constant[self.numbers])
        registers = columns.first_result + starts_of(columns.result_counts)
        own = [
            constants[int(registers[first])] if call is None else None
            for first, call in zip(self.firsts, calls, strict=True)
        ]
        numbers = self.numbers[made].tolist()
        pairs = zip(registers[made].tolist(), numbers, strict=True)
        spread = {
            register: constant
            for register, number in pairs
            if (constant := own[number]) is not None
        }
        return Repeated(list(calls), self.numbers), spread

    def types(
        self,
        function: BefFunction,
        wanted: Sequence[Sequence[str] | None],
        given: Sequence[Sequence[str]],
        unknown: str,
    ) -> tuple[Repeated[str], list[int]]:
        """The type of each register, and the kernels that do not get what they want.

        `wanted` (None: it is not always the same) and `given` are by number; `unknown` is the type of a
        register that is not given one.
        """
        texts: dict[str, int] = {unknown: 0}
        columns, numbers = self.columns, self.numbers

        def listed(lists: Sequence[Sequence[str]]) -> tuple[Words, Words, Words]:
            """The length and the start of each list, and the numbers of the texts in all of them."""
            counts = np.array([len(one) for one in lists], np.int64)
            ids = [texts.setdefault(text, len(texts)) for one in lists for text in one]
            return counts, np.cumsum(counts) - counts, np.array([*ids, 0], np.int64)

        types = np.zeros(function.register_count, np.int32)
        counts, starts, ids = listed([function.argument_types])
        types[: counts[0]] = ids[:-1]
        counts, starts, ids = listed(given)
        for piece in columns.pieces():
            results = piece.results
            owners = numbers[piece.first : piece.end][results.owners]
            has = results.places < counts[owners]
            places = (starts[owners] + results.places)[has]
            types[results.numbers[has]] = ids[places]

        counts, starts, ids = listed([one or () for one in wanted])
        is_unclear = np.array([one is None for one in wanted], np.bool_)
        in_doubt: list[int] = []
        for piece in columns.pieces():
            arguments, own = piece.arguments, numbers[piece.first : piece.end]
            is_wrong = is_unclear[own] | (counts[own] != arguments.counts)
            asked = ~is_wrong[arguments.owners]
            owners = arguments.owners[asked]
            places = starts[own[owners]] + arguments.places[asked]
            differs = types[arguments.numbers[asked]] != ids[places]
            is_wrong[owners[differs]] = True
            in_doubt += (piece.first + np.flatnonzero(is_wrong)).tolist()
        return Repeated(list(texts), types), in_doubt


def find_alike(function: BefFunction, used: Mapping[str, Kernel]) -> Alike:
    """The kernels of a large function that are alike; `used` are its kernels by name."""
    columns = columns_of(function)
    is_alone = [isinstance(used.get(name), PythonKernel) for name in columns.names]
    numbers, firsts = columns.alike(is_alone)
    return Alike(columns, numbers, firsts.tolist())


class ColumnWriter(FunctionWriter):
    """Writes a large function, by column unless it is non-strict."""

    def _write_kernels(
        self, function_offsets: Sequence[int]
    ) -> tuple[Sequence[int], array[int], Sequence[int]]:
        if self._is_nonstrict:
            return super()._write_kernels(function_offsets)
        arena, function = self._arena, self._function
        block = Block(
            function,
            repeated(self._calls),
            self._constants,
            arena.offset,
            self._handle,
            function_offsets,
        )
        arena.add_block(block.size, block.fill)
        slots = block.slots(len(function.argument_types))
        return slots, array("q", block.waits.astype("q").tobytes()), block.entries


class _Calls:
    """The calls that differ, by column; `runs` is false where there is none."""

    def __init__(self, calls: Sequence[Call | None]) -> None:
        self.runs = np.array([call is not None for call in calls], np.bool_)
        known = [call or Call(0) for call in calls]
        self.addresses = np.array([call.address for call in known], np.int64)
        self.flags = np.array([call.flags for call in known], np.int64)
        self.data = lists_of([call.data for call in known])
        self.functions = lists_of([call.functions for call in known])


class Block:
    """The records of a function, its slots, and the data of its records, from an offset of the arena on.

    `waits` has what each kernel waits for.  Places of records and slots are kept as words from the start of the
    block, in 32 bits: there are as many as kernels and registers while the block is written.
    """

    def __init__(
        self,
        function: BefFunction,
        calls: Repeated[Call | None],
        constants: Collection[int],
        offset: int,
        first_handle: int,
        function_offsets: Sequence[int],
    ) -> None:
        """
        Args:
            calls: that of each kernel, None for one that does not run.
            constants: the registers of those.
        """
        self._columns = columns = columns_of(function)
        self._offset, self._first_handle = offset, first_handle
        self._function_offsets = np.array(function_offsets, np.int64)
        self._calls: Column = np.asarray(calls.numbers)
        self._distinct = _Calls(calls.values)
        runs = self._distinct.runs[self._calls]
        register_count = function.register_count
        self._ready = at.ACTIVATION_REGISTERS + 8 * register_count
        self._is_constant = np.zeros(register_count, np.bool_)
        self._is_constant[list(constants)] = True
        kernels = function.kernels
        lists = kernels.take_uses() if isinstance(kernels, ColumnKernels) else users_of(columns)
        self._uses = _Uses(lists.counts, lists.numbers, runs, self._is_constant)
        self.waits = self._uses.waits
        self._returned = np.array(function.result_registers, np.int64)
        self._returns = narrowed(np.bincount(self._returned, minlength=register_count))

        kinds = columns.kinds
        sizes: Column = (_RECORD_WORDS + kinds.argument_counts + kinds.result_counts)[
            columns.numbers
        ]
        sizes[~runs] = 0
        self._records = starts_of(sizes).astype(np.uint32)
        record_words = int(sizes.sum())
        sizes = _SLOT_WORDS + 3 * self._uses.counts + self._returns
        sizes[self._is_constant] = 0
        self._slots = (record_words + starts_of(sizes)).astype(np.uint32)
        self._data = record_words + int(sizes.sum())
        self._data_counts = self._distinct.data.counts + self._distinct.functions.counts
        counts = np.bincount(self._calls, minlength=len(calls.values))
        self.size = self._data + int((counts * self._data_counts).sum())

    @property
    def entries(self) -> list[int]:
        """The offsets of the records that wait for nothing."""
        is_entry = self._distinct.runs[self._calls] & (self.waits == 0)
        return self._offsets(self._records[is_entry])

    def slots(self, count: int) -> list[int]:
        """The offsets of the slots of the first registers, none of which is a constant."""
        return self._offsets(self._slots[:count])

    def _offsets(self, words: Column) -> list[int]:
        offsets: list[int] = (self._offset + 8 * words.astype(np.int64)).tolist()
        return offsets

    def fill(self, memory: array[int], first: int, base: int) -> None:
        """Write the block, whose words are zero, from word `first` of a memory that begins at the address `base`."""
        words = np.frombuffer(memory, np.int64, self.size, 8 * first)
        start = base + self._offset
        self._fill_records(words, start, base)
        self._fill_slots(words, start)
        self._fill_returns(words)

    def _fill_records(self, words: Words, start: int, base: int) -> None:
        distinct, data = self._distinct, self._data
        for piece in self._columns.pieces():
            calls = self._calls[piece.first : piece.end]
            arguments, results = piece.arguments, piece.results
            runs = distinct.runs[calls]
            starts = self._records[piece.first : piece.end].astype(np.int64)
            first, calls_that_run = starts[runs], calls[runs]
            counts = arguments.counts[runs], results.counts[runs]
            flags = distinct.flags[calls_that_run]
            flags[counts[0] + counts[1] > at.FRAME_ROOM] |= at.KERNEL_WIDE
            flags[(flags == 0) & (counts[0] == 2) & (counts[1] == 1)] = at.KERNEL_SMALL
            indexes = piece.first + np.flatnonzero(runs)
            table = first + _RECORD_WORDS + counts[0]
            columns = {
                at.RECORD_KERNEL: distinct.addresses[calls_that_run],
                at.RECORD_ARGUMENTS: counts[0],
                at.RECORD_RESULTS: counts[1],
                at.RECORD_FLAGS: flags,
                at.RECORD_HANDLE: self._first_handle + indexes,
                at.RECORD_SLOTS: start + 8 * table,
                at.RECORD_READY: self._ready + 8 * indexes,
            }
            for place, column in columns.items():
                words[first + place // 8] = column
            there = runs[arguments.owners]
            places = (starts[arguments.owners] + _RECORD_WORDS + arguments.places)[there]
            words[places] = at.ACTIVATION_REGISTERS + 8 * arguments.numbers[there]
            owners = results.owners
            there = runs[owners]
            places = starts[owners] + _RECORD_WORDS + arguments.counts[owners] + results.places
            slots = self._slots[results.numbers[there]].astype(np.int64)
            words[places[there]] = start + 8 * slots
            data = self._fill_data(words, base, first, calls_that_run, data)

    def _fill_data(self, words: Words, base: int, records: Words, calls: Column, first: int) -> int:
        """Write what records have behind the slots, from word `first` on; where the next one has it."""
        counts = self._data_counts[calls]
        there = np.flatnonzero(counts)
        if not len(there):
            return first
        calls, records, counts = calls[there], records[there], counts[there]
        places = first + starts_of(counts)
        data, functions = self._distinct.data.taken(calls), self._distinct.functions.taken(calls)
        words[places[data.owners] + data.places] = data.numbers
        has_data = data.counts > 0
        words[records[has_data] + at.RECORD_DATA // 8] = base + self._offset + 8 * places[has_data]
        places += data.counts
        words[places[functions.owners] + functions.places] = (
            base + self._function_offsets[functions.numbers]
        )
        has_functions = functions.counts > 0
        words[records[has_functions] + at.RECORD_FUNCTIONS // 8] = (
            base + self._offset + 8 * places[has_functions]
        )
        return first + int(counts.sum())

    def _fill_slots(self, words: Words, start: int) -> None:
        uses, position = self._uses, 0
        for first in range(0, len(self._slots), PIECE):
            piece = slice(first, first + PIECE)
            starts = self._slots[piece].astype(np.int64)
            counts = uses.counts[piece].astype(np.int64)
            registers = np.flatnonzero(~self._is_constant[piece])
            places, returns = starts[registers], self._returns[piece][registers]
            words[places + at.SLOT_REGISTER // 8] = at.ACTIVATION_REGISTERS + 8 * (
                first + registers
            )
            words[places + at.SLOT_REFERENCES // 8] = uses.references[piece][registers] + returns
            words[places + at.SLOT_SPECIAL // 8] = returns > 0
            words[places + at.SLOT_USERS // 8] = counts[registers]
            words[places + at.SLOT_RETURNS // 8] = returns
            end = position + int(counts.sum())
            kernels = uses.kernels[position:end].astype(np.int64)
            places = np.repeat(starts + _SLOT_WORDS - 3 * starts_of(counts), counts)
            places += 3 * np.arange(len(kernels))
            words[places] = start + 8 * self._records[kernels].astype(np.int64)
            words[places + 1] = self._ready + 8 * kernels
            words[places + 2] = uses.weights[position:end]
            position = end

    def _fill_returns(self, words: Words) -> None:
        """Which results each register is."""
        returned = self._returned
        order = np.argsort(returned, kind="stable")
        owners = returned[order]
        starts = self._slots[owners].astype(np.int64) + _SLOT_WORDS + 3 * self._uses.counts[owners]
        ranks = np.arange(len(owners)) - starts_of(self._returns)[owners]
        there = ~self._is_constant[owners]
        words[(starts + ranks)[there]] = order[there]


class _Uses:
    """Which kernels use which registers: an entry per pair, by register, later kernels first.

    `weights` has how often; `counts` has the pairs of each register, `references` its uses, `waits` those
    that each kernel waits for.
    """

    def __init__(
        self,
        user_counts: Column,
        users: Column,
        runs: npt.NDArray[np.bool_],
        is_constant: npt.NDArray[np.bool_],
    ) -> None:
        """`users` has for each register the kernels that use it, which count from 1, equal ones side by side."""
        parts, position = list[tuple[Column, Column, Column, Column]](), 0
        for first in range(0, max(len(is_constant), 1), PIECE):
            counts = user_counts[first : first + PIECE]
            end = position + int(counts.sum())
            registers = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
            kernels = users[position:end] - 1
            counted = runs[kernels] & ~is_constant[first : first + PIECE][registers]
            registers, kernels = registers[counted], kernels[counted]
            is_new = np.ones(len(kernels), np.bool_)
            is_new[1:] = (registers[1:] != registers[:-1]) | (kernels[1:] != kernels[:-1])
            firsts = np.flatnonzero(is_new)
            weights = np.diff(firsts, append=len(kernels))
            parts.append(
                (
                    kernels[firsts],
                    narrowed(weights),
                    _counts(registers[firsts], len(counts)),
                    _counts(registers, len(counts)),
                )
            )
            position = end
        self.kernels, self.weights, self.counts, self.references = map(
            np.concatenate, zip(*parts, strict=True)
        )
        waiting = self.kernels
        if int(self.weights.max(initial=1)) == 1:
            self.references = self.counts  # equal, and as large as all registers
        else:
            waiting = np.repeat(self.kernels, self.weights)
        self.waits = np.bincount(waiting, minlength=len(runs)).astype(np.int32)


def _counts(numbers: Column, count: int) -> Column:
    """How often each number below `count` occurs."""
    return np.bincount(numbers, minlength=count).astype(np.int32)
