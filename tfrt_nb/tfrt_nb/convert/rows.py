"""Build a function's record from rows, which are operations whose values are registers.

This module does not load the IR, which a traced program does not need.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tfrt_nb.passes.streams import AUTOMATIC, StreamOptions, assign_streams
from tfrt_runtime.bef.records import BefFunction, BefKernel, FunctionKind, kernel_of

CHAIN_TEXT = "!tfrt.chain"
"""The spelling of `dialects.types.CHAIN`, repeated here because that module loads the IR."""


class Row(NamedTuple):
    """The common part of operations that differ only in registers and places.

    `attributes` has offsets, `attribute_names` has the attributes' names, and `functions` has
    indexes.
    """

    name: str
    attributes: tuple[int, ...]
    attribute_names: tuple[str, ...]
    functions: tuple[int, ...]
    result_count: int
    is_nonstrict: bool = False
    cost: int = 1


class FunctionHead(NamedTuple):
    """A function without its operations: the first fields of `BefFunction`."""

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
    register_types: Sequence[str],
    places: Sequence[int],
    options: StreamOptions = AUTOMATIC,
) -> BefFunction:
    """Return the function with the operations `rows`, their operands, and their places.

    Its registers are its arguments, followed by the results in the order of the rows.
    """
    argument_count = len(head.argument_types)
    streams = _streams(argument_count, rows, operands, returned, register_types, options)
    # For each register, `users` has the numbers of the operations that use it, one entry per use.
    users: list[list[int]] = [[] for _ in range(len(register_types))]
    for number, registers in enumerate(operands, 1):
        for register in registers:
            users[register].append(number)
    used_by = [tuple(numbers[::-1]) for numbers in users]
    use_counts = list(map(len, users))
    # The return uses its registers, too, although it is not a kernel.
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
    rows: Sequence[Row],
    operands: Sequence[Sequence[int]],
    returned: Sequence[int],
    register_types: Sequence[str],
    options: StreamOptions,
) -> list[int]:
    """Return the stream of the function's start, of each operation, and of the return."""
    definers = [0] * argument_count
    for number, row in enumerate(rows, 1):
        definers += [number] * row.result_count
    used = [(), *operands, returned]
    defining = [[definers[register] for register in registers] for registers in used]
    data = None
    if options.merge_inter_dependent_streams:
        is_data = [text != CHAIN_TEXT for text in register_types]
        data = [[definers[one] for one in registers if is_data[one]] for registers in used]
    return assign_streams(defining, [1, *[row.cost for row in rows], 1], options, data)


def _kernels(
    rows: Sequence[Row],
    operands: Sequence[tuple[int, ...]],
    places: Sequence[int],
    used_by: Sequence[tuple[int, ...]],
    register: int,
) -> tuple[BefKernel, ...]:
    kernels = []
    for row, registers, place in zip(rows, operands, places, strict=True):
        name, attributes, _, functions, result_count, is_nonstrict, _ = row
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
