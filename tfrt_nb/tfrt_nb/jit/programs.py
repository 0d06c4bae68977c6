"""Compile each program only once, and load the machine code of known programs.

Object files are kept in memory, and on disk for later processes. The key of a program covers
everything on which its code depends: its source, its name in messages, the passes, the sources of
the compiler and the runtime, LLVM, and the processor. The code refers to functions by name, so it
does not depend on their addresses.

Loading a known program needs neither the passes nor the code that writes LLVM IR. Therefore,
`stages` is imported only to compile.
"""

from __future__ import annotations

import functools
import hashlib
from collections import OrderedDict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import llvmlite
import llvmlite.binding as llvm

from tfrt_nb.jit.compiler import MachineCode, load
from tfrt_runtime import async_runtime, cache
from tfrt_runtime.bef.wire import bytes_of
from tfrt_runtime.cache import Cache
from tfrt_runtime.native.library import sources_digest

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

_COMPILER = Path(__file__).parents[1]
_PARTS = ("compiled", "dialects", "jit", "passes", "source")
MAX_IN_MEMORY = 64


@dataclass
class CodeCache:
    """Stores the machine code of programs, by key, in files and for recent programs in memory."""

    files: Cache
    _recent: OrderedDict[str, bytes] = field(default_factory=OrderedDict)

    def get(self, key: str) -> bytes | None:
        """Return the object file of a program that was compiled before, or None."""
        code = self._recent.get(key) or self.files.get(f"program-{key}")
        if code is not None:
            self._remember(key, code)
        return code

    def put(self, key: str, code: bytes) -> None:
        """Store a program's object file, only in memory if files cannot be written."""
        self._remember(key, code)
        self.files.put(f"program-{key}", code)

    def _remember(self, key: str, code: bytes) -> None:
        self._recent[key] = code
        self._recent.move_to_end(key)
        if len(self._recent) > MAX_IN_MEMORY:
            self._recent.popitem(last=False)


@functools.cache
def code_cache() -> CodeCache:
    """Return the only CodeCache of this process."""
    return CodeCache(cache.code_cache())


def program_key(
    source: tuple[str, str],
    level: int,
    first: Sequence[ModulePass],
    adapted: Collection[str],
    symbols: Iterable[str] = (),
) -> str:
    """Return the key under which a program's object file is stored in the `CodeCache`.

    `symbols` are the names of the Python functions that the program calls. The other arguments are
    those of `compile_program`.
    """
    text, name = source
    how = "\n".join([str(level), *map(repr, first), *sorted(adapted), *sorted(symbols)])
    digest = hashlib.sha256(_compiler())
    for part in (name, how, text):
        # The NUL keeps different parts from forming the same bytes together.
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


def compile_program(
    module: ModuleOp,
    functions: Mapping[str, int],
    *first: ModulePass,
    adapted: Collection[str] = (),
    source: tuple[str, str] | None = None,
    level: int = 1,
) -> MachineCode:
    """Compile a program, or load it if it was compiled before and `source` is given.

    `functions` contains the addresses of the runtime's functions. The host calls a public function
    `f` through `coroutines.packed_name(f)`. Kernels call a function in `adapted` through
    `names.adapter_name(f)`. `source` is the string from which the module was parsed, and its name.
    """
    from tfrt_nb.jit.declarations import check_declarations

    externals = check_declarations(module)
    symbols = [external.symbol for external in externals.values()]
    key = None if source is None else program_key(source, level, first, adapted, symbols)
    code = None if key is None else code_cache().get(key)
    if code is None:
        # Imported here, because a program that is only loaded does not need the compiler.
        from tfrt_nb.jit.stages import object_of

        code = object_of(module, externals, first, level, adapted)
        if key is not None:
            code_cache().put(key, code)
    return load(code, functions)


def load_program(
    source: tuple[str, str],
    functions: Mapping[str, int],
    *first: ModulePass,
    adapted: Collection[str] = (),
    level: int = 1,
) -> MachineCode | None:
    """Return a program that `compile_program` compiled before, or None.

    The program must not call Python functions.
    """
    # The names of Python functions, which are part of a key, are unknown without a parsed program.
    code = code_cache().get(program_key(source, level, first, adapted))
    return None if code is None else load(code, functions)
