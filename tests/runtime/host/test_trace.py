"""Tracing: levels, counted requests, scopes and spans, and what each sink makes of them."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.chrome_trace import CHROME_BATCH, ChromeSink
from tfrt_runtime.host.trace import MOST_ACTIVITIES, DebugSink, Level, SimpleSink, Tracing


def ticks() -> Callable[[], int]:
    """A clock that goes on by a microsecond at each read."""
    return itertools.count(0, 1000).__next__


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def tracing(lines: list[str]) -> Tracing:
    return Tracing(DebugSink(lines.append), Level.VERBOSE)


def test_requests_are_counted(tracing: Tracing) -> None:
    seen = [tracing.is_on(Level.DEFAULT)]
    for on in (True, True, False, False, False, True):
        tracing.request(on)
        seen.append(tracing.is_on(Level.DEFAULT))

    assert seen == [False, True, True, True, False, False, True]


def test_the_sink_hears_of_its_level_and_those_below(tracing: Tracing, lines: list[str]) -> None:
    with tracing.requested():
        for level in Level:
            tracing.event(level, level.name)

    assert lines == ["Event:DEFAULT\n", "Event:VERBOSE\n"]


def test_nothing_is_told_while_nobody_asks(tracing: Tracing, lines: list[str]) -> None:
    tracing.event(Level.DEFAULT, "event")
    with tracing.scope(Level.DEFAULT, "scope"):
        tracing.begin(Level.DEFAULT, "span", 1)()

    assert lines == []


def test_scopes_close_inside_out_even_when_something_is_raised(
    tracing: Tracing, lines: list[str]
) -> None:
    with (
        tracing.requested(),
        pytest.raises(ZeroDivisionError),
        tracing.scope(Level.DEFAULT, "outer"),
    ):
        tracing.event(Level.DEFAULT, "here")
        with tracing.scope(Level.DEBUG, "too fine"), tracing.scope(Level.VERBOSE, "inner"):
            raise ZeroDivisionError

    assert lines == [
        "Scope:outer\n",
        "Event:here\n",
        "Scope:inner\n",
        "End Scope\n",
        "End Scope\n",
    ]


def test_a_scope_that_was_opened_is_closed_though_nobody_asks_any_more(
    tracing: Tracing, lines: list[str]
) -> None:
    tracing.request(True)
    with tracing.scope(Level.DEFAULT, "scope"):
        tracing.request(False)

    assert lines == ["Scope:scope\n", "End Scope\n"]


def test_a_span_ends_once(tracing: Tracing, lines: list[str]) -> None:
    with tracing.requested():
        end = tracing.begin(Level.DEFAULT, "span", 1)
    end()
    end()

    assert lines == ["Scope:span\n", "End Scope\n"]


def test_a_level_has_a_name() -> None:
    assert [Level.of(name) for name in ("none", "Default", "VERBOSE", "debug")] == list(Level)
    with pytest.raises(TfrtError, match="expected none, default, verbose, debug"):
        Level.of("loud")


# --- the simple sink ---


def test_the_simple_sink_writes_what_it_kept_when_it_is_closed(lines: list[str]) -> None:
    sink = SimpleSink(lines.append, ticks())
    sink.push("outer")
    sink.event("here")
    sink.begin("span", 7)
    sink.push("inner")
    sink.pop()
    sink.pop()
    sink.begin("open", 8)
    sink.end("span", 7)
    before = list(lines)
    sink.close()

    assert before == []
    assert lines == [
        "MainThread: 5 activities\n",
        "  1.0 us, 5.0 us: outer\n",
        "  2.0 us: here\n",
        "  3.0 us, 5.0 us: span\n",
        "  4.0 us, 1.0 us: inner\n",
        "  7.0 us: open\n",
    ]


def test_the_simple_sink_keeps_the_first_activities_of_each_thread(lines: list[str]) -> None:
    sink = SimpleSink(lines.append)

    def record() -> None:
        for number in range(MOST_ACTIVITIES + 5):
            sink.event(str(number))

    thread = threading.Thread(target=record, name="other")
    thread.start()
    thread.join()
    sink.event("mine")
    sink.close()

    heads = [line for line in lines if not line.startswith(" ")]
    assert heads == [f"other: {MOST_ACTIVITIES} activities\n", "MainThread: 1 activities\n"]
    assert re.search(r": 99$", lines[MOST_ACTIVITIES].rstrip())


# --- the Chrome sink ---


def events(path: Path) -> list[dict[str, object]]:
    trace = json.loads(path.read_text())
    assert isinstance(trace["traceEvents"], list)
    return trace["traceEvents"]


def test_a_chrome_trace_has_scopes_spans_events_and_names_of_threads(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    sink = ChromeSink(path, ticks())
    sink.begin("Function: main", 5)
    sink.push("kernel")
    sink.event("here")
    sink.pop()
    sink.end("Function: main", 5)
    sink.close()

    here = {"pid": 1, "tid": 1}
    span = {"cat": "Function", "id": 5, "name": "Function: main", **here}
    assert events(path) == [
        {"ph": "M", "name": "thread_name", "args": {"name": "main"}, **here},
        {"ph": "b", "ts": 1.0, **span},
        {"ph": "i", "s": "t", "name": "here", "ts": 3.0, **here},
        {"ph": "X", "name": "kernel", "ts": 2.0, "dur": 2.0, **here},
        {"ph": "e", "ts": 5.0, **span},
    ]


def test_an_empty_chrome_trace_is_json(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    sink = ChromeSink(path)
    sink.close()
    sink.close()
    sink.event("too late")

    assert events(path) == []


def test_long_traces_of_several_threads_are_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    sink = ChromeSink(path)
    count = CHROME_BATCH + CHROME_BATCH // 2
    both = threading.Barrier(
        2
    )  # a thread that starts late would get the number of one that is over

    def work() -> None:
        both.wait()
        for _ in range(count):
            sink.push("a")
            sink.push('b "quoted"')
            sink.pop()
            sink.pop()

    threads = [threading.Thread(target=work, name=f"worker {i}") for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sink.close()

    found = events(path)
    assert len(found) == 2 * (1 + 2 * count)
    assert {(event["ph"], event["tid"]) for event in found} == {
        (phase, thread) for phase in "MX" for thread in (1, 2)
    }


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TfrtError, match=r"cannot write the trace '.*': No such file or directory"):
        ChromeSink(tmp_path / "missing" / "trace.json")


def test_a_full_disk_is_reported_at_the_end() -> None:
    sink = ChromeSink("/dev/full")
    for _ in range(3 * CHROME_BATCH):
        sink.event("x" * 100)

    with pytest.raises(TfrtError, match="cannot write the trace '/dev/full': No space left"):
        sink.close()
