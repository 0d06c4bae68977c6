"""The functions of board.js do what their Python twins do."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from tfrt_magics.bridge.stream import delta, snapshot_json

import tfrt_magics
from tfrt_magics.bridge.snapshot import Progress, Row, Section, Snapshot, State, Status, progress
from tfrt_magics.views.marks import duration

BOARD = Path(tfrt_magics.__file__).parent / "views" / "static" / "board.js"


def in_page(page, expression: str, argument: object) -> object:
    """The value of a JavaScript function of (board module, argument)."""
    source = f"data:text/javascript,{BOARD.read_text().translate(URL)}"
    return page.evaluate(
        f"async ([source, json]) => ({expression})(await import(source), JSON.parse(json))",
        [source, json.dumps(argument)],
    )


URL = {ord(character): f"%{ord(character):02x}" for character in "%#\n\r\t&"}


def test_a_delta_is_applied_as_it_was_made(browser_page) -> None:
    waiting = Row("%a", "i32", State.UNAVAILABLE)
    section = Section("main", Status.RUNNING, (waiting, waiting))
    base = Snapshot(Status.RUNNING, (section, section), "mstd:2", log="one\n")
    done = replace(waiting, state=State.AVAILABLE, text="ü", count=3)
    now = replace(
        base,
        status=Status.FAILED,
        sections=(replace(section, rows=(waiting, done), status=Status.DONE), section),
        log="one\ntwo\n",
        log_dropped=4,
        elapsed_ns=12,
        note="stopped",
    )
    applied = in_page(
        browser_page,
        "(board, [base, delta]) => board.applyDelta(base, delta)",
        [snapshot_json(base), delta(base, now)],
    )
    assert applied == snapshot_json(now)


def test_durations_are_written_alike(browser_page) -> None:
    times = [0, 1, 999, 1_000, 12_345, 1_234_567, 123_456_789, 45_000_000_000]
    written = in_page(browser_page, "(board, times) => times.map(board.duration)", times)
    assert written == [duration(time) for time in times]


def test_progress_is_counted_alike(browser_page) -> None:
    results = Section("f", Status.DONE, (Row("result", "i32", State.ERROR, is_result=True),))
    rows = tuple(Row(f"%{state}", "i32", state) for state in State)
    named = Section("g", Status.DONE, (*results.rows, *rows), Progress(5, 10))
    both = Snapshot(Status.DONE, (results, named))
    counted = in_page(
        browser_page, "(board, run) => board.progress(run.sections)", snapshot_json(both)
    )
    known = progress(both.sections)
    assert counted == [known.resolved, known.total] == [9, 16]


def test_no_text_of_a_saved_run_becomes_html(browser_page) -> None:
    """A notebook's file may say anything; the board of a saved run is drawn from it without a kernel."""
    html = "<img src=x onerror='window.ran = true'><script>window.ran = true</script>"
    row = Row(html, html, State.AVAILABLE, text=html, worker=html)
    run = Snapshot(Status.DONE, (Section(html, Status.DONE, (row,)),), html, log=html, note=html)

    drawn = in_page(
        browser_page,
        "async (board, run) => {"
        "  const node = document.createElement('div'); document.body.append(node);"
        "  board.createBoard(node, run);"
        "  await new Promise((done) => setTimeout(done, 50));"
        "  const made = node.shadowRoot ?? node;"
        "  return [made.querySelectorAll('img, script').length, window.ran ?? false,"
        "    made.textContent.includes('onerror')]; }",
        snapshot_json(run),
    )

    assert drawn == [0, False, True]
