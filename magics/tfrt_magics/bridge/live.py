"""The runs that pages may see, and the messages between pages and kernel.

A run is published while it runs, and answers requests until it is forgotten.

The kernel publishes messages on one comm without announcing the comm to pages. Pages with our
extension listen to all messages of this comm; every other front end ignores them. A page sends its
requests as `tfrt_request` messages on the control channel, which the kernel serves even while a
cell is busy. The kernel answers with `tfrt_reply`. If a kernel has no control channel, requests
come through `broadcast`.

Rejected alternative: the page opens a comm, and sends its requests on it. JupyterLab 4.6 sends the
first messages of a comm before it has created a subshell for them, and ipykernel 6 has no subshells
at all. Without a subshell, the messages would wait until the running cell has finished.
"""

from __future__ import annotations

import asyncio
import base64
import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import comm
from IPython.core.interactiveshell import InteractiveShell

from tfrt_magics.bridge.broadcast import Broadcast, Flag
from tfrt_magics.bridge.job import Job
from tfrt_magics.bridge.record import MAX_LIVE, Document, Json, Record, Recorded
from tfrt_runtime.host.one_thread import ONE_THREAD
from tfrt_runtime.host.queues.threads import run_apart
from tfrt_runtime.native.machine import HAS_THREADS

# The maximum number of runs, and of finished displays, that still answer requests.
KEPT = 50
# The maximum number of lines in unfinished displays. With more, the oldest displays freeze.
MAX_OPEN = 50_000
# One in this many messages contains the current state of all values.
FRAME_LOOKS = 15

TARGET = "tfrt"
# How many seconds a cell waits for the first answer of our extension, which usually takes 20 ms.
WHO_SECONDS = 0.3

Answer = Callable[[Mapping[str, Any]], Document]
Bundle = dict[str, Json]


class Channel:
    """The connection of one kernel to its pages; open from `%load_ext` on.

    `answer` is called with the content of each request, on the control thread.
    """

    def __init__(
        self, shell: InteractiveShell, answer: Answer, is_simple: Callable[[], bool]
    ) -> None:
        self._shell, self._is_simple = shell, is_simple
        self._kernel: Any = shell.kernel  # type: ignore[attr-defined]
        self._answer = answer
        self._is_executing = True  # the cell with %load_ext
        self._pages: dict[str, tuple[threading.Event, float]] = {}
        """For each session, an event that is set once the page's extension has sent a message, and
        the deadline for that message.
        """
        self._events = shell.events
        self._events.register("pre_execute", self._on_begin)
        self._events.register("post_execute", self._on_end)
        name = TARGET + uuid.uuid4().hex
        self._comm = comm.create_comm(target_name=TARGET, comm_id=name, primary=False)
        self._announce()
        self._control: dict[str, Any] | None = getattr(self._kernel, "control_handlers", None)
        """None in JupyterLite, whose page has our extension."""
        self._broadcast = None if HAS_THREADS else Broadcast(TARGET, answer)
        if self._control is None:
            self._listen()
            return
        self._control[f"{TARGET}_request"] = self._on_request
        if (place := self.place)["cell"] is not None:
            self._page(str(place["client"]))  # ask the page now, so that no cell has to wait

    @property
    def place(self) -> dict[str, Json]:
        """Return the place of a run that is about to start.

        The dictionary names the kernel process, the page that sent the request, and the cell. It
        also says whether the run's board should be simple.
        """
        if self._control is None:
            parent = self._kernel.get_parent() or {}
        else:
            parent = self._kernel.get_parent("shell")
        header, metadata = parent.get("header") or {}, parent.get("metadata") or {}
        # Messages of a kernel that runs in the page carry the page's session.
        kernels = getattr(self._kernel, "session", None)
        session = header.get("session") if kernels is None else kernels.session
        return {
            "session": session,
            "client": header.get("session"),
            "cell": metadata.get("cellId"),
            "execution": self._shell.execution_count,
            **({"simple": True} if self._is_simple() else {}),
        }

    def is_ours(self) -> bool:
        """Return whether the page of the current cell has our extension.

        Call this on the main thread. The first call for a page waits for the page's answer.
        """
        if self._control is None:
            return True
        page, end = self._page(str(self.place["client"]))
        return page.wait(max(0.0, end - time.monotonic()))

    def _page(self, client: str) -> tuple[threading.Event, float]:
        if client not in self._pages:
            self._pages[client] = threading.Event(), time.monotonic() + WHO_SECONDS
            self.send({"who": True})
        return self._pages[client]

    def _listen(self) -> None:
        if self._broadcast is not None and (client := self.place["client"]) is not None:
            self._broadcast.listen(str(client))

    def close(self) -> None:
        """Stop answering."""
        if self._broadcast is not None:
            self._broadcast.close()
        self._events.unregister("pre_execute", self._on_begin)
        self._events.unregister("post_execute", self._on_end)
        if self._control is not None:
            self._control.pop(f"{TARGET}_request", None)
        comm.get_comm_manager().unregister_comm(self._comm)

    def send(self, message: Document) -> None:
        """Publish a message. Any thread may call this."""
        self._announce()
        self._comm.send(message)

    def _announce(self) -> None:
        """Register the comm, so that `comm_info_request` lists it.

        Pages then see that the kernel answers requests. A page, or a cell that closes all comms,
        may have closed the comm since the last message.
        """
        comm.get_comm_manager().register_comm(self._comm)

    def _on_request(self, stream: Any, ident: Any, parent: dict[str, Any]) -> None:
        kernel = self._kernel
        # For a new page, the deadline does not matter, because the event is set.
        self._pages.setdefault(parent["header"]["session"], (threading.Event(), 0.0))[0].set()
        answer = self._answer(parent["content"])
        kernel.session.send(stream, f"{TARGET}_reply", answer, parent, ident=ident)
        if self._is_executing and hasattr(kernel, "_publish_status"):
            # The kernel says "idle" when this function returns, which would hide that the cell is
            # still running.
            asyncio.get_running_loop().call_soon(self._say_busy)

    def _say_busy(self) -> None:
        if self._is_executing:
            self._kernel._publish_status("busy", "shell")
            # If the cell has finished in the meantime, "busy" may have been sent after the cell's
            # "idle".
            if not self._is_executing:
                self._kernel._publish_status("idle", "shell")

    def _on_begin(self) -> None:
        self._is_executing = True
        self._listen()

    def _on_end(self) -> None:
        self._is_executing = False
        self._announce()


class Published(Protocol):
    """An object that a page can ask about: a run, or displayed values."""

    began: float
    """The start time, in seconds since 1970. Pages compare it with the times of files."""

    @property
    def id(self) -> str:
        """The id that pages use."""

    def without_events(self) -> Document:
        """Return the object's state, without events."""

    def since(self, event: int) -> Document:
        """Return everything that a page still needs if it has the first `event` events."""

    def bundle(self) -> Bundle:
        """Return the object's display data."""

    def command(self, name: str, question: Mapping[str, Any]) -> Document:
        """Execute a page's command, and return the answer immediately."""


class Publisher(Protocol):
    """A destination of messages, such as a channel."""

    @property
    def place(self) -> dict[str, Json]:
        """Return the place of a run that is about to start."""

    def send(self, message: Document) -> None:
        """Publish a message. Any thread may call this."""


class LiveRecord:
    """Publishes a run on a channel: the pump sends each change of the run's record to the pages.

    `at_end` is called after the last message.
    """

    def __init__(
        self, job: Recorded, channel: Publisher, bundle_of: Callable[[Record], Bundle]
    ) -> None:
        """`bundle_of` makes the display data of the run's current state."""
        self._job = job
        self._head = {"run": uuid.uuid4().hex, **channel.place}
        self.record = Record(job, self._head)
        self._flag = None if HAS_THREADS or self.record.is_over else Flag(self._cancel)
        # The record shares `_head`, so its messages contain the flag until `step` removes it.
        if self._flag is not None and self._flag.address:
            self._head["flag"] = self._flag.address
        self.over = threading.Event()
        self.at_end: Callable[[], None] = lambda: None
        self.began = time.time()
        self._channel, self._bundle_of = channel, bundle_of
        self._looks = 0
        self._final: Bundle | None = None
        self._previewing = threading.Thread()
        self._listeners: list[Callable[[Document], None]] = []

    @property
    def id(self) -> str:
        return self.record.id

    def follow(self, listener: Callable[[Document], None]) -> None:
        """Call `listener` with each later message, on the thread that publishes it."""
        self._listeners.append(listener)

    def send_to(self, channel: Publisher) -> None:
        """Publish later messages on another channel, too."""
        if channel is not self._channel and channel.send not in self._listeners:
            self.follow(channel.send)

    def _send(self, message: Document) -> None:
        self._channel.send(message)
        for listener in self._listeners:
            listener(message)

    def without_events(self) -> Document:
        return self.record.without_events()

    def since(self, event: int) -> Document:
        return self.record.since(event)

    def command(self, name: str, question: Mapping[str, Any]) -> Document:
        match name:
            case "cancel":
                self._cancel()
            case "stages":
                # This compiles the program, and other requests must not wait for it.
                run_apart("stages", self.show_stages)
            case "bef":
                return {"bef": base64.b64encode(self.record.program.bef()).decode()}
        return {}

    def _cancel(self) -> None:
        self._job.cancel("cancelled on the board")
        # A kernel that sleeps on this thread would not notice that it is cancelled.
        ONE_THREAD.end_sleep()

    def show_stages(self) -> None:
        """Publish the program's stages, and after the run also the file that contains them."""
        message = {**self.record.without_events(), "stages": self.record.stages()}
        if self.record.is_over:
            # The cached file does not contain the stages.
            self._final = None
            message["bundle"] = self.bundle()
        self._channel.send(message)

    def bundle(self) -> Bundle:
        """Return the display data of the run's current state; cached after the run."""
        if self._final is not None:
            return self._final
        if not self.record.is_over:
            return self._bundle_of(self.record)
        # The last file needs every preview, even a slow one. `look` copies them into the record.
        self.record.preview()
        self.record.look()
        self._final = self._bundle_of(self.record)
        return self._final

    def step(self) -> bool:
        """Publish the changes, and return whether there will be more changes.

        The last message contains the whole run.
        """
        message = self.record.look()
        self._looks += 1
        if self.record.is_over:
            if self._flag is not None:
                self._flag.lower()
                self._head.pop("flag", None)
            message = self._last(message or {})
        # Previews may be slow, so they have a thread of their own, but only one at a time.
        elif not self._previewing.is_alive():
            self._previewing = run_apart("preview", self.record.preview)
        if self._looks % FRAME_LOOKS == 0 and not self.record.is_over:
            message = {**(message or self.record.without_events()), "frame": self.record.frame()}
        if message is not None:
            self._send(message)
        if self.record.is_over:
            self.over.set()
            self.at_end()
        return not self.record.is_over

    def _last(self, message: Document) -> Document:
        """Return the last message: the run's file and the changes in `message`.

        The changes spare a page from reading the file.
        """
        events: Document = {key: message[key] for key in ("from", "events") if key in message}
        bundle = self.bundle()
        if self.record.events > MAX_LIVE:
            events["frame"] = self.record.frame()
        return {"bundle": bundle, **self.record.without_events(), **events}


class LiveRun(LiveRecord):
    """Publishes the run of a `%%tfrt` cell. Pages may also step through the run."""

    def __init__(self, job: Job, channel: Channel, bundle_of: Callable[[Record], Bundle]) -> None:
        self.job = job
        super().__init__(job, channel, bundle_of)

    def command(self, name: str, question: Mapping[str, Any]) -> Document:
        if name == "step":
            # A step may take long, and other requests must not wait for it.
            operation, until = question.get("op"), bool(question.get("until"))
            run_apart("step", partial(self.job.step, operation, until=until))
        return super().command(name, question)


class LiveRuns:
    """The runs and displays of this kernel, from oldest to newest."""

    def __init__(
        self,
        shell: InteractiveShell,
        bundle_of: Callable[[Record], Bundle],
        assist: Answer,
        is_simple: Callable[[], bool] = lambda: False,
    ) -> None:
        """Args:
        assist: answers requests about a cell that a user is writing. Such requests have a field
            `ask`.
        is_simple: returns whether new boards omit threads and work queues.
        """
        self.channel = Channel(shell, self._answer, is_simple)
        self._bundle_of, self._assist = bundle_of, assist
        self._runs: OrderedDict[str, LiveRun] = OrderedDict()
        self._open: OrderedDict[str, tuple[Published, int]] = OrderedDict()
        """Unfinished displays, with the number of their lines."""
        self._over: deque[Published] = deque(maxlen=KEPT)
        self._lines, self._lock = 0, threading.Lock()

    @property
    def place(self) -> dict[str, Json]:
        """Return where a display that is created now belongs. Call this on the main thread."""
        return self.channel.place

    def add(self, job: Job) -> LiveRun:
        """Add the run of the current cell. Call this on the main thread."""
        run = LiveRun(job, self.channel, self._bundle_of)
        self._runs[run.record.id] = run
        while len(self._runs) > KEPT:
            self._runs.popitem(last=False)
        return run

    def hold(self, display: Published, lines: int) -> None:
        """Keep an unfinished display, which has `lines` lines, until it finishes."""
        with self._lock:
            self._open[display.id] = display, lines
            self._lines += lines
            # The newest display stays live, even if it alone has too many lines.
            while self._lines > MAX_OPEN and len(self._open) > 1:
                self._lines -= self._open.popitem(last=False)[1][1]

    def release(self, display: Published) -> None:
        """Keep a finished display until `KEPT` newer displays have finished."""
        with self._lock:
            # `hold` may have dropped the display already.
            if (held := self._open.pop(display.id, None)) is not None:
                self._lines -= held[1]
                self._over.append(display)

    def _find(self, name: object) -> Published | None:
        if not isinstance(name, str):
            return None
        found: Published | None = self._runs.get(name)
        held = self._open.get(name)
        # Search a copy, because the pump's thread adds to `_over` meanwhile.
        return found or (held and held[0]) or next((d for d in [*self._over] if d.id == name), None)

    def _answer(self, question: Mapping[str, Any]) -> Document:
        """Answer a page's request.

        A request with `run` asks for the changes of that run since event `last`. `stages` and `bef`
        ask for the stages or bytes of a run's program, and `cancel` and `step` control a run.
        `here` announces our extension. Any other request asks for the list of runs.
        """
        if "ask" in question:
            return self._assist(question)
        for name in ("cancel", "step", "stages", "bef"):
            if (named := self._find(question.get(name))) is not None:
                return named.command(name, question)
        if "here" in question:
            return {}
        if "run" not in question:
            displays = [*self._over, *(held for held, _ in [*self._open.values()])]
            return {"runs": [one.without_events() for one in [*self._runs.values(), *displays]]}
        if (run := self._find(question["run"])) is None:
            return {"status": "unknown"}
        answer = {**run.since(question.get("last", 0)), "bundle": run.bundle()}
        return {**answer, "began": run.began}
