"""Test views of documents, without a kernel or a JupyterLab.

The tests check what is drawn, what a click finds, and what hostile values do.
"""

from __future__ import annotations

import base64
import functools
import itertools
import json
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from docs.examples import blocks_of

from tfrt_magics.bridge.explored import explored
from tfrt_magics.bridge.runtime import PageProgram
from tfrt_nb.programs import Program

from .conftest import PROJECT

PAGE = "http://127.0.0.1/page/"
SOURCES = PROJECT / "magics" / "tfrt_magics" / "views" / "static"
SHOW = """async () => {
  const data = await (await fetch("data.json")).json();
  const [{ createBoard }, { Store }, { unpack }] = await Promise.all(["board", "store", "document"].map((name) => import(`./${name}.js`)));
  document.body.replaceChildren(document.createElement("div"));
  document.body.style.background = data.dark ? "#111" : "#fff";
  document.body.style.colorScheme = data.dark ? "dark" : "light";
  window.store = new Store(await unpack(data));
  window.board = createBoard(document.body.firstChild, window.store, { ask: data.asks ? async () => null : null });
  await window.drawn();
}"""  # noqa: E501
DRAW_ANOTHER = """async () => {
  const [{ createBoard }, { Store }] = await Promise.all(
    ["board", "store"].map((name) => import(`./${name}.js`)));
  const host = document.body.appendChild(document.createElement("div"));
  createBoard(host, new Store(window.store.document));
  const changes = [], observer = new MutationObserver((all) =>
    changes.push(...all.map(({ type, target }) => [type, target.className])));
  const all = { attributes: true, characterData: true, childList: true, subtree: true };
  observer.observe(host.shadowRoot, all);
  await window.drawn();
  return changes;
}"""
EVERY_TAB = """async () => {
  for (const tab of document.querySelector(".tfrt-board").shadowRoot.querySelectorAll("[role=tab]")) {
    tab.click();
    await window.drawn();
  }
}"""  # noqa: E501
DRAWN = """() => { window.drawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0)))); }"""  # noqa: E501
COUNT = """(count) => document.querySelector(".tfrt-board").shadowRoot.querySelectorAll("[role=treeitem]").length === count"""  # noqa: E501
NESTED = """func.func @main(%x: i32) -> i32 {
  %one = tfrt.constant.i32 1
  %flag = tfrt.constant.i1 1
  %r = tfrt.if %flag, %one, %x : (i32, i32) -> i32 {
    %a = tfrt.add.i32 %one, %x
    %b = tfrt.add.i32 %a, %a
    tfrt.return %b : i32
  } else {
    tfrt.return %x : i32
  }
  %end = tfrt.add.i32 %r, %one
  tfrt.return %end : i32
}
func.func @other() -> i32 {
  %n = tfrt.constant.i32 5
  tfrt.return %n : i32
}"""


def document(text: str, name: str = "main", **more: Any) -> dict[str, Any]:
    """Return the document of a run that has done nothing yet, in the form of a file."""
    body = {
        **PageProgram(Program.from_source(text, "cell")).body,
        "functions": [{"name": name, "status": "done"}],
    }
    return {"version": 2, "run": "r", "status": "done", "body": {**body, **more}}


@pytest.fixture
def show(browser_page: Any) -> Callable[[dict[str, Any]], Any]:
    """Draw a document, and return the page."""
    drawn: list[dict[str, Any]] = []

    def answer(route: Any) -> None:
        path = SOURCES / route.request.url.removeprefix(PAGE)
        if path.name == "data.json":
            route.fulfill(body=json.dumps(drawn[-1]), content_type="application/json")
        elif path.suffix == ".js":
            route.fulfill(body=path.read_text(), content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html><title>board</title>", content_type="text/html")

    browser_page.route(f"{PAGE}**", answer)
    browser_page.goto(PAGE)
    browser_page.evaluate(DRAWN)

    def draw(data: dict[str, Any]) -> Any:
        drawn.append(data)
        browser_page.evaluate(SHOW.replace("./$", f"{PAGE}$"))
        return browser_page

    return draw


def open_tab(page: Any, name: str) -> None:
    page.get_by_role("tab", name=name, exact=True).click()
    page.evaluate("() => window.drawn()")


def items(page: Any) -> list[dict[str, str]]:
    found = page.get_by_role("tree", name="Graph").get_by_role("treeitem")
    return list(
        found.evaluate_all("(all) => all.map((n) => ({ ...n.dataset, text: n.innerText }))")
    )


def test_a_click_finds_what_is_drawn_there_however_the_picture_is_zoomed_and_moved(show) -> None:
    data = document(NESTED)
    page = show(data)
    open_tab(page, "Graph")
    canvas = page.locator("canvas").first
    box = canvas.bounding_box()
    layout = data["body"]["layout"]

    def expected(x: float, y: float) -> int | None:
        inside = [
            i
            for i, (left, top, w, h) in enumerate(zip(*(layout[n] for n in "xywh"), strict=True))
            if left <= x <= left + w and top <= y <= top + h
        ]
        return inside[-1] if inside else None

    def check() -> int:
        x0, y0, scale = map(float, canvas.get_attribute("data-view").split())
        hits = 0
        for across in range(12, int(box["width"]), 61):
            for down in range(9, int(box["height"]), 37):
                x, y = x0 + across / scale, y0 + down / scale
                near = {expected(x + a, y + b) for a in (-1, 1) for b in (-1, 1)}
                if len(near) > 1:
                    continue  # on an edge
                about = canvas.evaluate(
                    """(node, [x, y]) => { const { left, top } = node.getBoundingClientRect();
                    node.dispatchEvent(new PointerEvent("pointermove", { clientX: left + x, clientY: top + y, bubbles: true })); return node.title; }""",  # noqa: E501
                    [across, down],
                )
                found = expected(x, y)
                if about == "Minimap":  # it covers a corner of the graph
                    continue
                text = "" if found is None else data["body"]["program"]["operations"][found]["text"]
                assert about == text.split("\n", 1)[0], (across, down)
                hits += found is not None
        return hits

    assert check() > 3
    canvas.scroll_into_view_if_needed()
    for _ in range(3):
        page.get_by_role("button", name="Zoom in").click()
    page.evaluate("() => window.drawn()")
    assert check() > 3
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 40, steps=4)
    page.mouse.up()
    page.evaluate("() => window.drawn()")
    assert check() > 1


def test_boxes_fold_and_unfold_by_mouse_and_keyboard(show) -> None:
    page = show(document(NESTED))
    open_tab(page, "Graph")
    whole = [each["text"] for each in items(page)]
    assert len(whole) == 7
    branch = page.get_by_role("treeitem", name="%r = tfrt.if")
    assert branch.get_attribute("aria-expanded") == "true"
    height = page.locator("canvas").first.get_attribute("data-view")
    branch.locator(".twist").click()
    page.wait_for_function(COUNT, arg=5)
    assert branch.get_attribute("aria-expanded") == "false"
    page.evaluate("() => window.drawn()")
    assert page.locator("canvas").first.get_attribute("data-view") != height
    branch.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(COUNT, arg=7)
    # Left moves to the surrounding node, then folds it; in the end, it folds the function.
    page.get_by_role("treeitem", name="%a = tfrt.add").focus()
    for count in (7, 5, 2):
        page.keyboard.press("ArrowLeft")
        page.wait_for_function(COUNT, arg=count)
        page.evaluate("() => window.drawn()")
    assert "@main" in [each["text"].strip("▸ ") for each in items(page)]
    page.get_by_role("treeitem", name="@main").click()
    page.evaluate("() => window.drawn()")
    assert [each["text"] for each in items(page)][1:2] == whole[1:2]


def test_a_new_board_is_drawn_once(show) -> None:
    page = show(document(NESTED, results={"main": [["available", "6"]]}))
    changes = page.evaluate(DRAW_ANOTHER.replace("./$", f"{PAGE}$"))
    assert changes == []


def test_what_a_function_gives_back_is_one_row(show) -> None:
    page = show(document(NESTED, results={"main": [["available", "6"]]}))
    rows = page.locator(".row[data-value]")
    names = rows.evaluate_all("(all) => all.map((row) => row.dataset.value)")
    assert sorted(names) == sorted(set(names))
    assert names[0] == "%end"
    assert page.locator("[data-value=result]").count() == 1


def test_a_value_whose_events_were_overwritten_has_its_count(show) -> None:
    program = Program.from_source(NESTED, "cell")
    values = {row["name"]: row["id"] for row in PageProgram(program).body["program"]["values"]}
    page = show(document(NESTED, counts={str(values["%end"]): 30_000}))
    shown = page.locator(".row[data-value='%end']").inner_text()
    assert "×30\u202f000" in shown
    assert page.locator(".row[data-value='%end']").get_attribute("data-state") == "available"


def test_a_chain_of_20_000_operations_waits_at_its_first_event(show) -> None:
    lines = [f"  %v{i + 1} = tfrt.add.i32 %v{i}, %v{i}" for i in range(20_000)]
    text = "func.func @main(%v0: i32) {\n" + "\n".join(lines) + "\n  tfrt.return\n}"
    log = events((0, "call", -1, 0, 0), (10, "begin", 0, -1, 0), (90, "available", 0, 1, 0))
    page = show(document(text, events=log, workers=["worker 1"]))
    page.evaluate("() => store.goTo(10)")
    page.locator(".row[data-value='%v1'][data-state=running]").wait_for()
    page.get_by_role("searchbox").fill("%v19999")
    page.locator(".row[data-value='%v19999'][data-state=waiting]").wait_for()


HOT = """async.func @work(%gate: !async.token) -> !async.token {
  await %gate : !async.token
  return
}
func.func @main() {
  %gate = async.runtime.create : !async.token
  %work = async.call @work(%gate) : (!async.token) -> !async.token
  return
}"""


@pytest.mark.parametrize(
    ("unlogged", "state", "shape"),
    [
        ({"2": "available"}, "available", "●"),
        ({"2": "unrecorded"}, "unrecorded", "?"),
        ({}, "skipped", "◇"),
        (None, "unrecorded", "?"),  # a file of an older board, which does not say
    ],
)
def test_of_compiled_code_without_an_event_each_view_says_what_the_run_says(
    show, unlogged, state, shape
) -> None:
    page = show(document(HOT, unlogged=unlogged))
    row = page.locator(".row[data-value='%work']")
    assert (row.get_attribute("data-state"), row.locator(".shape").inner_text()) == (state, shape)
    assert state in row.inner_text() and state in page.locator("[slot=text]").text_content()
    decided = page.get_by_role("progressbar")
    assert decided.get_attribute("aria-valuenow") == decided.get_attribute("aria-valuemax")
    row.click()
    detail = page.get_by_role("note", name="Selected")
    assert f"line 7, {state}" in detail.inner_text()
    open_tab(page, "Graph")
    assert [item["state"] for item in items(page)][2] == state
    color = page.evaluate("() => store.now.stateOf(2)")
    assert color == state
    open_tab(page, "Source")
    line = page.locator(".source .row[data-line='7']")
    assert (line.get_attribute("data-state"), line.locator(".shape").inner_text()) == (state, shape)


REGION = """func.func @main(%x: i32) -> i32 {
  %y = tfrt.jit (%x as %a: i32) -> i32 {
    %one = arith.constant 1 : i32
    %b = arith.addi %a, %one : i32
    tfrt.return %b : i32
  }
  tfrt.return %y : i32
}"""


@pytest.mark.parametrize("state", ["available", "skipped"])
def test_what_a_region_computes_has_its_state_and_its_argument_the_value_outside(
    show, state
) -> None:
    log = events((0, "call", -1, 0, 0), (1, "available", -1, 0, 0))
    log["payload"] = [None, "7"]
    ran = {"1": "available", "2": "available"} if state == "available" else {}
    page = show(document(REGION, events=log, workers=["cell"], unlogged=ran))
    for name, expected in {"%one": state, "%b": state, "%a": "available"}.items():
        row = page.locator(f".row[data-value='{name}']")
        assert row.get_attribute("data-state") == expected, name
    assert "7" in page.locator(".row[data-value='%a']").inner_text()


def test_a_count_that_is_not_whole_says_so(show) -> None:
    log = events((0, "begin", 2, -1, 0), (10, "available", 2, 2, 0), (20, "available", 2, 2, 0))
    page = show(document(HOT, events=log, workers=["cell"], unlogged={"2": "more"}))
    assert "×2+" in page.locator(".row[data-value='%work']").inner_text()
    assert "×2+" in page.locator("[slot=text]").text_content()


AWAITING = """func.func @main(%x: !async.value<i64>) -> i64 {
  %t, %v = async.execute -> !async.value<i64> {
    %y = async.await %x : !async.value<i64>
    async.yield %y : i64
  }
  %r = async.await %v : !async.value<i64>
  return %r : i64
}"""


def test_a_task_that_waits_is_not_running_and_says_for_what(show) -> None:
    log = events(
        (0, "call", -1, 0, 0),
        (10, "begin", 0, -1, 1),
        (20, "suspend", 0, -1, 1),
        (50, "resume", 0, -1, 2),
        (60, "available", 0, 2, 2),
    )
    page = show(
        document(AWAITING, absent=[0], events=log, workers=["cell", "worker 1", "worker 2"])
    )
    row = page.locator(".row[data-value='%v']")
    page.evaluate("() => store.goTo(15)")
    page.locator(".row[data-value='%v'][data-state=running][data-worker='worker 1']").wait_for()
    page.evaluate("() => store.goTo(30)")
    page.locator(".row[data-value='%v'][data-state=waiting]").wait_for()
    assert row.get_attribute("data-waits-for") == "%x"
    assert row.get_attribute("data-worker") is None
    page.evaluate("() => store.goTo(55)")
    page.locator(".row[data-value='%v'][data-state=running][data-worker='worker 2']").wait_for()
    page.evaluate("() => store.goTo(60)")
    page.locator(".row[data-value='%v'][data-state=available]").wait_for()


LATE = """func.func @main(%x: i32) -> i32 {
  %a = demo.wait.i32 %x {seconds = 1.0}
  %sum = tfrt.add.i32 %a, %x
  tfrt.return %sum : i32
}"""
KINDS = [
    "call",
    "begin",
    "end",
    "available",
    "error",
    "suspend",
    "resume",
    "enqueue",
    "park",
    "wake",
    "steal",
    "return",
]


def events(*rows: tuple[int, str, int, int, int]) -> dict[str, Any]:
    """Convert rows of time, kind, operation, value, and worker to columns."""
    columns = list(zip(*rows, strict=True))
    rest = {"instance": [1] * len(rows), "payload": [None] * len(rows)}
    names = ("time", "kind", "op", "value", "worker")
    found = dict(zip(names, map(list, columns), strict=True))
    return {**found, **rest, "kinds": KINDS, "kind": [KINDS.index(row[1]) for row in rows]}


def test_what_comes_from_outside_is_in_the_lane_of_what_brings_it(show) -> None:
    log = events(
        (0, "call", -1, 0, 0),
        (10, "begin", 0, -1, 0),
        (20, "end", 0, -1, 0),
        (1000, "available", 0, 1, 1),
        (1010, "begin", 1, -1, 0),
        (1020, "available", 1, 2, 0),
    )
    page = show(document(LATE, events=log, workers=["worker 1", "timers"]))
    assert page.locator("[data-value='%a']").get_attribute("data-worker") == "timers"
    open_tab(page, "Timeline")
    spans = page.get_by_label("Timeline").locator("[data-worker]")
    assert spans.evaluate_all(
        "(all) => all.map((n) => [n.dataset.worker, n.dataset.begin, n.dataset.end])"
    ) == [
        ["worker 1", "10", "20"],
        ["timers", "20", "1000"],
        ["worker 1", "1010", "1020"],
    ]


def test_the_timeline_says_what_was_queued_what_ran_inline_and_has_lanes_of_idle_threads(
    show,
) -> None:
    log = events(
        (0, "call", -1, 0, 0),
        (0, "park", -1, -1, 1),
        (1, "enqueue", 0, -1, 0),
        (4, "steal", -1, -1, 0),
        (6, "begin", 0, -1, 0),
        (20, "available", 0, 1, 0),
        (21, "begin", 1, -1, 0),
        (30, "available", 1, 2, 0),
        (40, "wake", -1, -1, 1),
    )
    page = show(document(LATE, events=log, workers=["worker 1", "worker 2"]))
    open_tab(page, "Timeline")
    spans = page.get_by_label("Timeline").locator("[data-worker]")
    assert [
        text.split(" ns", 1)[1] for text in spans.locator(":nth-child(3)").all_inner_texts()
    ] == [
        " + 14 ns, queued 5 ns",
        " + 9 ns, inline",
    ]
    lanes = page.locator("canvas").first.evaluate("(canvas) => canvas.clientHeight")
    page.evaluate("() => { store.document.events.worker.fill(0); store.replace(store.document); }")
    page.evaluate("() => window.drawn()")
    assert page.locator("canvas").first.evaluate("(canvas) => canvas.clientHeight") < lanes


def test_an_argument_that_has_not_come_waits_and_what_a_stopped_run_left_is_cancelled(show) -> None:
    log = events((0, "call", -1, 0, 0), (10, "error", 0, 1, 0))
    more = {"events": log, "workers": ["worker 1"]}
    state = "(name) => document.querySelector('.tfrt-board').shadowRoot.querySelector(`[data-value='${name}']`).dataset.state"  # noqa: E501
    page = show({**document(LATE, **more, absent=[0]), "status": "kernel-gone"})
    assert page.evaluate(state, "%x") == "waiting"
    page = show({**document(LATE, **more, cancelled=[1]), "status": "cancelled"})
    assert page.evaluate(state, "%x") == "available"
    assert page.evaluate(state, "%a") == "cancelled"


HOSTILE = [
    "<img src=x onerror='window.hit = 1'><script>window.hit = 1</script>",
    "x" * 10_000_000,
    "half \ud800 a pair",
    "\u202eright to left\u202c \x00 \x1b[31m",
    "NaN",
    "&lt;b&gt;",
]


def test_no_two_states_have_one_color(show) -> None:
    page = show(document(NESTED))
    for is_dark in (False, True):
        page.evaluate(f"() => document.body.style.colorScheme = '{'dark' if is_dark else 'light'}'")
        page.evaluate("() => { store.changed(); return window.drawn(); }")
        colors = page.evaluate(
            """async () => { const { colors, STATES } = await import("./theme.js");
              const found = colors(document.querySelector(".tfrt-board"));
              return STATES.map((state) => found[state]); }"""
        )
        assert len(set(colors)) == len(colors) == 8


def test_a_board_has_the_colors_of_its_paper(show) -> None:
    page = show(document(NESTED))
    for background, scheme, is_dark in (
        ("", "light", False),
        ("", "dark", True),
        ("#111", "light", False),
        ("#fff", "dark", True),
    ):
        page.evaluate(
            """([background, colorScheme]) => {
              Object.assign(document.body.style, { background, colorScheme });
              store.changed();
              return window.drawn();
            }""",
            [background, scheme],
        )
        assert (page.locator(".tfrt-board").get_attribute("data-dark") is not None) == is_dark


def test_pictures_follow_the_theme(show) -> None:
    page = show(document(NESTED))
    page.get_by_role("tab", name="Graph").click()
    page.evaluate("() => window.drawn()")
    picture = "document.querySelector('.tfrt-board').shadowRoot.querySelector('canvas').toDataURL()"
    changes = (
        lambda: page.evaluate("() => { document.body.dataset.jpThemeLight = 'false' }"),
        lambda: page.evaluate(
            "() => { document.body.dataset.jpThemeLight = 'true'; "
            "document.body.style.setProperty('--jp-ui-font-color1', 'red') }"
        ),
        lambda: page.emulate_media(forced_colors="active"),
    )
    seen = [page.evaluate(picture)]
    for change in changes:
        change()
        # The board receives a change with the next frame, or with the one after it.
        page.wait_for_function(f"seen => !seen.includes({picture})", arg=seen, timeout=10_000)
        seen.append(page.evaluate(picture))


def test_hostile_values_are_text_in_every_view(show) -> None:
    text = "func.func @main() {\n" + "".join(
        f"  %v{i} = tfrt.constant.i32 {i}\n" for i in range(len(HOSTILE))
    )
    data = document(text + "  tfrt.return\n}")
    body = data["body"]
    body["previews"] = dict(enumerate(HOSTILE))
    body["log"] = [[i, i, one[:200_000]] for i, one in enumerate(HOSTILE)]
    body["source"] += "\n// <img src=x onerror='window.hit = 1'>"
    body["stages"] = {
        "rows": [
            {"name": one[:30], "about": one[:100], "text": one[:100_000], "ops": [0], "marks": "+"}
            for one in HOSTILE
        ],
        "problem": "",
    }
    page = show(data)
    for name in ("Values", "Graph", "Log", "Source", "Stages"):
        open_tab(page, name)
    for stage in page.locator("[data-stage]").all():
        stage.click()
    page.evaluate("() => window.drawn()")
    assert page.evaluate("() => window.hit") is None
    assert page.locator(".tfrt-board img").count() == 0


@pytest.mark.parametrize(
    "change",
    [
        {"stages": {"rows": [{"name": 3}]}},
        {"stages": "no"},
        {"layout": None},
        {"layout": {"x": [1], "y": [1], "w": [1], "h": [1]}},
        {"program": {"functions": [], "operations": 3, "values": []}},
        {"events": {"time": [1, 2], "kind": [1]}},
        {"log": None},
        {"previews": 3},
        {"outcomes": {"rows": {}, "races": None}},
        {"functions": [None], "results": {"main": 1}},
        {"ready": [2**53]},
    ],
    ids=str,
)
def test_what_was_edited_by_hand_is_left_out_and_named(show, change: dict[str, Any]) -> None:
    data = document(NESTED)
    data["body"] |= change
    page = show(data)
    for tab in page.get_by_role("tab").all():
        tab.click()
        page.evaluate("() => window.drawn()")
    note = page.locator(".tfrt-board .note").first.inner_text()
    if "program" in change:
        assert note == "This run cannot be read: its program is damaged"
    elif change != {"layout": None}:
        assert note == f"What this file says of {', '.join(change)} cannot be read."


@pytest.mark.parametrize("status", ["toString", {"toString": 1}, 3, None], ids=str)
def test_what_is_no_status_is_that_of_a_file_without_its_end(show, status: object) -> None:
    page = show({**document(NESTED), "status": status})
    assert page.locator(".tfrt-board").get_attribute("data-status") == "saved-while-running"


def test_a_few_kilobytes_that_hold_gigabytes_are_refused(show) -> None:
    data = document(NESTED)
    del data["body"]
    packer = zlib.compressobj(9)
    pieces = [packer.compress(bytes(1 << 20)) for _ in range(1 << 9)]
    data["packed"] = base64.b64encode(b"".join([*pieces, packer.flush()])).decode()
    page = show(data)
    note = page.locator(".tfrt-board .note").first.inner_text()
    assert note == "This run cannot be read: too long"


def test_pieces_of_lines_that_come_at_the_same_time_stay_together(show) -> None:
    data = document(NESTED)
    data["body"]["log"] = [
        [1, 0, "one"],
        [2, 1, "two"],
        [3, 0, "!\n"],
        [4, 1, "?\nthree"],
        [5, None, "end"],
    ]
    page = show(data)
    open_tab(page, "Log")
    texts = page.locator(".tfrt-board .log [role=listitem] span:nth-child(3)")
    assert texts.all_inner_texts() == ["one!", "two?", "three", "end"]


def test_the_lines_of_the_log_begin_below_each_other(show) -> None:
    log = [[900, 1, "one\n"], [1_360_000, 6, "two\n"]]
    page = show(document(NESTED, log=log))
    open_tab(page, "Log")
    texts = page.locator(".tfrt-board .log [role=listitem] span:nth-child(3)")
    left = [each.bounding_box()["x"] for each in texts.all()]
    assert len(left) == 2 and len(set(left)) == 1


def test_a_line_of_the_log_that_its_row_cuts_is_shown_whole_where_it_is_chosen(show) -> None:
    data = document(NESTED)
    text = "word " * 400 + "end"
    data["body"]["log"] = [[1, 0, text + "\n"], [2, 1, "short\n"]]
    page = show(data)
    open_tab(page, "Log")
    rows, whole = page.locator(".tfrt-board .log .row"), page.locator(".tfrt-board .log .whole")
    assert rows.first.locator("span:nth-child(2)").inner_text() == "line 2"
    rows.first.click()
    assert whole.inner_text() == text
    rows.last.click()
    assert whole.is_hidden()
    rows.first.focus()
    page.keyboard.press("Enter")
    whole.wait_for(state="visible")


def test_plain_keys_are_the_boards_where_the_notebook_takes_its_shortcuts_first(show) -> None:
    page = show(document(NESTED))
    # Notebook 7 does the same, because it has shortcuts for the arrow keys.
    page.evaluate(
        """() => document.addEventListener("keydown", (event) => {
            if (!event.target.closest("[data-lm-suppress-shortcuts]")) window.taken = event.key, event.stopPropagation();
        }, true)"""  # noqa: E501
    )
    tab = page.locator("[role=tab][aria-selected=true]")
    first = tab.inner_text()
    tab.focus()
    page.keyboard.press("ArrowRight")
    assert tab.inner_text() != first
    page.keyboard.press("Control+s")
    assert page.evaluate("() => window.taken") == "s"
    # JupyterLab's own buttons also have shadow roots, and leave their keys to them.
    page.evaluate(
        """() => {
            const button = document.createElement("div");
            button.attachShadow({ mode: "open" });
            button.tabIndex = 0;
            document.body.append(button);
            button.focus();
        }"""
    )
    page.keyboard.press("Enter")
    assert page.evaluate("() => window.taken") == "Enter"


def test_a_narrow_page_has_room_for_the_text_of_a_stage(show) -> None:
    stage = {
        "about": "before it, these changed nothing: " + "pass, " * 60,
        "text": "module {\n}",
        "ops": [],
        "marks": "",
    }
    rows = [{**stage, "name": f"a-pass-with-a-long-name-{i}"} for i in range(9)]
    page = show(document(NESTED, stages={"rows": rows}))
    page.set_viewport_size({"width": 480, "height": 800})
    open_tab(page, "Stages")
    panel = page.get_by_role("tabpanel").bounding_box()
    text = page.get_by_role("list", name="Stage", exact=True).bounding_box()
    assert text["y"] - panel["y"] < 220  # half of the maximum that a panel shows


FAILED = """func.func @main(%x: i32) -> i32 {
  %q, %rest = tfrt.div.i32 %x, %x
  %sum = tfrt.add.i32 %q, %x
  %twice = tfrt.add.i32 %x, %x
  tfrt.return %sum : i32
}"""


def test_a_step_that_a_failed_input_skips_says_so(show) -> None:
    log = events(
        (0, "call", -1, 0, 0), (1, "begin", 0, -1, 0), (9, "error", 0, 1, 0), (9, "error", 0, 2, 0)
    )
    data = document(FAILED, events=log, workers=["stepper"], ready=[1, 2])
    page = show({**data, "status": "running", "asks": True})
    texts = page.get_by_label("Ready").get_by_role("button").all_inner_texts()
    assert texts == [
        "%sum = tfrt.add.i32 %q, %x … is skipped: an input failed",
        "%twice = tfrt.add.i32 %x, %x",
    ]


def test_the_focus_goes_from_step_to_step_and_then_to_the_view(show) -> None:
    page = show({**document(FAILED, ready=[0, 2]), "status": "running", "asks": True})
    ready = page.get_by_label("Ready").get_by_role("button")
    ready.nth(1).focus()
    focused = "() => document.activeElement.shadowRoot?.activeElement.textContent"
    for left in ([], [1]):
        page.evaluate("(left) => { window.store.document.ready = left }", left)
        page.evaluate("() => { window.store.changed(); return window.drawn() }")
    assert page.evaluate(focused) == "%sum = tfrt.add.i32 %q, %x"
    page.evaluate("() => { window.store.document.status = 'done' }")
    page.evaluate("() => { window.store.changed(); return window.drawn() }")
    assert page.evaluate("() => document.activeElement.shadowRoot?.activeElement.role") == (
        "tabpanel"
    )


def test_a_schedule_that_fails_is_replayed_as_one_that_failed(show) -> None:
    text = """func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %zero = tfrt.constant.i32 0
  %q, %r = tfrt.div.i32 %one, %zero
  tfrt.return %q : i32
}"""
    page = show(explored(Program.from_source(text, "cell"), "main", ()).file({}))
    assert page.locator(".tfrt-board").get_attribute("data-status") == "done"
    replay = page.get_by_role("button", name="Replay outcome 1")
    replay.click()
    page.wait_for_selector(".tfrt-board[data-status='failed']")
    assert replay.evaluate("(node) => node.getRootNode().activeElement === node")
    assert page.locator(".tfrt-board").get_attribute("aria-label") == "@main: failed"


WRONG = [None, -1, 3.5, 10**9, "no", [], [None], {"a": None}, {"toString": 1}, True]


def test_any_part_of_a_document_may_be_wrong(show) -> None:
    """Each part of a run is replaced in turn: a board must be drawn, without complaints."""
    log = events((0, "call", -1, 0, 0), (10, "begin", 0, -1, 0), (20, "available", 0, 1, 0))
    more = {"previews": {"0": "1"}, "log": [[1, 0, "one\n"]], "results": {"main": [["done", "1"]]}}
    text = json.dumps(document(LATE, events=log, workers=["worker 1"], **more))
    values = itertools.cycle(WRONG)
    for place in places(json.loads(text)):
        data, value = json.loads(text), next(values)
        *around, last = place
        functools.reduce(lambda found, key: found[key], around, data)[last] = value
        page = show(data)
        page.evaluate(EVERY_TAB)
        assert page.locator(".tfrt-board[role=group]").count() == 1, (place, value)


def places(data: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each part; for a list, only those of the first entry."""
    keys = list(data) if isinstance(data, dict) else range(min(1, len(data)))
    for key in keys:
        yield (*here, key)
        if isinstance(data[key], dict | list):
            yield from places(data[key], (*here, key))


def test_on_a_narrow_page_the_timeline_still_says_what_ran(show) -> None:
    log = events((0, "call", -1, 0, 0), (1, "begin", 0, -1, 0), (9, "end", 0, -1, 0))
    page = show(document(FAILED, events=log, workers=["worker 1"]))
    page.get_by_role("tab", name="Timeline").click()
    text = page.get_by_label("Timeline", exact=True).get_by_role("listitem").first.locator("span")
    for width in (1280, 280):
        page.set_viewport_size({"width": width, "height": 800})
        widths = [each.bounding_box()["width"] for each in text.all()]
        assert widths[0] > 100 and widths[1] > 30 and widths[2] > 30, (width, widths)


def test_a_timeline_that_is_enlarged_without_end_is_still_drawn(show) -> None:
    log = events((0, "call", -1, 0, 0), (10, "begin", 0, -1, 0), (10**12, "available", 0, 1, 0))
    page = show(document(LATE, events=log, workers=["worker 1"]))
    open_tab(page, "Timeline")
    box = page.locator("canvas").bounding_box()
    page.evaluate(
        """([x, y]) => { const canvas = document.querySelector(".tfrt-board").shadowRoot.querySelector("canvas");
          for (let i = 0; i < 400; i++)
            canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: -1, ctrlKey: true, clientX: x, clientY: y })); }""",  # noqa: E501
        [box["x"] + box["width"] - 1, box["y"] + 10],
    )
    page.evaluate("() => window.drawn()")
    x, _, scale = map(float, page.locator("canvas").get_attribute("data-view").split())
    assert x > 10**11
    assert scale == 50


def test_20_000_values_scroll_and_filter_at_once(show) -> None:
    lines = [f"  %v{i} = tfrt.constant.i32 {i}" for i in range(20_000)]
    page = show(document("func.func @main() {\n" + "\n".join(lines) + "\n  tfrt.return\n}"))
    assert page.locator(".row[data-value]").count() < 200
    page.locator(".panel").evaluate("(node) => { node.scrollTop = node.scrollHeight; }")
    page.wait_for_selector("[data-value='%v19999']")
    page.get_by_role("searchbox").fill("%v1234")
    page.wait_for_selector(".row[data-value='%v12349']")
    slow = page.evaluate("""() => { const start = performance.now();
        for (let i = 0; i < 5; i++) for (const each of store.listeners) each(store.now);
        return (performance.now() - start) / 5; }""")
    assert slow < 1000


def ungrouped(data: Any) -> Any:
    """Return the document with each operation in its own node, as in documents without groups."""
    data["body"]["layout"]["groups"] = []
    return data


def test_a_value_that_thousands_use_is_drawn_without_an_edge_to_each(show) -> None:
    users = "".join(f"  %v{i} = tfrt.add.i32 %one, %one\n" for i in range(5_000))
    text = (
        f"func.func @main() -> i32 "
        f"{{\n  %one = tfrt.constant.i32 1\n{users}  tfrt.return %v7 : i32\n}}"
    )
    page = show(ungrouped(document(text)))
    page.evaluate(
        """() => {
          const { prototype } = CanvasRenderingContext2D, { clearRect, moveTo } = prototype;
          prototype.clearRect = function (...all) { window.edges = 0; clearRect.apply(this, all); };
          prototype.moveTo = function (...place) { window.edges++; moveTo.apply(this, place); };
        }"""
    )
    open_tab(page, "Graph")
    page.evaluate("() => { store.changed(); return window.drawn(); }")
    assert 0 < page.evaluate("() => window.edges") < 1_000
    page.get_by_role("button", name="Fit").click()
    page.evaluate("() => { store.changed(); return window.drawn(); }")
    assert page.evaluate("() => window.edges") == 10_000


def test_a_wide_graph_shows_its_first_operation_first(show) -> None:
    # Six of a kernel, so that none are folded into a group.
    kernels = ("add", "and", "maximum", "minimum", "minus", "mul", "or", "shiftleft", "xor")
    users = "".join(f"  %v{i} = tfrt.{kernels[i % 9]}.i32 %one, %one\n" for i in range(54))
    text = (
        f"func.func @main() -> i32 "
        f"{{\n  %one = tfrt.constant.i32 1\n{users}  tfrt.return %v7 : i32\n}}"
    )
    data = document(text)
    page = show(data)
    open_tab(page, "Graph")
    canvas = page.locator(".graph canvas")
    left, _, scale = map(float, str(canvas.get_attribute("data-view")).split())
    first, width = (data["body"]["layout"][name][0] for name in "xw")
    assert left > 0
    assert left <= first and first + width <= left + canvas.bounding_box()["width"] / scale


def test_the_graph_of_the_sites_start_page_is_seen_whole(show) -> None:
    blocks = blocks_of((PROJECT / "docs" / "index.md").read_text())
    block = next(block for block in blocks if block.kind == "{run}")
    data = document(block.body.partition("\n")[2])
    page = show(data)
    page.set_viewport_size({"width": 736, "height": 800})  # the board is 720 wide, as on the site
    open_tab(page, "Graph")
    canvas = page.locator(".graph canvas")
    left, _, scale = map(float, str(canvas.get_attribute("data-view")).split())
    places = data["body"]["layout"]
    ends = [x + width for x, width in zip(places["x"], places["w"], strict=True)]
    assert left <= min(places["x"])
    assert max(ends) <= left + canvas.bounding_box()["width"] / scale


def test_escape_leads_from_a_board_back_to_its_cell(show) -> None:
    page = show(document(NESTED))
    page.evaluate(
        """() => {
          const cell = document.createElement("div");
          Object.assign(cell, { className: "jp-Cell", tabIndex: 0 });
          document.body.append(cell);
          cell.append(document.querySelector(".tfrt-board"));
        }"""
    )
    page.get_by_role("tab", name="Values").focus()
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.className") == "jp-Cell"


def test_an_exploration_which_is_no_run_offers_no_bef_of_one(show) -> None:
    text = "func.func @main() -> i32 {\n  %one = tfrt.constant.i32 1\n  tfrt.return %one : i32\n}"
    found = explored(Program.from_source(text, "cell"), "main", ()).file({})
    for data, is_run in ((document(NESTED), True), (found, False)):
        page = show({**data, "asks": True})
        page.get_by_role("button", name="Export", exact=True).click()
        assert page.get_by_role("button", name="DOT graph").is_visible()
        assert page.get_by_role("button", name="BEF", exact=True).is_visible() == is_run
