"""Verify a whole parsed module, and report every independent mistake.

Operations verify themselves (`verify_`). This module has the checks that involve several
operations: function names, callees, returns, block ends, and definitions before uses.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from io import StringIO

from xdsl.dialects.builtin import (
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    ModuleOp,
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
from tfrt_nb.dialects.control_flow.calls import BodyOp, CallingOp
from tfrt_nb.dialects.kernel_op import KernelOp
from tfrt_nb.dialects.printer import HostPrinter
from tfrt_nb.dialects.types import symbol_name
from tfrt_nb.source.advice import advice_on_end, notes_on, on_type
from tfrt_nb.source.callees import (
    Symbols,
    check_callees,
    function_problem,
    op_error,
    own_problem,
)
from tfrt_nb.source.dominance import check_dominance, check_uses_before_definition
from tfrt_nb.source.spans import attribute_span, span_of, value_name
from tfrt_runtime.diagnostics import Diagnostic, Location, error, led_by, note


def verify(module: ModuleOp, resolved_late: Iterable[SSAValue] = ()) -> list[Diagnostic]:
    """Return the errors of `module`, in source order.

    `resolved_late` contains the values that were used before their definitions.
    """
    diagnostics: list[Diagnostic] = []
    right: set[Hashable] = set()
    tables: list[Symbols] = []  # keep these alive, because keys contain their ids
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
    """Yield every operation with the functions that it may name, without recursion."""
    pending: list[tuple[Operation, Symbols]] = [(module, {})]
    while pending:
        # The order of operations does not matter, because `verify` sorts the errors.
        operation, symbols = pending.pop()
        yield operation, symbols
        if operation.regions:
            if isinstance(operation, ModuleOp):
                symbols = {symbol_name(child): child for child in _children(operation)}
            pending += [(child, symbols) for child in _children(operation)]


def _children(operation: Operation) -> Iterator[Operation]:
    return (child for region in operation.regions for block in region.blocks for child in block.ops)


# Cache of verification results


def verification_key(operation: Operation, symbols: Mapping[str, Operation]) -> Hashable | None:
    """Return a key that covers everything that the operation's checks read, or None.

    Operations with equal keys are checked only once. A key has the operation's name, types, and
    attributes. Types and attributes are compared by identity, because the parser often reuses
    objects. The result is None if the checks read more than that.
    """
    kind = type(operation)
    if operation.attributes or not _has_key(kind):
        return None
    parts: list[Hashable] = [kind, *_ids(operation.operands), None, *_ids(operation.results)]
    parts.append(id(symbols))
    for name, attribute in operation.properties.items():
        if kind.name == "arith.constant" and isinstance(attribute, IntegerAttr):
            parts += (name, id(attribute.type))  # any number may follow
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
    """Return whether this class's checks read only what `verification_key` covers."""
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
    """Return the checks for operations of this class, in order.

    Most operations belong to a few classes without special checks, so one decision per class is
    quick.
    """
    name, is_other = operation_type.name, not issubclass(operation_type, KernelOp)
    checks: tuple[tuple[bool, Check], ...] = (
        (name == "func.return", _check_compiled_return),
        (name in _SYMBOLS, _check_symbol_place),
        (name == "scf.yield", _check_end_of_parallel),
        (not issubclass(operation_type, UnknownOp), _check_itself),
        (issubclass(operation_type, ModuleOp | FuncOp), _check_attributes),
        (issubclass(operation_type, ModuleOp), _check_symbols),
        (issubclass(operation_type, ReturnOp), _check_return),
        (issubclass(operation_type, CallingOp), check_callees),
        (name == "memref.get_global", _check_global),
        *((is_other, check) for check in (_check_position, _check_edges, _check_blocks)),
    )
    return tuple(check for applies, check in checks if applies)


def check_operation(operation: Operation, symbols: Symbols) -> list[Diagnostic]:
    """Run the checks for the operation in order, until one of them finds a mistake.

    Return the diagnostics of that check, or an empty list if the operation is valid.
    """
    for check in _checks(type(operation)):
        diagnostics = list(check(operation, symbols))
        if diagnostics:
            return diagnostics
    return []


def _check_itself(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    if type(operation) is PlainCallOp and _fits_its_callee(operation, symbols):
        return
    if (problem := own_problem(operation)) is not None:
        wrong = _WRONG_ATTRIBUTE.fullmatch(problem)
        if wrong is None:
            yield replace(op_error(operation, problem), notes=notes_on(operation, problem, symbols))
        else:
            found = led_by(wrong["sentence"], op_error(operation, wrong["words"]))
            yield replace(
                found, location=attribute_span(operation, wrong["name"]) or found.location
            )


_WRONG_ATTRIBUTE = re.compile(
    r"(?P<words>attribute '(?P<name>.*?)' failed to satisfy constraint: .*?); (?P<sentence>.*)"
)


def _fits_its_callee(call: PlainCallOp, symbols: Symbols) -> bool:
    """Return whether a call's types match its callee's types.

    xDSL's own check would search the module for the function.
    """
    is_bare = not (call.regions or call.successors) and call.properties.keys() == {"callee"}
    if not is_bare or not isinstance(call.callee, SymbolRefAttr):
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


# `own_problem` does not call xDSL's `verify_` for functions and modules. It would search all their
# operations for uses of outside values, which the parser has already rejected.


# Ends of blocks


def _check_position(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    block = operation.parent
    if block is None or block.last_op is operation:
        return
    if _is_terminator(type(operation)):
        advice = f"nothing after '{operation.name}' would run: remove what follows, or move it up"
        yield led_by(advice, op_error(operation, "must be the last operation in the parent block"))
    elif operation.successors:
        yield op_error(operation, "with block successors must terminate its parent block")


def _check_end_of_parallel(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    if getattr(operation.parent_op(), "name", "") == "scf.parallel":
        parents = "scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while"
        problem = op_error(operation, f"expects parent op to be one of '{parents}'")
        yield led_by(
            "since MLIR 18, 'scf.parallel' ends with 'scf.reduce', not 'scf.yield': remove this "
            "line",
            problem,
        )


def _check_edges(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    if not operation.successors or isinstance(operation, UnknownOp):
        return
    from tfrt_nb.dialects.async_.upstream.branches import (
        edge_problem,  # not needed by host programs
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
                yield op_error(operation, "empty block: expect at least a terminator")
            elif any(map(_is_terminator, map(type, block.ops))):
                continue  # a terminator in the middle of a block is reported elsewhere
            # An invalid last operation is reported by its own check.
            elif not last.has_trait(IsTerminator) and own_problem(last) is None:
                problem = error(f"block with no terminator, has {_text(last)}", span_of(last))
                yield led_by(f"{advice_on_end(operation, last)}: this is its last line", problem)


def _text(operation: Operation) -> str:
    """Return the first line of the operation as it would be printed alone."""
    stream = StringIO()
    names = {value: value_name(value) or "%?" for value in operation.operands}
    HostPrinter(stream).print_alone(operation, names)
    return stream.getvalue().partition("\n")[0].rstrip(" {")


# Returns


def _check_return(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    parent = operation.parent_op()
    if isinstance(parent, FuncOp):
        if function_problem(parent) is None:
            yield from _check_function_return(operation, parent)
    elif isinstance(parent, BodyOp) and not parent.accepts_return(tuple(operation.operand_types)):
        found, given = (
            ", ".join(map(str, types)) for types in (operation.operand_types, parent.result_types)
        )
        text = f"the body returns ({found}), but '{parent.name}' returns ({given})"
        problem = op_error(operation, f"operand types don't match '{parent.name}' result")
        yield replace(problem, notes=(note(text, span_of(parent)),))


def _check_function_return(operation: Operation, function: FuncOp) -> Iterator[Diagnostic]:
    types, expected = operation.operand_types, function.function_type.outputs.data
    if len(types) != len(expected):
        problem = op_error(
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
                f"'{value}' is of type '{found}', but '@{name}' returns '{wanted}'", problem
            )


def _with_count(problem: Diagnostic, operation: Operation, function: FuncOp) -> Diagnostic:
    """Add the expected and the actual number of values to the error about a return."""
    name, types = function.sym_name.data, [*map(str, operation.operand_types)]
    expected = function.function_type.outputs.data
    given = ", ".join(types)
    if expected:
        wanted = ", ".join(map(str, expected))
        text = f"'@{name}' returns ({wanted}), but this line returns ({given})"
    else:
        listed = given if len(types) == 1 else f"({given})"
        text = f"'@{name}' returns nothing: write '-> {listed}' after its arguments"
    return led_by(text, replace(problem, notes=(note("the function is here", span_of(function)),)))


def _check_compiled_return(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    function = operation.parent_op()
    if not isinstance(function, FuncOp) or function_problem(function) is not None:
        return
    types, expected = operation.operand_types, function.function_type.outputs.data
    name = f"@{function.sym_name.data}"
    if len(types) != len(expected):
        problem = op_error(
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


# Attributes of functions and modules that the compiler reads. The compiler would silently ignore an
# attribute of the wrong kind.

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
    """Return the error for an attribute of the wrong kind, with advice, or None.

    The attribute must be an integer or a unit attribute.
    """
    if isinstance(attribute, kind):
        return None
    is_unit = kind is UnitAttr
    wanted = "a unit attribute" if is_unit else "an integer"
    advice = "write it without a value, or remove it" if is_unit else f"write '{name} = 1 : i64'"
    text = f"'{operation.name}' op attribute '{name}' must be {wanted}, but got '{attribute}'"
    return text, advice


def _check_attributes(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    """Yield an error for each attribute that has the wrong kind or a misspelled name."""
    place = span_of(operation)
    for name, attribute in operation.attributes.items():
        if name in _KINDS:
            problem = kind_problem(operation, name, attribute, _KINDS[name])
            if problem is not None:
                yield error(problem[0], place, [note(problem[1], place)])
        elif name.startswith("tfrt."):
            for near in difflib.get_close_matches(name, _KINDS, n=1, cutoff=_LIKENESS):
                text = f"'{operation.name}' op attribute '{name}' is unknown"
                yield error(text, place, [note(f"did you mean '{near}'?", place, (name, near))])


# Symbols

_SYMBOLS = frozenset({"async.func", "func.func", "memref.global"})


def _check_symbol_place(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    if operation.parent_op() is not None and not isinstance(operation.parent_op(), ModuleOp):
        problem = op_error(operation, "symbol's parent must have the SymbolTable trait")
        advice = note("write it in the module, after the function", span_of(operation))
        yield replace(problem, notes=(advice,))


def _check_global(operation: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    symbol = operation.get_attr_or_prop("name")
    if not isinstance(symbol, SymbolRefAttr):
        return
    name = symbol.root_reference.data
    buffer = symbols.get(name)
    if buffer is None or buffer.name != "memref.global":
        yield op_error(operation, f"'{name}' does not reference a valid global memref")
        return
    type_, expected = operation.results[0].type, buffer.get_attr_or_prop("type")
    if type_ != expected:
        text = (
            f"result type '{type_}' does not match type '{expected}' of the global memref @{name}"
        )
        yield op_error(operation, text)


def _check_symbols(module: Operation, symbols: Symbols) -> Iterator[Diagnostic]:
    known: Symbols = {}
    for operation in module.regions[0].block.ops:
        name = symbol_name(operation)
        if name and name in known:
            first = note("see existing symbol definition here", span_of(known[name]))
            yield error(f"redefinition of symbol named '{name}'", span_of(operation), [first])
        known.setdefault(name, operation)
