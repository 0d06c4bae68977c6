"""Who calls whom."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.ir import Block, Operation

from tfrt_nb.dialects.async_.functions import CallOp
from tfrt_nb.dialects.async_.runtime import RuntimeSpawnIntoOp, RuntimeSpawnOp
from tfrt_nb.passes.awaiting import outside_tasks

_CALLS = frozenset({PlainCallOp, CallOp, RuntimeSpawnOp, RuntimeSpawnIntoOp})


def callees(module: ModuleOp) -> dict[str, set[str]]:
    """The names that each function of the module calls on its stack, so not those in tasks
    before they are spawned."""
    graph: dict[str, set[str]] = {}
    for op in module.body.block.ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            called = (_callee(o) for region in op.regions for o in outside_tasks(region))
            graph[name.data] = {callee for callee in called if callee is not None}
    return graph


def callees_in(block: Block) -> set[str]:
    """The names that the operations directly in a block call or spawn."""
    return {callee for callee in map(_callee, block.ops) if callee is not None}


def _callee(op: Operation) -> str | None:
    if type(op) in _CALLS:
        callee = op.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        return callee.root_reference.data
    return None


def recursive_functions(graph: dict[str, set[str]]) -> set[str]:
    """The functions that can call themselves, perhaps through others, by who calls whom."""
    return {name for name in graph if name in _reachable(graph, name)}


def _reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    """The functions called from `start`, directly or not."""
    reached: set[str] = set()
    pending = list(graph[start])
    while pending:
        name = pending.pop()
        if name not in reached:
            reached.add(name)
            pending.extend(graph.get(name, ()))
    return reached
