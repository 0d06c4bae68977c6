"""An async program at each stage of its compilation, as text or as machine code."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from tfrt_nb.jit.cache import Compiled, code_cache, program_key
from tfrt_nb.jit.compiler import (
    MachineCode,
    assembly,
    load,
    object_code,
    split_coroutines,
)
from tfrt_nb.jit.coroutines import lower_to_llvm
from tfrt_nb.jit.effort import worthwhile_effort
from tfrt_nb.passes.copying import copy_program
from tfrt_nb.passes.pipeline import executable_pipeline
from tfrt_nb.passes.printing import print_ir
from tfrt_runtime.bef.collector import collector_paused


class Stage(StrEnum):
    """What can be looked at, from the program to the processor."""

    ASYNC_RUNTIME = "async-runtime"
    COROUTINE = "coroutine"
    LLVM_SPLIT = "llvm-split"
    ASM = "asm"


def emit(module: ModuleOp, stage: Stage, *first: ModulePass) -> str:
    """The program at a stage: MLIR with runtime operations, LLVM IR with coroutine intrinsics, LLVM IR
    with the coroutines split, or assembly.  The module is left as it is.

    `first` are passes on the high-level operations, as for `executable_pipeline`.
    """
    lowered = _lowered(module, first)
    if stage is Stage.ASYNC_RUNTIME:
        return print_ir(lowered)
    effort = worthwhile_effort(lowered)
    text = lower_to_llvm(lowered, quick=effort.quick)
    match stage:
        case Stage.COROUTINE:
            return text
        case Stage.LLVM_SPLIT:
            return split_coroutines(text, effort.level)
        case Stage.ASM:
            return assembly(text, effort.level)


def compile_program(
    module: ModuleOp,
    functions: Mapping[str, int],
    *first: ModulePass,
    adapted: Collection[str] = (),
    source: tuple[str, str] | None = None,
) -> MachineCode:
    """Compile the program; `functions` are the addresses of what it calls, the runtime's included.

    Each public function `f` is called through `coroutines.packed_name(f)`.  Kernels call the functions
    `adapted` through `adapters.adapter_name(f)`.  With its `source`, the text that the module is made
    from and what that is called, a program is not compiled again that was before: see `cache`.
    """
    if source is None:
        return load(_compiled(module, first, adapted), functions)
    how = "\n".join([str(executable_pipeline(*first)), *sorted(adapted)])
    key = program_key(*source, how)
    compiled = code_cache().get(key)
    if compiled is None:
        compiled = _compiled(module, first, adapted)
        code_cache().put(key, compiled)
    return load(compiled, functions)


def _compiled(
    module: ModuleOp, first: tuple[ModulePass, ...], adapted: Collection[str] = ()
) -> Compiled:
    with collector_paused():
        lowered = _lowered(module, first, adapted)
        effort = worthwhile_effort(lowered)
        text = lower_to_llvm(lowered, frozenset(adapted), quick=effort.quick)
    return object_code(text, effort.level)


def _lowered(
    module: ModuleOp, first: tuple[ModulePass, ...], called: Collection[str] = ()
) -> ModuleOp:
    """A copy after the passes; the functions `called` from outside are public in it."""
    copy = copy_program(module)
    for op in copy.module.ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr) and name.data in called:
            op.properties.pop("sym_visibility", None)
    executable_pipeline(*first).apply(Context(), copy.module)
    return copy.complete()
