"""Start a run from Python.

Request        the run, which has no words yet
     |
launched       its words, of ordinary arguments, and the start of its call: one native call
     |  False
Entry.words    arguments of any kind; then `Request.open`, what the run needs, and the start
     |
become_known   either a cancelling thread has found the run, or the run is cancelled here

`enqueue` implements `KernelFrame.enqueue`: it calls a kernel's Python function on one of the host's
threads.
"""

from __future__ import annotations

from collections.abc import Callable

from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefModule, FunctionKind
from tfrt_runtime.executor.loading.native_functions import one_kernel
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.host.process import MISSING
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.values.async_value import AsyncValue, make_available
from tfrt_runtime.kernels.users.prints import divert_output
from tfrt_runtime.kernels.users.user import user_kernel


def launched(request: Request, arguments: tuple[object, ...], starts: int) -> bool:
    """Give a new run its words; return False if this is not possible here.

    It is possible if all arguments are ordinary values of their types
    (`native.python.python_runs.launch`).  In that case, if `starts` is not 0, this function also
    starts the run's call.
    """
    host, entry, queue = request.host, request.entry, request.queue
    if entry.carries:
        divert_output()
    made = queue.process.launch(
        request,
        queue.address,
        entry.template,
        host.cancelled_address,
        host.tensor_store,
        arguments,
        starts,
    )
    if made is MISSING:
        return False
    # A thread that cancels the host's runs may have missed this run.
    if host.cancel_message is not None or (HOOKS.has_user_kernels and not host.blocking.is_looking):
        request.become_known()
    return True


KERNELS = ("work", "blocking work")
OBJECT = "!tfrt.object"


class Work:
    """A program for `enqueue`, with two functions.  Each function calls its argument.

    The first function makes that call on a worker, and the second one makes it in the blocking
    pool.
    """

    def __init__(self, host: HostContext) -> None:
        del host
        functions = tuple(
            one_kernel(BefFunction(FunctionKind.ASYNC, name, (OBJECT,), (OBJECT,)), name)
            for name in KERNELS
        )
        module = BefModule(functions, KERNELS, (OBJECT,), b"")
        registry = {
            name: user_kernel(name, lambda function: function(), blocking=name != KERNELS[0])
            for name in KERNELS
        }
        self.program = Executable(BefFile.of(module, "<enqueued>"), registry)


def enqueue(request: Request, function: Callable[[], object], *, blocking: bool) -> AsyncValue:
    """Start a call of `function` in the run of the calling kernel; return the call's AsyncValue."""
    # The run keeps the object alive, because a thread may outlive its host.
    work: Work = request.data.setdefault(Work, request.host.shared_context(Work))
    # `blocking` is the number of the function: 0 is for workers, and 1 is for the blocking pool.
    call = work.program.bound(blocking, request)
    return call.execute([make_available(request.queue, function)])[0]
