"""Build a function's record from rows, which are operations whose values are registers.

This module does not load the IR, which a traced program does not need.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from operator import attrgetter
from typing import NamedTuple

from tfrt_nb.passes.streams import AUTOMATIC, StreamOptions, assign_streams
from tfrt_runtime.bef.records import BefFunction, Kernels, KernelShape, Lazy

CHAIN_TEXT = "!tfrt.chain"
"""The spelling of `dialects.types.CHAIN`, repeated here because that module loads the IR."""


class Row(NamedTuple):
    """The fields that are the same in operations that differ only in registers and places."""

    shape: KernelShape
    attribute_names: tuple[str, ...]
    cost: int = 1


def function_of(
    head: BefFunction,
    rows: Sequence[Row],
    operands: Sequence[tuple[int, ...]],
    returned: tuple[int, ...],
    register_types: Sequence[str],
    places: Sequence[int],
    options: StreamOptions = AUTOMATIC,
) -> BefFunction:
    """Return the function `head` with the operations `rows`, with their operands and places.

    Its registers are its arguments, followed by the results in the order of the rows.
    """
    table = [*dict.fromkeys(rows)]
    numbers = {row: number for number, row in enumerate(table)}
    kernels = Kernels(
        [row.shape for row in table],
        array("i", [numbers[row] for row in rows]),
        array("i", chain.from_iterable(operands)),
        places,
        len(head.argument_types),
    )
    return function_with(head, kernels, table, returned, register_types, options)


def function_with(
    head: BefFunction,
    kernels: Kernels,
    table: Sequence[Row],
    returned: tuple[int, ...],
    register_types: Sequence[str],
    options: StreamOptions = AUTOMATIC,
) -> BefFunction:
    """Return the function `head` with these kernels.

    `table` contains the row of each of their shapes.

    Parts that only files need are computed when one is written.
    """
    numbers = kernels.numbers
    names = {number: table[number].attribute_names for number in set(numbers)}
    return replace(
        head,
        register_count=len(register_types),
        use_counts=Lazy(partial(kernels.use_counts, returned)),
        kernels=kernels,
        entry_users=Lazy(lambda: kernels.entry_users),
        argument_users=Lazy(lambda: kernels.users[: kernels.first]),
        streams=Lazy(partial(_streams, kernels, table, returned, register_types, options)),
        result_registers=returned,
        register_types=register_types,
        attribute_names=tuple(map(names.__getitem__, numbers)),
    )


def _streams(
    kernels: Kernels,
    table: Sequence[Row],
    returned: Sequence[int],
    register_types: Sequence[str],
    options: StreamOptions,
) -> list[int]:
    """Return the stream of the function's start, and of each operation."""
    definers = [0] * kernels.first
    for number, count in enumerate(kernels.each(attrgetter("result_count")), 1):
        definers += [number] * count
    ends = pairwise(kernels.starts[0])
    operands = [(), *[kernels.arguments[start:end] for start, end in ends], returned]
    defining = [[definers[register] for register in registers] for registers in operands]
    data = None
    if options.merge_inter_dependent_streams:
        is_data = [text != CHAIN_TEXT for text in register_types]
        data = [[definers[one] for one in registers if is_data[one]] for registers in operands]
    costs = [table[number].cost for number in kernels.numbers]
    # The start and the return cost 1 each. A file has no stream for the return.
    return assign_streams(defining, [1, *costs, 1], options, data)[:-1]
