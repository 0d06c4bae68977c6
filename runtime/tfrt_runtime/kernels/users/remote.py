"""Kernels with `remote=True`: tasks on the Dask cluster of the host's work queue, or local calls.

This module does not import Dask, because the user supplies the client.

A function that is defined in a notebook or script is sent by value.  Its code keeps the file name,
so that a traceback from a worker shows the source lines here.
"""

from __future__ import annotations

import contextlib
import pickle
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from traceback import walk_tb
from types import CodeType, TracebackType
from typing import Any

from tfrt_runtime.diagnostics import TfrtError, error, note, refuse
from tfrt_runtime.host.payload import SCALAR_TYPES, HostTensor, PayloadError
from tfrt_runtime.host.queues.queue_names import parse_work_queue
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.values.async_value import AsyncValue, when_all
from tfrt_runtime.host.values.fitting import fitting
from tfrt_runtime.host.values.held_value import State
from tfrt_runtime.host.values.promises import Refuse, from_future
from tfrt_runtime.kernels.frame import KernelFrame, start_results
from tfrt_runtime.kernels.users.outcomes import checked, items_of, nth_result, settle, settle_failed
from tfrt_runtime.kernels.users.sent import Sent
from tfrt_runtime.kernels.users.stories import story_of


class DaskWorkQueue(WorkQueue):
    """A work queue for hosts whose remote kernels run as tasks of a `distributed.Client`.

    Other kernels run on a local queue, which `local` describes.  The client still belongs to the
    caller: closing the host does not close the client.
    """

    is_of_users = True

    def __init__(self, client: Any, local: str = "mstd") -> None:
        """Raises:
        TfrtError: if `local` does not describe a queue or `client` is not an open, synchronous
            client.
        """
        if not callable(getattr(client, "submit", None)) or getattr(client, "asynchronous", False):
            refuse(
                f"DaskWorkQueue takes a distributed.Client that is not asynchronous, found {client!r}"  # noqa: E501
            )
        self.client = client
        if self.is_client_closed:
            refuse(f"DaskWorkQueue takes a distributed.Client that is open, found {client!r}")
        self.sent = Sent(client)
        self._given: weakref.WeakKeyDictionary[AsyncValue, Any] = weakref.WeakKeyDictionary()
        threads, blocking = parse_work_queue(local)
        super().__init__(threads, blocking, f"Dask, and {local} here")

    @property
    def is_client_closed(self) -> bool:
        """Whether the client is closed or about to be closed."""
        return getattr(self.client, "status", "") in ("closing", "closed")

    def taken_future(
        self, future: object, type_text: str, refuse: Refuse, *, stays: bool
    ) -> AsyncValue | None:
        """Return a value for a future of this client, or None if it is another client's future.

        Remote kernels take the future itself.  With `stays`, only remote kernels use the value, so
        the future's result is not fetched.
        """
        if getattr(future, "client", None) is not self.client:
            return None
        is_kept = stays and _may_stay(type_text)
        fetch = (lambda _: _ON_CLUSTER) if is_kept else lambda done: done.result()
        value = from_future(self, future, type_text, refuse, fetch=fetch)  # type: ignore[arg-type]
        self._given[value] = future
        return value

    def adopt(self, request: Request, value: AsyncValue) -> None:
        """Record that `value` is an argument of a run.

        The run's remote kernels then use the value's future.
        """
        future = self._given.pop(value, None)
        if future is not None:
            request.resources.get_or_create("remote values", _Known, _Known).keep(value, future)


def on_cluster(function: Callable[..., object], attributes: Sequence[str]) -> Callable[..., object]:
    """Return a kernel function that calls `function` on the cluster.

    The kernel function takes the frame, the arguments as AsyncValues, and the attributes.
    """

    def start(frame: KernelFrame, *values: Any) -> AsyncValue | tuple[AsyncValue, ...]:
        count = len(values) - len(attributes)
        named = dict(zip(attributes, values[count:], strict=True))
        results = start_results(frame)
        _Call(frame, results, function, values[:count], named).begin()
        return results[0] if len(results) == 1 else results

    return start


class _Known:
    """A run's values that are also on the cluster.

    A value is identified by its address, which stays unique because this object refers to the
    value.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._futures: dict[int, tuple[AsyncValue, Any]] = {}

    def keep(self, value: AsyncValue, future: Any) -> None:
        """Record that `value` will be the result of the future's task."""
        with self._lock:
            self._futures[value.address] = value.reference(), future

    def future_of(self, value: AsyncValue) -> Any:
        """Return the future that has `value` as its result, or None.

        A remote kernel passes the future to the cluster, so `value` is not sent again.
        """
        with self._lock:
            found = (self._futures.get(address) for address in value.addresses())
            return next((one[1] for one in found if one is not None), None)


class _Call:
    """One call of a remote kernel.

    The call waits for the arguments that are not on the cluster, submits a task, and resolves the
    results when the task is done.
    """

    def __init__(
        self,
        frame: KernelFrame,
        results: tuple[AsyncValue, ...],
        function: Callable[..., object],
        arguments: Sequence[AsyncValue],
        attributes: dict[str, object],
    ) -> None:
        self._frame = frame
        self._results = results
        self._function = function
        self._arguments = arguments
        self._attributes = attributes
        queue = frame.host.work_queue
        self._queue = queue if isinstance(queue, DaskWorkQueue) else None
        self._known = frame.resources.get_or_create("remote values", _Known, _Known)
        # The futures of arguments; holding them keeps the data on the cluster.
        self._remote = [self._known.future_of(value) for value in arguments]
        self._stays = not frame.is_read_here and len(results) == 1 and _may_stay(results[0].type)
        self._watch = frame.request.watched
        self._kernel = -1 if self._watch is None else self._watch.kernel_here
        self._names_worker = self._watch is not None or frame.host.is_traced
        self._beginning = threading.RLock()
        """Held until `begin` has returned."""

    def begin(self) -> None:
        """Enter the run, and continue once each argument is available or will be on the cluster."""
        self._frame.request.enter()
        given = zip(self._arguments, self._remote, strict=True)
        with self._beginning:
            when_all((value for value, future in given if future is None), self._go_on)

    def _go_on(self) -> None:
        try:
            if not self._has_submitted():
                self._frame.request.leave(self)
        except BaseException as problem:  # noqa: BLE001 - it becomes the results' error
            self._end_with(problem)

    def _has_submitted(self) -> bool:
        """Submit the call to the cluster and return True.

        If the call cannot or need not run on the cluster, resolve the results here and return
        False.
        """
        failed = next((v for v in self._arguments if v.state is State.ERROR), None)
        if failed is not None:
            for result in self._results:
                result.follow(failed)
            return False
        if self._frame.is_cancelled:
            return False
        given = [
            self._sent(value) if future is None else future
            for value, future in zip(self._arguments, self._remote, strict=True)
        ]
        if self._queue is None:
            if self._watch is not None and self._watch.needs_cluster:
                text = f"remote kernel '{self._frame.name}' {NO_CLUSTER}"
                raise TfrtError(error(text, None, WAYS))
            settle(self._frame, self._results, self._function(*given, **self._attributes))
            return False
        import uuid  # imported here, because only tasks on a cluster need it

        results = self._results
        future = self._queue.client.submit(
            _run,
            _pickled(self._function),
            self._attributes,
            _Stay(self._frame.name, results[0].type) if self._stays else None,
            *given,
            # Dask treats tasks with the same key as one task.
            key=f"{self._frame.name}-{uuid.uuid4().hex}",
            pure=False,
        )
        if self._watch is not None:
            self._story = story_of(self._frame, self._queue.client, self._kernel, future)
        if len(results) == 1:
            self._known.keep(results[0], future)
        # Do this before adding the callback, because `_arrived` removes the entry.
        self._frame.request.call_when_cancelled(self, future.cancel)
        future.add_done_callback(self._arrived)
        return True

    def _sent(self, value: AsyncValue) -> object:
        """Return an argument for a task: the value itself, or a future if the value is large.

        Other calls in the same run reuse the future.
        """
        item = value.result(0)
        future = None if self._queue is None else self._queue.sent.future_of(item)
        if future is None:
            return item
        self._known.keep(value, future)
        return future

    def _arrived(self, future: Any) -> None:
        """Resolve the results after the task has ended.

        Threads: one of the client's threads
        """
        if self._watch is not None:
            self._story.append((time.monotonic_ns(), "here", ""))
        # Wait for `begin` to return: the kernel's end event must precede its results' events, which
        # name the worker.
        with self._beginning:
            pass
        returned: object = _ON_CLUSTER
        problem: BaseException | None = None
        worker = ""
        try:
            if future.status == "error":
                problem = future.exception()
            elif not (self._stays and future.status == "finished"):
                returned = future.result()
            if self._names_worker:
                worker = self._worker(future, problem)
        except BaseException as found:  # noqa: BLE001 - it becomes the results' error
            problem = found
        with self._results[0].queue.as_thread(worker) if worker else contextlib.nullcontext():
            self._resolve(returned, problem)

    def _resolve(self, returned: object, problem: BaseException | None) -> None:
        """Resolve the results to the task's values or to its exception."""
        try:
            if problem is not None:
                raise problem.opened() if isinstance(problem, _Raised) else problem
            if returned is not _ON_CLUSTER:
                settle(self._frame, self._results, returned)
            else:
                with contextlib.suppress(RuntimeError):  # a cancellation has resolved it
                    self._results[0].emplace(returned)
        except BaseException as found:  # noqa: BLE001 - it becomes the results' error
            self._end_with(found)
        else:
            self._frame.request.leave(self)

    def _worker(self, future: Any, problem: BaseException | None) -> str:
        """Return the address of the worker that ran the task, or "" if it is unknown."""
        if isinstance(problem, _Raised):
            return problem.worker
        if problem is not None:
            last = getattr(problem, "last_worker", None)  # KilledWorker names the last worker
            return str(getattr(last, "address", ""))
        assert self._queue is not None
        # No task that takes the value has started yet, so no other worker has a copy.
        holders = self._queue.client.who_has([future]).values()
        return next((str(address) for addresses in holders for address in addresses), "")

    def _end_with(self, problem: BaseException) -> None:
        is_cancelled = type(problem).__name__ in ("CancelledError", "FutureCancelledError")
        if not (is_cancelled and self._frame.is_cancelled):
            if is_cancelled and self._queue is not None and self._queue.is_client_closed:
                problem.add_note("the client of the DaskWorkQueue was closed")
            settle_failed(self._frame, self._results, problem)
        self._frame.request.leave(self)


@dataclass(frozen=True, slots=True)
class _Stay:
    """A result that stays on the cluster: the name of the kernel, and the type of the result."""

    kernel: str
    type: str


class _OnCluster(HostTensor):
    """A placeholder for a value that only remote kernels use, so that the value is not fetched."""

    def __repr__(self) -> str:
        return "on the cluster"


_ON_CLUSTER = _OnCluster()


def _may_stay(type_text: str) -> bool:
    """Return whether values of the type may be large; small values are always fetched."""
    if type_text in SCALAR_TYPES:
        return False
    try:
        return fitting(type_text, _ON_CLUSTER) is _ON_CLUSTER
    except PayloadError:
        return False


NO_CLUSTER = "runs on a cluster, but this cell's host has no DaskWorkQueue"
WAYS = (
    note("make a host that has one: host = tfrt.HostContext(tfrt.DaskWorkQueue(client))"),
    note("run this cell there: %%tfrt --host host; or every cell: tfrt.set_default_host(host)"),
)


Place = tuple[str, str, str, str, int, int]
"""The fields of a frame: module name, file, function name, qualified name, first line, and line."""


MAX_FRAMES = 100
"""Maximum number of frames that a worker sends.

A RecursionError has hundreds of frames, and Dask cannot send them.
"""
MAX_SAID = 1000
"""Maximum length of an exception's text.  Dask replaces a longer exception with another one."""


class _Raised(Exception):
    """A kernel's exception on a worker, with its cause and the locations that Dask omits.

    Dask sends only the files, names, and lines of the frames.  The module tblib, which Dask uses,
    recreates the frames as frames of its own code.
    """

    def __init__(self, worker: str, places: Sequence[Sequence[Place]]) -> None:
        """Store the worker's address and the frames of each exception in the chain, in `places`."""
        super().__init__(worker, places)
        self.worker, self.places = worker, places

    def __str__(self) -> str:
        # Text for the worker's log, and for Dask if it cannot send the cause.
        return f"{type(self.__cause__).__name__}: {self.__cause__}"[:MAX_SAID]

    __repr__ = __str__

    def opened(self) -> BaseException:
        """Return the kernel's exception with a traceback made from the recorded places."""
        assert self.__cause__ is not None
        chain = _chain(self.__cause__)
        # If some exceptions were lost on the way, only the first one is known to be the same.
        is_whole = len(chain) == len(self.places)
        for one, places in zip(chain if is_whole else chain[:1], self.places, strict=False):
            one.__traceback__ = _traceback(places)
        return self.__cause__


def _chain(problem: BaseException) -> list[BaseException]:
    """Return an exception and its chain of causes."""
    found: list[BaseException] = []
    left: list[BaseException | None] = [problem]
    while left:
        if (one := left.pop()) is not None and not any(one is other for other in found):
            found.append(one)
            left += (one.__cause__, one.__context__, *getattr(one, "exceptions", ()))
    return found


def _places(problem: BaseException) -> list[Place]:
    """Return the place where an exception was raised, and the calls that led there."""
    found = [(f, f.f_code, line) for f, line in walk_tb(problem.__traceback__)]
    return [
        (
            str(f.f_globals.get("__name__")),
            c.co_filename,
            c.co_name,
            c.co_qualname,
            c.co_firstlineno,
            line,
        )
        for f, c, line in found
    ]


def _traceback(places: Sequence[Place]) -> TracebackType | None:
    """Return a traceback with these places, built from generated code that only raises."""
    made: TracebackType | None = None
    for module, file, name, qualified, first, line in reversed(places):
        text = "\n" * (line - first) + "raise _"
        code = compile(text, file, "exec").replace(
            co_name=name, co_qualname=qualified, co_firstlineno=min(first, line)
        )
        try:
            exec(code, {"__name__": module})  # noqa: S102
        except NameError as stopped:
            _, frame = (frame for frame, _ in walk_tb(stopped.__traceback__))
            # Pass no instruction: its columns would be those of the generated source above.
            made = TracebackType(made, frame, -1, line)
    return made


def _pickled(function: Callable[..., object]) -> bytes:
    """Return `function` pickled for workers; its code objects keep their file names."""
    import io

    file = io.BytesIO()
    _pickler()(file).dump(function)
    return file.getvalue()


@cache
def _pickler() -> Any:
    cloudpickle: Any = import_module("cloudpickle")  # Dask requires it, so it is installed

    reduce_code = cloudpickle.CloudPickler.dispatch_table[CodeType]

    def reduce(code: CodeType) -> tuple[Any, ...]:
        make, parts = reduce_code(code)
        return make, tuple(code.co_filename if part == "<dynamic-code>" else part for part in parts)

    class Pickler(cloudpickle.CloudPickler):  # type: ignore[misc]
        dispatch_table = cloudpickle.CloudPickler.dispatch_table.new_child({CodeType: reduce})

    return Pickler


def _run(
    function: bytes,
    attributes: dict[str, object],
    stay: _Stay | None,
    *values: object,
) -> object:
    """Run a kernel on a worker.  The kernel's exception is raised here, so that Dask sends it.

    Even a SystemExit is sent, because it would otherwise stop the worker.
    """
    from distributed import get_worker  # it is installed on the worker

    address = get_worker().address
    try:
        returned = pickle.loads(function)(*values, **attributes)
        if stay is not None:
            (returned,) = items_of(returned, (stay.type,))
            checked(stay.type, returned, nth_result(stay.kernel, 0, 1))
    except (SystemExit, Exception) as problem:
        if not isinstance(problem, SystemExit):
            problem.add_note(f"on the worker {address}")
        chain = _chain(problem)
        raised = _Raised(address, [_places(one) for one in chain])
        if len(raised.places[0]) < MAX_FRAMES:
            raised.with_traceback(problem.__traceback__)  # for the worker's log
        for one in chain:
            one.__traceback__ = None
        raise raised from problem
    return returned
