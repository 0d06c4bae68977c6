"""The fast way through a block: operations on lines of their own, by one regular expression.

Nearly all operations of a program are such lines, and tokens cost more than the operations made from them.

A line is made like an earlier one that differs in names only:

    %s1 = arith.addi %s0, %w0 : i64
    %s2 = arith.addi %s1, %w1 : i64

What the parser made of the text of the first without the names of values holds for both, once the operands have the
same types.  Two more things may differ: the name of the one function in a line, and the number of a constant.  A line
that opens a region is the head of its operation.  Nothing is learned from an operation with successors, or whose
operands are not just the names in its line.

A line that is the first of its kind, or out of the ordinary in any way (an error, a value of another type), is left
to the parser behind this one, which reads it from its start; so this module reports nothing and accepts only what is
plainly right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    FileLineColLoc,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from tfrt_nb.dialects.assembly import NamedArgument, parse_types
from tfrt_nb.dialects.catalog import UnknownOp
from tfrt_nb.dialects.control_flow import IfOp, JitOp, ReturnOp
from tfrt_nb.dialects.control_flow.structure import BodyOp, ControlFlowOp
from tfrt_nb.dialects.fast_ir import append, create
from tfrt_nb.dialects.kernel_op import KernelOp
from tfrt_nb.dialects.literals import integer
from tfrt_nb.source.scopes import ScopedParser
from tfrt_nb.source.spans import SourceSpan, SourceText, place, source_span, value_name
from tfrt_nb.source.spellings import operation_name

_WORD = r"(?:[0-9]+(?![\w$.-])|[A-Za-z$._-][\w$.-]*)"
NAME = f"%{_WORD}"
"""The name of a value."""
USE = re.compile(rf"%({_WORD})(?:#([0-9]+))?", re.ASCII)

_RESULT = rf"{NAME}(?:[ ]*:[ ]*[0-9]+)?"

MAX_REST = 2_000
"""The most characters behind an operation's name.  With several operations in one line all the others
would be behind it: a long line would take time with the square of its length."""

_PART = rf"[^\n\"{{}}/]{{0,{MAX_REST}}}+"
_STATEMENT = re.compile(
    rf"""(?:(?P<results>{_RESULT}(?:[ ]*,[ ]*{_RESULT})*)[ ]*=[ ]*)?
    (?P<name> [A-Za-z_][\w$.]*+ | "[\w$.]+")
    [ ]* (?P<rest> {_PART} (?:\{{ [^{{}}\n]{{0,{MAX_REST}}}+ \}} {_PART})? )
    (?: (?P<brace>\{{)
      | "(?P<file>[^"\\\n]*+)":(?P<line>[0-9]+):(?P<column>[0-9]+)(?P<end>\)) )?
    [ ]*+ (?: (?= \}} ) | (?://[^\n]*+)? \n (?:\s+|//[^\n]*\n)*+
    (?! [{{:,(\[<] | loc\b) )""",
    re.ASCII | re.VERBOSE,
)
"""Results; a name; the rest of the line, with one dictionary at most; the brace of a region, or the place
that `loc("file":1:2)` gives.  What follows is the brace that closes a region, or a line that does not begin with
what could still belong to this operation."""

_EXPECTS = re.compile(r"expected (?!an operation|'\}')", re.IGNORECASE)

Types: TypeAlias = tuple[Attribute, ...]
Known: TypeAlias = Mapping[str, tuple[SSAValue, ...]]
"""Values by name, all results of an operation under one."""
Use: TypeAlias = tuple[str, str | None]
"""The name of a value without its `%`, and the number of a result."""

_NUMBER = re.compile(r"(-?[0-9]{1,18})(\.[0-9]{1,9})?( *: *(?:i[0-9]+|index|f32|f64))?", re.ASCII)
_SYMBOL = re.compile(r"@([A-Za-z_][\w$.]*)", re.ASCII)
_INDEX_BITS = 64


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
        bits = type_.width.data if isinstance(type_, IntegerType) else _INDEX_BITS
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


class StatementParser(ScopedParser):
    """Reads lines fast."""

    def __init__(self, source: SourceText, context: Context) -> None:
        super().__init__(source, context)
        self._files: dict[str, StringAttr] = {}
        self._patterns = Patterns()

    def _read_statements(self, block: Block) -> None:
        """Add to `block` the operations from here on, up to one that is not a line like an earlier one."""
        text, start, last_end = self.source.text, self.pos, self._last_end
        position = start
        while (match := _STATEMENT.match(text, position)) is not None:
            operation = self._read_statement(match)
            if operation is None:
                break
            append(block, operation)
            position = self.pos if operation.regions else match.end()
        if self.pos != position:
            self._resume_from(position)
        self._last_end = last_end if position == start else position

    def _read_one(self, start: int) -> Operation | None:
        """The operation at `start`, if it is a line like an earlier one."""
        match = _STATEMENT.match(self.source.text, start)
        return None if match is None else self._read_statement(match)

    def _read_statement(self, match: re.Match[str]) -> Operation | None:
        """The operation of a line; with regions, the parser is behind it then."""
        rest, end = self._rest(match)
        if rest is None:
            return None
        made = self._patterns.match(match["name"], rest, self.ssa_values)
        if made is None or (made[0].arguments is None) is not (match["brace"] is None):
            return None
        pattern, operands, attributes, properties = made
        names = self._result_names(match["results"], len(pattern.result_types))
        if names is None:
            return None
        explicit = self._explicit_place(match)
        span = SourceSpan(self.source, match.start(), match.start("name"), end, explicit)
        if pattern.arguments is not None:
            return self._read_region(match, made, span)
        operation = create(
            pattern.operation,
            operands,
            pattern.result_types,
            attributes,
            cast(LocationAttr, span),
            properties,
        )
        self._define(names, operation)
        return operation

    def _rest(self, match: re.Match[str]) -> tuple[str | None, int]:
        """What is behind the operation's name, and where the operation or its head ends; None if it may go on."""
        rest = match["rest"]
        if match["end"] is not None:
            before = rest.removesuffix("loc(")
            if before == rest or not before.endswith((" ", ")", ">", "}")):
                return None, 0
            return before.rstrip(), match.end("end")
        rest = rest.rstrip()
        if rest:
            return rest, match.start("rest") + len(rest)
        if match["brace"] is None and self.source.text.startswith("%", match.end()):
            return None, 0  # a name in the next line would be an operand
        return rest, match.end("name")

    def _explicit_place(self, match: re.Match[str]) -> LocationAttr | None:
        if match["end"] is None:
            return None
        name = self._files.get(match["file"])
        if name is None:
            name = self._files[match["file"]] = StringAttr(match["file"])
        return FileLineColLoc(name, IntAttr(int(match["line"])), IntAttr(int(match["column"])))

    def _read_region(self, match: re.Match[str], made: Made, span: SourceSpan) -> Operation:
        """The operation whose head is in this line, with its region."""
        pattern, operands, attributes, properties = made
        uses = list(USE.finditer(match["rest"]))
        arguments = []
        for index, type_ in pattern.arguments or ():
            start, end = uses[index].span(1)
            offset, number = match.start("rest"), uses[index][2]
            name = Span(offset + start - 1, offset + end, self.lexer.input)
            arguments.append(NamedArgument(name, type_, index=int(number or 0)))
        outer_state = self._visibility, self._op_name, self._head_end
        self._open_operation(pattern.operation, short=True)
        self._head_end = span.end
        self._resume_from(match.start("brace"))
        is_named = issubclass(pattern.operation, BodyOp)
        try:
            region = self.parse_region(arguments if arguments or is_named else None)
        except ParseError as problem:
            if self._op_name == pattern.operation.name:
                self._raise_at_end_of_line(problem)
            raise
        operation = pattern.operation.create(
            operands=operands,
            result_types=pattern.result_types,
            attributes=attributes,
            properties=properties,
            regions=[region],
        )
        written = self.parse_optional_location()
        explicit = None if written is UNKNOWN_LOC else written
        self._visibility, self._op_name, self._head_end = outer_state
        place(operation, SourceSpan(self.source, span.first, span.start, span.end, explicit))
        self._resolve_operands_defined_inside(operation)
        names = self._result_names(match["results"], len(pattern.result_types))
        if names is not None:
            self._define(names, operation)
            return operation
        # The region uses a result before it is defined.
        here, last_end = self.pos, self._last_end
        self._resume_from(match.start())
        bound = self._parse_op_result_list()
        self._resume_from(here)
        self._last_end = last_end
        self._bind_results(operation, bound)
        return operation

    def _raise_at_end_of_line(self, problem: ParseError) -> None:
        """What an operation lacks at the end of its line is missed there, as in MLIR."""
        token, end = self._current_token.span, self._last_end
        if (
            problem.span == token
            and _EXPECTS.match(problem.msg)
            and "\n" in self.source.text[end : token.start]
        ):
            raise ParseError(Span(end, end + 1, token.input), problem.msg) from None

    def _learn_from(self, operation: Operation, start: int) -> None:
        """Remember how the line at `start` was read, if it is all of the operation, or of its head."""
        if operation.successors or len(operation.regions) > 1:
            return
        match, span = _STATEMENT.match(self.source.text, start), source_span(operation)
        if match is None or span is None or bool(operation.regions) is (match["brace"] is None):
            return
        rest, end = self._rest(match)
        has_place = match["end"] is not None
        if rest is None or span.end != end or (span.explicit is not None) is not has_place:
            return
        self._patterns.learn(match["name"], rest, operation, self.ssa_values)

    # Names

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
                hint = SSAValue.extract_valid_name(name) if "_" in name else name
                for result in results[start : start + size]:
                    result._name = hint
            start += size

    def types_at(self, text: str, position: int) -> Types | None:
        """The types that `text`, which stands at `position`, lists without parentheses, if it does."""
        try:
            self._resume_from(position)
            # Behind one alone, as an argument of a function has it, a comma is not of the list.
            types = tuple(parse_types(self)) if "," in text else (self.parse_type(),)
        except ParseError:
            return None
        return types if self._last_end == position + len(text) else None
