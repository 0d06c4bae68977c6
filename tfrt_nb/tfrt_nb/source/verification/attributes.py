"""Attributes of functions and modules that the compiler reads: a wrong one would be passed over without a word."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.control_flow import NATIVE, SYNC
from tfrt_nb.source.spans import span_of
from tfrt_runtime.diagnostics import Diagnostic, error, note

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
    """What is wrong with an attribute that must be an integer or a unit attribute, and what to write; None if nothing is."""
    if isinstance(attribute, kind):
        return None
    is_unit = kind is UnitAttr
    wanted = "a unit attribute" if is_unit else "an integer"
    advice = "write it alone, or leave it out" if is_unit else f"write '{name} = 1 : i64'"
    text = f"'{operation.name}' op attribute '{name}' must be {wanted}, but got '{attribute}'"
    return text, advice


def attribute_problems(operation: Operation) -> Iterator[Diagnostic]:
    """An error for each attribute that has another kind than its name asks for, or a name that is like one of these."""
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
