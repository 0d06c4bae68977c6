"""Lines that differ only in names, of any dialect.

    %s1 = arith.addi %s0, %w0 : i64
    %s2 = arith.addi %s1, %w1 : i64

The second is made like the first: what its parser made of the text without the names of values holds
for both, once the operands have the same types.  Two more things may differ: the name of the one function
in a line, and the number of a constant.  A line that opens a region is the head of its operation.
Nothing is learned from an operation with successors, or whose operands are not just the names in its line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.dialects.catalog import UnknownOp
from tfrt_nb.dialects.control_flow import IfOp, JitOp, ReturnOp
from tfrt_nb.dialects.control_flow.structure import BodyOp, ControlFlowOp
from tfrt_nb.dialects.kernel_op import KernelOp
from tfrt_nb.dialects.literals import integer
from tfrt_nb.source.spans import value_name
from tfrt_nb.source.spellings import operation_name

Types: TypeAlias = tuple[Attribute, ...]
Known: TypeAlias = Mapping[str, tuple[SSAValue, ...]]
"""Values by name, all results of an operation under one."""
Use: TypeAlias = tuple[str, str | None]
"""The name of a value without its `%`, and the number of a result."""

USE = re.compile(r"%([0-9]+(?![\w$.-])|[A-Za-z$._-][\w$.-]*)(?:#([0-9]+))?", re.ASCII)
_NUMBER = re.compile(r"(-?[0-9]{1,18})(\.[0-9]{1,9})?( *: *(?:i[0-9]+|index|f32|f64))?", re.ASCII)
_SYMBOL = re.compile(r"@([A-Za-z_][\w$.]*)", re.ASCII)
_WORD = 64


@dataclass(frozen=True, slots=True)
class Pattern:
    """An operation without its operands, of which it has those that `order` picks among the names.

    `varies` is the name of the attribute that the line's function or number is.  The arguments of its region,
    if it has one, have the names and types that `arguments` lists.  `repeats` is where each name stands first,
    if one stands there twice: then `order` holds for lines with the same repetitions only.
    """

    operation: type[Operation]
    order: tuple[int, ...]
    operand_types: Types
    result_types: Types
    properties: dict[str, Attribute]
    attributes: dict[str, Attribute]
    varies: str = ""
    arguments: tuple[tuple[int, Attribute], ...] | None = None
    repeats: tuple[int, ...] = ()


Made: TypeAlias = tuple[Pattern, list[SSAValue], dict[str, Attribute], dict[str, Attribute]]
"""A pattern, the operands that it gets, its attributes and properties, in dictionaries of their own."""


@dataclass(frozen=True, slots=True)
class Patterns:
    """What has been learned from the lines of one text."""

    _patterns: dict[tuple[str, ...], Pattern] = field(default_factory=dict)
    _symbols: dict[str, SymbolRefAttr] = field(default_factory=dict)

    def match(self, name: str, rest: str, known: Known) -> Made | None:
        """How to make the operation `name` with the text `rest` behind its name, if that is known."""
        common, literal = _without_literal(rest)
        names, key = _names_and_key(name, common)
        pattern = self._patterns.get(key)
        if pattern is None and literal is not None:
            names, key = _names_and_key(name, rest)
            pattern, literal = self._patterns.get(key), None
        if pattern is None or pattern.repeats and pattern.repeats != _repeats(names):
            return None
        operands = []
        for index, type_ in zip(pattern.order, pattern.operand_types, strict=True):
            value = _value(names[index], known)
            if value is None or value._type is not type_ and value._type != type_:
                return None
            operands.append(value)
        attributes, properties = dict(pattern.attributes), dict(pattern.properties)
        if literal is not None:
            held = properties if pattern.varies in properties else attributes
            attribute = self._attribute(held[pattern.varies], literal)
            if attribute is None:
                return None
            held[pattern.varies] = attribute
        return pattern, operands, attributes, properties

    def learn(self, name: str, rest: str, operation: Operation, known: Known) -> None:
        """Remember what was made of the text, if others with other names are made alike."""
        bare = name.strip('"')
        if "." not in bare or "^" in rest or operation_name(bare) != bare:
            return  # what a short name means depends on where it stands
        if operation.regions and name != bare:
            return  # in quotes, more follows behind the regions
        names, _ = _names_and_key(name, rest)
        arguments = _arguments(names, operation)
        order, repeats = _order(names, operation, known, is_quoted=name != bare)
        if order is None or len(operation.regions) != (arguments is not None):
            return
        common, literal = _without_literal(rest)
        varies = "" if literal is None else self._varying(operation, literal)
        if not varies:
            common = rest
        self._patterns[_names_and_key(name, common)[1]] = Pattern(
            type(operation),
            order,
            tuple(operation.operand_types),
            tuple(operation.result_types),
            dict(operation.properties),
            dict(operation.attributes),
            varies,
            arguments,
            repeats,
        )

    def _varying(self, operation: Operation, literal: re.Match[str]) -> str:
        """The attribute that `literal` is; "" if that is not one alone."""
        found = [
            name
            for held in (operation.properties, operation.attributes)
            for name, attribute in held.items()
            if self._attribute(attribute, literal) == attribute
        ]
        return found[0] if len(found) == 1 else ""

    def _attribute(self, like: Attribute, literal: re.Match[str]) -> Attribute | None:
        """The attribute of the kind of `like` that `literal` is; None for what is for others to judge."""
        if literal.re is _SYMBOL:
            if not isinstance(like, SymbolRefAttr):
                return None
            symbol = self._symbols.get(literal[1])
            if symbol is None:
                symbol = self._symbols[literal[1]] = SymbolRefAttr(literal[1])
            return symbol
        if isinstance(like, FloatAttr) and literal[2] is not None:
            if not isinstance(like.type, Float32Type | Float64Type):
                return None
            return FloatAttr(float(literal[1] + literal[2]), like.type)
        if not isinstance(like, IntegerAttr) or literal[2] is not None:
            return None
        type_ = like.type
        bits = type_.width.data if isinstance(type_, IntegerType) else _WORD
        number = int(literal[1])
        if abs(number) >> (bits - 1):  # out of range, or nearly
            return None
        if not isinstance(type_, IndexType) and type_.signedness.data.name != "SIGNLESS":
            return None
        return integer(number, type_)


def _without_literal(rest: str) -> tuple[str, re.Match[str] | None]:
    """A line without its one function's name or its number, and that."""
    if "@" in rest:
        symbol = _SYMBOL.search(rest)
        if symbol is None or rest.count("@") > 1:
            return rest, None
        return f"{rest[: symbol.start(1)]}{rest[symbol.end() :]}", symbol
    if "%" in rest:
        return rest, None
    number = _NUMBER.fullmatch(rest)
    return (rest, None) if number is None else (f"#{number[3] or ''}", number)


def _names_and_key(name: str, rest: str) -> tuple[list[Use], tuple[str, ...]]:
    """The names of values in the text, each with the number of a result or "", and all else."""
    pieces = USE.split(rest)
    return list(zip(pieces[1::3], pieces[2::3], strict=True)), (name, *pieces[::3])


def _order(
    names: Sequence[Use], operation: Operation, known: Known, *, is_quoted: bool
) -> tuple[tuple[int, ...] | None, tuple[int, ...]]:
    """Which of the names is each operand, None if that is not clear; and the `repeats` for which this holds."""
    values = [_value(name, known) for name in names]
    operands = list(operation.operands)
    if values == operands and (is_quoted or _has_operands_in_order(type(operation))):
        return tuple(range(len(operands))), ()
    used = [value for value in values if value is not None]
    if set(used) != set(operands) or len(used) != len(operands):
        return None, ()
    repeats = _repeats(values) if len(set(used)) < len(used) else ()
    return tuple([values.index(operand) for operand in operands]), repeats


def _repeats(names: Sequence[object]) -> tuple[int, ...]:
    """Where each of the names or values stands first."""
    return tuple(map(names.index, names))


def _arguments(
    names: Sequence[Use], operation: Operation
) -> tuple[tuple[int, Attribute], ...] | None:
    """Which of the names is each argument of the region; None if there is none, or that is not clear."""
    if not _is_a_head_and_a_region(type(operation)) or len(set(names)) < len(names):
        return None
    if len(operation.regions) != 1 or not operation.regions[0].blocks:
        return None
    written = [f"%{name}" if number is None else f"%{name}#{number}" for name, number in names]
    found = []
    for argument in operation.regions[0].blocks[0].args:
        name = value_name(argument)
        if name is None or name not in written:
            return None
        found.append((written.index(name), argument.type))
    return tuple(found)


@cache
def _has_operands_in_order(operation: type[Operation]) -> bool:
    """Whether the short form has the operands in their order, and each once."""
    return issubclass(operation, KernelOp | UnknownOp | ControlFlowOp | ReturnOp)


@cache
def _is_a_head_and_a_region(operation: type[Operation]) -> bool:
    """Whether the short form ends with the one region, which adds nothing that the text does not say."""
    if operation.name == "async.execute":
        return True
    return issubclass(operation, BodyOp) and not issubclass(operation, IfOp | JitOp)


def _value(use: Use, known: Known) -> SSAValue | None:
    """The value of a name, if it is defined."""
    name, number = use
    results = known.get(name)
    if results is None:
        return None
    index = int(number) if number else 0
    if number is None and len(results) != 1 or index >= len(results):
        return None
    return results[index]
