"""Run every notebook, and compare its outputs with the saved ones."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from itertools import groupby
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from docs.examples import steady
from nbformat import NotebookNode

from tfrt_nb.exercises.exercise import Exercise, answers_of, exercises, find
from tfrt_nb.lessons import RENAMED

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
TUTORIALS = sorted(FOLDER.glob("[0-9]*.ipynb"))
EXERCISES = tuple(exercises())
"""The notebooks of the package, without those that tests create."""


@pytest.fixture(scope="module")
def demo() -> ModuleType:
    """The module `notebooks/demo.py`, which is a script and in no package."""
    sys.path.append(str(FOLDER))  # it draws with `pictures`, which is beside it
    spec = importlib.util.spec_from_file_location("demo", FOLDER / "demo.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def runs(demo: ModuleType) -> dict[Path, Future[NotebookNode]]:
    """The notebooks as they run now, two at a time, because kernels wait half of the time."""
    with ThreadPoolExecutor(2) as pool:
        return {path: pool.submit(demo.run_notebook, path) for path in NOTEBOOKS}


TABLE = """● @main: done, 2 of 2 values, 1.01 s
  ● available  %one   1  i32
  ● available  %slow  1  i32  blocking 2  3.67 ms + 1.00 s
"""


def test_a_picture_has_the_threads_of_its_board_unless_the_board_is_simple(
    demo: ModuleType,
) -> None:
    full, simple = (
        demo.run_picture("", TABLE, is_simple=is_simple).replace("&#160;", " ")
        for is_simple in (False, True)
    )
    assert full.count("blocking 2") == 1 and "blocking" not in simple
    assert "after 1.0 s" in full and "after 1.0 s" in simple


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def code(notebook: NotebookNode) -> list[NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(demo: ModuleType, notebook: NotebookNode) -> list[list[str]]:
    """Return each code cell's outputs as text, without parts that vary.

    Cells tagged `varies` or `watch` are left out.
    """
    return [
        [
            steady("".join(map(demo.text_of, outputs)))
            for _, outputs in groupby(cell.outputs, stream)
        ]
        for cell in code(notebook)
        if {"varies", "watch"}.isdisjoint(cell.metadata.get("tags", ()))
    ]


def stream(output: NotebookNode) -> object:
    """Return a key that adjacent outputs share if they form one text.

    A kernel sends a stream in several pieces.
    """
    return output.name if output.output_type == "stream" else id(output)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_was_saved_with(
    demo: ModuleType, runs: dict[Path, Future[NotebookNode]], path: Path
) -> None:
    assert shown(demo, runs[path].result()) == shown(demo, read(path))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_saved_notebook_is_small(path: Path) -> None:
    assert path.stat().st_size < 600_000


def words(cell: NotebookNode) -> int:
    """Return how many words a reader reads in a Markdown cell.

    A program counts with its run or its exercise.
    """
    text = re.sub(r"```.*?```|\]\([^)]*\)", "", cell.source, flags=re.DOTALL)
    return sum(re.search(r"\w", word) is not None for word in text.split())


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_takes_the_minutes_that_it_says(path: Path) -> None:
    cells = read(path).cells
    said = re.search(r"About (\d+) minutes", cells[0].source)
    assert said is not None
    begins = [cell.source.split(maxsplit=1)[0] for cell in cells if cell.cell_type == "code"]
    exercises, predictions = map(begins.count, ("%%tfrt_check", "%tfrt_predict"))
    prose = [one for one in cells if one.cell_type == "markdown" and "### Ex" not in one.source]
    # The time for an exercise includes reading its task.
    minutes = 3 * exercises + predictions + (len(begins) - exercises - predictions)
    minutes += sum(map(words, prose)) / 200
    assert minutes <= int(said[1]) + 0.5
    assert int(said[1]) <= (60 if " Project" in cells[0].source else 20)


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_has_at_most_seven_new_words(path: Path) -> None:
    rows = (FOLDER / "glossary.md").read_text().splitlines()
    new = [row for row in rows if f"[{path.stem[:2]}]" in row]
    assert len(rows) > 90 and len(new) <= 7


def watched(path: Path) -> list[NotebookNode]:
    return [cell for cell in code(read(path)) if "watch" in cell.metadata.get("tags", ())]


def part_one() -> list[Path]:
    """Return the tutorials that the start page lists before part two."""
    listed = read(FOLDER / "tutorials.ipynb").cells[0].source.partition("## Part two")[0]
    return [path for path in TUTORIALS if f"({path.name})" in listed]


@pytest.mark.parametrize("path", part_one(), ids=lambda path: path.stem)
def test_a_tutorial_of_part_one_has_cells_to_watch_and_a_picture(path: Path) -> None:
    cells = read(path).cells
    assert 1 <= len(watched(path)) <= (6 if " Project" in cells[0].source else 2)
    assert f"]({path.stem}.svg)" in "".join(cell.source for cell in cells)


def test_part_one_has_eleven_tutorials() -> None:
    assert [path.stem[:2] for path in part_one()] == [f"{number:02}" for number in range(11)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_cell_to_watch_is_saved_without_outputs_and_each_picture_beside_its_notebook(
    path: Path,
) -> None:
    assert [cell.source for cell in watched(path) if cell.outputs] == []
    pictures = re.findall(r"\]\((\S+\.svg)\)", "".join(cell.source for cell in read(path).cells))
    assert [one for one in pictures if not (FOLDER / one).read_text().startswith("<svg")] == []


def test_a_picture_of_a_run_has_each_value_at_its_time(demo: ModuleType) -> None:
    table = """\
● @main: failed, 4 of 4 values, 2.10 s, on mstd:2
  ● available  result  3               i32
  ● available  %one    1               i32
  ● available  %late   1               i32  timers    10.8 µs + 2.00 s
  ▲ error      %bad    Divide by zero  i32  worker 1  2.00 s + 91 µs
  ■ cancelled  %never                  i32  cell      2.00 s + 100 ms
  ■ cancelled  %last                   i32"""
    source = "  %one = tfrt.constant.i32 1\n  %bad, %rest = tfrt.div.i32 %late, %zero : i32"
    values = [
        (one.name, one.text, one.seconds and round(one.seconds, 1))
        for one in sys.modules["pictures"].values_of(table)
    ]
    assert values == [
        ("%one", "1", 0),
        ("%late", "1", 2.0),
        ("%bad", "Divide by zero", 2.0),
        ("%never", "", 2.1),
        ("%last", "", None),
    ]
    picture = demo.run_picture(source, table)
    assert "%one&#160;=&#160;tfrt.constant.i32&#160;1<" in picture and "result" not in picture
    assert ">error&#160;" in picture and "after&#160;2.0&#160;s" in picture
    assert picture.index("%last") < picture.index("at&#160;the&#160;end")


def test_a_picture_of_a_run_is_still_at_its_end_and_says_what_was_printed(
    demo: ModuleType,
) -> None:
    table = """\
int32 = 20
int32 = 42
■ @main: timed out, 1 of 2 values, 2.01 s
  ● available  %one   1  i32
  ■ cancelled  %slow     i32  cell  10.2 µs + 2.01 s
timed out after 2 s; @main was still waiting for %slow"""
    source = "%slow = earlier 3\n%one, %slow = later {seconds = 4}"
    picture = demo.run_picture(source, table)
    assert ">%one,&#160;%slow&#160;=&#160;later&#160;{seconds&#160;=&#160;4}<" in picture
    assert ">%slow<" in picture and "earlier" not in picture
    assert ">printed:&#160;int32&#160;=&#160;20,&#160;then&#160;int32&#160;=&#160;42<" in picture
    assert ">timed&#160;out&#160;after&#160;2&#160;s;&#160;@main" in picture
    # Only readers on a screen who accept motion see anything else.
    moving = re.compile(r"<style>@media screen and \(prefers-reduced-motion:no-preference\)")
    assert picture.count("<style>") == len(moving.findall(picture)) == 2
    assert re.findall(r"<[^>]*opacity='0'>([^<]*)", picture) == ["not there yet"] * 2
    held = re.findall(r"@keyframes is\d\{0%\{opacity:1\}([\d.]+)%\{opacity:0\}", picture)
    assert len(held) == 2 and all(float(percent) > 40 for percent in held)


def test_the_comparison_is_drawn_by_its_script() -> None:
    done = subprocess.run(
        [sys.executable, FOLDER / "pictures.py"], stdout=subprocess.PIPE, text=True, check=True
    )
    assert done.stdout == (FOLDER / "tutorials.svg").read_text()


def test_what_a_tutorial_was_called_leads_to_what_it_is_called_now() -> None:
    for old, new in RENAMED.items():
        assert not (FOLDER / f"{old}.ipynb").exists() and (FOLDER / f"{new}.ipynb").exists()
        former, now = (import_module(f"tfrt_nb.lessons.l{one}") for one in (old, new))
        assert former is now
    answer = find("python.order").solution.replace("l07_python", "l12_python")
    assert "l12_python" in answer and find("python.order").grade(answer).is_right


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_a_tutorial_has_all_its_parts(path: Path) -> None:
    cells = read(path).cells
    text = "\n".join(cell.source for cell in cells)
    assert "**Question:**" in cells[0].source
    assert "%tfrt_predict" in text
    assert text.count("%%tfrt_check") >= 3
    assert re.findall(r"^\d\.", cells[-1].source, re.MULTILINE) == ["1.", "2.", "3.", "4.", "5."]
    # The projects end a path: one for all readers, and one for readers interested in compilers.
    assert "**Read next:**" in text or path in TUTORIALS[-2:]


def test_every_exercise_has_a_cell_that_begins_as_it_was_given() -> None:
    cells = {name: text for path in NOTEBOOKS for name, text in answers_of(path).items()}
    assert cells == {one.name: one.start or "?" for one in EXERCISES}


@pytest.mark.parametrize("one", EXERCISES, ids=lambda one: one.name)
def test_a_notebook_asks_what_its_exercise_checks(one: Exercise) -> None:
    path = next(path for path in NOTEBOOKS if one.name in answers_of(path))
    tasks = {cell.source.partition("\n\n")[2] for cell in read(path).cells}
    # The lines of a paragraph may be broken anywhere, and lines in the sources are shorter.
    assert one.task.split() in [task.split() for task in tasks]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_saved_notebook_is_worth_reading_without_a_kernel(path: Path) -> None:
    notebook = read(path)
    assert [cell.execution_count for cell in code(notebook)] == [
        number for number, _ in enumerate(code(notebook), 1)
    ]
    pages = [
        output.data["text/html"]
        for cell in code(notebook)
        for output in cell.outputs
        if output.output_type == "display_data"
    ]
    assert pages
    assert [page for page in pages if "http://" in page or "https://" in page] == []


def test_the_demo_prints_every_program_with_its_values_and_diagnostics() -> None:
    done = subprocess.run(
        [sys.executable, FOLDER / "demo.py"], stdout=subprocess.PIPE, text=True, check=True
    )
    printed = done.stdout
    in_order = [
        "── A first program",
        "● @main: done, 3 of 3 values",
        "── Watch values appear",
        "● @main: done, 6 of 6 values",
        "── When something goes wrong",
        "error: there is no operation 'tfrt.mull.i32'",
        "^^^^^^^^^^^^^",
        "make lab",
    ]
    assert sorted(in_order, key=printed.index) == in_order
    page = re.search(r"file://(\S+)", printed)
    assert page is not None
    assert "tfrt.mull.i32" in Path(page[1]).read_text()
