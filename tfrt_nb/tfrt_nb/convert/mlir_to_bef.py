"""Convert an IR module to a BEF file.

The conversion has two steps. First, `collect` finds the contents in file order. Then this module
assigns registers to each function's values, and `rows` builds the function's kernels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from tfrt_nb.convert.attributes import place_of
from tfrt_nb.convert.collect import Call, Collector, Function, return_of
from tfrt_nb.convert.rows import Row, function_of
from tfrt_nb.nesting import deep_stack
from tfrt_nb.passes.streams import AUTOMATIC, StreamOptions, operation_costs, stream_options
from tfrt_nb.source.spans import SourceSpan, location_of
from tfrt_runtime.bef.locations import PlaceWriter
from tfrt_runtime.bef.records import BefFunction, BefModule, KernelShape, collector_paused
from tfrt_runtime.bef.writer import write_bef

_OTHER_REGION = "BEF executor only supports references to kernels within the current region"


def mlir_to_bef(
    module: ModuleOp, *, optional_sections: bool = True, streams: StreamOptions = AUTOMATIC
) -> bytes:
    """Return the file for `module`.

    A file without the optional sections also runs, but does not convert back to the same module.
    The module's attributes override `streams`.

    Raises:
        ConversionError: if a file cannot contain the module.
    """
    return write_bef(to_records(module, optional_sections=optional_sections, streams=streams))


def to_records(
    module: ModuleOp, *, optional_sections: bool = True, streams: StreamOptions = AUTOMATIC
) -> BefModule:
    """Return the contents of the file that `mlir_to_bef` writes."""
    with collector_paused(), deep_stack():
        contents = Collector(module, optional_sections=optional_sections)
        contents.check()
        converter = _Converter(contents, streams)
        functions = tuple(map(converter.convert, contents.functions))
        contents.check()
    return contents.module(functions, converter.places)


class _Converter:
    """Converts the functions of `contents` to records, one after another."""

    def __init__(self, contents: Collector, streams: StreamOptions) -> None:
        self.places = PlaceWriter()
        self._streams = streams
        self._contents = contents
        self._indexes = {
            function.name: index
            for index, function in enumerate(contents.functions)
            if function.name
        }

    def convert(self, function: Function) -> BefFunction:
        native = BefFunction(
            function.kind,
            function.name,
            tuple(function.argument_types),
            tuple(function.result_types),
            register_types=(),
            attribute_names=(),
        )
        made = native if function.block is None else self._with_body(function, function.block)
        if self._contents.has_optional_sections:
            return made
        return replace(made, register_types=None, attribute_names=None)

    def _with_body(self, function: Function, block: Block) -> BefFunction:
        """Return a function with a body.

        The function's registers are the block's arguments, followed by the operations' results.
        """
        head = BefFunction(
            function.kind,
            function.name,
            tuple(function.argument_types),
            tuple(function.result_types),
            self._add_place(function.op),
        )
        options = stream_options(function.op, self._streams)
        ops = [call.op for call in function.calls]
        values = [*block.args, *(result for op in ops for result in op.results)]
        # The key is the value's id, because hashing an IR value costs a call.
        registers = {id(value): register for register, value in enumerate(values)}
        end = return_of(block)
        assert end is not None, "the collector has checked it"
        *operands, returned = [self._operands(op, registers) for op in (*ops, end)]
        rows = [
            Row(
                KernelShape(
                    call.op.name,
                    call.attributes,
                    self._functions(call) if call.functions else call.regions,
                    len(call.op.operands),
                    len(call.op.results),
                    call.is_nonstrict,
                ),
                call.attribute_names,
                cost,
            )
            for call, cost in zip(function.calls, operation_costs(ops, options), strict=True)
        ]
        types = self._contents.types.spellings([value.type for value in values])
        places = [self._add_place(op) for op in ops]
        return function_of(head, rows, operands, returned, tuple(types), places, options)

    def _operands(self, op: Operation, registers: Mapping[int, int]) -> tuple[int, ...]:
        """Return the registers of an operation's operands."""
        try:
            # `op.operands` is a view that looks up each operand in the operation again.
            return tuple([registers[id(value)] for value in op._operands])
        except KeyError:
            self._contents.fail(op, _OTHER_REGION)
            # The recorded failure prevents a file, so these registers are never used.
            return ()

    def _functions(self, call: Call) -> tuple[int, ...]:
        indexes = []
        for name in call.functions:
            index = self._indexes.get(name)
            if index is None:
                self._contents.fail(call.op, f"function @{name} not defined")
            else:
                indexes.append(index)
        return (*indexes, *call.regions)

    def _add_place(self, op: Operation) -> int:
        place: object = op.location
        if isinstance(place, SourceSpan) and place.explicit is None:
            source = place.source
            return self.places.add_file(source.name, *source.line_and_column(place.start))
        return self.places.add(place_of(location_of(op)))
