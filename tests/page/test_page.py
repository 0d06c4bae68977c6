"""Test host programs in a page: Pyodide in Node, with the core for WebAssembly.

These tests need Node, and npm for Pyodide, which is kept in `build/npm`; the core is kept in
`build/page`. Each is created once. Unlike Chromium, Node 20 cannot switch stacks: what depends on
that is tested by hand.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NoReturn

import pytest

from tfrt_runtime.native.library import file_name
from tfrt_runtime.scalars import OPERATIONS

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
PYODIDE = "314.0.6"
PURE = ("xdsl", "immutabledict", "ordered_set", "typing_extensions")
"""Other projects' packages that host programs need in a page."""
OF_NOTEBOOKS = ("IPython", "pygments", "traitlets", "comm")
"""Packages that cells need in addition."""
PACKAGES = ("runtime", "tfrt_runtime"), ("tfrt_nb", "tfrt_nb"), ("magics", "tfrt_magics")
PROGRAMS = [
    path.relative_to(ROOT) for path in sorted((ROOT / "tests" / "programs" / "run").rglob("*.mlir"))
]
NEED_NUMPY = ("tensors/", "networks/")
"""Folders in which every program has tensors; single programs with tensors follow."""
NEED_NUMPY_TOO = {
    "hostile/buffers",
    "hostile/files",
    "hostile/operands",
    "hostile/shapes",
    "hostile/types",
    "sync_functions/arithmetic",
    "sync_functions/tensors",
    "syntax/mars",
    "syntax/of_2020",
    "syntax/of_later_versions",
    "test_kernels/attributes",
    "test_kernels/benchmark",
    "test_kernels/lifetimes",
    "test_kernels/logging",
    "test_kernels/places",
    "test_kernels/probes",
    "test_kernels/strings",
}
pytestmark = pytest.mark.timeout(900)


def leave_out(reason: str) -> NoReturn:
    """Skip a test that cannot run here; on the build machine, it fails instead."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def pyodide() -> Path:
    """The folder of the npm package."""
    if shutil.which("node") is None or shutil.which("npm") is None:
        leave_out("Node and npm are not installed")
    folder = ROOT / "build" / "npm"
    found = folder / "node_modules" / "pyodide"
    if not found.exists() or json.loads((found / "package.json").read_text())["version"] != PYODIDE:
        folder.mkdir(parents=True, exist_ok=True)
        command = ["npm", "install", "--silent", "--prefix", str(folder), f"pyodide@{PYODIDE}"]
        if subprocess.run(command, check=False).returncode != 0:
            leave_out("npm cannot install Pyodide")
    return found


@pytest.fixture(scope="session")
def core() -> Path:
    """The core for a page, compiled again if the sources have changed."""
    folder = ROOT / "build" / "page"
    path = folder / file_name("wasm32")
    if not path.exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        script = "from tfrt_runtime.native.building.build import build_for_wheel as build\n"
        script += f"build({str(folder)!r}, 'wasm32')"
        subprocess.run([sys.executable, "-c", script], check=True, stderr=subprocess.DEVNULL)
    return path


@pytest.fixture(scope="session")
def archive(core: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The archive that a page unpacks: our packages with the core, pure packages, and programs."""
    path = tmp_path_factory.mktemp("page") / "page.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.write(HERE / "lite_shell.py", "lite_shell.py")
        made.write(core, f"tfrt_runtime/native/{core.name}")
        for project, package in PACKAGES:
            for file in (ROOT / project / package).rglob("*"):
                if file.suffix in (".py", ".mlir"):
                    made.write(file, file.relative_to(ROOT / project))
        for name in (*PURE, *OF_NOTEBOOKS):
            found = importlib.util.find_spec(name)
            assert found is not None and found.origin is not None
            top = Path(found.origin)
            inner = [one for kind in ("py", "json") for one in top.parent.rglob(f"*.{kind}")]
            files = inner if top.name == "__init__.py" else [top]
            for file in files:
                inside = top.parent.parent if top.name == "__init__.py" else top.parent
                made.write(file, file.relative_to(inside))
        for file in (ROOT / "tests" / "programs" / "run").rglob("*"):
            made.write(file, file.relative_to(ROOT))
    return path


def in_page(pyodide: Path, archive: Path, script: Path, *given: object) -> str:
    """Return the output of a script in the page."""
    command = ["node", HERE / "run.mjs", pyodide, archive, "--", script, *given]
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return done.stdout


@pytest.fixture(scope="session")
def printed(pyodide: Path, archive: Path) -> dict[str, tuple[int, str]]:
    """The status and output of each program; one page runs them all."""
    lines = in_page(pyodide, archive, HERE / "corpus.py", *PROGRAMS).splitlines()
    return {path: (status, text) for path, status, text in map(json.loads, lines)}


def without_times(text: str) -> str:
    """Replace times and addresses, which differ from run to run."""
    text = re.sub(r"(pointer=|base@ = )0x[0-9a-f]+", r"\1...", text)
    return re.sub(r"^(BM:.*:(?!Count)[^:]*): .*$", r"\1: ...", text, flags=re.MULTILINE)


def needs_numpy(path: Path) -> bool:
    name = str(path.relative_to("tests/programs/run").with_suffix(""))
    return name.startswith(NEED_NUMPY) or name in NEED_NUMPY_TOO


@pytest.mark.parametrize(
    "path", PROGRAMS, ids=lambda path: str(path.relative_to("tests/programs/run").with_suffix(""))
)
def test_a_program_prints_in_a_page_what_it_prints_elsewhere(
    path: Path, printed: dict[str, tuple[int, str]]
) -> None:
    status, text = printed[str(path)]
    expected = (ROOT / path).with_suffix(".out").read_text()

    if needs_numpy(path):
        assert (status, "is unknown, or needs numpy" in text) == (1, True), text
    elif path.read_text().startswith("// RUN: any order"):
        assert sorted(without_times(text).splitlines()) == sorted(expected.splitlines())
    else:
        assert without_times(text) == expected
        assert status == int(": error: " in text)


def test_python_kernels_run_on_the_one_thread(pyodide: Path, archive: Path) -> None:
    assert in_page(pyodide, archive, HERE / "kernels.py").splitlines() == [
        "a kernel that sleeps, and one that awaits: 8",
        "awaited: 10",
        "mstd:4: a page has no other threads: its kernels run one after the other, as on 's'",
        "a time limit: TimeoutError",
        "a wait that nothing ends: deadlock",
        (
            "a deadlock beside a run that waits: nothing can resolve a token of "
            "'async.runtime.create' anymore"
        ),
        "and that run: 8",
        "waits inside waits: too many",
        "an error: ZeroDivisionError: division by zero",
        "still running: 12",
    ]


def test_cells_of_scalars_need_no_numpy(pyodide: Path, archive: Path) -> None:
    assert in_page(pyodide, archive, HERE / "cells.py") == (HERE / "cells.out").read_text()


def test_cells_of_scalars_need_no_numpy_elsewhere() -> None:
    script = f"import sys; sys.modules['numpy'] = None; sys.path.append({str(HERE)!r})"
    script += "; import runpy; runpy.run_path(sys.argv[1])"
    command = [sys.executable, "-c", script, str(HERE / "cells.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == (HERE / "cells.out").read_text()


def test_a_cell_says_what_a_page_lacks_and_a_run_goes_on_between_cells(
    pyodide: Path, archive: Path
) -> None:
    assert in_page(pyodide, archive, HERE / "lacking.py").splitlines() == [
        "This cell needs several threads, but Python in a page has only one.",
        "RuntimeError",
        "This cell needs numpy: the page could not load it from the network.",
        "ModuleNotFoundError",
        (
            "This cell needs numpy, which the page could not load for an earlier cell:"
            " name 'x' is not defined"
        ),
        "NameError",
        "ZeroDivisionError",
        *(
            line
            for kind in ("i16", "i32", "i64", "i8")
            for line in (
                f"tfrt.add.{kind}  ({kind}, {kind}) -> {kind}",
                "    The sum.  Integers wrap.",
            )
        ),
        "NoneType",
        "timed out after 1 s",
        "failed available",
        "None unavailable",
        "available 42",
        "done",
    ]


def test_a_page_asks_while_a_cell_runs(pyodide: Path, archive: Path) -> None:
    """A page can ask anywhere between cells, and during a cell if the browser can switch stacks."""
    lines = in_page(pyodide, archive, HERE / "questions.py").splitlines()
    if lines[0] == "stacks can be switched: True":
        expected = ["cancel: cancelled on the board ['cancelled']", "step: None ['done']"]
    else:
        expected = [
            "cancel: timed out after 3 s ['timed-out']",
            "@main: the operations ran in program order; choosing them needs the board",
            "  result = 4",
            "step: None []",
        ]
    assert lines[1:] == ["between cells: ['BEF']", *expected]


def test_scalars_are_the_same_in_a_page_at_the_edges_of_their_types(
    pyodide: Path, archive: Path
) -> None:
    """A WebAssembly instruction that traps would end the page's interpreter."""
    command = [sys.executable, str(HERE / "scalars.py")]
    here = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert len(here.splitlines()) == 2 * len(OPERATIONS)
    assert in_page(pyodide, archive, HERE / "scalars.py") == here


def test_async_programs_are_interpreted_and_deep_recursion_is_an_error(
    pyodide: Path, archive: Path
) -> None:
    """An overflow of the browser's stack ends the interpreter, so nothing may come close to it."""
    assert in_page(pyodide, archive, HERE / "recursion.py").splitlines() == [
        "500 calls: 500",
        "100000 calls: the stack is exhausted",
        "500 awaits: 500",
        "100000 awaits: the stack is exhausted",
        "2000 regions: regions nest more than 64 deep",
        "Python's own recursion is an error, too",
    ]


def test_pyodide_exports_all_that_the_core_imports(pyodide: Path, core: Path) -> None:
    """An unresolved library breaks the next library that a page opens."""
    script = (
        "const fs=require('node:fs');const read=f=>new WebAssembly.Module(fs.readFileSync(f));"
        "const has=new Set(WebAssembly.Module.exports(read(process.argv[1])).map(e=>e.name));"
        "const own=new Set(WebAssembly.Module.exports(read(process.argv[2])).map(e=>e.name));"
        "for(const i of WebAssembly.Module.imports(read(process.argv[2])))"
        "if(!has.has(i.name)&&!own.has(i.name))console.log(i.module+'.'+i.name)"
    )
    command = ["node", "-e", script, str(pyodide / "pyodide.asm.wasm"), str(core)]
    missing = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    linking = {"__indirect_function_table", "__memory_base", "__stack_pointer", "__table_base"}
    assert {name.partition(".")[2] for name in missing} <= {*linking, "memory"}
