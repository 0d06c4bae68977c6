"""Parse a source to a verified module in which every operation has its location.

The package builds on `dialects`. Its entry point is `parse_module()`. Read the modules in this
order:

- Places and errors: `spans`, and `advice` (what to write instead, from the tables in `spellings`).
- The parser, in layers, each of which is a class derived from the one before: `attributes` (with
  the tokens), `scopes` (names), and `parser`. `parsing` parses a whole source. `linking` adds
  functions from other programs.
- Checks: `verification`, with `callees` (calls) and `dominance` (values must be defined before they
  are used).
- Speed: the package `plain` reads host programs without building a module. Its result consists of
  numbers that refer to kinds of lines, plus names and places.
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
    """Parse `text` to a module, whose locations refer to the source as `name`.

    `libraries` maps names to programs whose functions the source may call; see `link`.

    Raises:
        SourceError: if the source is not a valid program.
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
