"""The fast way through a block: operations on lines of their own, by one regular expression.

Nearly all operations of a host program are such lines, and tokens cost more than the operations
made from them.  A line that is out of the ordinary in any way (a region, a location, a value of
another type, an error) is left to the parser behind this one, which reads it from its start; so
this module reports nothing and accepts only what is plainly right.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeVar, cast

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import ParseError

from tfrt_nb.dialects.assembly import parse_types
from tfrt_nb.dialects.catalog import UPSTREAM_DIALECTS, host_operation, unknown_operation
from tfrt_nb.dialects.control_flow import CallOp, ReturnOp
from tfrt_nb.dialects.fast_ir import append, create, integer
from tfrt_nb.dialects.kernel_op import KernelOp
from tfrt_nb.dialects.literals import parse_literal
from tfrt_nb.dialects.signatures import Form
from tfrt_nb.dialects.types import I32, I64, WORDS
from tfrt_nb.source.patterns import Patterns
from tfrt_nb.source.scopes import ScopedParser
from tfrt_nb.source.spans import SourceSpan, source_span
from tfrt_nb.source.spellings import operation_name
from tfrt_nb.source.text import SourceText

NAME = r"%(?:[0-9]+(?![\w$.-])|[A-Za-z$._-][\w$.-]*)"
"""The name of a value."""

_RESULT = rf"{NAME}(?:[ ]*:[ ]*[0-9]+)?"

MAX_REST = 2_000
"""The most characters behind an operation's name.  With several operations in one line all the others
would be behind it: a long line would take time with the square of its length."""

_STATEMENT = re.compile(
    rf"""(?:({_RESULT}(?:[ ]*,[ ]*{_RESULT})*)[ ]*=[ ]*)?
    (?: ([A-Za-z_][\w$.]*+) [ ]* ([^\n"{{}}/]{{0,{MAX_REST}}}+)
      | "([\w$.]+)" \( ([^()\n/"]*+) \) [ ]* (\{{[^{{}}\n]*+\}})? [ ]* : [ ]* (\([^\n/"{{]{{0,{MAX_REST}}}+)
    )
    (?://[^\n]*+)? \n (?:\s+|//[^\n]*\n)*+
    (?! [{{:,(\[<] | loc\b)""",
    re.ASCII | re.VERBOSE,
)
"""Results; then a name and the rest of the line, or a quoted name, operands, attributes and types.
The next line must not begin with what could still belong to this operation."""

_CALL = re.compile(r"@([A-Za-z_][\w$.]*) *\(([^()]*)\) *: *(\(.*)", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)

T = TypeVar("T")
Types = tuple[Attribute, ...]


_Parts = tuple[list[SSAValue], Types, dict[str, Attribute]]
"""Operands, types of the results, attributes."""


_Line = tuple[
    type[Operation], int, int, list[SSAValue], Types, dict[str, Attribute], dict[str, Attribute]
]
"""What a line says: the operation, where its name starts and where its last word ends, then `_Parts`, then
properties.  A plain tuple, as there is one for every line."""


@dataclass(frozen=True, slots=True)
class _Plan:
    """How to read the rest of a line behind an operation's name."""

    operation: type[Operation]
    read: Callable[[StatementParser, _Plan, str, int], _Parts | None]
    operand_types: Types = ()
    result_types: Types = ()
    attribute: str = ""


class StatementParser(ScopedParser):
    """Reads plain lines fast."""

    def __init__(self, source: SourceText, context: Context) -> None:
        super().__init__(source, context)
        self._single_types: dict[str, Types] = {}
        self._type_lists: dict[str, Types] = {}
        self._signatures: dict[str, tuple[Types, Types]] = {}
        self._dictionaries: dict[str, dict[str, Attribute]] = {}
        self._constants: dict[type[Operation], dict[str, Attribute]] = {}
        self._symbols: dict[str, SymbolRefAttr] = {}
        self._patterns = Patterns()

    def _read_statements(self, block: Block) -> None:
        """Add to `block` the operations from here on, up to one that is not a plain line."""
        text, start, last_end = self.source.text, self.pos, self._last_end
        position = start
        while (match := _STATEMENT.match(text, position)) is not None:
            operation = self._read_statement(match)
            if operation is None:
                break
            append(block, operation)
            position = match.end()
        # Reading types moves the parser, so it may be anywhere by now.
        if self.pos != position:
            self._resume_from(position)
        self._last_end = last_end if position == start else position

    def _read_one(self, start: int) -> Operation | None:
        """The operation at `start`, if it is a plain line."""
        match = _STATEMENT.match(self.source.text, start)
        return None if match is None else self._read_statement(match)

    def _read_statement(self, match: re.Match[str]) -> Operation | None:
        line = self._read_short(match) if match[2] is not None else self._read_quoted(match)
        if line is None:
            return None
        operation_type, start, end, operands, result_types, attributes, properties = line
        names = self._result_names(match[1], len(result_types))
        if names is None:
            return None
        span = cast(LocationAttr, SourceSpan(self.source, match.start(), start, end))
        operation = create(operation_type, operands, result_types, attributes, span, properties)
        self._define(names, operation)
        return operation

    def _read_short(self, match: re.Match[str]) -> _Line | None:
        """`tfrt.add.i32 %a, %b`"""
        plan = _plan(match[2])
        rest_start = match.start(3)
        rest = match[3].rstrip()
        end = rest_start + len(rest) if rest else match.end(2)
        if plan is None:
            if not rest and self.source.text.startswith("%", match.end()):
                return None  # a name in the next line would be an operand
            made = self._patterns.match(match[2], rest, self.ssa_values)
            if made is None:
                return None
            like, operands, properties = made
            types, attributes = like.result_types, dict(like.attributes)
            return like.operation, match.start(2), end, operands, types, attributes, properties
        parts = plan.read(self, plan, rest, rest_start)
        return None if parts is None else (plan.operation, match.start(2), end, *parts, {})

    def _learn_from(self, operation: Operation, start: int) -> None:
        """Remember how the line at `start` was read, if it is all of the operation."""
        if operation.regions or operation.successors:
            return
        match, span = _STATEMENT.match(self.source.text, start), source_span(operation)
        if match is None or match[2] is None or span is None or span.explicit is not None:
            return
        rest = match[3].rstrip()
        if span.end == (match.start(3) + len(rest) if rest else match.end(2)):
            self._patterns.learn(match[2], rest, operation, self.ssa_values)

    def _read_quoted(self, match: re.Match[str]) -> _Line | None:
        """`"tfrt_test.async_add.i32"(%a, %b) : (i32, i32) -> i32`"""
        operation = _quoted_operation(match[4])
        types = match[7].rstrip()
        signature = self._function_types(types, match.start(7))
        if operation is None or signature is None:
            return None
        values = self._values(match[5].strip(), signature[0])
        attributes = self._dictionary(match[6], match.start(6)) if match[6] is not None else {}
        if values is None or attributes is None:
            return None
        end = match.start(7) + len(types)
        return operation, match.start(4) - 1, end, values, signature[1], attributes, {}

    # Short forms.  `rest` is what stands behind the name, at `position`.

    def _read_operands(self, plan: _Plan, rest: str, position: int) -> _Parts | None:
        """`%a, %b`"""
        values = self._values(rest, plan.operand_types)
        return None if values is None else (values, plan.result_types, {})

    def _read_constant(self, plan: _Plan, rest: str, position: int) -> _Parts | None:
        """`7`"""
        type = plan.result_types[0]
        memory = self._constants.setdefault(plan.operation, {})
        constant = memory.get(rest)
        if constant is not None:
            pass
        elif type in (I32, I64) and _INTEGER.fullmatch(rest) and (type == I64 or len(rest) < 10):
            constant = memory[rest] = integer(int(rest), type)
        else:
            constant = self._remembered(rest, position, memory, lambda: parse_literal(self, type))
        return None if constant is None else ([], (type,), {plan.attribute: constant})

    def _read_typed(self, plan: _Plan, rest: str, position: int) -> _Parts | None:
        """`%a, %b : i32, i64`, or nothing"""
        if not rest:
            return [], plan.result_types, {}
        operands, colon, listed = rest.partition(":")
        listed = listed.lstrip()
        types = self.types_at(listed, position + len(rest) - len(listed)) if colon else None
        values = None if types is None else self._values(operands.rstrip(), types)
        return None if values is None else (values, plan.result_types, {})

    def _read_call(self, plan: _Plan, rest: str, position: int) -> _Parts | None:
        """`@f(%a) : (i32) -> i32`"""
        match = _CALL.fullmatch(rest)
        types = None if match is None else self._function_types(match[3], position + match.start(3))
        if match is None or types is None:
            return None
        values = self._values(match[2].strip(), types[0])
        symbol = self._symbols.get(match[1])
        if symbol is None:
            symbol = self._symbols[match[1]] = SymbolRefAttr(match[1])
        return None if values is None else (values, types[1], {plan.attribute: symbol})

    # Names

    def _values(self, text: str, types: Types) -> list[SSAValue] | None:
        """The values that `text` lists, if they are all defined and have these types."""
        if not text:
            return None if types else []
        names, values = text.split(","), []
        if len(names) != len(types):
            return None
        for name, type in zip(names, types, strict=True):
            name = name.strip()
            known = self.ssa_values.get(name[1:])
            if known is None or len(known) != 1:
                known = self._part_of_results(name)
                if known is None:
                    return None
            value = known[0]
            if name[0] != "%" or value is None:
                return None
            if value._type is not type and value._type != type:
                return None
            values.append(value)
        return values

    def _part_of_results(self, name: str) -> tuple[SSAValue] | None:
        """The value that `%r#1` names."""
        base, hash_sign, index = name.partition("#")
        known = self.ssa_values.get(base[1:])
        if not hash_sign or known is None or not index.isdecimal() or int(index) >= len(known):
            return None
        return (known[int(index)],)

    def _result_names(self, text: str | None, count: int) -> list[tuple[str, int]] | None:
        """The names that `text` binds to `count` results, and to how many each; all new."""
        if text is None:
            return []
        if count == 1 and "," not in text and ":" not in text:
            name = text[1:]
            is_new = name not in self.ssa_values and name not in self.forward_ssa_references
            return [(name, 1)] if is_new else None
        names, bound = [], 0
        for part in text.split(","):
            name, _, size = part.strip().partition(":")
            name = name.rstrip()[1:]
            if name in self.ssa_values or name in self.forward_ssa_references:
                return None
            names.append((name, int(size or 1)))
            bound += int(size or 1)
        distinct = len(names) == 1 or len({name for name, _ in names}) == len(names)
        return names if bound == count and distinct else None

    def _define(self, names: list[tuple[str, int]], operation: Operation) -> None:
        results, start = tuple(operation.results), 0
        for name, size in names:
            self.ssa_values[name] = results[start : start + size]
            self._defined.append(name)
            if not name[0].isdigit():
                for result in results[start : start + size]:
                    result._name = name
            start += size

    # Types and attributes, which repeat: each text is parsed once

    def type_at(self, text: str, position: int) -> Attribute | None:
        """The type that `text`, which stands at `position`, is, if it is one."""
        types = self._remembered(text, position, self._single_types, lambda: (self.parse_type(),))
        return None if types is None else types[0]

    def types_at(self, text: str, position: int) -> Types | None:
        """The types that `text`, which stands at `position`, lists without parentheses, if it does."""
        return self._remembered(text, position, self._type_lists, lambda: tuple(parse_types(self)))

    def _function_types(self, text: str, position: int) -> tuple[Types, Types] | None:
        """The types of `(i32) -> i32`."""

        def parse() -> tuple[Types, Types]:
            types = self.parse_function_type()
            return types.inputs.data, types.outputs.data

        return self._remembered(text, position, self._signatures, parse)

    def _dictionary(self, text: str, position: int) -> dict[str, Attribute] | None:
        """The attributes of `{value = 1 : i32}`, in a dictionary of its own."""
        known = self._remembered(text, position, self._dictionaries, self.parse_optional_attr_dict)
        return None if known is None else dict(known)

    def _remembered(
        self, text: str, position: int, memory: dict[str, T], parse: Callable[[], T]
    ) -> T | None:
        """What `parse` makes of `text`, which stands at `position`, if it is all of it."""
        known = memory.get(text)
        if known is None:
            try:
                self._resume_from(position)
                known = parse()
            except ParseError:
                return None
            if self._last_end != position + len(text):
                return None
            memory[text] = known
        return known


@cache
def _quoted_operation(name: str) -> type[Operation] | None:
    """The class of an operation in quotes; None if it is not one of host programs."""
    if "." not in name or operation_name(name) != name:
        return None
    if name.partition(".")[0] in UPSTREAM_DIALECTS:
        return None
    return host_operation(name) or unknown_operation(name)


@cache
def _plan(name: str) -> _Plan | None:
    """How to read an operation of this name; None for those that this module leaves alone."""
    operation = host_operation(name)
    if operation is ReturnOp:
        return _Plan(ReturnOp, StatementParser._read_typed)
    if operation is CallOp:
        return _Plan(CallOp, StatementParser._read_call, attribute="callee")
    if operation is None or not issubclass(operation, KernelOp):
        return None
    return _kernel_plan(operation)


def _kernel_plan(operation: type[KernelOp]) -> _Plan | None:
    signature = operation.signature
    if "any" in (*signature.operands, *signature.results):
        return None
    results = tuple(WORDS[word] for word in signature.results)
    if signature.form is Form.CONSTANT:
        attribute = next(iter(signature.attributes))
        return _Plan(operation, StatementParser._read_constant, (), results, attribute)
    if signature.attributes:
        return None
    if signature.form is Form.TYPED:
        return _Plan(operation, StatementParser._read_typed, (), results)
    if signature.rest is not None:
        return None
    operands = tuple(WORDS[word] for word in signature.operands)
    return _Plan(operation, StatementParser._read_operands, operands, results)
