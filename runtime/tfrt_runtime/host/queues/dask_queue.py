"""A work queue with a Dask cluster beside it: kernels with `remote=True` run as tasks of its client.

Nothing of the scheduler is here, and nothing of Dask is imported: the client comes with the user.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tfrt_runtime.callers import place_of_caller
from tfrt_runtime.diagnostics import TfrtError, error
from tfrt_runtime.host.queues.queue_names import parse_work_queue
from tfrt_runtime.host.queues.work_queue import WorkQueue


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
            text = f"DaskWorkQueue takes a distributed.Client that is not asynchronous, found {client!r}"
            raise TfrtError(error(text, place_of_caller()))
        self.client = client
        if self.is_client_closed:
            text = f"DaskWorkQueue takes a distributed.Client that is open, found {client!r}"
            raise TfrtError(error(text, place_of_caller()))
        threads, blocking = parse_work_queue(local)
        super().__init__(threads, blocking, f"Dask, and {local} here")

    @property
    def is_client_closed(self) -> bool:
        """Whether the client is closed, or about to be."""
        return getattr(self.client, "status", "") in ("closing", "closed")
