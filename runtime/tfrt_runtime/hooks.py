"""Hooks through which lower packages call higher ones, which they must not import.

A package fills in its own hooks once, when it is imported.  From then on, any thread may call the
hooks.  Hooks that are not filled in keep the defaults below, so the runtime works without a
compiler and without notebooks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol


def _missing(*arguments: object, **options: object) -> Any:
    raise RuntimeError("the part of the package that does this is not imported")


def _as_code(shown: object) -> str:
    from html import escape  # imported here, because only drawn runs need it

    return f"<code>{escape(repr(shown))}</code>"


class Follower(Protocol):
    """How a notebook follows a run that it will show.

    A follower is created before the run starts.
    """

    watch: Any
    """The `Watch` that receives the run's events, or None."""

    def begun(self, run: Any, values: Sequence[object]) -> None:
        """Receive the run (an `Execution`) and its arguments as soon as the run has started."""


@dataclass
class Hooks:
    """The hooks, grouped by the package that fills them in."""

    # executor
    enqueue: Callable[..., Any] = _missing
    """`enqueue(request, function, blocking=…)` starts a call of a Python function in a run.

    Return the AsyncValue of the call.
    """
    # host.default_host
    of_future: Callable[[Any], Any] = _missing
    """Return an AsyncValue on the default host that follows a future."""
    # kernels.users
    has_user_kernels: bool = False
    """Whether a Python kernel was ever registered.

    Only Python kernels can block a worker, so only they are watched.
    """
    calling_module = ""
    """The module whose frames lie between a kernel and a kernel that it calls."""
    # tfrt_nb.programs
    compiler: Any = None
    """The compiler of frequently called functions, or None.

    `compile` is like `jit.host_functions.compile_hot`.  `is_imported` returns whether the compiler
    can start without a slow import.
    """
    own_packages: set[str] = field(default_factory=lambda: {"tfrt_runtime", "contextlib"})
    """Packages whose frames do not belong to the user.

    `contextlib` is included because it calls the functions that it has decorated.
    """
    kernel_names: Callable[[], Iterable[str]] = tuple
    """Return the names of the kernels that users have registered."""
    result_types: Callable[[str, Sequence[str]], tuple[str, ...] | None] = lambda *_: None
    """Return the result types of a user's kernel for these operand types, or None.

    The result is None if the kernel does not state its result types.
    """
    # tfrt_nb
    cell_of: Callable[[str], str] = lambda source: ""
    """Return the notebook's name for the cell with this file name, or "" for any other file."""
    value_html: Callable[[Any], str] = _as_code
    run_html: Callable[[Any], str] = _as_code
    """Return HTML for the current state of an `AsyncValue` or an `Execution`."""
    widget: Callable[..., Any] = _missing
    """`widget(thing)`, `widget(value, name)`: return the ipywidgets widget of a value or a run."""
    marimo: Callable[[Any], Any] = _missing
    """Return marimo's display of a value or a run."""
    program_graph: Callable[[Any], Any] = _missing
    """Return the graph of a program."""
    follower: Callable[[], Follower | None] | None = None
    """Return a follower if a notebook will show the run, or None.

    This is called before a program's run starts.
    """
    board: Callable[[], AbstractContextManager[None]] = nullcontext
    """Return the context manager that `board` returns."""
    last_run: Callable[[], Any] = lambda: None
    """Return the run of the newest `%%tfrt` cell that has run a program."""
    courses: list[Callable[[], object]] = field(default_factory=list)
    """Functions that register exercises; they are called when all exercises are requested."""


HOOKS = Hooks()


def last_run() -> Any:
    """Return the run of the last `%%tfrt` cell, even a failed run, or None if no cell has run.

    After a cell that did not fail, `_` and `Out[n]` are this run; displaying it shows the cell's
    board.
    """
    return HOOKS.last_run()


def board() -> AbstractContextManager[None]:
    """Show a board for each run inside a block, in the cell's output: `with tfrt.board(): …`.

    A board appears when its run starts, and stays live while the cell waits for the run.  Only the
    first 20 runs in a block get a board.  Outside a notebook, this function does nothing.
    """
    return HOOKS.board()
