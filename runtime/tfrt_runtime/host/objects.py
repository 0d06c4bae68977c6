"""Python objects that native values hold, by number."""

from __future__ import annotations

import itertools


class ObjectTable:
    """Handles to Python objects.  Each handle has one owner, which releases it once.

    Safe from any thread that holds the GIL: each step is one dictionary operation.
    """

    def __init__(self) -> None:
        self._objects: dict[int, object] = {}
        self._numbers = itertools.count(1)

    def add(self, item: object) -> int:
        """A new handle to `item`."""
        handle = next(self._numbers)
        self._objects[handle] = item
        return handle

    def get(self, handle: int) -> object:
        """The object behind a handle."""
        return self._objects[handle]

    def release(self, handle: int) -> object:
        """Forget a handle; returns its object, so that it dies after the table is consistent."""
        return self._objects.pop(handle)

    def __len__(self) -> int:
        return len(self._objects)
