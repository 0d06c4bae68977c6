"""The call graph of a module."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.ir import Block, Operation

from tfrt_nb.dialects.async_.extensions import RuntimeSpawnIntoOp, RuntimeSpawnOp
from tfrt_nb.dialects.async_.functions import CallOp
from tfrt_nb.passes.lowering.coroutines import outside_tasks

_CALLS = frozenset({PlainCallOp, CallOp, RuntimeSpawnOp, RuntimeSpawnIntoOp})


def callees(module: ModuleOp) -> dict[str, set[str]]:
    """The names that each function of the module calls on its stack, so not those in tasks
    before they are spawned.
    """
    graph: dict[str, set[str]] = {}
    for op in module.body.block.ops:
        name = op.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            called = (callee_of(o) for region in op.regions for o in outside_tasks(region))
            graph[name.data] = {callee for callee in called if callee is not None}
    return graph


def callees_in(block: Block) -> set[str]:
    """The names that the operations directly in a block call or spawn."""
    return {callee for callee in map(callee_of, block.ops) if callee is not None}


def callee_of(op: Operation) -> str | None:
    """The name of the function that an operation calls or spawns, if it does."""
    if type(op) in _CALLS:
        callee = op.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        return callee.root_reference.data
    return None


def with_callers(names: Iterable[str], callers: Mapping[str, Iterable[str]]) -> set[str]:
    """The functions, and those that call them, perhaps through others; `callers` are those of
    each function.
    """
    found = set(names)
    pending = list(found)
    while pending:
        more = set(callers.get(pending.pop(), ())) - found
        found |= more
        pending += more
    return found


def recursive_functions(graph: Mapping[str, Collection[str]]) -> set[str]:
    """The functions that can call themselves, perhaps through others, by the call graph."""
    recursive: set[str] = set()
    for names in callees_first(graph):
        if len(names) > 1 or names[0] in graph[names[0]]:
            recursive.update(names)
    return recursive


def callees_first(graph: Mapping[str, Collection[str]]) -> Iterator[list[str]]:
    """Functions that call each other, together, after those that they call.

    Tarjan's strongly connected components: each function is looked at once, however many there are.
    What is called and not in the graph is left out.
    """
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_: list[str] = []
    for root in graph:
        path = [] if root in numbers else [_opened(root, graph, numbers, lowest, open_)]
        while path:
            name, pending = path[-1]
            callee = next(pending, None)
            if callee is None:
                path.pop()
                if path:
                    above = path[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
                if lowest[name] == numbers[name]:
                    yield _closed(name, lowest, open_)
            elif callee in graph and callee not in numbers:
                path.append(_opened(callee, graph, numbers, lowest, open_))
            elif callee in lowest:
                lowest[name] = min(lowest[name], numbers[callee])


def _opened(
    name: str,
    graph: Mapping[str, Collection[str]],
    numbers: dict[str, int],
    lowest: dict[str, int],
    open_: list[str],
) -> tuple[str, Iterator[str]]:
    numbers[name] = lowest[name] = len(numbers)
    open_.append(name)
    return name, iter(graph[name])


def _closed(first: str, lowest: dict[str, int], open_: list[str]) -> list[str]:
    """The functions that were opened from `first` on, the last one first; they are done."""
    names: list[str] = []
    while not names or names[-1] != first:
        names.append(open_.pop())
        del lowest[names[-1]]
    return names
