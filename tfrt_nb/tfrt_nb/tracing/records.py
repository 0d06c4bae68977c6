"""Create the program of a trace: records with Python locations, and source text on request."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from tfrt_nb.convert.rows import Row, function_of
from tfrt_nb.tracing.names import Function, Made, value_names
from tfrt_nb.tracing.trace import Module, Operation, Region, Trace
from tfrt_runtime.bef.attributes import (
    Aggregate,
    Array,
    Attribute,
    Scalar,
    kind_of,
    write_attribute,
)
from tfrt_runtime.bef.locations import PlaceWriter
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import (
    BefFunction,
    BefModule,
    FunctionKind,
    KernelShape,
    collector_paused,
)
from tfrt_runtime.bef.wire import ByteBuilder
from tfrt_runtime.diagnostics import Location

if TYPE_CHECKING:
    from xdsl.ir import SSAValue

CALL = "tfrt.call"


class _Body(NamedTuple):
    """A traced function or region, in the form that BEF stores. A region has the name ""."""

    name: str
    place: Location
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    register_types: tuple[str, ...]
    rows: list[tuple[Row, tuple[str, ...]]]
    """The rows, each with the names of its callees."""
    operands: list[tuple[int, ...]]
    returned: tuple[int, ...]
    places: list[Location]


def records_of(module: Module) -> BefModule:
    """Return the contents of the file of the traced functions.

    They equal the file that the functions' source text would convert to.
    """
    with collector_paused():
        writer = _Writer()
        for trace in module.functions:
            writer.collect(trace)
        return writer.write()


class _Writer:
    """Collects functions in file order and numbers them, as `convert.collect` does for a module.

    `convert.collect` itself would load the IR, which most traces do not need.
    """

    def __init__(self) -> None:
        self._kernel_names: dict[str, None] = {}
        self._types: dict[str, None] = {}
        self._section = ByteBuilder()
        self._kinds: dict[int, int] = {}
        self._offsets: dict[str, int] = {}
        self._bodies: list[_Body] = []
        self._places = PlaceWriter()

    def collect(self, trace: Trace) -> None:
        """Collect a function, after its regions."""
        parameters = [*trace.arguments, *trace.captures.values()]
        registers = {value: number for number, value in enumerate(parameters)}
        types = [value.type for value in parameters]
        rows, operands, places = [], [], []
        for operation in trace.operations:
            rows.append(self._row(operation))
            operands.append(tuple([registers[value] for value in operation.operands]))
            places.append(operation.place)
            for result in operation.results:
                registers[result] = len(types)
                types.append(result.type)
        body = _Body(
            trace.name,
            trace.place,
            tuple(types[: len(parameters)]),
            tuple([value.type for value in trace.results]),
            tuple(types),
            rows,
            operands,
            tuple([registers[value] for value in trace.results]),
            places,
        )
        self._add(body)

    def _add(self, body: _Body) -> int:
        """Add a function or region, and return its index."""
        self._types |= dict.fromkeys((*body.argument_types, *body.result_types))
        self._bodies.append(body)
        return len(self._bodies) - 1

    def _row(self, operation: Operation) -> tuple[Row, tuple[str, ...]]:
        if operation.region is not None:
            # In the file, a region comes before the operation that contains it.
            self._kernel_names[CALL] = None
            self._types |= dict.fromkeys(operation.region.result_types)
        self._kernel_names[operation.name] = None
        self._types |= dict.fromkeys(value.type for value in operation.results)
        offsets = [self._offset(value) for _, value in operation.attributes]
        region = operation.region
        regions = () if region is None else (self._add(_region(region, operation.place)),)
        counts = len(operation.operands), len(operation.results)
        shape = KernelShape(operation.name, tuple(offsets), regions, *counts)
        return Row(shape, tuple([name for name, _ in operation.attributes])), operation.callees

    def _offset(self, value: Attribute) -> int:
        """Return an attribute's offset in the file, which stores equal attributes only once."""
        key = repr(value)  # distinguishes -0.0 from 0.0, and True from 1
        offset = self._offsets.get(key)
        if offset is None:
            self._types |= dict.fromkeys(_number_types(value))
            offset = self._offsets[key] = write_attribute(self._section, value)
            self._kinds[offset] = kind_of(value)
        return offset

    def write(self) -> BefModule:
        """Return the whole file."""
        indexes = {body.name: index for index, body in enumerate(self._bodies) if body.name}
        functions = tuple([self._function(body, indexes) for body in self._bodies])
        return BefModule(
            functions,
            tuple(self._kernel_names),
            tuple(self._types),
            bytes(self._section.data),
            self._section.alignment,
            bytes(self._places.strings.data),
            bytes(self._places.records.data),
            self._kinds,
            (),
        )

    def _function(self, body: _Body, indexes: dict[str, int]) -> BefFunction:
        add = self._places.add_file
        head = BefFunction(
            FunctionKind.ASYNC,
            body.name,
            body.argument_types,
            body.result_types,
            add(body.place.source, body.place.line, body.place.column),
        )
        rows = []
        for row, callees in body.rows:
            functions = (*[indexes[name] for name in callees], *row.shape.functions)
            rows.append(row._replace(shape=row.shape._replace(functions=functions)))
        places = [add(place.source, place.line, place.column) for place in body.places]
        return function_of(head, rows, body.operands, body.returned, body.register_types, places)


def _region(region: Region, place: Location) -> _Body:
    """Return the body of a region, which contains only a call."""
    count = len(region.argument_types)
    returned = tuple(range(count, count + len(region.result_types)))
    row = Row(KernelShape(CALL, (), (), len(region.passed), len(returned)), ())
    return _Body(
        "",
        place,
        region.argument_types,
        region.result_types,
        (*region.argument_types, *region.result_types),
        [(row, (region.callee,))],
        [region.passed],
        returned,
        [place],
    )


def _number_types(value: Attribute) -> list[str]:
    """Return the types, listed in a file, of the numbers in an attribute."""
    match value:
        case Scalar():
            return [value.dtype.name.lower()]
        case Array():
            return [value.dtype.name.lower()] if value.values else []
        case Aggregate():
            return [name for element in value.elements for name in _number_types(element)]
    return []


def named_in(module: Module) -> dict[str, Function]:
    """Return the data from which `names` finds value names, keyed by function name."""
    return {
        trace.name: Function(
            trace.names, [Made(one.site, one.name, len(one.results)) for one in trace.operations]
        )
        for trace in module.functions
    }


def text_of(
    records: BefModule,
    source: str,
    main: str,
    *,
    places: bool = True,
    named: Mapping[str, Function] = MappingProxyType({}),
) -> str:
    """Return the program as source text, with Python names for values, and with Python locations.

    A value whose name contains characters that MLIR does not allow gets a number. `named` is the
    result of `named_in`.
    """
    from xdsl.dialects.builtin import StringAttr

    from tfrt_nb.convert.bef_to_mlir import bef_to_mlir
    from tfrt_nb.dialects.printer import print_module

    module = bef_to_mlir(BefFile.of(records, source))
    names: dict[SSAValue, str] = {}
    for op in module.ops:
        symbol = op.properties["sym_name"]
        block = op.regions[0].block
        if symbol.data != main:
            op.properties["sym_visibility"] = StringAttr("private")
        results = [result for inner in block.ops for result in inner.results]
        own = value_names(len(block.args), named.get(symbol.data, Function((), ())))
        names |= {v: n for v, n in zip([*block.args, *results], own, strict=False) if n}
    return print_module(module, func_dialect=True, places=places, names=names)
