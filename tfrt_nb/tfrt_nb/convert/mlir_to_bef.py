"""A module of the IR to a BEF file.

Two steps: `collect` finds what there is, in the order of the file; here each function's operations
become kernels over registers, spread over streams.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tfrt_nb.convert.collect import Call, Collector, Function, return_of
from tfrt_nb.convert.dataflow import Dataflow
from tfrt_nb.convert.places import place_of
from tfrt_nb.dialects.types import CHAIN
from tfrt_nb.nesting import deep_stack
from tfrt_nb.passes.streams import (
    AUTOMATIC,
    StreamOptions,
    assign_streams,
    operation_costs,
    stream_options,
)
from tfrt_nb.source.spans import SourceSpan, location_of
from tfrt_runtime.bef.collector import collector_paused
from tfrt_runtime.bef.locations import PlaceWriter
from tfrt_runtime.bef.records import BefFunction, BefKernel, BefModule, kernel_of
from tfrt_runtime.bef.writer import write_bef

_OTHER_REGION = "BEF executor only supports references to kernels within the current region"


def mlir_to_bef(
    module: ModuleOp, *, optional_sections: bool = True, streams: StreamOptions = AUTOMATIC
) -> bytes:
    """The file that `module` becomes.

    Without the optional sections the file runs as well, but does not turn back into the same text.
    `streams` holds where the module's attributes do not say otherwise.

    Raises:
        ConversionError: a file cannot hold the module.
    """
    return write_bef(to_records(module, optional_sections=optional_sections, streams=streams))


def to_records(
    module: ModuleOp, *, optional_sections: bool = True, streams: StreamOptions = AUTOMATIC
) -> BefModule:
    """What the file of `mlir_to_bef` says."""
    with collector_paused(), deep_stack():
        contents = Collector(module, optional_sections=optional_sections)
        contents.check()
        converter = _Converter(contents, optional_sections, streams)
        functions = tuple(map(converter.convert, contents.functions))
        contents.check()
    return to_module(functions, contents, converter.places)


def to_module(
    functions: tuple[BefFunction, ...], contents: Collector, places: PlaceWriter
) -> BefModule:
    """The functions, with what they refer to."""
    has_optional_sections = contents.has_optional_sections
    attributes = contents.attributes
    return BefModule(
        functions,
        tuple(contents.kernel_names),
        tuple(contents.types.names),
        bytes(attributes.section.data),
        attributes.section.alignment,
        bytes(places.strings.data),
        bytes(places.records.data),
        attributes.kinds if has_optional_sections else None,
        tuple(contents.names_of_function_lists) if has_optional_sections else (),
    )


class _Converter:
    """Turns the functions of `contents` into records, one after the other."""

    def __init__(
        self, contents: Collector, optional_sections: bool, streams: StreamOptions
    ) -> None:
        self.places = PlaceWriter()
        self._streams = streams
        self._contents = contents
        self._optional_sections = optional_sections
        self._indexes = {
            function.name: index
            for index, function in enumerate(contents.functions)
            if function.name
        }

    def convert(self, function: Function) -> BefFunction:
        if function.block is None:
            return self._native_function(function)
        location = self._add_place(function.op)
        flow = self._dataflow(function)
        streams = self._assign_streams(function, flow)
        kernels = [
            self._kernel(number, call, flow) for number, call in enumerate(function.calls, 1)
        ]
        return BefFunction(
            function.kind,
            function.name,
            tuple(function.argument_types),
            tuple(function.result_types),
            location,
            len(flow.values),
            tuple(flow.use_counts()),
            tuple(kernels),
            tuple(number for number, kernel in enumerate(kernels, 1) if not kernel.arguments),
            flow.used_by(0),
            tuple(streams[:-1]),
            flow.operands[-1],
            self._register_types(flow),
            self._attribute_names(function.calls),
        )

    def _native_function(self, function: Function) -> BefFunction:
        nothing = () if self._optional_sections else None
        return BefFunction(
            function.kind,
            function.name,
            tuple(function.argument_types),
            tuple(function.result_types),
            register_types=nothing,
            attribute_names=nothing,
        )

    def _dataflow(self, function: Function) -> Dataflow:
        assert function.block is not None
        end = return_of(function.block)
        assert end is not None, "the collector has checked it"
        flow = Dataflow(function.block, [call.op for call in function.calls], end)
        for op in flow.foreign:
            self._contents.fail(op, _OTHER_REGION)
        return flow

    def _assign_streams(self, function: Function, flow: Dataflow) -> list[int]:
        """The stream of each operation; of operation 0, the one that starts the function."""
        options = stream_options(_enclosing(function.op), self._streams)
        costs = operation_costs([call.op for call in function.calls], options)
        data = flow.defining_operations(CHAIN) if options.merge_inter_dependent_streams else None
        return assign_streams(flow.defining_operations(), [1, *costs, 1], options, data)

    def _kernel(self, number: int, call: Call, flow: Dataflow) -> BefKernel:
        arguments = flow.operands[number]
        return kernel_of(
            (
                call.op.name,
                self._add_place(call.op),
                arguments,
                call.attributes,
                self._functions(call) if call.functions else call.regions,
                flow.results[number],
                flow.used_by(number),
                min(len(arguments), 1) if call.is_nonstrict else len(arguments),
                call.is_nonstrict,
            )
        )

    def _functions(self, call: Call) -> tuple[int, ...]:
        indexes = []
        for name in call.functions:
            index = self._indexes.get(name)
            if index is None:
                self._contents.fail(call.op, f"function @{name} not defined")
            else:
                indexes.append(index)
        return (*indexes, *call.regions)

    def _register_types(self, flow: Dataflow) -> tuple[str, ...] | None:
        if not self._optional_sections:
            return None
        return tuple(self._contents.types.spellings([value.type for value in flow.values]))

    def _attribute_names(self, calls: Sequence[Call]) -> tuple[tuple[str, ...], ...] | None:
        if not self._optional_sections:
            return None
        return tuple(call.attribute_names for call in calls)

    def _add_place(self, op: Operation) -> int:
        place: object = op.location
        if isinstance(place, SourceSpan) and place.explicit is None:
            source = place.source
            return self.places.add_file(source.name, *source.line_and_column(place.start))
        return self.places.add(place_of(location_of(op)))


def _enclosing(op: Operation) -> list[Operation]:
    """`op` and what it is in, from the inside out."""
    scopes = [op]
    while (parent := scopes[-1].parent_op()) is not None:
        scopes.append(parent)
    return scopes
