"""Lower branches, calls, and returns to LLVM instructions.

An external function on buffers takes the address of an unranked descriptor, even if its declaration
does not request a C interface; see `descriptors`. The first result of a call to a Python function
says whether the call succeeded.
"""

from __future__ import annotations

from xdsl.dialects import cf, func
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    UnrankedMemRefType,
)
from xdsl.ir import Operation

from tfrt_nb.dialects.async_.upstream.printing import PrintOp
from tfrt_nb.jit.adapters import seldom
from tfrt_nb.jit.function_body import STACK_LIMIT, FunctionBody, Lowering
from tfrt_nb.jit.llvm_types import UNRANKED_TYPE, llvm_type, result_type
from tfrt_nb.jit.names import global_symbol
from tfrt_nb.jit.operations.descriptors import IS_UNROLLED, widened
from tfrt_nb.passes.control_flow import UNROLL, fail
from tfrt_runtime.async_runtime.externals import PythonExternal
from tfrt_runtime.async_runtime.printing import BUFFER_PRINTERS


def call_external(body: FunctionBody, op: func.CallOp, name: str) -> bool:
    """Call a declared function whose calling convention differs from its declaration.

    Return False, without a call, if the function's calling convention does not differ.
    """
    if name in BUFFER_PRINTERS:
        [buffer] = op.arguments
        is_unranked = isinstance(buffer.type, UnrankedMemRefType)
        # Allocate in the first block. Inside a loop, each iteration would take more of the stack.
        place = body.first(f"alloca {UNRANKED_TYPE}")
        given = body.name(buffer) if is_unranked else widened(body, buffer, op)
        body.emit(f"store {UNRANKED_TYPE} {given}, ptr {place}")
        body.call(name, "void", ("ptr", place))
    elif (known := body.module.externals.get(name)) is not None and known.address is None:
        _call_python(body, op, known)
    elif known is not None:
        _call_native(body, op, known)
    else:
        return False
    return True


def _call_python(body: FunctionBody, op: func.CallOp, known: PythonExternal) -> None:
    """Call a Python function with the address of words that contain the arguments.

    The callee replaces the arguments with the results.
    """
    count = max(len(known.arguments), len(known.results), 1)
    words = body.first(f"alloca [{count} x i64]")
    places = [body.value(f"getelementptr i64, ptr {words}, i64 {i}") for i in range(count)]
    for index, argument in enumerate(op.arguments):
        body.emit(f"store {body.typed(argument)}, ptr {places[index]}")
    body.module.declare(known.symbol, "i64", "ptr")
    done = body.value(f"call i64 {global_symbol(known.symbol)}(ptr {words})")
    succeeded, *results = op.res
    body.set(succeeded, f"icmp ne i64 {done}, 0")
    for index, result in enumerate(results):
        body.set(result, f"load {llvm_type(result.type)}, ptr {places[index]}")


_EXTENDED = {"i1": "zeroext ", "i8": "signext ", "i16": "signext ", "i32": "signext "}
"""How C extends small integers in registers, which some processors require."""


def _call_native(body: FunctionBody, op: func.CallOp, known: PythonExternal) -> None:
    types = [
        f"{llvm_type(value.type)} {_EXTENDED.get(word, '')}"
        for word, value in zip(known.arguments, op.arguments, strict=True)
    ]
    returns = "".join(
        f"{_EXTENDED.get(word, '')}{llvm_type(value.type)}"
        for word, value in zip(known.results, op.res, strict=True)
    )
    body.module.declare(known.symbol, returns or "void", ", ".join(types))
    operands = ", ".join(
        f"{type_}{body.name(value)}" for type_, value in zip(types, op.arguments, strict=True)
    )
    body.call_for(op.res, f"{global_symbol(known.symbol)}({operands})", returns or "void")


def _print(body: FunctionBody, op: PrintOp) -> None:
    """Lower `vector.print` of a number."""
    type_, value = op.source.type, body.name(op.source)
    text = llvm_type(type_)
    match type_:
        case IndexType():
            body.call("printU64", "void", ("i64", value))
        case IntegerType() if type_.width.data <= 64:
            # MLIR prints an i1 as 0 or 1.
            is_unsigned = text == "i1" or type_.signedness.data is Signedness.UNSIGNED
            if text != "i64":
                extend = "zext" if is_unsigned else "sext"
                value = body.value(f"{extend} {text} {value} to i64")
            body.call("printU64" if is_unsigned else "printI64", "void", ("i64", value))
        case Float64Type():
            body.call("printF64", "void", ("double", value))
        case Float32Type():
            body.call("printF32", "void", ("float", value))
        case Float16Type() | BFloat16Type():
            body.call("printF32", "void", ("float", body.value(f"fpext {text} {value} to float")))
        case _:
            fail(op, f"'{type_}' cannot be printed")
    body.call("printNewline", "void")


def _branch(body: FunctionBody, op: Operation) -> None:
    unrolled = IS_UNROLLED if UNROLL in op.attributes else ""
    body.emit(f"br {body.label(op.successors[0])}{unrolled}")


def _conditional_branch(body: FunctionBody, op: cf.ConditionalBranchOp) -> None:
    then, otherwise = op.successors
    body.emit(f"br {body.typed(op.cond)}, {body.label(then)}, {body.label(otherwise)}")


def _switch(body: FunctionBody, op: cf.SwitchOp) -> None:
    default, *targets = op.successors
    values = op.case_values.get_values() if op.case_values is not None else ()
    type_ = llvm_type(op.flag.type)
    cases = " ".join(
        f"{type_} {value}, {body.label(target)}"
        for value, target in zip(values, targets, strict=True)
    )
    body.emit(f"switch {body.typed(op.flag)}, {body.label(default)} [ {cases} ]")


def _call(body: FunctionBody, op: func.CallOp) -> None:
    symbol = op.callee.root_reference.data
    if symbol not in body.module.defined and call_external(body, op, symbol):
        return
    name, arguments = body.module.function(symbol), body.typed_list(op.arguments)
    if body.has_limit and symbol in body.module.limited:
        name = body.module.limited_function(symbol)
        arguments = ", ".join(filter(None, (arguments, f"ptr {STACK_LIMIT}")))
    body.call_for(op.res, f"{name}({arguments})")
    if body.module.attempts and symbol in body.module.fallible:
        body.bind(op.res[0], seldom(body, body.name(op.res[0])))


def _return(body: FunctionBody, op: func.ReturnOp) -> None:
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
    PrintOp.name: _print,
    cf.BranchOp.name: _branch,
    cf.ConditionalBranchOp.name: _conditional_branch,
    cf.SwitchOp.name: _switch,
    func.CallOp.name: _call,
    func.ReturnOp.name: _return,
}
