"""Test that packaging, environments, and documents agree with the code."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from hatchling.builders.wheel import WheelBuilder
from packaging.requirements import Requirement

import tfrt_nb
from tfrt_magics.live.widgets import module_text

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "benchmarks/README.md"]


def pins() -> dict[str, str]:
    """Return what binder/requirements.txt pins, by normalized name."""
    found = {}
    for line in (ROOT / "binder" / "requirements.txt").read_text().splitlines():
        if not line.startswith("#"):
            name, version = line.split("==")
            found[normal(name)] = version
    return found


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def test_the_wheel_holds_three_packages_and_the_labextension(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TFRT_NB_PREBUILT", "no")
    wheel = next(WheelBuilder(str(ROOT)).build(directory=str(tmp_path)))
    names = zipfile.ZipFile(wheel).namelist()
    lab = f"tfrt_nb-{PROJECT['version']}.data/data/share/jupyter/labextensions/tfrt-nb-labextension"

    assert {name.partition("/")[0] for name in names} == {
        "tfrt_runtime",
        "tfrt_nb",
        "tfrt_magics",
        f"tfrt_nb-{PROJECT['version']}.data",
        f"tfrt_nb-{PROJECT['version']}.dist-info",
    }
    served = ("package.json", "install.json", "static/remoteEntry.js", "static/extension.js")
    assert {f"{lab}/{name}" for name in served} == {name for name in names if name.startswith(lab)}
    assert {f"{package}/py.typed" for package in ("tfrt_runtime", "tfrt_nb", "tfrt_magics")} <= {
        *names
    }
    modules = {name for name in names if name.endswith(".js") and not name.startswith(lab)}
    assert modules == {f"tfrt_magics/live/static/{kind}_widget.js" for kind in ("board", "values")}
    for name in modules:
        assert zipfile.ZipFile(wheel).read(name).decode() == module_text(Path(name).stem)


def test_no_line_of_a_page_is_longer_than_120_characters() -> None:
    folders = ("magics/labextension/static", "magics/tfrt_magics", "docs")
    pages = [path for folder in folders for path in (ROOT / folder).rglob("*.js")]
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in pages
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if len(line) > 120
    ]
    assert len(pages) > 20 and long == []


def test_every_public_name_is_there() -> None:
    assert [name for name in tfrt_nb.__all__ if not hasattr(tfrt_nb, name)] == []


def test_tab_offers_the_public_names_and_nothing_else() -> None:
    offered = [name for name in dir(tfrt_nb) if not name.startswith("_")]
    assert offered == sorted(tfrt_nb.__all__)
    assert "__version__" in dir(tfrt_nb)


def test_binder_pins_all_that_the_project_needs() -> None:
    found = pins()
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["lab"], "hatchling"]
    missing = [
        text
        for text in needed
        if not (need := Requirement(text)).specifier.contains(found.get(normal(need.name), "0"))
    ]
    assert missing == []


def test_the_changelog_begins_with_this_version_or_what_comes_after_it() -> None:
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert next(one for one in headings if one != "Unreleased") == PROJECT["version"]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_names_only_commands_that_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        word
        for command in re.findall(r"(?:`|\$ )make ([^`#\n]*)", text)
        for word in command.partition('"')[0].split()
        if "=" not in word
    }
    assert named <= targets

    usage = subprocess.run(
        [sys.executable, "-m", "tfrt_nb.cli.main", "--help"],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    commands = set(re.findall(r"^    ([a-z][a-z-]*)", usage, re.MULTILINE))
    assert set(re.findall(r"(?:`|\$ )tfrt-nb ([a-z-]+)", text)) <= commands


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_of_a_document_lead_somewhere(name: str) -> None:
    document = ROOT / name
    links = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_each_line_of_defence_is_held_by_a_test_that_exists() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    table = [line for line in text.splitlines() if line.startswith("| ")][1:]
    named = [re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", line) for line in table]
    known = {
        (path, name)
        for path in {path for tests in named for path, _ in tests}
        for name in re.findall(r"^def (test_\w+)", (ROOT / path).read_text(), re.MULTILINE)
    }

    assert [line for line, tests in zip(table, named, strict=True) if not tests] == []
    assert {test for tests in named for test in tests} - known == set()


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks" / "results").glob("*.json")))
def test_each_figure_is_a_whole_record_of_a_case(path: Path) -> None:
    saved = json.loads(path.read_text())
    fields = {"case", "variant", "peer", "cores", "is_equal", "unit", "min", "median", "cpu"}
    fields |= {"samples", "foreign"}
    assert [figure for figure in saved["results"] if set(figure) != fields] == []
    cases = (ROOT / "benchmarks" / "cases.py").read_text()
    known = set(re.findall(r'Case\("(\w+)"', cases))
    measured = {figure["case"] for figure in saved["results"]}
    assert measured <= known
    rows = set(re.findall(r'Case\(\s*"\w+", "(W\d)', cases))
    assert rows == {f"W{number}" for number in range(1, 10)}


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        pytest.param({"CI": ""}, "Chromium is not installed", id="a user's machine"),
        pytest.param({"CI": "true"}, "tests/magics/browser", id="the build machine"),
    ],
)
def test_without_a_browser_its_tests_are_left_out_for_users_only(
    environment: dict[str, str], said: str, tmp_path: Path
) -> None:
    listing = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/magics/browser"],
        cwd=ROOT,
        env={**os.environ, **environment, "PATH": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert said in listing.stdout
    assert ("Chromium is not installed" in listing.stdout) == (environment["CI"] != "true")


@pytest.mark.parametrize("script", [".ci/run", "binder/postBuild"])
def test_a_script_can_be_started(script: str) -> None:
    assert os.access(ROOT / script, os.X_OK)
    subprocess.run([shutil.which("bash") or "bash", "-n", ROOT / script], check=True)


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "mypy"])
def test_style_and_types_are_what_lint_asks_for(command: str) -> None:
    """`make lint` also checks the import contracts, which are in test_architecture.py."""
    done = subprocess.run(
        [sys.executable, "-m", *command.split()],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_the_benchmark_of_the_event_log_finds_the_checks_that_it_takes_out() -> None:
    board = ast.parse((ROOT / "benchmarks" / "board.py").read_text())
    checks = next(
        ast.literal_eval(one.value)
        for one in board.body
        if isinstance(one, ast.Assign) and ast.unparse(one.targets[0]) == "CHECKS"
    )
    events = (ROOT / "runtime" / "tfrt_runtime" / "native" / "events.py").read_text()
    assert [events.count(check) for check in checks] == [1] * len(checks) != []


LONG = {
    "tests/fuzz/random_async_programs.py",
    "tests/magics/browser/test_views.py",
    "tests/runtime/native/mutants/core_mutants.py",
    "tests/tfrt_nb/compiled/test_interruption.py",
    "tests/tfrt_nb/documents/test_run_document.py",
    "tests/tfrt_nb/test_python_api.py",
    "tests/tfrt_nb/tracing/test_traced_functions.py",
}
"""Modules that have more than 500 lines, and should be split; no others may."""


def test_no_module_has_more_than_500_lines() -> None:
    folders = ("runtime", "tfrt_nb", "magics", "docs", "benchmarks", "notebooks", "tests")
    modules = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    long = {
        str(path.relative_to(ROOT))
        for path in modules
        if "build" not in path.parts and path.read_text().count("\n") > 500
    }
    assert long == LONG


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """An empty repository with this one's Makefile and hook."""
    folder = tmp_path / "repository"
    (folder / ".ci").mkdir(parents=True)
    for name in ("Makefile", ".ci/commit-msg"):
        shutil.copy(ROOT / name, folder / name)
    git(folder, "init", "--quiet")
    return folder


def ran(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user without a git configuration, outside of any hook or make."""
    inherited = ("GIT_", "MAKE", "MFLAGS")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(inherited)}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ran(folder, "git", "-c", "user.name=A", "-c", "user.email=a@example.org", *arguments)


def make_hook(folder: Path) -> str:
    done = ran(folder, "make", "--no-print-directory", "hook")
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ("kernels: resolve each call when it finishes\n\nThe reason.", ""),
        ("tests/runtime, docs: " + "é" * 51, ""),
        ("Merge branch 'x' into a branch with a name that takes more than 72 characters", ""),
        ("kernels: " + "x" * 64, "has 73 characters: use at most 72"),
        ("Resolve each call when it finishes", "write 'area: summary'"),
        ("kernels:", "write 'area: summary'"),
    ],
)
def test_a_commit_needs_an_area_and_a_short_summary(
    repository: Path, message: str, said: str
) -> None:
    assert make_hook(repository) == ""
    done = git(repository, "commit", "--allow-empty", "-m", message)
    assert said in done.stderr
    assert (done.returncode == 0) == (said == "")


def test_the_hook_works_in_a_worktree(repository: Path) -> None:
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "first")
    git(repository, "worktree", "add", "--quiet", "../other", "-b", "other")
    make_hook(repository.parent / "other")
    assert git(repository.parent / "other", "commit", "--allow-empty", "-m", "bad").returncode == 1
    assert git(repository, "commit", "--allow-empty", "-m", "bad").returncode == 1


def test_a_hook_that_is_not_ours_stays(repository: Path) -> None:
    own = repository / ".git" / "hooks" / "commit-msg"
    own.parent.mkdir(exist_ok=True)
    own.write_text("#!/bin/sh\nexit 0\n")
    assert "is yours and stays" in make_hook(repository)
    assert own.read_text() == "#!/bin/sh\nexit 0\n"


def test_hooks_that_repositories_share_get_none_of_ours(repository: Path, tmp_path: Path) -> None:
    git(repository, "config", "core.hooksPath", str(tmp_path / "shared"))
    make_hook(repository)
    assert not (tmp_path / "shared").exists()
    # Sources that were unpacked inside another repository.
    inside = repository / "inside"
    inside.mkdir()
    shutil.copytree(repository / ".ci", inside / ".ci")
    shutil.copy(repository / "Makefile", inside)
    git(repository, "config", "--unset", "core.hooksPath")
    make_hook(inside)
    assert not (repository / ".git" / "hooks" / "commit-msg").exists()
