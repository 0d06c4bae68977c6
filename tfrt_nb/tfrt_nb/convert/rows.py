"""A function's record from rows of numbers: operations whose values are registers already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple, overload

from tfrt_nb.passes.streams import StreamOptions, assign_streams
from tfrt_runtime.bef.encoding import MANY_KERNELS, FunctionKind
from tfrt_runtime.bef.records import BefFunction, BefKernel, kernel_of


class Row(NamedTuple):
    """What operations that differ only in registers and places have in common.

    `attributes` are offsets, `attribute_names` their names; `functions` are indexes.
    """

    name: str
    attributes: tuple[int, ...]
    attribute_names: tuple[str, ...]
    functions: tuple[int, ...]
    result_count: int
    is_nonstrict: bool = False


class FunctionHead(NamedTuple):
    """What a function is besides its operations: the first fields of `BefFunction`."""

    kind: FunctionKind
    name: str
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    location: int


def function_of(
    head: FunctionHead,
    rows: Sequence[Row],
    operands: Sequence[tuple[int, ...]],
    returned: tuple[int, ...],
    register_types: tuple[str, ...],
    places: Sequence[int],
    costs: Sequence[int],
    options: StreamOptions,
) -> BefFunction:
    """The function whose operations are `rows`, with their operands and places.

    Its registers are its arguments, then the results in the order of the rows.

    Args:
        costs: of the start, of each row, of the return.
    """
    argument_count = len(head.argument_types)
    if len(rows) >= MANY_KERNELS and not any(row.is_nonstrict for row in rows):
        return _by_column(head, rows, operands, returned, register_types, places, costs, options)
    counts = [row.result_count for row in rows]
    streams = _streams(argument_count, counts, operands, returned, costs, options)
    users = _users(operands, len(register_types))
    used_by = [tuple(numbers[::-1]) for numbers in users]
    use_counts = list(map(len, users))
    for register in returned:
        use_counts[register] += 1
    return BefFunction(
        *head,
        len(register_types),
        tuple(use_counts),
        _kernels(rows, operands, places, used_by, argument_count),
        tuple([number for number, registers in enumerate(operands, 1) if not registers]),
        tuple(used_by[:argument_count]),
        tuple(streams[:-1]),
        returned,
        register_types,
        tuple([row.attribute_names for row in rows]),
    )


def _streams(
    argument_count: int,
    result_counts: Sequence[int],
    operands: Sequence[Sequence[int]],
    returned: Sequence[int],
    costs: Sequence[int],
    options: StreamOptions,
) -> list[int]:
    """The stream of the start, of each operation, of the return."""
    definers = [0] * argument_count
    for number, count in enumerate(result_counts, 1):
        definers += [number] * count
    used = [
        [definers[register] for register in registers]
        for registers in chain(((),), operands, (returned,))
    ]
    return assign_streams(used, costs, options)


def _by_column(
    head: FunctionHead,
    rows: Sequence[Row],
    operands: Sequence[tuple[int, ...]],
    returned: tuple[int, ...],
    register_types: tuple[str, ...],
    places: Sequence[int],
    costs: Sequence[int],
    options: StreamOptions,
) -> BefFunction:
    """`function_of` of many rows, all of them strict: no record is made.  Streams are for files only, and wait."""
    import numpy as np

    from tfrt_runtime.bef.columns import ColumnKernels, Columns, Lists, lists_of, users_of

    argument_count, register_count = len(head.argument_types), len(register_types)
    distinct = {id(row): row for row in rows}
    place_of = {key: place for place, key in enumerate(distinct)}
    numbers = np.fromiter((place_of[id(row)] for row in rows), np.int64, len(rows))
    names = tuple(dict.fromkeys(one.name for one in distinct.values()))
    codes = {name: code for code, name in enumerate(names)}
    result_counts = np.array([one.result_count for one in distinct.values()])[numbers]
    columns = Columns(
        names,
        np.array([codes[one.name] for one in distinct.values()])[numbers],
        np.array(places, np.int64),
        lists_of(operands),
        lists_of([one.attributes for one in distinct.values()]).taken(numbers),
        lists_of([one.functions for one in distinct.values()]).taken(numbers),
        Lists(result_counts, np.arange(argument_count, register_count)),
    )
    users = users_of(columns, register_count)
    use_counts = users.counts + np.bincount(np.array(returned, np.int64), minlength=register_count)

    def streams() -> list[int]:
        arguments = columns.arguments.tuples(0, len(rows))
        counts = result_counts.tolist()
        return _streams(argument_count, counts, arguments, returned, costs, options)[:-1]

    return BefFunction(
        *head,
        register_count,
        tuple(use_counts.tolist()),
        ColumnKernels(columns, users),
        tuple((1 + np.flatnonzero(columns.arguments.counts == 0)).tolist()),
        tuple(users.tuples(0, argument_count)),
        Later(streams),
        returned,
        register_types=register_types,
        attribute_names=tuple([row.attribute_names for row in rows]),
    )


class Later(Sequence[int]):
    """Numbers that are worked out when one of them is looked at."""

    def __init__(self, find: Callable[[], Sequence[int]]) -> None:
        self._find = find

    @cached_property
    def _numbers(self) -> Sequence[int]:
        return self._find()

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...

    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        return self._numbers[index]


def _kernels(
    rows: Sequence[Row],
    operands: Sequence[tuple[int, ...]],
    places: Sequence[int],
    used_by: Sequence[tuple[int, ...]],
    register: int,
) -> tuple[BefKernel, ...]:
    kernels = []
    for row, registers, place in zip(rows, operands, places, strict=True):
        name, attributes, _, functions, result_count, is_nonstrict = row
        end = register + result_count
        kernels.append(
            kernel_of(
                (
                    name,
                    place,
                    registers,
                    attributes,
                    functions,
                    (register,) if result_count == 1 else tuple(range(register, end)),
                    tuple(used_by[register:end]),
                    min(len(registers), 1) if is_nonstrict else len(registers),
                    is_nonstrict,
                )
            )
        )
        register = end
    return tuple(kernels)


def _users(operands: Sequence[Sequence[int]], register_count: int) -> list[list[int]]:
    """The numbers of the operations that use each register, an entry per use."""
    users: list[list[int]] = [[] for _ in range(register_count)]
    for number, registers in enumerate(operands, 1):
        for register in registers:
            users[register].append(number)
    return users
