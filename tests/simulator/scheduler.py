"""The order of threads: a `Chooser` makes every decision of a run, and the scheduler records them.

A run is a function of its decisions. `decisions`, the schedule, holds the choices among more than
one option, as indices, in order. Option 0 is always the expected one (the running thread continues,
a load reads the newest value), so zeros at the end of a schedule can be omitted.

If no thread can run, time passes: spinning threads take another turn and, if that changes nothing,
the sleepers with the nearest deadline wake up. If there are no such sleepers either, the run is
stuck.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from tests.simulator.failures import Deadlock, Livelock
from tests.simulator.footprints import Access
from tests.simulator.threads import Kind, Thread
from tests.simulator.words import Word


class Chooser(Protocol):
    """Makes the decisions of a run. When a run is repeated, it must decide the same way."""

    def next_thread(self, options: Sequence[Thread], preempts: bool) -> int:
        """Return which of `options` runs next, as an index.

        `preempts` says that option 0 is the running thread, which any other option interrupts.
        """

    def next_value(self, thread: Thread, labels: Sequence[int]) -> int:
        """Return which of several results the operation of `thread` has.

        `labels` identify the results in any run.
        """

    def performed(self, thread: Thread, accesses: Sequence[Access]) -> None:
        """Record that `thread` has done its operation, which touched the places in `accesses`."""

    def time_passed(self) -> None:
        """Record that no thread could run, but some can now.

        All earlier steps precede all later ones.
        """


class Scheduler:
    """The threads of a world and the order in which they run.

    `spin_limit` is how often spinning threads get another turn although nothing changes.
    `step_limit` ends runs that would never finish.
    """

    def __init__(self, chooser: Chooser, spin_limit: int, step_limit: int) -> None:
        self.decisions: list[int] = []
        self.steps = 0
        self.writes = 0
        self.names = ["the scenario"]
        self.main = Thread(Thread.MAIN, self.names, [1])
        self.current = self.main
        self.threads: list[Thread] = []
        self.now_ns = 0
        self._chooser = chooser
        self._spin_limit = spin_limit
        self._step_limit = step_limit
        self._alone = 0
        self._turns_without_change = 0
        self._writes_at_last_turn = -1

    def add(self, body: Callable[[], object], name: str) -> Thread:
        """Add a thread that will run `body`, after everything that the scenario has done so far.

        Raises:
            ValueError: if the run has started, because clocks have one entry for each thread.
        """
        if len(self.main.clock) > 1:
            raise ValueError("a scenario adds its threads before they run")
        index = len(self.names)
        self.names.append(name or f"thread {index}")
        thread = Thread(index, self.names, [])
        thread.prepare(body)
        self.threads.append(thread)
        return thread

    def run(self) -> None:
        """Run all threads to their end."""
        self._start()
        while (chosen := self._choose(None)) is not None:
            self.current = chosen
            chosen.resume()
        self._join()

    def step(self, kind: Kind, word: Word | None = None) -> Thread:
        """Stop before an operation until it is the current thread's turn; return the thread."""
        thread = self.current
        if thread is self.main:
            self._count_alone()
            return thread
        thread.kind, thread.word = kind, word
        if thread.started:
            chosen = self._choose(thread)
            assert chosen is not None, "a thread that is about to act keeps the run going"
        else:
            thread.started = True
            chosen = self.main
        if chosen is not thread:
            self.current = chosen
            chosen.resume()
        return thread

    def value(self, thread: Thread, labels: Sequence[int]) -> int:
        """Choose one of several results of an operation, and return its index in `labels`."""
        choice = self._chooser.next_value(thread, labels) if thread is not self.main else 0
        if len(labels) > 1:
            self.decisions.append(choice)
        return choice

    def performed(self, thread: Thread, *accesses: Access) -> None:
        """Tell the chooser what the step of `thread` did."""
        if thread is not self.main:
            self._chooser.performed(thread, accesses)

    def abandon(self) -> None:
        """End all threads at their current operations."""
        self.current = self.main
        for thread in self.threads:
            thread.abandon()

    def _count_alone(self) -> None:
        self._alone += 1
        if self._alone > self._step_limit:
            raise Livelock(f"the scenario itself has no end after {self._step_limit} steps")

    def _start(self) -> None:
        """Run every thread to its first operation that others can notice."""
        width = len(self.names)
        self.main.clock += [0] * (width - 1)
        self.main.seen = list(self.main.clock)
        for thread in self.threads:
            thread.clock = list(self.main.clock)
            thread.clock[thread.index] = 1
            thread.seen = list(thread.clock)
        self.main.clock[Thread.MAIN] += 1
        for thread in self.threads:
            self.current = thread
            thread.resume()
            thread.started = True

    def _join(self) -> None:
        self.current = self.main
        clocks = [self.main.clock, *(thread.clock for thread in self.threads)]
        self.main.clock = [max(times) for times in zip(*clocks, strict=True)]
        self.main.seen = list(self.main.clock)

    def _choose(self, running: Thread | None) -> Thread | None:
        options = self._options(running)
        while not options:
            if all(thread.finished for thread in self.threads):
                return None
            self._let_time_pass()
            options = self._options(running)
        self.steps += 1
        if self.steps > self._step_limit:
            raise Livelock(f"no end after {self._step_limit} steps")
        choice = self._chooser.next_thread(options, options[0] is running)
        if len(options) > 1:
            self.decisions.append(choice)
        return options[choice]

    def _options(self, running: Thread | None) -> list[Thread]:
        options = [thread for thread in self.threads if thread.can_run()]
        if running in options and running is not options[0]:
            options.remove(running)
            options.insert(0, running)
        return options

    def _let_time_pass(self) -> None:
        waiting = [thread for thread in self.threads if not thread.finished]
        spinning = [thread for thread in waiting if thread.kind is Kind.PAUSE]
        deadlines = {thread: _timeout(thread) for thread in waiting if _timeout(thread) >= 0}
        if spinning and self._another_turn_may_help():
            ready = spinning
        elif deadlines:
            nearest = min(deadlines.values())
            self.now_ns += nearest
            ready = [thread for thread, timeout in deadlines.items() if timeout == nearest]
        else:
            self.current = self.main
            raise self._stuck(waiting, bool(spinning))
        for thread in ready:
            thread.time_is_up = True
        self._chooser.time_passed()

    def _another_turn_may_help(self) -> bool:
        if self.writes != self._writes_at_last_turn:
            self._writes_at_last_turn = self.writes
            self._turns_without_change = 0
        self._turns_without_change += 1
        return self._turns_without_change <= self._spin_limit

    def _stuck(self, waiting: Sequence[Thread], spinning: bool) -> Deadlock | Livelock:
        lines = "; ".join(self._waits_for(thread) for thread in waiting)
        if spinning:
            return Livelock(f"no thread is left to change what is read: {lines}")
        return Deadlock(f"no thread is left to wake another: {lines}")

    def _waits_for(self, thread: Thread) -> str:
        if thread.kind is Kind.PAUSE:
            words = ", ".join(word.name for word in thread.observed)
            return f"{thread.name} spins on {words or 'nothing'}"
        assert thread.word is not None, "a thread sleeps on a word"
        return f"{thread.name} sleeps on {thread.word.name}"


def _timeout(thread: Thread) -> int:
    return -1 if thread.sleep is None else thread.sleep.timeout_ns
