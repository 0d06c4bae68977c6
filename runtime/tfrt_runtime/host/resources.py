"""Resources of a run, by name."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class ResourceContext:
    """Objects by name that live as long as a run; destroyed in reverse order of creation.

    Safe to share between threads: a resource is made once, on the first thread that asks.
    """

    def __init__(self) -> None:
        self._resources: dict[str, object] = {}
        self._lock = threading.RLock()

    def get(self, name: str, kind: type[T]) -> T | None:
        """The resource of that name, or None.

        Raises:
            TypeError: if it is of another kind.
        """
        with self._lock:
            found = self._resources.get(name)
        if found is not None and not isinstance(found, kind):
            raise TypeError(f"resource '{name}' is a {type(found).__name__}, not a {kind.__name__}")
        return found

    def create(self, name: str, resource: T) -> T:
        """Add a resource.

        Raises:
            KeyError: if there is one of that name.
        """
        with self._lock:
            if name in self._resources:
                raise KeyError(f"resource '{name}' exists already")
            self._resources[name] = resource
        return resource

    def get_or_create(self, name: str, kind: type[T], make: Callable[[], T]) -> T:
        """The resource of that name, made now if there is none."""
        with self._lock:
            found = self.get(name, kind)
            return self.create(name, make()) if found is None else found

    def clear(self) -> None:
        """Destroy all resources, the newest first."""
        with self._lock:
            while self._resources:
                self._resources.popitem()

    def __del__(self) -> None:
        self.clear()
