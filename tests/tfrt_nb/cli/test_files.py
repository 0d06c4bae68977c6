"""Test the commands' input and output files, and the messages about bad ones."""

from __future__ import annotations

import errno
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tfrt_nb.cli import files
from tfrt_runtime.bef.records import MAGIC

PROGRAM = """func @f() -> i32 {
  %x = tfrt.constant.i32 42
  tfrt.return %x : i32
}
"""
RAN = "--- Running 'f':\n'f' returned 42\n"
COMMANDS = ["run", "mlir-to-bef", "bef-to-mlir", "opt"]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.mlir", "No such file or directory"),
        ("missing.bef", "No such file or directory"),
        (".", "Is a directory"),
        ("file/inside", "Not a directory"),
        ("name\n.mlir", "No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error(
    shell, command: str, name: str, reason: str
) -> None:
    shell.write("file", "")
    outcome = shell(command, name)

    assert (outcome.status, outcome.stdout) == (1, "")
    assert outcome.stderr == f"tfrt-nb: error: cannot read '{name}': {reason}\n"


def test_a_python_file_is_no_program(shell) -> None:
    shell.write("kernels.py", "import tfrt_nb")
    outcome = shell("run", "kernels.py")

    assert outcome.stderr.startswith("tfrt-nb: error: 'kernels.py' is a Python file, not a program")
    assert outcome.stderr.endswith("with --with kernels.py\n")


def test_a_file_that_may_not_be_read_is_an_error(shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> bytes:  # as the system does, but for root, too
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    shell.write("secret.mlir", PROGRAM)
    monkeypatch.setattr(Path, "read_bytes", refuse)

    assert "Permission denied" in shell("run", "secret.mlir").stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_a_device_without_an_end_is_an_error(shell, command: str) -> None:
    outcome = shell(command, "/dev/zero")

    assert (outcome.status, outcome.stdout) == (1, "")
    assert "'/dev/zero' produced more than 100663296 bytes" in outcome.stderr


@pytest.mark.parametrize("command", ["run", "mlir-to-bef", "opt"])
def test_a_file_that_is_not_text_is_an_error(shell, command: str) -> None:
    outcome = shell(command, shell.write("latin.mlir", b"// caf\xe9\n"))

    assert (outcome.status, outcome.stdout) == (1, "")
    assert outcome.stderr == "tfrt-nb: error: 'latin.mlir' is not UTF-8 text at byte 6\n"


def test_a_program_comes_from_standard_input(shell) -> None:
    outcome = shell("run", "-", stdin=PROGRAM.encode())

    assert (outcome.status, outcome.stdout) == (0, RAN)


def test_errors_of_standard_input_are_placed_there(shell) -> None:
    outcome = shell("run", "-", stdin=b"func @f() {\n  %x = tfrt.konstant.i32 1\n  tfrt.return\n}")

    assert outcome.status == 1
    assert outcome.stderr.startswith("<stdin>:2:")


def test_bef_comes_from_standard_input_as_well(shell) -> None:
    shell("mlir-to-bef", shell.write("f.mlir", PROGRAM), "-o", "f.bef")
    data = (shell.folder / "f.bef").read_bytes()

    assert data.startswith(MAGIC)
    assert shell("run", "-", stdin=data).stdout == RAN
    assert shell("bef-to-mlir", "-", stdin=data).stdout.startswith("module {\n  func @f() -> i32 {")


def test_a_bef_file_is_known_by_its_first_bytes(shell) -> None:
    shell("mlir-to-bef", shell.write("f.mlir", PROGRAM), "-o", "program.txt")

    assert shell("run", "program.txt").stdout == RAN


@pytest.mark.parametrize("command", ["mlir-to-bef", "opt"])
def test_a_bef_file_is_no_text(shell, command: str) -> None:
    shell("mlir-to-bef", shell.write("f.mlir", PROGRAM), "-o", "f.bef")
    outcome = shell(command, "f.bef")

    assert (outcome.status, outcome.stdout) == (1, "")
    assert outcome.stderr.startswith(
        "tfrt-nb: error: 'f.bef' is a BEF file; bef-to-mlir converts it to text"
    )


def test_output_goes_to_the_file_and_nowhere_else(shell) -> None:
    shell.write("f.mlir", PROGRAM)
    first = shell("mlir-to-bef", "f.mlir", "-o", "f.bef")
    second = shell("mlir-to-bef", "f.mlir", "--output", "f.bef")

    assert (first.status, first.stdout, first.stderr) == (0, "", "")
    assert second == first


@pytest.mark.parametrize(
    ("target", "reason"),
    [("no/such/folder.bef", "No such file or directory"), (".", "Is a directory")],
)
def test_output_that_cannot_be_written_is_an_error(shell, target: str, reason: str) -> None:
    outcome = shell("mlir-to-bef", shell.write("f.mlir", PROGRAM), "-o", target)

    assert outcome.status == 1
    assert outcome.stderr == f"tfrt-nb: error: cannot write '{target}': {reason}\n"


def test_a_wrong_program_leaves_no_output_file(shell) -> None:
    outcome = shell("mlir-to-bef", shell.write("f.mlir", "func @f( {"), "-o", "f.bef")

    assert outcome.status == 1
    assert not (shell.folder / "f.bef").exists()


def test_an_empty_file_is_a_program_without_functions(shell) -> None:
    outcome = shell("run", shell.write("empty.mlir", ""))

    assert (outcome.status, outcome.stdout) == (0, "")
    assert outcome.stderr.startswith("empty.mlir: note: there is no function to run; write one:\n")


def test_a_disassembled_file_without_names_warns(shell) -> None:
    shell.write("f.mlir", PROGRAM)
    shell("mlir-to-bef", "--disable-optional-sections", "f.mlir", "-o", "f.bef")
    outcome = shell("bef-to-mlir", "f.bef")

    assert outcome.status == 0
    assert outcome.stderr.startswith(
        "f.bef:0:0: warning: Missing AttributeTypes, AttributeNames or"
    )


def test_a_byte_order_mark_is_no_part_of_a_program(shell) -> None:
    shell.write("f.mlir", "\ufeff" + PROGRAM)

    assert shell("run", "f.mlir").stdout == RAN


def test_a_text_with_a_nul_is_no_program(shell) -> None:
    shell.write("f.mlir", PROGRAM + "\0")
    outcome = shell("run", "f.mlir")

    place = f"there is a NUL at byte {len(PROGRAM)}"
    assert outcome.stderr == f"tfrt-nb: error: 'f.mlir' is not UTF-8 text: {place}\n"


def test_a_text_that_is_too_large_is_refused_before_it_is_read(
    shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_FILE", len(PROGRAM) - 1)
    shell.write("f.mlir", PROGRAM)

    assert "is too large for a program" in shell("run", "f.mlir").stderr


@pytest.mark.parametrize("source", ["/dev/zero", "pipe", "."])
def test_a_place_in_what_is_no_file_shows_no_line(shell, source: str) -> None:
    os.mkfifo(shell.folder / "pipe")
    fails = f'"tfrt_test.fail"() : () -> i32 loc("{source}":1:1)'
    shell.write("f.mlir", f"func @f() {{\n  %x = {fails}\n  tfrt.return\n}}")

    assert shell("run", "f.mlir").stderr == (
        f"{source}:1:1: error: unexpected error: runtime error: something bad happened\n"
    )


# --- standard streams that take nothing, or not all ---

HOST_PRINTS = """func @f() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %n = tfrt.constant.i32 20000
  %end, %m = tfrt.repeat.i32 %n, %ch, %n : !tfrt.chain, i32 {
    %printed = tfrt.print.i32 %n, %ch
    tfrt.return %printed, %n : !tfrt.chain, i32
  }
  tfrt.return %end : !tfrt.chain
}
"""
COMPILED_PRINTS = """func.func private @printI64(i64)
func.func private @printNewline()
func.func @main() {
  %0 = arith.constant 0 : i64
  %1 = arith.constant 1 : i64
  %n = arith.constant 20000 : i64
  scf.for %i = %0 to %n step %1 : i64 {
    func.call @printI64(%i) : (i64) -> ()
    func.call @printNewline() : () -> ()
  }
  return
}
"""
COMMAND = [sys.executable, "-m", "tfrt_nb", "run"]


@pytest.mark.parametrize("text", [HOST_PRINTS, COMPILED_PRINTS])
def test_a_reader_that_has_read_enough_ends_the_command(shell, text: str) -> None:
    command = [*COMMAND, shell.write("f.mlir", text)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, cwd=shell.folder) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()

        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize("text", [PROGRAM, HOST_PRINTS, COMPILED_PRINTS])
def test_a_full_disk_is_one_error(shell, text: str) -> None:
    command = [*COMMAND, shell.write("f.mlir", text)]
    with Path("/dev/full").open("wb") as full:
        process = subprocess.run(
            command, check=False, stdout=full, stderr=subprocess.PIPE, text=True, cwd=shell.folder
        )

    assert process.returncode == 1
    assert process.stderr == "tfrt-nb: error: cannot write the output: No space left on device\n"


def test_streams_that_are_closed_or_have_no_letters_for_a_text_do_no_harm(shell) -> None:
    shell.write(
        "f.mlir",
        """func @f() -> !tfrt.chain {
  %ch = tfrt.new.chain
  %text = tfrt_test.get_string {value = "caf\\C3\\A9"}
  %printed = "tfrt_test.print_string"(%text, %ch) : (!tfrt.string, !tfrt.chain) -> !tfrt.chain
  tfrt.return %printed : !tfrt.chain
}
""",
    )
    command = shlex.join([*COMMAND, "f.mlir"])
    lines = f"{command} >&- && {command} <&- 2>&-"
    process = subprocess.run(
        ["sh", "-c", lines],
        check=True,
        capture_output=True,
        text=True,
        cwd=shell.folder,
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )

    assert process.stderr == ""
    assert process.stdout.splitlines()[1] == r"string = caf\xe9"


# --- host functions and compiled ones ---

BOTH_KINDS = Path(__file__).parents[2] / "programs" / "run" / "compiled" / "both_kinds.mlir"
BOTH = BOTH_KINDS.read_text()
OUTPUT = BOTH_KINDS.with_suffix(".out").read_text().partition("both_kinds.mlir:")[0]


def test_a_file_and_the_text_that_it_turns_back_into_print_the_same_and_know_the_places(
    shell,
) -> None:
    translated = shell("mlir-to-bef", shell.write("both_kinds.mlir", BOTH), "-o", "both.bef")
    from_file = shell("run", "both.bef")
    text = shell("bef-to-mlir", "both.bef")
    from_text = shell("run", shell.write("again.mlir", text.stdout))

    assert (translated.status, text.status) == (0, 0)
    assert (from_file.stdout, from_text.stdout) == (OUTPUT, OUTPUT)
    assert "both_kinds.mlir:35:10: error: " in from_file.stderr


def test_options_for_parallel_loops_stay_with_a_file(shell) -> None:
    options = "// parallel-for: num-workers=2 min-task-size=1\n"
    shell("mlir-to-bef", shell.write("both.mlir", options + BOTH), "-o", "both.bef")
    text = shell("bef-to-mlir", "both.bef")

    assert text.stdout.startswith(options)
    assert shell("run", "both.bef").stdout == OUTPUT


def test_a_stage_of_the_compiled_part_can_be_seen(shell) -> None:
    outcome = shell("run", "--emit", "async-runtime", shell.write("both.mlir", BOTH))

    assert outcome.status == 0
    assert "func.func private @main_jit(" in outcome.stdout
    assert "tfrt.call" not in outcome.stdout
