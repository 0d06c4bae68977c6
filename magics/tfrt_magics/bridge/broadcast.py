"""Requests of pages to a kernel without a control channel: JupyterLite's, which is a worker of the
page.

JupyterLite holds messages to a kernel until its cell finishes.  A `BroadcastChannel` reaches the
worker whenever its event loop runs: between cells, while a cell awaits, and, if the browser can
switch stacks, while a cell waits for a run (`host.one_thread.let_page_in`).  Otherwise, a busy cell
does not answer, and the board says so.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any


class Broadcast:
    """One per kernel.  Each page has its own channel, named by its session, which no other page can
    know."""

    def __init__(self, name: str, answer: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> None:
        """`answer` is called with the content of each request, on the only thread."""
        self._name, self._answer = name, answer
        self._channels: dict[str, Any] = {}

    def listen(self, client: str) -> None:
        """Answer the page of this session from now on."""
        if client in self._channels:
            return
        import js
        from pyodide.ffi import create_proxy

        channel = self._channels[client] = js.BroadcastChannel.new(f"{self._name}-{client}")

        def on_message(event: Any) -> None:
            message = json.loads(event.data)
            if "question" in message:
                answer = self._answered(message["question"])
                channel.postMessage(json.dumps({"reply": message["id"], "answer": answer}))

        channel.onmessage = create_proxy(on_message)

    def _answered(self, question: Mapping[str, Any]) -> Mapping[str, Any] | None:
        try:
            return self._answer(question)
        except Exception:
            logging.getLogger(__name__).exception("a question of the page failed")
            return None

    def close(self) -> None:
        """Stop answering."""
        while self._channels:
            self._channels.popitem()[1].close()
