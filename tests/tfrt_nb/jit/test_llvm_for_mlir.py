"""`convert-async-to-llvm` beside MLIR's: the same text, and MLIR's tools go on with it and run it.

Needs `mlir-opt` and `mlir-cpu-runner` of release 19, as `test_mlir_tools` does, and MLIR's libraries for
programs that are run in the folder `lib` beside them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from xdsl.context import Context

from tfrt_nb.passes.notation import parse_pipeline
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module

TESTS = Path(__file__).parents[2]
GOLDEN = TESTS / "golden" / "async"
PROGRAMS = sorted(path.with_suffix(".mlir") for path in GOLDEN.glob("programs/*.stdout"))
CARRYING = [
    *(GOLDEN / "correct" / f"{name}.mlir" for name in ("await_in_for", "token_loop")),
    *(
        TESTS / "tfrt_nb" / "cli" / "async_programs" / f"{name}.mlir"
        for name in ("switch_token", "token_args", "token_select", "while_await")
    ),
]
"""Programs that MLIR does not lower: blocks, loops and choices have async objects."""
LIBRARIES = ("libmlir_c_runner_utils", "libmlir_runner_utils", "libmlir_async_runtime")

LOWERING = (
    "async-func-to-async-runtime,async-to-async-runtime,"
    "async-runtime-ref-counting,async-runtime-ref-counting-opt"
)
CONVERSION = "convert-async-to-llvm"
REST = (
    "convert-scf-to-cf,arith-expand,memref-expand,convert-vector-to-llvm,finalize-memref-to-llvm,"
    "convert-arith-to-llvm,convert-math-to-llvm,convert-math-to-libm,convert-cf-to-llvm,"
    "convert-func-to-llvm,reconcile-unrealized-casts"
)


def tool(name: str) -> str:
    """A tool of MLIR 19; the test is skipped without it."""
    found = shutil.which(name, path=os.environ.get("MLIR_TOOLS")) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not on PATH, and MLIR_TOOLS names no folder with it")
    version = subprocess.run([found, "--version"], capture_output=True, text=True, check=True)
    if "LLVM version 19." not in version.stdout:
        pytest.skip(f"{name} is not of release 19, whose text this is")
    return found


@pytest.fixture(autouse=True)
def mlir_opt() -> str:
    """All tests here need it."""
    return tool("mlir-opt")


def library(name: str) -> str:
    """A library of MLIR's; the test is skipped without it."""
    folder = Path(tool("mlir-cpu-runner")).resolve().parents[1] / "lib"
    found = sorted(folder.glob(f"{name}.so*"))
    if not found:
        pytest.skip(f"{name} is not beside mlir-cpu-runner")
    return str(found[0])


def parallel_loops(text: str, *options: str) -> str:
    """The pass that the first line asks for, with a comma behind it; nothing if it does not."""
    first = text.splitlines()[0]
    if not first.startswith("// parallel-for:"):
        return ""
    return f"async-parallel-for{{{' '.join([first.partition(':')[2].strip(), *options])}}},"


def filtered(text: str, *command: str) -> str:
    """What a tool makes of a text."""
    done = subprocess.run(
        command, input=text, capture_output=True, text=True, check=False, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def theirs(text: str, passes: str) -> str:
    """What `mlir-opt` prints."""
    return filtered(text, tool("mlir-opt"), f"--pass-pipeline=builtin.module({passes})")


def ours(text: str, passes: str) -> str:
    """What `tfrt-nb opt` prints."""
    module = parse_module(text, "program")
    parse_pipeline(f"builtin.module({passes})").apply(Context(), module)
    module.verify()
    return print_ir(module)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_what_mlir_has_lowered_is_converted_to_the_same_text(program: Path) -> None:
    text = program.read_text()
    lowered = theirs(text, parallel_loops(text) + LOWERING)

    assert ours(lowered, CONVERSION).rstrip() == theirs(lowered, CONVERSION).rstrip()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_what_we_have_lowered_is_converted_to_the_same_text(program: Path) -> None:
    text = program.read_text()
    lowered = ours(text, parallel_loops(text, "clamp-trip-counts") + LOWERING)

    assert ours(lowered, CONVERSION).rstrip() == theirs(lowered, CONVERSION).rstrip()


@pytest.mark.parametrize("program", [*PROGRAMS, *CARRYING], ids=lambda path: path.stem)
def test_mlir_finishes_and_runs_what_we_have_converted(program: Path) -> None:
    text = program.read_text()
    expected = next(
        path
        for suffix in (".stdout", ".expected")
        if (path := program.with_suffix(suffix)).exists()
    )
    libraries = ",".join(map(library, LIBRARIES))
    passes = f"{parallel_loops(text, 'clamp-trip-counts')}{LOWERING},{CONVERSION}"
    finished = theirs(ours(text, passes), REST)
    assert not re.search(r"!async|unrealized", finished)

    output = filtered(
        finished,
        tool("mlir-cpu-runner"),
        "-e",
        "main",
        "--entry-point-result=void",
        "-O2",
        f"--shared-libs={libraries}",
    )

    assert output == expected.read_text()
