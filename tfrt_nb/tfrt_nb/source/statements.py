"""The fast way through a block: operations on lines of their own, by one regular expression.

Nearly all operations of a program are such lines, and tokens cost more than the operations
made from them.  A line is made like an earlier one that differs in names only (`patterns`).  One that is the
first of its kind, or out of the ordinary in any way (an error, a value of another type), is left to the parser
behind this one, which reads it from its start; so this module reports nothing and accepts only what is
plainly right.
"""

from __future__ import annotations

import re
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import UNKNOWN_LOC, FileLineColLoc, IntAttr, LocationAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from tfrt_nb.dialects.assembly import NamedArgument, parse_types
from tfrt_nb.dialects.control_flow.structure import BodyOp
from tfrt_nb.dialects.fast_ir import append, create
from tfrt_nb.source.patterns import USE, Made, Patterns
from tfrt_nb.source.scopes import ScopedParser
from tfrt_nb.source.spans import SourceSpan, place, source_span
from tfrt_nb.source.text import SourceText

NAME = r"%(?:[0-9]+(?![\w$.-])|[A-Za-z$._-][\w$.-]*)"
"""The name of a value."""

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

Types = tuple[Attribute, ...]


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
                for result in results[start : start + size]:
                    result._name = name
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
