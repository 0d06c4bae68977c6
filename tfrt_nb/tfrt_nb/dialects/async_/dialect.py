"""The async dialect: all operations and types of this package."""

from xdsl.ir import Dialect

from tfrt_nb.dialects.async_ import extensions, functions, proposal, runtime, tasks
from tfrt_nb.dialects.async_.types import (
    CoroHandleType,
    CoroIdType,
    CoroStateType,
    GroupType,
    TokenType,
    ValueType,
    operations_of,
)

_MODULES = (tasks, functions, runtime, extensions, proposal)

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
