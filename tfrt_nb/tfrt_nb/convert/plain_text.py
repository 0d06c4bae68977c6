"""A plain program to a BEF file, without modules of the IR in between.

`plain_records` is for large programs, at a fourth of the price; what it makes is what `to_records`
makes of the module that the text is.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp

from tfrt_nb.convert.collect import Call, Collector
from tfrt_nb.convert.mlir_to_bef import to_module
from tfrt_nb.convert.rows import FunctionHead, Row, function_of
from tfrt_nb.passes.streams import AUTOMATIC, StreamOptions, operation_costs, stream_options
from tfrt_nb.source.plain import PlainFunction, Shape, read_plain
from tfrt_nb.source.text import SourceText
from tfrt_runtime.bef.collector import collector_paused
from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.bef.locations import PlaceWriter
from tfrt_runtime.bef.records import BefFunction, BefModule


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
        rows = {shape: self._row(call) for shape, call in calls.items()}
        costs = dict(zip(calls, operation_costs([c.op for c in calls.values()], self._streams)))
        return function_of(
            FunctionHead(
                FunctionKind.SYNC if function.is_sync else FunctionKind.ASYNC,
                function.name,
                tuple(types.spellings(function.argument_types)),
                tuple(types.spellings(function.result_types)),
                location,
            ),
            [rows[shape] for shape in function.shapes],
            function.operands,
            function.returned,
            tuple(types.spellings(function.register_types)),
            self._places.add_lines(self._name, function.lines, function.columns),
            [1, *[costs[s] for s in function.shapes], 1],
            self._streams,
        )

    def _row(self, call: Call) -> Row:
        """What the records of a shape have in common."""
        functions = tuple([self._indexes[name] for name in call.functions])
        return Row(
            call.op.name,
            call.attributes,
            call.attribute_names,
            functions,
            len(call.op.results),
            call.is_nonstrict,
        )
