"""Payloads that are one word, as Python writes them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_VIEWS: dict[str, str] = {
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
"""How to read the first bytes of a payload, by the type of the value."""
_BOOL = len(_VIEWS)
_NAMES = list(_VIEWS)


def view_of(type_: str) -> int:
    """The number of the way in which payloads of a type are read, -1 for those that are not one word."""
    if type_ == "i1":
        return _BOOL
    return _NAMES.index(type_) if type_ in _VIEWS else -1


def texts(view: int, words: npt.NDArray[np.int64]) -> list[str]:
    """Payload words that are read in this way."""
    if view == _BOOL:
        return ["true" if word & 1 else "false" for word in words.tolist()]
    dtype = np.dtype(_VIEWS[_NAMES[view]])
    numbers = words.view(dtype).reshape(len(words), -1)[:, 0]
    return [str(number) for number in numbers.tolist()]


def payload_text(type_: str, word: int) -> str | None:
    """One payload word of a type, or of an async value of that type; None for what is not one word."""
    held = type_.removeprefix("!async.value<").removesuffix(">") if "<" in type_ else type_
    view = view_of(held)
    return None if view < 0 else texts(view, np.array([word], np.int64))[0]
