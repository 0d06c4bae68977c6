"""A plain program to a BEF file, without modules of the IR in between.

`plain_records` is for large programs, at a fourth of the price; what it makes is what `to_records`
makes of the module that the text is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from xdsl.dialects.builtin import ModuleOp

from tfrt_nb.convert.collect import Call, Collector
from tfrt_nb.convert.mlir_to_bef import to_module
from tfrt_nb.passes.streams import (
    AUTOMATIC,
    StreamOptions,
    assign_streams,
    operation_costs,
    stream_options,
)
from tfrt_nb.source.plain import PlainFunction, Shape, read_plain
from tfrt_nb.source.text import SourceText
from tfrt_runtime.bef.collector import collector_paused
from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.bef.locations import PlaceWriter
from tfrt_runtime.bef.records import BefFunction, BefKernel, BefModule, kernel_of


def plain_records(text: str, name: str, *, streams: StreamOptions = AUTOMATIC) -> BefModule | None:
    """What the file of a plain program says; None if the program is not plain, or wrong."""
    with collector_paused():
        functions = read_plain(SourceText(text, name))
        if functions is None:
            return None
        contents = Collector(ModuleOp([]), optional_sections=True)
        calls = [_collect(function, contents) for function in functions]
        indexes = {function.name: index for index, function in enumerate(functions)}
        if not all(
            name in indexes for each in calls for c in each.values() for name in c.functions
        ):
            return None
        places = PlaceWriter()
        converter = _Converter(name, contents, places, indexes, streams)
        converted = tuple(map(converter.convert, functions, calls))
    return None if contents.errors else to_module(converted, contents, places)


def _collect(function: PlainFunction, contents: Collector) -> dict[Shape, Call]:
    """What each shape of a function's operations becomes."""
    calls = {
        shape: contents.collect_call(shape.operation) for shape in dict.fromkeys(function.shapes)
    }
    contents.types.spellings(function.argument_types)
    contents.types.spellings(function.result_types)
    return calls


class _Converter:
    """Turns functions into records, one after the other."""

    def __init__(
        self,
        name: str,
        contents: Collector,
        places: PlaceWriter,
        indexes: Mapping[str, int],
        streams: StreamOptions,
    ) -> None:
        self._name = name
        self._contents = contents
        self._places = places
        self._indexes = indexes
        self._streams = stream_options((), streams)

    def convert(self, function: PlainFunction, calls: Mapping[Shape, Call]) -> BefFunction:
        types = self._contents.types
        location = self._places.add_file(self._name, function.line, function.column)
        count = len(function.register_types)
        users = _users(function.operands, count)
        used_by = [tuple(numbers[::-1]) for numbers in users]
        streams = self._assign_streams(function, calls)
        kernels = self._kernels(function, calls, used_by, streams)
        use_counts = list(map(len, users))
        for returned in function.returned:
            use_counts[returned] += 1
        return BefFunction(
            FunctionKind.SYNC if function.is_sync else FunctionKind.ASYNC,
            function.name,
            tuple(types.spellings(function.argument_types)),
            tuple(types.spellings(function.result_types)),
            location,
            count,
            tuple(use_counts),
            kernels,
            tuple([number for number, used in enumerate(function.operands, 1) if not used]),
            tuple(used_by[: function.argument_count]),
            streams[0],
            function.returned,
            tuple(types.spellings(function.register_types)),
            tuple([calls[shape].attribute_names for shape in function.shapes]),
        )

    def _kernels(
        self,
        function: PlainFunction,
        calls: Mapping[Shape, Call],
        used_by: Sequence[tuple[int, ...]],
        streams: Sequence[int],
    ) -> tuple[BefKernel, ...]:
        fields = {shape: self._fields(call) for shape, call in calls.items()}
        locations = self._places.add_lines(self._name, function.lines, function.columns)
        kernels = []
        register = function.argument_count
        rows = zip(function.shapes, function.operands, locations, streams[1:], strict=False)
        for shape, operands, place, stream in rows:
            name, attributes, functions, result_count, is_nonstrict = fields[shape]
            end = register + result_count
            kernels.append(
                kernel_of(
                    (
                        name,
                        place,
                        operands,
                        attributes,
                        functions,
                        (register,) if result_count == 1 else tuple(range(register, end)),
                        tuple(used_by[register:end]),
                        min(len(operands), 1) if is_nonstrict else len(operands),
                        stream,
                        is_nonstrict,
                    )
                )
            )
            register = end
        return tuple(kernels)

    def _fields(self, call: Call) -> tuple[str, tuple[int, ...], tuple[int, ...], int, bool]:
        """What the records of a shape have in common."""
        functions = tuple([self._indexes[name] for name in call.functions])
        return call.op.name, call.attributes, functions, len(call.op.results), call.is_nonstrict

    def _assign_streams(self, function: PlainFunction, calls: Mapping[Shape, Call]) -> list[int]:
        costs = dict(zip(calls, operation_costs([c.op for c in calls.values()], self._streams)))
        definers = [0] * len(function.argument_types)
        for number, shape in enumerate(function.shapes, 1):
            definers += [number] * len(shape.result_types)
        used = [
            [definers[register] for register in operands]
            for operands in chain(((),), function.operands, (function.returned,))
        ]
        return assign_streams(used, [1, *[costs[s] for s in function.shapes], 1], self._streams)


def _users(operands: Sequence[Sequence[int]], register_count: int) -> list[list[int]]:
    """The numbers of the operations that use each register, an entry per use."""
    users: list[list[int]] = [[] for _ in range(register_count)]
    for number, registers in enumerate(operands, 1):
        for register in registers:
            users[register].append(number)
    return users
