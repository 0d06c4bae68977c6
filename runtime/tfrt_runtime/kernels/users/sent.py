"""Large values on a Dask cluster: each is sent there once, regardless of how many tasks take it.

Dask puts the arguments of a task into the message that describes it, once for each task; `scatter`
sends a value by itself, and workers get it from each other.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from importlib import import_module
from typing import Any

LARGE = 1 << 20
"""Size in bytes from which a value is sent separately."""
KEPT = 8
"""The most values that stay on the cluster for later tasks; the least recently used goes first.
"""


class Sent:
    """The values that a client has sent, identified by content: a caller may change an array
    between runs.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._futures: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.RLock()

    def future_of(self, value: object) -> Any:
        """Return the future of a large `value`, which is sent to the cluster now; None if it is
        small.

        Raises:
            Exception: Dask's exception, if the value cannot be sent.
        """
        is_small = value is None or isinstance(value, bool | int | float | str)
        if is_small or import_module("dask.sizeof").sizeof(value) < LARGE:
            return None
        key = import_module("dask.base").tokenize(value)
        with self._lock:  # the first of several calls with the value sends it
            future = self._futures.pop(key, None)
            if future is None or future.status != "finished":
                future = self._client.scatter(value, hash=False)
            self._futures[key] = future
            if len(self._futures) > KEPT:
                self._futures.popitem(last=False)
        return future
