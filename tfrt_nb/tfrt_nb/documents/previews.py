"""Values as short texts that may stand anywhere: cut, escaped, and never waited for long.

Of a payload that is one word of a run's log, the text is the one that Python has for the number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.texts import MAX_SECONDS, SlowTextError, bounded

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

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
    return text_of(payload)


def text_of(payload: object, to_text: Callable[[object], str] = str) -> str:
    """The text of any object; of one whose text takes long, or cannot be made, what it is and why."""
    try:
        # Python refuses the text of an integer of thousands of digits; the class of a number may be a user's.
        if type(payload) in (int, float):
            return clean(to_text(payload))
        return bounded(lambda: clean(to_text(payload)))
    except SlowTextError:
        reason = f"its text takes more than {MAX_SECONDS} s"
    except BaseException as problem:  # noqa: BLE001 - a user's object may do what it likes
        reason = f"{type(problem).__name__} in its text"
    return clean(f"<{type(payload).__name__}: {reason}>")


def label(name: str) -> str:
    """A name, a type or a line as a board shows it: without its middle where it is long, in characters that one sees."""
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


_VIEWS = {
    "i1": "",
    "i8": "<i1",
    "i16": "<i2",
    "i32": "<i4",
    "i64": "<i8",
    "index": "<i8",
    "ui8": "<u1",
    "ui16": "<u2",
    "ui32": "<u4",
    "ui64": "<u8",
    "f16": "<u2",
    "bf16": "<u2",
    "f32": "<f4",
    "f64": "<f8",
}
"""How to read the first bytes of a payload that is one word, by the type of the value; of `i1` the lowest bit."""
_NUMBERS = {name: number for number, name in enumerate(_VIEWS)}


def view_of(type_: str) -> int:
    """The number of the way in which payloads of a type are read, -1 for those that are not one word."""
    return _NUMBERS.get(type_, -1)


def texts(view: int, words: npt.NDArray[np.int64]) -> list[str]:
    """Payload words that are read in this way."""
    if view == _NUMBERS["i1"]:
        return ["true" if word & 1 else "false" for word in words.tolist()]
    numbers = words.view([*_VIEWS.values()][view]).reshape(len(words), -1)[:, 0]
    return [str(number) for number in numbers.tolist()]


def payload_text(type_: str, word: int) -> str | None:
    """One payload word of a type, or of an async value of that type; None for what is not one word."""
    import numpy as np  # not every text of a value needs it

    held = type_.removeprefix("!async.value<").removesuffix(">") if "<" in type_ else type_
    view = view_of(held)
    return None if view < 0 else texts(view, np.array([word], np.int64))[0]
