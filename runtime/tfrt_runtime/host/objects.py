"""Python objects that native values refer to, by handle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, final


class ObjectTable:
    """Handles of Python objects.  Each handle has one owner, which releases it once.

    Safe from any thread that holds the GIL.
    """

    def __init__(
        self, function: Callable[[str], Callable[..., Any]], count: Callable[[], int]
    ) -> None:
        """`function` gives functions of `native.python.python_objects`; `count` says how many handles exist."""
        self.add: Callable[[object], int] = function("object_add")
        """A new handle to an object."""
        self.get: Callable[[int], object] = function("object_get")
        """The object behind a handle."""
        self.release: Callable[[int], object] = function("object_take")
        """End a handle; its object, which may die with the caller's reference."""
        self._count = count

    def __len__(self) -> int:
        return self._count()


class NoObject:
    """A base of classes whose instances mean something else than an object, where a kernel returns one."""

    __slots__ = ()


@final
class Chain(NoObject):
    """The value of a `!tfrt.chain`: it says that something has happened, and nothing else."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "CHAIN"


CHAIN: Final = Chain()


class NativeTensor(NoObject):
    """A base of tensors that native kernels can have; `native.python.python_runs` reads the slot.

    `_handle` is None, or an object whose first slot is the address of the native tensor.
    """

    __slots__ = ("_handle",)


class NativeValue(NoObject):
    """A base of AsyncValue; `native.python.python_runs` reads the slot.

    `_address` is that of the native value, or 0 when the object dies.
    """

    __slots__ = ("_address",)
    _address: int


class Run:
    """A base of runs: `native.python.python_runs` writes the slot."""

    __slots__ = ("words",)
    words: bytes
    """The native words of the run, which live as long as it."""
