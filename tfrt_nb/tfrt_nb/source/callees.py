"""Check operations against their own definitions, and calls against their callees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from xdsl.dialects.builtin import ArrayAttr, FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation

from tfrt_nb.dialects.control_flow import ReturnOp
from tfrt_nb.dialects.control_flow.calls import CallingOp
from tfrt_nb.dialects.crossing import host_types, uncrossable
from tfrt_nb.dialects.types import symbol_name
from tfrt_nb.source.advice import nearest
from tfrt_nb.source.spans import in_mlirs_words, span_of
from tfrt_runtime.diagnostics import Diagnostic, error, note

Symbols = dict[str, Operation]


def op_error(operation: Operation, message: str) -> Diagnostic:
    return error(f"'{operation.name}' op {message}", span_of(operation))


def own_problem(operation: Operation) -> str | None:
    match operation:
        case FuncOp():
            return function_problem(operation)
        case ModuleOp():
            if len(operation.regions) != 1 or len(operation.regions[0].blocks) != 1:
                return "requires one region of one block"
            is_named = isinstance(operation.properties.get("sym_name", _NO_NAME), StringAttr)
            return None if is_named else "attribute 'sym_name' has the wrong kind"
    if isinstance(operation, IRDLOperation):
        # Imported here, because host programs do not need it.
        from tfrt_nb.dialects.definitions import definition_problem

        if (problem := definition_problem(operation)) is not None:
            return problem
    try:
        operation.verify_()
    except Exception as exception:  # noqa: BLE001
        # Some xDSL operations raise a plain Exception.
        if operation.name in _CASTS and len(operation.operands) == len(operation.results) == 1:
            source, target = operation.operands[0].type, operation.results[0].type
            return f"operand type '{source}' and result type '{target}' are cast incompatible"
        return in_mlirs_words(operation.name, str(exception))
    return None


_CASTS = frozenset(
    f"arith.{name}"
    for name in ("bitcast", "extf", "extsi", "extui", "index_cast", "truncf", "trunci")
)


_FUNCTION_PROPERTIES: dict[str, type[Attribute]] = {
    "sym_name": StringAttr,
    "function_type": FunctionType,
    "sym_visibility": StringAttr,
    "arg_attrs": ArrayAttr,
    "res_attrs": ArrayAttr,
}


def function_problem(function: FuncOp) -> str | None:
    if len(function.regions) != 1:
        return "requires one region"
    for name in ("sym_name", "function_type"):
        if name not in function.properties:
            return f"requires attribute '{name}'"
    for name, attribute in function.properties.items():
        if name not in _FUNCTION_PROPERTIES:
            return f"attribute '{name}' is not one of functions"
        if not isinstance(attribute, _FUNCTION_PROPERTIES[name]):
            return f"attribute '{name}' has the wrong kind"
    blocks = function.body.blocks
    if blocks and tuple(blocks[0].arg_types) != function.function_type.inputs.data:
        return "entry block arguments do not have the types of the function's arguments"
    return None


_NO_NAME = StringAttr("")


def check_callees(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    assert isinstance(operation, CallingOp)
    for index, symbol in enumerate(operation.callee_symbols()):
        role = operation.roles[index] if operation.roles else ""
        problem = _callee_problem(operation, symbol, symbols, role)
        if problem is not None:
            yield problem
            return


def _callee_problem(
    operation: CallingOp, symbol: SymbolRefAttr, symbols: Symbols, role: str
) -> Diagnostic | None:
    name = symbol.root_reference.data
    callee = symbols.get(name)
    if callee is not None and callee.name == "async.func":
        return _compiled_callee_problem(operation, callee, role)
    if not isinstance(callee, FuncOp):
        unknown = op_error(operation, f"'{name}' does not reference a valid function")
        return replace(unknown, notes=nearest(name, symbols, span_of(operation)))
    if function_problem(callee) is not None:
        return None
    type_ = callee.function_type
    problem = _call_problem(operation, type_.inputs.data, type_.outputs.data, role)
    if problem is not None and not _is_code(callee):
        return replace(problem, notes=(note(f"'@{name}' has the type {type_}", span_of(callee)),))
    can_cross = not _is_code(callee) or uncrossable(type_.inputs.data, type_.outputs.data) is None
    if problem is None and can_cross:
        return None
    return _compiled_callee_problem(operation, callee, role)


def _compiled_callee_problem(
    operation: CallingOp, callee: Operation, role: str
) -> Diagnostic | None:
    """Return the error in a call to a function that may be compiled, or None."""
    type_ = callee.get_attr_or_prop("function_type")
    if not isinstance(type_, FunctionType) or own_problem(callee) is not None:
        return None
    place = span_of(callee)
    inputs, outputs = host_types(type_.inputs.data), host_types(type_.outputs.data)
    if inputs is None or outputs is None:
        if isinstance(callee, FuncOp) and not _is_code(callee):
            return _call_problem(operation, type_.inputs.data, type_.outputs.data, role)
        uncrossed = uncrossable(type_.inputs.data, type_.outputs.data)
        found = note(f"{uncrossed}, which cannot cross between host and compiled code", place)
        message = f"'{symbol_name(callee)}' cannot be called by host programs"
        return error(f"'{operation.name}' op {message}", span_of(operation), [found])
    problem = _call_problem(operation, tuple(inputs), tuple(outputs), role)
    if problem is None:
        return None
    crossed = FunctionType.from_lists(inputs, outputs)
    text = (
        f"'@{symbol_name(callee)}' has the type {type_}"
        if crossed == type_
        else f"in host programs, the function's type '{type_}' is '{crossed}'"
    )
    return replace(problem, notes=(note(text, place),))


def _is_code(function: FuncOp) -> bool:
    """Return whether a function ends like a compiled function."""
    last = function.body.blocks[-1].last_op if function.body.blocks else None
    return last is not None and not isinstance(last, ReturnOp)


def _call_problem(
    operation: CallingOp,
    expected_inputs: tuple[Attribute, ...],
    expected_outputs: tuple[Attribute, ...],
    role: str,
) -> Diagnostic | None:
    inputs, outputs = operation.callee_types()
    of_callee = f" for {role}" if role else ""
    if len(inputs) != len(expected_inputs):
        return op_error(operation, f"incorrect number of operands for {role or 'callee'}")
    if inputs != expected_inputs:
        return op_error(operation, f"operand type mismatch{of_callee}")
    if outputs is not None and len(outputs) != len(expected_outputs):
        return op_error(operation, f"incorrect number of results for {role or 'callee'}")
    if outputs is not None and outputs != expected_outputs:
        return op_error(operation, f"result type mismatch{of_callee}")
    return None
