"""Highlight the output of a compilation stage, for a page or for a terminal.

Importing Pygments takes a third as long as all of `%load_ext`. Therefore, this module is imported
only when a stage is shown.
"""

from __future__ import annotations

from pygments import highlight
from pygments.formatters import HtmlFormatter, Terminal256Formatter
from pygments.lexer import Lexer
from pygments.lexers import GasLexer, LlvmLexer, TextLexer

from tfrt_magics.bridge.live import Bundle
from tfrt_nb.language.lexer import TfrtLexer

STYLE = "friendly"
"""Colors that are readable on white and on black. The page keeps its own background."""


def stage_bundle(text: str, stage: str) -> Bundle:
    """Return the display data of a stage: colored HTML, and the text."""
    formatter = HtmlFormatter(noclasses=True, nobackground=True, style=STYLE)
    return {
        "text/html": f"<div>{highlight(text, lexer_of(stage), formatter)}</div>",
        "text/plain": text,
    }


def stage_colored(text: str, stage: str) -> str:
    """Return the text of a stage, colored for a 256-color terminal."""
    return str(highlight(text, lexer_of(stage), Terminal256Formatter()))


def lexer_of(stage: str) -> Lexer:
    """Return the lexer for a stage's language. The lexer for BEF bytes highlights nothing."""
    if stage == "bef":
        return TextLexer()
    if stage == "asm":
        return GasLexer()
    return LlvmLexer() if stage.startswith("llvm") else TfrtLexer()
