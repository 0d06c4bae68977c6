"""A function's record from rows of numbers: operations whose values are registers already."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from tfrt_nb.passes.streams import StreamOptions, assign_streams
from tfrt_runtime.bef.encoding import FunctionKind
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
    definers = [0] * argument_count
    for number, row in enumerate(rows, 1):
        definers += [number] * row.result_count
    used = [
        [definers[register] for register in registers]
        for registers in chain(((),), operands, (returned,))
    ]
    streams = assign_streams(used, costs, options)
    users = _users(operands, len(register_types))
    used_by = [tuple(numbers[::-1]) for numbers in users]
    use_counts = list(map(len, users))
    for register in returned:
        use_counts[register] += 1
    return BefFunction(
        *head,
        len(register_types),
        tuple(use_counts),
        _kernels(rows, operands, places, streams, used_by, argument_count),
        tuple([number for number, registers in enumerate(operands, 1) if not registers]),
        tuple(used_by[:argument_count]),
        streams[0],
        returned,
        register_types,
        tuple([row.attribute_names for row in rows]),
    )


def _kernels(
    rows: Sequence[Row],
    operands: Sequence[tuple[int, ...]],
    places: Sequence[int],
    streams: Sequence[int],
    used_by: Sequence[tuple[int, ...]],
    register: int,
) -> tuple[BefKernel, ...]:
    kernels = []
    for row, registers, place, stream in zip(rows, operands, places, streams[1:], strict=False):
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
                    stream,
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
