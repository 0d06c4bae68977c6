"""Test a run's views: text, page, and picture."""

from __future__ import annotations

import json
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from tfrt_magics.bridge.snapshot import Row, Section, Snapshot, State, Status
from tfrt_magics.views.outlet import run_bundle
from tfrt_magics.views.page import page, timeline_svg
from tfrt_magics.views.text import text_table
from tfrt_nb.documents.escapes import duration

RUN = Snapshot(
    Status.CANCELLED,
    (
        Section(
            "main",
            Status.CANCELLED,
            (
                Row("result", "i32", State.CANCELLED, is_result=True),
                Row("%a", "i32", State.AVAILABLE, "3", False, "worker 0", 5_000, 12_345_678, 2),
                Row("%b", "!t.string", State.ERROR, "<b>&", False, "worker 10", 100, 2_000_000),
                Row("%c", "i32", State.SKIPPED),
            ),
        ),
    ),
    work_queue="mstd:2",
    log="int32 = 3\n",
    log_dropped=7,
    note="interrupted",
)


def test_the_table_has_the_log_the_values_and_the_reason() -> None:
    assert text_table(RUN) == (
        "int32 = 3\n"
        "… and 7 more characters\n"
        "■ @main: cancelled, 3 of 3 values, 12.3 ms, on mstd:2\n"
        "  ■ cancelled  result          i32\n"
        "  ● available  %a      3 (×2)  i32        worker 0   5.00 µs + 12.3 ms\n"
        "  ▲ error      %b      <b>&    !t.string  worker 10  100 ns + 2.00 ms\n"
        "  ◇ skipped    %c              i32\n"
        "interrupted"
    )


def test_a_simple_board_has_no_workers_no_queue_and_no_timeline() -> None:
    simple = replace(RUN, is_simple=True)
    assert "■ @main: cancelled, 3 of 3 values, 12.3 ms\n" in text_table(simple)
    assert "  ▲ error      %b      <b>&    !t.string  100 ns + 2.00 ms\n" in text_table(simple)
    html = page(simple)
    assert "100 ns + 2.00 ms" in html
    assert [word for word in ("worker", "mstd", "<img") if word in html] == []


@pytest.mark.parametrize("shown", [text_table, page])
def test_half_a_surrogate_pair_and_control_characters_are_escapes(shown) -> None:
    text = shown(replace(RUN, log="a\ud800\x1b[2J\tb\n", note="\ud801\u202e"))
    text.encode()
    assert "a\\ud800\\u001b[2J\tb\n" in text
    assert "\\ud801\\u202e" in text


def test_columns_stay_in_line_beside_wide_characters() -> None:
    rows = tuple(Row("%a", "i32", State.AVAILABLE, text) for text in ("世界", "e\u0301", "abcd"))
    lines = text_table(Snapshot(Status.DONE, (Section("f", Status.DONE, rows),))).splitlines()
    assert lines[1:] == [
        "  ● available  %a  世界  i32",
        "  ● available  %a  e\u0301     i32",
        "  ● available  %a  abcd  i32",
    ]


def test_only_the_shapes_are_colored_and_only_when_asked() -> None:
    colored = text_table(RUN, ansi=True)
    assert "\x1b[32m●\x1b[0m available  %a" in colored
    assert "\x1b" not in text_table(RUN)


def test_a_long_list_ends_with_the_number_of_rows_left_out() -> None:
    rows = tuple(Row(f"%{place}", "i32", State.AVAILABLE) for place in range(1_000))
    long = Snapshot(Status.DONE, (Section("f", Status.DONE, rows),))
    assert text_table(long).splitlines()[-1] == "  … and 940 more values"
    assert "… and 900 more values" in page(long)


class Tags(HTMLParser):
    """Collects every tag and every attribute of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += attrs


def test_a_page_needs_no_script_no_style_sheet_and_no_network() -> None:
    found = Tags(page(RUN))
    allowed = "div p b span small table thead tbody tr th td details summary img pre"
    assert found.tags <= set(allowed.split())
    kept = {"style", "colspan", "cellpadding", "open", "alt", "src"}
    assert {name for name, _ in found.attributes} <= kept
    sources = [value for name, value in found.attributes if name == "src"]
    assert [source.split(",")[0] for source in sources] == ["data:image/svg+xml;base64"]
    assert not any("url(" in (value or "") for _, value in found.attributes)


def test_values_and_printed_text_cannot_write_html() -> None:
    assert "&lt;b&gt;&amp;" in page(RUN)
    assert "<b>&" not in page(RUN)


def test_a_long_name_leaves_room_for_the_value() -> None:
    name = "%a_name_of_which_few_need_all_the_middle_<2>"
    shown = page(
        replace(RUN, sections=(Section("main", Status.DONE, (Row(name, "i32", State.AVAILABLE),)),))
    )
    assert ">%a_name_of_which_few…_middle_&lt;2&gt;</span>" in shown
    assert f'title="{name[:-3]}&lt;2&gt;"' in shown


def test_the_timeline_has_a_lane_per_worker_and_a_bar_per_value() -> None:
    picture = ElementTree.fromstring(timeline_svg(RUN.sections[0].rows[1:3]))
    space = "{http://www.w3.org/2000/svg}"
    assert [text.text for text in picture.iter(f"{space}text")][:2] == ["worker 0", "worker 10"]
    bars = [(bar.get("stroke"), bar.get("d").count("M")) for bar in picture.iter(f"{space}path")]
    assert bars == [("#009e73", 1), ("#d55e00", 1)]


def test_twenty_pages_of_200_values_leave_room_for_their_documents_in_1_mb() -> None:
    one = RUN.sections[0].rows[1]
    rows = tuple(replace(one, name=f"%v{i}", resolved_ns=2000 * (i + 1)) for i in range(200))
    text = page(replace(RUN, sections=(replace(RUN.sections[0], rows=rows),)))
    assert text.count("<tr>") == 102
    assert 20 * len(json.dumps(text)) < 800_000


def test_a_bundle_has_every_form() -> None:
    record = SimpleNamespace(snapshot=RUN, is_stepped=False, file=lambda: {"version": 2})
    bundle = run_bundle(record)
    assert list(bundle) == ["application/vnd.tfrt.run.v2+json", "text/html", "text/plain"]
    address = bundle["text/html"].split('src="')[1].split('"')[0]
    assert b64decode(address.split(",")[1]).startswith(b"<svg ")


def test_a_page_without_the_board_says_why_a_stepped_run_stands_still() -> None:
    running = replace(RUN, status=Status.RUNNING, note="")
    record = SimpleNamespace(snapshot=running, is_stepped=True, file=lambda: {"version": 2})
    bundle = run_bundle(record)
    assert "Interrupt the cell" in bundle["text/html"]
    assert "Interrupt the cell" in bundle["text/plain"]


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (0, "0 ns"),
        (999, "999 ns"),
        (12_345, "12.3 µs"),
        (1_234_567, "1.23 ms"),
        (123_456_789, "123 ms"),
        (45 * 10**9, "45.0 s"),
    ],
)
def test_times_have_three_digits_that_matter(nanoseconds: int, text: str) -> None:
    assert duration(nanoseconds) == text
