"""The call graph of a module."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import CallOp as PlainCallOp
from xdsl.ir import Operation

from tfrt_nb.dialects.async_.extensions import RuntimeSpawnOp
from tfrt_nb.dialects.async_.functions import CallOp
from tfrt_nb.dialects.types import symbol_name
from tfrt_nb.passes.control_flow import reachable
from tfrt_nb.passes.lowering.coroutines import outside_tasks

_CALLS = frozenset({PlainCallOp, CallOp, RuntimeSpawnOp})


def callees(module: ModuleOp) -> dict[str, set[str]]:
    """Return the names of the functions that each function calls on its own stack.

    Calls in the body of a task are left out. Spawned functions are included.
    """
    graph: dict[str, set[str]] = {}
    for op in module.body.block.ops:
        if name := symbol_name(op):
            called = (callee_of(o) for region in op.regions for o in outside_tasks(region))
            graph[name] = {callee for callee in called if callee is not None}
    return graph


def callee_of(op: Operation) -> str | None:
    """Return the name of the function that an operation calls or spawns, or None."""
    if type(op) in _CALLS:
        callee = op.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        return callee.root_reference.data
    return None


def with_callers(names: Iterable[str], callers: Mapping[str, Iterable[str]]) -> set[str]:
    """Return the functions in `names` and their direct and indirect callers.

    `callers` maps each function to its direct callers.
    """
    return reachable(names, lambda name: callers.get(name, ()))


def functions_with(
    inside: Mapping[str, Iterable[Operation]], matters: Callable[[Operation], bool]
) -> set[str]:
    """Return the functions with an operation for which `matters` is true, and all their callers.

    `inside` maps each function to its operations. Functions that are not in `inside` are ignored.
    """
    found: set[str] = set()
    callers: dict[str, set[str]] = {}
    for name, operations in inside.items():
        for op in operations:
            if matters(op):
                found.add(name)
            elif type(op) is PlainCallOp:
                callers.setdefault(op.callee.root_reference.data, set()).add(name)
    return with_callers(found, callers)


def recursive_functions(graph: Mapping[str, Collection[str]]) -> set[str]:
    """Return the functions that can call themselves, directly or through other functions."""
    return {
        name
        for names in callees_first(graph)
        if len(names) > 1 or names[0] in graph[names[0]]
        for name in names
    }


def callees_first(graph: Mapping[str, Collection[str]]) -> Iterator[list[str]]:
    """Yield groups of mutually recursive functions, each group after the functions that it calls.

    The groups are the strongly connected components of the call graph. Tarjan's algorithm finds
    them in one visit per function ("Depth-First Search and Linear Graph Algorithms", SIAM J.
    Comput. 1(2), 1972). The implementation does not recurse, so a long call chain does not exhaust
    Python's stack. Callees that are not in the graph are ignored.
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
            # `_closed` removes its functions from `lowest`, so this callee's group is still open.
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
    """Close the functions opened since `first`, and return them, the last one first."""
    names: list[str] = []
    while not names or names[-1] != first:
        names.append(open_.pop())
        del lowest[names[-1]]
    return names
