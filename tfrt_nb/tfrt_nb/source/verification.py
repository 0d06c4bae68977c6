"""Whether a module that was parsed makes sense, all of it: every independent mistake is reported.

Operations check themselves (`verify_`); here is what concerns several of them: names of functions,
callees, returns, ends of blocks, and that values are defined before they are used.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from io import StringIO

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsTerminator, NoTerminator

from tfrt_nb.dialects.catalog import UnknownOp
from tfrt_nb.dialects.control_flow import NATIVE, SYNC, ReturnOp
from tfrt_nb.dialects.control_flow.structure import BodyOp, CallingOp
from tfrt_nb.dialects.crossing import host_types, uncrossable
from tfrt_nb.dialects.kernel_op import KernelOp
from tfrt_nb.dialects.printer import HostPrinter
from tfrt_nb.source.advice import advice_on_end, nearest, notes_on, on_type
from tfrt_nb.source.dominance import check_dominance, check_uses_before_definition
from tfrt_nb.source.errors import in_mlirs_words
from tfrt_nb.source.spans import attribute_span, span_of, value_name
from tfrt_runtime.diagnostics import Diagnostic, Location, error, led_by, note

Symbols = dict[str, Operation]


def verify(module: ModuleOp, resolved_late: Iterable[SSAValue] = ()) -> list[Diagnostic]:
    """What is wrong with `module`, in the order of the text.

    `resolved_late` are the values that were used before they were defined.
    """
    diagnostics: list[Diagnostic] = []
    right: set[Hashable] = set()
    tables: list[Symbols] = []  # kept, since keys hold their identities
    for operation, symbols in _operations(module):
        if not tables or tables[-1] is not symbols:
            tables.append(symbols)
        if isinstance(operation, KernelOp) and operation.is_plainly_right():
            continue
        known = verification_key(operation, symbols)
        if known is None:
            diagnostics += check_operation(operation, symbols)
        elif known not in right:
            found = check_operation(operation, symbols)
            diagnostics += found
            if not found:
                right.add(known)
    for value in resolved_late:
        diagnostics += check_uses_before_definition(value)
    return sorted(diagnostics, key=_place)


def _place(diagnostic: Diagnostic) -> tuple[int, int]:
    location = diagnostic.location
    return (location.line, location.column) if isinstance(location, Location) else (0, 0)


def _operations(module: ModuleOp) -> Iterator[tuple[Operation, Symbols]]:
    """Every operation and the functions that it may name.  Not recursive."""
    pending: list[tuple[Operation, Symbols]] = [(module, {})]
    while pending:
        operation, symbols = pending.pop()
        yield operation, symbols
        if operation.regions:
            if isinstance(operation, ModuleOp):
                symbols = _symbols(operation)
            pending += [
                (child, symbols)
                for region in operation.regions
                for block in region.blocks
                for child in block.ops
            ]


def _symbols(module: ModuleOp) -> Symbols:
    """The operations of `module` by their names."""
    return {
        _symbol_name(operation): operation
        for region in module.regions
        for block in region.blocks
        for operation in block.ops
    }


def _symbol_name(operation: Operation) -> str:
    name = operation.get_attr_or_prop("sym_name")
    data = getattr(name, "data", None)
    return data if isinstance(data, str) else ""


def _op_error(operation: Operation, message: str) -> Diagnostic:
    return error(f"'{operation.name}' op {message}", span_of(operation))


# Cache of verification results


def verification_key(operation: Operation, symbols: Mapping[str, Operation]) -> Hashable | None:
    """All that the checks of the operation read, if that is little; else None.

    Operations with equal keys are checked once.  A key holds the name, the types and the
    attributes. Types and attributes count by identity, which the parser makes often enough the
    same.
    """
    kind = type(operation)
    if operation.attributes or not _has_key(kind):
        return None
    parts: list[Hashable] = [kind, *_ids(operation.operands), None, *_ids(operation.results)]
    parts.append(id(symbols))
    for name, attribute in operation.properties.items():
        if kind.name == "arith.constant" and isinstance(attribute, IntegerAttr):
            parts += (name, id(attribute.type))  # whatever the number is
        elif isinstance(attribute, DenseArrayBase):
            parts += (name, id(attribute.elt_type), attribute.data)
        else:
            parts += (name, id(attribute))
    if operation.regions:
        body = operation.regions[0].blocks
        end = body[0].last_op if len(body) == 1 else None
        if end is None:
            return None
        parts += (None, *_ids(body[0].args), type(end), *_ids(end.operands))
    elif kind.name in _ENDS:
        block = operation.parent
        parent = operation.parent_op()
        parts += (
            "" if parent is None else parent.name,
            block is not None and block.last_op is operation,
        )
    return tuple(parts)


def _ids(values: Iterable[SSAValue]) -> list[int]:
    return [id(value.type) for value in values]


@cache
def _has_key(kind: type[Operation]) -> bool:
    """Whether the checks of this class read nothing but what `verification_key` holds."""
    computes = kind.name.startswith(("arith.", "index.", "math."))
    return issubclass(kind, IRDLOperation) and (computes or kind.name in _WITH_KEYS | _ENDS)


_ENDS = frozenset({"async.yield", "scf.yield"})
_WITH_KEYS = frozenset(
    {
        "async.add_to_group",
        "async.await",
        "async.execute",
        "func.call",
        "memref.load",
        "memref.store",
    }
)


# Operations

Check = Callable[[Operation, Symbols], Iterator[Diagnostic]]


@cache
def _checks(operation_type: type[Operation]) -> tuple[Check, ...]:
    """What to check of operations of this class, in order.

    Most operations are of a few classes without anything special; deciding by class, once, is what
    keeps them cheap.
    """
    checks: list[Check] = []
    if operation_type.name == "func.return":
        checks.append(_check_compiled_return)
    if operation_type.name in _SYMBOLS:
        checks.append(_check_symbol_place)
    if operation_type.name == "scf.yield":
        checks.append(_check_end_of_parallel)
    if not issubclass(operation_type, UnknownOp):
        checks.append(_check_itself)
    if issubclass(operation_type, ModuleOp | FuncOp):
        checks.append(_check_attributes)
    if issubclass(operation_type, ModuleOp):
        checks.append(_check_symbols)
    elif issubclass(operation_type, ReturnOp):
        checks.append(_check_return)
    elif issubclass(operation_type, CallingOp):
        checks.append(_check_callees)
    elif operation_type.name == "memref.get_global":
        checks.append(_check_global)
    if not issubclass(operation_type, KernelOp):
        checks += [_check_position, _check_edges, _check_blocks]
    return tuple(checks)


def check_operation(operation: Operation, symbols: Symbols) -> list[Diagnostic]:
    """The mistakes of one operation, up to the first check that finds one."""
    for check in _checks(type(operation)):
        diagnostics = list(check(operation, symbols))
        if diagnostics:
            return diagnostics
    return []


def _check_itself(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    if type(operation) is PlainCallOp and _fits_its_callee(operation, symbols):
        return
    if (problem := _own_problem(operation)) is not None:
        wrong = _WRONG_ATTRIBUTE.fullmatch(problem)
        if wrong is None:
            yield replace(
                _op_error(operation, problem), notes=notes_on(operation, problem, symbols)
            )
        else:
            found = led_by(wrong["sentence"], _op_error(operation, wrong["words"]))
            yield replace(
                found, location=attribute_span(operation, wrong["name"]) or found.location
            )


_WRONG_ATTRIBUTE = re.compile(
    r"(?P<words>attribute '(?P<name>.*?)' failed to satisfy constraint: .*?); (?P<sentence>.*)"
)


def _fits_its_callee(call: PlainCallOp, symbols: Symbols) -> bool:
    """Whether all is well with a call.  xDSL would go through the module to find the function."""
    if call.regions or call.successors or call.properties.keys() != {"callee"}:
        return False
    if not isinstance(call.callee, SymbolRefAttr):
        return False
    callee = symbols.get(call.callee.root_reference.data)
    if call.callee.nested_references.data or type(callee) is not FuncOp:
        return False
    type_ = callee.properties.get("function_type")
    return (
        isinstance(type_, FunctionType)
        and type_.inputs.data == call.operand_types
        and type_.outputs.data == call.result_types
    )


def _own_problem(operation: Operation) -> str | None:
    if isinstance(operation, FuncOp):
        return _function_problem(operation)
    if isinstance(operation, ModuleOp):
        return _module_problem(operation)
    if isinstance(operation, IRDLOperation):
        from tfrt_nb.dialects.definitions import definition_problem  # host programs do without

        if (problem := definition_problem(operation)) is not None:
            return problem
    try:
        operation.verify_()
    except Exception as exception:  # noqa: BLE001
        # Some operations of xDSL raise a plain Exception.
        if operation.name in _CASTS and len(operation.operands) == len(operation.results) == 1:
            source, target = operation.operands[0].type, operation.results[0].type
            return f"operand type '{source}' and result type '{target}' are cast incompatible"
        return in_mlirs_words(operation.name, str(exception))
    return None


_CASTS = frozenset(
    f"arith.{name}"
    for name in ("bitcast", "extf", "extsi", "extui", "index_cast", "truncf", "trunci")
)

# Functions and modules are checked here, not by xDSL: it would walk all their operations to see
# that they use no value from outside, which the names in a text cannot do.

_FUNCTION_PROPERTIES: dict[str, type[Attribute]] = {
    "sym_name": StringAttr,
    "function_type": FunctionType,
    "sym_visibility": StringAttr,
    "arg_attrs": ArrayAttr,
    "res_attrs": ArrayAttr,
}


def _function_problem(function: FuncOp) -> str | None:
    if len(function.regions) != 1:
        return "requires one region"
    for name in ("sym_name", "function_type"):
        if name not in function.properties:
            return f"requires attribute '{name}'"
    for name, attribute in function.properties.items():
        if name not in _FUNCTION_PROPERTIES:
            return f"attribute '{name}' is not one of functions"
        if not isinstance(attribute, _FUNCTION_PROPERTIES[name]):
            return f"attribute '{name}' is of a wrong kind"
    blocks = function.body.blocks
    if blocks and tuple(blocks[0].arg_types) != function.function_type.inputs.data:
        return "entry block arguments do not have the types of the function's arguments"
    return None


def _module_problem(module: ModuleOp) -> str | None:
    if len(module.regions) != 1 or len(module.regions[0].blocks) != 1:
        return "requires one region of one block"
    if not isinstance(module.properties.get("sym_name", _NO_NAME), StringAttr):
        return "attribute 'sym_name' is of a wrong kind"
    return None


_NO_NAME = StringAttr("")


# Ends of blocks


def _check_position(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    block = operation.parent
    if block is None or block.last_op is operation:
        return
    if _is_terminator(type(operation)):
        advice = f"nothing after '{operation.name}' would run: remove what follows, or move it up"
        problem = _op_error(operation, "must be the last operation in the parent block")
        yield led_by(advice, problem)
    elif operation.successors:
        yield _op_error(operation, "with block successors must terminate its parent block")


def _check_end_of_parallel(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    if getattr(operation.parent_op(), "name", "") == "scf.parallel":
        parents = "scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while"
        problem = _op_error(operation, f"expects parent op to be one of '{parents}'")
        yield led_by(
            "'scf.parallel' ends with 'scf.reduce' since MLIR 18: leave out this line", problem
        )


def _check_edges(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    if not operation.successors or isinstance(operation, UnknownOp):
        return
    from tfrt_nb.dialects.async_.upstream.branches import (
        edge_problem,  # host programs do without `cf`
    )

    if (problem := edge_problem(operation)) is not None:
        yield error(problem, span_of(operation))


@cache
def _is_terminator(operation_type: type[Operation]) -> bool:
    return operation_type.has_trait(IsTerminator, value_if_unregistered=False)


def _check_blocks(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    if not operation.regions or operation.has_trait(NoTerminator):
        return
    for region in operation.regions:
        if len(region.blocks) > 1:
            yield from check_dominance(region)
        for block in region.blocks:
            last = block.last_op
            if last is None:
                yield _op_error(operation, "empty block: expect at least a terminator")
            elif any(map(_is_terminator, map(type, block.ops))):
                continue  # in the middle, which is said there
            elif not last.has_trait(IsTerminator) and _own_problem(last) is None:
                problem = error(f"block with no terminator, has {_text(last)}", span_of(last))
                yield led_by(f"{advice_on_end(operation, last)}: this is its last line", problem)


def _text(operation: Operation) -> str:
    """The first line of the operation as it would be printed alone."""
    stream = StringIO()
    names = {value: value_name(value) or "%?" for value in operation.operands}
    HostPrinter(stream).print_alone(operation, names)
    return stream.getvalue().partition("\n")[0].rstrip(" {")


# Returns


def _check_return(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    parent = operation.parent_op()
    if isinstance(parent, FuncOp):
        if _function_problem(parent) is None:
            yield from _check_function_return(operation, parent)
    elif isinstance(parent, BodyOp) and not parent.accepts_return(tuple(operation.operand_types)):
        found, given = (
            ", ".join(map(str, types)) for types in (operation.operand_types, parent.result_types)
        )
        text = f"the body returns ({found}), and '{parent.name}' gives ({given})"
        problem = _op_error(operation, f"operand types don't match '{parent.name}' result")
        yield replace(problem, notes=(note(text, span_of(parent)),))


def _check_function_return(operation: Operation, function: FuncOp) -> Iterator[Diagnostic]:
    types, expected = operation.operand_types, function.function_type.outputs.data
    if len(types) != len(expected):
        problem = _op_error(
            operation, f"has {len(types)} operands, but enclosing function returns {len(expected)}"
        )
        yield _with_count(problem, operation, function)
        return
    for index, (found, wanted) in enumerate(zip(types, expected, strict=True)):
        if found != wanted:
            words = f"type of return operand {index} ('{found}') doesn't match function result type"
            problem = error(f"{words} ('{wanted}')", span_of(operation))
            value = value_name(operation.operands[index]) or "this"
            name = function.sym_name.data
            yield led_by(
                f"'{value}' is of type '{found}', and '@{name}' returns '{wanted}'", problem
            )


def _with_count(problem: Diagnostic, operation: Operation, function: FuncOp) -> Diagnostic:
    """`problem` of a function that returns more or fewer values than it says, with how many."""
    name, types = function.sym_name.data, [*map(str, operation.operand_types)]
    expected = function.function_type.outputs.data
    given = ", ".join(types)
    if expected:
        text = f"'@{name}' returns ({', '.join(map(str, expected))}), and this gives ({given})"
    else:
        listed = given if len(types) == 1 else f"({given})"
        text = f"'@{name}' returns nothing: write '-> {listed}' after its arguments"
    return led_by(text, replace(problem, notes=(note("the function is here", span_of(function)),)))


def _check_compiled_return(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    function = operation.parent_op()
    if not isinstance(function, FuncOp) or _function_problem(function) is not None:
        return
    types, expected = operation.operand_types, function.function_type.outputs.data
    name = f"@{function.sym_name.data}"
    if len(types) != len(expected):
        problem = _op_error(
            operation,
            f"has {len(types)} operands, but enclosing function ({name}) returns {len(expected)}",
        )
        yield _with_count(problem, operation, function)
        return
    for index, (found, wanted) in enumerate(zip(types, expected, strict=True)):
        if found != wanted:
            text = f"type of return operand {index} ('{found}') doesn't match function result type"
            value = value_name(operation.operands[index]) or "%?"
            advice = on_type("return", value, str(wanted), str(found))
            notes = [] if advice is None else [note(advice, span_of(operation))]
            yield error(f"{text} ('{wanted}') in function {name}", span_of(operation), notes)
            return


# Attributes of functions and modules that the compiler reads: a wrong one would be passed over
# without a word

_KINDS: dict[str, type[Attribute]] = {
    SYNC: UnitAttr,
    NATIVE: UnitAttr,
    "tfrt.compiled": UnitAttr,
    "tfrt.cost_threshold": IntegerAttr,
    "tfrt.upper_cost_threshold": IntegerAttr,
    "tfrt.merge_inter_dependent_streams": IntegerAttr,
}
_LIKENESS = 0.85


def kind_problem(
    operation: Operation, name: str, attribute: Attribute, kind: type[Attribute]
) -> tuple[str, str] | None:
    """What is wrong with an attribute that must be an integer or a unit attribute, and what to
    write; None if nothing is.
    """
    if isinstance(attribute, kind):
        return None
    is_unit = kind is UnitAttr
    wanted = "a unit attribute" if is_unit else "an integer"
    advice = "write it alone, or leave it out" if is_unit else f"write '{name} = 1 : i64'"
    text = f"'{operation.name}' op attribute '{name}' must be {wanted}, but got '{attribute}'"
    return text, advice


def _check_attributes(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    """An error for each attribute that has another kind than its name asks for, or a name that is
    like one of these.
    """
    place = span_of(operation)
    for name, attribute in operation.attributes.items():
        if name in _KINDS:
            problem = kind_problem(operation, name, attribute, _KINDS[name])
            if problem is not None:
                yield error(problem[0], place, [note(problem[1], place)])
        elif name.startswith("tfrt."):
            for near in difflib.get_close_matches(name, _KINDS, n=1, cutoff=_LIKENESS):
                text = f"'{operation.name}' op attribute '{name}' is unknown"
                yield error(text, place, [note(f"did you mean '{near}'?", place)])


# Symbols

_SYMBOLS = frozenset({"async.func", "func.func", "memref.global"})


def _check_symbol_place(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    if operation.parent_op() is not None and not isinstance(operation.parent_op(), ModuleOp):
        problem = _op_error(operation, "symbol's parent must have the SymbolTable trait")
        advice = note("write it in the module, behind the function", span_of(operation))
        yield replace(problem, notes=(advice,))


def _check_global(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    symbol = operation.get_attr_or_prop("name")
    if not isinstance(symbol, SymbolRefAttr):
        return
    name = symbol.root_reference.data
    buffer = symbols.get(name)
    if buffer is None or buffer.name != "memref.global":
        yield _op_error(operation, f"'{name}' does not reference a valid global memref")
        return
    type_, expected = operation.results[0].type, buffer.get_attr_or_prop("type")
    if type_ != expected:
        text = (
            f"result type '{type_}' does not match type '{expected}' of the global memref @{name}"
        )
        yield _op_error(operation, text)


def _check_symbols(module: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    known: Symbols = {}
    for operation in module.regions[0].block.ops:
        name = _symbol_name(operation)
        if name and name in known:
            first = note("see existing symbol definition here", span_of(known[name]))
            yield error(f"redefinition of symbol named '{name}'", span_of(operation), [first])
        known.setdefault(name, operation)


def _check_callees(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
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
        unknown = _op_error(operation, f"'{name}' does not reference a valid function")
        return replace(unknown, notes=nearest(name, symbols, span_of(operation)))
    if _function_problem(callee) is not None:
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
    """What is wrong with a call of a function that may be compiled."""
    type_ = callee.get_attr_or_prop("function_type")
    if not isinstance(type_, FunctionType) or _own_problem(callee) is not None:
        return None
    place = span_of(callee)
    inputs, outputs = host_types(type_.inputs.data), host_types(type_.outputs.data)
    if inputs is None or outputs is None:
        if isinstance(callee, FuncOp) and not _is_code(callee):
            return _call_problem(operation, type_.inputs.data, type_.outputs.data, role)
        found = note(f"{uncrossable(type_.inputs.data, type_.outputs.data)} cannot cross", place)
        message = f"'{_symbol_name(callee)}' cannot be called by host programs"
        return error(f"'{operation.name}' op {message}", span_of(operation), [found])
    problem = _call_problem(operation, tuple(inputs), tuple(outputs), role)
    if problem is None:
        return None
    crossed = FunctionType.from_lists(inputs, outputs)
    text = f"host programs call the function's type '{type_}' '{crossed}'"
    if crossed == type_:
        text = f"'@{_symbol_name(callee)}' has the type {type_}"
    return replace(problem, notes=(note(text, place),))


def _is_code(function: FuncOp) -> bool:
    """Whether a function ends as compiled ones do."""
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
        return _op_error(operation, f"incorrect number of operands for {role or 'callee'}")
    if inputs != expected_inputs:
        return _op_error(operation, f"operand type mismatch{of_callee}")
    if outputs is not None and len(outputs) != len(expected_outputs):
        return _op_error(operation, f"incorrect number of results for {role or 'callee'}")
    if outputs is not None and outputs != expected_outputs:
        return _op_error(operation, f"result type mismatch{of_callee}")
    return None
