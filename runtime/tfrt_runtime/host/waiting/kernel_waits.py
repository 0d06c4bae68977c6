"""Kernels that wait, without a time limit, for values or runs of their own host.

The thread of such a kernel works for the host meanwhile.  Where nothing else runs or is queued, what
kernels wait for can only come from kernels that wait, so it never comes.  Then the kernel that began to
wait last gets an error: it is the topmost one of its thread's stack, so it can return.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, TfrtError, error, note
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.structs import Context
from tfrt_runtime.host.waiting.idleness import rest_of

if TYPE_CHECKING:
    import asyncio


class EndlessWaitError(TfrtError):
    """What a kernel waits for can only come after it has returned."""


class Maker(Protocol):
    """A run, as the source of what a kernel waits for."""

    def promises_open(
        self, waits: Sequence[KernelWait] = (), asked: tuple[Maker, ...] = ()
    ) -> bool:
        """Whether the run waits for something from outside the runtime.

        Its `async def` kernels among `waits` do not count.  For runs that were `asked` already the answer
        is no: so are those that wait for each other.
        """


class Coroutine(Protocol):
    """A call of an `async def` kernel."""

    task: asyncio.Task[None] | None
    name: str
    place: AnyLocation
    queue: WorkQueue
    number: int
    """That of the kernel in its program; -1 where the run is not watched."""

    @property
    def run(self) -> Maker:
        """The run that it is part of."""


COROUTINE: ContextVar[Coroutine | None] = ContextVar("COROUTINE", default=None)
"""The `async def` kernel to which code on an event loop belongs, tasks that it has made included."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelWait:
    """One wait of a kernel of `queue`.

    `context` is the native context that the kernel runs on, 0 for a coroutine, whose run is `run`;
    `makers` are the runs that `what` comes from, None among them for anything outside of runs.
    """

    queue: WorkQueue
    kernel: str
    place: AnyLocation | None
    what: str
    makers: Sequence[Maker | None]
    is_over: Callable[[], bool]
    context: int
    run: Maker | None = None

    def may_end(self, waits: Sequence[KernelWait]) -> bool:
        """Whether the wait is over, or something outside the runtime and apart from `waits` may end it."""
        return self.is_over() or any(run is None or run.promises_open(waits) for run in self.makers)


NO_KERNEL = contextlib.nullcontext(lambda: None)
"""In the place of a `kernel_wait`, for waits with a time limit."""

_waits: list[KernelWait] = []
"""Those of all queues, in the order in which they began."""


@contextlib.contextmanager
def kernel_wait(
    queue: WorkQueue,
    what: Callable[[], tuple[str, Sequence[Maker | None]]],
    is_over: Callable[[], bool],
) -> Iterator[Callable[[], None]]:
    """Within, this thread or coroutine waits for `what`, if it is that of a kernel of the queue.

    Gives what the waiter calls now and then: it raises EndlessWaitError if this wait never ends.
    """
    found = _waiting_kernel(queue)
    if found is None:
        with NO_KERNEL as look:
            yield look
        return
    kernel, place, context, run = found
    wait = KernelWait(queue, kernel, place, *what(), is_over, context, run)
    _waits.append(wait)
    try:
        yield lambda: _raise_if_endless(wait)
    finally:
        _waits.remove(wait)


def _waits_for(queue: WorkQueue) -> list[KernelWait]:
    return [wait for wait in list(_waits) if wait.queue is queue]


def _waiting_kernel(queue: WorkQueue) -> tuple[str, AnyLocation | None, int, Maker | None] | None:
    """The kernel that this thread or coroutine runs: its name, place, context and run."""
    if queue.is_at_work_here:
        context = queue.context()
        record = Context.at(context).record
        if record == 0:
            return None
        owner, number = native_process().owner_of(record)
        return owner.kernel_name(number), owner.location_of(number), context, None
    coroutine = COROUTINE.get()
    if coroutine is None or coroutine.queue is not queue or not _is_its_task(coroutine):
        return None
    return coroutine.name, coroutine.place, 0, coroutine.run


def _is_its_task(coroutine: Coroutine) -> bool:
    """Whether this is the task of the kernel: while others that it has made wait, it may go on."""
    import asyncio  # there is a coroutine, so it is loaded

    return asyncio.current_task() is coroutine.task


def _raise_if_endless(wait: KernelWait) -> None:
    queue = wait.queue
    waits = _waits_for(queue)
    if waits[-1] is not wait:
        return
    contexts = [one.context for one in waits]
    rest = rest_of(queue, contexts)
    if rest is None or any(one.may_end(waits) for one in waits):
        return
    # What was resolved while we looked at the others has ended the rest, or a wait.
    if rest != rest_of(queue, contexts) or waits != _waits_for(queue):
        return
    raise EndlessWaitError(_endless(wait, waits[:-1]))


def _endless(wait: KernelWait, others: Sequence[KernelWait]) -> Diagnostic:
    text = (
        f"kernel '{wait.kernel}' waits for {wait.what}, which never comes: nothing else runs, and"
        " nothing is queued; return the AsyncValue instead of waiting for it"
    )
    notes = [note(f"kernel '{one.kernel}' waits for {one.what}", one.place) for one in others]
    return error(text, wait.place, notes)
