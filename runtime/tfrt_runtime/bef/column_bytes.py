"""The bytes of a large function as columns: the words of its kernels, integers of variable length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tfrt_runtime.bef.columns import (
    PIECE,
    Column,
    ColumnKernels,
    Columns,
    Lists,
    Words,
    kinds_of,
    lists_of,
    starts_of,
)
from tfrt_runtime.bef.encoding import KERNEL_HEADER_WORDS
from tfrt_runtime.bef.records import Numbers


@dataclass(frozen=True)
class Body:
    """What the head of a body and the file say, for `read_kernels` to compare the kernels with.

    `table` has for each kernel but the pseudo kernel the offset of its words in bytes, the number of its
    operands, and its stream.
    """

    table: Column
    use_counts: Column
    argument_users: Sequence[Numbers]
    entry_users: Numbers
    result_registers: Numbers
    kernel_names: Sequence[str]
    function_count: int
    attributes_size: int


class _Part(NamedTuple):
    """Some kernels of a body; numbers have 32 bits, but for those of lists of which few have any.

    Counts are how many each kernel has; `user_counts` has for each result how many `users` it has.
    """

    codes: Column
    locations: Column
    argument_counts: Column
    arguments: Column
    attribute_counts: Column
    attributes: Column
    function_counts: Column
    functions: Column
    results: Column
    user_counts: Column
    users: Column


def read_kernels(words: npt.NDArray[np.uint32], body: Body) -> tuple[ColumnKernels, int] | None:
    """The kernels of a body, which `words` has from its pseudo kernel on, and how many words these are.

    None if something is wrong with them: `body_reader` says what.  `words` may go on after the body.
    """
    argument_count, register_count = len(body.argument_users), len(body.use_counts)
    register, end, parts = argument_count, 0, list[_Part]()
    offsets, operand_counts = body.table[::3], body.table[1::3]
    for first in range(0, len(offsets), PIECE):
        offsets_of_part = offsets[first : first + PIECE + 1].astype(np.int64)
        read = _read_part(words, offsets_of_part, len(offsets) - first, register, body)
        if read is None:
            return None
        part, end = read
        if (operand_counts[first : first + PIECE] != part.argument_counts).any():
            return None
        parts.append(part)
        register += int(part.results.sum())
    if register != register_count or max(body.result_registers, default=-1) >= register_count:
        return None

    whole = _Part(*map(np.concatenate, zip(*parts, strict=True)))
    parts.clear()  # as large as all kernels
    kinds, numbers = kinds_of(
        whole.codes,
        whole.argument_counts,
        Lists(whole.attribute_counts, whole.attributes),
        Lists(whole.function_counts, whole.functions),
        whole.results,
    )
    columns = Columns(
        body.kernel_names, kinds, numbers, whole.locations, whole.arguments, argument_count
    )
    of_arguments = lists_of(body.argument_users)
    given = Lists(
        np.concatenate((of_arguments.counts.astype(np.int32), whole.user_counts)),
        np.concatenate((of_arguments.numbers.astype(np.int32), whole.users)),
    )
    kernels = ColumnKernels(columns)
    if not _are_uses_right(columns, body, given, kernels.uses):
        return None
    if not np.array_equal(given.numbers, kernels.uses.numbers):
        kernels = ColumnKernels(columns, given)
    return kernels, end


def _read_part(
    words: npt.NDArray[np.uint32], offsets: Words, left: int, register: int, body: Body
) -> tuple[_Part, int] | None:
    """The next kernels, at these offsets in bytes, and the word where they end; None if something is wrong with them.

    Args:
        offsets: with that of the kernel after the part, if there is one.
        left: how many kernels there are from the part's first one on.
        register: that of the first result.
    """
    starts = offsets // 4
    if (offsets % 4).any() or starts.max() > len(words) - KERNEL_HEADER_WORDS:
        return None
    starts, nexts = starts[: min(left, PIECE)], starts[1:]
    codes, locations, arguments, attributes, functions, results = (
        words[starts + place].astype(np.int64) for place in range(KERNEL_HEADER_WORDS)
    )
    # A count is below 2^32, so that no sum wraps round.
    at = starts + KERNEL_HEADER_WORDS
    users_start = at + 2 * results + arguments + attributes + functions
    if (users_start[: len(nexts)] > nexts).any() or users_start.max() > len(words):
        return None  # lists that overlap would make a small file a lot of work
    user_counts = _gather(words, at, results)
    kernel_users = _sums(user_counts)
    ends = users_start + kernel_users
    if (ends[: len(nexts)] != nexts).any() or ends[-1] > len(words):
        return None
    lists = []
    at += results
    for count in (arguments, attributes, functions, results):
        lists.append(_gather(words, at, count))
        at += count
    users = _gather(words, users_start, kernel_users)
    operands, _, _, registers = lists
    if (
        codes.max() >= len(body.kernel_names)
        or (registers.numbers != np.arange(register, register + len(registers.numbers))).any()
        or (operands.numbers >= register + registers.starts[operands.owners]).any()
        or lists[1].numbers.max(initial=-1) >= body.attributes_size
        or lists[2].numbers.max(initial=-1) >= body.function_count
        or users.numbers.max(initial=0) > len(body.table) // 3
    ):
        return None
    narrow = np.int32
    part = _Part(
        codes.astype(narrow),
        locations.astype(np.uint32),
        arguments.astype(narrow),
        operands.numbers.astype(narrow),
        attributes.astype(narrow),
        lists[1].numbers,
        functions.astype(narrow),
        lists[2].numbers,
        results.astype(narrow),
        user_counts.numbers.astype(narrow),
        users.numbers.astype(narrow),
    )
    return part, int(ends[-1])


def _are_uses_right(columns: Columns, body: Body, users: Lists, found: Lists) -> bool:
    """Whether the users of each register are those that are `found`, in any order, and as many as counted."""
    kernel_count = len(columns.numbers)
    without_operands = 1 + np.flatnonzero(columns.argument_counts == 0)
    returned = np.array(body.result_registers, np.int64)
    returns = np.bincount(returned, minlength=len(body.use_counts))
    return (
        np.array_equal(without_operands, body.entry_users)
        and np.array_equal(users.counts, found.counts)
        and np.array_equal(found.counts + returns, body.use_counts)
        and users.numbers.max(initial=0) <= kernel_count
        and (
            np.array_equal(users.numbers, found.numbers)
            or np.array_equal(_keys(users, kernel_count), _keys(found, kernel_count))
        )
    )


def _keys(users: Lists, kernel_count: int) -> Words:
    """The same for lists that differ in order only."""
    return np.sort(users.owners * (kernel_count + 1) + users.numbers)


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


def with_varints(head: bytes, *columns: Column) -> tuple[bytes, Words]:
    """For each row of the columns `head` and its numbers, as `varints` reads them; where each begins, and the end."""
    sizes = [np.ones(len(column), np.int64) for column in columns]
    for size, column in zip(sizes, columns, strict=True):
        for bits in range(7, int(column.max(initial=0)).bit_length(), 7):
            size += column >= 1 << bits
    counts = len(head) + np.sum(sizes, 0)
    starts = starts_of(np.append(counts, 0))
    data = np.empty(int(starts[-1]), np.uint8)
    at = starts[:-1].copy()
    for byte in head:
        data[at] = byte
        at += 1
    for size, column in zip(sizes, columns, strict=True):
        at += size
        for back in range(int(size.max(initial=0))):
            has = np.flatnonzero(size > back)
            group = column[has] >> 7 * back & 0x7F
            data[at[has] - 1 - back] = group | 0x80 if back else group
    return data.tobytes(), starts


def varints(data: memoryview, count: int) -> tuple[npt.NDArray[np.uint32], int] | None:
    """The first `count` integers of `data`, as of `Cursor.varint`, and how many bytes they have.

    None if `data` is too short, or one of them has more than 32 bits.
    """
    if count > len(data):
        return None
    values = np.empty(count, np.uint32)
    at = 0
    for first in range(0, count, PIECE):
        part = values[first : first + PIECE]
        size = _read_varints(data[at : at + 5 * len(part)], part)
        if size is None:
            return None
        at += size
    return values, at


def _read_varints(data: memoryview, values: npt.NDArray[np.uint32]) -> int | None:
    """Fill `values`; how many bytes were read, None as of `varints`."""
    window = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(window < 0x80)[: len(values)]
    if len(ends) < len(values):
        return None
    found = window[ends].astype(np.int64)
    lengths = np.diff(ends, prepend=-1)
    longest = int(lengths.max())
    if longest > 5:
        return None
    for back in range(1, longest):
        longer = np.flatnonzero(lengths > back)
        groups = window[ends[longer] - back] & 0x7F
        found[longer] |= groups.astype(np.int64) << 7 * back
    if longest == 5 and found.max() >= 1 << 32:
        return None
    values[:] = found
    return int(ends[-1]) + 1
