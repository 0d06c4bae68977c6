"""Convert a plain program to a BEF file, without a module of the IR in between, from rows of
numbers: operations whose values are registers already.

`plain_records` is for large programs, at a fourth of the cost. Its result is what `to_records`
returns for the module with that text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tfrt_nb.convert.collect import Call, Collector
from tfrt_nb.passes.streams import AUTOMATIC, StreamOptions, assign_streams, operation_costs
from tfrt_nb.source.plain.program import Body, PlainProgram, Shape
from tfrt_runtime.bef.locations import PlaceWriter
from tfrt_runtime.bef.records import (
    BefFunction,
    BefKernel,
    BefModule,
    FunctionKind,
    collector_paused,
    kernel_of,
)

CHAIN_TEXT = "!tfrt.chain"
"""The spelling of `dialects.types.CHAIN`. That module loads the IR, which a trace does not need."""


class Row(NamedTuple):
    """The shared part of operations that differ only in registers and places.

    `attributes` are offsets, `attribute_names` their names; `functions` are indexes.
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
    """Return the function whose operations are `rows`, with their operands and places.

    Its registers are its arguments, then the results in the order of the rows.
    """
    argument_count = len(head.argument_types)
    streams = _streams(argument_count, rows, operands, returned, register_types, options)
    # The numbers of the operations that use each register, one entry per use.
    users: list[list[int]] = [[] for _ in range(len(register_types))]
    for number, registers in enumerate(operands, 1):
        for register in registers:
            users[register].append(number)
    used_by = [tuple(numbers[::-1]) for numbers in users]
    use_counts = list(map(len, users))
    # The return uses its registers, too, but is not a kernel.
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
    """Return the streams of the start, of each operation, and of the return."""
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


def plain_records(program: PlainProgram) -> BefModule | None:
    """Return the file contents for a plain program; None if the program is wrong."""
    with collector_paused():
        contents = Collector(None, optional_sections=True)
        calls: dict[Shape, Call] = {}
        for one in program.contents:
            if isinstance(one, Body):
                # A body that is like an earlier one adds nothing to the tables.
                if one.like is not None:
                    continue
                contents.types.spellings(one.argument_types)
                contents.types.spellings(one.result_types)
            elif one not in calls:
                calls[one] = contents.collect_call(one.operation)
        bodies = program.bodies
        indexes = {body.name: index for index, body in enumerate(bodies) if body.name}
        if not all(name in indexes for call in calls.values() for name in call.functions):
            return None
        places = PlaceWriter()
        converter = _Converter(program, contents, places, _rows(calls, indexes))
        converted = tuple(map(converter.convert, bodies))
    return None if contents.errors else contents.module(converted, places)


def _rows(calls: Mapping[Shape, Call], indexes: Mapping[str, int]) -> dict[Shape, Row]:
    """Return the row of each shape; `indexes` has the indexes of functions by name."""
    costs = operation_costs([call.op for call in calls.values()], AUTOMATIC)
    return {
        shape: Row(
            call.op.name,
            call.attributes,
            call.attribute_names,
            tuple([indexes[name] for name in call.functions]),
            len(call.op.results),
            call.is_nonstrict,
            cost,
        )
        for (shape, call), cost in zip(calls.items(), costs, strict=True)
    }


class _Converter:
    """Converts functions to records, one after the other."""

    def __init__(
        self,
        program: PlainProgram,
        contents: Collector,
        places: PlaceWriter,
        rows: Mapping[Shape, Row],
    ) -> None:
        self._name = program.source.name
        self._contents, self._places, self._rows = contents, places, rows
        self._indexes = {id(body): index for index, body in enumerate(program.bodies)}
        self._converted: dict[int, BefFunction] = {}
        """Converted regions, by the identity of the body that others are like."""

    def convert(self, body: Body) -> BefFunction:
        location = self._places.add_file(self._name, body.line, body.column)
        if body.like is None:
            function = self._converted[id(body)] = self._convert(body, location)
            return function
        like = self._converted[id(body.like)]
        places = self._places.add_lines(self._name, body.lines, body.columns)
        kernels = [
            kernel_of((kernel[0], place, *kernel[2:]))
            for kernel, place in zip(like.kernels, places, strict=True)
        ]
        return like.at(location, tuple(kernels))

    def _convert(self, body: Body, location: int) -> BefFunction:
        types = self._contents.types
        head = FunctionHead(
            FunctionKind.SYNC if body.is_sync else FunctionKind.ASYNC,
            body.name,
            tuple(types.spellings(body.argument_types)),
            tuple(types.spellings(body.result_types)),
            location,
        )
        all_types = tuple(types.spellings(body.register_types))
        places = self._add_places(body)
        all_rows = [self._rows[shape] for shape in body.shapes]
        for index, regions in body.regions.items():
            numbers = tuple([self._indexes[id(region)] for region in regions])
            all_rows[index] = all_rows[index]._replace(functions=numbers)
        operands = body.operand_lists()
        return function_of(head, all_rows, operands, body.returned, all_types, places)

    def _add_places(self, body: Body) -> Sequence[int]:
        """Return the records of the operations' places."""
        if not body.places:
            return self._places.add_lines(self._name, body.lines, body.columns)
        known = body.places
        return [
            self._places.add(known[index])
            if index in known
            else self._places.add_file(self._name, line, column)
            for index, (line, column) in enumerate(zip(body.lines, body.columns, strict=True))
        ]
