"""Assign kernels to streams; the kernels of one stream run as one task.

A task for each independent kernel would cost more than most kernels do, and a single task for all
kernels would use only one worker. Therefore, the kernels are grouped into a few streams. A stream
costs at least a threshold unless the whole function costs less.

    %a = k0()                       stream 0
    %b = k1(%a); %c = k2(%b)        stream 0: the costliest path stays in its stream
    %d = k3(%a); %e = k4(%d)        stream 0 if k3 and k4 together are cheap, else stream 1
    tfrt.return %c, %e              stream 0

Two passes over a function assign the streams. The forward pass chooses a parent for each operation.
An operation's parent defines the operand that is ready last, if each operation takes as long as its
cost. The root is the parent of an operation without operands. The backward pass opens a stream at
each operation without children. At any other operation, it merges the cheap streams of the
operation's children, and then adds the operation to a child's stream that is not too costly.

Invariants: A stream is a tree of parent edges plus merged siblings. It therefore waits for other
streams only at operations with additional operands. The stream of the function's return extends as
far toward the root as possible.

The algorithm is that of TFRT's `StreamAnalysis` (`lib/compiler/stream_analysis.cc` in
https://github.com/tensorflow/runtime).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Operation

COST_ATTRIBUTE = "_tfrt_cost"
_CHEAP_OPERATIONS = frozenset({"tfrt.return", "tfrt.merge.chains"})


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """Options of the stream assignment.

    - `cost_threshold` is the minimum cost that is worth a task. If it is 0, the cost of the
      function's longest path is used.
    - With `merge_inter_dependent_streams`, cheap streams that wait for each other's values are
      merged first.
    - With `prefers_return`, an operation joins the stream of the return if it can, and otherwise
      the costliest stream.
    - No operation joins a stream that costs `upper_cost_threshold` or more, unless that threshold
      is negative.

    TFRT used StreamOptions(1, prefers_return=False) in 2022.
    """

    cost_threshold: int = 0
    merge_inter_dependent_streams: bool = False
    prefers_return: bool = True
    upper_cost_threshold: int = -1


AUTOMATIC = StreamOptions()


def stream_options(op: Operation, default: StreamOptions) -> StreamOptions:
    """Return `default`, overridden by the attributes of `op` and its ancestors.

    The innermost attribute wins.
    """
    scopes = [op]
    while (parent := scopes[-1].parent_op()) is not None:
        scopes.append(parent)
    threshold = _find(scopes, "tfrt.cost_threshold", default.cost_threshold)
    merge = _find(
        scopes, "tfrt.merge_inter_dependent_streams", default.merge_inter_dependent_streams
    )
    return replace(
        default,
        cost_threshold=max(threshold, 0),
        merge_inter_dependent_streams=bool(merge),
        upper_cost_threshold=_find(
            scopes, "tfrt.upper_cost_threshold", default.upper_cost_threshold
        ),
    )


def _find(scopes: Sequence[Operation], name: str, default: int) -> int:
    return next((n for one in scopes if (n := _number(one, name)) is not None), default)


def _number(op: Operation, name: str) -> int | None:
    """Return an integer attribute of `op`, or None if it is missing or not an integer."""
    if (value := op.attributes.get(name)) is None:
        return None
    # Import this here, because traced programs have neither costs nor IR.
    from xdsl.dialects.builtin import IntegerAttr

    return value.value.data if isinstance(value, IntegerAttr) else None


def operation_costs(ops: Iterable[Operation], options: StreamOptions) -> list[int]:
    """Return the cost of each operation: the cost that the program states, or a default."""
    default = max(options.cost_threshold, 1)
    return [
        _cost(op, default) if op.attributes or op.name in _CHEAP_OPERATIONS else default
        for op in ops
    ]


def _cost(op: Operation, default: int) -> int:
    stated = _number(op, COST_ATTRIBUTE)
    return stated if stated is not None else 1 if op.name in _CHEAP_OPERATIONS else default


def assign_streams(
    definers: Sequence[Sequence[int]],
    costs: Sequence[int],
    options: StreamOptions,
    data_definers: Sequence[Sequence[int]] | None = None,
) -> list[int]:
    """Return the stream of each operation of a function.

    Operation 0 is the root, which represents the function's arguments, and the last operation is
    the return. `definers` has, for each operation, the operations that define its operands, all of
    which are earlier. `data_definers` is the same without chain operands, and defaults to
    `definers`. Only `merge_inter_dependent_streams` uses it.
    """
    parents, costs_from_root = _forward(definers, costs)
    children: list[list[int]] = [[] for _ in costs]
    for operation in range(1, len(costs)):
        children[parents[operation]].append(operation)
    threshold = options.cost_threshold or max(costs_from_root)
    streams = _Streams(options.prefers_return, options.upper_cost_threshold)
    assigned = [0] * len(costs)
    merges = options.merge_inter_dependent_streams
    links = _Links(data_definers or definers, parents) if merges else None
    is_unlimited = options.upper_cost_threshold < 0
    # Operations come after their parents, so all children of this operation already have their
    # streams.
    for operation in reversed(range(len(costs))):
        following = children[operation]
        if len(following) == 1 and is_unlimited:  # the common case
            assigned[operation] = streams.extend(assigned[following[0]], costs[operation])
        elif not following:
            assigned[operation] = streams.open(costs[operation])
        else:
            candidates = list(dict.fromkeys(streams.find(assigned[child]) for child in following))
            # Without a threshold, the cost of a whole path from the root is compared with that of
            # the longest path.
            is_automatic = operation > 0 and not options.cost_threshold
            spent = costs_from_root[operation] if is_automatic else 0
            if links is not None:
                candidates = links.merge(streams, candidates, threshold - spent)
            assigned[operation] = streams.join(candidates, costs[operation], threshold - spent)
        if links is not None:
            links.add(operation, assigned)
    merged = streams.all()
    return [merged[stream] for stream in assigned]


def parents(definers: Sequence[Sequence[int]], costs: Sequence[int]) -> list[int]:
    """Return each operation's parent in the forward pass of `assign_streams`.

    The parent is the operation whose result the operation waits for last, or 0 if it waits for
    nothing.
    """
    return _forward(definers, costs)[0]


def _forward(
    definers: Sequence[Sequence[int]], costs: Sequence[int]
) -> tuple[list[int], list[int]]:
    """Return the parents of all operations, and the cost of the costliest path to each."""
    parents, costs_from_root = [0], [costs[0]]
    for operation in range(1, len(costs)):
        known = definers[operation]
        if len(known) == 2:  # five times as fast as `max`
            definer, other = known
            if costs_from_root[other] > costs_from_root[definer]:
                definer = other
        elif known:
            definer = max(known, key=costs_from_root.__getitem__)
        else:
            definer = 0
        # An operation without operands does not wait for the root.
        way = costs_from_root[definer] if known else 0
        parents.append(definer)
        costs_from_root.append(way + costs[operation])
    return parents, costs_from_root


class _Streams:
    """Streams and their costs, as a union-find structure.

    `find` halves paths (Tarjan & van Leeuwen, "Worst-case Analysis of Set Union Algorithms", J. ACM
    31(2), 1984).
    """

    def __init__(self, prefers_return: bool, upper_threshold: int) -> None:
        self._prefers_return = prefers_return
        self._upper_threshold = upper_threshold
        self._merged_into: list[int] = []
        self._costs: list[int] = []

    def find(self, stream: int) -> int:
        """Return the stream into which `stream` has been merged, or `stream` itself."""
        merged_into = self._merged_into
        while merged_into[stream] != stream:
            merged_into[stream] = stream = merged_into[merged_into[stream]]
        return stream

    def all(self) -> list[int]:
        """Return, for each stream number, the stream into which that stream has been merged."""
        return [self.find(stream) for stream in range(len(self._costs))]

    def cost(self, stream: int) -> int:
        """Return the total cost of a stream's operations."""
        return self._costs[stream]

    def merge(self, kept: int, gone: int) -> None:
        """Merge two different streams. The result keeps the number of the first stream."""
        self._merged_into[gone] = kept
        self._costs[kept] += self._costs[gone]

    def open(self, cost: int) -> int:
        """Open a stream for an operation without children, and return its number."""
        self._merged_into.append(len(self._costs))
        self._costs.append(cost)
        return len(self._costs) - 1

    def extend(self, stream: int, cost: int) -> int:
        """Return the stream for an operation whose only child is in `stream`."""
        # The first step of `find` is inlined, because a single child is the common case.
        found = self._merged_into[stream]
        if self._merged_into[found] != found:
            found = self.find(found)
        self._costs[found] += cost
        return found

    def join(self, candidates: Sequence[int], cost: int, threshold: int) -> int:
        """Return the stream for an operation whose children are in the streams `candidates`.

        There is at least one candidate. Candidates that cost less than `threshold` are merged one
        by one, until the merged stream costs that much. The next cheap candidate then starts
        another group. If a cheap candidate is left over, it is merged into the stream that the
        operation joins.
        """
        costs = self._costs
        joinable: list[int] = []
        cheap: int | None = None
        for stream in candidates:
            if costs[stream] < threshold:
                # A group that has reached the threshold is complete, so the next cheap stream
                # starts another.
                if cheap is None or costs[cheap] >= threshold:
                    cheap = stream
                else:
                    self.merge(cheap, stream)
                stream = cheap
            if self._upper_threshold < 0 or costs[stream] < self._upper_threshold:
                joinable.append(stream)
        worthwhile = [stream for stream in joinable if costs[stream] >= threshold]
        chosen = self._choose(worthwhile or joinable)
        if chosen is None:
            return self.open(cost)
        if cheap is not None and cheap != chosen and costs[cheap] < threshold:
            self.merge(chosen, cheap)
        costs[chosen] += cost
        return chosen

    def _choose(self, streams: Sequence[int]) -> int | None:
        """Return the return's stream if it is in `streams`, and otherwise the costliest stream.

        If several streams are equally costly, return the first one.

        The stream of the return has the number 0, because it is opened first.
        """
        if self._prefers_return and (found := self.find(0)) in streams:
            return found
        return max(streams, key=self._costs.__getitem__, default=None)


class _Links:
    """Records which streams wait for which other streams.

    A stream waits for another one if an operation uses a value of the other stream and has a
    different parent.
    """

    def __init__(self, definers: Sequence[Sequence[int]], parents: Sequence[int]) -> None:
        self._users: dict[int, list[int]] = {}
        self._known: list[tuple[int, int]] = []
        for user, parent in enumerate(parents):
            for definer in definers[user]:
                if definer not in (parent, 0):
                    self._users.setdefault(definer, []).append(user)

    def add(self, operation: int, assigned: Sequence[int]) -> None:
        """Record which streams wait for the stream of `operation`, because they use its value.

        The operations that use the value must already have been assigned to streams.
        """
        for user in self._users.get(operation, ()):
            self._known.append((assigned[user], assigned[operation]))

    def merge(self, streams: _Streams, candidates: list[int], threshold: int) -> list[int]:
        """Merge cheap candidates into linked candidates until these are worth a task.

        Returns:
            the remaining candidates.
        """
        if len(candidates) < 2:
            return candidates
        linked: dict[int, list[int]] = {stream: [] for stream in candidates}
        # A pair within one stream can never link two candidates again.
        self._known = [
            pair for pair in self._known if streams.find(pair[0]) != streams.find(pair[1])
        ]
        for first, second in self._known:
            first, second = streams.find(first), streams.find(second)
            if first in linked and second in linked:
                linked[first].append(second)
                linked[second].append(first)
        gone: set[int] = set()
        for stream in candidates:
            if stream in gone:
                continue
            for other in dict.fromkeys(map(streams.find, linked[stream])):
                if other != stream and streams.cost(other) < threshold:
                    streams.merge(stream, other)
                    gone.add(other)
                    if streams.cost(stream) >= threshold:
                        break
        return [stream for stream in candidates if stream not in gone]
