"""Print modules exactly as `mlir-opt` prints them.

MLIR's printer differs from xDSL's. It names a value after its kind (`%c0_i64`, `%true`, `%token`,
`%arg0`) or numbers it. The results of one operation can share a name (`%0:2`, used as `%0#1`).
Blocks are numbered in order, and a comment lists the predecessors of each block. In the body of a
function, the printer omits the function's own dialect (`return`, `call`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from io import StringIO
from typing import IO, Any, TypeVar

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, UnregisteredOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.async_.upstream.branches import Cf
from tfrt_nb.dialects.async_.upstream.buffers import MemRef
from tfrt_nb.dialects.async_.upstream.loops import Scf
from tfrt_nb.dialects.attribute_printer import AttributePrinter
from tfrt_nb.dialects.types import print_call, print_function
from tfrt_nb.nesting import deep_stack
from tfrt_nb.passes.control_flow import region_of

_T = TypeVar("_T")

_SUGGESTED_NAMES: dict[str, Sequence[str]] = {
    "func.constant": ("f",),
    "memref.alloc": ("alloc",),
    "memref.alloca": ("alloca",),
    "memref.cast": ("cast",),
    "memref.dim": ("dim",),
    "memref.extract_aligned_pointer_as_index": ("intptr",),
    "memref.extract_strided_metadata": ("base_buffer", "offset", "sizes", "strides"),
    "memref.memory_space_cast": ("memspacecast",),
    "memref.subview": ("subview",),
    "async.execute": ("token", "bodyResults"),
}
"""MLIR's names for the results of operations.

An operation has one name for all its results, or one for each group of results in its definition.
"""

_WITH_MLIRS_FORM = {op.name: op for dialect in (Cf, MemRef, Scf) for op in dialect.operations}
"""Operation classes that print MLIR's custom form if xDSL's own class prints a different form."""


def print_ir(
    module: ModuleOp,
    *,
    generic: bool = False,
    names: Mapping[SSAValue, str] | None = None,
    printer: Callable[..., MlirPrinter] | None = None,
) -> str:
    """Return the module's text, which ends with a newline.

    `generic` selects the generic form. `names` overrides MLIR's names for some values. `printer`
    replaces the printer's class.
    """
    stream = StringIO()
    printing = (printer or MlirPrinter)(stream, generic=generic)
    with deep_stack():
        printing.name_values(module, names)
        printing.print_op(module)
    return stream.getvalue() + "\n"


@dataclass
class _Names:
    """The names that are in use on the path from the module to a region."""

    next_value: int = 0
    next_argument: int = 0
    next_conflict: int = 0
    used: set[str] = field(default_factory=set)

    def inside(self) -> _Names:
        """Return a copy for a nested region."""
        return replace(self, used=set(self.used))

    def number(self) -> str:
        """Return the next free number, as the name of an unnamed value."""
        self.next_value += 1
        return str(self.next_value - 1)

    def unused(self, wanted: str) -> str:
        """Return `wanted`, with a number appended if a visible value already has that name."""
        name = wanted
        while name in self.used:
            # As in MLIR, conflicts of different names share one counter.
            name = f"{wanted}_{self.next_conflict}"
            self.next_conflict += 1
        self.used.add(name)
        return name


def _result_groups(op: Operation) -> list[tuple[str | None, Sequence[SSAValue]]]:
    """Return the groups of results that share a name, each with the name that MLIR suggests."""
    names = _suggested_names(op)
    if len(names) < 2:
        return [(names[0] if names else None, op.results)] if op.results else []
    assert isinstance(op, IRDLOperation)
    fields = [getattr(op, field) for field, _ in op.get_irdl_definition().results]
    groups = [(one,) if isinstance(one, SSAValue) else tuple(one) for one in fields]
    return [(name, values) for name, values in zip(names, groups, strict=True) if values]


def _suggested_names(op: Operation) -> Sequence[str]:
    if isinstance(op, arith.ConstantOp):
        return (_name_of_constant(op),)
    return _SUGGESTED_NAMES.get(op.name, ())


def _name_of_constant(op: arith.ConstantOp) -> str:
    if not isinstance(op.value, IntegerAttr):
        return "cst"
    number, type_ = op.value.value.data, op.value.type
    if not isinstance(type_, IntegerType):
        return f"c{number}"
    return f"c{number}_{type_}" if type_.width.data > 1 else ("true" if number else "false")


@dataclass
class _Namer:
    """Assigns names to all values in MLIR's order: region by region, from the outermost inward."""

    values: dict[SSAValue, str]
    results: dict[Operation, str]
    given: Mapping[SSAValue, str]

    def name_all(self, module: ModuleOp) -> None:
        names = _Names(used=set(self.given.values()))
        pending: deque[tuple[Region, _Names]] = deque([(module.body, names)])
        while pending:
            region, outer = pending.popleft()
            names = outer.inside()
            for block in region.blocks:
                for argument in block.args:
                    if argument in self.given:
                        self.values[argument] = self.given[argument]
                    elif block is region.first_block:
                        self.values[argument] = names.unused(f"arg{names.next_argument}")
                        names.next_argument += 1
                    else:
                        self.values[argument] = names.number()
                for op in block.ops:
                    self._name_results(op, names)
            # All values of a region get their names before the values of its nested regions do.
            operations = (op for block in region.blocks for op in block.ops)
            pending.extend((nested, names) for op in operations for nested in op.regions)

    def _name_results(self, op: Operation, names: _Names) -> None:
        bindings = []
        for suggested, group in _result_groups(op):
            single = len(group) == 1
            if single and group[0] in self.given:
                name = self.given[group[0]]
            else:
                name = names.number() if suggested is None else names.unused(suggested)
            bindings.append(f"%{name}" if single else f"%{name}:{len(group)}")
            for index, value in enumerate(group):
                self.values[value] = name if single else f"{name}#{index}"
        if bindings:
            self.results[op] = ", ".join(bindings)


class MlirPrinter(AttributePrinter):
    """xDSL's printer with MLIR's names and block comments.

    Call `name_values` before printing. The class is not a dataclass, because xDSL's printer is a
    dataclass in version 0.74 but has its own `__init__` in 0.75.
    """

    _flags_are_spaced = False
    """Whether flags are separated by ", " instead of ",".

    MLIR writes `overflow<nsw, nuw>`, but `fastmath<nnan,ninf>`.
    """
    _region: Region | None = None
    """The region whose predecessors `_sources` holds."""

    def __init__(self, stream: IO[str], *, generic: bool = False) -> None:
        super().__init__(stream, print_generic_format=generic)
        self._results: dict[Operation, str] = {}
        self._sources: dict[Block, list[Block]] = {}

    def name_values(self, module: ModuleOp, given: Mapping[SSAValue, str] | None = None) -> None:
        """Name every value of the module: as `given` says, or else as MLIR names it."""
        _Namer(self._ssa_values, self._results, given or {}).name_all(module)

    def _print_results(self, op: Operation) -> None:
        if op in self._results:
            self.print_string(f"{self._results[op]} = ")

    def print_list(
        self, elems: Iterable[_T], print_fn: Callable[[_T], Any], delimiter: str = ", "
    ) -> None:
        is_spaced = delimiter == "," and self._flags_are_spaced
        super().print_list(elems, print_fn, ", " if is_spaced else delimiter)

    def _populate_block_name(self, block: Block, block_index: int | None = None) -> None:
        index = region_of(block).get_block_index(block) if block_index is None else block_index
        self._blocks[block] = f"bb{index}"

    def print_op(self, op: Operation) -> None:
        if self.print_generic_format or isinstance(op, UnregisteredOp):
            super().print_op(op)
            return
        # Passes create operations of xDSL's own classes, and some of these print a different custom
        # form.
        class_ = _WITH_MLIRS_FORM.get(op.name, type(op))
        if class_.print is Operation.print:
            super().print_op(op)
            return
        self._print_results(op)
        self.print_string(_shown_name(op))
        self._flags_are_spaced = "overflowFlags" in op.properties
        if isinstance(op, func.FuncOp):
            print_function(op, self, empty_outputs=False)
        elif isinstance(op, func.CallOp):
            print_call(op, self)
        else:
            class_.print(op, self)

    def print_block(
        self,
        block: Block,
        print_block_args: bool = True,
        print_block_terminator: bool = True,
    ) -> None:
        is_entry = block.parent is not None and block.parent.first_block is block
        if print_block_args and not (is_entry and not block.args):
            self._print_new_line()
            self.print_block_name(block)
            if block.args:
                with self.in_parens():
                    self.print_list(block.args, self.print_block_argument)
            self.print_string(":")
            if not is_entry:
                self.print_string(f"  // {self._describe_predecessors(block)}")
        super().print_block(block, False, print_block_terminator)

    def _describe_predecessors(self, block: Block) -> str:
        region = region_of(block)
        if region is not self._region:
            self._region, self._sources = region, {}
            for source in region.blocks:
                for target in () if source.last_op is None else source.last_op.successors:
                    self._sources.setdefault(target, []).append(source)
        names = [f"^{self._get_block_name(source)}" for source in self._sources.get(block, ())]
        if not names:
            return "no predecessors"
        return f"pred: {names[0]}" if len(names) == 1 else f"{len(names)} preds: {', '.join(names)}"


def _shown_name(op: Operation) -> str:
    """Return the operation's name as MLIR prints it.

    The dialect is omitted if it is the default of the parent operation.
    """
    parent = op.parent_op()
    is_default = isinstance(parent, func.FuncOp | AsyncFuncOp | ModuleOp) or parent is None
    dialect, _, rest = op.name.partition(".")
    expected = "builtin" if parent is None else parent.dialect_name()
    is_plain = "." not in rest  # `async.runtime.create` keeps its dialect
    return rest if is_default and is_plain and dialect == expected else op.name
