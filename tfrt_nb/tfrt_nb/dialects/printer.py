"""Print modules in the form of TFRT's disassembler, or in the form of later TFRT versions.

Values are numbered as in MLIR: first the values of a block, then those of its regions. Sibling
regions therefore use the same numbers. A list of results has a single name, such as `%4:2`, and its
elements have names such as `%4#1`.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import IO

from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.dialects.func import ReturnOp as FuncReturnOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from tfrt_nb.dialects.attribute_printer import AttributePrinter
from tfrt_nb.dialects.control_flow import CaseOp
from tfrt_nb.dialects.control_flow.calls import BodyOp
from tfrt_nb.dialects.kernel_op import ShortFormOp
from tfrt_nb.dialects.types import TENSOR, host_type, print_call, print_function
from tfrt_nb.nesting import deep_stack


def print_module(
    module: Operation,
    *,
    head: bool = False,
    func_dialect: bool = False,
    generic: bool = False,
    places: bool = False,
    names: Mapping[SSAValue, str] | None = None,
) -> str:
    """Return the text of `module`, which ends with a newline.

    - `head` selects the spelling of later versions, such as `func.func` and `!tfrt_tensor.tensor`.
    - `func_dialect` selects that spelling for functions only.
    - `generic` prints no operation in its short form.
    - `places` prints each operation's location after the operation.
    - `names` maps values to the names that they keep; other values get numbers.
    """
    stream = StringIO()
    printer = HostPrinter(
        stream,
        generic=generic,
        head=head,
        func_dialect=func_dialect,
        places=places,
        names=names,
    )
    with deep_stack():
        printer.print_op(module)
    stream.write("\n")
    return stream.getvalue()


class HostPrinter(AttributePrinter):
    """Prints operations of host programs, and operations of other dialects in their short forms.

    The parameters are the same as for `print_module`.
    """

    _numbered = False

    def __init__(
        self,
        stream: IO[str],
        *,
        head: bool = False,
        func_dialect: bool = False,
        generic: bool = False,
        places: bool = False,
        names: Mapping[SSAValue, str] | None = None,
    ) -> None:
        super().__init__(stream, print_generic_format=generic, print_properties_as_attributes=True)
        self.is_head = head
        self.places = places
        self.value_names = names or {}
        self._op_names: dict[type[Operation], str] = {
            ModuleOp: "module",
            FuncOp: "func.func" if head or func_dialect else "func",
            FuncReturnOp: "return",
        }

    def print_op(self, op: Operation) -> None:
        self._print_results(op)
        # A region with two arguments of the same name cannot be parsed again, but TFRT prints it.
        repeats = isinstance(op, BodyOp) and len(set(op.body_arguments)) < len(op.body_arguments)
        if not self.print_generic_format and _has_short_form(op) and not repeats:
            self.print_string(self._op_names.get(type(op), op.name))
            if isinstance(op, FuncOp):
                print_function(op, self)
            elif isinstance(op, CallOp):
                print_call(op, self)
            else:
                op.print(self)
        else:
            self.print_string_literal(op.name)
            self.print_op_with_default_format(op)
        if self.places and op.location != UNKNOWN_LOC:
            self.print_string(" ")
            self.print_attribute(op.location)

    def print_alone(self, op: Operation, operand_names: Mapping[SSAValue, str]) -> None:
        """Print only `op`. Its operands have the given names, which start with `%`."""
        self._ssa_values |= {
            operand: name.removeprefix("%") for operand, name in operand_names.items()
        }
        if op.results:
            self._name_results(op, "0")
        self.print_op(op)

    def _print_results(self, op: Operation) -> None:
        # The first printed operation is the root, whose values are numbered once.
        if not self._numbered:
            self._numbered = True
            self._name_values(op)
        if op.results:
            given = [self._ssa_values[result] for result in op.results]
            name, mark, _ = given[0].partition("#")
            shown = f"%{name}:{len(given)}" if mark else ", ".join(f"%{one}" for one in given)
            self.print_string(f"{shown} = ")

    def print_op_with_default_format(self, op: Operation) -> None:
        self.print_operands(op.operands)
        if op.successors:
            self.print_string("[")
            self.print_list(op.successors, self.print_block_name)
            self.print_string("]")
        self.print_regions(op.regions)
        self.print_op_attributes({**op.attributes, **op.properties})
        self.print_string(" : ")
        self.print_operation_type(op)

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        super().print_attr_dict({name: attr_dict[name] for name in sorted(attr_dict)})

    def print_attribute(self, attribute: Attribute) -> None:
        if self.is_head and attribute == TENSOR:
            attribute = _HEAD_TENSOR
        super().print_attribute(attribute)

    def _name_values(self, op: Operation) -> None:
        """Name every value inside `op`, without recursion, because programs nest deeply."""
        pending = [(region, 0, 0) for region in reversed(op.regions)]
        while pending:
            region, value, argument = pending.pop()
            value, argument = self._name_values_of(region, value, argument)
            nested = [
                (inner, value, argument)
                for block in region.blocks
                for child in block.ops
                for inner in child.regions
            ]
            pending.extend(reversed(nested))

    def _name_values_of(self, region: Region, value: int, argument: int) -> tuple[int, int]:
        names = self._ssa_values
        for index, block in enumerate(region.blocks):
            for block_argument in block.args:
                if index == 0:
                    names[block_argument] = self.value_names.get(block_argument) or f"arg{argument}"
                    argument += 1
                else:
                    names[block_argument] = str(value)
                    value += 1
            for op in block.ops:
                own_names = [self.value_names.get(result) for result in op.results]
                if op.results and all(own_names):
                    names.update(zip(op.results, map(str, own_names), strict=True))
                elif op.results:
                    self._name_results(op, str(value))
                    value += 1
        return value, argument

    def _name_results(self, op: Operation, name: str) -> None:
        if len(op.results) == 1:
            self._ssa_values[op.results[0]] = name
        else:
            self._ssa_values |= {result: f"{name}#{i}" for i, result in enumerate(op.results)}


_HEAD_TENSOR = host_type("tfrt_tensor.tensor")


def _has_short_form(op: Operation) -> bool:
    if isinstance(op, ShortFormOp | CaseOp):
        return op.has_short_form
    return type(op).print is not Operation.print
