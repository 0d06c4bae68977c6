"""How much work LLVM should put into a module.

Optimising and selecting instructions well costs several times the quick way.  It pays where code runs
more than once: in loops and recursive functions.  A program that runs straight through is over sooner
than it would be optimised.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block

from tfrt_nb.passes.call_graph import recursive_functions
from tfrt_nb.passes.control_flow import terminator_of

QUICK = 0
FULL = 2


def optimisation_level(module: ModuleOp) -> int:
    """`FULL` if some code can run more than once per call from outside, else `QUICK`."""
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp) and op.body.blocks]
    runs_again = any(map(_has_loop, functions)) or bool(recursive_functions(module))
    return FULL if runs_again else QUICK


def _has_loop(function: FuncOp) -> bool:
    """Whether a path of blocks comes back to where it was."""
    entry = function.body.blocks[0]
    path = {entry: iter(terminator_of(entry).successors)}
    finished: set[Block] = set()
    while path:
        target = next(next(reversed(path.values())), None)
        if target is None:
            finished.add(path.popitem()[0])
        elif target in path:
            return True
        elif target not in finished:
            path[target] = iter(terminator_of(target).successors)
    return False
