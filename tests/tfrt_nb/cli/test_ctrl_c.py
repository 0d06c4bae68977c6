"""Test that Ctrl-C ends any command with a message, whatever the process is doing."""

from __future__ import annotations

import importlib
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tfrt_nb.cli.main import main

SLOW = 60
"""The number of seconds after which a process that has not exited fails the test."""

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
COMPUTING = """
func.func @main() {
  func.call @printNewline() : () -> ()
  cf.br ^loop
^loop:
  cf.br ^loop
}
func.func private @printNewline()
"""
TASKS = """
async.func @forever() -> !async.token {
  %t = async.execute { async.yield }
  await %t : !async.token
  %u = async.call @forever() : () -> !async.token
  await %u : !async.token
  return
}
func.func @main() {
  func.call @printNewline() : () -> ()
  %t = async.call @forever() : () -> !async.token
  async.await %t : !async.token
  return
}
func.func private @printNewline()
"""
PROGRAMS = {
    "endless": ENDLESS,
    "sleeping": SLEEPING,
    "printing": MANY,
    "computing": COMPUTING,
    "tasks": TASKS,
}


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_ctrl_c_ends_a_run_without_a_traceback(name: str, queue: str, tmp_path: Path) -> None:
    """The first output shows that the program is running; the signal is sent then."""
    program = tmp_path / "program.mlir"
    program.write_text(PROGRAMS[name])
    command = [sys.executable, "-u", "-m", "tfrt_nb", "run", str(program)]
    with subprocess.Popen(
        [*command, "--work-queue", queue],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    ) as process:
        assert process.stdout is not None
        lines = ("--- Running 'main':\n", "int32 = 0\n") if "tfrt." in PROGRAMS[name] else "\n"
        try:
            for line in lines:
                assert process.stdout.readline() == line
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=SLOW)
        finally:
            process.kill()  # if it does not exit, it would be waited for

    assert (process.returncode, errors) == (130, "tfrt-nb: interrupted\n")


def test_ctrl_c_while_a_command_is_imported_is_reported_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(importlib, "import_module", interrupted)

    assert (main(["run", "program.mlir"]), capsys.readouterr().err) == (
        130,
        "tfrt-nb: interrupted\n",
    )
