"""Text to a verified module whose every operation knows its place.

Builds on `dialects`.  The way in is `parse_module()`.  Read in this order:

- Places: `spans` (and what is wrong with a source), `advice` (what to write instead, by the tables
  of `spellings`).
- The parser in its layers, each a class on the one before: `lexer`, `attributes`, `scopes` (names),
  `parser`, and `parsing` (a whole text); `linking`
  brings functions of other programs.
- Checks: `verification` with `callees` (calls), and `dominance` (values are defined before they are
  used).
- Speed: `plain`, a room: host programs as numbers over the shapes of their lines, with names and
  places, without a module.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp

from tfrt_nb.internal_errors import internal_errors_caught
from tfrt_nb.nesting import deep_stack
from tfrt_nb.source.advice import for_people
from tfrt_nb.source.linking import Made, link
from tfrt_nb.source.parsing import parse_text
from tfrt_nb.source.spans import SourceError, SourceText
from tfrt_nb.source.verification import verify
from tfrt_runtime.bef.records import collector_paused
from tfrt_runtime.diagnostics import led_by

__all__ = ["SourceError", "parse_module"]


@internal_errors_caught()
def parse_module(text: str, name: str, libraries: Mapping[str, Made] | None = None) -> ModuleOp:
    """The module that `text` is; `name` stands for it in locations.

    `libraries` are programs by name whose functions it may call: see `link`.

    Raises:
        SourceError: the text is not a valid program.
    """
    with collector_paused(), deep_stack():
        parsed = parse_text(SourceText(text, name))
        diagnostics = [] if libraries is None else link(parsed.module, libraries)
        diagnostics = diagnostics or verify(parsed.module, parsed.resolved_late)
    if diagnostics:
        sentences = [for_people(one.message) for one in diagnostics]
        led = [
            one if sentence is None else led_by(sentence, one)
            for one, sentence in zip(diagnostics, sentences, strict=True)
        ]
        raise SourceError(*led)
    return parsed.module
