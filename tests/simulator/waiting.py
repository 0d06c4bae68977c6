"""Waiting: spinning, sleeping on a word until the sleepers are woken, and the clock."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from tests.simulator.atomics import Atomics
from tests.simulator.core import Machine
from tests.simulator.failures import Deadlock
from tests.simulator.footprints import Access, Way, queue_of
from tests.simulator.races import check_atomic_read
from tests.simulator.scheduler import Chooser
from tests.simulator.threads import Kind, Sleep, Thread


@dataclass(slots=True)
class FutexQueue:
    """The threads that sleep on one address, in order of arrival."""

    sleepers: list[Thread]
    version: int = 0


class Waiting(Atomics):
    """`pause`, the clocks, `processor`, `futex_wait`, and `futex_wake`."""

    def __init__(self, chooser: Chooser, machine: Machine) -> None:
        super().__init__(chooser, machine)
        self._queues: dict[int, FutexQueue] = {}

    def pause(self) -> None:
        """Let others go first, and continue when a word that this thread has read changes.

        A thread that has written since its last pause continues at once.
        """
        thread = self._scheduler.current
        if thread.wrote:
            thread.observed.clear()
            thread.wrote = False
        self._scheduler.step(Kind.PAUSE)
        accesses = []
        for word in thread.observed:
            # Writes become visible eventually: a spin loop does not read old values forever.
            newest = word.messages[-1]
            newest.readers.setdefault(thread.index, thread.time)
            accesses.append(Access(word.address, Way.READ, newest.version))
            thread.observed[word] = newest.version
        thread.time_is_up = False
        self._scheduler.performed(thread, *accesses)
        self._tell(thread, "pause", 0)

    def ticks(self) -> int:
        """Return the clock, for code that only compares."""
        return self.now()

    def now(self) -> int:
        """Return the clock, which every read and every uninterrupted sleep advances.

        Each thread has its own clock, as if the steps of others took no time, or a long time.
        """
        thread = self._scheduler.current
        thread.calls_of_now += 1
        return self._scheduler.now_ns + thread.slept_ns + thread.calls_of_now

    def cpu_time(self) -> int:
        """Return the same clock, because no thread waits for a processor here."""
        return self.now()

    def processor(self) -> int:
        """Return the thread's processor: each thread has its own."""
        return self._scheduler.current.index

    def futex_wait(self, address: int, expected: int, timeout_ns: int) -> int:
        """Sleep while the low half of the word is `expected`, according to its newest value."""
        thread, word = self._step(Kind.FUTEX_WAIT, address)
        check_atomic_read(word, thread)
        word.atomic_readers[thread.index] = thread.time
        newest = word.messages[-1]
        # The thread has seen the value, but not necessarily the writes before it.
        newest.readers.setdefault(thread.index, thread.time)
        reading = Access(address, Way.READ, newest.version)
        if (newest.value ^ expected) & 0xFFFF_FFFF:
            self._scheduler.performed(thread, reading)
            self._tell(thread, "futex_wait", address, old=newest.value, note="value differs")
            return 0
        if thread.index == Thread.MAIN:
            raise Deadlock(f"the scenario itself sleeps on {self._heap.name(address)}")
        self._tell(thread, "futex_wait", address, old=newest.value, note="falls asleep")
        self._fall_asleep(thread, address, reading, timeout_ns)
        self._scheduler.step(Kind.SLEEP, word)
        self._get_up(thread, address)
        return 0

    def futex_wake(self, address: int, count: int) -> int:
        """Wake at most `count` of the threads that sleep on `address`, in any choice."""
        thread, _ = self._step(Kind.FUTEX_WAKE, address)
        queue = self._queues.get(address)
        if queue is None or not queue.sleepers:
            version = queue.version if queue else 0
            self._scheduler.performed(thread, Access(queue_of(address), Way.READ, version))
            self._tell(thread, "futex_wake", address, note="no sleeper")
            return 0
        groups = list(combinations(queue.sleepers, min(count, len(queue.sleepers))))
        woken = groups[self._scheduler.value(thread, range(len(groups)))]
        queue.version += 1
        for sleeper in woken:
            queue.sleepers.remove(sleeper)
            _wake(sleeper, thread, queue.version)
        thread.tick()
        self._scheduler.writes += 1
        self._scheduler.performed(thread, Access(queue_of(address), Way.WRITE, queue.version))
        names = ", ".join(sleeper.name for sleeper in woken)
        self._tell(thread, "futex_wake", address, note=f"wakes {names}")
        return 0

    def _fall_asleep(self, thread: Thread, address: int, reading: Access, timeout: int) -> None:
        queue = self._queues.setdefault(address, FutexQueue([]))
        queue.sleepers.append(thread)
        queue.version += 1
        limited = timeout >= 0 or self.machine.spurious_wakeups
        early = limited and thread.early_returns < self.machine.early_returns
        thread.sleep = Sleep(timeout, early)
        thread.tick()
        self._scheduler.performed(
            thread, reading, Access(queue_of(address), Way.WRITE, queue.version)
        )

    def _get_up(self, thread: Thread, address: int) -> None:
        sleep, queue = thread.sleep, self._queues[address]
        assert sleep is not None, "a thread gets up from a sleep"
        place, note = queue_of(address), "woken"
        if not sleep.woken:
            queue.sleepers.remove(thread)
            note = "time is up" if thread.time_is_up else self._return_early(thread, sleep)
        if sleep.woken and not sleep.may_return_early:
            access = Access(place, Way.FOLLOW, sleep.version)
        else:
            queue.version += 1
            access = Access(place, Way.WRITE, queue.version)
        thread.sleep, thread.time_is_up = None, False
        thread.observed.clear()
        self._scheduler.performed(thread, access)
        self._tell(thread, "futex_wait", address, note=note)

    def _return_early(self, thread: Thread, sleep: Sleep) -> str:
        """End a sleep while others can still run.

        Either they are slow and the time is up, or the sleep ends for no reason.
        """
        thread.early_returns += 1
        outcomes = ["time is up"] if sleep.timeout_ns >= 0 else []
        if self.machine.spurious_wakeups:
            outcomes.append("returns for no reason")
        outcome = outcomes[self._scheduler.value(thread, range(len(outcomes)))]
        if outcome == "time is up":
            thread.slept_ns += sleep.timeout_ns
        return outcome


def _wake(sleeper: Thread, waker: Thread, version: int) -> None:
    """Let `sleeper` continue, and order its later steps after all that the waker has done."""
    assert sleeper.sleep is not None, "a thread in the queue sleeps"
    sleeper.sleep.woken = True
    sleeper.sleep.version = version
    sleeper.learn(waker.clock, waker.seen)
