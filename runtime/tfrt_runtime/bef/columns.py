"""The kernels of a large function by column: one array for each thing that a kernel says.

A file of a hundred thousand kernels is checked and loaded in a tenth of the time that a record for each
takes.  What kernels say besides registers and places is kept once for those that are alike (`Kinds`), so
that a kernel takes some twenty bytes.  `column_bytes.read_kernels` makes them of the words of a file, `columns_of`
of records.  A small function is not worth the time to load NumPy: what uses this
module imports it for `encoding.MANY_KERNELS` kernels and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, islice, pairwise
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from tfrt_runtime.bef.records import (
    BefFunction,
    BefKernel,
    KernelsByColumn,
    Numbers,
    Repeated,
    kernel_of,
)

Words = npt.NDArray[np.int64]
Column = npt.NDArray[np.integer[Any]]
"""Numbers of any width: what is kept has 32 bits, and is widened before it is multiplied."""
PIECE = 1 << 16
"""So many kernels are worked on at a time where that takes several arrays."""
T = TypeVar("T")


@dataclass(frozen=True)
class Lists:
    """Lists of numbers, one per kernel, end to end: `counts` has the length of each."""

    counts: Column
    numbers: Column

    @cached_property
    def owners(self) -> Words:
        """The kernel that each number belongs to."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def starts(self) -> Words:
        """Where each list begins in `numbers`."""
        return starts_of(self.counts)

    @cached_property
    def places(self) -> Words:
        """Where each number is in its list."""
        return np.arange(len(self.numbers)) - self.starts[self.owners]

    def tuples(self) -> list[Numbers]:
        """The lists as tuples."""
        numbers = tuple(self.numbers.tolist())
        bounds = [0, *np.cumsum(self.counts).tolist()]
        return [numbers[at:to] for at, to in pairwise(bounds)]

    def taken(self, which: Column) -> Lists:
        """The lists `which`, in that order, one as often as it is named."""
        counts = self.counts[which]
        positions = np.repeat(self.starts[which] - starts_of(counts), counts)
        positions += np.arange(len(positions))
        return Lists(counts, self.numbers[positions])

    def firsts(self) -> Words:
        """The first number of each list, -1 of an empty one."""
        firsts = np.full(len(self.counts), -1)
        there = self.counts > 0
        firsts[there] = self.numbers[self.starts[there]]
        return firsts


def starts_of(counts: Column) -> Words:
    """Where each of the lists of these lengths begins, if they are end to end."""
    starts: Words = np.cumsum(counts, dtype=np.int64)
    starts -= counts
    return starts


@dataclass(frozen=True)
class Kinds:
    """What kernels that differ in registers and places only have in common; `codes` are places of names."""

    codes: Column
    argument_counts: Column
    attributes: Lists
    functions: Lists
    result_counts: Column


@dataclass(frozen=True)
class Piece:
    """Some kernels in a row, from number `first` on; all numbers have 64 bits."""

    first: int
    kinds: Words
    arguments: Lists
    results: Lists

    @property
    def end(self) -> int:
        """The number of the next kernel."""
        return self.first + len(self.kinds)


@dataclass(frozen=True)
class Columns:
    """The kernels of a function, whose results have the registers from `first_result` on, in order.

    `names` has what each code stands for, `numbers` the kind of each kernel, `operands` the arguments of
    all kernels, end to end.
    """

    names: Sequence[str]
    kinds: Kinds
    numbers: Column
    locations: Column
    operands: Column
    first_result: int

    @property
    def argument_counts(self) -> Column:
        """How many arguments each kernel has."""
        return self.kinds.argument_counts[self.numbers]

    @property
    def result_counts(self) -> Column:
        """How many results each kernel has."""
        return self.kinds.result_counts[self.numbers]

    @property
    def register_count(self) -> int:
        """How many registers the function has."""
        return self.first_result + int(self.result_counts.sum())

    def pieces(self) -> Iterator[Piece]:
        """All kernels, `PIECE` at a time."""
        at, register = 0, self.first_result
        for first in range(0, len(self.numbers), PIECE):
            piece = self.piece(first, min(first + PIECE, len(self.numbers)), at, register)
            yield piece
            at += len(piece.arguments.numbers)
            register += len(piece.results.numbers)

    def piece(self, first: int, end: int, at: int, register: int) -> Piece:
        """The kernels from `first` up to `end`, whose arguments are from `at` on in `operands`, whose
        results from `register` on."""
        kinds = self.numbers[first:end].astype(np.int64)
        counts = self.kinds.argument_counts[kinds].astype(np.int64)
        operands = self.operands[at : at + int(counts.sum())].astype(np.int64)
        results = self.kinds.result_counts[kinds].astype(np.int64)
        registers = np.arange(register, register + int(results.sum()))
        return Piece(first, kinds, Lists(counts, operands), Lists(results, registers))

    def alike(self, alone: Sequence[bool]) -> tuple[Column, Words]:
        """A number for each kernel, which those have in common that differ in registers and places only.

        Kernels whose code is `alone` are like no other one.  The second array has for each number the first
        kernel that has it, in their order.
        """
        count = len(self.numbers)
        is_own = np.array(alone, np.bool_)[self.kinds.codes]
        keys = self.numbers
        if is_own.any():
            own = np.flatnonzero(is_own[keys])
            keys = keys.copy()
            keys[own] = len(is_own) + np.arange(len(own))
        first_of_key = np.full(int(keys.max(initial=0)) + 1, count)
        # Of several the last one that is put there stays.
        first_of_key[keys[::-1]] = np.arange(count - 1, -1, -1)
        used = np.flatnonzero(first_of_key < count)
        order = used[np.argsort(first_of_key[used])]
        ranks = np.zeros(len(first_of_key), np.int32)
        ranks[order] = np.arange(len(order))
        return ranks[keys], first_of_key[order]


def kinds_of(
    codes: Column, arguments: Column, attributes: Lists, functions: Lists, results: Column
) -> tuple[Kinds, Column]:
    """The kinds of these kernels, and that of each.

    Of kernels with more than one attribute or function each is of its own kind.
    """
    is_own = (attributes.counts > 1) | (functions.counts > 1)
    key, room = np.zeros(len(is_own), np.int64), 1
    for column in (codes, arguments, results, attributes.firsts() + 1, functions.firsts() + 1):
        radix = int(column.max(initial=0)) + 1
        key = key * radix + column  # may wrap round, and is not used then
        room *= radix
    if room >= 1 << 62:
        is_own[:] = True
    like, own = np.flatnonzero(~is_own), np.flatnonzero(is_own)
    numbers = np.empty(len(is_own), np.int32)
    if room > 4 * len(key):
        _, firsts, numbers[like] = np.unique(key[like], return_index=True, return_inverse=True)
    else:  # a table takes less time than to sort
        first_of_key = np.full(room, -1)
        first_of_key[key[like[::-1]]] = np.arange(len(like) - 1, -1, -1)
        used = np.flatnonzero(first_of_key >= 0)
        firsts = first_of_key[used]
        first_of_key[used] = np.arange(len(used))
        numbers[like] = first_of_key[key[like]]
    numbers[own] = len(firsts) + np.arange(len(own))
    which = np.concatenate((like[firsts], own))
    kinds = Kinds(
        codes[which].astype(np.int64),
        arguments[which].astype(np.int64),
        attributes.taken(which),
        functions.taken(which),
        results[which].astype(np.int64),
    )
    return kinds, numbers


class ColumnKernels(KernelsByColumn):
    """The kernels of a function that is strict throughout."""

    def __init__(self, columns: Columns, users: Lists | None = None) -> None:
        """`users` has for each register the kernels that use it, which count from 1; None: the last one first."""
        self.columns = columns
        self._users = users
        self._asked = 0
        self._made: tuple[BefKernel, ...] = ()
        """All records, from when one in sixteen was asked for by itself: to make all takes a tenth of the time."""

    @property
    def users(self) -> Lists:
        """For each register the kernels that use it, which count from 1."""
        return self.uses if self._users is None else self._users

    @cached_property
    def uses(self) -> Lists:
        """The same, the last one first."""
        return users_of(self.columns)

    def take_uses(self) -> Lists:
        """`uses`, which are not kept any longer: they are as large as all kernels."""
        uses = self.uses
        self.__dict__.pop("uses", None)  # another thread may have taken them meanwhile
        return uses

    @cached_property
    def _starts(self) -> tuple[Column, Column]:
        """Where the arguments of each kernel are among all of them, and its first result's register."""
        columns = self.columns
        registers = columns.first_result + starts_of(columns.result_counts)
        return starts_of(columns.argument_counts).astype(np.int32), registers.astype(np.int32)

    @property
    def names(self) -> Repeated[str]:
        names = self.columns.names
        return Repeated([names[code] for code in self.columns.kinds.codes], self.columns.numbers)

    @property
    def first_of_names(self) -> dict[str, int]:
        columns = self.columns
        _, firsts = columns.alike([False] * len(columns.names))
        found: dict[str, int] = {}
        for first in firsts.tolist():
            found.setdefault(columns.names[columns.kinds.codes[columns.numbers[first]]], first)
        return found

    def location(self, index: int) -> int:
        return int(self.columns.locations[index])

    @property
    def attribute_counts(self) -> Repeated[int]:
        return Repeated(self.columns.kinds.attributes.counts.tolist(), self.columns.numbers)

    @property
    def callees(self) -> set[int]:
        return set(self.columns.kinds.functions.numbers.tolist())

    def __len__(self) -> int:
        return len(self.columns.numbers)

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
        arguments, registers = self._starts
        at, register = int(arguments[number]), int(registers[number])
        return next(self._records(self.columns.piece(number, number + 1, at, register)))

    def __iter__(self) -> Iterator[BefKernel]:
        if self._made:
            return iter(self._made)
        return chain.from_iterable(map(self._records, self.columns.pieces()))

    @cached_property
    def _heads(self) -> list[tuple[str, Numbers, Numbers]]:
        """The name, the attributes and the functions of each kind."""
        names, kinds = self.columns.names, self.columns.kinds
        named = [names[code] for code in kinds.codes]
        return [*zip(named, kinds.attributes.tuples(), kinds.functions.tuples(), strict=True)]

    @cached_property
    def _users_starts(self) -> Words:
        return self.users.starts

    def _records(self, piece: Piece) -> Iterator[BefKernel]:
        """The kernels of a piece."""
        heads = self._heads
        registers = piece.results.numbers
        users: Iterator[Numbers] = iter(())
        if len(registers):
            first, end = int(registers[0]), int(registers[-1]) + 1
            counts = self.users.counts[first:end]
            start = int(self._users_starts[first])
            numbers = self.users.numbers[start : start + int(counts.sum())]
            users = iter(Lists(counts, numbers).tuples())
        for kind, location, arguments, made in zip(
            piece.kinds.tolist(),
            self.columns.locations[piece.first : piece.end].tolist(),
            piece.arguments.tuples(),
            piece.results.tuples(),
            strict=True,
        ):
            name, attributes, functions = heads[kind]
            used_by = tuple([next(users) for _ in made])
            lists = arguments, attributes, functions, made, used_by
            yield kernel_of((name, location, *lists, len(arguments), False))


def columns_of(function: BefFunction) -> Columns:
    """The kernels of `function` by column."""
    kernels = function.kernels
    if isinstance(kernels, ColumnKernels):
        return kernels.columns
    names, locations, arguments, attributes, functions, results, *_ = [
        *zip(*kernels, strict=True)
    ] or [()] * len(BefKernel._fields)
    codes = {name: code for code, name in enumerate(dict.fromkeys(names))}
    listed = lists_of(arguments)
    kinds, numbers = kinds_of(
        np.fromiter(map(codes.__getitem__, names), np.int64, len(names)),
        listed.counts,
        lists_of(attributes),
        lists_of(functions),
        lists_of(results).counts,
    )
    first_result = len(function.argument_types)
    places = np.array(locations, np.uint32)
    return Columns(tuple(codes), kinds, numbers, places, listed.numbers, first_result)


def dealt(items: Iterator[T], counts: Repeated[int]) -> Repeated[tuple[T, ...]]:
    """The next so many `items` for each of `counts`."""
    column = np.array(counts.values, np.int64)[counts.numbers]
    numbers = np.zeros(len(column), np.int32)
    known: dict[tuple[T, ...], int] = {(): 0}
    there = np.flatnonzero(column)
    for place, count in zip(there.tolist(), column[there].tolist(), strict=True):
        numbers[place] = known.setdefault(tuple(islice(items, count)), len(known))
    return Repeated(list(known), numbers)


def repeated(values: Sequence[T]) -> Repeated[T]:
    """The same sequence; an object that is in it more than once is kept once."""
    if isinstance(values, Repeated):
        return values
    distinct = {id(value): value for value in values}
    places = {key: place for place, key in enumerate(distinct)}
    numbers = np.fromiter((places[id(value)] for value in values), np.int32, len(values))
    return Repeated([*distinct.values()], numbers)


def narrowed(column: Column) -> Column:
    """The same numbers, none of them below 0, in as few bytes as the largest one needs."""
    return column.astype(np.min_scalar_type(int(column.max(initial=0))))


def lists_of(lists: Sequence[Sequence[int]]) -> Lists:
    """These lists, end to end."""
    counts = np.fromiter(map(len, lists), np.int64, len(lists))
    return Lists(counts, np.fromiter(chain.from_iterable(lists), np.int64, int(counts.sum())))


def users_of(columns: Columns) -> Lists:
    """For each register the kernels that use it, in the order of a file: the last one first."""
    operands, kernel_count = columns.operands, len(columns.numbers)
    bits = kernel_count.bit_length()
    keys = operands.astype(np.int64) << bits
    last_first = np.arange(kernel_count - 1, -1, -1, dtype=np.int32)
    keys += np.repeat(last_first, columns.argument_counts)
    keys.sort()
    keys &= (1 << bits) - 1
    numbers = kernel_count - keys.astype(np.int32)
    uses = np.bincount(operands, minlength=columns.register_count)
    return Lists(uses.astype(np.int32), numbers)
