"""Control flow: `tfrt.return`, and the kernels that call functions or run regions.

`calls` contains the parts that all these operations share, `tfrt.return`, and calls of functions by
name. `regions` contains the operations with regions. Of all these operations, only `tfrt.return` is
built into the executor.
"""

from tfrt_nb.dialects.async_.types import operations_of
from tfrt_nb.dialects.control_flow import calls, regions
from tfrt_nb.dialects.control_flow.calls import (
    CallOp,
    CaseOp,
    CondOp,
    OnceOp,
    ParallelCallOp,
    ReturnOp,
    WhileOp,
)
from tfrt_nb.dialects.control_flow.regions import (
    BenchmarkOp,
    DoAsyncOp,
    IfOp,
    JitOp,
    ParallelForOp,
    RepeatOp,
    SyncBenchmarkOp,
)

NONSTRICT = "bef.nonstrict"
"""The unit attribute of an operation that may run before all its operands are available."""
NATIVE = "tfrt.native"
"""The unit attribute of a function declaration that represents a kernel."""
SYNC = "tfrt.sync"
"""The unit attribute of a sync function, whose kernels run in order on one thread."""

OPERATIONS = tuple(operation for module in (calls, regions) for operation in operations_of(module))

__all__ = [
    "NATIVE",
    "NONSTRICT",
    "OPERATIONS",
    "SYNC",
    "BenchmarkOp",
    "CallOp",
    "CaseOp",
    "CondOp",
    "DoAsyncOp",
    "IfOp",
    "JitOp",
    "OnceOp",
    "ParallelCallOp",
    "ParallelForOp",
    "RepeatOp",
    "ReturnOp",
    "SyncBenchmarkOp",
    "WhileOp",
]
