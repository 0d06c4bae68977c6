"""Test that the documentation is generated from the code, and that its links lead somewhere."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from html import unescape
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from tfrt_nb.exercises.exercise import Mark, find
from tfrt_nb.language.operations import kernel_names, names
from tfrt_nb.passes.pipeline import PASSES, executable_pipeline
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS
from tfrt_runtime.scalars import FAMILIES

DOCS = Path(__file__).parents[1] / "docs"
SHOWS_AN_ERROR = re.compile(
    r"tfrt_test\.(\w*fail\w*|\w*error_\w+|cancel|get_request_context_data)|tfrt\.(captured|kept|recover)"
)
PROGRAM = r"{.tfrt-program}\n```mlir\n(.*?)\n```\n\n{.tfrt-output}\n```text\n(.*?)\n```"
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.fixture(scope="module")
def generate() -> ModuleType:
    """The module `docs/generate.py`, which is a script and in no package."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(DOCS))  # for the modules beside it
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def sources(generate: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources, with the examples of one page run; `make docs` runs all."""
    folder: Path = tmp_path_factory.mktemp("docs") / "sources"
    generate.write_sources(folder, examples="bef.md")
    return folder


def test_the_python_reference_of_the_repository_is_that_of_the_code(generate: ModuleType) -> None:
    """If this fails, run `python docs/generate.py --python`."""
    page = generate.IN_REPOSITORY.read_text()
    assert page == generate.python_reference()
    assert "### `recover`" in page
    assert "{index}" not in page


def test_every_kernel_operation_and_pass_has_a_place_in_the_reference(sources: Path) -> None:
    kernels = (sources / "reference" / "kernels.md").read_text()
    shown = set(re.findall(r"^([\w.]+)  ", kernels, re.MULTILINE))
    assert set(kernel_names()) - USER_FUNCTIONS.keys() <= shown
    assert shown & USER_FUNCTIONS.keys() == set()
    dialect = (sources / "reference" / "async_dialect.md").read_text()
    wanted = [*names("async."), *(one.name for one in executable_pipeline().passes)]
    assert [name for name in wanted if f"### `{name}`" not in dialect] == []


def test_every_kernel_has_an_example_that_runs(sources: Path) -> None:
    page = unescape((sources / "reference" / "kernels.md").read_text())
    shown = re.findall(PROGRAM, page, re.DOTALL)
    folded = re.findall(r"<pre>(.*?)\n\n((?:(?!\n\n).)*)</pre>", page, re.DOTALL)
    own = set(kernel_names()) - USER_FUNCTIONS.keys()
    assert len(shown) + len(folded) == len(own)
    programs = "".join(program for program, _ in (*shown, *folded)).replace("hex.", "tfrt.")
    assert [name for name in own if not re.search(rf"\b{re.escape(name)}\b", programs)] == []
    broken = [
        f"{program}\n{printed}"
        for program, printed in (*shown, *folded)
        if not printed or ("error: " in printed and not SHOWS_AN_ERROR.search(program))
    ]
    assert broken == []


def test_operations_and_passes_show_what_changes_in_a_program(sources: Path) -> None:
    page = (sources / "reference" / "async_dialect.md").read_text()
    parts = dict(
        re.findall(r"^### `([^`]+)`.*?\n(.*?)(?=^###? |\Z)", page, re.MULTILINE | re.DOTALL)
    )
    without = {
        name for name, text in parts.items() if "```mlir" not in text and "```diff" not in text
    }
    assert without == {
        # These reject programs, and change none.
        "async-check",
        "async-check-buffers",
        # These occur only in watched code, as that pass's example shows.
        "async.runtime.log",
        # These occur only in buffers of async values, and in loops that are split into tasks.
        "async.runtime.from_handle",
        "async.runtime.handle_of",
    }
    assert {name for name in PASSES if name not in parts} == set()
    assert "Made by `async-to-async-runtime`:\n\n```diff" in parts["async.coro.suspend"]
    # Without this style, the theme shows added lines like unchanged ones.
    assert ".highlight .gi" in (sources / "_static" / "page.css").read_text()


def test_the_answers_of_the_teachers_page_reveal_something() -> None:
    rows = re.findall(
        r"^\| .+ \| \[(\w+\.\w+)\]\(tutorials/\w+\.ipynb\) \| `(.+)` \|$",
        (DOCS / "teachers.md").read_text(),
        re.MULTILINE,
    )
    assert len(rows) > 20
    hints = {find(name).grade(answer).hint for name, answer in rows}
    assert len(hints) >= len(rows) - 2
    assert [row for row in rows if find(row[0]).grade(row[1]).mark is not Mark.WRONG] == []


@pytest.fixture
def conf() -> ModuleType:
    """The configuration of Sphinx, which is in no package."""
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("conf", DOCS / "conf.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_former_address_of_a_tutorial_leads_to_its_page(
    conf: ModuleType, tmp_path: Path
) -> None:
    (tmp_path / "tutorials").mkdir()
    conf.lead_on_from_former_names(SimpleNamespace(outdir=tmp_path), None)
    assert 'url=07_python.html"' in (tmp_path / "tutorials" / "12_python.html").read_text()


def test_the_search_shows_entries_of_the_index_under_their_own_names(
    conf: ModuleType, tmp_path: Path
) -> None:
    entries = {"asyncvalue": [[1, "asyncvalue", True]], "tfrt.add.i32": [[0, "index-2", True]]}
    index = {"alltitles": {"AsyncValue": [[1, "asyncvalue"]]}, "indexentries": entries}
    path = tmp_path / "searchindex.js"
    path.write_text(f"Search.setIndex({json.dumps(index)})")

    conf.name_search_results(SimpleNamespace(outdir=tmp_path), None)

    found = json.loads(path.read_text().removeprefix("Search.setIndex(").removesuffix(")"))
    titles = {"AsyncValue": [[1, "asyncvalue"]], "tfrt.add.i32": [[0, "index-2"]]}
    assert found == {"alltitles": titles, "indexentries": {}}


def test_each_name_is_in_the_index(sources: Path) -> None:
    pages = "".join(page.read_text() for page in (sources / "reference").glob("*.md"))
    entries = {
        entry.strip().removeprefix("!")
        for row in re.findall(r"^```\{index\} (.*)$", pages, re.MULTILINE)
        for entry in row.split(",")
    }
    expected = {*kernel_names(), *PASSES, "%%tfrt", "HostContext", "Execution.cancel"}
    expected |= {"async.execute", "arith.addi", "memref.load", "mlirAsyncRuntimeAddRef"}
    assert expected - entries - USER_FUNCTIONS.keys() == set()


def test_the_page_of_numbers_has_every_scalar_operation(sources: Path) -> None:
    page = (sources / "reference" / "numbers.md").read_text()
    assert all(f"| `tfrt.{one.name}` |" in page for one in FAMILIES)
    assert "a division by zero is an error" in page


def test_the_page_of_the_abi_has_the_functions_of_mlirs_runtime(sources: Path) -> None:
    text = (sources / "reference" / "runtime_abi.md").read_text()
    assert "void mlirAsyncRuntimeAddRef(ptr value, i64 count)" in text
    assert text.count("\n## ") > 30


def test_the_error_pages_show_what_is_said_about_wrong_programs(sources: Path) -> None:
    text = (sources / "reference" / "errors.md").read_text()
    assert text.count("error: ") >= text.count("\n### ") > 60
    assert "index #0 is out of bounds" in text


def test_links_between_pages_lead_somewhere(sources: Path) -> None:
    lost = [
        f"{page.relative_to(sources)}: {target}"
        for page in [*sources.rglob("*.md"), *sources.rglob("*.ipynb")]
        for target in LINK.findall(page.read_text())
        if target.endswith((".md", ".ipynb")) and not (page.parent / target).exists()
    ]
    assert lost == []


def test_links_to_other_sites_are_those_of_the_list() -> None:
    """This test needs no network: open a new address by hand, and then list it here."""
    pages = [*DOCS.rglob("*.md"), *DOCS.parent.glob("*.md"), *DOCS.parent.glob("notebooks/*")]
    texts = [page.read_text() for page in pages if page.suffix in (".md", ".ipynb")]
    found = {
        url.rstrip(".,") for text in texts for url in re.findall(r"\bhttps?://[^\s)>\"'`\\]+", text)
    }
    assert found == {
        "http://127.0.0.1:8000/",
        "https://OWNER.github.io/REPOSITORY/",
        "https://github.com/Kaggle/docker-python/blob/01d659bb3e2b2b048752d1670cfd7f51b9dc6d92/kaggle_requirements.txt",
        "https://github.com/Kaggle/docker-python/pull/1487",
        "https://github.com/googlecolab/backend-info/blob/0042aa202e7b58599f891013d654e6b29abb5f72/pip-freeze.txt",
        "https://github.com/microsoft/vscode-jupyter/issues/14761",
        "https://keepachangelog.com/en/1.1.0/",
        "https://mybinder.org",
        "https://mybinder.org/v2/gh/OWNER/REPOSITORY/HEAD?urlpath=lab/tree/notebooks/tutorials.ipynb",
        "https://ui.perfetto.dev",
    }


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


def test_examples_are_shown_with_what_they_print(sources: Path) -> None:
    text = (sources / "howto" / "bef.md").read_text()
    assert "$ tfrt-nb run shop.bef\n" in text
    assert "'double' returned 14" in text
    assert "```{run}" not in text


PAGES = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_each_block_of_a_page_is_run_or_says_why_not(generate: ModuleType, page: Path) -> None:
    text = page.read_text()
    examples = sys.modules["examples"]
    cells = examples.cells_of(text)
    # An opening fence without a block would become prose.
    assert len(re.findall(r"^```", text, re.MULTILINE)) == 2 * len(examples.blocks_of(text))
    assert sum(map(len, cells.values())) >= len(
        re.findall(r"^(?:>>>|\$) (?!make)", text, re.MULTILINE)
    )


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ("```{code-block} c\nint x;\n```", None),
        ("```c\nint x;\n```", "line 1: a block of the kind 'c' is not run"),
        ("```text\nout of nothing\n```", "line 1: a block of the kind 'text' is not run"),
        ("```python not-run\nf()\n```", "line 1: a block with 'not-run'"),
        ("```python raisess\nf()\n```", "line 1: a block with 'raisess'"),
    ],
)
def test_a_block_of_which_there_is_no_telling_how_it_runs_is_refused(
    generate: ModuleType, block: str, said: str | None
) -> None:
    examples = sys.modules["examples"]
    if said is None:
        assert examples.cells_of(block) == {}
        return
    with pytest.raises(examples.BrokenExample, match=re.escape(said)):
        examples.cells_of(block)


def test_each_page_whose_examples_do_something_else_stops_the_site(
    generate: ModuleType, tmp_path: Path
) -> None:
    pages = {
        "good": "```{run}\nx = 1\n```\n\n```python\n1 / 0\n```\n\n```text\nZeroDivisionError: "
        "division by zero\n```\n",
        "other": "```pycon\n>>> 'x' in globals()\nFalse\n>>> 1 / 0\nTraceback (most recent call "
        "last):\nZeroDivisionError: division by zero\n>>> 2 + 2\n5\n```\n",
        "uncaught": "text\n\n```{run}\n1 / 0\n```\n",
        "caught": "```{run} raises\n1 / 1\n```\n",
        "status": "```console\n$ echo one\none\n$ echo two; exit 3\ntwo\n```\n",
        "shell": "```console raises\n$ echo one; exit 1\none\n```\n\n```console\n$ echo "
        "two\nthree\n```\n",
    }
    for name, text in pages.items():
        (tmp_path / f"{name}.md").write_text(text)
    with pytest.raises(sys.modules["examples"].BrokenExample) as caught:
        generate.run_examples([tmp_path / f"{name}.md" for name in pages])
    said = str(caught.value)
    assert re.findall(r"^(\w+)\.md, line (\d+): ", said, re.MULTILINE) == [
        ("other", "7"),
        ("uncaught", "3"),
        ("caught", "1"),
        ("status", "4"),
        ("shell", "7"),
    ]
    assert "- 5" in said and "+ 4" in said and "ZeroDivisionError" in said
    assert "this does not fail, and the page says that it does" in said
    assert "```text\n" not in (tmp_path / "uncaught.md").read_text()
    marks = re.findall(r"^\{.*\}$", (tmp_path / "good.md").read_text(), re.MULTILINE)
    assert marks == ["{.tfrt-cell}", "{.tfrt-cell .tfrt-raises}", "{.tfrt-output}"]


def test_a_saved_run_is_beside_its_page(sources: Path) -> None:
    text = (sources / "tutorials" / "00_start.ipynb").read_text()
    assert "tfrt-run" in text
    assert "vnd.tfrt.run" not in text
