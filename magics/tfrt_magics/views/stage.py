"""A program at a stage of its compilation, in colour."""

from __future__ import annotations

from pygments import highlight
from pygments.formatters import HtmlFormatter, Terminal256Formatter
from pygments.lexer import Lexer
from pygments.lexers import GasLexer, LlvmLexer, TextLexer

from tfrt_magics.bridge.record import Json
from tfrt_nb.language.lexer import TfrtLexer

# Colours that can be read on white and on black; the page's own background stays.
STYLE = "friendly"


def stage_bundle(text: str, stage: str) -> dict[str, Json]:
    """The display data of a stage: a page in colour, and the text."""
    formatter = HtmlFormatter(noclasses=True, nobackground=True, style=STYLE)
    return {
        "text/html": f"<div>{highlight(text, lexer_of(stage), formatter)}</div>",
        "text/plain": text,
    }


def stage_text(text: str, stage: str, *, ansi: bool) -> str:
    """The text, with colours where a terminal will show them."""
    return highlight(text, lexer_of(stage), Terminal256Formatter()) if ansi else text


def lexer_of(stage: str) -> Lexer:
    """The language of a stage; bytes have none."""
    if stage == "bef":
        return TextLexer()
    if stage == "asm":
        return GasLexer()
    return LlvmLexer() if stage.startswith("llvm") else TfrtLexer()
