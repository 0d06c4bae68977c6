"""The session of a notebook kernel: its hosts, its pump, and its settings.

Importing the compiler and the runtime takes most of the first cell's time. Therefore, `%load_ext`
starts a thread that imports them while the user looks at the page. If a cell runs before the
imports are done, the cell waits.

Rejected: importing in `%load_ext` itself, because every user would have to wait; and importing only
in the first cell, because every learner's first minute would be slower.
"""

from __future__ import annotations

import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import traitlets
from traitlets.config import Config, Configurable

from tfrt_magics.bridge.job import Job
from tfrt_magics.bridge.pump import Pump
from tfrt_runtime.host.queues.queue_names import parse_work_queue
from tfrt_runtime.host.queues.threads import start_thread
from tfrt_runtime.native.machine import HAS_THREADS

if TYPE_CHECKING:
    from tfrt_magics.bridge.cell_run import CellRun
    from tfrt_magics.bridge.runtime import NotebookHost
    from tfrt_nb.programs import FunctionSignature, Program
    from tfrt_runtime.async_runtime import LiveObject
    from tfrt_runtime.host.context import HostContext

# The delay, in seconds, that lets the kernel first answer the cell with `%load_ext`.
PAUSE_SECONDS = 0.02
# The thread switch interval, in seconds, during the imports. With this interval, a cell with
# `print(1)` takes 21 ms during the imports; with the default, 32 ms.
SWITCH_SECONDS = 0.001

_PROGRAM = """\
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %one, %one
  tfrt.return %two : i32
}
"""


def _warm() -> None:
    time.sleep(PAUSE_SECONDS)
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        # Ignore errors here: the first cell reports a faulty installation where the reader sees the
        # report.
        with suppress(Exception):
            prepare()
    finally:
        # If a cell has set another interval in the meantime, keep it.
        if sys.getswitchinterval() == SWITCH_SECONDS:
            sys.setswitchinterval(before)


def prepare() -> None:
    """Import the modules that a cell needs, and compile a program to fill the caches."""
    from tfrt_magics.bridge.runtime import PageProgram
    from tfrt_nb.programs import Program
    from tfrt_runtime.native import library

    _ = PageProgram(Program.from_source(_PROGRAM, "warming")).body
    # If the core must be compiled first, leave that to the first cell, which shows progress.
    library.load_at_hand()


class TFRT(Configurable):
    """The settings of `%config TFRT`."""

    work_queue = traitlets.Unicode(
        f"mstd:{max(2, os.cpu_count() or 2)}" if HAS_THREADS else "s",
        help="The work queue of cells without --work-queue, --host, or a host set by "
        "tfrt.set_default_host: s, mstd,"
        " mstd:N or mstd:N,B.",
    ).tag(config=True)
    timeout = traitlets.Float(
        0.0, min=0.0, help="Seconds after which a cell without --timeout is stopped; 0 is never."
    ).tag(config=True)
    errors = traitlets.Enum(
        ("raise", "show"),
        "raise",
        help="What a cell does if its program is invalid or its run fails: raise raises "
        "TfrtError, which stops"
        " Run All and nbconvert; show only displays the errors.",
    ).tag(config=True)
    live = traitlets.Enum(
        ("auto", "always", "never", "tables"),
        "auto",
        help="Show a live board while a cell runs: auto does so if a page shows the cell, as a "
        "widget if "
        "the page lacks tfrt-nb's JupyterLab extension. tables draws a table each second "
        "instead, for pages without widgets.",
    ).tag(config=True)
    board = traitlets.Enum(
        ("full", "simple"),
        "full",
        help="What the boards of cells show: simple leaves out the worker of each value, the "
        "queue of the run, and the timeline, for readers who do not know about threads and work "
        "queues yet.",
    ).tag(config=True)
    loop = traitlets.Enum(
        ("own", "notebook"),
        "own",
        help="The event loop that runs 'async def' kernels: own is the host's loop, and notebook "
        "is the "
        "notebook's loop. A cell without --no-wait keeps the notebook's loop busy, so its kernels "
        "always run on the host's loop.",
    ).tag(config=True)
    check_references = traitlets.Bool(
        True,
        help="Track every async object of compiled programs, so that "
        "the board counts them and %tfrt_leaks lists them all; without this, a run with "
        "millions of tasks takes less memory.",
    ).tag(config=True)


class Session:
    """The state that cells share. Only the notebook's main thread uses a session."""

    def __init__(
        self,
        open_host: Callable[[str, bool], NotebookHost] | None = None,
        compile_program: Callable[..., Program] | None = None,
        *,
        config: Config | None = None,
    ) -> None:
        """Tests pass `open_host` and `compile_program` to replace the runtime and the compiler."""
        self.pump = Pump()
        self.settings = TFRT(config=config)
        self._open_host = open_host or self._open_notebook_host
        self._compile = compile_program
        self._hosts: dict[tuple[str, bool], NotebookHost] = {}
        """The hosts by work queue, and by whether `async def` kernels run on the notebook's event
        loop."""
        self._of_user: weakref.WeakSet[NotebookHost] = weakref.WeakSet()
        """The notebook's side of each user host on which cells have run; each is owned by its user
        host.
        """
        self._spent: list[NotebookHost] = []
        self._jobs: list[Job] = []
        self.last_program: Program | None = None
        self.last_run: CellRun | None = None
        self._undo: Callable[[], None] | None = None
        self._warming: threading.Thread | None = None

    def warm(self) -> None:
        """Start a thread that imports the modules that the first cell needs."""
        self._warming = start_thread("tfrt-warming", _warm) if HAS_THREADS else None

    def wait_until_warm(self) -> None:
        """Wait for the thread that `warm` started.

        If two threads import at the same time, each runs at only half the speed.
        """
        if self._warming is not None:
            self._warming.join()
            self._warming = None

    def divert_errors(self) -> None:
        """From now on, show the standard error of Python kernels on the board of their run."""
        if self._undo is None:
            # Imported here because it needs the runtime.
            from tfrt_runtime.kernels.users.prints import divert_errors

            self._undo = divert_errors()

    def compile(
        self,
        text: str,
        name: str,
        parallel_for: str | None = None,
        libraries: Mapping[str, Program] | None = None,
        level: int | None = None,
    ) -> Program:
        """Compile the program in `text`. Locations in the program use `name` as the file's name.

        `parallel_for` contains the options for splitting parallel loops; with None, loops are not
        split. `libraries` maps names to programs whose functions the program may call. `level` has
        the same meaning as in `Program.from_source`.

        Raises:
            TfrtError: if the program is invalid.
        """
        compile_program = self._compile
        if compile_program is None:
            # The first cell, rather than %load_ext, imports the compiler and the runtime.
            from tfrt_nb.programs import Program

            compile_program = Program.from_source
        return compile_program(
            text, name, parallel_for=parallel_for, libraries=libraries or {}, level=level
        )

    def load_bef(self, data: bytes, name: str) -> Program:
        """Load the program in a BEF file.

        Raises:
            TfrtError: if the file is invalid.
        """
        from tfrt_nb.programs import Program

        return Program.from_bef(data, name)

    def live_objects(self) -> list[LiveObject]:
        """Return the async objects that compiled programs left behind."""
        hosts = (*self._hosts.values(), *self._of_user)
        return [one for host in hosts for one in host.live_objects()]

    def job(
        self,
        program: Program,
        functions: Sequence[FunctionSignature],
        work_queue: str,
        timeout: float | None,
        memory: str | None = None,
        arguments: Mapping[str, Sequence[object]] | None = None,
        slow: float = 1.0,
        *,
        waits: bool = True,
        users_host: HostContext | None = None,
    ) -> Job:
        """Return a job on a user's host or, by default, on the notebook's host for `work_queue`.

        The notebook's host is opened once and kept, and `memory` is its budget from now on.
        `arguments` maps function names to arguments. Each operation takes `slow` times as long. If
        the cell `waits` for the run, the notebook's event loop is busy, so kernels do not run on
        that loop.

        Raises:
            TfrtError: if the work queue does not exist, `memory` is invalid, or a kernel of the
                program is missing.
        """
        if users_host is None:
            host = self._host(work_queue, on_loop=not waits and self.settings.loop == "notebook")
            host.set_memory(memory)
        else:
            host = self._users(users_host)
            work_queue = users_host.work_queue.text or str(users_host.work_queue.name)
        loaded = host.load(program, slow)
        job = Job(loaded, functions, arguments, timeout=timeout, work_queue=work_queue)
        job.is_simple = self.settings.board == "simple"
        going = [other for other in self._jobs if not other.finished.is_set()]
        # A job without functions is never started.
        self._jobs = [*going, job] if functions else going
        return job

    def close(self) -> None:
        """Stop all runs, and close every host. The session can be used again afterward."""
        for job in self._jobs:
            job.cancel("the session was closed")
        self._close()

    def leave(self) -> None:
        """Close the session when the kernel exits."""
        self.wait_until_warm()
        for job in self._jobs:
            job.lose()
        self._close()

    def _close(self) -> None:
        for job in self._jobs:
            job.finished.wait(1.0)
        # The pump now tells pages that the jobs have finished.
        self.pump.drain(1.0)
        for thing in (*self._hosts.values(), *self._spent):
            thing.close()
        self._jobs.clear()
        self.last_run = None
        self._hosts.clear()
        self._spent.clear()
        if self._undo is not None:
            self._undo()
            self._undo = None

    def _host(self, work_queue: str, *, on_loop: bool) -> NotebookHost:
        key = work_queue, on_loop
        known = self._hosts.get(key)
        if known is not None and known.is_spent:
            self._spent.append(self._hosts.pop(key))
        if key not in self._hosts:
            # Check this here and not in a trait's validator, whose message would go to the server's
            # log.
            parse_work_queue(work_queue)
            self._hosts[key] = self._open_host(*key)
        return self._hosts[key]

    def _users(self, host: HostContext) -> NotebookHost:
        """Return the `NotebookHost` for a user's host.

        The result lives as long as the user's host and never closes that host.
        """
        from tfrt_magics.bridge.runtime import NotebookHost

        found = host.shared_context(NotebookHost)
        found.check_references = self._checks_references
        self._of_user.add(found)
        self.divert_errors()
        return found

    def _checks_references(self) -> bool:
        return bool(self.settings.check_references)

    def _open_notebook_host(self, work_queue: str, on_loop: bool) -> NotebookHost:
        from tfrt_magics.bridge.runtime import NotebookHost, notebook_loop

        loop = notebook_loop() if on_loop else None
        host = NotebookHost(work_queue, self._checks_references, loop)
        self.divert_errors()
        return host
