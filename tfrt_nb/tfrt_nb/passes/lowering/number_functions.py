"""Replace function values with numbers, and indirect calls with a choice among the functions.

    %f = func.constant @add : (i32) -> i32       %f = arith.constant 0 : index
    %r = func.call_indirect %f(%x)          =>   %r = scf.index_switch %f -> i32
           : (i32) -> i32                        case 0 { yield func.call @add(%x) }
                                                 default { yield func.call @sub(%x) }

Later passes then treat these calls like any other calls, which may fail, recurse, or wait. An
indirect call chooses among all functions of the value's type that occur in a `func.constant`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Region
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.async_.types import ValueType
from tfrt_nb.dialects.async_.upstream.branches import CallIndirectOp, ConstantOp
from tfrt_nb.passes.control_flow import Emitter, exchange, fail, operations_in, replace

Functions = Mapping[str, FuncOp]


@dataclass(frozen=True)
class NumberFunctions(ModulePass):
    """Removes every `func.constant` and `func.call_indirect`."""

    name: ClassVar[str] = "async-number-functions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = operations_in(op)
        constants = [one for one in found if isinstance(one, ConstantOp)]
        calls = [one for one in found if isinstance(one, CallIndirectOp)]
        if not constants and not calls:
            return
        functions = {one.sym_name.data: one for one in op.ops if isinstance(one, FuncOp)}
        for constant in constants:
            function = functions.get(_name(constant))
            if function is None:
                text = f"'{constant.name}' op reference to undefined function '{_name(constant)}'"
                fail(constant, text)
            if function.function_type != constant.result.type:
                fail(constant, f"'{constant.name}' op reference to function with mismatched type")
        numbers = {name: number for number, name in enumerate(dict.fromkeys(map(_name, constants)))}
        for call in calls:
            _choose(call, functions, numbers)
        for constant in constants:
            exchange(constant, arith.ConstantOp(IntegerAttr(numbers[_name(constant)], IndexType())))
        _retype(op)


def _name(op: ConstantOp) -> str:
    return op.value.root_reference.data


def _choose(op: CallIndirectOp, functions: Functions, numbers: Mapping[str, int]) -> None:
    names = [name for name in numbers if functions[name].function_type == op.callee.type]
    emit = Emitter.in_front_of(op)
    if isinstance(op.callee.owner, ConstantOp):
        # The function is known, so a direct call is enough.
        names = [_name(op.callee.owner)]
    match names:
        case []:
            fail(op, f"no function of type '{op.callee.type}' is the value of a 'func.constant'")
        case [name]:
            replace(op, emit(_call(op, name)).results)
            return
    *others, last = names
    cases = DenseArrayBase.from_list(i64, [numbers[name] for name in others])
    regions = [_calling(op, name) for name in others]
    # Only these functions can be values of this type, so the last one needs no case.
    choice = scf.IndexSwitchOp(op.callee, cases, _calling(op, last), regions, op.result_types)
    replace(op, emit(choice).results)


def _call(op: CallIndirectOp, name: str) -> CallOp:
    return CallOp(name, op.arguments, op.result_types)


def _calling(op: CallIndirectOp, name: str) -> Region:
    block = Block()
    emit = Emitter.at_end(block, op.location)
    emit(scf.YieldOp(*emit(_call(op, name)).results))
    return Region(block)


def _retype(module: ModuleOp) -> None:
    """Change the type of every function value to `index`."""
    for op in operations_in(module):
        if isinstance(op, FuncOp | AsyncFuncOp):
            inputs, outputs = op.function_type.inputs, op.function_type.outputs
            op.properties["function_type"] = FunctionType.from_lists(
                [*map(_number_type, inputs)], [*map(_number_type, outputs)]
            )
        blocks = (block for region in op.regions for block in region.blocks)
        for value in (*op.results, *(argument for block in blocks for argument in block.args)):
            type_ = _number_type(value.type)
            if type_ != value.type:
                Rewriter.replace_value_with_new_type(value, type_)


def _number_type(type_: Attribute) -> Attribute:
    match type_:
        case FunctionType():
            return IndexType()
        case ValueType():
            return ValueType(_number_type(type_.value_type))
        case _:
            return type_
