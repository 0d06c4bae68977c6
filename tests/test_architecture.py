"""Test the direction of imports, and what importing costs."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp
import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
FLOORS = {
    "tfrt_runtime": ROOT / "runtime" / "tfrt_runtime",
    "tfrt_nb": ROOT / "tfrt_nb" / "tfrt_nb",
    "tfrt_magics": ROOT / "magics" / "tfrt_magics",
}
"""The packages, each of which may import only the ones before it."""

REPORT = """
import importlib, json, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps(sorted({module.partition(".")[0] for module in sys.modules})))
"""


def modules(package: str) -> list[str]:
    """Return every module of a package, by its dotted name."""
    folder = FLOORS[package]
    names = []
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder.parent).with_suffix("").parts
        names.append(".".join(parts).removesuffix(".__init__"))
    return names


def loaded_after_importing(*names: str, cache: Path) -> set[str]:
    """Return the top-level packages that a new process has loaded after these imports."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT, *names],
        env={**os.environ, "TFRT_NB_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return set(json.loads(done.stdout))


def strings_in(path: Path) -> Iterator[str]:
    """Yield a module's string literals, without docstrings."""
    tree = ast.parse(path.read_text())
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value


def test_the_import_contracts_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    status = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert status == 0, capsys.readouterr().out


def test_no_module_imports_itself_by_a_detour() -> None:
    """The contract compares siblings; a package and a module inside it can also form a cycle."""
    graph = grimp.build_graph(*FLOORS, cache_dir=None, exclude_type_checking_imports=False)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as cycle:
        pytest.fail(" -> ".join(reversed(cycle.args[1])))


def test_no_import_by_name_hides_an_upward_import() -> None:
    """A string that is a module's name counts as an import; packages may list their names."""
    graph = grimp.build_graph(*FLOORS, cache_dir=None, exclude_type_checking_imports=False)
    found = set()
    for floor, folder in FLOORS.items():
        for module in modules(floor):
            path = folder.parent.joinpath(*module.split("."))
            file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
            named = set(strings_in(file)) & graph.modules - {*FLOORS, module}
            found |= {
                (module, one) for one in named if graph.chain_exists(importer=one, imported=module)
            }
    assert {(module, one) for module, one in found if module not in FLOORS} == set()


def test_the_extension_html_and_widgets_are_the_only_names_of_a_higher_floor() -> None:
    names = list(FLOORS)
    found = {
        (str(path.relative_to(ROOT)), text)
        for floor, package in enumerate(names)
        for path in FLOORS[package].rglob("*.py")
        for text in strings_in(path)
        for higher in names[floor + 1 :]
        if text.partition(".")[0] == higher
    }
    home = "tfrt_nb/tfrt_nb/__init__.py"
    above = ("tfrt_magics.extension", "tfrt_magics.live.reprs", "tfrt_magics.live.widgets")
    assert found == {(home, name) for name in above}


@pytest.mark.parametrize(
    ("imported", "unwanted"),
    [
        pytest.param(
            ("tfrt_nb",),
            {"IPython", "ipywidgets", "xdsl", "numba", "llvmlite", "numpy"},
            id="package",
        ),
        pytest.param(
            ("tfrt_nb.cli.main",), {"IPython", "xdsl", "numba", "numpy"}, id="command line"
        ),
        pytest.param(("tfrt_nb.programs",), {"IPython", "numba"}, id="programs"),
        pytest.param(("tfrt_magics.extension",), {"xdsl", "numba", "llvmlite"}, id="extension"),
    ],
)
def test_imports_load_only_what_they_need(
    imported: tuple[str, ...], unwanted: set[str], tmp_path: Path
) -> None:
    assert loaded_after_importing(*imported, cache=tmp_path) & unwanted == set()


def test_a_program_runs_without_the_sources_of_the_core(tmp_path: Path) -> None:
    """Only the compiled core runs; importing its Python modules would take milliseconds."""
    report = (
        "import sys, tfrt_runtime.executor.execution; print('tfrt_runtime.native.memory' in "
        "sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", report],
        env={**os.environ, "TFRT_NB_CACHE": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"


def test_importing_every_module_compiles_nothing(tmp_path: Path) -> None:
    every = [name for package in FLOORS for name in modules(package)]
    loaded_after_importing(*every, cache=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_contributors_page_names_modules_and_functions_that_exist() -> None:
    paths = [path.with_suffix("") for floor in FLOORS.values() for path in floor.rglob("*.py")]
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## Adding")[2]
    named = re.findall(r"`([a-z_]+(?:\.[a-z_0-9]+)+)(?:\.[A-Z]\w*)?`", text)

    def exists(name: str) -> bool:
        words = name.split(".")
        if any(path.parts[-len(words) :] == tuple(words) for path in paths):
            return True
        *module, function = words
        holders = [path for path in paths if path.parts[-len(module) :] == tuple(module)]
        return any(f"def {function}(" in one.with_suffix(".py").read_text() for one in holders)

    assert len(named) > 5
    assert [
        n
        for n in named
        if not n.endswith((".ipynb", ".js", ".md", ".py", ".toml")) and not exists(n)
    ] == []


ROOMS = sorted({path.parent for floor in FLOORS.values() for path in floor.rglob("__init__.py")})
MAX_MODULES = 18
"""The maximum number of modules in a folder: if it needs more, it should be two."""


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_room_is_small(room: Path) -> None:
    assert len({path.stem for path in room.glob("*.py")} - {"__init__"}) <= MAX_MODULES


def test_the_docstring_of_each_package_names_its_modules_and_no_others() -> None:
    """A name without a module is that of a moved one, or a word in the wrong quotes."""
    packages = [path for floor in FLOORS.values() for path in floor.rglob("__init__.py")]
    elsewhere = {path.parent.name for path in packages}
    elsewhere |= {path.stem for floor in FLOORS.values() for path in floor.glob("*.py")}
    wrong = {}
    for path in packages:
        text = ast.get_docstring(ast.parse(path.read_text())) or ""
        named = set(re.findall(r"`([a-z_0-9]+)`", text))
        own = {one.stem for one in path.parent.glob("*.py")} - {"__init__", "__main__"}
        own |= {one.parent.name for one in path.parent.glob("*/__init__.py")}
        if found := sorted(own ^ (named - (elsewhere - own))):
            wrong[path.parent.name] = found
    assert wrong == {}
