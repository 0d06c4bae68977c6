"""Run the tests with other versions of Python and of packages: `make test-everywhere`.

This takes some hours, and is started by hand. Each combination has its own environment in
`build/everywhere/`, with the log of its tests. Results are kept there, so that a stopped run
continues where it was; `--again` discards them. An interpreter or package that the machine lacks is
"not available here", which is a result, too. The exit status is 1 if a test failed.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "everywhere"
NOT_AVAILABLE = "not available here"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
"""The versions of Python that tfrt-nb supports."""
KERNEL = "tests/magics --ignore tests/magics/browser tests/test_notebooks.py"
LAB = "tests/magics/browser -o python_files=t*.py"
"""With the tutorials, which no other run of the tests collects."""
TENSORS = (
    "tests/runtime/kernels tests/runtime/host tests/differential tests/tfrt_nb/tracing"
    " tests/tfrt_nb/test_native_tensors.py tests/test_python_scripts.py"
)
WIDGETS = (
    "tests/magics/test_widgets.py tests/magics/test_sliders.py "
    "tests/magics/browser/test_other_pages.py"
)
QUICK = (
    "tests/runtime/bef tests/runtime/host tests/tfrt_nb/test_python_api.py "
    "tests/tfrt_nb/test_programs.py"
    " tests/magics/test_kernel.py tests/test_python_scripts.py tests/test_golden_programs.py"
)


@dataclass(frozen=True)
class Combination:
    """An interpreter or a package to try, and the tests that it affects."""

    what: str
    version: str
    tests: str
    quick: str
    """The combination's tests that finish in a few minutes."""

    @property
    def name(self) -> str:
        return f"{self.what} {self.version}"


COMBINATIONS = [
    *(
        Combination("Python", version, "tests --ignore tests/runtime/native/mutants", QUICK)
        for version in VERSIONS
    ),
    *(
        Combination("ipykernel", version, KERNEL, "tests/magics/test_kernel.py")
        for version in ("6.29.*", "7.0.*", "7.4.*")
    ),
    *(
        Combination(
            "IPython", version, KERNEL, "tests/magics/test_cell.py tests/magics/test_kernel.py"
        )
        for version in ("8.31.*", "9.*")
    ),
    *(
        Combination("numpy", version, TENSORS, "tests/differential tests/test_python_scripts.py")
        for version in ("2.0.*", "2.*")
    ),
    *(
        Combination("JupyterLab", version, LAB, "tests/magics/browser/test_board.py")
        for version in ("4.2.*", "4.*")
    ),
    *(
        Combination(package, version, WIDGETS, "tests/magics/test_widgets.py")
        for package, version in (
            ("ipywidgets", "8.1.0"),
            ("ipywidgets", "8.*"),
            ("anywidget", "0.9.21"),
            ("anywidget", "0.*"),
            ("marimo", "0.20.*"),
            ("notebook", "7.2.*"),
        )
    ),
    *(
        Combination("xDSL", version, "tests/tfrt_nb", "tests/tfrt_nb/passes tests/tfrt_nb/source")
        for version in ("0.74.*", "0.75.*")
    ),
]


@dataclass(frozen=True)
class Result:
    """The result of a combination; `found` is the version that was tried."""

    name: str
    found: str
    tests: str
    outcome: str
    passed: bool
    day: str


def commands() -> list[str]:
    """Return the interpreters to search for: those on the path, pyenv's, and uv's."""
    folders = [
        Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions"),
        Path.home() / ".local" / "share" / "uv" / "python",
    ]
    kept = [str(path) for folder in folders for path in folder.glob("*/bin/python3.*[0-9]")]
    return [*(f"python{version}" for version in VERSIONS), *sorted(kept)]


def interpreters(commands: Sequence[str]) -> dict[str, str]:
    """Return the paths of the interpreters that can be started, by version."""
    found: dict[str, str] = {}
    for command in commands:
        path = shutil.which(command)
        ask = "import sys; print('.'.join(map(str, sys.version_info[:2])), sys.executable)"
        said = path and subprocess.run(
            [path, "-c", ask], capture_output=True, text=True, check=False
        )
        if said and said.returncode == 0:
            version, executable = said.stdout.split(maxsplit=1)
            found.setdefault(version, executable.strip())
    return found


def install(python: str, folder: Path, *requests: Sequence[str]) -> str:
    """Create an environment, and run `pip install` with each of these lists of arguments.

    The pip is ours, because some distributions omit that of `venv`.

    Returns:
        "" or, on failure, pip's last message.
    """
    made = folder / "venv" / "bin" / "python"
    environment = {**os.environ, "TFRT_NB_PREBUILT": "no"}
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(made),
        "--disable-pip-version-check",
        "install",
    ]
    commands = [
        [python, "-m", "venv", "--clear", "--without-pip", str(folder / "venv")],
        *([*pip, "--quiet", "--no-compile", *request] for request in requests),
    ]
    for command in commands:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            errors = [one for one in done.stderr.splitlines() if one.startswith("ERROR:")]
            return (errors or done.stderr.splitlines() or ["no reason"])[-1]
    return ""


def version_of(python: Path, what: str) -> str:
    """Return the version of an interpreter, or of a package in its environment."""
    code = "import platform; print(platform.python_version())"
    if what != "Python":
        code = f"import importlib.metadata; print(importlib.metadata.version({what!r}))"
    return subprocess.run(
        [python, "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def tried(one: Combination, python: str | None, *, quick: bool, minutes: float) -> Result:
    """Install a combination and run its tests."""
    folder = FOLDER / one.name.replace(" ", "-").replace("*", "x")
    folder.mkdir(parents=True, exist_ok=True)
    tests = one.quick if quick else one.tests

    def result(found: str, outcome: str, *, passed: bool) -> Result:
        return Result(one.name, found, tests, outcome, passed, date.today().isoformat())

    if python is None:
        return result("-", NOT_AVAILABLE, passed=True)
    pins = [] if one.what == "Python" else [f"{one.what}=={one.version}"]
    # As in the Makefile, xdot is installed without the packages that its window needs.
    requests = ["--editable", ".[lab,dev,native]", *pins], ["--no-deps", "xdot>=1.4"]
    if problem := install(python, folder, *requests):
        return result("-", f"cannot be installed: {problem}", passed=False)
    made = folder / "venv" / "bin" / "python"
    found = version_of(made, one.what)
    # A newer version may warn about features that still work.
    options = ["-q", "-p", "no:cacheprovider", "-W", "default", "--tb=short"]
    with (folder / "log.txt").open("w") as log:
        try:
            done = subprocess.run(
                [made, "-m", "pytest", *options, *tests.split()],
                cwd=ROOT,
                env={**os.environ, "PATH": f"{made.parent}{os.pathsep}{os.environ['PATH']}"},
                stdout=log,
                stderr=log,
                timeout=minutes * 60,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return result(found, f"stopped after {minutes:g} minutes", passed=False)
    last = (folder / "log.txt").read_text(errors="replace").rstrip().rpartition("\n")[2]
    return result(found, last.strip("= "), passed=done.returncode == 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="only those whose names contain one of these")
    parser.add_argument("--pythons", default="", help="interpreters, instead of those found")
    parser.add_argument("--quick", action="store_true", help="some of the tests of each")
    parser.add_argument("--again", action="store_true", help="also what has a result")
    parser.add_argument("--minutes", type=float, default=120, help="for each, at most; default 120")
    options = parser.parse_args()
    known = interpreters(options.pythons.split() or commands())
    FOLDER.mkdir(parents=True, exist_ok=True)
    kept = FOLDER / "results.json"
    results: dict[str, Result] = {}
    if kept.exists():
        results = {one["name"]: Result(**one) for one in json.loads(kept.read_text())}
    for one in COMBINATIONS:
        if options.names and not any(name.lower() in one.name.lower() for name in options.names):
            continue
        # A version that the machine lacked may be installed now.
        has_result = one.name in results and results[one.name].outcome != NOT_AVAILABLE
        if options.again or not has_result:
            python = known.get(one.version) if one.what == "Python" else sys.executable
            results[one.name] = tried(one, python, quick=options.quick, minutes=options.minutes)
            kept.write_text(json.dumps([asdict(each) for each in results.values()], indent=1))
        shown = results[one.name]
        print(f"{one.name}: {shown.found}: {shown.outcome} ({shown.day})", flush=True)
    print("\n| what | version | tests | result | date |\n|---|---|---|---|---|")
    for combination in COMBINATIONS:
        if shown := results.get(combination.name):
            row = [combination.name, shown.found, f"`{shown.tests}`", shown.outcome, shown.day]
            print(f"| {' | '.join(row)} |")
    return not all(one.passed for one in results.values())


if __name__ == "__main__":
    sys.exit(main())
