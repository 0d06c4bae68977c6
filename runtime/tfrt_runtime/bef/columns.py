"""The kernels of a large function by column: one array for each thing that a kernel says.

A file of a hundred thousand kernels is checked and loaded in a tenth of the time that a record for each
takes.  `read_kernels` reads the words of a file and makes no record; `columns_of` is the same of
records.  A small function is not worth the time to load NumPy: what uses this module imports it for
`encoding.MANY_KERNELS` kernels and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, pairwise
from typing import overload

import numpy as np
import numpy.typing as npt

from tfrt_runtime.bef.encoding import KERNEL_HEADER_WORDS
from tfrt_runtime.bef.records import (
    BefFunction,
    BefKernel,
    KernelsByColumn,
    Numbers,
    kernel_of,
)

Words = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Lists:
    """Lists of numbers, one per kernel, end to end: `counts` has the length of each."""

    counts: Words
    numbers: Words

    @cached_property
    def owners(self) -> Words:
        """The kernel that each number belongs to."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def starts(self) -> Words:
        """Where each list begins in `numbers`."""
        starts: Words = np.cumsum(self.counts) - self.counts
        return starts

    @cached_property
    def places(self) -> Words:
        """Where each number is in its list."""
        return np.arange(len(self.numbers)) - self.starts[self.owners]

    def tuples(self, first: int, end: int) -> list[Numbers]:
        """The lists of the kernels from `first` up to `end`."""
        ends = np.cumsum(self.counts[first:end])
        start = int(self.starts[first]) if first < len(self.counts) else 0
        numbers = tuple(self.numbers[start : start + int(ends[-1] if len(ends) else 0)].tolist())
        bounds = [0, *ends.tolist()]
        return [numbers[at:to] for at, to in pairwise(bounds)]

    def taken(self, which: Words) -> Lists:
        """The lists `which`, in that order, one as often as it is named."""
        counts = self.counts[which]
        positions = np.repeat(self.starts[which] - np.cumsum(counts) + counts, counts)
        return Lists(counts, self.numbers[positions + np.arange(len(positions))])

    def firsts(self) -> Words:
        """The first number of each list, -1 of an empty one."""
        firsts = np.full(len(self.counts), -1)
        there = self.counts > 0
        firsts[there] = self.numbers[self.starts[there]]
        return firsts


@dataclass(frozen=True)
class Columns:
    """The kernels of a function; `names` has what each of the `codes` stands for."""

    names: Sequence[str]
    codes: Words
    locations: Words
    arguments: Lists
    attributes: Lists
    functions: Lists
    results: Lists

    def alike(self, alone: Sequence[bool]) -> tuple[Words, Words]:
        """A number for each kernel, which those have in common that differ in registers and places only.

        Kernels with more than one attribute or function are like no other one, nor are those whose code
        is `alone`.  The second array has for each number the first kernel that has it, in their order.
        """
        is_own = (self.attributes.counts > 1) | (self.functions.counts > 1)
        is_own |= np.array(alone, np.bool_)[self.codes]
        key, room = np.zeros(len(is_own), np.int64), 1
        for column in (
            self.codes,
            self.arguments.counts,
            self.results.counts,
            self.attributes.firsts() + 1,
            self.functions.firsts() + 1,
        ):
            radix = int(column.max()) + 1
            key = key * radix + column  # may wrap round, and is not used then
            room *= radix
        if room >= 1 << 62:
            is_own[:] = True
        like, own = np.flatnonzero(~is_own), np.flatnonzero(is_own)
        _, firsts, numbers_of_like = np.unique(key[like], return_index=True, return_inverse=True)
        numbers = np.empty(len(is_own), np.int64)
        numbers[like] = numbers_of_like
        numbers[own] = len(firsts) + np.arange(len(own))
        unordered = np.concatenate((like[firsts], own))
        order = np.argsort(unordered)
        ranks = np.empty_like(order)
        ranks[order] = np.arange(len(order))
        return ranks[numbers], unordered[order]


class ColumnKernels(KernelsByColumn):
    """The kernels of a function that is strict throughout."""

    def __init__(self, columns: Columns, users: Lists) -> None:
        """`users` has for each register the kernels that use it, which count from 1."""
        self.columns = columns
        self._users = users
        self._asked = 0
        self._made: tuple[BefKernel, ...] = ()
        """All records, from when one in sixteen was asked for by itself: to make all takes a tenth of the time."""

    @property
    def names(self) -> list[str]:
        names = self.columns.names
        return [names[code] for code in self.columns.codes.tolist()]

    @property
    def locations(self) -> list[int]:
        locations: list[int] = self.columns.locations.tolist()
        return locations

    @property
    def attribute_counts(self) -> list[int]:
        counts: list[int] = self.columns.attributes.counts.tolist()
        return counts

    @property
    def callees(self) -> set[int]:
        return set(self.columns.functions.numbers.tolist())

    def __len__(self) -> int:
        return len(self.columns.codes)

    @overload
    def __getitem__(self, index: int) -> BefKernel: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[BefKernel, ...]: ...

    def __getitem__(self, index: int | slice) -> BefKernel | tuple[BefKernel, ...]:
        self._asked += 1
        if not self._made and 16 * self._asked > len(self):
            self._made = tuple(self)
        if self._made:
            return self._made[index]
        if isinstance(index, slice):
            return tuple([self[one] for one in range(*index.indices(len(self)))])
        number = range(len(self))[index]  # raises IndexError
        return next(self._records(number, number + 1))

    def __iter__(self) -> Iterator[BefKernel]:
        return iter(self._made or self._records(0, len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def _records(self, first: int, end: int) -> Iterator[BefKernel]:
        """The kernels from `first` up to `end`."""
        columns, names = self.columns, self.columns.names
        results = columns.results
        arguments_of_function = len(self._users.counts) - len(results.numbers)
        register, last = (
            arguments_of_function + int(results.counts[:one].sum()) for one in (first, end)
        )
        users = iter(self._users.tuples(register, last))
        for code, location, arguments, attributes, functions, made in zip(
            columns.codes[first:end].tolist(),
            columns.locations[first:end].tolist(),
            columns.arguments.tuples(first, end),
            columns.attributes.tuples(first, end),
            columns.functions.tuples(first, end),
            results.tuples(first, end),
            strict=True,
        ):
            used_by = tuple([next(users) for _ in made])
            lists = arguments, attributes, functions, made, used_by
            yield kernel_of((names[code], location, *lists, len(arguments), False))


def columns_of(function: BefFunction) -> Columns:
    """The kernels of `function` by column."""
    kernels = function.kernels
    if isinstance(kernels, ColumnKernels):
        return kernels.columns
    names, locations, arguments, attributes, functions, results, *_ = [
        *zip(*kernels, strict=True)
    ] or [()] * len(BefKernel._fields)
    codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
    return Columns(
        tuple(codes),
        np.fromiter(map(codes.__getitem__, names), np.int64, len(names)),
        np.array(locations, np.int64),
        *(lists_of(one) for one in (arguments, attributes, functions, results)),
    )


def lists_of(lists: Sequence[Sequence[int]]) -> Lists:
    """These lists, end to end."""
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    return Lists(counts, np.fromiter(chain.from_iterable(lists), np.int64, int(counts.sum())))


@dataclass(frozen=True)
class Body:
    """What the head of a body and the file say, for `read_kernels` to compare the kernels with.

    `table` has for each kernel but the pseudo kernel the offset of its words in bytes, the number of its
    operands, and its stream.
    """

    table: Words
    use_counts: Words
    argument_users: Sequence[Numbers]
    entry_users: Numbers
    result_registers: Numbers
    kernel_names: Sequence[str]
    function_count: int
    attributes_size: int


def read_kernels(words: npt.NDArray[np.uint32], body: Body) -> tuple[ColumnKernels, int] | None:
    """The kernels of a body, which `words` has from its pseudo kernel on, and how many words these are.

    None if something is wrong with them: `body_reader` says what.  `words` may go on after the body.
    """
    offsets, operands, _ = body.table.reshape(-1, 3).T
    starts = offsets // 4
    if (offsets % 4).any() or starts.max() > len(words) - KERNEL_HEADER_WORDS:
        return None
    codes, locations, *counts = (
        words[starts + place].astype(np.int64) for place in range(KERNEL_HEADER_WORDS)
    )
    arguments, attributes, functions, results = counts
    # A count is below 2^32, so that no sum wraps round.
    at = starts + KERNEL_HEADER_WORDS
    users_start = at + 2 * results + arguments + attributes + functions
    if (users_start[:-1] > starts[1:]).any() or users_start.max() > len(words):
        return None  # lists that overlap would make a small file a lot of work
    user_counts = _gather(words, at, results)
    kernel_users = _sums(user_counts)
    ends = users_start + kernel_users
    if (ends[:-1] != starts[1:]).any() or ends[-1] > len(words) or (operands != arguments).any():
        return None
    lists = []
    at = at + results
    for count in (arguments, attributes, functions, results):
        lists.append(_gather(words, at, count))
        at = at + count
    columns = Columns(body.kernel_names, codes, locations, *lists)
    listed = lists_of(body.argument_users)
    users = Lists(
        np.concatenate((listed.counts, user_counts.numbers)),
        np.concatenate((listed.numbers, _gather(words, users_start, kernel_users).numbers)),
    )
    if not _are_references_right(columns, body) or not _are_uses_right(columns, body, users):
        return None
    return ColumnKernels(columns, users), int(ends[-1])


def _are_references_right(columns: Columns, body: Body) -> bool:
    """Whether a kernel uses what is there, and registers that are defined before."""
    results, arguments = columns.results, columns.arguments
    argument_count, register_count = len(body.argument_users), len(body.use_counts)
    return bool(
        columns.codes.max() < len(body.kernel_names)
        and np.array_equal(results.numbers, np.arange(argument_count, register_count))
        and (arguments.numbers < argument_count + results.starts[arguments.owners]).all()
        and columns.attributes.numbers.max(initial=-1) < body.attributes_size
        and columns.functions.numbers.max(initial=-1) < body.function_count
        and max(body.result_registers, default=-1) < register_count
    )


def _are_uses_right(columns: Columns, body: Body, users: Lists) -> bool:
    """Whether the users of each register are those that have it as an operand, and as many as counted."""
    arguments, register_count = columns.arguments, len(body.use_counts)
    kernel_count = len(columns.codes)
    without_operands = 1 + np.flatnonzero(arguments.counts == 0)
    uses = np.bincount(arguments.numbers, minlength=register_count)
    returned = np.bincount(np.array(body.result_registers, np.int64), minlength=register_count)
    return (
        np.array_equal(without_operands, body.entry_users)
        and np.array_equal(users.counts, uses)
        and np.array_equal(uses + returned, body.use_counts)
        and users.numbers.max(initial=0) <= kernel_count
        and np.array_equal(
            np.sort(users.owners * (kernel_count + 1) + users.numbers),
            np.sort(arguments.numbers * (kernel_count + 1) + arguments.owners + 1),
        )
    )


def users_of(columns: Columns, register_count: int) -> Lists:
    """For each register the kernels that use it, in the order of a file: the last one first."""
    arguments, kernel_count = columns.arguments, len(columns.codes)
    last_first = kernel_count - 1 - arguments.owners
    keys = np.sort(arguments.numbers * kernel_count + last_first)
    uses = np.bincount(arguments.numbers, minlength=register_count)
    return Lists(uses, kernel_count - keys % kernel_count)


def _gather(words: npt.NDArray[np.uint32], starts: Words, counts: Words) -> Lists:
    """The lists that `words` has from `starts` on."""
    positions = np.repeat(starts - np.cumsum(counts) + counts, counts)
    return Lists(counts, words[positions + np.arange(len(positions))].astype(np.int64))


def _sums(lists: Lists) -> Words:
    """The sum of each list."""
    total = np.concatenate(([0], np.cumsum(lists.numbers)))
    sums: Words = total[lists.starts + lists.counts] - total[lists.starts]
    return sums


def word_column(data: memoryview) -> npt.NDArray[np.uint32]:
    """The 32-bit words of `data`, which is not copied; what is left of a word at its end is not among them."""
    return np.frombuffer(data[: len(data) // 4 * 4], "<u4")


def varints(data: memoryview, count: int) -> tuple[Words, int] | None:
    """The first `count` integers of `data`, as of `Cursor.varint`, and how many bytes they have.

    None if `data` is too short, or one of them is longer than five bytes.
    """
    window = np.frombuffer(data[: 5 * count], np.uint8)
    ends = np.flatnonzero(window < 0x80)[:count]
    if len(ends) < count:
        return None
    values = window[ends].astype(np.int64)
    lengths = np.diff(ends, prepend=-1)
    longest = int(lengths.max())
    if longest > 5:
        return None
    for back in range(1, longest):
        longer = np.flatnonzero(lengths > back)
        groups = window[ends[longer] - back] & 0x7F
        values[longer] |= groups.astype(np.int64) << 7 * back
    return values, int(ends[-1]) + 1
