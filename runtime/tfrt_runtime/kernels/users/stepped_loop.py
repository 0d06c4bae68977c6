"""The event loop for `async def` kernels on systems that cannot start a thread.

`one_thread` runs the loop in steps, during a wait and between cells.  Each step runs the callbacks
that are due.  Sockets are not supported, because a browser page has none.  Rejected alternative:
the page's own event loop, which does not run while a cell waits.
"""

from __future__ import annotations

import asyncio
from asyncio import events, tasks
from collections.abc import Callable, Coroutine
from typing import Any

from tfrt_runtime.host.one_thread import ONE_THREAD


class _NoSockets:
    """A selector that finds no events and never sleeps; `one_thread` sleeps instead."""

    def select(self, timeout: float | None) -> list[object]:
        return []


class SocketlessLoop(asyncio.BaseEventLoop):
    """An event loop without sockets, which calls `selector` to sleep."""

    def __init__(self, selector: Any) -> None:
        super().__init__()
        self._selector = selector

    def _process_events(self, event_list: list[object]) -> None:
        """Do nothing, because there are no socket events."""

    def _write_to_self(self) -> None:
        """Do nothing, because no other thread wakes the loop."""


class SteppedLoop(SocketlessLoop):
    """An event loop that runs one iteration at a time."""

    _scheduled: list[asyncio.TimerHandle]
    _ready: Any

    def __init__(self, ended: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Add this loop to the sources of `one_thread`.

        `ended` returns a coroutine that cancels a loop's tasks before the loop is closed.
        """
        super().__init__(_NoSockets())
        self._ended = ended
        ONE_THREAD.add(self.step)

    def step(self) -> float | None:
        """Run the callbacks that are due.

        Return the seconds until the next callback is due, or None if no callback is scheduled.
        """
        if self.is_closed() or self.is_running():
            return None
        outer = events._get_running_loop()
        task = None if outer is None else asyncio.current_task(outer)
        # The waiting cell runs on the page's loop.  Kernels must see this loop instead, because the
        # futures that they await belong to it.
        if outer is not None and task is not None:
            tasks._leave_task(outer, task)
        events._set_running_loop(None)
        try:
            # Not this class's own `call_soon`, which would wake the page for one more step.
            super().call_soon(self.stop)
            self.run_forever()
        except BaseException as problem:  # noqa: BLE001 - others need the loop
            context = {"message": "a task or callback of a kernel ended", "exception": problem}
            self.call_exception_handler(context)
        finally:
            events._set_running_loop(outer)
            if outer is not None and task is not None:
                tasks._enter_task(outer, task)
        if self._ready:
            return 0.0
        return max(0.0, self._scheduled[0].when() - self.time()) if self._scheduled else None

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, **given: Any
    ) -> Any:
        handle = super().call_soon(callback, *args, **given)
        if not self.is_running():
            ONE_THREAD.wake()
        return handle

    def stop_serving(self) -> None:
        """Cancel the remaining tasks, and close the loop."""
        ONE_THREAD.remove(self.step)
        ending = self.create_task(self._ended())
        # The number of steps is limited, because a task may ignore its cancellation.
        for _ in range(100):
            if ending.done():
                break
            self.step()
        self.close()

    def _write_to_self(self) -> None:
        ONE_THREAD.wake()
