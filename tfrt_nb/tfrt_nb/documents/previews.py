"""Values as short texts that may stand anywhere: cut, escaped, and never waited for long."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.values.async_value import AsyncValue

MAX_CHARACTERS = 400
MAX_SECONDS = 0.25

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
    if isinstance(payload, int | float):
        return str(payload)
    return bounded(lambda: str(payload), type(payload).__name__)


def bounded(make: Callable[[], str], name: str) -> str:
    """The text that `make` makes, or why there is none: it raised, or took too long.

    `name` says what it is the text of.  The thread that takes too long is left to itself.
    """
    made: list[str] = []

    def run() -> None:
        try:
            made.append(clean(make()))
        except BaseException as problem:  # noqa: BLE001
            # A user's object may do what it likes.
            made.append(clean(f"<{name}: {type(problem).__name__} in its text>"))

    thread = threading.Thread(target=run, name=f"text of {name}", daemon=True)
    thread.start()
    thread.join(MAX_SECONDS)
    return made[0] if made else f"<{name}: its text takes more than {MAX_SECONDS} s>"


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
