"""Test the commands' help, and their messages about invalid command lines."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

import tfrt_nb

COMMANDS = ["run", "bench", "mlir-to-bef", "bef-to-mlir", "opt"]


def test_help_lists_the_commands(shell: Callable[..., object]) -> None:
    outcome = shell("--help")

    assert outcome.status == 0
    assert outcome.stdout.startswith("usage: tfrt-nb [-h] [--version] COMMAND ...\n")
    assert [command for command in COMMANDS if f"\n    {command}" not in outcome.stdout] == []


def test_the_version_is_that_of_the_package(shell: Callable[..., object]) -> None:
    outcome = shell("--version")

    assert (outcome.status, outcome.stdout) == (0, f"tfrt-nb {tfrt_nb.__version__}\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help(shell: Callable[..., object], command: str) -> None:
    outcome = shell(command, "--help")

    assert outcome.status == 0
    assert outcome.stdout.startswith(f"usage: tfrt-nb {command} ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["fly"], "invalid choice: 'fly'"),
        (["run"], "the following arguments are required: PROGRAM\n"),
        (["run", "--fast", "a.mlir"], "unrecognized arguments: --fast"),
        (["run", "a.mlir", "-x", "3"], "unrecognized arguments: -x\n"),
        (["run", "--timeout", "soon", "a.mlir"], "invalid seconds value: 'soon'"),
        (["run", "--timeout", "0", "a.mlir"], "invalid seconds value: '0'"),
        (["run", "--timeout", "-1", "a.mlir"], "--timeout"),
        (["run", "--timeout", "nan", "a.mlir"], "invalid seconds value: 'nan'"),
        (["run", "--timeout", "inf", "a.mlir"], "invalid seconds value: 'inf'"),
        (["run", "--allocator", "heap", "a.mlir"], "invalid choice: 'heap'"),
        (
            ["run", "--work-queue", "mstd:0", "a.mlir"],
            "work queue 'mstd:0': threads must be 1 to 1024, not 0",
        ),
        (
            ["run", "--work-queue", "fast", "a.mlir"],
            "unknown work queue 'fast': expected s, mstd, mstd:N or mstd:N,B",
        ),
        (["mlir-to-bef"], "the following arguments are required: IN"),
        (["bef-to-mlir"], "the following arguments are required: IN"),
    ],
)
def test_a_wrong_command_line_is_answered_with_usage_and_status_2(
    shell: Callable[..., object], arguments: list[str], message: str
) -> None:
    outcome = shell(*arguments)

    assert (outcome.status, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("usage: tfrt-nb")
    assert message in outcome.stderr


def test_help_needs_no_compiler_and_no_runtime() -> None:
    code = (
        "import sys\n"
        "from tfrt_nb.cli.main import main\n"
        "try:\n    main(['run', '--help'])\n"
        "except SystemExit:\n    pass\n"
        "print([name for name in ('xdsl', 'numba', 'llvmlite', 'numpy') if name in sys.modules])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )

    assert process.stdout.splitlines()[-1] == "[]"


def loaded(shell, path: str, *names: str) -> list[str]:
    """Return which modules with these names are loaded by running a file, in its own process."""
    code = (
        "import sys\n"
        "from tfrt_nb.cli.main import main\n"
        f"main(['run', {path!r}])\n"
        f"print(*[name for name in {names!r} if name in sys.modules])"
    )
    process = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=shell.folder
    )
    *_, output, listed = process.stdout.splitlines()
    assert output == "'main' returned 42"
    return listed.split()


def test_a_run_of_a_file_loads_no_compiler_and_nothing_slow_that_it_does_not_use(shell) -> None:
    shell.write(
        "small.mlir",
        "func.func @main() -> i32 {\n  %a = tfrt.constant.i32 42\n  tfrt.return %a : i32\n}\n",
    )
    assert shell("mlir-to-bef", "small.mlir", "-o", "small.bef").status == 0

    slow = ("xdsl", "numba", "numpy", "asyncio", "importlib.metadata", "json", "secrets")
    assert loaded(shell, "small.bef", *slow) == []


def test_a_run_of_code_that_was_compiled_before_loads_no_compiler(shell) -> None:
    shell.write(
        "task.mlir",
        "func.func @main() -> i32 {\n"
        "  %a = arith.constant 42 : i32\n"
        "  %t, %v = async.execute -> !async.value<i32> {\n    async.yield %a : i32\n  }\n"
        "  %r = async.await %v : !async.value<i32>\n  return %r : i32\n}\n",
    )
    assert shell("mlir-to-bef", "task.mlir", "-o", "task.bef").status == 0
    slow = ("xdsl", "numba", "numpy", "importlib.metadata")
    for path in ("task.mlir", "task.bef"):
        loaded(shell, path)

        assert loaded(shell, path, *slow) == []
