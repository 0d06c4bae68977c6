"""Check a release: `make dist`.

This script checks the files in `dist/` (twine's checks, contents, size), installs each into a new
environment for every Python from 3.11 to 3.14, and runs the README's cells there. Those processes
find no compiler on their path and, where the system lets users create namespaces, have no network;
only pip uses the package index. A missing interpreter is "not available here". The exit status is 1
if anything failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tests import everywhere

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
MACHINES = ("x86_64", "aarch64", "wasm32")
MEGABYTES = 4
"""The maximum size of a file; a wheel with three cores had 1.8 MB in November 2026."""

PACKAGES = {
    "runtime/tfrt_runtime": "tfrt_runtime",
    "tfrt_nb/tfrt_nb": "tfrt_nb",
    "magics/tfrt_magics": "tfrt_magics",
}
LAB = "data/share/jupyter/labextensions/tfrt-nb-labextension"
IN_EACH = r"LICENSE$", r"SECURITY\.md$|METADATA$", r"00_start\.ipynb$", r"py\.typed$"
IN_A_WHEEL = (
    r"/entry_points\.txt$",
    rf"{LAB}/package\.json$",
    rf"{LAB}/static/remoteEntry\.js$",
    r"tfrt_magics/live/static/board_widget\.js$",
    r"etc/jupyter/jupyter_nbconvert_config\.json$",
)
NEVER = (
    r"__pycache__|\.pyc$|\.ipynb_checkpoints|(^|/)(tests|build|\.venv|\.git|shared)/|\.(log|tmp)$"
)

CELLS = """
import contextlib, io, json, re, shutil, sys
from IPython.core.interactiveshell import InteractiveShell

assert not any(map(shutil.which, ("cc", "gcc", "clang", "ld", "ld.lld", "zig"))), "a compiler is on the path"
shell = InteractiveShell.instance()
found = []
for source in json.load(sys.stdin):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        ended = shell.run_cell(source, store_history=True)
    text = re.sub(r"\\x1b\\[[\\d;]*m", "", printed.getvalue())
    found.append([re.sub(r"^Out\\[\\d+\\]: ", "", text), not ended.success])
json.dump(found, sys.stdout)
"""  # noqa: E501


def version() -> str:
    """Return the version, which only `pyproject.toml` has."""
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"])


def problems_of(path: Path, machines: tuple[str, ...] = MACHINES) -> Iterator[str]:
    """Yield the problems with the name, the size, and the contents of a wheel or an sdist."""
    if f"-{version()}" not in path.name:
        yield f"{path.name} is not of version {version()}"
    if path.stat().st_size > MEGABYTES * 1_000_000:
        yield f"{path.name} has {path.stat().st_size} bytes, more than {MEGABYTES} MB"
    is_wheel = path.suffix == ".whl"
    if is_wheel:
        names = zipfile.ZipFile(path).namelist()
    else:
        with tarfile.open(path) as archive:
            names = [name.partition("/")[2] for name in archive.getnames()]
    modules = [
        f"{inside if is_wheel else folder}/{source.relative_to(ROOT / folder)}"
        for folder, inside in PACKAGES.items()
        for source in (ROOT / folder).rglob("*.py")
    ]
    yield from (f"{path.name} lacks {name}" for name in modules if name not in names)
    cores = tuple(rf"native/core-{machine}[.-]" for machine in machines)
    for wanted in (*IN_EACH, *cores, *(IN_A_WHEEL if is_wheel else ())):
        if not any(re.search(wanted, name) for name in names):
            yield f"{path.name} has no file like {wanted}"
    yield from (f"{path.name} has {name}" for name in names if re.search(NEVER, name))


def isolated() -> list[str]:
    """Return the words that start a command without a network; [] if the system forbids it."""
    tool = shutil.which("unshare")
    command = [tool or "", "--user", "--map-root-user", "--net"]
    works = tool and subprocess.run([*command, "true"], capture_output=True, check=False)
    return command if works and works.returncode == 0 else []


def problems_installed(path: Path, python: str, folder: Path) -> Iterator[str]:
    """Install a file for one Python, run the README's cells, and compare what they print."""
    # The code of the pages is in folders that are not packages.
    sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "magics")]
    import examples

    if problem := everywhere.install(python, folder, [str(path)]):
        yield f"cannot be installed: {problem}"
        return
    page = ROOT / "README.md"
    cells = [cell for each in examples.cells_of(page.read_text("utf-8")).values() for cell in each]
    python_here = folder / "venv" / "bin" / "python"
    cache = folder / "cache"
    shutil.rmtree(cache, ignore_errors=True)
    done = subprocess.run(
        [*isolated(), str(python_here), "-I", "-c", CELLS],
        input=json.dumps([examples.start_of(page), *(cell.source for cell in cells)]),
        cwd=folder,
        env={
            "PATH": str(python_here.parent),
            "HOME": str(folder),
            "TFRT_NB_CACHE": str(cache),
            "LANG": os.environ.get("LANG", "C.UTF-8"),
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        yield f"the cells ended the process: {done.stderr[-2000:]}"
        return
    for cell, (text, fails) in zip(cells, json.loads(done.stdout)[1:], strict=True):
        said = [examples.steady(one).split() for one in (text, cell.expected or text)]
        if fails != cell.raises or said[0] != said[1]:
            yield f"README.md, line {cell.line}: {text}"
    yield from (f"compiled {path.name}" for path in cache.glob("native-*"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pythons", default="", help="interpreters, instead of those found")
    options = parser.parse_args()
    files = [DIST / f"tfrt_nb-{version()}{end}" for end in ("-py3-none-any.whl", ".tar.gz")]
    problems = [problem for path in files for problem in problems_of(path)]
    twine = [sys.executable, "-m", "twine", "check", "--strict", *map(str, files)]
    judged = subprocess.run(twine, check=False)
    if judged.returncode:
        problems.append("twine has warnings, above")
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    if f"\n## {version()}\n" not in changes:
        problems.append(f"CHANGELOG.md has no heading ## {version()}")
    print(f"network while the cells run: {'none' if isolated() else 'not cut off here'}")
    known = everywhere.interpreters(options.pythons.split() or everywhere.commands())
    for each in everywhere.VERSIONS:
        for path in files:
            kind = "wheel" if path.suffix == ".whl" else "sdist"
            if each not in known:
                print(f"Python {each}, {kind}: {everywhere.NOT_AVAILABLE}")
                continue
            folder = ROOT / "build" / "dist" / f"{kind}-{each}"
            folder.mkdir(parents=True, exist_ok=True)
            found = list(problems_installed(path, known[each], folder))
            print(f"Python {each}, {kind}: {'failed' if found else 'passed'}", flush=True)
            problems += [f"Python {each}, {kind}: {one}" for one in found]
    print(*problems, sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
