"""How much work LLVM should put into each function.

Optimising and selecting instructions well costs several times the quick way.  It pays where code runs
more than once per call from outside: in loops, in recursive functions, and in what these call.  What runs
once from top to bottom ends sooner than it would be optimised; so does what hardly ever runs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block

from tfrt_nb.jit.compiler import FULL, QUICK
from tfrt_nb.passes.control_flow import returning_edges, terminator_of
from tfrt_nb.passes.lowering.call_graph import callees, callees_in, recursive_functions
from tfrt_nb.passes.speed.fast_path import SELDOM

_MAX_NESTED_LOOPS = 32
"""What LLVM's passes on loops take grows faster than the square of how deep they nest."""


@dataclass(frozen=True, slots=True)
class Effort:
    """The level for a module, and the functions in it that are not worth more than `QUICK`."""

    level: int
    quick: frozenset[str]


def worthwhile_effort(module: ModuleOp) -> Effort:
    """`FULL` if some function is worth it, else `QUICK`."""
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
            pending += callees_in(block)
    worthy = {name for name, blocks in repeated.items() if blocks}
    followed: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in followed:
            followed.add(name)
            pending += graph.get(name, ())
    worthy |= followed & functions.keys()
    worthy -= {name for name, function in functions.items() if SELDOM in function.attributes}
    return Effort(FULL if worthy else QUICK, frozenset(functions.keys() - worthy))


def _repeated_blocks(function: FuncOp) -> set[Block]:
    """The blocks from which control may come back to them; none where loops nest too deep to optimise."""
    repeated: set[Block] = set()
    depths: Counter[Block] = Counter()
    if function.body.first_block is function.body.last_block:
        return repeated
    returns = returning_edges(function.body)
    if not returns:
        return repeated
    predecessors: dict[Block, list[Block]] = {}
    for block in function.body.blocks:
        for successor in terminator_of(block).successors:
            predecessors.setdefault(successor, []).append(block)
    for end, start in returns:
        loop = {start}
        pending = [end]
        while pending:
            block = pending.pop()
            if block not in loop:
                loop.add(block)
                pending += predecessors.get(block, ())
        repeated |= loop
        for block in loop:
            depths[block] += 1
            if depths[block] > _MAX_NESTED_LOOPS:
                return set()
    return repeated
