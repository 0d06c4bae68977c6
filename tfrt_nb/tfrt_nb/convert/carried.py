"""Parts of a program that a file has only as text, because the executor does not run them.

The program's own compiled functions are in a separate section, in which each operation states its
location with `loc(...)`. Modules with `tfrt.compiled` are programs for other compilers, so their
operations do not become kernels. A reference to a function in such a module, `@module::@function`,
is an attribute that has the module's text in generic form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from io import StringIO

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.printer import HostPrinter
from tfrt_nb.internal_errors import internal_errors_caught, location_of
from tfrt_nb.passes.printing import MlirPrinter, print_ir
from tfrt_nb.source import parse_module
from tfrt_nb.source.spans import source_span
from tfrt_runtime.bef.attributes import Symbol


@internal_errors_caught()
def compiled_text(module: ModuleOp) -> str:
    """Return the text of compiled functions, with the location of each operation."""
    return print_ir(module, printer=_LocatingPrinter)


def read_compiled(text: str, name: str) -> ModuleOp:
    """Parse the output of `compiled_text`. Each operation has its original location.

    Raises:
        TfrtError: if the text is not a valid program.
    """
    module = parse_module(text, name)
    for op in module.walk():
        span = source_span(op)
        if span is not None and span.explicit is not None:
            op.location = span.explicit
    return module


class _LocatingPrinter(MlirPrinter):
    """Prints the location of each operation after it."""

    def print_op(self, op: Operation) -> None:
        super().print_op(op)
        place = location_of(op)
        if place is not None and not isinstance(op, ModuleOp):
            location = FileLineColLoc(
                StringAttr(place.source), IntAttr(place.line), IntAttr(place.column)
            )
            self.print_string(" ")
            self.print_attribute(location)


COMPILED = "tfrt.compiled"


class CompiledModules:
    """Finds the modules of compiled functions (`COMPILED`) among a program's operations."""

    def __init__(self, ops: Iterable[Operation]) -> None:
        self._modules = {
            op.sym_name.data: op
            for op in ops
            if isinstance(op, ModuleOp) and COMPILED in op.attributes and op.sym_name is not None
        }

    def __contains__(self, module: ModuleOp) -> bool:
        return any(module is compiled for compiled in self._modules.values())

    def has(self, symbol: SymbolRefAttr) -> bool:
        """Return whether `symbol` refers to a function in a compiled module."""
        return symbol.root_reference.data in self._modules

    def symbol(self, symbol: SymbolRefAttr) -> Symbol:
        """Return the file's value for a symbol, for which `has` must be true."""
        root = symbol.root_reference.data
        nested = tuple(name.data for name in symbol.nested_references)
        text = StringIO()
        _GenericPrinter(text).print_op(self._modules[root])
        return Symbol(root, nested, text.getvalue())


# In files, these operations have the names that they had in 2022.
_FUNC, _RETURN = "builtin.func", "std.return"
_OPERATIONS = {FuncOp.name: _FUNC, ReturnOp.name: _RETURN}
_ATTRIBUTES = {"function_type": "type"}
_ATTRIBUTES_NOW = {"type": "function_type"}


class _GenericPrinter(HostPrinter):
    """Prints operations in generic form, under the names that other readers of BEF files expect.

    These are the names that the operations had in 2022 (see `_OPERATIONS` and `_ATTRIBUTES`).
    """

    def print_op(self, op: Operation) -> None:
        self._print_results(op)
        self.print_string(f'"{_OPERATIONS.get(op.name, op.name)}"')
        self.print_op_with_default_format(op)

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        super().print_attr_dict({_ATTRIBUTES.get(key, key): attr_dict[key] for key in attr_dict})


def read_compiled_modules(symbols: Iterable[Symbol], file_name: str) -> list[ModuleOp]:
    """Return the modules that contain `symbols`, each once.

    Raises:
        SourceError: if the text of a module cannot be parsed.
    """
    texts = {symbol.root: symbol.module_text for symbol in symbols}
    modules = [parse_module(text, file_name) for text in texts.values()]
    for module in modules:
        for op in list(module.walk()):
            _rename(op)
    return modules


def _rename(op: Operation) -> None:
    """If `op` has a name from 2022, replace it with the current operation."""
    block = op.parent
    if block is None:
        return
    if op.name == _RETURN:
        new: Operation = ReturnOp(*op.operands)
    elif op.name == _FUNC and op.attributes.keys() >= {"sym_name", "type"}:
        new = _function(op)
    else:
        return
    block.insert_op_before(new, op)
    block.erase_op(op)


def _function(op: Operation) -> FuncOp:
    attributes = {_ATTRIBUTES_NOW.get(name, name): value for name, value in op.attributes.items()}
    inherent = FuncOp.get_irdl_definition().properties.keys() & attributes.keys()
    return FuncOp.create(
        properties={name: attributes.pop(name) for name in inherent},
        attributes=attributes,
        regions=[op.detach_region(region) for region in op.regions],
        location=op.location,
    )
