"""From a program's text to its results: dialects, passes, BEF, compilation, the command line.

Read from below: `nesting` (how deep a program may nest), `user_kernels` (what the compiler knows of them),
`dialects` (operations), `internal_errors`, `source` (text to modules) and `report` (diagnostics as text), `passes` (modules to modules), `convert`
(modules to BEF) and `jit` (modules to machine code), `compiled` (functions that become machine code),
`programs` (all of it: the class Program), `tracing` (programs from Python), `documents` and `language` (programs
and runs as values, for pages and editors), `schedules`, `exercises` and `lessons` (what tutorials need), `cli`.

Stands on the runtime.  Nothing here knows notebooks.  `%load_ext tfrt_nb` and the HTML of runs and values are
steps up the stairs, taken by name, so that importing this package loads no IPython.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfrt_nb.exercises import COURSES
from tfrt_runtime.host.values.drawing import DRAWING

if TYPE_CHECKING:
    from tfrt_nb.exercises.answer import Answer as Answer
    from tfrt_nb.exercises.answer import Code as Code
    from tfrt_nb.exercises.answer import Names as Names
    from tfrt_nb.exercises.exercise import exercise as exercise
    from tfrt_nb.exercises.exercise import grade as grade
    from tfrt_nb.programs import Program as Program
    from tfrt_nb.tracing.api import cond as cond
    from tfrt_nb.tracing.api import in_order as in_order
    from tfrt_nb.tracing.api import map as map
    from tfrt_nb.tracing.api import max as max
    from tfrt_nb.tracing.api import min as min
    from tfrt_nb.tracing.api import parallel_for as parallel_for
    from tfrt_nb.tracing.api import program as program
    from tfrt_nb.tracing.api import repeat as repeat
    from tfrt_nb.tracing.api import while_loop as while_loop
    from tfrt_nb.tracing.eager import call as call
    from tfrt_nb.tracing.eager import call_each as call_each
    from tfrt_nb.tracing.static import f32 as f32
    from tfrt_nb.tracing.static import f64 as f64
    from tfrt_nb.tracing.static import i1 as i1
    from tfrt_nb.tracing.static import i8 as i8
    from tfrt_nb.tracing.static import i16 as i16
    from tfrt_nb.tracing.static import i32 as i32
    from tfrt_nb.tracing.static import i64 as i64
    from tfrt_nb.tracing.static import index as index
    from tfrt_nb.tracing.static import out as out
    from tfrt_nb.tracing.static import tensor as tensor
    from tfrt_nb.tracing.static import ui8 as ui8
    from tfrt_nb.tracing.static import ui16 as ui16
    from tfrt_nb.tracing.static import ui32 as ui32
    from tfrt_nb.tracing.static import ui64 as ui64
    from tfrt_runtime.async_runtime.externals import external as external
    from tfrt_runtime.diagnostics import TfrtError as TfrtError
    from tfrt_runtime.host.allocator import HostAllocator as HostAllocator
    from tfrt_runtime.host.allocator import LeakCheckAllocator as LeakCheckAllocator
    from tfrt_runtime.host.allocator import MallocAllocator as MallocAllocator
    from tfrt_runtime.host.composing import gather as gather
    from tfrt_runtime.host.composing import unavailable as unavailable
    from tfrt_runtime.host.context import HostContext as HostContext
    from tfrt_runtime.host.default_host import default_host as default_host
    from tfrt_runtime.host.default_host import set_default_host as set_default_host
    from tfrt_runtime.host.exceptions import CancelledError as CancelledError
    from tfrt_runtime.host.exceptions import TimeoutError as TimeoutError
    from tfrt_runtime.host.objects import CHAIN as CHAIN
    from tfrt_runtime.host.queues.dask_queue import DaskWorkQueue as DaskWorkQueue
    from tfrt_runtime.host.queues.user_queue import ConcurrentWorkQueue as ConcurrentWorkQueue
    from tfrt_runtime.host.resources import ResourceContext as ResourceContext
    from tfrt_runtime.host.tracing.chrome_trace import ChromeSink as ChromeSink
    from tfrt_runtime.host.tracing.trace import Activity as Activity
    from tfrt_runtime.host.tracing.trace import Level as Level
    from tfrt_runtime.host.tracing.trace import Tracing as Tracing
    from tfrt_runtime.host.tracing.trace import TracingSink as TracingSink
    from tfrt_runtime.host.values.async_value import AsyncValue as AsyncValue
    from tfrt_runtime.host.values.async_value import wait_for as wait_for
    from tfrt_runtime.host.waiting.blocking import BlockingWarning as BlockingWarning
    from tfrt_runtime.kernels.frame import KernelFrame as KernelFrame
    from tfrt_runtime.kernels.registry import KernelError as KernelError
    from tfrt_runtime.kernels.registry import KernelRegistry as KernelRegistry
    from tfrt_runtime.kernels.users.user import kernel as kernel

    __version__: str


def _from(module: str, name: str) -> Callable[..., Any]:
    """A function of a higher floor, loaded when it is called: this package gives it to a lower one."""
    return lambda *arguments: getattr(import_module(module), name)(*arguments)


DRAWING["value_html"] = _from("tfrt_magics.views.reprs", "value_html")
DRAWING["run_html"] = _from("tfrt_magics.views.reprs", "run_html")
DRAWING["program_graph"] = _from("tfrt_nb.documents.graph", "program_graph")
COURSES.append(_from("tfrt_nb.lessons", "load"))

_HOMES = {
    "ConcurrentWorkQueue": "tfrt_runtime.host.queues.user_queue",
    "HostAllocator": "tfrt_runtime.host.allocator",
    "ResourceContext": "tfrt_runtime.host.resources",
    "Activity": "tfrt_runtime.host.tracing.trace",
    "Tracing": "tfrt_runtime.host.tracing.trace",
    "TracingSink": "tfrt_runtime.host.tracing.trace",
    "ChromeSink": "tfrt_runtime.host.tracing.chrome_trace",
    "LeakCheckAllocator": "tfrt_runtime.host.allocator",
    "MallocAllocator": "tfrt_runtime.host.allocator",
    "wait_for": "tfrt_runtime.host.values.async_value",
    "Level": "tfrt_runtime.host.tracing.trace",
    "Answer": "tfrt_nb.exercises.answer",
    "AsyncValue": "tfrt_runtime.host.default_host",
    "BlockingWarning": "tfrt_runtime.host.waiting.blocking",
    "CHAIN": "tfrt_runtime.host.objects",
    "CancelledError": "tfrt_runtime.host.exceptions",
    "Code": "tfrt_nb.exercises.answer",
    "DaskWorkQueue": "tfrt_runtime.host.queues.dask_queue",
    "HostContext": "tfrt_runtime.host.context",
    "KernelError": "tfrt_runtime.kernels.registry",
    "KernelFrame": "tfrt_runtime.kernels.frame",
    "KernelRegistry": "tfrt_runtime.kernels.registry",
    "Names": "tfrt_nb.exercises.answer",
    "Program": "tfrt_nb.programs",
    "TfrtError": "tfrt_runtime.diagnostics",
    "TimeoutError": "tfrt_runtime.host.exceptions",
    "call": "tfrt_nb.tracing.eager",
    "call_each": "tfrt_nb.tracing.eager",
    "cond": "tfrt_nb.tracing.api",
    "default_host": "tfrt_runtime.host.default_host",
    "exercise": "tfrt_nb.exercises.exercise",
    "external": "tfrt_runtime.async_runtime.externals",
    "f32": "tfrt_nb.tracing.api",
    "f64": "tfrt_nb.tracing.api",
    "gather": "tfrt_runtime.host.composing",
    "grade": "tfrt_nb.exercises.exercise",
    "i1": "tfrt_nb.tracing.api",
    "i16": "tfrt_nb.tracing.api",
    "i32": "tfrt_nb.tracing.api",
    "i64": "tfrt_nb.tracing.api",
    "i8": "tfrt_nb.tracing.api",
    "in_order": "tfrt_nb.tracing.api",
    "index": "tfrt_nb.tracing.api",
    "kernel": "tfrt_runtime.kernels.users.user",
    "map": "tfrt_nb.tracing.api",
    "max": "tfrt_nb.tracing.api",
    "min": "tfrt_nb.tracing.api",
    "out": "tfrt_runtime.kernels.users.annotations",
    "parallel_for": "tfrt_nb.tracing.api",
    "program": "tfrt_nb.tracing.api",
    "repeat": "tfrt_nb.tracing.api",
    "set_default_host": "tfrt_runtime.host.default_host",
    "tensor": "tfrt_runtime.kernels.users.annotations",
    "ui16": "tfrt_nb.tracing.api",
    "ui32": "tfrt_nb.tracing.api",
    "ui64": "tfrt_nb.tracing.api",
    "ui8": "tfrt_nb.tracing.api",
    "unavailable": "tfrt_runtime.host.composing",
    "while_loop": "tfrt_nb.tracing.api",
}

__all__ = [
    "CHAIN",
    "Activity",
    "Answer",
    "AsyncValue",
    "BlockingWarning",
    "CancelledError",
    "ChromeSink",
    "Code",
    "ConcurrentWorkQueue",
    "DaskWorkQueue",
    "HostAllocator",
    "HostContext",
    "KernelError",
    "KernelFrame",
    "KernelRegistry",
    "LeakCheckAllocator",
    "Level",
    "MallocAllocator",
    "Names",
    "Program",
    "ResourceContext",
    "TfrtError",
    "TimeoutError",
    "Tracing",
    "TracingSink",
    "call",
    "call_each",
    "cond",
    "default_host",
    "exercise",
    "external",
    "f32",
    "f64",
    "gather",
    "grade",
    "i1",
    "i8",
    "i16",
    "i32",
    "i64",
    "in_order",
    "index",
    "kernel",
    "load_ipython_extension",
    "map",
    "max",
    "min",
    "out",
    "parallel_for",
    "program",
    "repeat",
    "set_default_host",
    "tensor",
    "ui8",
    "ui16",
    "ui32",
    "ui64",
    "unavailable",
    "unload_ipython_extension",
    "wait_for",
    "while_loop",
]


if not TYPE_CHECKING:  # type checkers would take any name

    def __getattr__(name: str) -> object:
        """The public names, imported when they are first used: the package itself stays light."""
        if name == "__version__":
            return import_module("importlib.metadata").version("tfrt-nb")
        if name not in _HOMES:
            raise AttributeError(f"module 'tfrt_nb' has no attribute '{name}'")
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found


def load_ipython_extension(shell: object) -> None:
    """Register `%%tfrt` and the other magics in `shell`, as `%load_ext tfrt_nb` asks."""
    import_module("tfrt_magics.extension").load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """Stop every run and take the magics out of `shell`, as `%unload_ext tfrt_nb` asks."""
    import_module("tfrt_magics.extension").unload_ipython_extension(shell)
