"""Test values and runs as ipywidgets without a page: what is sent, and what is left behind."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import ipywidgets
import pytest
from ipywidgets.widgets import widget as registry

import tfrt_nb as tfrt
from tfrt_magics.bridge.record import RUN_MIME
from tfrt_magics.live import widgets
from tfrt_magics.live.display import show_in_widget, show_run_in_widget
from tfrt_magics.live.lines import Line, parts_of
from tfrt_magics.live.widgets import FEED, KEPT, VIEW_MIME, BoardWidget, ValuesWidget
from tfrt_nb.programs import Program

PATIENCE = 30
RUN = """func.func @main(%n: i32) -> (i32, i32) {
  %a = tfrt.constant.i32 3
  tfrt.return %n, %a : i32, i32
}"""
HOSTILE = "<img src=x onerror=alert(1)>\u202e\x00\ud800"


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Check that no test leaves a widget or its layout behind."""
    before = set(registry._instances)
    yield
    for name in set(registry._instances) - before:
        if (one := registry._instances.get(name)) is not None:
            one.close()
    widgets._kept.clear()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The updates of widgets that pages would get, in order."""
    found: list[dict[str, Any]] = []
    before = ipywidgets.Widget._send

    def send(self: Any, message: dict[str, Any], buffers: Any = None) -> None:
        found.append(message)
        before(self, message, buffers)

    monkeypatch.setattr(ipywidgets.Widget, "_send", send)
    return found


def ended(widget: Any) -> Any:
    assert widget.over.wait(PATIENCE)
    FEED.drain(PATIENCE)
    return widget


def test_a_widget_follows_its_value_and_its_observers_see_all_of_it() -> None:
    value = tfrt.unavailable()
    widget = value.widget("answer")
    seen: list[tuple[object, ...]] = []
    widget.observe(lambda change: seen.append((change.new, widget.value, widget.text)), "state")
    assert isinstance(widget, ipywidgets.DOMWidget)
    assert (widget.state, widget.value, widget.elapsed) == ("unavailable", None, None)
    value.set_result(42)
    assert seen == [] or seen == [("available", 42, "42")]
    ended(widget)
    assert seen == [("available", 42, "42")]
    assert 0 <= widget.elapsed < PATIENCE
    assert repr(widget) == "<AsyncValueWidget: 42>"


def test_errors_cancellations_and_broken_promises_say_what_they_are() -> None:
    values = [tfrt.unavailable() for _ in range(3)]
    failed, cancelled, broken = (one.widget() for one in values)
    values[0].set_exception(ValueError("no such page"))
    values[1].cancel()
    del values[2]
    gc.collect()
    assert [ended(one).state for one in (failed, cancelled, broken)] == [
        "error",
        "cancelled",
        "broken",
    ]
    assert "no such page" in failed.error
    assert "dropped unresolved" in broken.error
    assert failed.value is None


def test_a_thousand_values_are_one_widget_that_sends_what_changed(sent: list[Any]) -> None:
    values = [tfrt.unavailable() for _ in range(1000)]
    before = len(registry._instances)
    widget = ValuesWidget(parts_of(values))
    assert len(registry._instances) - before == 2  # the widget and its layout
    values[7].set_result(70)
    FEED.drain(PATIENCE)
    changes = [one["state"]["changed"] for one in sent if "changed" in one.get("state", {})]
    (row,) = [change.pop("7") for change in changes]
    assert changes == [{}]
    assert (row.pop("elapsed") >= 0, row) == (
        True,
        {"name": "[7]", "state": "available", "text": "70"},
    )
    assert widget.get_state()["rows"][7]["text"] == "70"  # what a page gets if it is opened later
    for place, value in enumerate(values):
        if place != 7:
            value.set_result(place)
    ended(widget)
    assert widget.value[:3] == (0, 1, 2)
    assert widget.text == "1000 values: 1,000 available"


def test_runs_and_batches_say_how_their_results_stand_together() -> None:
    program = Program.from_source(RUN, "cell")
    assert ended(program.run(1).widget()).value == (1, 3)
    assert ended(program.map([1, 2]).widget()).value == (1, 3, 2, 3)


def test_they_compose() -> None:
    value = tfrt.unavailable()
    label = ipywidgets.Label("nothing")
    widget = value.widget()
    ipywidgets.dlink((widget, "text"), (label, "value"))
    box = ipywidgets.Tab([ipywidgets.VBox([widget]), ipywidgets.HBox([widget, label])])
    ipywidgets.jslink((widget, "text"), (label, "value"))
    value.set_result(2718)
    ended(widget)
    assert label.value == "2718"
    assert box.children[0].children == (widget,)


def test_what_a_page_sets_is_set_back(sent: list[Any]) -> None:
    promise = tfrt.unavailable()
    widget = promise.widget()
    widget.set_state({"state": "available", "text": "forged", "tooltip": "mine"})
    assert (widget.state, widget.text, widget.tooltip) == ("unavailable", "", "mine")
    assert sent[-1]["state"] == {"state": "unavailable", "text": ""}


@pytest.mark.parametrize(
    ("result", "on_page"),
    [(float("nan"), None), (2**70, None), ("x" * 20_000, None), (True, True), ([1], None)],
)
def test_a_page_gets_only_values_that_it_can_hold(result: object, on_page: object) -> None:
    value = tfrt.unavailable()
    widget = value.widget()
    value.set_result(result)
    assert ended(widget).get_state("value") == {"value": on_page}


def test_hostile_text_stays_text() -> None:
    value = tfrt.unavailable()
    widget = value.widget(HOSTILE)
    value.set_exception(ValueError(HOSTILE))
    state = str(ended(widget).get_state(["text", "error", "place", "value"]))
    assert not {"\u202e", "\x00", "\ud800"} & set(state)


def test_a_widget_keeps_neither_its_promise_nor_its_value_alive() -> None:
    promise = tfrt.unavailable()
    reference = weakref.ref(promise)
    widget = promise.widget()
    promise.set_result(1)
    ended(widget)
    del promise
    gc.collect()
    assert reference() is None


def test_a_closed_widget_is_gone_with_its_layout_and_its_value_goes_on() -> None:
    before = set(registry._instances)
    value = tfrt.unavailable()
    widget = value.widget()
    reference = weakref.ref(widget)
    widget.close()
    del widget
    gc.collect()
    assert set(registry._instances) == before
    assert reference() is None
    value.set_result(1)
    FEED.drain(PATIENCE)


def test_other_values_take_the_place_of_those_before() -> None:
    first, second = tfrt.unavailable(), tfrt.unavailable()
    widget = ValuesWidget(parts_of([first, first]))
    widget.show(parts_of(second))
    first.set_result(1)
    FEED.drain(PATIENCE)
    assert (widget.state, len(widget.rows)) == ("unavailable", 1)
    second.set_result(2)
    assert ended(widget).value == 2


def texts(lines: Sequence[Line]) -> dict[str, Any]:
    """Return the display data of these lines of code."""
    return {"text/plain": " ".join(line.text for line in lines)}


def test_a_board_answers_only_questions_about_events(sent: list[Any]) -> None:
    gate = tfrt.unavailable()
    widget = Program.from_source(RUN, "cell").run(gate).widget()
    del sent[:]
    for question in ({"cancel": "x"}, {"from": "0"}, {"from": 0}):
        widget._handle_custom_msg(question, [])
    assert [one["content"]["tfrt"]["status"] for one in sent] == ["running"]
    gate.set_result(1)
    ended(widget)


class Output:
    """Records what a notebook publishes."""

    def __init__(self, shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.published: list[tuple[dict[str, Any], bool]] = []
        monkeypatch.setattr(shell.display_pub, "publish", self.publish)

    def publish(self, data: Any, metadata: Any = None, *, update: bool = False, **_: Any) -> None:
        self.published.append((data, update))


def test_an_output_is_a_widget_and_then_html_and_leaves_nothing(
    notebook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, before = Output(notebook, monkeypatch), set(registry._instances)
    for number in range(20):
        value = tfrt.unavailable()
        show_in_widget(parts_of(value), texts)
        value.set_result(number)
    FEED.drain(PATIENCE)
    assert set(registry._instances) == before
    first = [data for data, is_update in output.published if not is_update]
    last = [data for data, is_update in output.published if is_update]
    assert all(VIEW_MIME in data for data in first)
    assert [data["text/plain"] for data in last] == [str(number) for number in range(20)]


def test_a_dropped_promise_is_reported_by_its_output(
    notebook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = Output(notebook, monkeypatch)
    show_in_widget(parts_of(tfrt.unavailable()), lambda lines: {"text/plain": lines[0].state})
    gc.collect()
    FEED.drain(PATIENCE)
    assert output.published[-1] == ({"text/plain": "broken"}, True)


def test_a_run_is_a_board_and_then_html(notebook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = tfrt.unavailable()
    run = Program.from_source(RUN, "cell").run(gate)
    output = Output(notebook, monkeypatch)
    show_run_in_widget(run)
    ((first, _),) = output.published
    assert VIEW_MIME in first
    assert RUN_MIME not in first  # our extension would draw it, and would not be told when it ends
    gate.set_result(7)
    run.wait(PATIENCE)
    FEED.drain(PATIENCE)
    assert output.published[-1][1]
    assert RUN_MIME in output.published[-1][0]


def test_a_run_that_is_over_as_it_is_shown_keeps_its_document(
    notebook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = Output(notebook, monkeypatch)
    run = Program.from_source(RUN, "cell").run(7)
    run.wait(PATIENCE)
    show_run_in_widget(run)
    FEED.drain(PATIENCE)
    (first, _), (last, is_update) = output.published
    assert (RUN_MIME in first, RUN_MIME in last, is_update) == (False, True, True)


def test_a_board_sends_what_changes_and_gives_late_pages_all_of_it(sent: list[Any]) -> None:
    gate = tfrt.unavailable()
    run = Program.from_source(RUN, "cell").run(gate)
    widget = run.widget()
    assert isinstance(widget, BoardWidget)
    assert widget.get_state()["run"]["status"] == "running"
    gate.set_result(7)
    ended(widget)
    assert widget.get_state()["run"]["status"] == "done"
    assert (widget.value, widget.state) == ((7, 3), "available")
    kinds = [one["method"] for one in sent if one["method"] == "custom" or "run" in one["state"]]
    assert kinds[-1] == "update"


@pytest.mark.parametrize("place", ["voila", "an Output"])
def test_a_widget_stays_where_its_output_cannot_be_replaced(
    place: str, notebook: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    Output(notebook, monkeypatch)
    if place == "voila":
        monkeypatch.setenv("SERVER_SOFTWARE", "voila/0.5.13")
    else:
        ipywidgets.Output().msg_id = "a cell"
    value = tfrt.unavailable()
    show_in_widget(parts_of(value), texts)
    value.set_result(5)
    FEED.drain(PATIENCE)
    (kept,) = widgets._kept
    assert kept.comm is not None
    assert KEPT > 1


def test_marimo_gets_a_widget_and_then_html() -> None:
    value = tfrt.unavailable()
    assert isinstance(value._display_(), ValuesWidget)
    value.set_result(42)
    mime, html = value._display_()._mime_()
    assert mime == "text/html"
    assert "42" in html


def test_without_widgets_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['anywidget'] = None\nimport tfrt_nb\n"
        "try: tfrt_nb.unavailable().widget()\nexcept ImportError as problem: print(problem)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == (
        "a widget needs ipywidgets and anywidget: pip install ipywidgets anywidget"
    )


def test_threads_that_resolve_values_never_speak_to_pages(sent: list[Any]) -> None:
    speakers: set[str] = set()
    values = [tfrt.unavailable() for _ in range(200)]
    widget = ValuesWidget(parts_of(values))
    widget.observe(lambda _: speakers.add(threading.current_thread().name), "text")

    def resolve(part: list[Any]) -> None:
        for value in part:
            value.set_result(1)

    threads = [threading.Thread(target=resolve, args=(values[i::4],)) for i in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    ended(widget)
    assert speakers == {"tfrt-pump"}
