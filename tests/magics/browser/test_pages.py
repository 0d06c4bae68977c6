"""Test boards in pages of the documentation: a script in a file, without a server or a kernel."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of a page with the first waiting run of tutorial 00, as on the site."""
    sys.path.insert(0, str(ROOT / "docs"))
    import examples

    notebook = nbformat.read(ROOT / "notebooks" / "00_start.ipynb", as_version=4)
    runs = [
        output.data
        for cell in notebook.cells
        if "demo.wait" in cell.source
        for output in cell.get("outputs", ())
        if examples.RUN in output.get("data", {})
    ]
    folder = tmp_path_factory.mktemp("page")
    (folder / "boards.js").write_text(examples.board_script())
    page = folder / "page.html"
    hostile = {**runs[0], "text/html": "<p>a table</p>"}
    hostile[examples.RUN] = {**runs[0][examples.RUN], "note": "</script><b>"}
    page.write_text(
        '<!doctype html><meta charset="utf-8"><style>:root { color-scheme: light dark; }</style>'
        f"{examples.with_board(hostile)}"
        '<script src="boards.js" defer></script>'
    )
    return page.as_uri()


def test_a_board_replays_in_a_page_without_a_kernel(chromium: Browser, saved: str) -> None:
    from playwright.sync_api import expect

    page = chromium.new_page()
    page.goto(saved)
    board = page.locator(".tfrt-board")
    expect(board).to_have_count(1)
    expect(page.get_by_text("a table")).to_have_count(0)
    expect(board.get_by_text("</script><b>", exact=True)).to_be_visible()
    end = round(float(board.get_by_label("Replay", exact=True).get_attribute("max") or 0))
    assert end > 300e6

    # It plays once by itself, and then whenever its reader wants.
    for is_asked in (False, True):
        if is_asked:
            board.get_by_role("button", name="Play").click()
        page.wait_for_function(
            "end => Number(document.querySelector('.tfrt-board').dataset.time) < end", arg=end
        )
        page.wait_for_function(
            "end => Number(document.querySelector('.tfrt-board').dataset.time) === end", arg=end
        )
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_board_has_the_colors_of_its_page_from_the_start(
    chromium: Browser, saved: str, scheme: str
) -> None:
    page = chromium.new_page(color_scheme=scheme, reduced_motion="reduce")  # so nothing is redrawn
    page.goto(saved)
    board = page.locator(".tfrt-board")
    board.wait_for()
    assert (board.get_attribute("data-dark") is not None) == (scheme == "dark")
    # The site's own switch is an attribute of the body.
    page.evaluate(
        "() => { document.body.dataset.theme = 'other';"
        " document.documentElement.style.colorScheme = 'light'; }"
    )
    page.locator(".tfrt-board:not([data-dark])").wait_for()
    page.close()


def test_programs_on_the_site_have_a_cells_colors_in_dark_mode_too(chromium: Browser) -> None:
    page = chromium.new_page()
    theme = 'body[data-theme="dark"] .highlight .kt { color: lime; font-weight: bold; }'
    page.set_content(
        f"<style>{theme}</style><style>{(ROOT / 'docs' / 'page.css').read_text()}</style>"
        '<body data-theme="dark" style="--color-foreground-primary: #fff">'
        '<div class="highlight"><span class="kt">i32</span>'
    )
    found = page.locator(".kt").evaluate(
        "node => ['color', 'fontWeight'].map(name => getComputedStyle(node)[name])"
    )
    assert found[0].startswith("color(srgb 0.65") and found[1] == "400"
    page.close()


def test_a_board_plays_by_itself_when_it_is_seen_and_not_where_motion_is_unwanted(
    chromium: Browser, saved: str
) -> None:
    from playwright.sync_api import expect

    time = (
        "() => [document.querySelector('.tfrt-board').dataset.time, "
        "document.querySelector('.tfrt-board').shadowRoot.querySelector('input[type=range]').max]"
    )
    page = chromium.new_page(reduced_motion="reduce")
    page.goto(saved)
    expect(page.locator(".tfrt-board")).to_have_count(1)
    page.wait_for_timeout(1000)
    now, end = page.evaluate(time)
    assert int(now) == round(float(end))
    page.close()

    page = chromium.new_page()
    page.goto(saved)
    page.add_style_tag(content="body { padding-top: 3000px }")
    expect(page.locator(".tfrt-board")).to_have_count(1)
    page.wait_for_timeout(1000)
    page.evaluate("() => document.querySelector('.tfrt-board').scrollIntoView()")
    page.wait_for_function(
        "() => { const { dataset, shadowRoot } = document.querySelector('.tfrt-board');"
        " return Number(dataset.time) < "
        "Number(shadowRoot.querySelector('input[type=range]').max) - 1; }"
    )
    page.close()
