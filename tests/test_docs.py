"""The documentation is made from the code, and its links lead somewhere."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

from tfrt_nb import grade
from tfrt_nb.language.operations import kernel_names, names
from tfrt_nb.passes.pipeline import executable_pipeline

DOCS = Path(__file__).parents[1] / "docs"
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """`docs/generate.py`, which is a script and in no package."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sources(generate: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("docs") / "sources"
    generate.write_sources(folder)
    return folder


def test_every_kernel_operation_and_pass_has_a_place_in_the_reference(sources: Path) -> None:
    kernels = (sources / "reference" / "kernels.md").read_text()
    assert [name for name in kernel_names() if f"\n{name}  " not in kernels] == []
    dialect = (sources / "reference" / "async_dialect.md").read_text()
    wanted = [*names("async."), *(one.name for one in executable_pipeline().passes)]
    assert [name for name in wanted if f"### `{name}`" not in dialect] == []


def test_the_error_pages_show_what_is_said_about_wrong_programs(sources: Path) -> None:
    text = (sources / "reference" / "errors.md").read_text()
    assert text.count("error: ") >= text.count("\n## ") > 20


def test_links_between_pages_lead_somewhere(sources: Path) -> None:
    lost = [
        f"{page.relative_to(sources)}: {target}"
        for page in [*sources.rglob("*.md"), *sources.rglob("*.ipynb")]
        for target in LINK.findall(page.read_text())
        if target.endswith((".md", ".ipynb")) and not (page.parent / target).exists()
    ]
    assert lost == []


def test_pages_are_listed_in_a_table_of_contents(sources: Path) -> None:
    listed = {
        (index.parent / line).resolve()
        for index in sources.rglob("index.md")
        for block in re.findall(r"```\{toctree\}(.*?)```", index.read_text(), re.DOTALL)
        for line in block.split()
    }
    pages = {
        page.with_suffix("") for page in sources.rglob("*") if page.suffix in (".md", ".ipynb")
    }
    assert {page for page in pages if page.resolve() not in listed} == {sources / "index"}


def test_the_exercise_of_the_how_to_page_checks_itself() -> None:
    block = re.search(
        r"```python\n(.*?)```", (DOCS / "howto" / "exercise.md").read_text(), re.DOTALL
    )
    assert block is not None
    exec(block[1], {"__name__": "howto"})  # noqa: S102
    assert grade("mine.longest", "400").is_right
