"""Return an async program at each stage of its compilation, as text or as an object file.

This module also decides how much LLVM optimizes each function. Full optimization, with good
instruction selection, costs several times as much as quick compilation. It is worthwhile for code
that runs more than once per call from outside: loops, recursive functions, and functions that these
call. Any other code runs once from top to bottom, or rarely, in less time than its optimization
would take.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable

from tfrt_nb.internal_errors import internal_error, location_of
from tfrt_nb.jit.compiler import FULL, HAS_LLVM, QUICK, assembly, object_code, split_coroutines
from tfrt_nb.jit.coroutines import lower_to_llvm
from tfrt_nb.jit.declarations import Externals, check_declarations
from tfrt_nb.jit.lowering import after_passes
from tfrt_nb.jit.places import Placed, Places, read_assembly, read_places
from tfrt_nb.passes.control_flow import reachable, returning_edges
from tfrt_nb.passes.lowering.call_graph import callee_of, callees, recursive_functions
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.passes.speed.fast_path import SELDOM
from tfrt_runtime.bef.records import collector_paused
from tfrt_runtime.diagnostics import TfrtError, error

_MAX_NESTED_LOOPS = 32
"""The maximum nesting depth of loops that LLVM optimizes.

The time that LLVM's loop passes take grows faster than the square of the depth.
"""


class Stage(StrEnum):
    """A step of the compilation whose result a user can view. The steps are in order."""

    ASYNC_RUNTIME = "async-runtime"
    COROUTINE = "coroutine"
    LLVM_SPLIT = "llvm-split"
    ASM = "asm"


def emit(module: ModuleOp, stage: Stage, *first: ModulePass, level: int = 1) -> str:
    """Return the program at a stage. The module does not change.

    The stages are MLIR with runtime operations, LLVM IR with coroutine intrinsics, LLVM IR with
    split coroutines, and assembly. `first` contains passes that run first, on the high-level
    operations. `level` says whether to take shortcuts, as in `executable_pipeline`.
    """
    externals = check_declarations(module)
    lowered = after_passes(module, externals, first, level)
    if stage is Stage.ASYNC_RUNTIME:
        return print_ir(lowered)
    text, effort = _llvm_text(lowered, externals)
    match stage:
        case Stage.COROUTINE:
            return _QUOTED.sub(r"@\1", text)
        case _ if not HAS_LLVM:
            raise TfrtError(error(f"the stage {stage} needs llvmlite, which is missing here"))
        case Stage.LLVM_SPLIT:
            with _llvm_errors_placed(lowered, text):
                return split_coroutines(text, effort)
        case Stage.ASM:
            with _llvm_errors_placed(lowered, text):
                return assembly(text, effort)


def object_of(
    module: ModuleOp,
    externals: Externals,
    first: tuple[ModulePass, ...],
    level: int,
    adapted: Collection[str],
) -> bytes:
    """Return the program as an object file; for the arguments, see `compile_program`."""
    with collector_paused():
        lowered = after_passes(module, externals, first, level, adapted)
        text, effort = _llvm_text(lowered, externals, frozenset(adapted))
    with _llvm_errors_placed(lowered, text):
        return object_code(text, effort)


def _llvm_text(
    lowered: ModuleOp,
    externals: Externals,
    adapted: frozenset[str] = frozenset(),
    places: Places | None = None,
) -> tuple[str, int]:
    """Return the LLVM IR of a lowered program, and the optimization level to compile it with."""
    effort = worthwhile_effort(lowered)
    text = lower_to_llvm(lowered, adapted, externals=externals, quick=effort.quick, places=places)
    return text, effort.level


_QUOTED = re.compile(r'@"([A-Za-z$._-][\w$.-]*)"')
"""Matches a quoted name that LLVM prints without quotes."""
_LLVM_LINE = re.compile(r"<string>:(\d+):\d+: ")
_DEFINITION = re.compile(r'^define .*?@"?([\w.$-]+)', re.MULTILINE)


@contextmanager
def _llvm_errors_placed(module: ModuleOp, text: str) -> Iterator[None]:
    """Report LLVM's errors about `text` as internal errors at the affected function."""
    try:
        yield
    except RuntimeError as problem:
        line = _LLVM_LINE.search(str(problem))
        above = "\n".join(text.split("\n")[: int(line[1])]) if line else ""
        name = ([""] + _DEFINITION.findall(above))[-1]
        found = SymbolTable.lookup_symbol(module, name) if name else None
        raise internal_error(problem, None if found is None else location_of(found)) from problem


def placed_code(
    module: ModuleOp, *first: ModulePass, level: int = 1
) -> Iterator[tuple[Stage, Placed]]:
    """Yield LLVM's output at each stage, each line with its source place."""
    externals = check_declarations(module)
    lowered = after_passes(module, externals, first, level)
    text, effort = _llvm_text(lowered, externals, places=Places())
    yield Stage.COROUTINE, read_places(text)
    if not HAS_LLVM:
        return
    with _llvm_errors_placed(lowered, text):
        yield Stage.LLVM_SPLIT, read_places(split_coroutines(text, effort))
        yield Stage.ASM, read_assembly(assembly(text, effort))


@dataclass(frozen=True, slots=True)
class Effort:
    """The optimization level of a module, and the functions that deserve only `QUICK`."""

    level: int
    quick: frozenset[str]


def worthwhile_effort(module: ModuleOp) -> Effort:
    """Return the effort for a module, which is `FULL` if some function deserves it."""
    functions = {
        op.sym_name.data: op
        for op in module.body.block.ops
        if isinstance(op, FuncOp) and op.body.blocks
    }
    repeated = {name: _repeated_blocks(function) for name, function in functions.items()}
    graph = callees(module)
    pending = list(recursive_functions(graph))
    for blocks in repeated.values():
        for block in blocks:
            pending += filter(None, map(callee_of, block.ops))
    worthy = {name for name, blocks in repeated.items() if blocks}
    worthy |= reachable(pending, lambda name: graph.get(name, ())) & functions.keys()
    # A continuation rarely runs, even though a recursive function calls it.
    worthy -= {name for name, function in functions.items() if SELDOM in function.attributes}
    return Effort(FULL if worthy else QUICK, frozenset(functions.keys() - worthy))


def _natural_loop(end: Block, start: Block) -> set[Block]:
    """Return the blocks of the loop whose back edge leads from `end` to `start`.

    They are the blocks from which `end` can be reached without passing `start`.
    """
    return reachable([start, end], lambda block: () if block is start else block.predecessors())


def _repeated_blocks(function: FuncOp) -> set[Block]:
    """Return the blocks in loops, or no blocks if loops are nested too deeply to optimize."""
    repeated: set[Block] = set()
    depths: Counter[Block] = Counter()
    if function.body.first_block is function.body.last_block:
        return repeated
    returns = returning_edges(function.body)
    if not returns:
        return repeated
    for end, start in returns:
        loop = _natural_loop(end, start)
        repeated |= loop
        for block in loop:
            depths[block] += 1
            if depths[block] > _MAX_NESTED_LOOPS:
                return set()
    return repeated
