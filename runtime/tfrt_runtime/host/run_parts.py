"""The parts of a run: the objects that its kernels share, and its output."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import Context
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from tfrt_runtime.host.tracing.events import Watch  # small programs avoid its imports

T = TypeVar("T")


class ResourceContext:
    """Named objects that live as long as a run, and are destroyed in reverse order of creation.

    Safe to share between threads: a resource is created once, on the first thread that requests it.
    """

    def __init__(self) -> None:
        self._resources: dict[str, object] = {}
        self._lock = threading.RLock()

    def get(self, name: str, kind: type[T]) -> T | None:
        """Return the resource with the given name, or None.

        Raises:
            TypeError: if the resource is of another type.
        """
        with self._lock:
            found = self._resources.get(name)
        if found is not None and not isinstance(found, kind):
            raise TypeError(f"resource '{name}' is a {type(found).__name__}, not a {kind.__name__}")
        return found

    def create(self, name: str, resource: T) -> T:
        """Add a resource.

        Raises:
            KeyError: if the name is taken.
        """
        with self._lock:
            if name in self._resources:
                raise KeyError(f"resource '{name}' already exists")
            self._resources[name] = resource
        return resource

    def get_or_create(self, name: str, kind: type[T], make: Callable[[], T]) -> T:
        """Return the resource with the given name; create it if it does not exist."""
        with self._lock:
            found = self.get(name, kind)
            return self.create(name, make()) if found is None else found

    def clear(self) -> None:
        """Destroy all resources, newest first."""
        with self._lock:
            while self._resources:
                self._resources.popitem()

    def __del__(self) -> None:
        self.clear()


def print_for(
    printed: list[str],
    watch: Watch | None,
    caller: Context | None,
    sink: Callable[[str], object],
    text: str,
) -> None:
    """Print text for a run, in the context of the call that started the run."""
    if watch is not None:
        watch.note_output(text)
    printed.append(text)
    within(caller, sink, text)


def within(context: Context | None, function: Callable[..., T], *values: object) -> T:
    """Call a function in a copy of `context`, or in the current context if it is None.

    A copy is needed because another thread may be using `context`.
    """
    return function(*values) if context is None else context.copy().run(function, *values)
