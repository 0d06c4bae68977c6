"""Show values as short strings.

A preview is shortened, escaped, and quick to create. If a payload is one word in a run's log, its
preview is the number as Python prints it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from tfrt_nb.documents.escapes import clean
from tfrt_runtime.host.payload import CHAIN
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.texts import MAX_SECONDS, SlowTextError, bounded


def preview_of(value: AsyncValue) -> str:
    """Return the text of a resolved value, or the message if the value is an error."""
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
    """Return the text of any object.

    If creating the text fails or takes too long, return the object's class and the reason.
    """
    try:
        # Python refuses to format integers with thousands of digits. A subclass of a number class
        # may run user code, so only exact types are handled here.
        if type(payload) in (int, float):
            return clean(to_text(payload))
        return bounded(lambda: clean(to_text(payload)))
    except SlowTextError:
        reason = f"creating its text takes more than {MAX_SECONDS} s"
    except BaseException as problem:  # noqa: BLE001 - a user's object may raise anything
        reason = f"{type(problem).__name__} in its text"
    return clean(f"<{type(payload).__name__}: {reason}>")


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
    "f16": "e",
    "bf16": "f",
    "f32": "f",
    "f64": "d",
}
"""Struct formats for the first bytes of one-word payloads, by type.

For `i1`, only the lowest bit counts.
"""
_WORD = struct.Struct("<q")


def word_text(type_: str, word: int) -> str | None:
    """Return the text of a one-word payload of a type, or None for other types."""
    if type_ == "i1":
        return "true" if word & 1 else "false"
    if (format_ := _FORMATS.get(type_)) is None:
        return None
    # The bits of a bf16 are the upper half of an f32's.
    word = word << 16 & 0xFFFF0000 if type_ == "bf16" else word
    (number,) = struct.unpack_from(f"<{format_}", _WORD.pack(word))
    return str(number)


def payload_text(type_: str, word: int) -> str | None:
    """Return the text of a one-word payload, as `word_text` does.

    If `type_` is an async value type, its payload type is used.
    """
    held = type_.removeprefix("!async.value<").removesuffix(">") if "<" in type_ else type_
    return word_text(held, word)
