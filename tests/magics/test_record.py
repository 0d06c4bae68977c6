"""A job as a run document that grows."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field, replace

import pytest

from tfrt_magics.bridge.record import KINDS, Record
from tfrt_magics.bridge.snapshot import Row, Section, Snapshot, State, Status

HEAD = {"run": "r", "session": "s", "client": "c", "cell": "one"}


@dataclass
class Job:
    """What a record looks at."""

    page: object
    rows: list[Row] = field(default_factory=list)
    now: Snapshot = field(default_factory=lambda: Snapshot(Status.RUNNING, ()))

    def document(self):
        return self.page

    def snapshot(self) -> Snapshot:
        return replace(self.now, sections=(Section("main", self.now.status, tuple(self.rows)),))


def row(number: int, state: State = State.AVAILABLE, text: str = "1", **more: object) -> Row:
    return Row(f"%{number}", "i32", state, text, register=(0, number), **more)


@pytest.fixture
def job(fake) -> Job:
    return Job(fake.Host().document)


def kinds_of(events: dict) -> list[str]:
    return [KINDS[kind] for kind in events["kind"]]


def test_a_message_has_what_is_new_and_nothing_is_said_twice(job) -> None:
    record = Record(job, HEAD)
    job.rows.append(row(3, worker="worker 0", started_ns=5, resolved_ns=9))
    message = record.look()
    assert (message["from"], kinds_of(message["events"])) == (0, ["begin", "available"])
    assert message["events"]["time"] == [5, 9]
    assert message["previews"] == {3: "1"}
    assert record.look() is None

    job.now = replace(job.now, log="int32 = 1\n", elapsed_ns=7)
    message = record.look()
    assert (message["from"], message["log"]) == (2, [[7, None, "int32 = 1\n"]])


def test_a_page_that_comes_late_is_given_what_it_has_not(job) -> None:
    record = Record(job, HEAD)
    job.rows.append(row(0, worker="worker 0", started_ns=5, resolved_ns=9))
    record.look()
    assert kinds_of(record.since(1)["events"]) == ["available"]
    assert record.since(99)["events"]["time"] == []
    assert record.frame() == [[0, "available", "worker 0"]]


def test_a_file_has_the_whole_run_and_survives_half_a_surrogate_pair(job) -> None:
    job.rows.append(row(0, text="\ud800", worker="worker 0", started_ns=5, resolved_ns=9))
    job.now = replace(job.now, status=Status.TIMED_OUT)
    file = Record(job, HEAD).file()
    body = json.loads(zlib.decompress(base64.b64decode(file["packed"])))
    assert (file["run"], file["cell"], file["status"]) == ("r", "one", "timed-out")
    assert body["previews"] == {"0": "?"}
    assert kinds_of(body["events"]) == ["begin", "available"]
    json.dumps(file).encode()
