"""Run the passes that turn a program into the form that is compiled or interpreted.

This module does not need LLVM.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tfrt_nb.dialects.types import symbol_name
from tfrt_nb.jit.declarations import Externals, check_declarations, expand_calls
from tfrt_nb.passes.copying import copy_program
from tfrt_nb.passes.pipeline import executable_pipeline


def after_passes(
    module: ModuleOp,
    externals: Externals,
    first: tuple[ModulePass, ...],
    level: int,
    called: Collection[str] = (),
    *,
    spawn: bool = True,
) -> ModuleOp:
    """Return a copy of a program after the passes.

    The functions in `called` are public, because code outside the program calls them. Without
    `spawn`, each task is a coroutine.
    """
    *_, (_, found) = _steps(module, externals, first, level, called, spawn=spawn)
    return found


def _steps(
    module: ModuleOp,
    externals: Externals,
    first: tuple[ModulePass, ...],
    level: int,
    called: Collection[str] = (),
    *,
    spawn: bool = True,
) -> Iterator[tuple[str, ModuleOp]]:
    """Yield the name of each lowering step, and the module after it.

    The next step changes that module.
    """
    copy = copy_program(expand_calls(module, externals))
    for op in copy.ops:
        if symbol_name(op) in called:
            # A pass may erase a private function that no function of the module calls.
            op.properties.pop("sym_visibility", None)
    yield "copy-program", copy
    context = Context()
    for pass_ in executable_pipeline(*first, level=level, spawn=spawn).passes:
        pass_.apply(context, copy)
        yield pass_.name, copy


def lowering_steps(
    module: ModuleOp, *first: ModulePass, level: int = 1
) -> Iterator[tuple[str, ModuleOp]]:
    """Yield the name of each step from a program to the input of LLVM, and the module after it.

    The next step changes that module. The program itself does not change. `first` and `level` have
    the same meaning as in `stages.emit`.
    """
    yield from _steps(module, check_declarations(module), first, level)
