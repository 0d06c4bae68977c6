"""Values as short texts that may stand anywhere: cut, escaped, and never waited for long.

Of a payload that is one word of a run's log, the text is the one that Python has for the number.
"""

from __future__ import annotations

import re
import struct
from functools import lru_cache

from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.texts import MAX_SECONDS, SlowTextError, bounded

MAX_CHARACTERS = 400
MAX_LABEL, LABEL_END = 200, 40

_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def preview_of(value: AsyncValue) -> str:
    """What a reader wants to see of a resolved value; of an error its message."""
    problem = value.exception(0)
    if problem is not None:
        return clean(problem.diagnostics[0].message)
    payload = value.payload()
    if payload is CHAIN:
        return "chain"
    if isinstance(payload, bool):
        return "true" if payload else "false"
    try:
        # Python refuses the text of an integer of thousands of digits; the class of a number may be
        # a user's.
        if type(payload) in (int, float):
            return clean(str(payload))
        return bounded(lambda: clean(str(payload)))
    except SlowTextError:
        reason = f"its text takes more than {MAX_SECONDS} s"
    except BaseException as problem:  # noqa: BLE001 - a user's object may do what it likes
        reason = f"{type(problem).__name__} in its text"
    return clean(f"<{type(payload).__name__}: {reason}>")


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


_FORMATS = {
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "q",
    "index": "q",
    "ui8": "B",
    "ui16": "H",
    "ui32": "I",
    "ui64": "Q",
    "f16": "H",
    "bf16": "H",
    "f32": "f",
    "f64": "d",
}
"""How to read the first bytes of a payload that is one word, by the type of the value; of `i1`
the lowest bit.
"""
_WORD = struct.Struct("<q")


@lru_cache(4096)
def word_text(type_: str, word: int) -> str | None:
    """One payload word of a type; None for what is not one word."""
    if type_ == "i1":
        return "true" if word & 1 else "false"
    format_ = _FORMATS.get(type_)
    if format_ is None:
        return None
    (number,) = struct.unpack_from(f"<{format_}", _WORD.pack(word))
    return str(number)


def payload_text(type_: str, word: int) -> str | None:
    """The same of a type, or of an async value of that type."""
    held = type_.removeprefix("!async.value<").removesuffix(">") if "<" in type_ else type_
    return word_text(held, word)
