"""What a program printed, bounded."""

from __future__ import annotations

import threading

LIMIT = 200_000


class Log:
    """The first `LIMIT` characters that were printed, and how many came after them.

    It only ever grows, so that a board needs the new part alone.  Any thread may write and read.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self._lock = threading.Lock()
        self._pieces: list[str] = []
        self._room = limit
        self._dropped = 0

    def write(self, text: str) -> None:
        with self._lock:
            kept = text[: self._room]
            self._pieces.append(kept)
            self._room -= len(kept)
            self._dropped += len(text) - len(kept)

    def read(self) -> tuple[str, int]:
        """The text so far, and the number of characters that were left out."""
        with self._lock:
            self._pieces = ["".join(self._pieces)]
            return self._pieces[0], self._dropped
