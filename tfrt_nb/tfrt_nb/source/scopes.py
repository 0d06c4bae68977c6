"""The layer of the parser that resolves names to values.

A function cannot use values from outside. A region of `tfrt.if` or a similar operation can use only
its own arguments. Any other region can use all values around it. As in MLIR, a value may be used
before its definition.
"""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NoReturn, cast

from xdsl.context import Context
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tfrt_nb.dialects.catalog import UnknownOp
from tfrt_nb.dialects.types import NamedArgument, NamesItsRegionArguments, parse_types
from tfrt_nb.nesting import MAX_NESTING, TOO_DEEP
from tfrt_nb.source.advice import on_type
from tfrt_nb.source.attributes import AttributeParser
from tfrt_nb.source.spans import (
    LocatedError,
    SourceSpan,
    SourceText,
    definition_span,
    in_mlirs_words,
    place,
)
from tfrt_runtime.diagnostics import Diagnostic, Location, counted, error, led_by, note

Bound = list[tuple[Span, int]]
"""Names of results, each with the number of results that it covers."""

_EXPECTS = re.compile(r"expected (?!an operation|'\}')", re.IGNORECASE)
UNDECLARED = "use of undeclared SSA value name"


class Visibility(Enum):
    """Which values from outside an operation's regions can use: all, none, or its operands."""

    ALL = auto()
    NOTHING = auto()
    OPERANDS = auto()


@dataclass
class Scope:
    """The names that are visible in a function, or in a region that cannot use outside values.

    `values` contains the visible values. `forward` contains values that were used but are not
    defined yet. The values of a name are a tuple, in which None marks a value that is not defined:
    an argument named `%r#1` does not define `%r#0`.
    """

    owner: str
    outer: Scope | None
    values: dict[str, tuple[SSAValue, ...]] = field(default_factory=dict)
    forward: dict[str, dict[int, ForwardDeclaredValue]] = field(default_factory=dict)
    forward_spans: dict[tuple[str, int], Span] = field(default_factory=dict)
    ended: dict[str, tuple[SSAValue, ...]] = field(default_factory=dict)
    """Names that inner regions have defined and that are no longer visible."""


def with_part(known: Sequence[SSAValue], index: int, value: SSAValue) -> tuple[SSAValue, ...]:
    """Return the values of a name with `value` at `index`, and None for gaps before it."""
    values: list[SSAValue | None] = [*known, *[None] * (index + 1 - len(known))]
    values[index] = value
    return cast(tuple[SSAValue, ...], tuple(values))


class ScopedParser(AttributeParser):
    """A parser that resolves the names of values."""

    def __init__(self, source: SourceText, context: Context) -> None:
        super().__init__(source, context)
        self.diagnostics: list[Diagnostic] = []
        self.resolved_late: list[SSAValue] = []
        self._late_values: dict[SSAValue, SSAValue] = {}
        self._visibility = Visibility.ALL
        self._op_name = "builtin.module"
        self._scope = Scope("the module", None)
        self._enter(self._scope)
        self._defined: list[str] = []
        self._nesting = 0
        self._head_end: int | None = None
        self._first_skipped: int | None = None
        """The start of the first skipped region.

        It is -1 before a region is skipped, and None if regions are not skipped.
        """

    def _enter(self, scope: Scope) -> None:
        self._scope = scope
        self.ssa_values = scope.values
        self.forward_ssa_references = scope.forward

    def location(self, span: Span) -> Location:
        """Return the span as a location."""
        return self.source.location(span.start, span.end)

    def types_at(self, text: str, position: int) -> tuple[Attribute, ...] | None:
        """Return the types in `text`, a list without parentheses at `position`, or None.

        The result is None if `text` is not such a list.
        """
        try:
            self._resume_from(position)
            # A comma after a single type, such as the type of a function argument, is not part of a
            # list.
            types = tuple(parse_types(self)) if "," in text else (self.parse_type(),)
        except ParseError:
            return None
        return types if self._last_end == position + len(text) else None

    def _raise_at_end_of_line(self, problem: ParseError) -> None:
        """Report a missing part of an operation at the end of the line, as MLIR does."""
        token, end = self._current_token.span, self._last_end
        if (
            problem.span == token
            and _EXPECTS.match(problem.msg)
            and "\n" in self.source.text[end : token.start]
        ):
            raise ParseError(Span(end, end + 1, token.input), problem.msg) from None

    # Uses

    def resolve_operand(  # type: ignore[override]
        self, operand: UnresolvedOperand, type: Attribute
    ) -> SSAValue:
        values = self.ssa_values.get(operand.operand_name)
        if values is None:
            return self._forward_value(operand, type)
        if operand.index >= len(values) or values[operand.index] is None:
            self._raise_no_such_result(operand.span, operand.operand_name, len(values))
        value = values[operand.index]
        if value.type != type:
            self._raise_type_mismatch(operand, type, value.type, definition_span(value))
        return value

    def resolve_operands(
        self, args: Sequence[UnresolvedOperand], input_types: Sequence[Attribute], error_pos: int
    ) -> list[SSAValue]:
        if len(args) != len(input_types):
            self._raise_wrong_type_count(args, len(input_types), error_pos)
        return [
            self.resolve_operand(operand, type)
            for operand, type in zip(args, input_types, strict=True)
        ]

    def _raise_wrong_type_count(
        self, operands: Sequence[UnresolvedOperand], listed: int, position: int
    ) -> NoReturn:
        """Report a wrong number of types.

        TFRT's design document has such a line: `%z = tfrt.call @f(%x, %y) : (i32) -> i32`.
        """
        given = counted(len(operands), "operand")
        if operands and "\n" in self.source.text[operands[0].span.start : position]:
            # Some operations notice the problem only on the next line.
            position = operands[0].span.start
        message = f"{given} given, but {counted(listed, 'type')} listed"
        known = [self.ssa_values.get(operand.operand_name) for operand in operands]
        if known and all(values is not None and len(values) == 1 for values in known):
            message += f": write ({', '.join(str(values[0].type) for values in known if values)})"
        self.raise_error(message, Span(position, position + 1, self.lexer.input))

    def _forward_value(self, operand: UnresolvedOperand, type: Attribute) -> SSAValue:
        """Return the placeholder for a value that is not defined yet."""
        name, index = operand.operand_name, operand.index
        references = self.forward_ssa_references.setdefault(name, {})
        value = references.get(index)
        if value is None:
            value = references[index] = ForwardDeclaredValue(type)
            self._scope.forward_spans[name, index] = operand.span
        elif value.type != type:
            first_use = self.location(self._scope.forward_spans[name, index])
            self._raise_type_mismatch(operand, type, value.type, first_use)
        return value

    def _raise_type_mismatch(
        self,
        operand: UnresolvedOperand,
        type: Attribute,
        prior: Attribute,
        prior_use: Location | None,
    ) -> NoReturn:
        message = (
            f"use of value '{operand.span.text}' expects different type than prior uses: "
            f"'{type}' vs '{prior}'"
        )
        notes = [note("prior use here", prior_use)]
        advice = on_type(self._op_name, operand.span.text, str(type), str(prior))
        if self._scope.owner in ("tfrt.jit_execute", "tfrt.run") and "memref<?" in str(prior):
            shape = f"({operand.span.text}: {type})"
            advice = f"give the tensor its type where the region begins: '{shape}'"
        if advice is not None:
            fix = (str(type), str(prior)) if advice.startswith("write the type") else None
            notes.append(note(advice, self.location(operand.span), fix))
        raise LocatedError(operand.span, message, notes)

    # Definitions

    def _register_ssa_definition(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        if name in self.ssa_values:
            previous = next(value for value in self.ssa_values[name] if value is not None)
            prior = note("previously defined here", definition_span(previous))
            raise LocatedError(span, f"redefinition of SSA value '%{name}'", [prior])
        if name in self.forward_ssa_references:
            self._check_forward_references(name, values, span)
            self.resolved_late.extend(values)
            self._late_values |= {
                used: values[index] for index, used in self.forward_ssa_references[name].items()
            }
        super()._register_ssa_definition(name, values, span)
        self._defined.append(name)
        for value in values:
            if isinstance(value, BlockArgument) and not isinstance(value.location, SourceSpan):
                place(value, SourceSpan(self.source, span.start, span.start, span.end))

    def _raise_no_such_result(self, use: Span, name: str, count: int) -> NoReturn:
        hint = note(f"'%{name}' has {counted(count, 'result')}", self.location(use))
        raise LocatedError(use, "reference to invalid result number", [hint])

    def _check_forward_references(self, name: str, values: Sequence[SSAValue], span: Span) -> None:
        for index, used in self.forward_ssa_references[name].items():
            use = self._scope.forward_spans[name, index]
            if index >= len(values):
                self._raise_no_such_result(use, name, len(values))
            if used.type != values[index].type:
                raise LocatedError(
                    span,
                    f"definition of SSA value '%{name}#{index}' has type '{values[index].type}'",
                    [note(f"previously used here with type '{used.type}'", self.location(use))],
                )

    # Operations

    def _open_operation(self, operation_type: type[Operation], *, short: bool) -> None:
        """Set which names from outside the regions of the next operation can use."""
        self._op_name = operation_type.name
        self._visibility = Visibility.ALL
        if issubclass(operation_type, UnknownOp):
            return
        names_arguments = operation_type.has_trait(NamesItsRegionArguments)
        if operation_type.has_trait(IsolatedFromAbove) and not names_arguments:
            self._visibility = Visibility.NOTHING
        elif short and names_arguments:
            self._visibility = Visibility.OPERANDS

    def _resolve_operands_defined_inside(self, operation: Operation) -> None:
        """Resolve operands whose names the operation's own regions define.

        xDSL replaces forward references in existing operations, but this operation is created after
        its regions. The definition of such an operand does not dominate its use, and a later check
        reports that. One short form may represent several nested operations, each in a region of
        another.
        """
        if not self._late_values:
            return
        for made in operation.walk():
            for index, operand in enumerate(made.operands):
                if operand in self._late_values:
                    made.operands[index] = self._late_values[operand]

    def _raise_no_results(self, operation: Operation, span: Span) -> NoReturn:
        # Result types are often inferred from operands, so the cause may be an error in the
        # operands.
        text = f"'{operation.name}' has no result here: remove the names and the '=' before it"
        try:
            operation.verify_()
        except Exception as wrong:  # noqa: BLE001 some xDSL operations raise a plain Exception
            # The operation has no parent yet, so its callees cannot be checked here.
            if "no SymbolTable ancestor" not in str(wrong):
                text = f"'{operation.name}' op {in_mlirs_words(operation.name, str(wrong))}"
        words = "cannot name an operation with no results"
        raise LocatedError(span, text, [note(words, self.location(span))])

    def _bind_results(self, operation: Operation, bound: Bound) -> None:
        if not bound:
            return
        count = sum(size for _, size in bound)
        if not operation.results:
            self._raise_no_results(operation, bound[0][0])
        if count != len(operation.results):
            defined = len(operation.results)
            message = f"operation defines {defined} results but was provided {count} to bind"
            types = ", ".join(str(type_) for type_ in operation.result_types)
            text = (
                f"'{operation.name}' has results of the types ({types}): give each exactly one name"
            )
            raise LocatedError(bound[0][0], text, [note(message, self.location(bound[0][0]))])
        index = 0
        for span, size in bound:
            self._register_ssa_definition(
                span.text[1:], operation.results[index : index + size], span
            )
            index += size

    # Regions

    def parse_optional_region(
        self, arguments: Iterable[Parser.Argument] | None = None
    ) -> Region | None:
        brace = self._current_token
        if brace.kind is not MLIRTokenKind.L_BRACE:
            return None
        if self._head_end is None:
            self._head_end = self._last_end
        if self._first_skipped is not None:
            return self._skip_region(brace.span.start, arguments)
        self._consume_token()
        outer, outer_defined = self._scope, self._defined
        self._defined = []
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self.raise_error(TOO_DEEP, brace.span)
        isolated = self._visibility is not Visibility.ALL
        if isolated:
            self._enter(Scope(self._op_name, outer))
        region = self._parse_region_body(brace.span, arguments)
        if isolated:
            self._report_undefined_values()
            self._enter(outer)
        else:
            self._scope.ended |= {name: self.ssa_values.pop(name) for name in self._defined}
        self._defined = outer_defined
        self._nesting -= 1
        return region

    def _skip_region(self, brace: int, arguments: Iterable[Parser.Argument] | None) -> Region:
        """Skip the region at `brace`, and return a region without operations."""
        if self._first_skipped == -1:
            self._first_skipped = brace
        end = self.source.closing_brace(brace) + 1
        self._resume_from(end)
        self._last_end = end
        return Region(Block(arg_types=[argument.type for argument in arguments or ()]))

    def _parse_region_body(
        self, brace: Span, arguments: Iterable[Parser.Argument] | None
    ) -> Region:
        outer_blocks, outer_references = self.blocks, self.forward_block_references
        self.blocks, self.forward_block_references = {}, defaultdict(list)
        region = Region()
        entry = self._parse_entry_block(arguments)
        if entry is not None:
            region.add_block(entry)
        while self._current_token.kind is not MLIRTokenKind.R_BRACE:
            if self._current_token.kind is not MLIRTokenKind.CARET_IDENT:
                self._raise_not_an_operation(brace)
            # xDSL does not record where a block is defined if the block was used before its
            # definition.
            name = self._current_token.text[1:]
            block, definition = self.blocks.get(name, (None, None))
            is_defined = definition is None and name not in self.forward_block_references
            if block is not None and is_defined:
                self.raise_error(f"redefinition of block '^{name}'", self._current_token.span)
            region.add_block(self._parse_block())
        self._consume_token()
        for name, spans in self.forward_block_references.items():
            self.raise_error(f"reference to an undefined block '^{name}'", spans[0])
        self.blocks, self.forward_block_references = outer_blocks, outer_references
        return region

    def _parse_entry_block(self, arguments: Iterable[Parser.Argument] | None) -> Block | None:
        kind = self._current_token.kind
        if arguments is None and kind in (MLIRTokenKind.CARET_IDENT, MLIRTokenKind.R_BRACE):
            return None
        if arguments is not None and kind is MLIRTokenKind.CARET_IDENT:
            self.raise_error("invalid block name in region with named arguments")
        named = list(arguments or ())
        block = Block(arg_types=[argument.type for argument in named])
        for value, argument in zip(block.args, named, strict=True):
            self._define_argument(value, argument)
        self._parse_block_body(block)
        return block

    def _define_argument(self, value: BlockArgument, argument: Parser.Argument) -> None:
        name = argument.name.text[1:]
        index = argument.index if isinstance(argument, NamedArgument) else 0
        known = self.ssa_values.get(name, ())
        if index < len(known) and known[index] is not None:
            self.raise_error(f"region entry argument '%{name}' is already in use", argument.name)
        if known or index:
            self.ssa_values[name] = with_part(known, index, value)
            end = argument.name.end + (len(f"#{index}") if index else 0)
            start = argument.name.start
            place(value, SourceSpan(self.source, start, start, end))
            return
        self._register_ssa_definition(name, (value,), argument.name)
        if argument.location is not None:
            value.location = argument.location

    def _raise_not_an_operation(self, brace: Span) -> NoReturn:
        token = self._current_token
        if token.kind is MLIRTokenKind.EOF:
            opening = note("the region opens here", self.location(brace))
            raise LocatedError(token.span, "expected '}': a region is not closed", [opening])
        self.raise_error("expected an operation, a block or '}'", token.span)

    # Names that are used but never defined

    def _report_undefined_values(self) -> None:
        """Report each name that is used but not defined in the scope that ends here."""
        for name, references in self.forward_ssa_references.items():
            index = min(
                references, key=lambda number: self._scope.forward_spans[name, number].start
            )
            use = self.location(self._scope.forward_spans[name, index])
            words = error(UNDECLARED, use, self._suggestions(name))
            self.diagnostics.append(led_by(f"'%{name}' is not defined", words))

    def raise_undeclared(self, name: str, use: Span) -> NoReturn:
        """Report a use of a name that is not defined before it.

        Raises:
            LocatedError: always.
        """
        raise LocatedError(use, UNDECLARED, self._suggestions(name))

    def _suggestions(self, name: str) -> list[Diagnostic]:
        outer = self._scope.outer
        while outer is not None:
            if (values := outer.values.get(name)) is not None:
                return [self._outside_note(name, values)]
            outer = outer.outer
        if (values := self._scope.ended.get(name)) is not None:
            text = (
                f"'%{name}' is defined here, and is available only in this region: return it as a "
                "result of the region"
            )
            first = next(value for value in values if value is not None)
            return [note(text, definition_span(first))]
        similar = difflib.get_close_matches(name, self.ssa_values, n=1)
        return [
            note(
                f"did you mean '%{match}'?",
                definition_span(self.ssa_values[match][-1]),
                (f"%{name}", f"%{match}"),
            )
            for match in similar
        ]

    def _outside_note(self, name: str, values: tuple[SSAValue, ...]) -> Diagnostic:
        definition = definition_span(next(value for value in values if value is not None))
        how = (
            f"the body: make it an operand of '{self._scope.owner}'"
            if self._visibility is Visibility.OPERANDS
            else "the function: a function cannot use values from outside"
        )
        return note(f"'%{name}' is defined here, outside {how}", definition)
