"""Format program text and durations for boards, messages, and terminals.

Program text is shortened to one line, and invisible characters are escaped. The module is separate
from `previews`, which needs the runtime, because every magic uses this module and `%load_ext` must
not load the runtime.
"""

import re

MAX_CHARACTERS = 400
MAX_LABEL, LABEL_END = 200, 40

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def label(name: str) -> str:
    """Shorten a name, type, or line in the middle for a board, and escape invisible characters."""
    if len(name) <= MAX_LABEL and name.isprintable():
        return name
    end = name[-LABEL_END:]
    return clean(name if len(name) <= MAX_LABEL else f"{name[: MAX_LABEL - LABEL_END - 1]}…{end}")


def first_line(text: str) -> str:
    """Return the first line of an operation's text, formatted by `label`."""
    if len(text) <= MAX_LABEL and text.isprintable():
        return text
    return label(text[: 4 * MAX_LABEL].partition("\n")[0].rstrip())


def visible(text: str) -> str:
    """Escape invisible characters in `text`, except line ends and tabs."""
    return _UNSEEN.sub(
        lambda match: match[0] if match[0] in "\n\t" else f"\\u{ord(match[0]):04x}", text
    )


def clean(text: str) -> str:
    """Shorten `text` to one line, with invisible characters escaped."""
    # Cut before the slow steps, because the text may be huge.
    cut = text[: 4 * MAX_CHARACTERS]
    line = " ".join(cut.split()) if "\n" in cut else cut
    line = visible(line).replace("\t", "\\u0009")
    is_whole = len(line) <= MAX_CHARACTERS and len(cut) == len(text)
    return line if is_whole else f"{line[: MAX_CHARACTERS - 1]}…"


def duration(nanoseconds: int) -> str:
    """Format a duration with three digits, such as `850 ns`, `12.3 µs`, `1.23 ms`, or `45.0 s`."""
    for unit, size in (("s", 10**9), ("ms", 10**6), ("µs", 10**3)):
        if nanoseconds >= size:
            value = nanoseconds / size
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"
    return f"{nanoseconds} ns"
