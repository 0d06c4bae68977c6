"""How the kernel and its pages speak of runs.

The kernel publishes messages on one comm that was never announced: pages of ours listen to all that it
publishes, every other front end ignores them.  Pages ask on the control channel, which answers while a cell is
busy: a message `tfrt_request`, answered by `tfrt_reply`.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import comm
from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.record import Document, Json

TARGET = "tfrt"
BUSY_AGAIN_SECONDS = 0.05

Answer = Callable[[Mapping[str, Any]], Document]


class Channel:
    """One per kernel.  `answer` is called on the control thread with the content of each question."""

    def __init__(self, shell: InteractiveShell, answer: Answer) -> None:
        self._kernel: Any = shell.kernel  # type: ignore[attr-defined]
        self._answer = answer
        name = TARGET + uuid.uuid4().hex
        self._comm = comm.create_comm(target_name=TARGET, comm_id=name, primary=False)
        self._announce()
        self._kernel.control_handlers[f"{TARGET}_request"] = self._on_request

    @property
    def place(self) -> dict[str, Json]:
        """Where a run that starts now belongs: the kernel's process, the page that asked, the cell."""
        parent = self._kernel.get_parent("shell")
        header, metadata = parent.get("header") or {}, parent.get("metadata") or {}
        session = self._kernel.session.session
        return {"session": session, "client": header.get("session"), "cell": metadata.get("cellId")}

    def send(self, message: Document) -> None:
        """Publish a message; on any thread."""
        self._announce()
        self._comm.send(message)

    def _announce(self) -> None:
        """Let pages see that the kernel takes their questions: `comm_info_request` lists the comm.

        A page, or a cell that closes every comm, may have closed it since the last message.
        """
        comm.get_comm_manager().register_comm(self._comm)

    def _on_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        kernel = self._kernel
        answer = self._answer(parent["content"])
        kernel.session.send(stream, f"{TARGET}_reply", answer, parent, ident=ident)
        running = (kernel.get_parent("shell").get("header") or {}).get("msg_type")
        if (
            running == "execute_request"
            and answer.get("is_running")
            and hasattr(kernel, "_publish_status")
        ):
            # The request's own "idle" would hide the cell that still runs.
            threading.Timer(BUSY_AGAIN_SECONDS, kernel._publish_status, ("busy", "shell")).start()
