"""Test files with run documents: pages read what was written, and files are small."""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from typing import ClassVar

import pytest
from tests.magics.files import ROOT, document_of, documents_of

from tfrt_magics.bridge.job import Job
from tfrt_magics.bridge.live import LiveRun
from tfrt_magics.bridge.record import SMALL, Writer, column
from tfrt_magics.bridge.runtime import NotebookHost, PageProgram
from tfrt_magics.views.outlet import run_bundle
from tfrt_nb import HostContext, Program
from tfrt_nb.documents.run import RunDocument

PROGRAMS = sorted((ROOT / "tests" / "programs" / "run").rglob("*.mlir"))
EVENTS = {"kinds": ["begin"], "time": [], "kind": [], "op": [], "value": []}
EVENTS |= {"instance": [], "worker": [], "payload": []}


def chain(count: int) -> str:
    lines = [f"  %a{i} = tfrt.add.i32 %a{i - 1}, %a0\n" for i in range(1, count)]
    head = "func.func @main() -> i32 {\n  %a0 = tfrt.constant.i32 1\n"
    return f"{head}{''.join(lines)}  tfrt.return %a{count - 1} : i32\n}}"


def test_pages_read_the_program_of_every_file_as_it_was() -> None:
    bodies = [PageProgram(Program.from_source(p.read_text(), p.name)).body for p in PROGRAMS]
    bodies = [{**body, "events": EVENTS} for body in bodies]
    files = [Writer(body).written({}) for body in bodies]
    assert {*map(tuple, files)} == {("body",), ("packed",)}
    for found, body in zip(documents_of(files), bodies, strict=True):
        assert "note" not in found
        assert {name: found[name] for name in body} == body


def test_pages_read_the_events_of_every_file_as_they_were() -> None:
    events = [_run(chain(count)).data["events"] for count in (1, 3, 300)]
    files = [Writer({}).written({"events": each}) for each in events]
    assert [found["events"] for found in documents_of(files)] == events


def _run(text: str) -> RunDocument:
    program = Program.from_source(text, "cell 1")
    with HostContext("s") as host:
        run = program.run(host, watch=True)
        assert run.wait(60)
        return RunDocument(program, run)


@pytest.mark.parametrize("text", ["ü😀", "a"])
def test_a_line_that_pages_would_count_in_another_way_keeps_its_text(text: str) -> None:
    source = (
        f"func.func @f() -> i32 "
        f"{{\n  %a = tfrt.constant.i32 1 // {text}\n  tfrt.return %a : i32\n}}"
    )
    body = PageProgram(Program.from_source(source, "f.mlir")).body
    found = document_of(Writer({**body, "events": EVENTS}).written({}))
    assert found["program"] == body["program"]


@pytest.mark.parametrize(
    ("items", "written"),
    [
        ([], []),
        ([3], [3]),
        ([None, None], {"same": None, "count": 2}),
        ([True, 1], [True, 1]),
        ([1, 1.0], {"steps": [1, 0]}),
        ([5, 7, 6], {"steps": "BQACAP//"}),
        ([5, 7, 2**20], {"steps": [5, 2, 2**20 - 7]}),
        ([0.5, 60.5], {"steps": [0.5, 60]}),
        ([1e16, 0.1], [1e16, 0.1]),
        ([None, 1], [None, 1]),
    ],
)
def test_a_column_is_short_where_that_loses_nothing(items: list, written: object) -> None:
    assert column(items) == written
    assert json.dumps(column(items)) == json.dumps(written)


@pytest.mark.parametrize(
    "table",
    [{"count": 2**40, "columns": {}}, {"count": 1, "columns": {"line": {"count": 2**40}}}],
    ids=str,
)
def test_a_few_characters_that_name_very_many_rows_are_refused(table: dict) -> None:
    program = {"functions": [], "operations": table, "values": {"count": 0, "columns": {}}}
    found = document_of({"body": json.dumps({"program": program})})
    assert found["note"] == "This run cannot be read: too long"


@pytest.mark.parametrize(("count", "limit"), [(5, 7_000), (300, 50_000), (5000, 220_000)])
def test_what_a_notebook_keeps_of_a_run_is_small(count: int, limit: int) -> None:
    host = NotebookHost("s")
    program = Program.from_source(chain(count), "cell 1")
    job = Job(host.load(program), program.functions)
    job.start()
    assert job.finished.wait(60)
    bundle = LiveRun(job, Nowhere(), run_bundle).bundle()
    host.close()
    assert len(json.dumps(bundle)) < limit


class Nowhere:
    """A page that does not listen."""

    place: ClassVar = {"session": "s" * 36, "client": "c" * 36, "cell": "x" * 36}

    def send(self, message: object) -> None:
        """Drop the message."""


def test_a_large_file_is_written_twice_with_the_same_beginning() -> None:
    body = PageProgram(Program.from_source(chain(300), "cell 1")).body
    writer = Writer(body)
    first, second = (writer.written({"log": [[n, None, "x"]]}) for n in (1, 2))
    assert [*first] == [*second] == ["packed"]
    found = documents_of([first, second])
    assert [one["log"] for one in found] == [[[1, None, "x"]], [[2, None, "x"]]]
    assert found[0]["program"] == found[1]["program"] == body["program"]


def test_a_file_of_an_earlier_build_is_read_as_it_is() -> None:
    body = {**PageProgram(Program.from_source(chain(300), "cell 1")).body, "events": EVENTS}
    text = json.dumps(body)
    assert len(text) > SMALL
    packed = b64encode(zlib.compress(text.encode())).decode()
    for found in documents_of([{"packed": packed}, {"body": body}, {"body": text}]):
        assert {name: found[name] for name in body} == body
