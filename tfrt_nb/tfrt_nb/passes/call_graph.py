"""Who calls whom."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.ir import Block, Operation

from tfrt_nb.dialects.async_.extensions import (
    RuntimeSpawnIntoOp,
    RuntimeSpawnOp,
)
from tfrt_nb.dialects.async_.functions import CallOp
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
    number: dict[str, int] = {}
    recursive: set[str] = set()
    for name in graph:
        if name not in number:
            recursive |= _cycles_from(graph, name, number)
    return recursive


def _cycles_from(graph: dict[str, set[str]], start: str, number: dict[str, int]) -> set[str]:
    """The functions on cycles among those reached from `start` that have no number yet.

    Tarjan's strongly connected components: each function is looked at once, however many there are.
    """
    found: set[str] = set()
    lowest: dict[str, int] = {}
    open_: list[str] = []
    path = [(start, iter(graph[start]))]
    number[start] = lowest[start] = len(number)
    open_.append(start)
    while path:
        name, pending = path[-1]
        callee = next(pending, None)
        if callee is None:
            path.pop()
            if path:
                above = path[-1][0]
                lowest[above] = min(lowest[above], lowest[name])
            if lowest[name] == number[name]:
                found |= _closed_component(graph, name, open_, lowest)
        elif callee not in number:
            number[callee] = lowest[callee] = len(number)
            open_.append(callee)
            path.append((callee, iter(graph.get(callee, ()))))
        elif callee in lowest:
            lowest[name] = min(lowest[name], number[callee])
    return found


def _closed_component(
    graph: dict[str, set[str]], first: str, open_: list[str], lowest: dict[str, int]
) -> set[str]:
    """The functions that were opened from `first` on, if there is a cycle among them; they are done."""
    component: set[str] = set()
    while first not in component:
        name = open_.pop()
        component.add(name)
        del lowest[name]
    is_cycle = len(component) > 1 or first in graph.get(first, ())
    return component if is_cycle else set()
