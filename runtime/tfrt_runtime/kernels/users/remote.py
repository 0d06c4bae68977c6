"""Kernels with `remote=True`: tasks of a Dask cluster where the host's work queue has one, else calls here.

Nothing of the scheduler is here, and nothing of Dask is imported: the client comes with the user.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tfrt_runtime.callers import refuse
from tfrt_runtime.diagnostics import TfrtError, error, note
from tfrt_runtime.host.payload import SCALAR_TYPES, PayloadError
from tfrt_runtime.host.queues.queue_names import parse_work_queue
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.values.async_value import AsyncValue, State, when_all
from tfrt_runtime.host.values.fitting import fitting
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.users.outcomes import checked, items_of, nth_result, settle, settle_failed


class RemoteFuture(Protocol):
    """A `distributed.Future`."""

    def result(self) -> Any:
        """What the task returned, fetched; raises what it raised."""

    def exception(self) -> Any:
        """What the task raised, or None; what it returned stays where it is."""

    def cancel(self) -> Any:
        """Let the task not run, or its result be forgotten."""

    def add_done_callback(self, callback: Callable[[Any], None]) -> Any:
        """Call `callback(self)` when the task is over, on a thread of the client's."""


class Client(Protocol):
    """A `distributed.Client`."""

    def submit(self, function: Callable[..., Any], *values: Any, **options: Any) -> Any:
        """Start a task; values may be futures."""


class DaskWorkQueue(WorkQueue):
    """The queue `local`, whose hosts run remote kernels as tasks of a `distributed.Client`.

    The client stays the caller's: it is not closed with the host.
    """

    is_of_users = True

    def __init__(self, client: Client, local: str = "mstd") -> None:
        """
        Raises:
            TfrtError: if `local` describes no queue, or `client` is no open client that is called directly.
        """
        if not callable(getattr(client, "submit", None)) or getattr(client, "asynchronous", False):
            refuse(
                f"DaskWorkQueue takes a distributed.Client that is not asynchronous, found {client!r}"
            )
        self.client = client
        if self.is_client_closed:
            refuse(f"DaskWorkQueue takes a distributed.Client that is open, found {client!r}")
        threads, blocking = parse_work_queue(local)
        super().__init__(threads, blocking, f"Dask, and {local} here")

    @property
    def is_client_closed(self) -> bool:
        """Whether the client is closed, or about to be."""
        return getattr(self.client, "status", "") in ("closing", "closed")


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
        self._lock = threading.RLock()
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
        self._stays = not frame.is_read_here and len(results) == 1 and _may_stay(results[0].type)
        self._watch = frame.request.watched

    def begin(self) -> None:
        """Go on when all arguments are here, or will be on the cluster."""
        self._frame.request.enter()
        given = zip(self._arguments, self._remote, strict=True)
        when_all((value for value, future in given if future is None), self._go_on)

    def _go_on(self) -> None:
        try:
            if not self._has_submitted():
                self._end()
        except BaseException as problem:  # noqa: BLE001 - it becomes the results' error
            self._end_with(problem)

    def _has_submitted(self) -> bool:
        """Whether the call is a task of the cluster now; else its results are settled."""
        failed = next((v for v in self._arguments if v.state is State.ERROR), None)
        if failed is not None:
            for result in self._results:
                result.follow(failed)
            return False
        if self._frame.is_cancelled:
            return False
        given = [
            value.result(0) if future is None else future
            for value, future in zip(self._arguments, self._remote, strict=True)
        ]
        if self._queue is None:
            if self._watch is not None and self._watch.needs_cluster:
                text = f"remote kernel '{self._frame.name}' {NO_CLUSTER}"
                raise TfrtError(error(text, None, WAYS))
            settle(self._frame, self._results, self._function(*given, **self._attributes))
            return False
        import uuid  # for tasks of a cluster only

        results = self._results
        future = self._queue.client.submit(
            _run,
            self._function,
            self._attributes,
            _Stay(self._frame.name, results[0].type) if self._stays else None,
            *given,
            key=f"{self._frame.name}-{uuid.uuid4().hex}",
            pure=False,
            retries=self._retries,
        )
        if len(results) == 1:
            self._known.keep(results[0], future)
        self._frame.request.call_when_cancelled(self, future.cancel)
        future.add_done_callback(self._arrived)
        return True

    def _arrived(self, future: RemoteFuture) -> None:
        """The task is over.  On a thread of the client's."""
        self._frame.request.forget_when_cancelled(self)
        try:
            if not self._stays:
                settle(self._frame, self._results, future.result())
            elif (problem := future.exception()) is not None:
                raise problem
            else:
                with contextlib.suppress(RuntimeError):  # a cancellation has decided it
                    self._results[0].emplace(_ON_CLUSTER)
        except _LeftError as left:
            self._end_with(left.exit)
        except BaseException as problem:  # noqa: BLE001 - it becomes the results' error
            self._end_with(problem)
        else:
            self._end()

    def _end_with(self, problem: BaseException) -> None:
        is_cancelled = type(problem).__name__ in ("CancelledError", "FutureCancelledError")
        if not (is_cancelled and self._frame.is_cancelled):
            if is_cancelled and self._queue is not None and self._queue.is_client_closed:
                problem.add_note("the client of the DaskWorkQueue was closed")
            settle_failed(self._frame, self._results, problem)
        self._end()

    def _end(self) -> None:
        self._frame.request.leave()


@dataclass(frozen=True, slots=True)
class _Stay:
    """What is asked of a result that stays on the cluster: the kernel's name and the type."""

    kernel: str
    type: str


class _OnCluster:
    """In the place of a value that only remote kernels take, which is not fetched."""

    def __repr__(self) -> str:
        return "on the cluster"


_ON_CLUSTER = _OnCluster()


def _may_stay(type_text: str) -> bool:
    """Whether values of that type may be large: what is small is fetched."""
    if type_text in SCALAR_TYPES:
        return False
    try:
        return fitting(type_text, _ON_CLUSTER) is _ON_CLUSTER
    except PayloadError:
        return False


NO_CLUSTER = "runs on a cluster, and the host of this cell has no DaskWorkQueue"
WAYS = (
    note("make a host that has one: host = tfrt.HostContext(tfrt.DaskWorkQueue(client))"),
    note("run this cell there: %%tfrt --host host; or every cell: tfrt.set_default_host(host)"),
)


class _LeftError(Exception):
    """A kernel raised SystemExit."""

    @property
    def exit(self) -> SystemExit:
        """What it raised."""
        return SystemExit(*self.args)


def _run(
    function: Callable[..., object],
    attributes: dict[str, object],
    stay: _Stay | None,
    *values: object,
) -> object:
    """What a worker does.  It would end with a SystemExit that is raised there."""
    try:
        returned = function(*values, **attributes)
        if stay is not None:
            (item,) = items_of(returned, 1)
            checked(stay.type, item, nth_result(stay.kernel, 0, 1))
    except SystemExit as problem:
        raise _LeftError(*problem.args) from None
    except Exception as problem:
        from distributed import get_worker  # on the worker it is there

        problem.add_note(f"on the worker {get_worker().address}")
        raise
    return returned
