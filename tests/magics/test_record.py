"""Test how a job is recorded as a run document that grows."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace

import pytest
from tests.magics.files import document_of

from tfrt_magics.bridge.record import KINDS, MAX_EVENTS, MAX_LIVE, Record
from tfrt_magics.bridge.snapshot import Snapshot, Status
from tfrt_nb.documents.events import columns_of

HEAD = {"run": "r", "session": "s", "client": "c", "cell": "one"}


@dataclass
class Log:
    """The core's log of a run; the test adds events."""

    start: int | None = None
    dropped: int = 0
    absent: list[int] = field(default_factory=list)
    workers: tuple[str, ...] = ("worker 0",)
    previews: dict[int, str] = field(default_factory=dict)
    pictures: dict[int, tuple[str, float, float]] = field(default_factory=dict)
    log: list[tuple[int, int | None, str]] = field(default_factory=list)
    new: list[tuple] = field(default_factory=list)
    without_events: dict[int, str] = field(default_factory=dict)

    def add(self, *events: tuple) -> None:
        self.start = self.start or 1000
        self.new += [
            (time, KINDS.index(kind), op, value, 1, 0, None) for time, kind, op, value in events
        ]

    def drain(self):
        rows, self.new = self.new, []
        return columns_of(rows)

    def preview(self):
        self.previews[9] = "a tensor"
        self.pictures[9] = ("data:image/png;base64,", 0.0, 1.0)

    def states(self):
        return {0: ("available", 0)}

    def counts(self):
        return {0: 1}

    def unlogged(self):
        return self.without_events


@dataclass
class Job:
    """The parts of a job that a record reads."""

    page: object
    all_logs: list[Log] = field(default_factory=lambda: [Log()])
    now: Snapshot = field(default_factory=lambda: Snapshot(Status.RUNNING, ()))

    def document(self):
        return self.page

    def ready(self):
        return None

    def logs(self):
        return self.all_logs

    def snapshot(self) -> Snapshot:
        return self.now

    standing = snapshot


@pytest.fixture
def job(fake) -> Job:
    return Job(fake.Host().document)


def kinds_of(events: dict) -> list[str]:
    return [KINDS[kind] for kind in events["kind"]]


def test_a_message_has_what_is_new_and_nothing_is_said_twice(job) -> None:
    record, (log,) = Record(job, HEAD), job.all_logs
    log.add((5, "begin", -1, None), (9, "available", -1, 3))
    log.previews[3] = "1"
    message = record.look()
    assert (message["from"], kinds_of(message["events"])) == (0, ["begin", "available"])
    assert (message["events"]["time"], message["previews"]) == ([5, 9], {3: "1"})
    assert record.look() is None

    log.log.append((11, None, "int32 = 1\n"))
    message = record.look()
    assert (message["from"], message["log"]) == (2, [[11, None, "int32 = 1\n"]])
    record.preview()
    message = record.look()
    assert message["previews"] == {9: "a tensor"}
    assert message["pictures"] == {9: ("data:image/png;base64,", 0.0, 1.0)}


def test_characters_that_one_does_not_see_are_escapes_in_the_log(job) -> None:
    record, (log,) = Record(job, HEAD), job.all_logs
    log.log.append((11, None, "a\tb \u202ecba\x1b[1m\ud800\n"))
    message = record.look()
    assert message["log"] == [[11, None, "a\tb \\u202ecba\\u001b[1m\\ud800\n"]]


def test_functions_of_a_cell_share_one_axis_and_count_on(job) -> None:
    record, (log,) = Record(job, HEAD), job.all_logs
    log.add((0, "begin", -1, None))
    record.look()
    job.all_logs.append(Log())
    job.all_logs[1].add((7, "begin", -1, None))
    job.all_logs[1].start = 1500
    events = record.look()["events"]
    assert (events["time"], events["instance"]) == ([507], [2])


def test_a_thread_that_takes_the_place_of_one_that_ended_takes_no_events_with_it(job) -> None:
    record, (log,) = Record(job, HEAD), job.all_logs
    log.workers = ("worker 0", "preview")
    log.add((0, "begin", -1, None))
    record.look()
    log.workers = ("Thread-7", "timers")
    # The second thread has no events yet: the next ones will be those of the timers.
    assert record.without_events()["workers"] == ["worker 0", "timers"]


def test_of_operations_without_events_the_run_that_knows_most_decides(job) -> None:
    job.all_logs = [
        Log(without_events={1: "unrecorded", 2: "available"}),
        Log(without_events={1: "available", 2: "error", 3: "unrecorded"}),
    ]
    record = Record(job, HEAD)
    assert record.without_events()["unlogged"] == {}  # while it runs
    job.now = Snapshot(Status.DONE, ())
    record.look()
    found = record.without_events()["unlogged"]
    assert found == {1: "available", 2: "error", 3: "unrecorded"}


def test_a_page_that_comes_late_is_given_what_it_has_not(job) -> None:
    record, (log,) = Record(job, HEAD), job.all_logs
    log.add((5, "begin", -1, None), (9, "available", -1, 0))
    record.look()
    assert kinds_of(record.since(1)["events"]) == ["available"]
    assert record.since(99)["events"]["time"] == []
    assert record.frame() == [[0, "available", "worker 0"]]


def test_of_very_many_events_the_first_and_the_newest_are_kept_and_the_rest_counted(job) -> None:
    record, (log,) = Record(job, HEAD), job.all_logs
    log.add(*((time, "begin", -1, None) for time in range(2 * MAX_EVENTS + 7)))
    message = record.look()
    assert len(message["events"]["time"]) == MAX_LIVE
    assert message["dropped"] == 7
    times = record.since(0)["events"]["time"]
    assert (times[0], times[-1], len(times)) == (0, 2 * MAX_EVENTS + 6, 2 * MAX_EVENTS)


@pytest.mark.parametrize(("dropped", "counts"), [(0, {}), (3, {"0": 1})])
def test_where_events_are_missing_a_file_says_what_was_made(job, dropped: int, counts) -> None:
    job.all_logs[0].dropped = dropped
    job.now = replace(job.now, status=Status.DONE)
    body = document_of(Record(job, HEAD).file())
    assert body["counts"] == counts


def test_a_file_has_the_whole_run_and_survives_half_a_surrogate_pair(job) -> None:
    (log,) = job.all_logs
    log.add((9, "available", -1, 0), (5, "begin", -1, None))
    log.previews[0] = "1"
    job.now = replace(job.now, status=Status.TIMED_OUT, note="\ud800")
    file = Record(job, HEAD).file()
    body = document_of(file)
    assert (file["run"], file["cell"], file["status"]) == ("r", "one", "timed-out")
    assert (file["note"], body["previews"]) == ("\\ud800", {"0": "1"})
    assert kinds_of(body["events"]) == ["begin", "available"]
    json.dumps(file).encode()
