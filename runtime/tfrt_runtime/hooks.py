"""Hooks that higher floors give to lower ones, which must not import them: one object per process
names all of it.

A floor fills in its own hooks when it is imported, once; from then on any thread may call them.
Without the floor a hook has the default below, so that the runtime works without a compiler, and
without notebooks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol


def _missing(*arguments: object, **options: object) -> Any:
    raise RuntimeError("the part of the package that does this is not imported")


def _as_code(shown: object) -> str:
    from html import escape  # runs draw nothing

    return f"<code>{escape(repr(shown))}</code>"


class Follower(Protocol):
    """A notebook's requirements for a run that is about to start, because it will show it."""

    watch: Any
    """The `Watch` that the run's events go to, or None."""

    def begun(self, run: Any, values: Sequence[object]) -> None:
        """Hear of the run, an Execution with these arguments, as soon as it has started."""


@dataclass
class Hooks:
    """The hooks, by the floor that fills them in."""

    # executor
    enqueue: Callable[..., Any] = _missing
    """`enqueue(request, function, blocking=…)`: start a call of a Python function within a run;
    its AsyncValue.
    """
    # host.default_host
    of_future: Callable[[Any], Any] = _missing
    """The AsyncValue of a future, on the default host."""
    # kernels.users
    has_user_kernels: bool = False
    """Whether a kernel in Python was ever registered: only such ones block, and are watched for
    it.
    """
    # tfrt_nb.programs
    compiler: Any = None
    """The compiler of hot functions (`compile` as `jit.host_functions.compile_hot`;
    `is_imported`: it is ready to work at once), if one exists."""
    own_packages: set[str] = field(default_factory=lambda: {"tfrt_runtime", "contextlib"})
    """Packages whose frames are not the user's.  Decorated functions of theirs are called
    through `contextlib`.
    """
    kernel_names: Callable[[], Iterable[str]] = tuple
    """The names of the kernels that users have registered."""
    result_types: Callable[[str, Sequence[str]], tuple[str, ...] | None] = lambda *_: None
    """The types of a user kernel's results where its operands have these types; None if it does
    not say.
    """
    # tfrt_nb
    cell_of: Callable[[str], str] = lambda source: ""
    """Return a notebook's name of the cell whose code has this file name; "" for any other file."""
    value_html: Callable[[Any], str] = _as_code
    run_html: Callable[[Any], str] = _as_code
    """HTML of an `AsyncValue` and of an `Execution` at this moment."""
    widget: Callable[..., Any] = _missing
    """`widget(thing)`, `widget(value, name)`: the ipywidgets widget of a value or a run."""
    marimo: Callable[[Any], Any] = _missing
    """Return marimo's display of a value or a run."""
    program_graph: Callable[[Any], Any] = _missing
    """The graph of a program."""
    follower: Callable[[], Follower | None] | None = None
    """Called before a run of a program starts: who will show it, if a notebook will."""
    board: Callable[[], AbstractContextManager[None]] = nullcontext
    """The result of `board`."""
    last_run: Callable[[], Any] = lambda: None
    """The run of the newest `%%tfrt` cell that has run a program."""
    courses: list[Callable[[], object]] = field(default_factory=list)
    """Functions that register exercises, called when all of them are asked for."""


HOOKS = Hooks()


def last_run() -> Any:
    """The run of the newest `%%tfrt` cell of this notebook, also of one that failed; None before
    the first.

    It is what `_` and `Out[n]` are after a cell that did not fail: displayed, it is the cell's
    board.
    """
    return HOOKS.last_run()


def board() -> AbstractContextManager[None]:
    """A block each of whose runs has a board in the output of the cell: `with tfrt.board(): …`.

    The board appears when the run starts, and stays live while the cell waits for the run.  The
    first 20 runs of a block have one.  Outside of a notebook this does nothing.
    """
    return HOOKS.board()
