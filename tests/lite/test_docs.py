"""Test the site's documentation, whose cells run in the page: edit, run, fail, stop, and reset.

Like `test_site`, these tests need a site built by `make lite`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.lite.conftest import Page

IS_IDLE = (
    "() => ![...document.querySelectorAll('.tfrt-tools')].some(n => n.textContent.includes('Stop'))"
)
ERRORS = ".tfrt-error"


class Docs:
    """A page of the documentation, open in Chromium."""

    def __init__(self, tab: Any) -> None:
        self.tab = tab

    def cell(self, place: int) -> Any:
        return self.tab.locator(".tfrt-editable").nth(place)

    def output(self, place: int) -> Any:
        return self.tab.locator(".tfrt-live").nth(place)

    def write(self, place: int, text: str) -> None:
        """Replace a cell's text as a reader does."""
        self.cell(place).locator("pre").click()
        self.tab.keyboard.press("Control+a")
        self.tab.keyboard.insert_text(text)

    def press(self, name: str, place: int = 0) -> None:
        self.cell(place).get_by_role("button", name=name).click()

    def wait(self) -> None:
        """Wait until no cell runs."""
        self.tab.wait_for_function(IS_IDLE)

    def run(self, place: int) -> str:
        """Run a cell and the cells that it needs; return its output as text."""
        self.press("▶ Run", place)
        self.wait()
        return str(self.output(place).inner_text())


@pytest.fixture
def docs(page: Page) -> Iterator[Callable[[str], Docs]]:
    tab = page.page.context.new_page()

    def start(name: str) -> Docs:
        tab.goto(f"{page.address}docs/{name}.html")
        return Docs(tab)

    yield start
    tab.close()


def test_a_cell_runs_as_it_was_edited_and_is_restored(docs: Callable[[str], Docs]) -> None:
    one = docs("index")
    text = one.cell(0).locator("pre").inner_text()
    one.write(0, text.replace("constant.i32 1", "constant.i32 20"))
    one.tab.keyboard.press("Shift+Enter")
    board = one.output(0).locator(".tfrt-board")
    board.get_by_text("running").first.wait_for()  # live: each of its waits takes a while
    one.wait()
    board.get_by_text("@main done").first.wait_for()
    assert "= 40" in board.get_by_role("group", name="Results").inner_text()
    one.press("Reset")
    assert one.cell(0).locator("pre").inner_text() == text
    assert not one.output(0).is_visible()


def test_a_cell_runs_after_the_cells_above_it(docs: Callable[[str], Docs]) -> None:
    one = docs("howto/cancel")
    saved = one.tab.locator(".tfrt-output").inner_text()
    printed = one.run(2)
    assert printed.strip() == saved.strip() == "note: argument 2 of @main is unavailable"
    assert not one.tab.locator(".tfrt-output").is_visible()
    one.write(0, "import tfrt_nb as tfrt\nlimit")
    one.run(2)
    assert "A cell above has failed" in one.cell(2).inner_text()
    assert "NameError: name 'limit' is not defined" in one.tab.locator(ERRORS).inner_text()


def test_a_mistake_is_shown_below_its_program(docs: Callable[[str], Docs]) -> None:
    one = docs("reference/kernels")
    assert one.cell(3).locator("pre").inner_text().startswith("%%tfrt\n")
    one.write(3, "%%tfrt\nfunc.func @main() {\n  tfrt.addd.i32\n  tfrt.return\n}")
    text = one.run(3)
    assert "there is no operation 'tfrt.addd.i32'" in text and "line 3" in text
    assert one.tab.locator(".tfrt-live:visible").count() == 1  # no program needs another one


def test_an_endless_cell_is_stopped_and_the_next_one_starts_again(
    docs: Callable[[str], Docs],
) -> None:
    one = docs("howto/cancel")
    one.write(1, "print('begins')\nwhile True: pass")
    one.press("▶ Run", 1)
    one.output(1).get_by_text("begins").wait_for()
    one.press("■ Stop", 1)
    assert "Stopped." in one.output(1).inner_text()
    one.write(1, "1 + 1")
    assert one.run(1).strip() == "2"


def test_every_program_that_is_stuck_ends(docs: Callable[[str], Docs]) -> None:
    one = docs("howto/stuck")
    one.press("Run all")
    one.wait()
    assert one.tab.locator(ERRORS).count() == 0
    assert "nothing can resolve a token" in one.output(4).inner_text()


def test_a_tutorial_runs_on_its_page(docs: Callable[[str], Docs]) -> None:
    one = docs("tutorials/01_values")
    one.press("Run all")
    one.wait()
    assert one.tab.locator(ERRORS).count() == 0
    assert one.tab.locator(".tfrt-live .tfrt-board").count() == 2
