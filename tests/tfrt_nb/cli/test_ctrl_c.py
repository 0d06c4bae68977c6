"""Ctrl-C at the command line: the process ends with a word about it, whatever it was doing."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

SLOW = 60
"""Seconds after which a process that does not end has failed the test."""

ENDLESS = """
func.func @body(%x: i32) -> (i32, i1) {
  %yes = tfrt.constant.i1 true
  tfrt.return %x, %yes : i32, i1
}
func.func @main() {
  %ch0 = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %yes = tfrt.constant.i1 true
  %ch1 = tfrt.print.i32 %zero, %ch0
  %end = tfrt.while %yes @body(%zero) parallel_iterations(1) : (i32) -> (i32)
  tfrt.return
}
"""
SLEEPING = """
func.func @main() {
  %ch0 = tfrt.new.chain
  %long = tfrt.constant.i32 600000000
  %zero = tfrt.constant.i32 0
  %ch1 = tfrt.print.i32 %zero, %ch0
  %ch2 = "tfrt_test.blocking.usleep"(%long) : (i32) -> !tfrt.chain
  tfrt.return
}
"""
MANY = """
func.func @main() {
  %ch0 = tfrt.new.chain
  %zero = tfrt.constant.i32 0
  %ch1 = tfrt.print.i32 %zero, %ch0
  %count = tfrt.constant.i32 2000000000
  %end:2 = tfrt.repeat.i32 %count, %ch1, %zero : !tfrt.chain, i32 {
    %ch2 = tfrt.print.i32 %zero, %ch1
    tfrt.return %ch2, %zero : !tfrt.chain, i32
  }
  tfrt.return
}
"""


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.parametrize("text", [ENDLESS, SLEEPING, MANY], ids=["endless", "sleeping", "printing"])
def test_ctrl_c_ends_a_run_without_a_traceback(text: str, queue: str, tmp_path: Path) -> None:
    """The first line of output says that the program runs; the signal is sent then."""
    program = tmp_path / "program.mlir"
    program.write_text(text)
    command = [sys.executable, "-u", "-m", "tfrt_nb", "run", str(program)]
    with subprocess.Popen(
        [*command, "--work-queue", queue],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        assert process.stdout is not None
        first = process.stdout.readline(), process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=SLOW)

    assert first == ("--- Running 'main':\n", "int32 = 0\n")
    assert errors == "tfrt-nb: interrupted\n"
    assert process.returncode == 130
