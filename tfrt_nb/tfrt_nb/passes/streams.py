"""Which kernels run together: every kernel gets a stream, and a stream is one task.

Problem: a task per independent kernel costs more than most kernels; one task for all of them uses
one worker.  So kernels are put into few streams, none of them cheaper than a threshold unless the
whole function is.

    %a = k0()                       stream 0
    %b = k1(%a); %c = k2(%b)        stream 0: the costliest path goes on where it comes from
    %d = k3(%a); %e = k4(%d)        stream 0 if k3 and k4 together are cheap, else stream 1
    tfrt.return %c, %e              stream 0

Two passes over a function.  Forward: each operation's parent becomes the definer of that operand
that is ready last, by cost from the start; operations without operands hang on the root.  Backward:
an operation without children opens a stream; any other joins the stream of one of its children that
is not too costly, after the cheap ones among its children's streams have been merged.

Invariants: a stream is a tree of parent edges plus merged siblings, so it needs to wait for others
only where it has further operands; the stream of the function's return goes up to the root as far
as it can.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation

COST_ATTRIBUTE = "_tfrt_cost"
_CHEAP_OPERATIONS = frozenset({"tfrt.return", "tfrt.merge.chains"})


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """`cost_threshold` is what a task is worth; 0 is the cost of the function's longest path.

    With `merge_inter_dependent_streams`, cheap streams that wait for values of each other are
    merged first.  With `prefers_return`, an operation joins the stream of the return when it can,
    else the costliest one; none that costs `upper_cost_threshold` or more, if that is not negative.
    The reference of 2022 has StreamOptions(1, prefers_return=False).
    """

    cost_threshold: int = 0
    merge_inter_dependent_streams: bool = False
    prefers_return: bool = True
    upper_cost_threshold: int = -1

    @property
    def default_cost(self) -> int:
        """What an operation costs that does not say."""
        return max(self.cost_threshold, 1)


AUTOMATIC = StreamOptions()


def stream_options(op: Operation, default: StreamOptions) -> StreamOptions:
    """`default` as the attributes of `op` and of what it is in change it, the innermost
    deciding.
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
    for scope in scopes:
        value: Attribute | None = scope.attributes.get(name)
        if isinstance(value, IntegerAttr):
            return value.value.data
    return default


def operation_costs(ops: Iterable[Operation], options: StreamOptions) -> list[int]:
    """The cost that each operation says it has, or what one like it is taken to have."""
    default = options.default_cost
    return [
        _cost(op, default) if op.attributes or op.name in _CHEAP_OPERATIONS else default
        for op in ops
    ]


def _cost(op: Operation, default: int) -> int:
    cost = op.attributes.get(COST_ATTRIBUTE)
    if isinstance(cost, IntegerAttr):
        return cost.value.data
    return 1 if op.name in _CHEAP_OPERATIONS else default


def assign_streams(
    definers: Sequence[Sequence[int]],
    costs: Sequence[int],
    options: StreamOptions,
    data_definers: Sequence[Sequence[int]] | None = None,
) -> list[int]:
    """The stream of each operation of a function.

    Operation 0 is the root, the last one the return.  `definers` has, for each, the operations that
    define its operands, all of them earlier; 0 stands for the function's arguments.
    `data_definers` are those of operands that are no chains, if not all:
    `merge_inter_dependent_streams` looks at them only.
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
    for operation in reversed(range(len(costs))):
        following = children[operation]
        if len(following) == 1 and is_unlimited:  # the bulk of a program
            assigned[operation] = streams.extend(assigned[following[0]], costs[operation])
        elif not following:
            assigned[operation] = streams.open(costs[operation])
        else:
            candidates = streams.distinct(assigned[child] for child in following)
            # The longest path is compared with whole paths, from the root on.
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
    """What each operation waits for last, as `assign_streams` sees it; 0 for what waits for
    nothing.
    """
    return _forward(definers, costs)[0]


def _forward(
    definers: Sequence[Sequence[int]], costs: Sequence[int]
) -> tuple[list[int], list[int]]:
    """The parent of each operation, and the cost of the costliest path from the root up to it."""
    parents, costs_from_root = [0], [costs[0]]
    for operation in range(1, len(costs)):
        known = definers[operation]
        if len(known) == 2:  # `max` would do, at five times the price
            definer, other = known
            if costs_from_root[other] > costs_from_root[definer]:
                definer = other
        elif known:
            definer = max(known, key=costs_from_root.__getitem__)
        else:
            definer = 0
        # What has no operands does not wait for the root, which stands for the arguments.
        way = costs_from_root[definer] if known else 0
        parents.append(definer)
        costs_from_root.append(way + costs[operation])
    return parents, costs_from_root


class _Streams:
    """Streams and their costs."""

    def __init__(self, prefers_return: bool, upper_threshold: int) -> None:
        self._prefers_return = prefers_return
        self._upper_threshold = upper_threshold
        self._merged_into: list[int] = []
        self._costs: list[int] = []

    def find(self, stream: int) -> int:
        """What `stream` is part of by now."""
        merged_into = self._merged_into
        while merged_into[stream] != stream:
            merged_into[stream] = stream = merged_into[merged_into[stream]]
        return stream

    def all(self) -> list[int]:
        """What each stream is part of by now."""
        return [self.find(stream) for stream in range(len(self._costs))]

    def distinct(self, streams: Iterable[int]) -> list[int]:
        """The streams that `streams` are part of, once each, in order."""
        return list(dict.fromkeys(map(self.find, streams)))

    def cost(self, stream: int) -> int:
        """What the operations of a stream cost together."""
        return self._costs[stream]

    def merge(self, kept: int, gone: int) -> None:
        """Make one stream of two different ones, which goes by the number of the first."""
        self._merged_into[gone] = kept
        self._costs[kept] += self._costs[gone]

    def open(self, cost: int) -> int:
        """A new stream, for an operation without children."""
        self._merged_into.append(len(self._costs))
        self._costs.append(cost)
        return len(self._costs) - 1

    def extend(self, stream: int, cost: int) -> int:
        """The stream for an operation whose only child is in `stream`."""
        found = self._merged_into[stream]
        if self._merged_into[found] != found:
            found = self.find(found)
        self._costs[found] += cost
        return found

    def join(self, candidates: Sequence[int], cost: int, threshold: int) -> int:
        """The stream for an operation whose children are in `candidates`, one or more.

        Candidates that cost less than `threshold` are merged until they do not, each with the last
        one before it.  One that is left over is merged into the stream that is joined.
        """
        costs = self._costs
        joinable: list[int] = []
        cheap: int | None = None
        for stream in candidates:
            if costs[stream] < threshold:
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
        """The stream of the return, which is opened first, or the first of the costliest."""
        if self._prefers_return and (found := self.find(0)) in streams:
            return found
        return max(streams, key=self._costs.__getitem__, default=None)


class _Links:
    """Which streams wait for which others: values used by operations whose parent is another
    one.
    """

    def __init__(self, definers: Sequence[Sequence[int]], parents: Sequence[int]) -> None:
        self._users: dict[int, list[int]] = {}
        self._known: list[tuple[int, int]] = []
        for user, parent in enumerate(parents):
            for definer in definers[user]:
                if definer not in (parent, 0):
                    self._users.setdefault(definer, []).append(user)

    def add(self, operation: int, assigned: Sequence[int]) -> None:
        """Take note of the stream that `operation` has been assigned to; its users are done."""
        for user in self._users.get(operation, ()):
            self._known.append((assigned[user], assigned[operation]))

    def merge(self, streams: _Streams, candidates: list[int], threshold: int) -> list[int]:
        """Merge candidates of which one waits for another that is cheap, until they are worth a
        task.

        Returns:
            the candidates that are left.
        """
        if len(candidates) < 2:
            return candidates
        linked: dict[int, list[int]] = {stream: [] for stream in candidates}
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
