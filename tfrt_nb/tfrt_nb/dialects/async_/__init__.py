"""The async dialect: tasks, asynchronous functions, and what they are lowered to.

Read in this order: `types`, `tasks`, `functions`, `edges` (values that cross the border of a region); then the
lower level: `coroutine`, `runtime`, `extensions` (operations that MLIR lacks), `failures`; then what only the seeds
have: `counting`, `proposal`, `parallel_for`.

`upstream` has the other dialects that async programs use.
"""

from __future__ import annotations

from xdsl.ir import Dialect

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

Async = Dialect(
    "async",
    [
        *tasks.OPERATIONS,
        *functions.OPERATIONS,
        *coroutine.OPERATIONS,
        *runtime.OPERATIONS,
        *extensions.OPERATIONS,
        *failures.OPERATIONS,
        *counting.OPERATIONS,
        *proposal.OPERATIONS,
        *parallel_for.OPERATIONS,
    ],
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

__all__ = ["Async"]
