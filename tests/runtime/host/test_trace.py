"""Test tracing: levels, requests, and the output of the sinks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.tracing.trace import (
    CHROME_BATCH,
    MAX_ACTIVITIES,
    Activity,
    ChromeSink,
    DebugSink,
    Level,
    SimpleSink,
    Tracing,
)


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


def test_a_level_has_a_name() -> None:
    assert [Level.of(name) for name in ("none", "Default", "VERBOSE", "debug")] == list(Level)
    with pytest.raises(TfrtError, match="expected none, default, verbose, debug"):
        Level.of("loud")


# --- the simple sink ---


def test_the_simple_sink_writes_what_it_kept_when_it_is_closed(lines: list[str]) -> None:
    sink = SimpleSink(lines.append, lambda: 1000)
    for name, begin, end in (("outer", 2000, 7000), ("inner", 3000, 4500), ("open", 8000, None)):
        sink.begin(Activity(name, "main", begin, end))
    sink.event(Activity("here", "worker 1", 9000, 9000))
    before = list(lines)
    sink.close()

    assert before == []
    assert lines == [
        "main: 3 activities\n",
        "  1.0 us, 5.0 us: outer\n",
        "  2.0 us, 1.5 us: inner\n",
        "  7.0 us: open\n",
        "worker 1: 1 activities\n",
        "  8.0 us: here\n",
    ]


def test_the_simple_sink_keeps_the_first_activities_of_each_thread(lines: list[str]) -> None:
    sink = SimpleSink(lines.append)
    for number in range(MAX_ACTIVITIES + 5):
        sink.event(Activity(str(number), "other", 0, 0))
    sink.event(Activity("mine", "main", 0, 0))
    sink.close()

    heads = [line for line in lines if not line.startswith(" ")]
    assert heads == [f"other: {MAX_ACTIVITIES} activities\n", "main: 1 activities\n"]
    assert lines[MAX_ACTIVITIES].endswith(": 99\n")


# --- the Chrome sink ---


def events(path: Path) -> list[dict[str, object]]:
    trace = json.loads(path.read_text())
    assert isinstance(trace["traceEvents"], list)
    return trace["traceEvents"]


def test_a_chrome_trace_has_calls_kernels_events_and_names_of_threads(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    sink = ChromeSink(path, 1000)
    main = Activity("Function: main", "main", 2000, 6000, id=5)
    inner = Activity("kernel", "worker 1", 3000, 5000, place="f:1:2")
    sink.begin(main)
    sink.begin(inner)
    sink.event(Activity("here", "main", 4000, 4000))
    sink.end(inner)
    sink.end(main)
    sink.close()

    one, two = ({"pid": 1, "tid": number} for number in (1, 2))
    span = {"cat": "Function", "id": 5, "name": "Function: main", **one}
    assert events(path) == [
        {"ph": "M", "name": "thread_name", "args": {"name": "main"}, **one},
        {"ph": "i", "s": "t", "name": "here", "ts": 3.0, **one},
        {"ph": "M", "name": "thread_name", "args": {"name": "worker 1"}, **two},
        {
            "ph": "X",
            "cat": "kernel",
            "name": "kernel",
            "ts": 2.0,
            "dur": 2.0,
            **two,
            "args": {"place": "f:1:2"},
        },
        {"ph": "b", "ts": 1.0, **span},
        {"ph": "e", "ts": 5.0, **span},
    ]


def test_an_empty_chrome_trace_is_json(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    sink = ChromeSink(path)
    sink.close()
    sink.close()
    sink.event(Activity("too late", "main", 0, 0))

    assert events(path) == []


def test_long_traces_are_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    sink = ChromeSink(path)
    count = CHROME_BATCH + CHROME_BATCH // 2
    for number in range(count):
        sink.end(Activity('a "quoted"', f"worker {number % 2}", number, number))
    sink.close()

    found = events(path)
    assert len(found) == 2 + count
    assert {(event["ph"], event["tid"]) for event in found} == {
        (phase, thread) for phase in "MX" for thread in (1, 2)
    }


def test_a_full_disk_is_reported_at_the_end() -> None:
    sink = ChromeSink("/dev/full")
    for _ in range(3 * CHROME_BATCH):
        sink.event(Activity("x" * 100, "main", 0, 0))

    with pytest.raises(TfrtError, match="cannot write the trace '/dev/full': No space left"):
        sink.close()
