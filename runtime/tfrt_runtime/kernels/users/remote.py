"""Kernels with `remote=True`: tasks of a cluster where the host's work queue has one, else calls here."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tfrt_runtime.host.queues.dask_queue import DaskWorkQueue, RemoteFuture
from tfrt_runtime.host.values.async_value import AsyncValue, State
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.users.outcomes import items_of
from tfrt_runtime.kernels.users.policies import settle, settle_failed


def on_cluster(
    function: Callable[..., object], attributes: Sequence[str], retries: int
) -> Callable[..., object]:
    """A kernel function that takes the frame, AsyncValues and the attributes."""

    def start(frame: KernelFrame, *values: Any) -> AsyncValue | tuple[AsyncValue, ...]:
        count = len(values) - len(attributes)
        named = dict(zip(attributes, values[count:], strict=True))
        results = tuple(frame.allocate(i) for i in range(len(frame.result_types)))
        call = _Call(frame, results, function, values[:count], named, retries)
        call.begin()
        return results[0] if len(results) == 1 else results

    return start


class _Known:
    """The values of a run that are on the cluster, too, until it is over.

    A value is known by its address, which is its own as long as it is referred to here.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._futures: dict[int, tuple[AsyncValue, RemoteFuture]] = {}

    def keep(self, value: AsyncValue, future: RemoteFuture) -> None:
        """Note that `value` will be what the future's task returns."""
        with self._lock:
            self._futures[value.address] = value.reference(), future

    def future_of(self, value: AsyncValue) -> RemoteFuture | None:
        """The future whose task returns `value`: it need not be sent there again."""
        with self._lock:
            found = (self._futures.get(address) for address in value.addresses())
            return next((one[1] for one in found if one is not None), None)


class _Call:
    """One call: it waits for the arguments that are not on the cluster, and resolves the results."""

    def __init__(
        self,
        frame: KernelFrame,
        results: tuple[AsyncValue, ...],
        function: Callable[..., object],
        arguments: Sequence[AsyncValue],
        attributes: dict[str, object],
        retries: int,
    ) -> None:
        self._frame = frame
        self._results = results
        self._function = function
        self._arguments = arguments
        self._attributes = attributes
        self._retries = retries
        queue = frame.host.work_queue
        self._queue = queue if isinstance(queue, DaskWorkQueue) else None
        self._known = frame.resources.get_or_create("remote values", _Known, _Known)
        # Futures of arguments; to have them is to keep the data where it is.
        self._remote = [self._known.future_of(value) for value in arguments]

    def begin(self) -> None:
        """Go on when all arguments are here, or will be on the cluster."""
        self._frame.request.enter()
        missing = [
            value
            for value, future in zip(self._arguments, self._remote, strict=True)
            if future is None and not value.done()
        ]
        self._next(missing)

    def _next(self, missing: list[AsyncValue]) -> None:
        while missing:
            value = missing.pop()
            if not value.done():
                value.and_then(lambda: self._next(missing))
                return
        try:
            self._go_on()
        except BaseException as problem:  # noqa: BLE001 - it becomes the results' error
            self._end_with(problem)

    def _go_on(self) -> None:
        failed = next((v for v in self._arguments if v.state is State.ERROR), None)
        if failed is not None:
            for result in self._results:
                result.follow(failed)
            self._end()
            return
        if self._frame.is_cancelled:
            self._end()
            return
        given = [
            value.result(0) if future is None else future
            for value, future in zip(self._arguments, self._remote, strict=True)
        ]
        if self._queue is None:
            settle(self._frame, self._results, self._function(*given, **self._attributes))
            self._end()
            return
        import uuid  # for tasks of a cluster only

        future = self._queue.client.submit(
            _run,
            self._function,
            self._attributes,
            *given,
            key=f"{self._frame.name}-{uuid.uuid4().hex}",
            pure=False,
            retries=self._retries,
        )
        if len(self._results) == 1:
            self._known.keep(self._results[0], future)
        self._frame.request.call_when_cancelled(self, future.cancel)
        future.add_done_callback(self._arrived)

    def _arrived(self, future: RemoteFuture) -> None:
        """The task is over.  On a thread of the client's."""
        self._frame.request.forget_when_cancelled(self)
        try:
            returned = future.result()
            if isinstance(returned, _Left):
                raise returned.exit
            items_of(returned, len(self._results))
            settle(self._frame, self._results, returned)
        except BaseException as problem:  # noqa: BLE001 - it becomes the results' error
            self._end_with(problem)
        else:
            self._end()

    def _end_with(self, problem: BaseException) -> None:
        is_cancelled = type(problem).__name__ in ("CancelledError", "FutureCancelledError")
        if not (is_cancelled and self._frame.is_cancelled):
            settle_failed(self._frame, self._results, problem)
        self._end()

    def _end(self) -> None:
        self._frame.request.leave()


def _run(function: Callable[..., object], attributes: dict[str, object], *values: object) -> object:
    """What a worker does.  It would end with a SystemExit that is raised there."""
    try:
        return function(*values, **attributes)
    except SystemExit as problem:
        return _Left(problem)
    except Exception as problem:
        from distributed import get_worker  # on the worker it is there

        problem.add_note(f"on the worker {get_worker().address}")
        raise


@dataclass(frozen=True, slots=True)
class _Left:
    """A kernel raised SystemExit."""

    exit: SystemExit
