"""Programs that make no progress: what they wait for cannot come any more, or no thread has
stack left.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

from tfrt_runtime.async_runtime import objects
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error, note
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import NativeProcess
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.structs import Context, Group, Value
from tfrt_runtime.host.waiting import epochs, has_work, rest_of

MAX_UNCHANGED = 5
"""After so many checks in a row in which no thread took a waiting task, the threads count as
exhausted.
"""
MAX_RESCUERS = 16
MAX_REASONS = 1024
MAX_NOTES = 8
MAX_OWN_ERRORS = 64
"""The most objects that get an error of their own when nothing can resolve them; the others
share one.
"""


class Starvation:
    """What compiled code on a queue waits for, and the errors of what nothing can resolve any
    more.
    """

    def __init__(self, host: HostContext, process: NativeProcess, state: int) -> None:
        """`state` is the address of the queue's state of compiled programs."""
        self._host, self._queue = host, host.work_queue
        self._process = process
        self._state = state
        self._reasons: dict[int, Diagnostic] = {}
        """What was said of objects that nothing could resolve, by the error value that they have
        become.
        """

    def reason(self, address: int) -> Diagnostic | None:
        """What was said of an object when it was found that nothing could resolve it; None if it
        was not.
        """
        if objects.is_group(address):
            failure = Group.at(address).error
        else:
            value = Value.at(address)
            failure = value.target if value.is_indirect else 0
        found = self._reasons.get(failure)
        # The memory of an error value that is gone may have another one.
        if found is None or self._process.objects.get(Value.at(failure).payload) is not found:
            return None
        return found

    def waits(self) -> list[Diagnostic]:
        """Notes on what threads wait for in compiled code at this moment."""
        notes = []
        for address in self._queue.contexts:
            context = Context.at(address)
            if awaited := context.awaited:
                record = Value.at(awaited).owner
                # Awaited still, so that it is no other object that had taken its place.
                if record and context.awaited == awaited:
                    notes.append(objects.note_on_wait(awaited, record))
        return notes

    def is_stuck(self, apart_from: tuple[int, ...]) -> bool:
        """Whether nothing runs, and no code outside the runtime may change that."""
        rest = rest_of(self._queue, apart_from)
        if rest is None or self._host.waits_for_outside():
            return False
        # A promise that was kept while we looked at the others has ended the rest.
        return rest == rest_of(self._queue, apart_from)

    def abandon(self, context: int, address: int, diagnostic: Diagnostic) -> None:
        """Resolve an object to an error, if it is unresolved."""
        self.resolve(context, address, self._process.error_value(context, diagnostic))

    def _give_up(self, context: int, address: int, reason: Diagnostic) -> None:
        """Resolve an object that nothing resolves to an error."""
        failure = self._process.error_value(context, reason)
        if len(self._reasons) >= MAX_REASONS:
            self._reasons.clear()
        self._reasons[failure] = reason
        self.resolve(context, address, failure)

    def resolve(self, context: int, address: int, failure: int) -> None:
        """Resolve an object to an error value, if it is unresolved; takes a reference to the
        value.
        """
        self._process.quick.async_abandon(context, address, failure)

    def end_groups(self, context: int) -> bool:
        """Nothing runs: groups that are awaited and lack members become errors."""
        waited_for = dict.fromkeys((*self._awaited(), *self._stuck()))
        lacking = [a for a in waited_for if objects.is_group(a) and objects.lacks_members(a)]
        self._end_each(context, lacking, lambda a: objects.underfilled(a, self._waits_for(a)))
        return bool(lacking)

    def end_all(self, context: int) -> bool:
        """Nothing runs: what coroutines wait for will never come, unless from outside the runtime.

        Knows the groups, and in a checked runtime all objects.  Groups that lack members are the
        reason for what else does not come.
        """
        if self.end_groups(context):
            return True
        if self._host.waits_for_outside():
            return False
        stuck = self._causes(list(self._stuck()))
        self._end_each(context, stuck, lambda address: self._starved(address, stuck))
        return bool(stuck)

    def _causes(self, stuck: Sequence[int]) -> Sequence[int]:
        """Those of `stuck` that only the program could resolve; all, if there are none.

        What waits for these hands their errors on.
        """
        return [one for one in stuck if not objects.follows_from_others(one)] or stuck

    def _end_each(
        self, context: int, stuck: Sequence[int], reason: Callable[[int], Diagnostic]
    ) -> None:
        """Resolve objects to errors.  The first ones get their own; there may be millions."""
        reasons = list(map(reason, stuck[:MAX_OWN_ERRORS]))  # while all of them are unresolved
        for address, why in zip(stuck, reasons, strict=False):
            self._give_up(context, address, why)
        if rest := stuck[MAX_OWN_ERRORS:]:
            text = f"nothing is left that could resolve this, as for {len(stuck) - 1} other objects"
            shared = self._process.error_value(context, error(text))
            add_reference = self._process.quick.value_add_reference
            for address in rest:
                add_reference(shared)
                self.resolve(context, address, shared)
            self._process.quick.value_drop(context, shared)

    def end(self, context: int, awaited: int) -> None:
        """Nothing runs, and a thread or the caller waits for an object: it, or what it waits
        for, becomes an error.
        """
        causes = self._causes([awaited, *self._stuck()])
        if awaited in causes:
            self._give_up(context, awaited, self._starved(awaited, causes))
        else:
            self._end_each(context, causes, lambda one: self._starved(one, causes))

    def has_waiting_tasks(self) -> bool:
        """Whether a task waits for a registered object; nothing runs."""
        return next(self._stuck(), None) is not None

    def _awaited(self) -> Iterator[int]:
        """The objects that threads wait for."""
        for context in self._queue.contexts:
            if awaited := Context.at(context).awaited:
                yield awaited

    def _stuck(self) -> Iterator[int]:
        """The registered objects that tasks wait for; nothing runs."""
        following = self._process.quick.next_stuck
        address = 0
        while address := following(self._state, address):
            yield address

    def _starved(self, awaited: int, stuck: Iterable[int]) -> Diagnostic:
        """The error of an object that waits in vain, with notes on what waits for it, and for
        some of `stuck`.
        """
        others = dict.fromkeys((*self._awaited(), *itertools.islice(stuck, MAX_NOTES + 1)))
        others.pop(awaited, None)
        return error(
            f"nothing is left that could resolve {objects.title(awaited)}",
            objects.maker_place(awaited),
            [
                *self._waits_for(awaited),
                *itertools.chain.from_iterable(map(self._waits_for_other, others)),
            ][: 2 * MAX_NOTES],
        )

    def _waits_for_other(self, address: int) -> list[Diagnostic]:
        """Notes on what waits for an object that the error is not about."""
        title, made = objects.title(address), objects.maker_place(address)
        notes = self._waits_for(address, title if made is None else f"{title} of line {made.line}")
        return notes or [note(f"a thread or a task waits for {title}", made)]

    def _waits_for(self, awaited: int, title: str = "it") -> list[Diagnostic]:
        """Notes on the operations that wait for an object, which they call `title`; nothing
        runs.
        """
        contexts = map(Context.at, self._queue.contexts)
        waits = (one.awaited_at for one in contexts if one.awaited == awaited and one.awaited_at)
        threads = filter(None, map(objects.read_place, waits))
        places = itertools.islice(
            itertools.chain(threads, objects.waiting_places(awaited)), MAX_NOTES
        )
        text = f"this waits for {title}"
        return [note(text, place) for place in sorted(places, key=lambda place: place.line)]


class Exhaustion:
    """Notices that tasks wait and no thread takes one, as their stacks are too full to run any."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._seen: list[int] = []
        self._count = 0

    def is_noticed(self, apart_from: tuple[int, ...]) -> bool:
        """Asked again and again by a thread that waits; conservative: may report false
        negatives.
        """
        now = epochs(self.queue, apart_from)
        is_stuck = has_work(self.queue) and not any(number & 1 for number in now)
        self._count = self._count + 1 if is_stuck and now == self._seen else 0
        self._seen = now
        return self._count >= MAX_UNCHANGED


class Rescuers:
    """Threads with empty stacks that run tasks while those of the queue cannot."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._goes_on = ctypes.c_int64(1)
        self._threads: list[threading.Thread] = []

    def add(self) -> bool:
        """Start one more; False if there are too many already, or the system starts none."""
        if len(self._threads) >= MAX_RESCUERS:
            return False
        try:
            self._threads.append(start_thread("rescuer", self._help))
        except TfrtError:
            return False
        return True

    def close(self) -> None:
        """Let all of them end, and wait for that; there may be others later."""
        self._goes_on.value = 0
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._goes_on.value = 1

    def _help(self) -> None:
        word = ctypes.addressof(self._goes_on)
        self.queue.help(word, None, lambda: False)
