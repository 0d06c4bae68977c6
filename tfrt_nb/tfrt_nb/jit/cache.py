"""Compiled programs that need not be compiled again: in memory, and as files for the next process.

A program is known by its text and everything else that its code depends on: how it is called in messages,
the passes, the sources of compiler and runtime, LLVM, the processor.  The code refers to functions by name, so it
does not matter where they are.
"""

from __future__ import annotations

import functools
import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from tfrt_nb.jit.names import bytes_of
from tfrt_runtime import async_runtime, cache
from tfrt_runtime.cache import Cache
from tfrt_runtime.native.loaded import sources_digest

_COMPILER = Path(__file__).parents[1]
_PARTS = ("compiled", "dialects", "jit", "passes", "source")
MAX_IN_MEMORY = 64


@dataclass
class CodeCache:
    """The object files of programs by key; those that were used last stay in memory."""

    files: Cache
    _recent: OrderedDict[str, bytes] = field(default_factory=OrderedDict)

    def get(self, key: str) -> bytes | None:
        """The program, if it has been compiled before."""
        code = self._recent.get(key) or self.files.get(f"program-{key}")
        if code is not None:
            self._remember(key, code)
        return code

    def put(self, key: str, code: bytes) -> None:
        """Keep a program; where files cannot be written, in memory only."""
        self._remember(key, code)
        self.files.put(f"program-{key}", code)

    def _remember(self, key: str, code: bytes) -> None:
        self._recent[key] = code
        self._recent.move_to_end(key)
        if len(self._recent) > MAX_IN_MEMORY:
            self._recent.popitem(last=False)


@functools.cache
def code_cache() -> CodeCache:
    """The cache of this process."""
    return CodeCache(cache.code_cache())


def program_key(text: str, name: str, pipeline: str) -> str:
    """What a program is known by."""
    digest = hashlib.sha256(_compiler())
    for part in (name, pipeline, text):
        digest.update(bytes_of(part) + b"\0")
    return digest.hexdigest()[:40]


@functools.cache
def _compiler() -> bytes:
    folders = [*(_COMPILER / part for part in _PARTS), Path(async_runtime.__file__).parent]
    facts = (
        sources_digest(),
        llvmlite.__version__,
        cache.installed("xdsl"),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    )
    return cache.digest_of(folders, facts)
