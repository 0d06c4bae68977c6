"""Find races between tasks in compiled functions: two unordered accesses to one buffer.

A schedule runs one access after the other, and both orders may have the same outcome. Two threads,
however, may make the accesses at the same time. Only definite races are reported: accesses to the
same buffer at the same indices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

from tfrt_nb.documents.program import Body, ProgramDocument, body_of, callee_of
from tfrt_nb.documents.walks import Row
from tfrt_nb.nesting import deep_stack

_TASKS = ("async.execute", "async.call")
_VIEWS = ("memref.cast", "memref.subview")
_VALUE_FIRST = ("memref.store", "memref.atomic_rmw")
MAX_ACCESSES = 1_000
"""The maximum number of accesses in a function that are compared with each other."""
_ALL = None
"""The indices of an access to a whole buffer."""


@dataclass(frozen=True, slots=True)
class Access:
    """An operation that reads or writes a buffer, at indices (as strings) or as a whole."""

    operation: int
    buffer: int
    indices: tuple[str, ...] | None
    writes: bool
    is_atomic: bool = False


def memory_races(document: ProgramDocument, function: str) -> list[tuple[int, int]]:
    """Return the pairs of racing operations in a function and its callees, in source order."""
    with deep_stack():
        return _Races(document.data).of(function)


class _Races:
    def __init__(self, data: dict[str, list[Row]]) -> None:
        self._functions = {row["name"]: row for row in data["functions"]}
        self._rows, self._values = data["operations"], data["values"]
        self._known: dict[int, list[Access]] = {}
        self._bodies: dict[Body, list[int]] = {}
        for row in self._rows:
            self._bodies.setdefault(body_of(row), []).append(row["id"])

    def of(self, function: str) -> list[tuple[int, int]]:
        found: dict[tuple[int, int], None] = {}
        names, waiting = {function}, [function]
        while waiting:
            row = self._functions.get(waiting.pop())
            if row is None or row["kind"] not in ("func", "async"):
                continue
            accesses = self._accesses(row["id"])
            for one, other in combinations(accesses[:MAX_ACCESSES], 2):
                if one.operation != other.operation and _clash(one, other):
                    first, second = sorted((one.operation, other.operation))
                    if not self._is_ordered(first, second):
                        found[first, second] = None
            called = {callee_of(each) for each in self._rows if each["function"] == row["id"]}
            waiting += sorted(called - names - {""})
            names |= called
        return list(found)

    # Accesses

    def _accesses(self, function: int) -> list[Access]:
        if function not in self._known:
            self._known[function] = []  # a recursive call to the function contributes nothing
            rows = (row for row in self._rows if row["function"] == function)
            self._known[function] = list(dict.fromkeys(chain.from_iterable(map(self._of, rows))))
        return self._known[function]

    def _of(self, row: Row) -> Iterable[Access]:
        if callee := callee_of(row):
            return self._of_call(row, callee)
        found = self._access(row)
        return () if found is None else (found,)

    def _access(self, row: Row) -> Access | None:
        kernel, operands = row["kernel"], list(row["operands"])
        if kernel in _VALUE_FIRST:
            operands = operands[1:]
        if kernel in (*_VALUE_FIRST, "memref.load") and operands:
            base, indices = self._base(operands[0]), tuple(map(self._word, operands[1:]))
            if base != operands[0]:  # in another view, the same indices refer to other elements
                return None
            is_atomic = kernel == "memref.atomic_rmw"
            return Access(row["id"], base, indices, kernel != "memref.load", is_atomic)
        if kernel in ("memref.dealloc", "linalg.fill") and operands:
            return Access(row["id"], self._base(operands[-1]), _ALL, True)
        return None

    def _of_call(self, row: Row, name: str) -> Iterator[Access]:
        """Yield a callee's accesses to the buffers passed to it, as accesses by the call itself."""
        callee = self._functions.get(name)
        if callee is None:
            return
        given = dict(zip(callee["arguments"], row["operands"], strict=False))
        for one in self._accesses(callee["id"]):
            if one.buffer in given:
                buffer = self._base(given[one.buffer])
                yield Access(row["id"], buffer, one.indices, one.writes, one.is_atomic)

    def _base(self, value: int) -> int:
        """Return the buffer that a value is a view of, or the value itself."""
        while (maker := self._values[value]["op"]) is not None and self._rows[maker][
            "kernel"
        ] in _VIEWS:
            value = self._rows[maker]["operands"][0]
        return value

    def _word(self, value: int) -> str:
        """Return a string that is equal for equal indices."""
        maker = self._values[value]["op"]
        if maker is not None and self._rows[maker]["kernel"].endswith("constant"):
            return str(self._rows[maker]["text"]).partition("=")[2].strip()
        return f"value {value}"

    # Order

    def _is_ordered(self, first: int, second: int) -> bool:
        """Return whether the earlier of two operations must finish before the other starts.

        Also return True if the two operations never both run.
        """
        around = [second, *self._around(second)]
        ends = {body_of(self._rows[number]): number for number in around}
        tokens: set[int] | None = (
            None  # the objects that become available when the first operation's task finishes
        )
        for number in (first, *self._around(first)):
            row = self._rows[number]
            end = ends.get(body_of(row))
            if row["kernel"] in _TASKS and tokens is None:
                tokens = set(row["results"])
            if tokens is None:  # it runs without interruption, as part of the body around it
                if end is not None:
                    return True
                continue
            if end == number or self._is_awaited(number, end, tokens):
                if end is not None:
                    return True
                # The task has finished here, so it counts as part of the body around it.
                tokens = None
            elif end is not None:
                return False
            else:
                tokens = self._left(row, tokens)
        return True  # the operations are in different functions

    def _around(self, number: int) -> Iterator[int]:
        while (parent := self._rows[number]["parent"]) is not None:
            yield (number := parent)

    def _is_awaited(self, start: int, end: int | None, tokens: set[int]) -> bool:
        """Return whether the body waits for one of the tokens between `start` and `end`, inclusive.

        The method adds to `tokens` the tokens that depend on them.
        """
        body = self._bodies[body_of(self._rows[start])]
        if any(self._rows[number]["kernel"].startswith("cf.") for number in body):
            return True  # in this case, no race is definite
        for number in body[body.index(start) + 1 :]:
            if end is not None and number > end:
                return False
            row = self._rows[number]
            if not tokens & set(self._used(row)):
                continue
            if number == end or row["kernel"] not in ("async.execute", "async.add_to_group"):
                return True
            is_group = row["kernel"] == "async.add_to_group"
            tokens |= set(row["operands"] if is_group else row["results"])
        return False

    def _used(self, row: Row) -> Iterable[int]:
        """Yield the values that an operation uses, including those that its regions use."""
        yield from row["operands"]
        for region, _ in enumerate(row["regions"]):
            for number in self._bodies.get((row["function"], row["id"], region), ()):
                yield from self._used(self._rows[number])

    def _left(self, row: Row, tokens: set[int]) -> set[int]:
        """Return the tokens of a task that code outside its body can still await after the body."""
        parent = row["parent"]
        if parent is None:
            return tokens
        given: Sequence[int] = self._rows[parent]["regions"][row["region"]]["results"]
        # The first result of a task is its token. The values that its body yields follow.
        results = self._rows[parent]["results"][-len(given) :] if given else []
        makers = {value: self._values[value]["op"] for value in tokens}
        outside = {
            v for v, op in makers.items() if op is None or body_of(self._rows[op]) != body_of(row)
        }
        return outside | {r for r, v in zip(results, given, strict=False) if v in tokens}


def _clash(one: Access, other: Access) -> bool:
    if one.buffer != other.buffer or not (one.writes or other.writes):
        return False
    is_same = one.indices is _ALL or other.indices is _ALL or one.indices == other.indices
    return is_same and not (one.is_atomic and other.is_atomic)
