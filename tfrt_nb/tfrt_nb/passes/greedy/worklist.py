"""Which operations to look at, the last that was pushed first."""

from __future__ import annotations

from xdsl.ir import Operation


class Worklist:
    """A stack without duplicates; pushing what is there already leaves it where it is."""

    def __init__(self) -> None:
        self._stack: list[Operation | None] = []
        self._places: dict[Operation, int] = {}

    def push(self, op: Operation) -> None:
        if op not in self._places:
            self._places[op] = len(self._stack)
            self._stack.append(op)

    def remove(self, op: Operation) -> None:
        place = self._places.pop(op, None)
        if place is not None:
            self._stack[place] = None

    def pop(self) -> Operation | None:
        """The operation to look at next; None when there are none left."""
        while self._stack:
            op = self._stack.pop()
            if op is not None:
                del self._places[op]
                return op
        return None

    def reverse(self) -> None:
        """Pop what was pushed first, first."""
        self._stack = [op for op in reversed(self._stack) if op is not None]
        self._places = {op: place for place, op in enumerate(self._stack) if op is not None}
