"""The event log in Python: watches on runs, and readers of the native core's rings.

A run gets a `Watch` when it starts.  `Watch.take` drains the rings of all threads and returns the
new events of its run; one drain serves all watches, and each event is copied once.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress
from operator import itemgetter

from tfrt_runtime.host import structs
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.structs import Context, Log, Record
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.waiting import COROUTINE
from tfrt_runtime.native import layouts as at
from tfrt_runtime.once import once

KINDS = at.LOG_KINDS
"""The names of the event kinds, by number."""
NO_VALUE = 0xFFFFFFFF
"""The register number of events about a kernel as a whole."""

_WRITTEN = struct.Struct("=QIIIHHq")
"""Time, op, value, instance, the worker above the 6 bits of the kind, the run, the payload."""
_RUN = 22
"""The offset of the run's number, in bytes."""
Logged = tuple[int, int, int, int, int, int, int]
"""An event, in seven fields.

`time` is in nanoseconds of the monotonic clock; `op` is the number, within the program,
of a kernel or of the function that has `value` as a register; `value`; `instance`; `kind`; `worker`
is the number of a thread in its queue; `payload` is a word.
"""

Moments = list[tuple[int, str, str]]
"""The moments of a call on a cluster: the time in nanoseconds of the monotonic clock, the state
(`sent`, `queued`, `running`, `back`, `lost`, `here`), and the address of the worker or ""."""

_MAX_WAITING = 1 << 20
"""Maximum number of events that a watch keeps until its reader takes them."""
_CALIBRATED_NS = 200_000_000


@dataclass(frozen=True, slots=True)
class _Batch:
    """The events of one run that were drained together, in the rings' format."""

    parts: Sequence[bytes]
    ticks: int
    moment: int
    """The time at which the event clock showed that number of ticks."""
    ratio: float
    """Nanoseconds per tick."""

    @property
    def count(self) -> int:
        return sum(map(len, self.parts)) // at.LOG_RECORD

    def __iter__(self) -> Iterator[Logged]:
        written = chain.from_iterable(map(_WRITTEN.iter_unpack, self.parts))
        ticks, moment, ratio = self.ticks, self.moment, self.ratio
        for time_, op, value, instance, what, _, payload in sorted(written, key=itemgetter(0)):
            when = moment + int((time_ - ticks) * ratio)
            yield when, op, value, instance, what & 63, what >> 6, payload


class Events:
    """Events in time order, unpacked while they are read because there may be a million.

    O(1) to create.
    """

    def __init__(self, batches: Sequence[_Batch]) -> None:
        self._batches = batches

    def __len__(self) -> int:
        return sum(batch.count for batch in self._batches)

    def __iter__(self) -> Iterator[Logged]:
        return chain.from_iterable(self._batches)


def no_calls(*, waits: bool = False) -> list[tuple[int, Moments]]:
    """Return no calls: the value of `Watch.remote` for a run without calls on a cluster."""
    return []


class Watch:
    """A request to log the events of one run, and only one.

    The watch also keeps the latest value of each register if it is larger than a word; these values
    live as long as the watch.
    """

    def __init__(self, *, slow: float = 0, needs_cluster: bool = False) -> None:
        """Make a watch for one run.

        `slow` multiplies each kernel's duration: 0 and 1 change nothing, and the maximum is 10^9.
        """
        self.needs_cluster = needs_cluster
        """Whether remote kernels of the run fail without a cluster, as they do in a notebook's
        cell.
        """
        self._readers: list[Reader] = [Reader()]
        self.slow = min(max(1.0, slow), 1e9)
        """The factor by which each kernel is slowed down.

        A kernel with a timer multiplies its time itself.
        """
        self._words = structs.Watch.new(at.WATCH_SIZE)
        self._words.instances = 1
        self._words.slow = round(1000 * self.slow) if slow > 1 else 0
        self._kept: list[ctypes.Array[ctypes.c_int64]] = []
        self._table: ctypes.Array[ctypes.c_int64] | None = None
        self.queue: WorkQueue | None = None
        self._request = 0
        self.number = 0
        self.lost = 0
        """The number of events that were overwritten before they could be read, on any thread."""
        self.log: list[tuple[int, int, str]] = []
        """The run's output: for each piece, the time, the kernel's number (-1 if none), and the
        text.
        """
        self.remote: Callable[..., list[tuple[int, Moments]]] = no_calls
        """Returns the kernel and the moments of each call on a cluster.

        With `waits=True`, it queries the cluster and waits for the answer, on the calling thread.
        """

    @property
    def address(self) -> int:
        """The native core's struct; the watch must live as long as the run."""
        return self._words.address

    def begin(
        self, queue: WorkQueue, run: int, request: int, program: int, registers: Sequence[int]
    ) -> None:
        """Prepare for a run, given its number and struct, its program's number, and the register
        counts of the program's functions.

        Raises:
            ValueError: if the watch was used for another run.
        """
        if self.queue is not None:
            raise ValueError("a Watch can be used for only one run")
        self.queue, self._request = queue, request
        self.number = run & 0xFFFF
        self._words.run = self.number
        self._words.program = program
        words = at.KEPT_SIZE // 8
        self._kept = [(ctypes.c_int64 * (words * max(1, count)))() for count in registers]
        self._table = (ctypes.c_int64 * max(1, len(registers)))(*map(ctypes.addressof, self._kept))
        self._words.values = ctypes.addressof(self._table)
        event_log().add(self)

    def end(self) -> None:
        """Record that the run is over: only events that are already in the rings can
        still arrive.
        """
        event_log().drain()
        event_log().remove(self)

    def take(self) -> Events:
        """Return the events since the last call."""
        return self._readers[0].take()

    @property
    def dropped(self) -> int:
        """How many events `take` does not return because they were overwritten or there were too
        many.
        """
        return self.lost + self._readers[0].dropped

    def reader(self) -> Reader:
        """Add a reader for all events of the run, which must not have started yet."""
        self._readers.append(Reader())
        return self._readers[-1]

    def kept_values(self) -> Iterator[tuple[int, int, AsyncValue]]:
        """Yield the function, register, and value of each value kept since the last call.

        Each value is yielded once.
        """
        assert self.queue is not None
        take = native_process().quick.take_kept
        for function, words in enumerate(self._kept):
            for register in _nonzero(_column(words, at.KEPT_VALUE)):
                address = take(ctypes.addressof(words) + at.KEPT_SIZE * register + at.KEPT_VALUE)
                if address:
                    yield function, register, AsyncValue(self.queue, address)

    def counts(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield, for each register that was set, its function, its number, how often it was set,
        and the last word that it was set to.

        The result is exact even if events were overwritten.
        """
        for function, words in enumerate(self._kept):
            counts, latest = _column(words, at.KEPT_COUNT), _column(words, at.KEPT_WORD)
            for register in _nonzero(counts):
                yield function, register, counts[register], latest[register]

    def note_output(self, text: str) -> None:
        """Record that a kernel of this thread or coroutine, or code outside kernels, has printed
        `text`.
        """
        coroutine = COROUTINE.get()
        number = self.kernel_here if coroutine is None else coroutine.number
        self.log.append((time.monotonic_ns(), number, text))

    @property
    def kernel_here(self) -> int:
        """The number, within the program, of the kernel that this thread is running, or -1 if the
        kernel belongs to another program.
        """
        record = self._record
        handle = Record.at(record).handle if record else -1
        return handle & 0xFFFFFFFF if handle >> 32 == self._words.program else -1

    @property
    def _record(self) -> int:
        """The address of the run's kernel that this thread is running or has just run, or 0."""
        assert self.queue is not None
        context = Context.at(self.queue.context())
        return context.record if context.request == self._request else 0

    def receive(self, batch: _Batch) -> None:
        """Keep events until they are taken."""
        for reader in self._readers:
            reader.receive(batch)

    def __del__(self) -> None:
        if self.queue is not None and not sys.is_finalizing():
            for _ in self.kept_values():
                pass


def _column(kept: ctypes.Array[ctypes.c_int64], field: int) -> list[int]:
    """Return the current value of one field, for all registers of a function."""
    words = memoryview(kept).cast("B").cast("q")
    return words[field // 8 :: at.KEPT_SIZE // 8].tolist()


def _nonzero(column: Sequence[int]) -> Iterator[int]:
    return compress(range(len(column)), column)


class Reader:
    """The events of a run that this reader has not taken yet.

    Only one thread at a time may take them.
    """

    def __init__(self) -> None:
        self._waiting: list[_Batch] = []
        self._count = 0
        self.dropped = 0
        """How many events were not kept because there were too many."""

    def take(self) -> Events:
        """Return the events since the last call."""
        log = event_log()
        # This is done under the lock: otherwise, events that another thread drains in the meantime
        # could be added to the list that was taken.
        with log.lock:
            log.drain()
            waiting, self._waiting, self._count = self._waiting, [], 0
        return Events(waiting)

    def receive(self, batch: _Batch) -> None:
        """Keep events until they are taken; if there are too many, keep the newest."""
        self._waiting.append(batch)
        self._count += batch.count
        while self._count > _MAX_WAITING and len(self._waiting) > 1:
            oldest = self._waiting.pop(0)
            self._count -= oldest.count
            self.dropped += oldest.count


class EventLog:
    """The rings of the process, drained for all watches together, on any thread."""

    def __init__(self) -> None:
        self._process = native_process()
        self._entry = self._process.quick.log_drain
        self._clock = self._process.quick.log_clock
        self._buffer = ctypes.create_string_buffer(at.LOG_CAPACITY * at.LOG_RECORD)
        self.lock = threading.RLock()
        self._watches: dict[int, weakref.ref[Watch]] = {}
        self._lost = 0
        self._origin = self._now()
        self._ratio = 0.0
        self._last = 0

    def add(self, watch: Watch) -> None:
        """Make threads log events, and pass the events of the watch's run to `watch`."""
        with self.lock:
            if not self._watches:
                # Discard events of runs that are no longer watched.
                for ring in self._rings():
                    self._emptied(ring)
                self._lost = sum(ring.lost for ring in self._rings())
            self._watches[watch.number] = weakref.ref(watch)
            self._process.words.watched = len(self._watches)

    def remove(self, watch: Watch) -> None:
        """Stop passing the events of the watch's run to `watch`."""
        with self.lock:
            self._watches.pop(watch.number, None)
            self._process.words.watched = len(self._watches)

    def drain(self) -> None:
        """Distribute all new events in the rings."""
        with self.lock:
            parts: list[tuple[int, bytes]] = []
            lost = 0
            for ring in self._rings():
                if ring.head != ring.tail:
                    end = at.LOG_RECORD * self._emptied(ring)
                    new = memoryview(self._buffer)[at.LOG_RECORD * ring.skip : end]
                    parts.append((ring.queue, new.tobytes()))
                lost += ring.lost
            self._calibrate()
            for number, reference in list(self._watches.items()):
                watch = reference()
                if watch is None:
                    del self._watches[number]
                    continue
                watch.lost += lost - self._lost
                self._give(watch, parts)
            self._lost = lost

    def _give(self, watch: Watch, parts: list[tuple[int, bytes]]) -> None:
        """Pass a watch the events of its run and of the threads of its queue."""
        assert watch.queue is not None
        own = watch.queue.address
        runs = (watch.number,), (watch.number, 0)
        chosen = [found for queue, part in parts if (found := _of_runs(part, runs[queue == own]))]
        if chosen:
            watch.receive(_Batch(chosen, *self._origin, self._ratio))

    def _emptied(self, ring: Log) -> int:
        """Move the new events of a ring into the buffer, and return their number."""
        return self._entry(ring.address, ctypes.addressof(self._buffer), at.LOG_CAPACITY)

    def _rings(self) -> Iterator[Log]:
        address = self._process.words.logs
        while address:
            ring = Log.at(address)
            yield ring
            address = ring.next

    def _now(self) -> tuple[int, int]:
        """Read the event clock and the monotonic clock at the same moment."""
        tries = []
        for _ in range(5):
            before = time.monotonic_ns()
            ticks = self._clock(0)
            after = time.monotonic_ns()
            tries.append((after - before, ticks, (before + after) // 2))
        _, ticks, moment = min(tries)
        return ticks, moment

    def _calibrate(self) -> None:
        """Measure the length of a tick, more precisely as time passes, until it is fixed."""
        if self._last >= _CALIBRATED_NS:
            return
        ticks, moment = self._now()
        while moment - self._origin[1] < 1_000_000:
            ticks, moment = self._now()
        self._last = moment - self._origin[1]
        self._ratio = self._last / (ticks - self._origin[0])


def _of_runs(part: bytes, wanted: Sequence[int]) -> bytes:
    """Return the events of these runs, which are usually all of the events."""
    runs = memoryview(part).cast("H")[_RUN // 2 :: at.LOG_RECORD // 2].tolist()
    count = sum(map(runs.count, wanted))
    if count == len(runs):
        return part
    places = (at.LOG_RECORD * i for i, run in enumerate(runs) if run in wanted)
    return b"".join(part[i : i + at.LOG_RECORD] for i in places) if count else b""


@once
def event_log() -> EventLog:
    """Return the log of this process, created on first use."""
    return EventLog()
