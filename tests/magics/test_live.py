"""Test displayed values: their lines, what they keep alive, and what front ends and files get."""

from __future__ import annotations

import base64
import dataclasses
import gc
import json
import time
import weakref
import zlib
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jupyter_client.session import Session
from nbclient import NotebookClient
from nbconvert import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook
from tests.magics.test_kernel import (
    PATIENCE,
    RUN_MIME,
    FrontEnd,
    body_of,
    of_type,
    printed,
    started,
)

import tfrt_nb as tfrt
from tfrt_magics.live.lines import (
    BROKEN,
    MAX_BEFORE,
    MAX_LINES,
    line_of,
    lines_html,
    lines_text,
    named_values,
    parts_of,
)
from tfrt_magics.live.values_run import Lines
from tfrt_nb.documents.heat_map import heat_map
from tfrt_runtime.host.values.async_value import AsyncValue

SHARE = """func.func @main(%a: i32, %b: i32) -> (i32, i32) {
  %q, %r = tfrt.div.i32 %a, %b
  tfrt.return %q, %r : i32, i32
}"""
LOAD = "%load_ext tfrt_nb\nimport threading, time\nimport tfrt_nb as tfrt"
WHO_SECONDS = 0.3
VIEW_MIME = "application/vnd.jupyter.widget-view+json"


def resolved(value: object) -> AsyncValue:
    made = tfrt.unavailable()
    made.set_result(value)
    return made


def text_of(thing: object, name: str = "value") -> list[str]:
    return lines_text([line_of(*part) for part in parts_of(thing, name)]).splitlines()


def test_a_value_is_one_line_in_each_state() -> None:
    value = tfrt.unavailable()
    assert text_of(value, "answer") == ["○ answer unavailable"]
    assert text_of(resolved(42), "answer") == ["● answer = 42"]
    value.cancel("the shop is closed")
    assert text_of(value) == ["■ value cancelled: the shop is closed"]
    failed = tfrt.unavailable()
    failed.set_exception(ValueError("nobody\ncame"))
    assert text_of(failed) == ["▲ value error: ValueError: nobody came"]


def test_results_of_a_run_have_types_and_an_error_its_place() -> None:
    run = tfrt.Program(SHARE).run(4, 0)
    assert run.wait(60)
    assert text_of(run)[0] == "▲ result 0 error: Divide by zero, at <program>:2:12 : i32"
    assert text_of({"all": [run]})[1].startswith("▲ ['all'][0] result 1 error: ")


def test_the_parts_of_containers_are_named() -> None:
    @dataclasses.dataclass
    class Order:
        apples: object
        pears: int

    point = namedtuple("point", "x y")
    value = tfrt.unavailable()
    thing = [{"north": (value, 5)}, Order(value, 3), point(1, [value])]
    assert [name for name, _ in parts_of(thing)] == [
        *("[0]['north'][0]", "[0]['north'][1]", "[1].apples", "[1].pears", "[2].x", "[2].y[0]"),
    ]
    assert named_values(thing) == [(name, value) for name, one in parts_of(thing) if one is value]
    assert parts_of([1, 2]) == parts_of({"a": "b"}) == parts_of("text") == []

    @dataclasses.dataclass
    class Hostile:
        own: object = value

        def __getattribute__(self, name: str) -> Any:
            if name == "own":
                raise ValueError("no")
            return object.__getattribute__(self, name)

    assert text_of([value, Hostile()])[1] == "● [1].own = ValueError('no')"
    circle: list[object] = [value]
    circle.append(circle)
    assert len(parts_of(circle)) < 10


def test_a_long_container_without_values_is_not_walked_through() -> None:
    long = [*range(MAX_BEFORE), tfrt.unavailable(), *range(5_000_000)]
    start = time.thread_time()
    assert parts_of(long) == []
    assert time.thread_time() - start < 0.1


def test_a_batch_has_a_line_for_each_call() -> None:
    one = SHARE.replace("(i32, i32) {", "i32 {").replace("%q, %r : i32, i32", "%q : i32")
    batch = tfrt.Program(one).map([8, 9], [2, 3])
    assert batch.wait(60)
    assert text_of(batch) == ["● [0] = 4 : i32", "● [1] = 3 : i32"]


def test_hostile_texts_stay_texts() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise SystemExit("no")

    value = tfrt.unavailable()
    value.set_exception(ValueError("<script>\u202e" + "x" * 10_000))
    parts = parts_of({"<b>\n": value, "b": Hostile(), "c": resolved("</div><img src=x>")})
    html = lines_html([line_of(*part) for part in parts])
    assert "<script>" not in html and "<img" not in html and "<b>\\n" not in html
    assert "\u202e" not in html and len(html) < 3_000
    assert "&lt;Hostile: SystemExit in its text&gt;" in html


def test_many_lines_are_counted() -> None:
    lines = [line_of(f"[{place}]", tfrt.unavailable().reference()) for place in range(MAX_LINES)]
    done = [line_of("x", resolved(1))] * 1000
    assert lines_text(lines + done).splitlines()[-1] == (
        "… and 1,000 more; 1200 values: 1,000 available, 200 broken"
    )
    assert lines_html(lines + done).count("<b>") == MAX_LINES


@pytest.mark.parametrize(
    ("array", "size"),
    [
        (np.arange(12.0).reshape(3, 4), (4, 3)),
        (np.array([1, np.nan, np.inf, -5]), (4, 1)),
        (np.ones((300, 1000), np.int8), (63, 60)),
        (np.full((2, 2, 2), -np.inf), (2, 4)),
    ],
)
def test_a_tensor_is_a_picture(array: Any, size: tuple[int, int]) -> None:
    picture = heat_map(array)
    assert picture is not None
    head, data = picture.address.split(",")
    png = base64.b64decode(data)
    assert head == "data:image/png;base64"
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    assert tuple(int.from_bytes(png[place : place + 4]) for place in (16, 20)) == size


@pytest.mark.parametrize(
    "thing", [5, "text", np.array(1.0), np.array([1.0]), np.array(["a", "b"]), [1, 2]]
)
def test_anything_else_is_no_picture(thing: object) -> None:
    assert heat_map(thing) is None


def test_a_picture_shows_what_is_large_and_what_is_no_number() -> None:
    picture = heat_map(np.array([-0.5, 1.0, np.nan]))
    assert picture is not None
    assert picture[1:] == (-0.5, 1.0)
    png = base64.b64decode(picture.address.split(",")[1])
    place = png.index(b"IDAT") + 4
    shades = zlib.decompress(png[place:])[1:]
    assert (shades[0], shades[1], shades[2]) == (1, 255, 0)


def test_lines_change_when_values_do_and_keep_no_promise_alive() -> None:
    first, second, held = tfrt.unavailable(), tfrt.unavailable(), tfrt.unavailable()
    parts: list[tuple[str, object]] = [("a", first), ("b", second), ("c", held), ("d", 5)]
    lines, marks = Lines(parts), []
    lines.follow(parts, lambda: marks.append(1))
    assert lines.take() == {}
    first.set_result(7)
    dropped = weakref.ref(second)
    del parts, second
    gc.collect()
    assert dropped() is None
    assert len(marks) == 2
    assert {place: line.state for place, line in lines.take().items()} == {
        0: "available",
        1: BROKEN,
    }
    assert not lines.is_over
    held.set_result(1)
    lines.take()
    assert lines.is_over


def test_ten_thousand_displays_leave_nothing_behind() -> None:
    def alive() -> int:
        gc.collect()
        return sum(isinstance(one, AsyncValue | Lines) for one in gc.get_objects())

    before = alive()
    for number in range(10_000):
        value = tfrt.unavailable()
        lines = Lines([("value", value)])
        lines.follow([("value", value)], lambda: None)
        value.set_result(number)
        assert lines.take()[0].text == str(number)
    del value, lines
    assert alive() == before


@pytest.fixture(scope="module")
def kernel() -> Iterator[FrontEnd]:
    with started(LOAD) as front_end:
        yield front_end


def shown(messages: list[dict[str, Any]], kind: str) -> list[Any]:
    return [content["data"]["text/plain"] for content in of_type(messages, kind)]


def test_a_page_hears_of_each_change_and_of_the_end(kernel: FrontEnd) -> None:
    first = kernel.run("v, w = tfrt.unavailable(), tfrt.unavailable()\n[v, w, 1]", is_page=True)
    assert shown(first, "display_data") == ["○ [0] unavailable\n○ [1] unavailable\n● [2] = 1"]
    changed = [
        one["data"] for one in of_type(kernel.run("v.set_result(4)", is_page=True), "comm_msg")
    ]
    assert [list(one["lines"]) for one in changed] == [["0"]]
    assert changed[0]["status"] == "running"
    ended = kernel.run("w.set_exception(ValueError('no'))", is_page=True)
    assert shown(ended, "update_display_data") == [
        "● [0] = 4\n▲ [1] error: ValueError: no\n● [2] = 1"
    ]
    (last,) = [one["data"] for one in of_type(ended, "comm_msg")]
    assert last["status"] == "done"
    assert last["bundle"][RUN_MIME]["run"] == changed[0]["run"]
    # A page that is opened later has to ask.
    assert kernel.ask({"run": last["run"]})["lines"]["0"]["text"] == "4"


def test_a_value_that_is_there_is_no_live_output(kernel: FrontEnd) -> None:
    messages = kernel.run("tfrt.gather(1, 2)", is_page=True)
    assert shown(messages, "execute_result") == ["● value = (1, 2)"]
    assert of_type(messages, "display_data") == of_type(messages, "comm_msg") == []
    (result,) = of_type(messages, "execute_result")
    assert set(result["data"]) == {RUN_MIME, "text/html", "text/plain"}
    assert shown(kernel.run("[1, 2]", is_page=True), "execute_result") == ["[1, 2]"]


def test_a_dropped_promise_is_said_to_be_broken(kernel: FrontEnd) -> None:
    messages = kernel.run("display(tfrt.unavailable())", is_page=True)
    (said,) = shown(messages, "update_display_data")
    assert said.startswith(
        "✕ value broken: the value created here was dropped unresolved, at Cell In["
    )
    assert said.endswith("], line 1")


def test_1000_values_are_quick_and_their_messages_few(kernel: FrontEnd) -> None:
    seconds = kernel.run(
        "many = [tfrt.unavailable() for _ in range(1000)]\nt = time.perf_counter()\n"
        "display(many)\nprint(time.perf_counter() - t)",
        is_page=True,
    )
    assert float(printed(seconds)) < 1.0  # 0.1 s on an idle machine
    start = time.monotonic()
    messages = kernel.run("for one in many: one.set_result(1); time.sleep(0.002)", is_page=True)
    took = time.monotonic() - start
    assert 1 < len(of_type(messages, "comm_msg")) <= 35 * took
    assert shown(messages, "update_display_data")[-1].endswith("1000 values: 1,000 available")


def test_unresolved_values_cost_nothing(kernel: FrontEnd) -> None:
    code = """many = [tfrt.unavailable() for _ in range(40)]
for one in many: display(one)
time.sleep(0.5); before = time.process_time(); time.sleep(2); print(time.process_time() - before)
for one in many: one.set_result(1)"""
    assert float(printed(kernel.run(code, is_page=True))) < 0.1  # 0.01 on an idle machine


def test_the_value_of_a_cell_is_its_run(kernel: FrontEnd) -> None:
    program = (
        "%%tfrt\nfunc.func @main() -> i32 {\n  %a = tfrt.constant.i32 3\n  tfrt.return %a : i32\n}"
    )
    messages = kernel.run(program, is_page=True)
    assert len(of_type(messages, "display_data")) == 1
    assert of_type(messages, "execute_result") == []
    code = (
        "run = _\nprint(run.result(), run.results, run is tfrt.last_run(), run is "
        "list(Out.values())[-1])"
    )
    said = printed(kernel.run(code, is_page=True))
    assert said == "3 (<AsyncValue i32 available 3>,) True True\n"
    again = kernel.run(
        "run", is_page=True
    )  # in one form or the other, because the run may have finished at once
    (board,) = of_type(again, "display_data") + of_type(again, "execute_result")
    (first,) = of_type(messages, "display_data")
    assert board["data"][RUN_MIME]["run"] == first["data"][RUN_MIME]["run"]
    failing = program.replace(
        "@main() -> i32 {",
        "@main() -> i32 {\n  %z = tfrt.constant.i32 0\n  %q, %r = tfrt.div.i32 %z, %z",
    )
    failing = failing.replace("tfrt.return %a", "tfrt.return %q")
    assert of_type(kernel.run(failing, is_page=True), "error") != []
    said = printed(kernel.run("print(_, tfrt.last_run())", is_page=True))
    assert said.endswith("<CellRun @main failed, 1 result>\n")


def test_a_run_that_python_started_is_a_board_that_ends(kernel: FrontEnd) -> None:
    code = """late = tfrt.unavailable()
run = tfrt.Program('func.func @main(%a: i32) -> i32 {\\n  tfrt.return %a : i32\\n}').run(late)
run"""
    (board,) = of_type(kernel.run(code, is_page=True), "display_data")
    assert board["data"][RUN_MIME]["status"] == "running"
    messages = kernel.run("late.set_result(8); time.sleep(0.3)", is_page=True)
    (end,) = of_type(messages, "update_display_data")
    assert "8" in end["data"]["text/plain"]
    assert end["transient"] == board["transient"]
    (static,) = of_type(kernel.run("run", is_page=True), "execute_result")
    assert static["data"][RUN_MIME]["status"] == "done"


def test_a_page_without_the_extension_is_waited_for_once(kernel: FrontEnd) -> None:
    with started(LOAD, is_ours=False) as other:
        times, questions = [], []
        for _ in range(2):
            code = (
                "v = tfrt.unavailable(); t = time.perf_counter(); display(v); "
                "print(time.perf_counter() - t)"
            )
            messages = other.run(code, is_page=True)
            times.append(float(printed(messages)))
            sent = [one["data"] for one in of_type(messages, "comm_msg")]
            questions.append(sent.count({"who": True}))
        # Count questions, because the first display imports widgets, which takes long if busy.
        assert times[0] >= max(WHO_SECONDS, times[1]) and questions == [1, 0]
        # Without a page, the kernel asks nothing.
        assert of_type(other.run("tfrt.unavailable()", is_page=False), "comm_msg") == []
        # On any page, HTML and text are right; they may come after the cell.
        other.send("v.set_result(6)", is_page=True)
        while (message := other.client.get_iopub_msg(timeout=PATIENCE))[
            "msg_type"
        ] != "update_display_data":
            pass
        assert message["content"]["data"]["text/plain"] == "● v = 6"


def test_of_two_pages_each_gets_the_form_that_it_can_show() -> None:
    with started(LOAD) as ours:
        # Each page has its own session, by which the kernel identifies it.
        client = ours.manager.client(session=Session(key=ours.manager.session.key))
        client.start_channels()
        client.wait_for_ready(timeout=PATIENCE)
        other = FrontEnd(ours.manager, client)
        (board,) = of_type(ours.run("v = tfrt.unavailable()\nv", is_page=True), "display_data")
        (widget,) = of_type(other.run("v", is_page=True), "display_data")
        assert board["data"][RUN_MIME]["status"] == "running" and VIEW_MIME not in board["data"]
        assert VIEW_MIME in widget["data"] and RUN_MIME not in widget["data"]
        messages = ours.run("v.set_result(7); time.sleep(0.5)", is_page=True)
        ends = {
            one["transient"]["display_id"]: one["data"]
            for one in of_type(messages, "update_display_data")
        }
        for shown in (board, widget):
            end = ends[shown["transient"]["display_id"]]
            assert end["text/plain"] == "● v = 7" and VIEW_MIME not in end
        client.stop_channels()


def test_ten_thousand_values_reach_a_page_in_few_messages(kernel: FrontEnd) -> None:
    code = "many = [tfrt.unavailable() for _ in range(10_000)]\nmany"
    (shown,) = of_type(kernel.run(code, is_page=True), "display_data")
    assert len(body_of(shown)["lines"]) == 10_000
    start = time.monotonic()
    code = "for n, one in enumerate(many): one.set_result(n)\ntime.sleep(1)"
    messages = kernel.run(code, is_page=True)
    seconds = time.monotonic() - start
    sent = [one["data"] for one in of_type(messages, "comm_msg") if "lines" in one["data"]]
    assert 0 < len(sent) <= 35 * seconds + 2
    known = {place: line["text"] for one in sent for place, line in one["lines"].items()}
    assert known == {str(n): str(n) for n in range(10_000)}
    (end,) = of_type(messages, "update_display_data")
    assert {line["state"] for line in body_of(end)["lines"]} == {"available"}


def test_a_value_that_comes_between_two_cells_is_in_a_file_that_nobody_watches(
    tmp_path: Path,
) -> None:
    came = tmp_path / "came"
    code = f"""v = tfrt.unavailable()
def come():
    v.set_result(5)
    while not Slot._late: time.sleep(0.01)
    pathlib.Path({str(came)!r}).touch()
def between(_):
    get_ipython().events.unregister("post_run_cell", between)
    threading.Timer(0.2, come).start()  # nbclient knows by then that the cell is over
get_ipython().events.register("post_run_cell", between)
v"""
    cells = [f"{LOAD}\nimport pathlib\nfrom tfrt_magics.views.outlet import Slot", code, "1"]

    def wait(cell_index: int, **_: object) -> None:
        while cell_index == 1 and not came.exists():
            time.sleep(0.01)

    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3", on_cell_executed=wait).execute()
    [shown] = notebook.cells[1].outputs
    assert shown.data["text/plain"] == "● v = 5"


def test_a_file_that_nobody_watches_has_the_end() -> None:
    cells = [
        LOAD,
        "v, w = tfrt.unavailable(), tfrt.unavailable()\n[v, w]",
        "v",
        "threading.Timer(0.2, lambda: w.set_result('<b>')).start()\ntime.sleep(0.6)",
        "v.set_result(41)",
    ]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    (first,), (second,) = (notebook.cells[place].outputs for place in (1, 2))
    assert first.data["text/plain"] == "● [0] = 41\n● [1] = <b>"
    assert "&lt;b&gt;" in first.data["text/html"]
    assert second.data["text/plain"] == "● v = 41"
    assert first.data[RUN_MIME]["status"] == "done"
    assert "widgets" not in notebook.metadata
    assert len(json.dumps(notebook)) < 10_000
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert "= 41" in page and "&lt;b&gt;" in page and "</b> unavailable" not in page
