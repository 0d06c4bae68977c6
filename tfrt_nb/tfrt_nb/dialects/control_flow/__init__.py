"""Control flow: `tfrt.return`, and the kernels that call functions or run regions.

Read in this order: `structure` (what all of them have, and `tfrt.return`), `calls` (functions by name), `regions`,
`jit` (operations that become machine code).  None of it but `tfrt.return` is built into the executor.
"""

from tfrt_nb.dialects.control_flow.calls import (
    CallOp,
    CaseOp,
    CondOp,
    OnceOp,
    ParallelCallOp,
    WhileOp,
)
from tfrt_nb.dialects.control_flow.jit import JitExecuteOp, JitOp, RunOp
from tfrt_nb.dialects.control_flow.regions import (
    BenchmarkOp,
    DoAsyncOp,
    IfOp,
    ParallelForOp,
    RepeatOp,
    SyncBenchmarkOp,
)
from tfrt_nb.dialects.control_flow.structure import KernelReturnOp, ReturnOp

NONSTRICT = "bef.nonstrict"
"""The unit attribute of an operation that may run before all its operands are available."""
NATIVE = "tfrt.native"
"""The unit attribute of a declaration that stands for a kernel."""
SYNC = "tfrt.sync"
"""The unit attribute of a function that runs from its first kernel to its last, on one thread."""

OPERATIONS = (
    BenchmarkOp,
    CallOp,
    CaseOp,
    CondOp,
    DoAsyncOp,
    IfOp,
    JitExecuteOp,
    JitOp,
    KernelReturnOp,
    OnceOp,
    ParallelCallOp,
    ParallelForOp,
    RepeatOp,
    ReturnOp,
    RunOp,
    SyncBenchmarkOp,
    WhileOp,
)

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
