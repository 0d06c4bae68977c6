"""What to write instead of an operation that is wrong, as notes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.catalog import UPSTREAM_DIALECTS
from tfrt_nb.dialects.control_flow.structure import BodyOp
from tfrt_nb.source.errors import instead_of
from tfrt_nb.source.spans import span_of
from tfrt_runtime.diagnostics import Diagnostic, Location, known_names, note

_OF_CALLS = re.compile(r"for callee|type mismatch")


def notes_on(
    operation: Operation, problem: str, symbols: Mapping[str, Operation]
) -> tuple[Diagnostic, ...]:
    """What to write instead, where a check of the operation itself found `problem`."""
    place = span_of(operation)
    unknown = re.match(r"'(.*)' does not reference a valid (async )?function", problem)
    if unknown is not None:
        return _on_callee(unknown[1], symbols, place)
    if operation.name == "async.execute" and "control flow edge from Region" in problem:
        return _on_end(operation)
    if operation.name in ("func.call", "async.call") and _OF_CALLS.search(problem):
        return _on_type(operation.get_attr_or_prop("callee"), symbols)
    if operation.name == "async.return" and "FuncOp" in problem:
        given, wanted = _returned(operation)
        return (note(f"it gives ({given}), and the function returns ({wanted})", place),)
    texts = list(instead_of(operation.name, problem))
    parent = operation.parent_op()
    if parent is not None and problem.startswith("expects parent op"):
        texts.append(advice_on_end(parent, operation))
    return tuple(note(text, place) for text in texts)


def _on_type(callee: Attribute | None, symbols: Mapping[str, Operation]) -> tuple[Diagnostic, ...]:
    name = callee.root_reference.data if isinstance(callee, SymbolRefAttr) else ""
    function = symbols.get(name)
    if function is None:
        return ()
    type_ = function.get_attr_or_prop("function_type")
    return (note(f"'@{name}' has the type {type_}", span_of(function)),)


def _on_callee(
    name: str, symbols: Mapping[str, Operation], place: Location | None
) -> tuple[Diagnostic, ...]:
    callee = symbols.get(name)
    if callee is None:
        return nearest(name, symbols, place)
    how = {"async.func": "async.call", "func.func": "call"}.get(callee.name)
    return () if how is None else (note(f"write '{how} @{name}'", place),)


def nearest(
    name: str, symbols: Mapping[str, Operation], place: Location | None
) -> tuple[Diagnostic, ...]:
    """A note on the function that `name` may be meant to be, or on those that there are."""
    functions = [each for each, op in symbols.items() if op.name in ("func.func", "async.func")]
    near = difflib.get_close_matches(name, functions, n=1)
    if near:
        return (note(f"did you mean '@{near[0]}'?", place),)
    names = [f"@{each}" for each in functions[:10]]
    return (note(known_names(names), place),) if names else ()


def _returned(end: Operation) -> tuple[str, str]:
    """The types that a return has, and those that its async function asks for."""
    function = end.parent_op()
    type_ = None if function is None else function.get_attr_or_prop("function_type")
    outputs = type_.outputs.data if isinstance(type_, FunctionType) else ()
    payloads = (getattr(one, "value_type", None) for one in outputs)
    given, wanted = end.operand_types, [one for one in payloads if one is not None]
    return ", ".join(map(str, given)), ", ".join(map(str, wanted))


def _on_end(task: Operation) -> tuple[Diagnostic, ...]:
    """What the body of a task ends with, and where."""
    last = task.regions[0].blocks[-1].last_op if task.regions[0].blocks else None
    if last is None:
        return ()
    found = ", ".join(map(str, last.operand_types))
    payloads = (getattr(type_, "value_type", None) for type_ in task.result_types)
    wanted = ", ".join(str(type_) for type_ in payloads if type_ is not None)
    return (note(f"'{last.name}' gives ({found}), and the results need ({wanted})", span_of(last)),)


def advice_on_end(holder: Operation, last: Operation) -> str:
    """How the function or the region of `holder` ends, behind `last`."""
    if isinstance(holder, BodyOp):
        return "end the body with 'tfrt.return'"
    if holder.name == "async.func":
        return "end the function with 'async.return'"
    dialect = holder.name.partition(".")[0]
    if dialect in ("async", "scf"):
        return f"end the region with '{dialect}.yield'"
    is_compiled = last.name.partition(".")[0] in UPSTREAM_DIALECTS
    return f"end the function with '{'func' if is_compiled else 'tfrt'}.return'"
