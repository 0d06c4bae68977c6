"""Large values on a Dask cluster: each value is sent once, even if several tasks take it.

Dask itself puts a task's arguments into the message that describes the task, so a value is sent
once for each task that takes it.  Dask's function `scatter` sends a value separately, and the
workers then get the value from each other.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from importlib import import_module
from typing import Any

LARGE = 1 << 20
"""The size in bytes above which a value is sent separately."""
KEPT = 8
"""Maximum number of values that stay on the cluster for later tasks.

The value that was used least recently is dropped first.
"""


class Sent:
    """Keeps track of the large values that a Dask client has sent, so that each is sent once.

    Values are compared by content, because a caller may change an array between runs.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._futures: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.RLock()

    def future_of(self, value: object) -> Any:
        """Return the future for `value` if it is large, or None if it is small.

        A large value is sent now, unless it is already on the cluster.

        Raises:
            Exception: any exception that Dask raises because it cannot send the value.
        """
        is_small = value is None or isinstance(value, bool | int | float | str)
        if is_small or import_module("dask.sizeof").sizeof(value) < LARGE:
            return None
        key = import_module("dask.base").tokenize(value)
        with self._lock:  # if several calls need the value, the first one sends it
            future = self._futures.pop(key, None)
            # The cluster may have lost the value together with its workers.
            if future is None or future.status != "finished":
                future = self._client.scatter(value, hash=False)
            self._futures[key] = future
            if len(self._futures) > KEPT:
                self._futures.popitem(last=False)
        return future
