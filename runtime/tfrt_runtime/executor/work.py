"""Python functions that kernels enqueue for their host's threads: `KernelFrame.enqueue`."""

from __future__ import annotations

from collections.abc import Callable

from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefModule, FunctionKind
from tfrt_runtime.executor.loading.native_functions import one_kernel
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.values.async_value import AsyncValue, make_available
from tfrt_runtime.kernels.users.user import user_kernel

KERNELS = ("work", "blocking work")
OBJECT = "!tfrt.object"


class Work:
    """A program of two functions that call their argument: on a worker and in the pool."""

    def __init__(self, host: HostContext) -> None:
        del host
        functions = tuple(
            one_kernel(BefFunction(FunctionKind.ASYNC, name, (OBJECT,), (OBJECT,)), name)
            for name in KERNELS
        )
        module = BefModule(functions, KERNELS, (OBJECT,), b"")
        registry = {name: user_kernel(name, _call, blocking=name != KERNELS[0]) for name in KERNELS}
        self.program = Executable(BefFile.of(module, "<enqueued>"), registry)


def _call(function: Callable[[], object]) -> object:
    return function()


def enqueue(request: Request, function: Callable[[], object], *, blocking: bool) -> AsyncValue:
    """Start a call of `function` in the run of the calling kernel; return its AsyncValue."""
    work = request.data.setdefault(Work, request.host.shared_context(Work))
    assert isinstance(work, Work)  # held by the run: a thread may outlive the closing of the host
    call = work.program.bound(blocking, request)
    return call.execute([make_available(request.queue, function)])[0]
