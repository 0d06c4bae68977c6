"""The native core in this process: addresses of its entries."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
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
    for module in [*sorted(HERE.rglob("*.py")), HERE.parent / "scalars.py"]:
        digest.update(module.name.encode() + module.read_bytes())
    return digest.hexdigest()


class Library(dict[str, int]):
    """The loaded core, a shared object: addresses of its entries by name, found when they are asked for."""

    def __init__(self, path: Path | str) -> None:
        """Open it.

        Raises:
            OSError: if it is not whole, or for another machine.
        """
        self._library = ctypes.CDLL(str(path))

    @staticmethod
    def of_bytes(core: bytes) -> Library:
        """The core whose file would have these bytes, which no other process can change any more.

        Raises:
            OSError: as above, or where a process may have no files in memory.
        """
        with open(os.memfd_create("tfrt-core"), "wb") as file:
            file.write(core)
            file.flush()
            return Library(f"/proc/self/fd/{file.fileno()}")

    def __missing__(self, name: str) -> int:
        try:
            found = self._library[name]
        except AttributeError:
            raise KeyError(name) from None
        address = self[name] = ctypes.cast(found, ctypes.c_void_p).value or 0
        return address

    @property
    def sources(self) -> str:
        """The digest of the sources that it was made from."""
        return bytes((ctypes.c_char * 64).in_dll(self._library, SOURCES)).decode()
