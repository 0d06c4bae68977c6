"""Let `%load_ext tfrt_nb` use hosts that follow a script; tests run this in a kernel.

The method with the name of a cell's function is the script: `func @hang() -> i32` never finishes.
"""

from __future__ import annotations

import importlib.util
import sys
import threading
import time
from pathlib import Path

from tfrt_magics import extension
from tfrt_magics.session import Session
from tfrt_runtime.diagnostics import Location, TfrtError, error

_spec = importlib.util.spec_from_file_location("fakes", Path(__file__).parent / "conftest.py")
fakes = sys.modules["fakes"] = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(fakes)


class Host(fakes.FakeHost):
    """A host on which every run has its own thread, which resolves its values."""

    def run(self, function, output, arguments=()):
        run = fakes.one_result_run(*(f"%{place}" for place in range(64)))
        part = getattr(self, function)
        threading.Thread(target=part, args=(run, fakes.logged(run, output)), daemon=True).start()
        return run

    def hang(self, run, output) -> None:
        run.resolve("%0", "1", worker="worker 0", started_ns=0, resolved_ns=1_000)
        time.sleep(0.5)  # the cell is waiting by now
        print("hangs", file=sys.stderr, flush=True)

    def storm(self, run, output) -> None:
        """Make 4,000 updates in one second, in bursts of ten."""
        pause = threading.Event()
        for update in range(4000):
            run.resolve(f"%{update % 64}", str(update))
            if update % 10 == 9:
                pause.wait(0.0025)
        output("the end\n")
        run.resolve("result", "4000")
        run.over.set()

    def late(self, run, output) -> None:
        """Resolve `%0` at once and `%1` after a second, and nothing else."""
        run.named = run.named[:2]
        start = time.monotonic_ns()
        run.resolve("%0", "41", worker="worker 0", started_ns=0, resolved_ns=20_000)
        run.over.wait(1.0)
        run.resolve(
            *("%1", "42"),
            worker="worker 1",
            started_ns=20_000,
            resolved_ns=time.monotonic_ns() - start,
        )
        output("int32 = 42\n")
        run.resolve("result", "42")
        run.over.set()

    def fail(self, run, output) -> None:
        """Fail at line 3, column 8 of cell 2."""
        problem = error("Divide by zero", Location("cell 2", 3, 8))
        run.named = run.named[:2]
        run.diagnostics.append(problem)
        run.resolve("%0", "Divide by zero", "error", worker="worker 0", resolved_ns=30_000)
        run.resolve("%1", "", "skipped")
        run.resolve("result", TfrtError(problem), "error")
        run.over.set()


extension.Session = lambda **settings: Session(lambda *_: Host(), fakes.compile_fake, **settings)
extension.load_ipython_extension(get_ipython())  # noqa: F821
