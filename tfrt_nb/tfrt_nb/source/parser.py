"""Parse a source to operations, each with its location.

xDSL's parser parses the builtin attributes and types, and the short forms of other dialects. This
module, `attributes`, and `scopes` add the places of operations, MLIR's rules for names, old
spellings, and errors with MLIR's words and places.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NoReturn

from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp, StringAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import UnresolvedOperand
from xdsl.parser.core import ForwardDeclaredValue
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRToken, MLIRTokenKind

from tfrt_nb.dialects.catalog import (
    HOST_DIALECTS,
    INSTEAD,
    NOT_HERE,
    UPSTREAM_DIALECTS,
    HostContext,
    UnknownOp,
    host_operation,
    new_context,
    similar_operations,
    unknown_operation,
)
from tfrt_nb.dialects.control_flow import NONSTRICT, ReturnOp
from tfrt_nb.dialects.types import CHAIN, WORDS, host_type, parse_operands
from tfrt_nb.source import spellings
from tfrt_nb.source.advice import fix_of, for_people, instead_of, instead_of_stray
from tfrt_nb.source.scopes import Scope, ScopedParser, with_part
from tfrt_nb.source.spans import (
    LocatedError,
    SourceSpan,
    SourceText,
    diagnostic_of,
    in_mlirs_words,
    place,
    source_span,
)
from tfrt_runtime.diagnostics import led_by, note
from tfrt_runtime.hooks import HOOKS

_FUNCTION_WORDS = ("func", "func.func", "async.func")
_KEYWORDS: dict[str, type[Operation]] = {"func": FuncOp, "module": ModuleOp}

_SYMBOL_NEXT = re.compile(r"\s*@")
_OPENS = re.compile(r"\{[ \t]*(?://[^\n]*)?")
"""Matches the end of a line that opens a region."""


_STATE = (
    *("_nesting", "blocks", "forward_block_references"),
    *("_visibility", "_op_name", "_head_end"),
)
"""The parser's state without its position: its scope and its lists."""


class SourceParser(ScopedParser):
    """Parses a whole source. `diagnostics` contains the errors that did not stop the parser."""

    def __init__(self, source: SourceText) -> None:
        self._context: HostContext = new_context()
        super().__init__(source, self._context)

    @property
    def token_span(self) -> Span:
        """The span of the current token, which is the parser's position."""
        return self._current_token.span

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """Parse the source's module, or create a module around its operations."""
        operations: list[Operation] = []
        while self._current_token.kind is not MLIRTokenKind.EOF:
            kind = self._current_token.kind
            if kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                self._parse_alias_def()
            elif kind is MLIRTokenKind.FILE_METADATA_BEGIN:
                self._parse_file_metadata_dictionary()
            elif (operation := self._parse_next_operation()) is not None:
                operations.append(operation)
            else:
                closes = self._current_token.kind is MLIRTokenKind.R_BRACE
                self.raise_error(
                    f"expected an operation{'; this closes nothing' if closes else ''}"
                )
        self._report_undefined_values()
        if len(operations) == 1 and isinstance(operations[0], ModuleOp):
            return operations[0]
        module = ModuleOp(operations)
        place(module, SourceSpan(self.source, 0, 0, 0))
        return module

    # Error recovery: a function that is followed by another function reports its first error

    def _parse_next_operation(self) -> Operation | None:
        """Return the next operation that can be parsed, or None if something else comes next."""
        while self._current_token.text in _FUNCTION_WORDS:
            start, scope = self.pos, self._scope
            state = {name: getattr(self, name) for name in _STATE}
            defined, dialects = [*self._defined], [*self._parser_state.dialect_stack]
            try:
                return self.parse_operation()
            except ParseError as exception:
                following = self._next_function(start)
                if following is None:
                    raise
                self.report(exception)
                # The error may be in a nested scope, so restore the state before the function.
                self._enter(scope)
                self._defined = defined
                for name, value in state.items():
                    setattr(self, name, value)
                self._parser_state.dialect_stack[:] = dialects
                self._resume_from(following)
        return self.parse_optional_operation()

    def report(self, exception: ParseError) -> None:
        """Record an error after its cause, unless the error is already recorded.

        The same error occurs again if an unclosed function includes the next function.
        """
        if isinstance(exception.__cause__, ParseError):
            self.report(exception.__cause__)
        diagnostic = diagnostic_of(exception, self.source)
        start, text = exception.span.start, self.source.text
        advice = instead_of_stray(diagnostic.message, text, start, self.ssa_values)
        diagnostic = replace(diagnostic, fix=fix_of(advice, exception.span.text))
        sentence = for_people(diagnostic.message, text, start)
        if advice is not None and advice.endswith("?"):
            notes = (*diagnostic.notes, note(advice, diagnostic.location))
            diagnostic = replace(diagnostic, notes=notes)
        elif advice is not None:
            sentence = advice
        if sentence is not None:
            diagnostic = led_by(sentence, diagnostic)
        if diagnostic not in self.diagnostics:
            self.diagnostics.append(diagnostic)

    def _next_function(self, start: int) -> int | None:
        """Return the start of the next function, or None.

        The next function must have the same indentation as the function at `start`.
        """
        text = self.source.text
        line_start = text.rfind("\n", 0, start) + 1
        indentation = re.escape(text[line_start:start])
        pattern = re.compile(
            rf"^{indentation}(?=(?:func|func\.func|async\.func)(?![\w.$]))", re.MULTILINE
        )
        match = pattern.search(text, start + 1)
        return None if match is None else match.end()

    # Operations

    def _parse_block_body(self, block: Block) -> None:
        while (operation := self._parse_next_operation()) is not None:
            block.add_op(operation)

    def parse_operation(self) -> Operation:
        first = self.pos
        bound = self._parse_op_result_list()
        name_token = self._current_token
        outer_state = self._visibility, self._op_name, self._head_end
        self._head_end = None
        if name_token.kind is MLIRTokenKind.BARE_IDENT:
            operation = self._parse_short_form(name_token)
        elif name_token.kind is MLIRTokenKind.STRING_LIT:
            operation = self._parse_generic_form(name_token)
        else:
            self.raise_error("expected an operation name")
        end = self._last_end if self._head_end is None else self._head_end
        self._visibility, self._op_name, self._head_end = outer_state
        explicit = None if operation.location is UNKNOWN_LOC else operation.location
        span = SourceSpan(self.source, first, name_token.span.start, end, explicit)
        place(operation, span)
        if operation.regions:
            _place_implied_ends(operation, span)
            self._resolve_operands_defined_inside(operation)
        self._bind_results(operation, bound)
        return operation

    def operation_at(
        self, start: int, end: int, operands: Sequence[tuple[str, Attribute]]
    ) -> Operation | None:
        """Parse the operation from `start` to `end`, without the names of its results.

        The operation's span ends where its first region opens. A region has its arguments, but no
        operations. `operands` contains the names (`x` or `x#1`) and the types of the expected
        operands. If the operation has other operands, or a different order, return None.

        Raises:
            ParseError: if the operation is invalid. Other exceptions from xDSL's parsers also
                propagate.
        """
        values = {name: ForwardDeclaredValue(type) for name, type in operands}
        self._enter(Scope("", None, _by_base_name(values)))
        self._first_skipped = -1
        self._resume_from(start)
        operation = self.parse_operation()
        if self._first_skipped >= 0:
            is_whole = _OPENS.fullmatch(self.source.text, self._first_skipped, end) is not None
        else:
            is_whole = self._last_end <= end <= self.pos
        if not is_whole:
            return None
        self._first_skipped = None
        expected = [values[name] for name, _ in operands]
        return operation if list(operation.operands) == expected else None

    def _parse_short_form(self, name_token: MLIRToken) -> Operation:
        written = name_token.text
        name = self._canonical_name(written)
        is_symbol = _SYMBOL_NEXT.match(self.source.text, name_token.span.end) is not None
        # In old programs, `constant` with a symbol refers to a function.
        if is_symbol and name == "arith.constant" != written:
            name = "func.constant"
        operation_type = (
            _KEYWORDS.get(name)
            or host_operation(name)
            or self._context.get_registered_op(name, self._parser_state.dialect_stack)
        )
        if operation_type is None:
            return self._parse_user_kernel(name, name_token.span)
        self._open_operation(operation_type, short=True)
        self._consume_token()
        self._parser_state.dialect_stack.append(operation_type.dialect_name())
        try:
            operation = operation_type.parse(self)
        except VerifyException as problem:
            self._raise_wrong_types(operation_type, name_token, problem)
        except IndexError:
            # xDSL builds the body of a linalg operation from its operands, and fails if there are
            # too few of them.
            self.raise_error(f"'{operation_type.name}' op has too few operands", name_token.span)
        except ParseError as problem:
            if self._op_name == operation_type.name:
                self._raise_at_end_of_line(problem)
            raise
        except (LookupError, AttributeError, AssertionError, TypeError) as problem:
            if not is_raised_in("xdsl.dialects.", problem):
                raise
            # xDSL's parsers assume that operand counts, positions, and types match.
            text = f"'{written}' op has operands, positions or types that do not fit together"
            span = Span(name_token.span.start, self._last_end, name_token.span.input)
            raise LocatedError(span, text, []) from problem
        self._parser_state.dialect_stack.pop()
        if written in spellings.NONSTRICT_BY_SPELLING:
            operation.attributes[NONSTRICT] = UnitAttr()
        if operation.name == "async.func" and self._head_end is not None:
            if not operation.regions[0].blocks:
                brace = self.source.text.index("{", self._head_end)
                self.raise_error("expected non-empty function body", brace)
        elif isinstance(operation, FuncOp):
            self._check_function(operation)
        location = self.parse_optional_location()
        if location is not None:
            operation.location = location
        return operation

    def _raise_wrong_types(
        self, operation_type: type[Operation], name: MLIRToken, problem: VerifyException
    ) -> NoReturn:
        """Report types that the operation cannot have, in MLIR's words."""
        end = self._last_end
        text = in_mlirs_words(operation_type.name, str(problem))
        if issubclass(operation_type, IRDLOperation):
            # Imported here, because host programs do not need it.
            from tfrt_nb.dialects.definitions import type_problems

            definition = operation_type.get_irdl_definition()
            types = self._written_types(name.span.end, end)
            count = len(definition.operands)
            # A short form with a single type has this type for all operands.
            if len(types) == 1:
                types *= max(count, 1)
            text = next(type_problems(definition, types[:count], types[count:]), text)
        span = Span(name.span.start, end, name.span.input)
        place = self.location(span)
        notes = [note(advice, place) for advice in instead_of(operation_type.name, text)]
        raise LocatedError(span, f"'{operation_type.name}' op {text}", notes) from None

    def _written_types(self, start: int, end: int) -> list[Attribute]:
        """Return the types after the last colon of a short form."""
        colon = self.source.text.rfind(":", start, end)
        types: list[Attribute] = []
        if colon < 0:
            return types
        self._resume_from(colon + 1)
        self._last_end = colon + 1
        while self._last_end < end and (type_ := self.parse_optional_type()) is not None:
            types.append(type_)
            if self.parse_optional_punctuation(",") is None:
                self.parse_optional_keyword("to")
        return types

    def _canonical_name(self, written: str) -> str:
        return spellings.operation_name(written)

    def _check_function(self, function: FuncOp) -> None:
        """Reject an empty body, and add a return that may be omitted.

        The return may be omitted if the function has no results and ends with an effect: TFRT's
        design document omits it after kernels that return a chain. TFRT rejects functions that end
        with other kernels. A declaration is private even if it does not say so, whereas later
        versions require the word.
        """
        if self._head_end is None:
            if function.sym_visibility is None:
                function.properties["sym_visibility"] = StringAttr("private")
            return
        block = function.body.blocks[-1] if function.body.blocks else None
        if block is None or block.last_op is None:
            self.raise_error("expected non-empty function body", self._head_end)
        gives_chains = {*block.last_op.result_types} == {CHAIN}
        if gives_chains and not function.function_type.outputs.data:
            end = ReturnOp.create()
            brace = self._last_end - 1  # the omitted return is at the closing brace
            place(end, SourceSpan(self.source, brace, brace, self._last_end))
            block.add_op(end)

    def _parse_user_kernel(self, name: str, span: Span) -> Operation:
        """Parse a user's kernel in the short form, which omits what the kernel's annotations state.

            %y = shop.price %x {cents = 300}

        means `"shop.price"(%x) {cents = 300 : i64} : (i32) -> i32`. The operands have the types of
        their values. The results have the annotated types, unless the operation ends with types, as
        in `: (i32) -> i64`.
        """
        self._consume_token()
        if name not in HOOKS.kernel_names():
            self._raise_unknown_operation(name, span)
        start = self.pos
        operands = parse_operands(self, on_this_line=True)
        if not operands and self.parse_optional_punctuation("("):
            self.raise_error(
                f"write the operands of '{name}' without parentheses, or use the quoted form:"
                f' "{name}"(...) : (...) -> (...)',
                start,
            )
        attributes = self.parse_optional_attr_dict()
        if self.parse_optional_punctuation(":") is not None:
            types = self.parse_function_type()
            inputs, outputs = types.inputs.data, types.outputs.data
        else:
            inputs = tuple(map(self._known_type, operands))
            outputs = self._annotated_results(name, span, inputs)
        operation = unknown_operation(name).create(
            operands=self.resolve_operands(operands, inputs, start),
            result_types=outputs,
            attributes=attributes,
        )
        location = self.parse_optional_location()
        if location is not None:
            operation.location = location
        return operation

    def _known_type(self, operand: UnresolvedOperand) -> Attribute:
        known = self.ssa_values.get(operand.operand_name)
        if known is None:
            self.raise_undeclared(operand.operand_name, operand.span)
        # An index that is too large is reported later, when the operands are resolved.
        return known[min(operand.index, len(known) - 1)].type

    def _annotated_results(
        self, name: str, span: Span, inputs: Sequence[Attribute]
    ) -> tuple[Attribute, ...]:
        results = HOOKS.result_types(name, [str(one) for one in inputs])
        if results is None:
            self.raise_error(
                f"kernel '{name}' has no result type: annotate its result in Python, as "
                "in `-> int`, or write the types after the operands, as in `: (i32) -> i32`",
                span,
            )
        return tuple(host_type(one[1:]) if one.startswith("!") else WORDS[one] for one in results)

    def _raise_unknown_operation(self, name: str, span: Span) -> NoReturn:
        dialect, place = name.partition(".")[0], self.location(span)
        similar, text, fix = similar_operations(name), "", None
        if name in INSTEAD:
            text = f"write '{INSTEAD[name]}' instead"
        elif dialect in NOT_HERE and similar[:1] not in [[own] for own in HOOKS.kernel_names()]:
            text = NOT_HERE[dialect]
        elif similar:
            text, fix = f"did you mean '{similar[0]}'?", (name, similar[0])
        elif "." in name and dialect not in HOST_DIALECTS | UPSTREAM_DIALECTS:
            text = (
                f'register it with @tfrt.kernel("{name}"), or write "{name}"(...) : (...) -> (...)'
            )
        elif "." in name:
            text = f"the reference lists the operations of '{dialect}', as does Tab in a notebook"
        notes = [note(text, place, fix)] if text else []
        raise LocatedError(span, f"custom op '{name}' is unknown", notes)

    def _parse_generic_form(self, name_token: MLIRToken) -> Operation:
        written = self.parse_str_literal()
        if not written:
            self.raise_error("empty operation name is invalid", name_token.span)
        # A quoted name includes its dialect, if any.
        operation_type = self._context.get_op(self._canonical_name(written))
        if issubclass(operation_type, UnknownOp) and operation_type.name.startswith("async."):
            self.raise_error(
                f"unregistered operation '{operation_type.name}' found in dialect ('async') "
                "that does not allow unknown operations",
                name_token.span,
            )
        self._open_operation(operation_type, short=False)
        self._parser_state.dialect_stack.append(operation_type.dialect_name())
        operation = self._parse_generic_body(operation_type)
        self._parser_state.dialect_stack.pop()
        return operation

    def _parse_generic_body(self, operation_type: type[Operation]) -> Operation:
        operands = self.parse_op_args_list()
        successors = self.parse_optional_successors() or []
        properties = self.parse_optional_properties_dict()
        properties.pop("branch_weights", None)  # skip branch weights, as the lexer does
        regions = self.parse_region_list()
        attributes = self.parse_optional_attr_dict()
        self.parse_punctuation(":", " and the types of operands and results")
        types_start = self.pos
        types = self.parse_function_type()
        location = self.parse_optional_location()
        if issubclass(operation_type, FuncOp) and "type" in attributes:  # the spelling until 2022
            attributes.setdefault("function_type", attributes.pop("type"))
        declared: set[str] = set()
        if issubclass(operation_type, IRDLOperation):
            declared = set(operation_type.get_irdl_definition().properties)
        # Before MLIR had properties, the generic form wrote them as attributes.
        if declared:
            inherent = declared & attributes.keys()
            properties |= {name: attributes.pop(name) for name in inherent}
        else:  # later versions write `<{value = 1 : i32}>` where this one has an attribute
            attributes = properties | attributes
            properties = {}
        return operation_type.create(
            operands=self.resolve_operands(operands, types.inputs.data, types_start),
            result_types=types.outputs.data,
            properties=properties,
            attributes=attributes,
            location=location,
            successors=successors,
            regions=regions,
        )


def is_raised_in(package: str, problem: Exception) -> bool:
    """Return whether an exception comes from a module whose name starts with `package`."""
    import traceback  # only for invalid programs

    *_, (frame, _) = traceback.walk_tb(problem.__traceback__)
    return str(frame.f_globals["__name__"]).startswith(package)


def _by_base_name(values: Mapping[str, SSAValue]) -> dict[str, tuple[SSAValue, ...]]:
    """Group values by base name, as a scope does. The names are of the form `x` or `y#1`."""
    known: dict[str, tuple[SSAValue, ...]] = {}
    for name, value in values.items():
        base, _, index = name.partition("#")
        known[base] = with_part(known.get(base, ()), int(index or 0), value)
    return known


def _place_implied_ends(operation: Operation, span: SourceSpan) -> None:
    """Give each terminator that the source omits the place of the operation around it."""
    for region in operation.regions:
        for block in region.blocks:
            last = block.last_op
            while last is not None and source_span(last) is None:
                place(last, span)
                last = last.prev_op
