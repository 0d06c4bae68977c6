"""The part of the parser that goes on after an error: each function reports its own first one."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from xdsl.ir import Block, Operation
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Span

from tfrt_nb.source.errors import diagnostic_of
from tfrt_nb.source.scopes import Scope, Visibility
from tfrt_nb.source.statements import StatementParser
from tfrt_nb.source.strays import instead_of_stray
from tfrt_runtime.diagnostics import note

_FUNCTION_WORDS = ("func", "func.func", "async.func")


@dataclass(frozen=True, slots=True)
class _State:
    """What the parser knows besides its position."""

    scope: Scope
    defined: list[str]
    nesting: int
    blocks: dict[str, tuple[Block, Span | None]]
    block_references: dict[str, list[Span]]
    visibility: Visibility
    op_name: str
    head_end: int | None
    dialects: tuple[str, ...]


class RecoveringParser(StatementParser):
    """Skips a function with an error, if another one follows."""

    def _parse_next_operation(self) -> Operation | None:
        """The next operation that can be parsed, None if something else comes next."""
        while self._current_token.text in _FUNCTION_WORDS:
            start, state = self.pos, self._state()
            try:
                return self.parse_operation()
            except ParseError as exception:
                following = self._next_function(start)
                if following is None:
                    raise
                self.report(exception)
                self._restore(state)
                self._resume_from(following)
        return self.parse_optional_operation()

    def report(self, exception: ParseError) -> None:
        """Keep the error if it is new: a function without an end swallows the one behind it.

        The error that it comes from, if there is one, comes first.
        """
        if isinstance(exception.__cause__, ParseError):
            self.report(exception.__cause__)
        diagnostic = diagnostic_of(exception, self.source)
        start, text = exception.span.start, self.source.text
        advice = instead_of_stray(diagnostic.message, text, start, self.ssa_values)
        if advice is not None:
            notes = (*diagnostic.notes, note(advice, diagnostic.location))
            diagnostic = replace(diagnostic, notes=notes)
        if diagnostic not in self.diagnostics:
            self.diagnostics.append(diagnostic)

    def _next_function(self, start: int) -> int | None:
        """Where the next function starts that is indented like the one at `start`."""
        text = self.source.text
        line_start = text.rfind("\n", 0, start) + 1
        indentation = re.escape(text[line_start:start])
        pattern = re.compile(
            rf"^{indentation}(?=(?:func|func\.func|async\.func)(?![\w.$]))", re.MULTILINE
        )
        match = pattern.search(text, start + 1)
        return None if match is None else match.end()

    def _state(self) -> _State:
        return _State(
            self._scope,
            list(self._defined),
            self._nesting,
            self.blocks,
            self.forward_block_references,
            self._visibility,
            self._op_name,
            self._head_end,
            tuple(self._parser_state.dialect_stack),
        )

    def _restore(self, state: _State) -> None:
        self._enter(state.scope)
        self._defined = state.defined
        self._nesting = state.nesting
        self.blocks = state.blocks
        self.forward_block_references = state.block_references
        self._visibility = state.visibility
        self._op_name = state.op_name
        self._head_end = state.head_end
        self._parser_state.dialect_stack[:] = state.dialects
