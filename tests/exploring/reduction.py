"""Search depth-first with dynamic partial-order reduction: one run for each behavior.

Swapping two neighboring independent operations changes nothing, so all runs that differ only in
such swaps are one behavior. The search runs one of them to its end, and searches it for races: two
operations of different threads that conflict and that no chain of conflicts orders. Only for a race
does it return to try the other order (source sets: Abdulla, Aronsson, Jonsson, Sagonas, POPL 2014).
Sleep sets keep it from states after which everything has been seen.

Loads are special if they may return outdated values. A load of a given message is independent of
every write except the one that it reads: "write, then load the old value" equals "load, then
write". So a load that has been tried with some messages sleeps only for these. A write after a load
requests the other order, but a load after a write does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from tests.simulator.footprints import Access, Way, conflict, footprint
from tests.simulator.threads import Thread, join

Labels = frozenset[int]
EventsOf = Callable[["_Place", Access], list["_Event"]]


class Redundant(BaseException):
    """Stops a run because everything that can follow has been seen in another run."""


@dataclass(slots=True)
class _Event:
    """A step of a run, taken at node number `node`.

    `number` counts the steps of its thread. `clock` counts, for each thread, the steps that precede
    this one in every run of the same behavior, including itself.
    """

    node: int
    thread: int
    number: int
    clock: list[int]

    def is_before(self, clock: Sequence[int]) -> bool:
        return self.number <= clock[self.thread]


@dataclass(slots=True)
class _Place:
    """The history of one place.

    It consists of all writes by version, the reads of the newest value since the last write, and
    each thread's last load.
    """

    writes: dict[int, _Event] = field(default_factory=dict)
    newest: _Event | None = None
    reads: list[_Event] = field(default_factory=list)
    loads: dict[int, _Event] = field(default_factory=dict)

    def sources(self, access: Access) -> list[_Event]:
        """Return the events that make the access possible, and so must precede it."""
        if access.way > Way.OBSERVE or access.version not in self.writes:
            return []
        return [self.writes[access.version]]

    def conflicts(self, access: Access) -> list[_Event]:
        """Return the events that precede the access, but could have followed it."""
        if access.way < Way.READ:
            return []
        found = [] if self.newest is None else [self.newest]
        return found + self.reads if access.way is Way.WRITE else found

    def chances(self, access: Access) -> list[_Event]:
        """Return the loads that could have returned one more value if the access had come first."""
        return list(self.loads.values()) if access.way is Way.WRITE else []

    def record(self, access: Access, event: _Event) -> None:
        if access.way is Way.WRITE:
            self.writes[access.version] = self.newest = event
            self.reads = []
        elif access.way is Way.READ:
            self.reads.append(event)
        elif access.way is Way.OBSERVE:
            self.loads[event.thread] = event


@dataclass(slots=True)
class _Node:
    """A point at which a thread was chosen.

    `enabled` has the possible operation of each thread. `sleep` has the threads that need not be
    tried, at all (None) or with these results, and `backtrack` has the threads that must be tried.
    `labels` are the results to try for the operation of `thread`, of which `tried` are done.
    """

    enabled: dict[int, list[tuple[int, Way]]]
    sleep: dict[int, Labels | None]
    asleep: set[int]
    backtrack: set[int] = field(default_factory=set)
    thread: int = -1
    labels: list[int] = field(default_factory=list)
    tried: int = 0

    def choose(self, thread: int) -> None:
        self.backtrack.add(thread)
        self.thread, self.labels, self.tried = thread, [], 0

    def advance(self) -> bool:
        """Move on to the next result or thread to try; return False if there is none."""
        self.tried += 1
        if self.tried < len(self.labels):
            return True
        self._put_to_sleep()
        left = sorted(self.backtrack - self.asleep)
        if left:
            self.choose(left[0])
        return bool(left)

    def untried(self, labels: Sequence[int]) -> list[int]:
        known = self.sleep.get(self.thread) or frozenset()
        return [label for label in labels if label not in known]

    def _put_to_sleep(self) -> None:
        self.asleep.add(self.thread)
        known = self.sleep.get(self.thread, frozenset())
        is_load = any(way is Way.OBSERVE for _, way in self.enabled[self.thread])
        self.sleep[self.thread] = (
            known | set(self.labels) if is_load and known is not None else None
        )


class Reduction:
    """The search, which decides runs as a `Chooser`; `advance` moves on to the next run.

    `load` is the way of loads: OBSERVE if they may return outdated values, otherwise READ.
    """

    def __init__(self, load: Way) -> None:
        self._load = load
        self._nodes: list[_Node] = []
        self._known_events = 0
        self._begin()

    def _begin(self) -> None:
        self._events: list[_Event] = []
        self._places: dict[int, _Place] = {}
        self._clocks: list[list[int]] = []
        self._sleep: dict[int, Labels | None] = {}

    def next_thread(self, options: Sequence[Thread], preempts: bool) -> int:
        """Follow the path to its end, then continue with the first thread that does not sleep."""
        if not self._events:
            width = 1 + max(thread.index for thread in options)
            self._clocks = [[0] * width for _ in range(width)]
        depth = len(self._events)
        if depth == len(self._nodes):
            self._nodes.append(self._new_node(options))
        chosen = self._nodes[depth].thread
        return next(i for i, thread in enumerate(options) if thread.index == chosen)

    def next_value(self, thread: Thread, labels: Sequence[int]) -> int:
        """Follow the path, then take the first result that has not been tried."""
        node = self._nodes[len(self._events)]
        if not node.labels:
            node.labels = node.untried(labels)
        return labels.index(node.labels[node.tried])

    def performed(self, thread: Thread, accesses: Sequence[Access]) -> None:
        """Order the step among those before it; for each race, request the other order."""
        places = [self._places.setdefault(access.place, _Place()) for access in accesses]
        pairs = list(zip(places, accesses, strict=True))
        before = list(self._clocks[thread.index])
        for source in _all(_Place.sources, pairs):
            join(before, source.clock)
        conflicts = list(_all(_Place.conflicts, pairs))
        event = self._add_event(thread.index, before, conflicts)
        if event.node >= self._known_events:
            for other in _races(before, conflicts):
                self._ask_for_reverse(other, event)
            for other in _all(_Place.chances, pairs):
                if not other.is_before(event.clock):
                    self._ask_for_reverse(other, event)
        for place, access in pairs:
            place.record(access, event)
        if event.node + 1 == len(self._nodes):
            self._sleep = _still_asleep(self._nodes[-1], thread.index, accesses)

    def time_passed(self) -> None:
        """Order all later steps after all earlier ones.

        Time passes only when nothing else can happen.
        """
        everything = [max(times) for times in zip(*self._clocks, strict=True)]
        self._clocks = [list(everything) for _ in self._clocks]

    def advance(self) -> bool:
        """Prepare the next run; return False if all behaviors have been seen."""
        self._begin()
        while self._nodes and not self._nodes[-1].advance():
            self._nodes.pop()
        self._known_events = len(self._nodes) - 1
        return bool(self._nodes)

    def _new_node(self, options: Sequence[Thread]) -> _Node:
        enabled = {thread.index: footprint(thread, self._load) for thread in options}
        asleep = {thread.index for thread in options if self._sleeps(thread)}
        node = _Node(enabled, self._sleep, asleep)
        for thread in options:
            if thread.index not in asleep:
                node.choose(thread.index)
                return node
        raise Redundant

    def _sleeps(self, thread: Thread) -> bool:
        """Return whether everything that the thread's next operation can return has been tried."""
        if thread.index not in self._sleep:
            return False
        known = self._sleep[thread.index]
        return known is None or all(version in known for version in thread.readable_versions())

    def _add_event(self, thread: int, before: list[int], conflicts: list[_Event]) -> _Event:
        clock = list(before)
        for other in conflicts:
            join(clock, other.clock)
        clock[thread] += 1
        event = _Event(len(self._events), thread, clock[thread], clock)
        self._events.append(event)
        self._clocks[thread] = clock
        return event

    def _ask_for_reverse(self, other: _Event, event: _Event) -> None:
        """Request a run that, at the node of `other`, takes the steps to `event` without `other`.

        Any of its possible first steps is sufficient; one that sleeps there has been tried already.
        """
        node = self._nodes[other.node]
        between = self._events[other.node + 1 : event.node]
        independent = [step for step in between if not other.is_before(step.clock)]
        first = {thread for thread in _first_threads(independent, event) if thread in node.enabled}
        if first and not first & (node.backtrack | node.asleep):
            node.backtrack.add(event.thread if event.thread in first else min(first))


def _all(events_of: EventsOf, pairs: Sequence[tuple[_Place, Access]]) -> Iterator[_Event]:
    for place, access in pairs:
        yield from events_of(place, access)


def _races(before: list[int], conflicts: list[_Event]) -> Iterator[_Event]:
    """Yield the conflicting events that nothing else orders before the step."""
    for event in conflicts:
        others = (other.clock for other in conflicts if other is not event)
        if not any(event.is_before(clock) for clock in (before, *others)):
            yield event


def _first_threads(steps: list[_Event], last: _Event) -> set[int]:
    """Return the threads that can start a run of these steps, with each step unchanged."""
    found: set[int] = set()
    met: set[int] = set()
    for position, step in enumerate([*steps, last]):
        if step.thread not in met and not any(
            earlier.is_before(step.clock) for earlier in steps[:position]
        ):
            found.add(step.thread)
        met.add(step.thread)
    return found


def _still_asleep(node: _Node, runner: int, accesses: Sequence[Access]) -> dict[int, Labels | None]:
    """Return the sleeping threads that the step leaves asleep: those that it does not affect."""
    return {
        thread: labels
        for thread, labels in node.sleep.items()
        if thread != runner and not _conflicts(node.enabled[thread], accesses)
    }


def _conflicts(pending: list[tuple[int, Way]], accesses: Sequence[Access]) -> bool:
    return any(
        place == access.place and conflict(way, access.way)
        for place, way in pending
        for access in accesses
    )
