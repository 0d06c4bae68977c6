"""Test what a board shows first, and which changes are animated.

The changes are in results, errors, prints, times, and pictures.
"""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tfrt_nb.documents.heat_map import heat_map

from .test_views import FAILED, LATE, NESTED, document, events, open_tab, show

__all__ = ["show"]  # the fixture

# In LATE, `%a` comes from a timer, and `%sum` needs it.
RUN = events(
    (0, "call", -1, 0, 0),
    (10, "begin", 0, -1, 0),
    (20, "end", 0, -1, 0),
    (1000, "available", 0, 1, 1),
    (1010, "begin", 1, -1, 0),
    (1200, "available", 1, 2, 0),
)
RESULT = {"main": [["available", "3"]]}
GRID = """func.func @main(%t: !tfrt_tensor.tensor) -> !tfrt_tensor.tensor {
  tfrt.return %t : !tfrt_tensor.tensor
}"""
DRAWN = """() => {
  const { prototype } = CanvasRenderingContext2D, { clearRect, fillText } = prototype;
  prototype.clearRect = function (...all) { window.texts = []; clearRect.apply(this, all); };
  prototype.fillText = function (text, x, y) { window.texts.push([text, x, y]); fillText.call(this, text, x, y); };
}"""  # noqa: E501
CONTRASTS = """() => {
  const pen = document.createElement("canvas").getContext("2d");
  const rgba = color => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = color;
    pen.fillRect(0, 0, 1, 1);
    return pen.getImageData(0, 0, 1, 1).data;
  };
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const host = document.querySelector(".tfrt-board"), paper = rgba(getComputedStyle(host).backgroundColor);
  const found = [];
  for (const node of host.shadowRoot.querySelectorAll("*")) {
    const own = [...node.childNodes].some(each => each.nodeType === 3 && each.data.trim());
    if (!own || !node.checkVisibility() || node.closest(".hidden, style, option, button:disabled")) continue;
    const color = rgba(getComputedStyle(node).color), share = color[3] / 255;
    const ink = [0, 1, 2].map(i => color[i] * share + paper[i] * (1 - share));
    const [low, high] = [light(ink), light(paper)].sort((a, b) => a - b);
    found.push([(high + 0.05) / (low + 0.05), node.textContent.trim().slice(0, 20), node.className]);
  }
  return found.filter(([contrast]) => contrast < 4.5);
}"""  # noqa: E501
JUPYTER = {
    "--jp-layout-color0": "#fff",
    "--jp-ui-font-color1": "rgba(0, 0, 0, 0.87)",
    "--jp-ui-font-color2": "rgba(0, 0, 0, 0.54)",
    "--jp-mirror-editor-atom-color": "#88f",
}


def late(**more: Any) -> dict[str, Any]:
    """Return a finished run of LATE; `%sum` is 3."""
    found = {"events": RUN, "workers": ["worker 1", "timers"], "results": RESULT}
    return document(LATE, **{**found, "previews": {"0": "1", "1": "2", "2": "3"}, **more})


def go_to(page: Any, time: int) -> None:
    page.evaluate("time => { store.goTo(time); return window.drawn(); }", time)


def top(locator: Any) -> float:
    return float(locator.bounding_box()["y"])


def font_size(locator: Any) -> float:
    return float(locator.evaluate("node => parseFloat(getComputedStyle(node).fontSize)"))


def test_results_come_first_and_are_large(show) -> None:
    page = show(late())
    result = page.get_by_role("group", name="Results").get_by_role("button")
    assert result.inner_text() == "sum = 3 : i32"
    row = page.locator(".row[data-value='%sum']")
    assert top(result) < top(page.get_by_role("tab", name="Values")) < top(row)
    assert font_size(result) > 1.5 * font_size(row)
    result.click()
    expect(row).to_have_attribute("aria-selected", "true")
    go_to(page, 500)
    assert result.inner_text() == "sum ○ waiting : i32"


def test_of_many_results_some_are_shown_and_the_rest_counted(show) -> None:
    names = ", ".join(["%x"] * 12)
    types = ", ".join(["i32"] * 12)
    text = f"func.func @main(%x: i32) -> ({types}) {{\n  tfrt.return {names} : {types}\n}}"
    page = show(document(text, results={"main": [["available", "5"]] * 12}))
    results = page.get_by_role("group", name="Results")
    assert results.get_by_role("button").count() == 8
    assert results.inner_text().endswith("and 4 more")


def test_the_first_error_is_at_the_head_and_leads_to_its_line(show) -> None:
    log = events(
        (0, "call", -1, 0, 0),
        (1, "begin", 0, -1, 0),
        (9, "error", 0, 1, 0),
        (9, "error", 0, 2, 0),
    )
    texts = {"1": "Divide by zero", "2": "Divide by zero"}
    results = {"main": [["error", "Divide by zero"]]}
    run = document(FAILED, events=log, previews=texts, workers=["worker 1"], results=results)
    page = show({**run, "status": "failed"})
    problem = page.locator(".problem")
    assert problem.inner_text() == "▲ Divide by zero %q, line 2"
    assert top(problem) < top(page.get_by_role("tab", name="Values"))
    assert page.get_by_role("group", name="Results").inner_text() == "sum ◇ skipped : i32"
    problem.click()
    page.evaluate("() => window.drawn()")
    assert "%q" in page.get_by_role("note", name="Selected").inner_text()
    go_to(page, 5)
    assert problem.is_hidden()

    # An error that came with an argument did not happen at the operation.
    log = events(
        (0, "call", -1, 0, 0), (5, "error", -1, 0, 0), (9, "error", 0, 1, 0), (9, "error", 0, 2, 0)
    )
    page = show({**document(FAILED, events=log, previews=texts), "status": "failed"})
    assert problem.inner_text() == "▲ Divide by zero %q, line 2"

    # A program that continues after an error is done, and has no failure to explain.
    page = show(run)
    assert page.locator(".problem").is_hidden()


def test_the_newest_printed_lines_are_below_the_values_and_the_log_has_a_count(show) -> None:
    log = [[number * 10, 1, f"line {number}\n"] for number in range(5)]
    page = show(late(log=log))
    printed = page.get_by_role("group", name="Printed")
    assert printed.locator("pre").inner_text().split("\n") == ["line 2", "line 3", "line 4"]
    assert top(printed) > top(page.locator(".row[data-value='%a']"))
    tab = page.get_by_role("tab", name="Log", exact=True)
    assert tab.locator(".badge").inner_text() == "5"
    assert page.get_by_role("tab", name="Values").locator(".badge").is_hidden()
    go_to(page, 15)
    assert printed.locator("pre").inner_text().split("\n") == ["line 0", "line 1"]


def test_printed_lines_are_in_view_however_many_values_there_are(show) -> None:
    lines = "".join(f"  %v{i} = tfrt.constant.i32 {i}\n" for i in range(60))
    text = f"func.func @main() -> i32 {{\n{lines}  tfrt.return %v59 : i32\n}}"
    page = show(document(text, log=[[1, 1, "one line\n"]]))
    panel, printed = page.get_by_role("tabpanel"), page.get_by_role("group", name="Printed")
    bottom = top(panel) + panel.bounding_box()["height"]
    assert top(printed) + printed.bounding_box()["height"] == pytest.approx(bottom, abs=1)
    # It covers no row: the last one is above it if the reader scrolls down.
    panel.evaluate("node => { node.scrollTop = node.scrollHeight; }")
    last = page.locator(".row[data-value='%v58']")
    assert top(last) + last.bounding_box()["height"] <= top(printed) + 1


def test_nothing_moves_under_the_mouse_in_a_replay(show) -> None:
    log = events(
        (0, "call", -1, 0, 0),
        (1, "begin", 0, -1, 0),
        (9, "error", 0, 1, 0),
        (9, "error", 0, 2, 0),
        (10, "begin", 2, -1, 0),
        (20, "available", 2, 4, 0),
    )
    run = document(
        FAILED,
        events=log,
        previews={"1": "Divide by zero", "2": "Divide by zero"},
        workers=["worker 1"],
        results={"main": [["error", "Divide by zero"]]},
        log=[[19, 2, "one\ntwo\n"]],
    )
    page = show({**run, "status": "failed"})
    play = page.get_by_role("button", name="Play")
    for tab in page.get_by_role("tab").all():
        tab.click()
        places = set()
        for time in (20, 15, 5, 20):
            go_to(page, time)
            places.add(round(top(play)))
        assert len(places) == 1, tab.inner_text()


def test_the_head_has_the_time_of_the_run_and_says_that_a_replay_is_one(show) -> None:
    page = show({**late(), "elapsed": 917_000_000, "work_queue": "mstd:2"})
    head = page.locator(".head")
    assert head.inner_text().split("\n")[:3] == ["● @main done", "3 of 3 values", "1.20 µs"]
    facts = head.locator("[title]").first.get_attribute("title")
    assert "the whole cell: 917 ms" in facts and "work queue: mstd:2" in facts
    go_to(page, 500)
    assert head.inner_text().split("\n")[:3] == [
        "↻ @main replay",
        "1 of 3 values",
        "500 ns of 1.20 µs",
    ]
    go_to(page, 1200)
    assert "@main done" in head.inner_text()


def test_a_simple_board_has_no_workers_no_queue_and_no_timeline(show) -> None:
    page = show({**late(), "simple": True, "elapsed": 917_000_000, "work_queue": "mstd:2"})
    heads = page.get_by_role("columnheader").all_inner_texts()
    assert heads == ["state", "name", "value", "type", "start", "duration"]
    cells = page.locator(".row[data-value='%sum']").get_by_role("cell").all_inner_texts()
    assert [cell.split("\n")[-1] for cell in cells[2:]] == ["3", "i32", "1.01 µs", "190 ns"]
    assert page.get_by_role("tab", name="Timeline").count() == 0
    # On pages that break words, such as those of the documentation, the hidden heading is a line.
    page.evaluate("() => { document.body.style.overflowWrap = 'break-word'; }")
    assert page.locator(".headings").bounding_box()["height"] < 30
    assert "mstd" not in page.locator(".head [title]").first.get_attribute("title")
    assert "worker" not in page.locator("[slot=text]").text_content()


def test_a_stopped_run_lasts_until_the_stop(show) -> None:
    stopped = {"events": {name: column[:2] for name, column in RUN.items() if name != "kinds"}}
    stopped["events"]["kinds"] = RUN["kinds"]
    page = show({**late(**stopped), "status": "timed-out", "elapsed": 2_000_000_000})
    assert page.locator(".head").inner_text().split("\n")[2] == "2.00 s"
    row = page.locator(".row[data-value='%a']")
    assert row.get_by_role("cell").all_inner_texts()[-1] == "2.00 s …"


def test_start_and_duration_are_two_columns(show) -> None:
    page = show(late())
    heads = page.get_by_role("columnheader").all_inner_texts()
    assert heads[-2:] == ["start", "duration"]
    cells = page.locator(".row[data-value='%sum']").get_by_role("cell").all_inner_texts()
    assert cells[-2:] == ["1.01 µs", "190 ns"]
    page.get_by_role("button", name="duration").click()
    page.evaluate("() => window.drawn()")
    order = page.locator(".row[data-value]").evaluate_all("all => all.map(n => n.dataset.value)")
    assert order == ["%sum", "%a", "%x"]


MOVES = """() => document.querySelector(".tfrt-board").shadowRoot.querySelector(".row[data-value='%a']")
  .getAnimations().map(one => one.effect.getTiming().duration)"""  # noqa: E501


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_row_that_changes_lights_up_unless_the_reader_wants_no_motion(show, motion: str) -> None:
    page = show(late())
    page.emulate_media(reduced_motion=motion)
    is_moving = motion == "no-preference"
    go_to(page, 15)
    pulse = page.locator(".row[data-value='%a'][data-state=running] .shape")
    name = pulse.evaluate("node => getComputedStyle(node).animationName")
    assert name == ("pulse" if is_moving else "none")
    page.wait_for_timeout(700)
    assert page.evaluate(MOVES) == []  # it is over
    page.evaluate("() => { store.goTo(1000); return window.drawn(); }")
    assert page.evaluate(MOVES) == ([600] if is_moving else [])


def test_a_long_wait_is_seen_to_go_on_without_a_message(show) -> None:
    log = events((0, "call", -1, 0, 0), (10, "begin", 0, -1, 0))
    run = late(events=log, previews={"0": "1"}, results={"main": [["waiting", ""]]})
    page = show({**run, "status": "running", "elapsed": 3_000_000_000})
    took = page.locator(".row[data-value='%a']").get_by_role("cell").last
    first = took.inner_text()
    assert re.fullmatch(r"[23]\.\d+ s …", first)
    page.wait_for_function(
        """first => document.querySelector(".tfrt-board").shadowRoot
          .querySelector(".row[data-value='%a']").lastChild.textContent !== first""",
        arg=first,
    )
    assert float(took.inner_text().split()[0]) < 60
    clock = page.locator(".head .soft").nth(1).inner_text()
    assert re.fullmatch(r"[23]\.\d s", clock)


def drawn(page: Any) -> dict[str, tuple[float, float]]:
    """Return the texts in the picture, and their positions."""
    page.evaluate("() => { store.changed(); return window.drawn(); }")
    return {text: (x, y) for text, x, y in page.evaluate("() => window.texts")}


def test_a_node_shows_its_value_before_its_kernel(show) -> None:
    page = show(late())
    page.evaluate(DRAWN)
    open_tab(page, "Graph")
    texts = drawn(page)
    assert {"%a = 2", "%sum = 3"} <= texts.keys()
    (kernel,) = [text for text in texts if text.startswith("tfrt.add.i32 %a")]
    assert texts[kernel][0] > texts["%sum = 3"][0] and texts[kernel][1] == texts["%sum = 3"][1]
    go_to(page, 500)
    assert {"%a", "%sum"} <= drawn(page).keys()
    assert "Thick border" in page.locator(".graph .legend").inner_text()


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_in_a_replay_values_are_seen_on_their_way(show, motion: str) -> None:
    page = show(late())
    page.emulate_media(reduced_motion=motion)
    page.evaluate(DRAWN)
    open_tab(page, "Graph")
    assert "2" not in drawn(page)
    places = []
    for time in (1005, 1040, 1080):
        go_to(page, time)
        places.append(drawn(page)["2"][1])
    if motion == "reduce":
        assert len(set(places)) == 1
    else:
        assert places == sorted(places) and places[0] < places[-1]
    nodes = drawn(page)
    assert nodes["%a = 2"][1] < places[0] < nodes["%sum"][1]
    go_to(page, 1150)
    assert "2" not in drawn(page)


def test_the_source_has_the_colors_of_a_cell_and_the_value_beside_its_line(show) -> None:
    page = show(late())
    open_tab(page, "Source")
    line = page.locator(".source .row[data-line='3']")
    assert line.locator(".beside").inner_text() == "= 3"
    words = dict(
        line.locator("[class^=token]").evaluate_all(
            "all => all.map(n => [n.textContent, getComputedStyle(n).color])"
        )
    )
    assert {"%sum", "tfrt.add.i32", "%a", "%x"} == words.keys()
    assert words["%sum"] == words["%a"] != words["tfrt.add.i32"]
    go_to(page, 500)
    assert line.locator(".beside").inner_text() == ""


def test_a_long_value_leaves_room_for_its_line(show) -> None:
    page = show(late(previews={"0": "1", "1": "2", "2": "word " * 400}))
    page.set_viewport_size({"width": 500, "height": 800})
    open_tab(page, "Source")
    line = page.locator(".source .row[data-line='3']")
    assert line.locator("[class='']").bounding_box()["width"] > 80
    assert line.locator(".beside").bounding_box()["width"] > 200


def test_a_stage_has_colors_too(show) -> None:
    stage = {"name": "s", "about": "", "text": "%0 = arith.addi %1, %1 : i32", "ops": [1]}
    page = show(late(stages={"rows": [{**stage, "marks": "+"}]}))
    open_tab(page, "Stages")
    words = page.get_by_role("list", name="Stage", exact=True).locator("[class^=token]")
    assert words.all_inner_texts() == ["%0", "arith.addi", "%1", "%1", "i32"]
    bef = {"name": "BEF", "about": "", "text": '000012  64 65 6d 6f 2e  "demo"', "ops": [1]}
    page = show(late(stages={"rows": [{**bef, "marks": " "}]}))
    open_tab(page, "Stages")
    row = page.get_by_role("list", name="Stage", exact=True).get_by_role("listitem")
    assert row.inner_text().endswith(bef["text"])
    assert words.count() == 0


def test_a_tensor_is_its_type_and_shape_beside_a_picture_with_a_scale(show) -> None:
    import numpy as np

    grid = np.linspace(-1.5, 2, 24 * 16, dtype=np.float32).reshape(24, 16)
    text = "DenseHostTensor dtype = f32, shape = [24, 16], values = [-1.5, ... ]"
    called = events((0, "call", -1, 0, 0))
    more = {"events": called, "previews": {"0": text}, "results": {"main": [["available", text]]}}
    page = show(document(GRID, pictures={"0": heat_map(grid)}, **more))
    row = page.locator(".row[data-value='%t']")
    assert "f32 24x16" in row.inner_text() and "DenseHostTensor" not in row.inner_text()
    picture = row.get_by_role("img", name="f32 24x16: -1.5 to 2")
    box = picture.bounding_box()
    assert box["width"] > 20 and box["height"] > 15
    assert "f32 24x16" in page.get_by_role("group", name="Results").inner_text()
    row.click()
    page.evaluate("() => window.drawn()")
    detail = page.get_by_role("note", name="Selected")
    large = detail.get_by_role("img").bounding_box()
    assert large["width"] > 150 and large["height"] > 100
    assert detail.locator(".scale").inner_text().split() == ["-1.5", "2"]
    assert text in detail.inner_text()

    # A picture comes from the file, not from another site.
    page = show(document(GRID, pictures={"0": ["https://example.org/a.png", 0, 1]}, **more))
    assert page.locator(".tfrt-board img").count() == 0
    assert "pictures" in page.locator(".tfrt-board .note").first.inner_text()


def test_a_small_tensor_has_its_numbers(show) -> None:
    text = "DenseHostTensor dtype = f32, shape = [2, 2], values = [1.000000e+00, 2.5, 0.0, -4.0]"
    page = show(document(GRID, events=events((0, "call", -1, 0, 0)), previews={"0": text}))
    row = page.locator(".row[data-value='%t']")
    assert "f32 2x2 [1, 2.5, 0, -4]" in row.inner_text()


def test_view_filter_and_zoom_outlive_the_next_run_of_a_cell(show) -> None:
    page = show({**late(), "cell": "a"})
    open_tab(page, "Graph")
    page.get_by_role("button", name="Zoom in").click()
    page.evaluate("() => window.drawn()")
    view = page.locator(".graph canvas").get_attribute("data-view")
    open_tab(page, "Values")
    page.get_by_role("searchbox").fill("sum")
    open_tab(page, "Graph")

    again = """async cell => {
      const [{ createBoard }, { Store }, { unpack }] = await Promise.all(
        ["board", "store", "document"].map(name => import(`./${name}.js`)));
      const data = await (await fetch("data.json")).json(), host = document.createElement("div");
      board.remove();
      document.body.replaceChildren(host);
      window.store = new Store(await unpack({ ...data, cell, run: "next" }));
      window.board = createBoard(host, window.store);
      await window.drawn();
    }"""
    page.evaluate(again, "a")
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Graph"
    assert page.locator(".graph canvas").get_attribute("data-view") == view
    open_tab(page, "Values")
    assert page.get_by_role("searchbox").input_value() == "sum"
    assert page.locator(".row[data-value]").count() == 1
    page.evaluate(again, "another")
    assert page.locator("[role=tab][aria-selected=true]").inner_text() == "Values"
    assert page.locator(".row[data-value]").count() == 3


@pytest.mark.parametrize("theme", ["light", "dark", "jupyter"])
def test_every_text_can_be_read(show, theme: str) -> None:
    stages = {"rows": [{"name": "s", "about": "a", "text": "%0 = x", "ops": [], "marks": "+"}]}
    page = show({**late(log=[[1, 1, "one\n"]], stages=stages), "dark": theme == "dark"})
    if theme == "jupyter":
        page.evaluate(
            "vars => { for (const [name, value] of Object.entries(vars))"
            " document.body.style.setProperty(name, value); store.changed(); }",
            JUPYTER,
        )
    for time in (500, 1200):
        go_to(page, time)
        for tab in page.get_by_role("tab").all():
            tab.click()
            page.wait_for_timeout(700)  # until nothing lights up
            assert page.evaluate(CONTRASTS) == [], tab.inner_text()


def test_boards_of_the_same_name_are_not_landmarks(show) -> None:
    page = show(late())
    assert page.get_by_role("group", name="@main: done").count() == 1
    assert page.get_by_role("region").count() == 0


def test_a_list_of_tabs_has_tabs_alone_and_no_heading_is_empty(show) -> None:
    page = show(late())
    roles = (
        page.get_by_role("tablist").locator(":scope > *").evaluate_all("a => a.map(n => n.role)")
    )
    assert set(roles) == {"tab"}
    found = {"count": 1, "schedules": 2, "is_complete": True, "races": []}
    row = {"values": ["3"], "errors": [], "printed": "", "schedules": 2}
    run = {"events": RUN, "workers": ["main"], "dropped": 0, "previews": {}, "log": []}
    page = show(late(outcomes={**found, "rows": [{**row, "run": run}]}))
    heads = page.get_by_role("table", name="Outcomes").locator("th").all_inner_texts()
    assert heads == ["outcome", "results", "schedules", "replay"]


def test_a_lane_lights_up_where_a_bar_begins_or_ends(show) -> None:
    page = show(late())
    page.evaluate(
        """() => { const { prototype } = CanvasRenderingContext2D, { clearRect, strokeRect } = prototype;
          prototype.clearRect = function (...all) { window.rings = 0; clearRect.apply(this, all); };
          prototype.strokeRect = function (...all) { window.rings++; strokeRect.apply(this, all); }; }"""  # noqa: E501
    )
    open_tab(page, "Timeline")
    rings = (
        "() => new Promise(done => { store.changed(); window.drawn().then(() => "
        "done(window.rings)); })"
    )
    assert page.evaluate(rings) == 0
    go_to(page, 15)
    assert page.evaluate(rings) > 0
    page.wait_for_timeout(700)
    assert page.evaluate(rings) == 0
    page.emulate_media(reduced_motion="reduce")
    go_to(page, 1100)
    assert page.evaluate(rings) == 0


def test_the_words_of_a_lost_run_are_a_sentence(show) -> None:
    page = show({**document(NESTED), "status": "kernel-gone"})
    assert page.locator(".tfrt-board").get_attribute("aria-label") == ("@main: lost its kernel")
    assert "@main lost its kernel" in page.locator(".head").inner_text()
