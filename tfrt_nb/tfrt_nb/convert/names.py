"""Names of values: a BEF file does not keep them, the module that it was made from does."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tfrt_nb.convert.collect import Collector, Function
from tfrt_nb.source.plain.program import Body, PlainProgram
from tfrt_nb.source.spans import definition_span, value_name
from tfrt_runtime.diagnostics import Location


@dataclass(frozen=True, slots=True)
class NamedValue:
    """What the text calls a register, and where."""

    function: str
    """Name of the function that it is written in, also for a value inside a region."""
    name: str
    type: str
    location: Location | None
    depth: int
    """How many regions are around it within the function."""


def named_values(module: ModuleOp) -> dict[tuple[int, int], NamedValue]:
    """Names of values by function index and register, as `mlir_to_bef` numbers them."""
    names: dict[tuple[int, int], NamedValue] = {}
    for index, function in enumerate(Collector(module, optional_sections=False).functions):
        if function.block is None:
            continue
        owner, depth = _owner(function)
        values = [*function.block.args]
        values += [result for op in function.block.ops for result in op.results]
        for register, value in enumerate(values):
            name = value_name(value)
            if name is not None:
                place = definition_span(value)
                names[index, register] = NamedValue(owner, name, str(value.type), place, depth)
    return names


def plain_names(program: PlainProgram) -> dict[tuple[int, int], NamedValue]:
    """The same of a plain program."""
    names: dict[tuple[int, int], NamedValue] = {}
    types: dict[int, str] = {}  # by identity: the program keeps its types, of which there are few
    indexes = {id(body): index for index, body in enumerate(program.bodies)}
    waiting: list[tuple[Body, str, int]] = [
        (body, body.name, 0) for body in program.bodies if body.name
    ]
    while waiting:
        body, owner, depth = waiting.pop()
        index = indexes[id(body)]
        regions = [region for each in body.regions.values() for region in each]
        waiting += [(region, owner, depth + 1) for region in regions]
        for register, (name, start, end) in enumerate(program.names(body)):
            if name:
                place = program.source.location(start, end)
                type_ = body.register_types[register]
                text = types.get(id(type_)) or types.setdefault(id(type_), str(type_))
                names[index, register] = NamedValue(owner, name, text, place, depth)
    return names


def _owner(function: Function) -> tuple[str, int]:
    """The name of the function around a function or region, and how deep in it that is."""
    depth, op = 0, function.op
    while not isinstance(op, FuncOp):
        depth += 1
        outer = op.parent_op()
        assert outer is not None, "the collector has found it in a function"
        op = outer
    return op.sym_name.data, depth
