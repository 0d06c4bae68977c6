"""The live board: one widget per cell.

The truth stays in Python.  The trait `snapshot` holds the last keyframe for a page that is still
loading; a page that asks for the state, as after a reload, is given the present.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import anywidget
import traitlets

from tfrt_magics.bridge.pump import Source
from tfrt_magics.bridge.snapshot import Snapshot
from tfrt_magics.bridge.stream import Delta, Json, Keyframe, snapshot_json

STATIC = Path(__file__).parent / "static"


class Board(anywidget.AnyWidget):
    """Shows `source`.  Made and displayed on the main thread, fed by the pump alone."""

    _esm = STATIC / "board.js"
    snapshot = traitlets.Dict().tag(sync=True)

    def __init__(self, source: Source, cancel: Callable[[], None], end: Callable[[Snapshot], None]):
        """`cancel` is called when the reader asks for it, `end` once with the final snapshot."""
        self._source, self._cancel, self._end = source, cancel, end
        self.shown = source.snapshot()
        super().__init__(snapshot=snapshot_json(self.shown))
        self.on_msg(self._on_message)
        _answer_while_busy(self)

    def get_state(
        self, key: str | Iterable[str] | None = None, drop_defaults: bool = False
    ) -> dict[str, object]:
        """The widget's state; when a page asks for all of it, with the run as it is now."""
        state: dict[str, object] = super().get_state(key, drop_defaults)
        if key is None:
            state["snapshot"] = snapshot_json(self._source.snapshot())
        return state

    def show(self, message: Keyframe | Delta) -> None:
        """Bring the pages up to date."""
        if isinstance(message, Keyframe):
            self.snapshot = snapshot_json(message.snapshot)
        else:
            self.send({"kind": "delta", **message.content})

    def end(self, snapshot: Snapshot) -> None:
        """The run is over; `snapshot` was sent."""
        self._end(snapshot)

    def _on_message(self, _: object, content: Mapping[str, Json], buffers: object) -> None:
        if content.get("kind") == "cancel":
            self._cancel()


def _answer_while_busy(board: Board) -> None:
    """Let a click reach the kernel while the cell runs.

    ipykernel 7.4 answers a comm on the thread that last wrote to it, which here is the busy main
    thread; its default is a thread of the comm's own.  The hook is private, so it may be missing.
    """
    if hasattr(board.comm, "_reply_subshell_for"):
        board.comm._reply_subshell_for = lambda data, default: default
