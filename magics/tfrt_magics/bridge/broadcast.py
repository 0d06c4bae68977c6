"""Answer requests from pages if the kernel has no control channel, as in JupyterLite.

JupyterLite's kernel is a web worker of the page. JupyterLite holds messages to the kernel until the
running cell finishes. A `BroadcastChannel` reaches the worker whenever the worker's event loop
runs: between cells, and while a cell awaits. If the browser can switch stacks, the event loop also
runs while a cell waits for a run (see `host.one_thread.let_page_in`). At all other times, the
kernel does not answer while a cell is busy, and the board says so.

A request to cancel uses a `Flag`, so that it also reaches a worker whose event loop does not run.
Rejected: memory that worker and page share, because such memory needs headers that GitHub Pages
does not send.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping
from typing import Any

from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.native.machine import HAS_THREADS
from tfrt_runtime.once import once

FLAG_SECONDS = 0.25
"""The interval, in seconds, between checks of a flag. One check takes a millisecond or more."""
BLOBS = """typeof XMLHttpRequest === "undefined" ? undefined : {
  make: () => URL.createObjectURL(new Blob(["running"])),
  revoke: address => URL.revokeObjectURL(address),
  isThere: address => {
    const request = new XMLHttpRequest();
    request.open("GET", address, false);
    try {
      request.send();
      return request.status === 200;
    } catch {
      return false;
    }
  },
}"""


class Broadcast:
    """The broadcast channels of one kernel.

    Each page has its own channel. The channel's name contains the page's session, which no other
    page can know.
    """

    def __init__(self, name: str, answer: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        """`answer` is called with the content of each request, on the kernel's only thread."""
        self._name, self._answer = name, answer
        self._channels: dict[str, Any] = {}

    def listen(self, client: str) -> None:
        """From now on, answer requests from the page whose session is `client`."""
        if client in self._channels:
            return
        import js
        from pyodide.ffi import create_proxy

        channel = self._channels[client] = js.BroadcastChannel.new(f"{self._name}-{client}")

        def on_message(event: Any) -> None:
            message = json.loads(event.data)
            if "question" in message:
                answer = None
                try:
                    answer = self._answer(message["question"])
                except Exception:
                    logging.getLogger(__name__).exception("a question of the page failed")
                channel.postMessage(json.dumps({"reply": message["id"], "answer": answer}))

        channel.onmessage = create_proxy(on_message)

    def close(self) -> None:
        """Stop answering."""
        while self._channels:
            self._channels.popitem()[1].close()


class Flag:
    """A blob that a page revokes to cancel a run.

    A worker needs no event loop to check whether the blob's address still exists.
    """

    def __init__(self, cancel: Callable[[], object]) -> None:
        """`cancel` is called at most once, while the worker waits or a kernel sleeps."""
        self._cancel, self._next = cancel, 0.0
        self._browser: Any = None if HAS_THREADS else _browser()
        self.address = "" if self._browser is None else str(self._browser.make())
        """The blob's address, or "" where no page can revoke a blob."""
        if self.address:
            ONE_THREAD.add(self._look, resolves=False, looks_on=True)

    def _look(self) -> None:
        if time.monotonic() >= self._next:
            if not self._browser.isThere(self.address):
                self.lower()
                self._cancel()
            self._next = time.monotonic() + FLAG_SECONDS

    def lower(self) -> None:
        """Stop checking, and revoke the blob."""
        if self.address:
            ONE_THREAD.remove(self._look)
            self._browser.revoke(self.address)
            self.address = ""


@once
def _browser() -> Any:
    """Return the browser's functions for blobs; None in Node."""
    from pyodide.code import run_js

    return run_js(BLOBS)
