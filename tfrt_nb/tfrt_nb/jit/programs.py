"""Compile each program only once, and load the machine code of known programs.

Object files are kept in memory, and on disk for later processes. The key of a program covers its
text and everything else on which its code depends: its name in messages, the passes, the sources of
compiler and runtime, LLVM, and the processor. The code refers to functions by name, so it does not
depend on their addresses.

Loading needs neither the passes nor the code that writes LLVM IR; `stages` is imported only to
compile.
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
from tfrt_nb.jit.names import bytes_of
from tfrt_runtime import async_runtime, cache
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
    """The object files of programs by key; the most recently used ones stay in memory."""

    files: Cache
    _recent: OrderedDict[str, bytes] = field(default_factory=OrderedDict)

    def get(self, key: str) -> bytes | None:
        """Return the program's object file if it has been compiled before."""
        code = self._recent.get(key) or self.files.get(f"program-{key}")
        if code is not None:
            self._remember(key, code)
        return code

    def put(self, key: str, code: bytes) -> None:
        """Keep a program's object file. If files cannot be written, keep it only in memory."""
        self._remember(key, code)
        self.files.put(f"program-{key}", code)

    def _remember(self, key: str, code: bytes) -> None:
        self._recent[key] = code
        self._recent.move_to_end(key)
        if len(self._recent) > MAX_IN_MEMORY:
            self._recent.popitem(last=False)


@functools.cache
def code_cache() -> CodeCache:
    """Return the cache of this process."""
    return CodeCache(cache.code_cache())


def program_key(
    source: tuple[str, str],
    level: int,
    first: Sequence[ModulePass],
    adapted: Collection[str],
    symbols: Iterable[str] = (),
) -> str:
    """Return the key of a program.

    The arguments are as for `compile_program`; `symbols` are Python functions.
    """
    text, name = source
    how = "\n".join([str(level), *map(repr, first), *sorted(adapted), *sorted(symbols)])
    digest = hashlib.sha256(_compiler())
    for part in (name, how, text):
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
    """Compile the program; `functions` has the addresses of the runtime's functions.

    Each public function `f` is called through `coroutines.packed_name(f)`. Kernels call the
    functions `adapted` through `names.adapter_name(f)`. `source` is the text from which the module
    was parsed, and its name. With a `source`, a program that was compiled before is not compiled
    again.
    """
    from tfrt_nb.jit.declarations import check_declarations

    externals = check_declarations(module)
    symbols = [external.symbol for external in externals.values()]
    key = None if source is None else program_key(source, level, first, adapted, symbols)
    code = None if key is None else code_cache().get(key)
    if code is None:
        # Imported here because a program that is only loaded needs no compiler.
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
    """Return a program that `compile_program` has compiled before, or None.

    The program must not call Python functions.
    """
    code = code_cache().get(program_key(source, level, first, adapted))
    return None if code is None else load(code, functions)
