"""Text of a program as a board, a message, or a terminal shows it: cut, on one line, with unseen
characters escaped; lengths of time.

Apart from `previews`, which needs the runtime: every magic needs this module, and `%load_ext` loads
no runtime.
"""

from __future__ import annotations

import re

MAX_CHARACTERS = 400
MAX_LABEL, LABEL_END = 200, 40

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def label(name: str) -> str:
    """A name, a type or a line as a board shows it: without its middle where it is long, in
    characters that one sees.
    """
    if len(name) <= MAX_LABEL and name.isprintable():
        return name
    end = name[-LABEL_END:]
    return clean(name if len(name) <= MAX_LABEL else f"{name[: MAX_LABEL - LABEL_END - 1]}…{end}")


def first_line(text: str) -> str:
    """The first line of an operation's text, as `label` shows it."""
    if len(text) <= MAX_LABEL and text.isprintable():
        return text
    return label(text[: 4 * MAX_LABEL].partition("\n")[0].rstrip())


def visible(text: str) -> str:
    """`text` with escapes for characters that one does not see, except ends of lines and tabs."""
    return _UNSEEN.sub(
        lambda match: match[0] if match[0] in "\n\t" else f"\\u{ord(match[0]):04x}", text
    )


def clean(text: str) -> str:
    """`text` on one line, cut, with characters that one does not see written as escapes."""
    cut = text[: 4 * MAX_CHARACTERS]
    line = " ".join(cut.split()) if "\n" in cut else cut
    line = visible(line).replace("\t", "\\u0009")
    is_whole = len(line) <= MAX_CHARACTERS and len(cut) == len(text)
    return line if is_whole else f"{line[: MAX_CHARACTERS - 1]}…"


def duration(nanoseconds: int) -> str:
    """Three digits that matter, as people read times: `850 ns`, `12.3 µs`, `1.23 ms`, `45.0 s`."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if nanoseconds >= size:
            value = nanoseconds / size
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"
    return f"{nanoseconds} ns"
