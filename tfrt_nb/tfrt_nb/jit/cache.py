"""Compiled programs that need not be compiled again: in memory, and as files for the next process.

A program is known by its text and everything else that its code depends on: how it is called in messages,
the passes, the compiler's own sources, LLVM, the processor.  The code refers to functions by name, so it
does not matter where they are.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import os
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path

import llvmlite.binding as llvm

from tfrt_runtime.native.library import cache_folder

_COMPILER = Path(__file__).parents[1]
_PARTS = ("compiled", "dialects", "jit", "passes", "source")
_END_OF_NAMES = b"\n\n"
MOST_IN_MEMORY = 64
MOST_FILES = 512


@dataclass(frozen=True)
class Compiled:
    """Machine code as an object file, and the functions that it calls."""

    code: bytes
    called: tuple[str, ...]


@dataclass
class CodeCache:
    """Programs by key; those that were used last stay in memory."""

    folder: Path
    _recent: OrderedDict[str, Compiled] = field(default_factory=OrderedDict)

    def get(self, key: str) -> Compiled | None:
        """The program, if it has been compiled before."""
        compiled = self._recent.get(key) or self._read(key)
        if compiled is not None:
            self._remember(key, compiled)
        return compiled

    def put(self, key: str, compiled: Compiled) -> None:
        """Keep a program; where files cannot be written, in memory only."""
        self._remember(key, compiled)
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            partial = self._path(key).with_suffix(f".{os.getpid()}.tmp")
            names = "\n".join(compiled.called).encode()
            partial.write_bytes(names + _END_OF_NAMES + compiled.code)
            # Atomic: another process that compiles the same replaces it by the same bytes.
            partial.replace(self._path(key))
            self._forget_the_oldest()

    def _remember(self, key: str, compiled: Compiled) -> None:
        self._recent[key] = compiled
        self._recent.move_to_end(key)
        if len(self._recent) > MOST_IN_MEMORY:
            self._recent.popitem(last=False)

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.o"

    def _read(self, key: str) -> Compiled | None:
        with contextlib.suppress(OSError):
            names, found, code = self._path(key).read_bytes().partition(_END_OF_NAMES)
            if found:
                return Compiled(code, tuple(names.decode().split()))
        return None

    def _forget_the_oldest(self) -> None:
        files = list(self.folder.glob("*.o"))
        if len(files) > MOST_FILES:
            files.sort(key=lambda path: path.stat().st_mtime)
            for path in files[: len(files) - MOST_FILES // 2]:
                path.unlink(missing_ok=True)


@functools.cache
def code_cache() -> CodeCache:
    """The cache of this process."""
    return CodeCache(cache_folder() / "programs")


def program_key(text: str, name: str, pipeline: str) -> str:
    """What a program is known by."""
    digest = hashlib.sha256(_compiler())
    for part in (name, pipeline, text):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()[:40]


@functools.cache
def _compiler() -> bytes:
    digest = hashlib.sha256()
    for part in _PARTS:
        for module in sorted((_COMPILER / part).rglob("*.py")):
            digest.update(module.read_bytes())
    for fact in (
        importlib.metadata.version("llvmlite"),
        importlib.metadata.version("xdsl"),
        llvm.get_host_cpu_name(),
        llvm.get_host_cpu_features().flatten(),
    ):
        digest.update(fact.encode() + b"\0")
    return digest.digest()
