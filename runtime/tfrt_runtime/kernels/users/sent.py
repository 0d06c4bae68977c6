"""Large values on a Dask cluster: each is sent there once, however many tasks and runs take it.

Dask puts the arguments of a task into the message that describes it, once for each task; `scatter`
sends a value by itself, and workers get it from each other.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from importlib import import_module
from typing import Any

LARGE = 1 << 20
"""Bytes from which on a value is sent by itself."""
KEPT = 8
"""Values that stay on the cluster for later tasks; the one that was not taken for longest goes
first.
"""


class Sent:
    """The values that a client has sent.  Known by their content: a caller may change an array
    between runs.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._futures: OrderedDict[str, Any] = OrderedDict()
        self._lock = threading.RLock()

    def future_of(self, value: object) -> Any:
        """The future of `value` on the cluster, which is sent there now if it is large; None if it
        is small.

        Raises:
            Exception: what Dask raises if it cannot be sent.
        """
        if isinstance(value, bool | int | float | str) or value is None:
            return None
        if import_module("dask.sizeof").sizeof(value) < LARGE:
            return None
        key = import_module("dask.base").tokenize(value)
        with self._lock:  # of several calls with one value, the first one sends it
            future = self._futures.pop(key, None)
            if future is None or future.status != "finished":
                future = self._client.scatter(value, hash=False)
            self._futures[key] = future
            if len(self._futures) > KEPT:
                self._futures.popitem(last=False)
        return future
