"""The native core in this process: addresses of its entries, in whatever way it was loaded."""

from __future__ import annotations

import abc
import ctypes
import functools
import hashlib
from collections.abc import Callable
from pathlib import Path

Progress = Callable[[str], None]
HERE = Path(__file__).parent
SOURCES = "tfrt_core_sources"
"""What a shared object exports: the digest of the sources that it was made from."""


@functools.cache
def sources_digest() -> str:
    """Of the text of the core's modules, and of the table of scalar operations."""
    digest = hashlib.sha256()
    modules = sorted(one for one in HERE.rglob("*.py") if one.parent.name != "simulator")
    for module in [*modules, HERE.parent / "scalars.py"]:
        digest.update(module.name.encode() + module.read_bytes())
    return digest.hexdigest()


class Library(abc.ABC):
    """The entries of the loaded core.  `library[name]` is an address."""

    @abc.abstractmethod
    def __getitem__(self, name: str) -> int:
        """The address of an entry.

        Raises:
            KeyError: if there is none of that name.
        """


class Prebuilt(Library):
    """The core as a shared object that came with the package."""

    def __init__(self, path: Path) -> None:
        """Open it.

        Raises:
            OSError: if it is not whole, or for another machine.
        """
        self._library = ctypes.CDLL(str(path))

    def __getitem__(self, name: str) -> int:
        try:
            found = self._library[name]
        except AttributeError:
            raise KeyError(name) from None
        return ctypes.cast(found, ctypes.c_void_p).value or 0

    @property
    def sources(self) -> str:
        """The digest of the sources that it was made from."""
        return bytes((ctypes.c_char * 64).in_dll(self._library, SOURCES)).decode()
