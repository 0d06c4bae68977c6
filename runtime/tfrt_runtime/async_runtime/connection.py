"""How compiled code and the runtimes of hosts find each other: functions by their names, events,
threads.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from typing import Protocol

from tfrt_runtime.async_runtime.printing import Printing
from tfrt_runtime.async_runtime.runs import known_runs
from tfrt_runtime.async_runtime.signals import watch_interrupts
from tfrt_runtime.host.process import Callback3, native_process
from tfrt_runtime.host.queues.work_queue import WorkQueue, make_work_queue
from tfrt_runtime.host.structs import Async, Context
from tfrt_runtime.native import async_layouts as co
from tfrt_runtime.native import threads
from tfrt_runtime.native.coroutines import async_abi, async_buffers, async_interrupts
from tfrt_runtime.native.kernels import compiled_kernels
from tfrt_runtime.native.memory import EXPORTS
from tfrt_runtime.once import once

FIRST_LIMIT = 1024
_EXPORTING = (async_abi, async_buffers, async_interrupts, compiled_kernels)
"""The modules whose functions compiled code calls: `EXPORTS` has their names."""


class Runtime(Protocol):
    """The runtime of a host, as native code reaches it."""

    queue: WorkQueue

    def on_event(self, context: int, event: int, argument: int) -> int:
        """Answer one of EVENT_*, on any thread, within compiled code that runs with `context`."""

    def print(self, text: str) -> None:
        """Print without a run."""


RUNTIMES: weakref.WeakValueDictionary[int, Runtime] = weakref.WeakValueDictionary()
"""Those that are open, by the address of their queues."""


def prepare(queue: WorkQueue, *, checked: bool) -> Async:
    """Give a queue the state of compiled programs, which must stay alive as long as the queue."""
    words = Async.new(co.ASYNC_SIZE)
    words.limit, words.checked = FIRST_LIMIT, checked
    queue.native.async_ = words.address
    return words


def runtime_functions() -> dict[str, int]:
    """What compiled programs call, by C name: the core's functions, and those that print."""
    library = native_process().library
    shared = _printing().addresses | {async_interrupts.FLAG: known_runs().flag}
    return {name: library[name] for name in (*EXPORTS, threads.STACK_LIMIT)} | shared


@once
def kernel_functions() -> dict[str, int]:
    """What compiled programs refer to that run as kernels on any host: the addresses by C name."""
    connect()
    return runtime_functions()


@once
def _printing() -> Printing:
    return Printing(print_here)


def print_here(text: str) -> None:
    """Print for the run whose code calls, or on the host that it runs on."""
    context = Context.at(native_process().quick.present_context(0))
    sink = known_runs().sink(context.run)
    if sink is not None:
        sink(text)
    elif (runtime := RUNTIMES.get(context.queue)) is not None:
        runtime.print(text)


@once
def connect() -> None:
    """Let native code reach Python: for events, and for a context of a thread that has none."""
    process = native_process()
    process.words.async_event = process.keep(Callback3(_on_event))
    watch_interrupts()
    find_context = ctypes.CFUNCTYPE(ctypes.c_int64)(_foreign_context)
    process.function(threads.START)(process.keep(find_context))


def _on_event(context: int, event: int, argument: int) -> int:
    try:
        runtime = RUNTIMES.get(Context.at(context).queue)
        return 0 if runtime is None else runtime.on_event(context, event, argument)
    except BaseException:  # noqa: BLE001
        sys.excepthook(*sys.exc_info())
        return 0


def _foreign_context() -> int:
    """A context for a thread that calls the runtime without having been called by it."""
    for runtime in reversed(list(RUNTIMES.values())):
        return runtime.queue.context()
    return _foreign_queue()[0].context()


@once
def _foreign_queue() -> tuple[WorkQueue, Async]:
    """For threads that call while no runtime is open."""
    queue = make_work_queue("s")
    return queue, prepare(queue, checked=False)
