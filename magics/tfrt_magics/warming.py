"""Prepare the first cell on a separate thread after `%load_ext`.

Importing the compiler and the runtime takes most of the first cell's time.  The thread imports them while the reader
looks at the page; a cell that runs earlier waits for the rest. Rejected: importing in `%load_ext`
itself, for which every user waits; and importing only in the first cell, which would slow every
learner's first minute.
"""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress

from tfrt_runtime.host.queues.threads import start_thread

PAUSE_SECONDS = 0.02
"""The delay until the kernel has answered the cell with `%load_ext`."""
SWITCH_SECONDS = 0.001
"""The switch interval of threads meanwhile: a cell with `print(1)` takes 21 ms instead of 32."""

_PROGRAM = """\
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = tfrt.add.i32 %one, %one
  tfrt.return %two : i32
}
"""


def start_warming() -> threading.Thread:
    """Start the thread; join it before the first cell is compiled."""
    return start_thread("tfrt-warming", _warm)


def _warm() -> None:
    time.sleep(PAUSE_SECONDS)
    before = sys.getswitchinterval()
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        # The first cell reports a faulty installation, where its reader looks.
        with suppress(Exception):
            prepare()
    finally:
        if sys.getswitchinterval() == SWITCH_SECONDS:
            sys.setswitchinterval(before)


def prepare() -> None:
    """Import what a cell imports, and fill the caches that compiling a program fills."""
    from tfrt_magics.bridge.runtime import PageProgram
    from tfrt_nb.programs import Program
    from tfrt_runtime.native import library

    _ = PageProgram(Program.from_source(_PROGRAM, "warming")).body
    # A core that has to be compiled first belongs to the first cell, which shows how far it is.
    library.load_at_hand()
