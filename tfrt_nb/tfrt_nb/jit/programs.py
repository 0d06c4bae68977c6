"""The machine code of a program, which is made once: a program that was compiled before is only loaded.

To load one needs nothing of the passes and of what writes LLVM IR; `stages` is imported for the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tfrt_nb.jit.cache import code_cache, program_key
from tfrt_nb.jit.compiler import MachineCode, load

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass


def compile_program(
    module: ModuleOp,
    functions: Mapping[str, int],
    *first: ModulePass,
    adapted: Collection[str] = (),
    source: tuple[str, str] | None = None,
    level: int = 1,
) -> MachineCode:
    """Compile the program; `functions` are the addresses of the runtime's functions.

    Each public function `f` is called through `coroutines.packed_name(f)`.  Kernels call the functions
    `adapted` through `names.adapter_name(f)`.  With its `source`, the text that the module is made
    from and what that is called, a program is not compiled again that was before: see `cache`.
    """
    from tfrt_nb.jit.operations.externals import check_declarations

    externals = check_declarations(module)
    symbols = [external.symbol for external in externals.values()]
    key = None if source is None else _key(source, level, first, adapted, symbols)
    code = None if key is None else code_cache().get(key)
    if code is None:
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
    """A program that `compile_program` has compiled before, if it has; for one that calls nothing of Python."""
    code = code_cache().get(_key(source, level, first, adapted))
    return None if code is None else load(code, functions)


def _key(
    source: tuple[str, str],
    level: int,
    first: Sequence[ModulePass],
    adapted: Collection[str],
    symbols: Iterable[str] = (),
) -> str:
    how = [str(level), *map(repr, first), *sorted(adapted), *sorted(symbols)]
    return program_key(*source, "\n".join(how))
