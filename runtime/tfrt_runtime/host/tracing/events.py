"""The event log in Python: watches on runs, which read the native core's rings of events.

A run gets a `Watch` when it starts.  `Watch.take` drains the rings of all threads, and returns the
new events of the watch's run.  Draining serves all watches at once, so each event is copied once.
"""

from __future__ import annotations

import ctypes
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
"""The names of the kinds of events, by number."""
NO_VALUE = 0xFFFFFFFF
"""The register number in events that concern a whole kernel."""

_RUN = 22
"""The offset of the run's number in an event, in bytes."""
Logged = tuple[int, int, int, int, int, int, int]
"""An event: `time`, `op`, `value`, `instance`, `kind`, `worker`, and `payload`.

`time` is in nanoseconds of the monotonic clock.  `op` is the number of a kernel in the program or,
if `value` is a register, of the function with that register.  `worker` is the number of a thread in
its queue.  `payload` is a word.
"""

# The fields of events: the times, `op | value << 32`, the instances, `kind | worker << 6`, and the
# payloads.
LogColumns = tuple[Sequence[int], ...]

Moments = list[tuple[int, str, str]]
"""The history of a call on a cluster: for each moment, the time, the state, and the worker.

Times are in nanoseconds of the monotonic clock.  States are `sent`, `queued`, `running`, `back`,
`lost`, and `here`.  The worker is given by its address, or is "".
"""

_MAX_WAITING = 1 << 20
"""Maximum number of events that a watch keeps until its reader takes them."""
_CALIBRATED_NS = 200_000_000


@dataclass(frozen=True, slots=True)
class _Batch:
    """Events of one run that were drained together, in the rings' format."""

    parts: Sequence[bytes]
    ticks: int
    moment: int
    """The time at which the event clock showed `ticks`."""
    ratio: float
    """Nanoseconds per tick."""

    @property
    def count(self) -> int:
        return sum(map(len, self.parts)) // at.LOG_RECORD

    def columns(self, start: int) -> LogColumns:
        """Return the events as columns, in time order; times count from `start`."""
        # A record has the time (8 bytes), op, value, and instance (4 each), the worker above the 6
        # bits of the kind (2), the run (2), and the payload (8).
        records = memoryview(b"".join(self.parts))
        fields = (
            *(records.cast("q")[0::4], records.cast("Q")[1::4], records.cast("I")[4::8]),
            *(records.cast("H")[10::16], records.cast("q")[3::4]),
        )
        times, *rest = map(memoryview.tolist, fields)
        if times != sorted(times):  # several rings, each of which is sorted
            by_time = itemgetter(*sorted(range(len(times)), key=times.__getitem__))
            times, *rest = map(by_time, (times, *rest))
        scale = round(self.ratio * 2**32)  # a product of integers takes less time than a rounding
        first = self.ticks - ((self.moment - start) << 32) // scale
        return [(time - first) * scale >> 32 for time in times], *rest


def logged(columns: LogColumns) -> Iterator[Logged]:
    """Return the events in columns one by one."""
    for time_, words, instance, what, payload in zip(*columns, strict=True):
        yield time_, words & NO_VALUE, words >> 32, instance, what & 63, what >> 6, payload


def no_calls(*, waits: bool = False) -> list[tuple[int, Moments]]:
    """Return an empty list, as the initial `Watch.remote` of a run without calls on a cluster."""
    return []


class Watch:
    """Logs the events of one run.

    A watch also keeps the latest value of each register whose value does not fit into a word.
    These values live as long as the watch does.
    """

    def __init__(self, *, slow: float = 0, needs_cluster: bool = False) -> None:
        """Make a watch for one run.

        `slow` multiplies the duration of each kernel: 0 and 1 change nothing, and the maximum is
        10^9.
        """
        self.needs_cluster = needs_cluster
        """Whether remote kernels of the run fail without a cluster, as in a notebook's cell."""
        self._readers: list[Reader] = [Reader()]
        self.slow = min(max(1.0, slow), 1e9)
        """The factor by which each kernel's duration is multiplied.

        A kernel that waits for a timer applies the factor to the timer's duration itself.
        """
        self._words = structs.Watch.new(at.WATCH_SIZE)
        self._words.instances = 1
        self._words.slow = round(1000 * self.slow) if slow > 1 else 0
        self._kept: list[ctypes.Array[ctypes.c_int64]] = []
        self._table: ctypes.Array[ctypes.c_int64] | None = None
        self.queue: WorkQueue | None = None
        self._request = self.number = 0
        self.lost = 0
        """How many events, on any thread, were overwritten before they were read."""
        self.log: list[tuple[int, int, str]] = []
        """The run's output in pieces.

        A piece is the time, the number of the kernel (-1 if none), and the text.
        """
        self.remote: Callable[..., list[tuple[int, Moments]]] = no_calls
        """Returns the kernel and the moments of each call on a cluster.

        With `waits=True`, it asks the cluster, and waits for the answer on the calling thread.
        """

    @property
    def address(self) -> int:
        """The address of the struct WATCH.  The watch must live as long as its run."""
        return self._words.address

    def begin(self, queue: WorkQueue, request: int, program: int, registers: Sequence[int]) -> None:
        """Prepare for a run, which must not have started.

        Args:
            request: the address of the run's struct REQUEST.
            program: the number of the run's program.
            registers: the register count of each of the program's functions.

        Raises:
            ValueError: if the watch was used for another run.
        """
        if self.queue is not None:
            raise ValueError("a Watch can be used for only one run")
        self.queue, self._request = queue, request
        process, run = native_process(), structs.Request.at(request)
        # An event has 16 bits for the run's number, and 0 means no run. If another watched run has
        # the same bits, this run gets another number.
        while (number := run.number & 0xFFFF) == 0 or number in event_log().watches:
            run.number = process.quick.next_number(process.address)
        self.number = number
        self._words.run = self.number
        self._words.program = program
        words = at.KEPT_SIZE // 8
        self._kept = [(ctypes.c_int64 * (words * max(1, count)))() for count in registers]
        self._table = (ctypes.c_int64 * max(1, len(registers)))(*map(ctypes.addressof, self._kept))
        self._words.values = ctypes.addressof(self._table)
        event_log().add(self)

    def end(self) -> None:
        """Record that the run is over.

        No new events will arrive, except those that are already in the rings.
        """
        # Drain before removing the watch, because only registered watches receive events.
        event_log().drain()
        event_log().remove(self)

    def take(self, start: int = 0) -> LogColumns:
        """Return the events recorded since the last call, with times relative to `start`."""
        return self._readers[0].take(start)

    @property
    def dropped(self) -> int:
        """The number of events that `take` does not return.

        An event is missing if it was overwritten, or if there were too many events.
        """
        return self.lost + self._readers[0].dropped

    def reader(self) -> Reader:
        """Add a reader of all events of the run, which must not have started."""
        self._readers.append(Reader())
        return self._readers[-1]

    def kept_values(self) -> Iterator[tuple[int, int, AsyncValue]]:
        """Yield each value kept since the last call, with its function and register."""
        assert self.queue is not None
        take = native_process().quick.take_kept
        for function, words in enumerate(self._kept):
            for register in _nonzero(_column(words, at.KEPT_VALUE)):
                address = take(ctypes.addressof(words) + at.KEPT_SIZE * register + at.KEPT_VALUE)
                if address:
                    yield function, register, AsyncValue(self.queue, address)

    def counts(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield how often each register was set, and the last word to which it was set.

        A row has the function, the register, the count, and the word.  The rows are exact even if
        events were overwritten.
        """
        for function, words in enumerate(self._kept):
            counts, latest = _column(words, at.KEPT_COUNT), _column(words, at.KEPT_WORD)
            for register in _nonzero(counts):
                yield function, register, counts[register], latest[register]

    def note_output(self, text: str) -> None:
        """Record a piece of the run's output.

        The output comes from this thread's kernel, from this coroutine's kernel, or from code
        outside kernels.
        """
        coroutine = COROUTINE.get()
        number = self.kernel_here if coroutine is None else coroutine.number
        self.log.append((time.monotonic_ns(), number, text))

    @property
    def kernel_here(self) -> int:
        """The number of the kernel that this thread is running, within the program.

        It is -1 if the kernel belongs to another program.
        """
        record = self._record
        handle = Record.at(record).handle if record else -1
        return handle & 0xFFFFFFFF if handle >> 32 == self._words.program else -1

    @property
    def _record(self) -> int:
        """The record of the run's kernel that this thread is running or has just run, or 0."""
        assert self.queue is not None
        context = Context.at(self.queue.context())
        return context.record if context.request == self._request else 0

    def receive(self, batch: _Batch) -> None:
        """Keep a batch of events until it is taken."""
        for reader in self._readers:
            reader.receive(batch)

    def __del__(self) -> None:
        if self.queue is not None and not sys.is_finalizing():
            # Each value is destroyed at once, which drops the watch's reference.
            for _ in self.kept_values():
                pass


def _column(kept: ctypes.Array[ctypes.c_int64], field: int) -> list[int]:
    """Return the values of one field for all registers of a function."""
    words = memoryview(kept).cast("B").cast("q")
    return words[field // 8 :: at.KEPT_SIZE // 8].tolist()


def _nonzero(column: Sequence[int]) -> Iterator[int]:
    return compress(range(len(column)), column)


class Reader:
    """Buffers a run's events until `take` returns them.

    A run may have several readers, and each of them returns every event.  Only one thread at a time
    may take events.
    """

    def __init__(self) -> None:
        self._waiting: list[_Batch] = []
        self._count = 0
        self.dropped = 0
        """How many events were not kept because there were too many."""

    def take(self, start: int = 0) -> LogColumns:
        """Return the events recorded since the last call, with times relative to `start`."""
        log = event_log()
        # Hold the lock: otherwise, another thread could append events to the list that is being
        # taken.
        with log.lock:
            log.drain()
            waiting, self._waiting, self._count = self._waiting, [], 0
        # Unpacking column by column is several times faster than unpacking event by event.
        parts = [batch.columns(start) for batch in waiting] or [((), (), (), (), ())]
        return parts[0] if len(parts) == 1 else tuple(map(list, map(chain, *parts)))

    def receive(self, batch: _Batch) -> None:
        """Keep a batch of events until it is taken.

        If there are too many events, drop the oldest.
        """
        self._waiting.append(batch)
        self._count += batch.count
        while self._count > _MAX_WAITING and len(self._waiting) > 1:
            oldest = self._waiting.pop(0)
            self._count -= oldest.count
            self.dropped += oldest.count


class EventLog:
    """The process's rings, which any thread drains for all watches at once."""

    def __init__(self) -> None:
        self._process = native_process()
        self._entry = self._process.quick.log_drain
        self._clock = self._process.quick.log_clock
        self._buffer = ctypes.create_string_buffer(at.LOG_CAPACITY * at.LOG_RECORD)
        self.lock = threading.RLock()
        self.watches: dict[int, weakref.ref[Watch]] = {}
        self._lost = 0
        self._origin = self._now()
        self._ratio = 0.0
        self._last = 0

    def add(self, watch: Watch) -> None:
        """Make threads log events, and pass events of the watch's run to `watch`."""
        with self.lock:
            if not self.watches:
                # Discard the old events of runs that are no longer watched.
                for ring in self._rings():
                    self._emptied(ring)
                self._lost = sum(ring.lost for ring in self._rings())
            self.watches[watch.number] = weakref.ref(watch)
            self._process.words.watched = len(self.watches)

    def remove(self, watch: Watch) -> None:
        """Stop passing events to `watch`."""
        with self.lock:
            self.watches.pop(watch.number, None)
            self._process.words.watched = len(self.watches)

    def drain(self) -> None:
        """Pass all new events in the rings to the watches."""
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
            for number, reference in list(self.watches.items()):
                watch = reference()
                if watch is None:
                    del self.watches[number]
                    continue
                watch.lost += lost - self._lost
                self._give(watch, parts)
            self._lost = lost

    def _give(self, watch: Watch, parts: list[tuple[int, bytes]]) -> None:
        """Pass a watch the events of its run, and the events of its queue's threads."""
        assert watch.queue is not None
        own = watch.queue.address
        # Events with run 0 belong to a thread, not to a run.
        runs = (watch.number,), (watch.number, 0)
        chosen = [found for queue, part in parts if (found := _of_runs(part, runs[queue == own]))]
        if chosen:
            watch.receive(_Batch(chosen, *self._origin, self._ratio))

    def _emptied(self, ring: Log) -> int:
        """Move the new events of a ring into the buffer; return how many there are."""
        return self._entry(ring.address, ctypes.addressof(self._buffer), at.LOG_CAPACITY)

    def _rings(self) -> Iterator[Log]:
        address = self._process.words.logs
        while address:
            ring = Log.at(address)
            yield ring
            address = ring.next

    def _now(self) -> tuple[int, int]:
        """Read the event clock and the monotonic clock at about the same moment."""
        tries = []
        for _ in range(5):
            before = time.monotonic_ns()
            ticks = self._clock(0)
            after = time.monotonic_ns()
            tries.append((after - before, ticks, (before + after) // 2))
        # The shorter a try took, the closer together it has read the two clocks.
        _, ticks, moment = min(tries)
        return ticks, moment

    def _calibrate(self) -> None:
        """Measure a tick's duration, until the measurement is precise enough.

        The longer the log has existed, the more precise the measurement is.
        """
        if self._last >= _CALIBRATED_NS:
            return
        ticks, moment = self._now()
        # Wait until 1 ms has passed, because the errors of the two readings count more in a shorter
        # time.
        while moment - self._origin[1] < 1_000_000:
            ticks, moment = self._now()
        self._last = moment - self._origin[1]
        self._ratio = self._last / (ticks - self._origin[0])


def _of_runs(part: bytes, wanted: Sequence[int]) -> bytes:
    """Return the events in `part` whose run is in `wanted`.

    Usually, these are all of the events in `part`.
    """
    runs = memoryview(part).cast("H")[_RUN // 2 :: at.LOG_RECORD // 2].tolist()
    count = sum(map(runs.count, wanted))
    if count == len(runs):
        return part
    places = (at.LOG_RECORD * i for i, run in enumerate(runs) if run in wanted)
    return b"".join(part[i : i + at.LOG_RECORD] for i in places) if count else b""


@once
def event_log() -> EventLog:
    """Return the event log of this process; create it on first use."""
    return EventLog()
