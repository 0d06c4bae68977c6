"""The machine code of a program, which is made once: a program that was compiled before is only loaded.

To load one needs nothing of the passes and of what writes LLVM IR; `stages` is imported for the others.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tfrt_nb.jit.cache import code_cache, program_key
from tfrt_nb.jit.compiler import MachineCode, load
from tfrt_nb.jit.operations.externals import check_declarations


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
    `adapted` through `adapters.adapter_name(f)`.  With its `source`, the text that the module is made
    from and what that is called, a program is not compiled again that was before: see `cache`.
    """
    externals = check_declarations(module)
    symbols = sorted(external.symbol for external in externals.values())
    how = "\n".join([str(level), *map(repr, first), *sorted(adapted), *symbols])
    key = None if source is None else program_key(*source, how)
    code = None if key is None else code_cache().get(key)
    if code is None:
        from tfrt_nb.jit.stages import object_of

        code = object_of(module, externals, first, level, adapted)
        if key is not None:
            code_cache().put(key, code)
    return load(code, functions)
