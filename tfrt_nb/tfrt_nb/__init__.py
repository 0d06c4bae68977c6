"""The compiler and the command line: everything from a program's source to its results.

Read the packages and modules in this order, because each builds on the ones before it:

- `nesting` (how deep a program may nest), `cells` (names of notebook cells), `dialects`
  (operations), `internal_errors`.
- `source` (source to modules), `report` (diagnostics as text), `passes` (modules to modules).
- `convert` (modules to BEF), `jit` (modules to machine code), `interpreter` (runs compiled
  functions without LLVM), `compiled` (the functions that become machine code).
- `programs` (the class `Program`, which combines these), `tracing` (programs from Python).
- `documents` and `language` (programs and runs as plain values, for pages and editors).
- `schedules` (controlled scheduling), `exercises` and `lessons` (for tutorials), `cli`.

The package builds on the runtime, and does not depend on notebooks. `%load_ext tfrt_nb` and the
HTML of runs and values belong to the package `tfrt_magics`, which is imported by name when it is
needed, so that importing `tfrt_nb` does not load IPython.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tfrt_runtime.hooks import HOOKS

if TYPE_CHECKING:
    from tfrt_nb.cli.opt import opt
    from tfrt_nb.exercises.answer import Answer, Code, Names
    from tfrt_nb.exercises.exercise import exercise, grade
    from tfrt_nb.programs import Program
    from tfrt_nb.tracing.api import (
        cond,
        in_order,
        map,
        max,
        min,
        parallel_for,
        program,
        recover,
        repeat,
        while_loop,
    )
    from tfrt_nb.tracing.eager import call, call_each
    from tfrt_nb.tracing.functions import TracedProgram
    from tfrt_nb.tracing.static import (
        f32,
        f64,
        i1,
        i8,
        i16,
        i32,
        i64,
        index,
        out,
        tensor,
        ui8,
        ui16,
        ui32,
        ui64,
    )
    from tfrt_runtime.async_runtime.externals import external
    from tfrt_runtime.diagnostics import TfrtError
    from tfrt_runtime.executor.batch import Batch
    from tfrt_runtime.executor.execution import Execution
    from tfrt_runtime.hooks import board, last_run
    from tfrt_runtime.host.allocator import HostAllocator, LeakCheckAllocator, MallocAllocator
    from tfrt_runtime.host.context import HostContext
    from tfrt_runtime.host.default_host import default_host, gather, set_default_host, unavailable
    from tfrt_runtime.host.exceptions import CancelledError, TimeoutError
    from tfrt_runtime.host.payload import CHAIN
    from tfrt_runtime.host.queues.user_queue import ConcurrentWorkQueue
    from tfrt_runtime.host.run_parts import ResourceContext
    from tfrt_runtime.host.tracing.trace import Activity, ChromeSink, Level, Tracing, TracingSink
    from tfrt_runtime.host.values.async_value import AsyncValue
    from tfrt_runtime.host.values.waiting import wait_for
    from tfrt_runtime.host.waiting import BlockingWarning
    from tfrt_runtime.kernels.frame import KernelFrame
    from tfrt_runtime.kernels.registry import KernelError, KernelRegistry
    from tfrt_runtime.kernels.users.remote import DaskWorkQueue
    from tfrt_runtime.kernels.users.user import kernel

    __version__: str


def _from(module: str, name: str) -> Callable[..., Any]:
    """Return a function that imports `module` when it is called, and then calls `name` in it.

    `module` belongs to a package that this one must not import directly.
    """
    return lambda *arguments: getattr(import_module(module), name)(*arguments)


HOOKS.cell_of = _from("tfrt_nb.cells", "cell_of")
HOOKS.value_html = _from("tfrt_magics.live.reprs", "value_html")
HOOKS.run_html = _from("tfrt_magics.live.reprs", "run_html")
HOOKS.widget = _from("tfrt_magics.live.widgets", "widget_of")
HOOKS.marimo = _from("tfrt_magics.live.widgets", "in_marimo")
HOOKS.program_graph = _from("tfrt_nb.documents.program", "program_graph")
HOOKS.courses.append(_from("tfrt_nb.lessons", "load"))

_NAMES = {
    "tfrt_nb.cli.opt": "opt",
    "tfrt_nb.exercises.answer": "Answer Code Names",
    "tfrt_nb.exercises.exercise": "exercise grade",
    "tfrt_nb.programs": "Program",
    "tfrt_nb.tracing.api": (
        "cond f32 f64 i1 i8 i16 i32 i64 in_order index map max "
        "min parallel_for program recover repeat ui8 ui16 ui32 ui64 while_loop"
    ),
    "tfrt_nb.tracing.eager": "call call_each",
    "tfrt_nb.tracing.functions": "TracedProgram",
    "tfrt_runtime.async_runtime.externals": "external",
    "tfrt_runtime.diagnostics": "TfrtError",
    "tfrt_runtime.executor.batch": "Batch",
    "tfrt_runtime.executor.execution": "Execution",
    "tfrt_runtime.hooks": "board last_run",
    "tfrt_runtime.host.allocator": "HostAllocator LeakCheckAllocator MallocAllocator",
    "tfrt_runtime.host.context": "HostContext",
    "tfrt_runtime.host.default_host": "AsyncValue default_host gather set_default_host unavailable",
    "tfrt_runtime.host.exceptions": "CancelledError TimeoutError",
    "tfrt_runtime.host.payload": "CHAIN",
    "tfrt_runtime.host.queues.user_queue": "ConcurrentWorkQueue",
    "tfrt_runtime.host.run_parts": "ResourceContext",
    "tfrt_runtime.host.tracing.trace": "Activity ChromeSink Level Tracing TracingSink",
    "tfrt_runtime.host.values.waiting": "wait_for",
    "tfrt_runtime.host.waiting": "BlockingWarning",
    "tfrt_runtime.kernels.frame": "KernelFrame",
    "tfrt_runtime.kernels.registry": "KernelError KernelRegistry",
    "tfrt_runtime.kernels.users.annotations": "out tensor",
    "tfrt_runtime.kernels.users.remote": "DaskWorkQueue",
    "tfrt_runtime.kernels.users.user": "kernel",
}
"""The public names, by module. A name is imported from its module on first use."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "CHAIN",
    "Activity",
    "Answer",
    "AsyncValue",
    "Batch",
    "BlockingWarning",
    "CancelledError",
    "ChromeSink",
    "Code",
    "ConcurrentWorkQueue",
    "DaskWorkQueue",
    "Execution",
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
    "TracedProgram",
    "Tracing",
    "TracingSink",
    "board",
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
    "last_run",
    "load_ipython_extension",
    "map",
    "max",
    "min",
    "opt",
    "out",
    "parallel_for",
    "program",
    "recover",
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


if not TYPE_CHECKING:  # otherwise, type checkers would accept any name

    def __getattr__(name: str) -> object:
        """Import a public name on first use, so that importing the package is quick."""
        if name == "__version__":
            return import_module("importlib.metadata").version("tfrt-nb")
        if name not in _HOMES:
            raise AttributeError(f"module 'tfrt_nb' has no attribute '{name}'")
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return found

    def __dir__() -> list[str]:
        """Return the public names for Tab completion, without submodules and imports."""
        return [*__all__, *(name for name in globals() if name.startswith("__")), "__version__"]


def load_ipython_extension(shell: object) -> None:
    """Register `%%tfrt` and the other magics in `shell`; implements `%load_ext tfrt_nb`."""
    import_module("tfrt_magics.extension").load_ipython_extension(shell)


def unload_ipython_extension(shell: object) -> None:
    """Stop every run and remove the magics from `shell`; implements `%unload_ext tfrt_nb`."""
    import_module("tfrt_magics.extension").unload_ipython_extension(shell)
