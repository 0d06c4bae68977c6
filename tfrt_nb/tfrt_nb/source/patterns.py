"""Lines that differ only in names, of any dialect.

    %s1 = arith.addi %s0, %w0 : i64
    %s2 = arith.addi %s1, %w1 : i64

The second is made like the first: what its parser made of the text without the names of values holds
for both, once the operands have the same types.  Nothing is learned from an operation with regions or
successors, with a place of its own, or whose operands are not just the names in its line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser.core import ForwardDeclaredValue

from tfrt_nb.dialects.fast_ir import integer

Types: TypeAlias = tuple[Attribute, ...]
Known: TypeAlias = Mapping[str, tuple[SSAValue, ...]]
"""Values by name, all results of an operation under one."""

_USE = re.compile(r"%([0-9]+(?![\w$.-])|[A-Za-z$._-][\w$.-]*)(?:#([0-9]+))?", re.ASCII)
_NUMBER = re.compile(r"(-?[0-9]{1,18})( *: *(?:i[0-9]+|index))", re.ASCII)
_CONSTANT = "arith.constant"
_WORD = 64


@dataclass(frozen=True, slots=True)
class Pattern:
    """An operation without its operands, of which it has those that `order` picks among the names."""

    operation: type[Operation]
    order: tuple[int, ...]
    operand_types: Types
    result_types: Types
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]


Made: TypeAlias = tuple[Pattern, list[SSAValue], dict[str, Attribute]]
"""A pattern, the operands that it gets, and its properties, in a dictionary of their own."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """What has been learned from the lines of one text."""

    _patterns: dict[tuple[str, ...], Pattern] = field(default_factory=dict)

    def match(self, name: str, rest: str, known: Known) -> Made | None:
        """How to make the operation `name` with the text `rest` behind its name, if that is known."""
        if name == _CONSTANT:
            return self._constant(rest)
        names, key = _names_and_key(name, rest)
        pattern = self._patterns.get(key)
        values = None if pattern is None else _values(names, known)
        if pattern is None or values is None:
            return None
        operands = [values[index] for index in pattern.order]
        for value, type_ in zip(operands, pattern.operand_types, strict=True):
            if value.type is not type_ and value.type != type_:
                return None
        return pattern, operands, dict(pattern.properties)

    def learn(self, name: str, rest: str, operation: Operation, known: Known) -> None:
        """Remember what was made of the text, if others with other names are made alike."""
        if "." not in name or "loc(" in rest or "^" in rest:
            return  # what a short name means depends on where it stands
        if name == _CONSTANT:
            self._learn_constant(rest, operation)
            return
        names, key = _names_and_key(name, rest)
        values = _values(names, known)
        if values is None or len(values) != len(operation.operands):
            return
        if len(set(values)) != len(values) or set(values) != set(operation.operands):
            return  # which name belongs to which operand is unknown
        order = tuple(values.index(operand) for operand in operation.operands)
        self._patterns[key] = _pattern(operation, order)

    def _constant(self, rest: str) -> Made | None:
        """A number; the text of one of the same type has taught how."""
        match = _NUMBER.fullmatch(rest)
        pattern = None if match is None else self._patterns.get((_CONSTANT, match[2]))
        if match is None or pattern is None:
            return None
        type_ = pattern.result_types[0]
        bits = type_.width.data if isinstance(type_, IntegerType) else _WORD
        number = int(match[1])
        if abs(number) >> (bits - 1):  # what is out of range, or nearly, is for others to judge
            return None
        return pattern, [], {"value": integer(number, cast(IntegerType, type_))}

    def _learn_constant(self, rest: str, operation: Operation) -> None:
        match = _NUMBER.fullmatch(rest)
        value = operation.properties.get("value")
        if match is None or not isinstance(value, IntegerAttr) or operation.attributes:
            return
        if isinstance(value.type, IndexType) or value.type.signedness.data.name == "SIGNLESS":
            self._patterns[_CONSTANT, match[2]] = _pattern(operation, ())


def _pattern(operation: Operation, order: tuple[int, ...]) -> Pattern:
    return Pattern(
        type(operation),
        order,
        tuple(operation.operand_types),
        tuple(operation.result_types),
        dict(operation.properties),
        dict(operation.attributes),
    )


def _names_and_key(name: str, rest: str) -> tuple[list[tuple[str, str]], tuple[str, ...]]:
    """The names of values in the text, each with the number of a result or "", and all else."""
    pieces = _USE.split(rest)
    return list(zip(pieces[1::3], pieces[2::3], strict=True)), (name, *pieces[::3])


def _values(names: Sequence[tuple[str, str | None]], known: Known) -> list[SSAValue] | None:
    """The values of the names, if all are defined."""
    values = []
    for name, number in names:
        results = known.get(name)
        if results is None:
            return None
        index = int(number) if number else 0
        if number is None and len(results) != 1 or index >= len(results):
            return None
        value = results[index]
        if value is None or isinstance(value, ForwardDeclaredValue):
            return None
        values.append(value)
    return values
