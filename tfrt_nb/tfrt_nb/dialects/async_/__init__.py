"""The async dialect: tasks, asynchronous functions, and what they are lowered to.

Read in this order: `types`, `tasks`, `functions`, `edges` (values that cross the border of a region); then the
lower level: `coroutine`, `runtime`, `extensions` (operations that MLIR lacks), `failures`; then what only the seeds
have: `counting`, `proposal`, `parallel_for`.

`upstream` has the other dialects that async programs use.
"""

from __future__ import annotations

from types import ModuleType

from xdsl.ir import Dialect, Operation

from tfrt_nb.dialects.async_ import (
    coroutine,
    counting,
    extensions,
    failures,
    functions,
    parallel_for,
    proposal,
    runtime,
    tasks,
)
from tfrt_nb.dialects.async_.types import (
    CoroHandleType,
    CoroIdType,
    CoroStateType,
    GroupType,
    TokenType,
    ValueType,
)


def operations_of(module: ModuleType) -> list[type[Operation]]:
    """The operations that a module defines: the classes with a name of their own."""
    own = [
        one for one in vars(module).values() if getattr(one, "__module__", "") == module.__name__
    ]
    return [
        one
        for one in own
        if isinstance(one, type) and issubclass(one, Operation) and "name" in vars(one)
    ]


_MODULES = (
    tasks,
    functions,
    coroutine,
    runtime,
    extensions,
    failures,
    counting,
    proposal,
    parallel_for,
)

Async = Dialect(
    "async",
    [operation for module in _MODULES for operation in operations_of(module)],
    [
        TokenType,
        ValueType,
        GroupType,
        CoroIdType,
        CoroHandleType,
        CoroStateType,
        *proposal.TYPES,
    ],
)

__all__ = ["Async", "operations_of"]
