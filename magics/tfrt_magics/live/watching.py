"""Find out which runs from Python a notebook will show, and record their events from the start.

Recording events costs time, so only runs that will be shown are recorded. Before a cell runs, its
syntax tree shows which calls return values that the cell displays. A run is recorded if one of
these calls starts it, or if it starts in a `tfrt.board()` block.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell

from tfrt_runtime.diagnostics import caller, counted, place_of_frame
from tfrt_runtime.hooks import HOOKS

if TYPE_CHECKING:
    from tfrt_magics.live.display import Displays
    from tfrt_runtime.executor.execution import Execution

MAX_BOARDS = 20
"""The maximum number of recorded runs per cell, and per `tfrt.board()` block."""
MAX_LOOKS = 1_000
"""The maximum number of runs of a cell that are compared with the calls from the syntax tree."""

Place = tuple[int, int, int | None, int | None]
"""First line, first column, last line, and last column, counted from 1.

The last column is exclusive.
"""


def shown_calls(cell: ast.Module) -> set[Place]:
    """Return the places of the calls whose values a cell displays.

    Such a call is in the last expression of the cell or in a call of `display`, or its value is
    assigned to a variable that is displayed there.
    """
    calls = (one for one in ast.walk(cell) if isinstance(one, ast.Call))
    shown = (one.args for one in calls if getattr(one.func, "id", "") == "display")
    wanted: list[ast.expr] = [argument for arguments in shown for argument in arguments]
    if cell.body and isinstance(last := cell.body[-1], ast.Expr):
        wanted.append(last.value)
    names = {one.id for one in wanted if isinstance(one, ast.Name)}
    wanted += [
        one.value
        for one in cell.body
        if isinstance(one, ast.Assign) and any(getattr(t, "id", "") in names for t in one.targets)
    ]
    wanted = [one.value if isinstance(one, ast.NamedExpr) else one for one in wanted]
    return {
        (one.lineno, one.col_offset + 1, one.end_lineno, (one.end_col_offset or 0) + 1)
        for one in wanted
        if isinstance(one, ast.Call)
    }


class Block:
    """A `tfrt.board()` block, with the number of its runs so far."""

    def __init__(self) -> None:
        self.runs = 0


_block: ContextVar[Block | None] = ContextVar("tfrt_board", default=None)


class Follower:
    """Records a run that will be shown; see `hooks.Follower`."""

    def __init__(self, show: Callable[[Execution], object]) -> None:
        """`show` is called with the run after the run has started."""
        from tfrt_runtime.host.tracing.events import Watch  # %load_ext loads no runtime

        self.watch = Watch()
        self._show = show

    def begun(self, run: Execution, values: Sequence[object]) -> None:
        run.late = tuple(map(_late, values))
        self._show(run)


def _late(value: object) -> object:
    """Return a reference to an argument that may be resolved later, or None.

    The reference does not keep a promise alive.
    """
    waiter = getattr(value, "for_waiter", None)
    return waiter() if waiter else value if isinstance(value, Future) else None


class Watching:
    """Decides which runs of one shell are recorded."""

    def __init__(self, shell: InteractiveShell, displays: Callable[[], Displays | None]) -> None:
        self._shell, self._displays = shell, displays
        self._calls: set[Place] = set()
        self._looks = self._boards = 0

    def visit(self, cell: ast.Module) -> ast.Module:
        """Read a cell that is about to run. IPython calls this method as an AST transformer."""
        self._calls, self._looks, self._boards = shown_calls(cell), 0, 0
        return cell

    def follower(self) -> Follower | None:
        """Return a follower for the next run; see `HOOKS.follower`."""
        if (block := _block.get()) is not None:
            block.runs += 1
            return Follower(self._show) if block.runs <= MAX_BOARDS else None
        if not self._calls or self._looks >= MAX_LOOKS or self._boards >= MAX_BOARDS:
            return None
        self._looks += 1
        frame = caller()
        # A call in another module may have the same lines and columns as a call in the cell.
        if frame is None or frame.f_globals is not self._shell.user_ns:
            return None
        place = place_of_frame(frame)
        if (place.line, place.column, place.end_line, place.end_column) not in self._calls:
            return None
        self._boards += 1
        # The cell displays the run later, so only its events are needed.
        return Follower(lambda run: None)

    @contextmanager
    def board(self) -> Iterator[None]:
        """Record the runs in a block; see `hooks.board`."""
        token = _block.set(block := Block())
        try:
            yield
        finally:
            _block.reset(token)
            if (more := block.runs - MAX_BOARDS) > 0:
                said = (
                    f"{counted(more, 'more run')} without a board: `program.map` shows many "
                    f"calls on one board"
                )
                self._shell.display_pub.publish({"text/plain": said})

    def _show(self, run: Execution) -> None:
        if (displays := self._displays()) is not None:
            displays.show_now(run)


def install(shell: Any, displays: Callable[[], Displays | None]) -> Callable[[], None]:
    """Record the runs that `shell` will show from now on. Return a function that undoes this."""
    watching = Watching(shell, displays)
    shell.ast_transformers.append(watching)
    HOOKS.follower, HOOKS.board = watching.follower, watching.board

    def undo() -> None:
        shell.ast_transformers.remove(watching)
        HOOKS.follower, HOOKS.board = None, nullcontext

    return undo
