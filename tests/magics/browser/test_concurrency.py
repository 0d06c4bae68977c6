"""Test what a board shows of concurrency: lanes, tasks, arrows, areas, groups, and order."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tfrt_magics.bridge.explored import explored
from tfrt_nb.programs import Program

from .test_motion import DRAWN
from .test_views import AWAITING, FAILED, LATE, document, events, items, open_tab, show

__all__ = ["show"]  # the fixture

Show = Callable[[dict[str, Any]], Any]

WAITS = """func.func @main(%x: i32) -> i32 {
  %left = demo.wait.i32 %x {seconds = 2.0}
  %right = demo.wait.i32 %x {seconds = 4.0}
  %sum = tfrt.add.i32 %left, %right
  tfrt.return %sum : i32
}"""
# Both wait at the same time; `%right` comes last, and `%sum` runs at once.
RUN = events(
    (0, "call", -1, 0, 0),
    (10, "begin", 0, -1, 0),
    (20, "end", 0, -1, 0),
    (30, "begin", 1, -1, 0),
    (40, "end", 1, -1, 0),
    (2_000, "available", 0, 1, 1),
    (4_000, "available", 1, 2, 1),
    (4_100, "begin", 2, -1, 0),
    (5_000, "available", 2, 3, 0),
)
PICTURE = """() => {
  const { prototype } = CanvasRenderingContext2D, { clearRect, fillRect, bezierCurveTo, lineTo } = prototype;
  prototype.clearRect = function (...all) {
    Object.assign(window, { rects: [], curves: [], lines: [], fonts: [] });
    clearRect.apply(this, all);
  };
  prototype.fillRect = function (...box) {
    window.rects?.push([this.fillStyle, ...box]);
    fillRect.apply(this, box);
  };
  prototype.bezierCurveTo = function (...points) {
    window.curves?.push([points, this.getLineDash().length]);
    bezierCurveTo.apply(this, points);
  };
  const { fillText } = prototype;
  prototype.fillText = function (text, x, y) {
    window.fonts?.push(parseFloat(this.font) * this.getTransform().a / devicePixelRatio);
    fillText.call(this, text, x, y);
  };
}"""  # noqa: E501


def picture(page: Any, name: str) -> None:
    """Save a screenshot of the page in the folder that TFRT_SCREENSHOTS names, if it is set."""
    if folder := os.environ.get("TFRT_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)


def drawn(page: Any, script: str = "() => window.texts") -> Any:
    """Return the result of `script` after the board has been drawn again."""
    page.evaluate("() => { store.changed(); return window.drawn(); }")
    return page.evaluate(script)


def watched(show: Show, data: dict[str, Any], tab: str) -> Any:
    """Return a page with a document, whose canvases report what they draw."""
    page = show(data)
    page.evaluate(DRAWN)
    page.evaluate(PICTURE)
    open_tab(page, tab)
    return page


def kinds(page: Any) -> dict[str, str]:
    """Return the entries of the kernels' legend."""
    rows = page.get_by_role("group", name="Kernels").locator("[data-kind]")
    found = rows.evaluate_all("all => all.map(n => [n.dataset.kind, n.lastChild.textContent])")
    return {kind: text.strip() for kind, text in found}


def test_waits_that_overlap_have_lanes_of_their_own_with_their_names(show: Show) -> None:
    data = document(WAITS, events=RUN, workers=["worker 1", "timers"])
    page = watched(show, data, "Timeline")
    picture(page, "overlapping_waits")
    places = {text: y for text, _, y in drawn(page)}
    assert places["timers"] == places["%left"] < places["%right"]
    assert places["worker 1"] == places["%sum"] < places["timers"]
    assert kinds(page) == {
        "demo.wait.i32": "2×, 20 ns, waits 5.94 µs",
        "tfrt.add.i32": "1×, 900 ns",
    }
    colors = page.locator(".kinds i").evaluate_all(
        "all => all.map(n => getComputedStyle(n).backgroundColor)"
    )
    assert len(set(colors)) == 2


def test_an_arrow_leads_to_a_kernel_from_the_value_that_made_it_ready(show: Show) -> None:
    page = watched(show, document(WAITS, events=RUN, workers=["worker 1", "timers"]), "Timeline")
    page.evaluate("() => store.select(2)")
    texts = {text: (x, y) for text, x, y in drawn(page)}
    (*_, x, y), _ = drawn(page, "() => window.curves").pop()
    # It ends where the bar of %sum begins, and comes from below, from the lane of %right.
    assert abs(x - (texts["%sum"][0] - 4)) < 1
    assert 0 < y - texts["%sum"][1] < 10
    picture(page, "arrow")


def test_more_waits_than_lanes_fold_into_one_that_unfolds(show: Show) -> None:
    waits = "".join(f"  %w{i} = demo.wait.i32 %x {{seconds = 1.0}}\n" for i in range(30))
    text = f"func.func @main(%x: i32) -> i32 {{\n{waits}  tfrt.return %w0 : i32\n}}"
    rows = [(0, "call", -1, 0, 0)]
    for i in range(30):
        rows += [(10 * i + 1, "begin", i, -1, 0), (10 * i + 2, "end", i, -1, 0)]
    rows += [(1000 + i, "available", i, i + 1, 1) for i in range(30)]
    data = document(text, events=events(*rows), workers=["worker 1", "timers"])
    page = watched(show, data, "Timeline")
    folded = {text: (x, y) for text, x, y in drawn(page)}
    assert {"%w0", "%w5"} <= folded.keys() and "%w6" not in folded
    picture(page, "folded_waits")
    box = page.locator(".timeline canvas").bounding_box()
    page.mouse.click(box["x"] + folded["+ 24 more"][0] + 5, box["y"] + folded["+ 24 more"][1])
    page.evaluate("() => window.drawn()")
    unfolded = {text for text, _, _ in drawn(page)}
    assert {f"%w{i}" for i in range(30)} <= unfolded and "+ 24 more" not in unfolded
    # So does the keyboard: a button folds them again.
    button = page.get_by_role("group", name="Folded lanes").get_by_role("button")
    assert button.inner_text() == "fold timers"
    button.focus()
    page.keyboard.press("Enter")
    page.evaluate("() => window.drawn()")
    assert "+ 24 more" in {text for text, _, _ in drawn(page)}
    assert (button.inner_text(), button.get_attribute("aria-expanded")) == (
        "timers + 24 more",
        "false",
    )
    page.keyboard.press("Enter")
    page.evaluate("() => window.drawn()")
    assert "+ 24 more" not in {text for text, _, _ in drawn(page)}


def test_two_thousand_threads_and_a_million_events_are_shown_in_part_and_it_says_so(
    show: Show,
) -> None:
    rows = [(0, "call", -1, 0, 0)]
    rows += [(i + 1, "park", -1, -1, i) for i in range(2_000)]
    rows += [(3_000, "begin", 0, -1, 0), (4_000, "available", 0, 1, 0)]
    workers = [f"worker {i}" for i in range(2_000)]
    data = document(LATE, events=events(*rows), workers=workers, dropped=997_997)
    page = watched(show, data, "Timeline")
    texts = [text for text, _, _ in drawn(page)]
    assert "+ 1\u202f937 more threads" in texts
    assert page.locator(".timeline canvas").evaluate("n => n.clientHeight") < 1_500
    assert page.locator(".timeline .note").inner_text() == (
        "997\u202f997 events were not kept: this shows the first and the newest of "
        "1\u202f000\u202f000."
    )
    page.get_by_role("button", name="+ 1\u202f937 more threads").focus()
    page.keyboard.press("Enter")
    page.evaluate("() => window.drawn()")
    picture(page, "two_thousand_threads")
    texts = {text for text, _, _ in drawn(page)}
    assert {"worker 200", "+ 1\u202f744 more threads"} <= texts and "worker 300" not in texts
    assert page.get_by_role("button", name="fold threads").get_attribute("aria-expanded") == "true"


def test_a_selected_area_has_totals(show: Show) -> None:
    page = watched(show, document(WAITS, events=RUN, workers=["worker 1", "timers"]), "Timeline")
    canvas = page.locator(".timeline canvas")
    box = canvas.bounding_box()
    _, _, scale = map(float, canvas.get_attribute("data-view").split())
    left = box["x"] + 118

    def drag(begin: float, end: float, top: float, bottom: float) -> None:
        page.mouse.move(left + begin * scale, box["y"] + top)
        page.mouse.down()
        page.mouse.move(left + end * scale, box["y"] + bottom, steps=3)
        page.mouse.up()
        page.evaluate("() => window.drawn()")

    page.keyboard.down("Shift")
    drag(1_000, 3_000, 30, 60)
    page.keyboard.up("Shift")
    area = page.locator(".area")
    assert "2 bars, ran 0 ns, waited 3.0" in area.inner_text()
    assert list(kinds(page)) == ["demo.wait.i32"]
    picture(page, "selected_area")
    # With the button, a drag selects without a key; a click clears.
    page.get_by_role("button", name="Clear the selected area").click()
    expect(area).to_be_hidden()
    page.get_by_role("button", name="Select", exact=True).click()
    drag(4_050, 4_900, 5, 8)
    assert "1 bar, ran 8" in area.inner_text()
    assert list(kinds(page)) == ["tfrt.add.i32"]
    page.mouse.click(left + 10, box["y"] + 8)
    expect(area).to_be_hidden()


def test_tasks_have_lanes_by_name_and_line_that_show_where_they_are_suspended(show: Show) -> None:
    log = events(
        (0, "call", -1, 0, 0),
        (10, "enqueue", 0, -1, 0),
        (500, "begin", 0, -1, 1),
        (1_000, "suspend", 0, 0, 1),
        (3_000, "resume", 0, -1, 2),
        (4_000, "available", 0, 2, 2),
        (4_000, "end", 0, -1, 2),
        (5_000, "return", -1, -1, 0),
    )
    workers = ["cell", "worker 1", "worker 2"]
    page = watched(show, document(AWAITING, events=log, workers=workers), "Timeline")
    picture(page, "tasks")
    all_of_them = drawn(page)
    texts = [(text, y) for text, _, y in all_of_them]
    row = {text: y for text, x, y in all_of_them if x == 8}  # the names of lanes
    assert row["@main"] < row["%t, line 2"] < row["cell"] < row["worker 1"] < row["worker 2"]
    # The task's lane has the workers' names; the workers' lanes have the task's name.
    task = [text for text, y in texts if y == row["%t, line 2"]]
    assert {"worker 1", "worker 2"} <= set(task)
    assert [text for text, y in texts if text == "%t"] == ["%t", "%t"]
    rows = page.get_by_label("Timeline", exact=True).get_by_role("listitem").all_inner_texts()
    said = [row.split("\n") for row in rows]
    assert said[0][0] == "@main"
    assert "then waits for %x" in rows[1] and "resumed after 2.00 µs" in rows[2]


CALLS = """func.func @main(%x: i64) -> i64 {
  %y = arith.addi %x, %x : i64
  call @printI64(%y) : (i64) -> ()
  call @printNewline() : () -> ()
  return %y : i64
}
func.func private @printI64(i64)
func.func private @printNewline()"""


def test_calls_of_compiled_code_are_in_their_order_with_dashed_edges(show: Show) -> None:
    page = watched(show, document(CALLS), "Graph")
    picture(page, "ordered_calls")
    places = {text: y for text, _, y in drawn(page)}
    assert places["%y"] < places["call @printI64(%y) : (i64) -> ()"]
    assert places["call @printI64(%y) : (i64) -> ()"] < places["call @printNewline() : () -> ()"]
    curves = drawn(page, "() => window.curves")
    assert len(curves) == 2


MANY = (
    "func.func @main(%x: i32) -> i32 {\n"
    + "".join(f"  %v{i} = tfrt.add.i32 %x, %x\n" for i in range(40))
    + "  %end = tfrt.mul.i32 %v0, %v39\n  tfrt.return %end : i32\n}"
)


def test_many_kernels_of_one_kind_are_one_node_with_its_progress_which_unfolds(show: Show) -> None:
    rows = [(0, "call", -1, 0, 0)]
    for i in range(12):
        rows += [(10 * i + 1, "begin", i, -1, 0), (10 * i + 2, "available", i, i + 1, 0)]
    rows += [(500, "begin", 12, -1, 0)]
    data = document(MANY, events=events(*rows), workers=["worker 1"])
    page = watched(show, {**data, "status": "running", "elapsed": 600}, "Graph")
    picture(page, "folded_group")
    group = page.get_by_role("treeitem", name="tfrt.add.i32 ×40")
    assert group.get_attribute("aria-label") == "tfrt.add.i32 ×40, 12 of 40 decided, running"
    assert len(items(page)) == 2
    texts = {text: (x, y) for text, x, y in drawn(page)}
    assert {"tfrt.add.i32 ×40", "12 of 40 decided"} <= texts.keys()
    assert len(drawn(page, "() => window.curves")) == 1
    group.locator(".twist").click()
    page.evaluate("() => window.drawn()")
    assert len(items(page)) == 42
    assert group.get_attribute("aria-expanded") == "true"
    places = page.evaluate("() => store.document.layout")
    members = sorted(zip(places["y"][:40], places["x"][:40], strict=True))
    assert len(set(members)) == 40
    picture(page, "unfolded_group")
    # A click on the head of the group folds it again.
    box, view = page.locator(".graph canvas").bounding_box(), page.locator(".graph canvas")
    x, y, scale = map(float, view.get_attribute("data-view").split())
    head = places["groups"][0]
    page.mouse.click(
        box["x"] + (max(head["x"], x) + 30 - x) * scale, box["y"] + (head["y"] + 10 - y) * scale
    )
    page.evaluate("() => window.drawn()")
    assert len(items(page)) == 2


def test_text_is_never_smaller_than_9_pixels_and_a_minimap_leads_to_the_rest(show: Show) -> None:
    lines = "".join(f"  %v{i + 1} = tfrt.add.i32 %v{i}, %v0\n" for i in range(60))
    text = f"func.func @main(%v0: i32) -> i32 {{\n{lines}  tfrt.return %v60 : i32\n}}"
    page = watched(show, document(text), "Graph")
    canvas = page.locator(".graph canvas")
    for name in (None, "Zoom out", "Zoom out", "Fit"):
        if name:
            page.get_by_role("button", name=name).click()
            page.evaluate("() => window.drawn()")
        assert all(size > 8.99 for size in drawn(page, "() => window.fonts")), name
    for _ in range(20):
        page.get_by_role("button", name="Zoom in").click()
        if float(canvas.get_attribute("data-view").split()[2]) > 0.8:
            break
        page.evaluate("() => window.drawn()")
    picture(page, "minimap")
    before = canvas.get_attribute("data-view")
    left, top, width, height = map(float, canvas.get_attribute("data-map").split())
    box = canvas.bounding_box()
    page.mouse.click(box["x"] + left + width / 2, box["y"] + top + height - 2)
    page.evaluate("() => window.drawn()")
    _, low, _ = map(float, canvas.get_attribute("data-view").split())
    assert low > float(before.split()[1]) + 500
    # It is part of the picture only while something is out of view.
    page.get_by_role("button", name="Fit").click()
    page.evaluate("() => window.drawn()")
    assert canvas.get_attribute("data-map") is None


SKIPPING = """func.func @main(%x: i32) -> i32 {
  %chain = tfrt.new.chain
  %a = tfrt.add.i32 %x, %x
  %b = tfrt.mul.i32 %a, %x
  %printed = tfrt.print.i32 %b, %chain
  tfrt.return %b : i32
}"""


def test_an_edge_passes_no_node(show: Show) -> None:
    page = watched(show, document(SKIPPING), "Graph")
    picture(page, "edge_beside_nodes")
    drawn(page)
    boxes = page.evaluate(
        "() => { const { x, y, w, h } = store.document.layout; return x.map((_, i) => [x[i], "
        "y[i], w[i], h[i]]); }"
    )
    for points, _ in page.evaluate("() => window.curves"):
        *_, x, y = points
        for left, top, width, height in boxes:
            assert not (left < x < left + width and top < y < top + height)


@pytest.mark.parametrize("theme", [False, True])
def test_a_board_of_an_older_build_is_drawn_without_groups_and_order(
    show: Show, theme: bool
) -> None:
    data = document(MANY)
    layout = data["body"]["layout"]
    data["body"]["layout"] = {name: layout[name] for name in ("x", "y", "w", "h", "boxes")}
    page = watched(show, {**data, "dark": theme}, "Graph")
    assert len(items(page)) == 41


PRINTS = """func.func @main() -> i32 {{
  %chain = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 {two}
  %a = tfrt.print.i32 %one, %chain
  %b = tfrt.print.i32 %two, {after}
  tfrt.return %one : i32
}}"""


@pytest.mark.parametrize(
    ("two", "after", "heads", "verdict"),
    [
        (2, "%chain", ["step", "outcome 1", "outcome 2"], ""),
        (
            1,
            "%chain",
            ["step", "one order", "another"],
            "2 orders, same outcome: nothing fixes the order.",
        ),
        (2, "%a", [], "1 order: no two steps race."),
    ],
)
def test_two_orders_are_side_by_side_where_they_first_differ(
    show: Show, two: int, after: str, heads: list[str], verdict: str
) -> None:
    program = Program.from_source(PRINTS.format(two=two, after=after), "cell")
    page = show(explored(program, "main", ()).file({}))
    picture(page, f"orders_{two}_{after.strip('%')}")
    outcomes = page.get_by_role("table", name="Outcomes")
    said = page.locator(".tfrt-board .detail", has=outcomes).inner_text()
    assert verdict in said
    assert ("nothing fixes the order" in said) == ("nothing fixes" in verdict)
    table = page.get_by_role("table", name="Two orders")
    if not heads:
        assert table.count() == 0
        return
    assert table.locator("th").all_inner_texts() == heads
    rows = [row.locator("td").all_inner_texts() for row in table.locator("tbody tr").all()]
    a, b = "line 5: %a = tfrt.print.i32 %one, %chain", "line 6: %b = tfrt.print.i32 %two, %chain"
    assert rows == [["1", a, b], ["2", b, a]]
    assert table.locator("[data-differs]").locator("td").first.inner_text() == "1"
    table.get_by_role("button", name=b).first.click()
    page.evaluate("() => window.drawn()")
    assert "%b" in page.get_by_role("note", name="Selected").inner_text()


def test_what_failed_and_what_was_skipped_is_not_among_the_values_that_are_there(
    show: Show,
) -> None:
    log = events(
        (0, "call", -1, 0, 0),
        (1, "begin", 0, -1, 0),
        (9, "error", 0, 1, 0),
        (9, "error", 0, 2, 0),
        (10, "begin", 2, -1, 0),
        (11, "available", 2, 4, 0),
    )
    page = show({**document(FAILED, events=log, workers=["worker 1"]), "status": "failed"})
    words = "2 of 5 values, 2 failed, 1 skipped"
    assert words in page.locator(".head").inner_text()
    assert words in page.locator("[slot=text]").text_content()


LATE_BEGUN = ((0, "call", -1, 0, 0), (10, "begin", 0, -1, 0), (20, "end", 0, -1, 0))


def test_a_call_on_a_cluster_shows_its_journey_and_a_lost_worker(show: Show) -> None:
    address = "tcp://10.0.0.2:40123"
    log = events(*LATE_BEGUN, (9_000, "available", 0, 1, 1))
    moments = [
        [20, "sent", ""],
        [1_000, "lost", ""],
        [2_000, "queued", address],
        [4_000, "running", address],
        [8_000, "back", address],
        [8_900, "here", ""],
    ]
    data = document(LATE, events=log, workers=["worker 1", address], remote=[[0, moments]])
    page = watched(show, data, "Timeline")
    picture(page, "cluster")
    assert any(text == f"…{address[-17:]}" for text, _, _ in drawn(page))
    rows = page.get_by_label("Timeline", exact=True).get_by_role("listitem").all_inner_texts()
    words = "sent in 980 ns, its worker was lost, tried again, queued there 2.00 µs"
    assert f"{words}, ran there 4.00 µs, came back in 900 ns" in rows[1]
    # While it runs, a state that has been reported lasts until now.
    begun = {
        **document(LATE, events=events(*LATE_BEGUN), workers=["worker 1"]),
        "status": "running",
    }
    begun["elapsed"] = 5_000
    begun["body"]["remote"] = [[0, moments[:4]]]
    live = watched(show, begun, "Timeline")
    rows = live.get_by_label("Timeline", exact=True).get_by_role("listitem").all_inner_texts()
    assert f"{words}, ran there" in rows[1] and "came back" not in rows[1]
    picture(live, "cluster_live")
    data["body"]["remote"] = [[0, []]]
    note = watched(show, data, "Timeline").locator(".tfrt-board .note").first
    assert note.inner_text() == "What this file says of remote cannot be read."
