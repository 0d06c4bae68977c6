"""Branches, calls and returns as LLVM instructions."""

from __future__ import annotations

from xdsl.dialects import cf, func
from xdsl.ir import Operation

from tfrt_nb.jit.function_body import STACK_LIMIT, FunctionBody, Lowering
from tfrt_nb.jit.llvm_types import llvm_type, result_type
from tfrt_nb.jit.operations.descriptors import IS_UNROLLED
from tfrt_nb.jit.operations.externals import call_external
from tfrt_nb.passes.control_flow import UNROLL


def _branch(body: FunctionBody, op: Operation) -> None:
    unrolled = IS_UNROLLED if UNROLL in op.attributes else ""
    body.emit(f"br {body.label(op.successors[0])}{unrolled}")


def _conditional_branch(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, cf.ConditionalBranchOp)
    then, otherwise = op.successors
    body.emit(f"br {body.typed(op.cond)}, {body.label(then)}, {body.label(otherwise)}")


def _switch(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, cf.SwitchOp)
    default, *targets = op.successors
    values = op.case_values.get_values() if op.case_values is not None else ()
    type_ = llvm_type(op.flag.type)
    cases = " ".join(
        f"{type_} {value}, {body.label(target)}"
        for value, target in zip(values, targets, strict=True)
    )
    body.emit(f"switch {body.typed(op.flag)}, {body.label(default)} [ {cases} ]")


def _call(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, func.CallOp)
    symbol = op.callee.root_reference.data
    if symbol not in body.module.defined and call_external(body, op, symbol):
        return
    returns = result_type(op.res.types)
    name, arguments = body.module.function(symbol), body.typed_list(op.arguments)
    if body.has_limit and symbol in body.module.limited:
        name = body.module.limited_function(symbol)
        arguments = ", ".join(filter(None, (arguments, f"ptr {STACK_LIMIT}")))
    call = f"call {returns} {name}({arguments})"
    if not op.res:
        body.emit(call)
    elif len(op.res) == 1:
        body.set(op.res[0], call)
    else:
        struct = f"{returns} {body.value(call)}"
        for index, result in enumerate(op.res):
            body.set(result, f"extractvalue {struct}, {index}")


def _return(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, func.ReturnOp)
    if not op.arguments:
        body.emit("ret void")
        return
    if len(op.arguments) == 1:
        body.emit(f"ret {body.typed(op.arguments[0])}")
        return
    returns = result_type(op.arguments.types)
    value = "poison"
    for index, argument in enumerate(op.arguments):
        value = body.value(f"insertvalue {returns} {value}, {body.typed(argument)}, {index}")
    body.emit(f"ret {returns} {value}")


LOWERINGS: dict[str, Lowering] = {
    cf.BranchOp.name: _branch,
    cf.ConditionalBranchOp.name: _conditional_branch,
    cf.SwitchOp.name: _switch,
    func.CallOp.name: _call,
    func.ReturnOp.name: _return,
}
