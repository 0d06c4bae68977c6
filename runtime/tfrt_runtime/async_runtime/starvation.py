"""Detect programs that cannot continue.

A program cannot continue if it awaits objects that nothing can resolve, or if no thread has enough
free stack space to run its tasks.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence

from tfrt_runtime.async_runtime import objects
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error, note
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.process import NativeProcess
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.structs import Context, Group, Value
from tfrt_runtime.host.waiting import epochs, has_work, rest_of

# The number of checks without progress after which the threads count as exhausted.  A check shows
# no progress if no thread has taken a task since the previous check.
MAX_UNCHANGED = 5
MAX_RESCUERS = 16
MAX_REASONS = 1024
MAX_NOTES = 8
# Maximum number of unresolvable objects that each get a separate error. All other objects share one
# error.
MAX_OWN_ERRORS = 64


class Starvation:
    """The waits of compiled code on a queue, and errors for objects that nothing can resolve."""

    def __init__(self, host: HostContext, process: NativeProcess, state: int) -> None:
        """Start without waits.

        `state` is the address of the queue's state for compiled programs.
        """
        self._host, self._queue = host, host.work_queue
        self._process = process
        self._state = state
        self._reasons: dict[int, Diagnostic] = {}
        """Why nothing could resolve certain objects, keyed by the error values that they became.
        """

    def reason(self, address: int) -> Diagnostic | None:
        """Return why an object was found to be unresolvable, or None if it was not."""
        if objects.is_group(address):
            failure = Group.at(address).error
        else:
            value = Value.at(address)
            failure = value.target if value.is_indirect else 0
        found = self._reasons.get(failure)
        # The error value may have been freed and its address reused by another one.
        if found is None or self._process.objects.get(Value.at(failure).payload) is not found:
            return None
        return found

    def waits(self) -> list[Diagnostic]:
        """Return notes on the objects that threads in compiled code currently wait for."""
        notes = []
        for address in self._queue.contexts:
            context = Context.at(address)
            if awaited := context.awaited:
                record = Value.at(awaited).owner
                # The object is still awaited, so no other object has reused its address.
                if record and context.awaited == awaited:
                    notes.append(objects.note_on_wait(awaited, record))
        return notes

    def is_stuck(self, apart_from: tuple[int, ...]) -> bool:
        """Return whether nothing is running and no code outside the runtime can change that.

        Threads whose contexts are in `apart_from` are not considered.
        """
        rest = rest_of(self._queue, apart_from)
        # On a page, no code outside the runtime runs during this wait.
        if rest is None or (self._host.waits_for_outside() and not ONE_THREAD.gives_up()):
            return False
        # If a promise was resolved while the others were being checked, the queue is no longer at
        # rest.
        return rest == rest_of(self._queue, apart_from)

    def abandon(self, context: int, address: int, diagnostic: Diagnostic) -> None:
        """Resolve an object to an error, if it is unresolved."""
        self.resolve(context, address, self._process.error_value(context, diagnostic))

    def _give_up(self, context: int, address: int, reason: Diagnostic) -> None:
        """Resolve an object to an error because nothing else can resolve it."""
        failure = self._process.error_value(context, reason)
        if len(self._reasons) >= MAX_REASONS:
            self._reasons.clear()
        self._reasons[failure] = reason
        self.resolve(context, address, failure)

    def resolve(self, context: int, address: int, failure: int) -> None:
        """Resolve an unresolved object to the error value `failure`.

        Owns:
            one reference to `failure`, which the caller hands over
        """
        self._process.quick.async_abandon(context, address, failure)

    def end_groups(self, context: int) -> bool:
        """Turn awaited groups that lack members into errors.

        Return whether a group became an error.  Call this method only while nothing is running.
        """
        # A thread and a task may wait for the same group, which must become an error only once.
        waited_for = dict.fromkeys((*self._awaited(), *self._stuck()))
        lacking = [a for a in waited_for if objects.is_group(a) and objects.lacks_members(a)]
        self._end_each(context, lacking, lambda a: objects.underfilled(a, self._waits_for(a)))
        return bool(lacking)

    def end_all(self, context: int) -> bool:
        """Turn awaited objects into errors unless outside code could still resolve them.

        Return whether any object became an error.  Call this method only while nothing is running.

        Only a checked runtime knows all objects; any other runtime knows only groups.  If groups
        lack members, only those groups become errors, because they are the reason that the other
        objects are unresolved.
        """
        if self.end_groups(context):
            return True
        if self._host.waits_for_outside():
            return False
        stuck = self._causes(list(self._stuck()))
        self._end_each(context, stuck, lambda address: self._starved(address, stuck))
        return bool(stuck)

    def _causes(self, stuck: Sequence[int]) -> Sequence[int]:
        """Return the objects in `stuck` that only an operation of the program could resolve.

        If there are none, return all of `stuck`.  The other objects in `stuck` wait for the
        returned ones: when a returned object becomes an error, so do the objects that wait for it.
        """
        return [one for one in stuck if not objects.follows_from_others(one)] or stuck

    def _end_each(
        self, context: int, stuck: Sequence[int], reason: Callable[[int], Diagnostic]
    ) -> None:
        """Resolve objects to errors.

        Only the first `MAX_OWN_ERRORS` objects get separate errors, because there may be millions
        of objects.  The others share one error.
        """
        reasons = list(map(reason, stuck[:MAX_OWN_ERRORS]))  # make them while all are unresolved
        for address, why in zip(stuck, reasons, strict=False):
            self._give_up(context, address, why)
        if rest := stuck[MAX_OWN_ERRORS:]:
            text = (
                f"nothing can resolve this anymore; the same holds for {len(stuck) - 1} other "
                "objects"
            )
            shared = self._process.error_value(context, error(text))
            add_reference = self._process.quick.value_add_reference
            for address in rest:
                add_reference(shared)
                self.resolve(context, address, shared)
            self._process.quick.value_drop(context, shared)

    def end(self, context: int, awaited: int) -> None:
        """Turn an awaited object, or the objects that it waits for, into errors.

        Call this method only while nothing is running, and while a thread waits for the object.
        """
        causes = self._causes([awaited, *self._stuck()])
        if awaited in causes:
            self._give_up(context, awaited, self._starved(awaited, causes))
        else:
            self._end_each(context, causes, lambda one: self._starved(one, causes))

    def has_waiting_tasks(self) -> bool:
        """Return whether a task waits for a registered object.

        Call this method only while nothing is running.
        """
        return next(self._stuck(), None) is not None

    def _awaited(self) -> Iterator[int]:
        """Yield the objects that threads wait for."""
        for context in self._queue.contexts:
            if awaited := Context.at(context).awaited:
                yield awaited

    def _stuck(self) -> Iterator[int]:
        """Yield the registered objects that tasks wait for.

        Call this method only while nothing is running.
        """
        following = self._process.quick.next_stuck
        address = 0
        while address := following(self._state, address):
            yield address

    def _starved(self, awaited: int, stuck: Iterable[int]) -> Diagnostic:
        """Return the error for an object that is awaited but can never be resolved.

        The error's notes name the operations that wait for the object and for some of the objects
        in `stuck`.
        """
        # Take one more than needed, because `awaited` may be among them.
        others = dict.fromkeys((*self._awaited(), *itertools.islice(stuck, MAX_NOTES + 1)))
        others.pop(awaited, None)
        return error(
            f"nothing can resolve {objects.title(awaited)} anymore",
            objects.maker_place(awaited),
            [
                *self._waits_for(awaited),
                *itertools.chain.from_iterable(map(self._waits_for_other, others)),
            ][: 2 * MAX_NOTES],
        )

    def _waits_for_other(self, address: int) -> list[Diagnostic]:
        """Return notes on the operations that wait for an object other than the error's own."""
        title, made = objects.title(address), objects.maker_place(address)
        from_line = made and f"{objects.title(address, 'from the')} on line {made.line}"
        notes = self._waits_for(address, from_line or title)
        return notes or [note(f"a thread or a task is waiting for {title}", made)]

    def _waits_for(self, awaited: int, title: str = "it") -> list[Diagnostic]:
        """Return notes on the operations that wait for an object; the notes call it `title`.

        Call this method only while nothing is running.
        """
        contexts = map(Context.at, self._queue.contexts)
        waits = (one.awaited_at for one in contexts if one.awaited == awaited and one.awaited_at)
        threads = filter(None, map(objects.read_place, waits))
        places = itertools.islice(
            itertools.chain(threads, objects.waiting_places(awaited)), MAX_NOTES
        )
        text = f"this operation is waiting for {title}"
        return [note(text, place) for place in sorted(places, key=lambda place: place.line)]


class Exhaustion:
    """Notices when tasks are waiting, but the threads' stacks are too full to run them."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._seen: list[int] = []
        self._count = 0

    def is_noticed(self, apart_from: tuple[int, ...]) -> bool:
        """Return whether the threads are exhausted.

        A waiting thread calls this method repeatedly.  The first few results are always False.
        """
        now = epochs(self.queue, apart_from)
        is_stuck = has_work(self.queue) and not any(number & 1 for number in now)
        self._count = self._count + 1 if is_stuck and now == self._seen else 0
        self._seen = now
        return self._count >= MAX_UNCHANGED


class Rescuers:
    """Threads with empty stacks that run tasks while the queue's own threads cannot."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self._goes_on = ctypes.c_int64(1)
        self._threads: list[threading.Thread] = []

    def add(self) -> bool:
        """Start one more thread.

        Return False if there are `MAX_RESCUERS` threads, or if the system cannot start a thread.
        """
        if len(self._threads) >= MAX_RESCUERS:
            return False
        try:
            self._threads.append(start_thread("rescuer", self._help))
        except TfrtError:
            return False
        return True

    def close(self) -> None:
        """Make all of the threads exit, and wait for them.  Threads may be added again later."""
        self._goes_on.value = 0
        for thread in self._threads:
            thread.join()
        self._threads.clear()
        self._goes_on.value = 1

    def _help(self) -> None:
        self.queue.help(ctypes.addressof(self._goes_on), None, lambda: False)
