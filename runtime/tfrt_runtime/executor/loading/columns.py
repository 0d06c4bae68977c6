"""The records and slots of a large function, worked out by column.

What `decode.FunctionWriter` does kernel by kernel is done here for all kernels at once, with NumPy: a
tenth of the work for a function of a hundred thousand kernels.  For a small one it would not be worth
to load NumPy.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfrt_runtime.bef.columns import Lists, Words, columns_of
from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.executor.loading.arena import Relocation
from tfrt_runtime.native import layouts as at


@dataclass(frozen=True, slots=True)
class Block:
    """Records, then slots, as the words of an arena from some offset on.

    `addresses` are the positions in `words` of what is an offset in the arena.  `records` has the
    offset of each kernel's record, 0 for those that do not run; `slots` that of each register's
    slot, which constants have none of; `waits` what each kernel waits for.
    """

    words: Words
    addresses: Words
    records: Words
    slots: Words
    waits: Words

    def relocation(self) -> Relocation:
        """What turns the offsets into addresses; the words need not be kept for it."""
        addresses, count = self.addresses, len(self.words)

        def relocate(memory: array[int], first: int, base: int) -> None:
            np.frombuffer(memory, np.int64, count, 8 * first)[addresses] += base

        return relocate


def _ranks(owners: Words, counts: Words) -> Words:
    """Where each entry is in its owner's list, if those are side by side and in order."""
    starts: Words = np.cumsum(counts) - counts
    return np.arange(len(owners)) - starts[owners]


def lay_out(
    function: BefFunction,
    runs: Sequence[bool],
    heads: tuple[Sequence[int], Sequence[int]],
    constants: Collection[int],
    offset: int,
    first_handle: int,
) -> Block:
    """The block of a function, for the offset where it is going to be.

    Args:
        runs: which kernels run.
        heads: the addresses and the flags of the calls of those; what else a call has (data,
            functions) is not filled in.
        constants: the registers of those.
    """
    does_run = np.array(runs, np.bool_)
    columns_of_kernels = columns_of(function)
    arguments, results = columns_of_kernels.arguments, columns_of_kernels.results
    is_constant = np.zeros(function.register_count, np.bool_)
    is_constant[list(constants)] = True

    sizes = at.RECORD_REGISTERS // 8 + arguments.counts + results.counts
    sizes[~does_run] = 0
    records: Words = np.cumsum(sizes) - sizes
    ready = at.ACTIVATION_REGISTERS + 8 * function.register_count
    uses = _Uses(arguments, does_run, is_constant)
    returned = np.array(function.result_registers, np.int64)
    slots, words, slot_addresses = _slots(
        uses, returned, is_constant, offset, int(sizes.sum()), records, ready
    )

    first = records[does_run]
    counts = arguments.counts[does_run], results.counts[does_run]
    flags = np.array(heads[1], np.int64)
    flags[counts[0] + counts[1] > at.FRAME_ROOM] |= at.KERNEL_WIDE
    flags[(flags == 0) & (counts[0] == 2) & (counts[1] == 1)] = at.KERNEL_SMALL
    table = first + at.RECORD_REGISTERS // 8 + counts[0]
    indexes = np.flatnonzero(does_run)
    columns = {
        at.RECORD_KERNEL: np.array(heads[0], np.int64),
        at.RECORD_ARGUMENTS: counts[0],
        at.RECORD_RESULTS: counts[1],
        at.RECORD_FLAGS: flags,
        at.RECORD_HANDLE: first_handle + indexes,
        at.RECORD_SLOTS: offset + 8 * table,
        at.RECORD_READY: ready + 8 * indexes,
    }
    for place, column in columns.items():
        words[first + place // 8] = column
    there = does_run[arguments.owners]
    places = (records[arguments.owners] + at.RECORD_REGISTERS // 8 + arguments.places)[there]
    words[places] = at.ACTIVATION_REGISTERS + 8 * arguments.numbers[there]
    there = does_run[results.owners]
    places = records[results.owners] + at.RECORD_REGISTERS // 8 + arguments.counts[results.owners]
    places = (places + results.places)[there]
    words[places] = slots[results.numbers[there]]

    addresses = np.concatenate((first + at.RECORD_SLOTS // 8, places, slot_addresses))
    offsets = np.where(does_run, offset + 8 * records, 0)
    return Block(words, addresses, offsets, slots, uses.waits)


class _Uses:
    """Which kernels use which registers: one entry per pair, by register, later kernels first."""

    def __init__(
        self, arguments: Lists, runs: npt.NDArray[np.bool_], is_constant: npt.NDArray[np.bool_]
    ) -> None:
        counted = runs[arguments.owners] & ~is_constant[arguments.numbers]
        registers, kernels = arguments.numbers[counted], arguments.owners[counted]
        register_count, kernel_count = len(is_constant), len(runs)
        self.waits = np.bincount(kernels, minlength=kernel_count)
        self.references = np.bincount(registers, minlength=register_count)
        pairs, self.weights = np.unique(
            registers * kernel_count + (kernel_count - 1 - kernels), return_counts=True
        )
        self.registers = pairs // max(kernel_count, 1)
        self.kernels = kernel_count - 1 - pairs % max(kernel_count, 1)
        self.counts = np.bincount(self.registers, minlength=register_count)


def _slots(
    uses: _Uses,
    returned: Words,
    is_constant: npt.NDArray[np.bool_],
    offset: int,
    first: int,
    records: Words,
    ready: int,
) -> tuple[Words, Words, Words]:
    """The offsets of the slots, which follow `first` words of records; all words, with only the
    slots filled in; the positions of addresses among these."""
    returns = np.bincount(returned, minlength=len(is_constant))
    sizes = at.SLOT_LISTS // 8 + 3 * uses.counts + returns
    sizes[is_constant] = 0
    starts: Words = first + np.cumsum(sizes) - sizes
    words = np.zeros(first + int(sizes.sum()), np.int64)
    registers = np.flatnonzero(~is_constant)
    places = starts[registers]
    words[places + at.SLOT_REGISTER // 8] = at.ACTIVATION_REGISTERS + 8 * registers
    words[places + at.SLOT_REFERENCES // 8] = (uses.references + returns)[registers]
    words[places + at.SLOT_SPECIAL // 8] = returns[registers] > 0
    words[places + at.SLOT_USERS // 8] = uses.counts[registers]
    words[places + at.SLOT_RETURNS // 8] = returns[registers]
    lists = starts + at.SLOT_LISTS // 8
    addresses = lists[uses.registers] + 3 * _ranks(uses.registers, uses.counts)
    words[addresses] = offset + 8 * records[uses.kernels]
    words[addresses + 1] = ready + 8 * uses.kernels
    words[addresses + 2] = uses.weights
    order = np.argsort(returned, kind="stable")
    owners = returned[order]
    places = (lists + 3 * uses.counts)[owners] + _ranks(owners, returns)
    words[places[~is_constant[owners]]] = order[~is_constant[owners]]
    return offset + 8 * starts, words, addresses
