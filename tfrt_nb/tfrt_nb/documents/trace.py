"""Runs as a file that Perfetto and chrome://tracing open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfrt_nb.documents.run import RunDocument
from tfrt_runtime.executor.tracing import REGION, RUN_SCOPE, Row, Spans
from tfrt_runtime.host.tracing.events import KINDS
from tfrt_runtime.host.tracing.trace import Activity, ChromeSink, Level


def write_trace(path: str, runs: Sequence[RunDocument], level: Level = Level.DEBUG) -> int:
    """Write what ran, so far, to a file; how many kernels that were.

    Raises:
        TfrtError: if the file cannot be written.
    """
    for run in runs:
        run.update()
    begun = [run for run in runs if run.start is not None]
    sink = ChromeSink(path, min((run.start or 0 for run in begun), default=0))
    kernels = 0
    for run in begun if level > Level.NONE else ():
        for one in activities(run, level):
            sink.end(one)
            kernels += bool(one.place)
    sink.close()
    return kernels


def activities(run: RunDocument, level: Level = Level.DEBUG) -> Iterator[Activity]:
    """What a run did: itself, the calls of functions and the kernels, which have places."""
    data, workers, start = run.program.data, run.workers, run.start or 0
    functions, operations = data["functions"], data["operations"]
    is_sync = [row["kind"] == "sync" for row in functions]
    queue = run.run.request.queue
    in_sync = {row["id"] for row in operations if is_sync[row["function"]]}
    spans = Spans(in_sync, queue if queue.is_of_users else None)
    found = [*spans.take(_rows(run)), *spans.finish()]
    number = run.run.request.id << 32
    first = workers[found[0].worker] if found else "main"
    yield Activity(RUN_SCOPE, first, start, start + spans.last, number)
    # Each span comes twice: once when it began.
    for span in dict.fromkeys(found):
        begin, end = start + span.begin, start + (span.end or span.begin)
        worker = workers[span.worker]
        if span.is_call:
            name = functions[span.number]["name"] if span.number >= 0 else REGION
            yield Activity(f"Function: {name}", worker, begin, end, number + span.instance)
        elif level >= Level.DEBUG:
            row = operations[span.number]
            place = f"{run.source}:{row['line']}:{row['column']}"
            yield Activity(row["kernel"], worker, begin, end, 0, place)


def _rows(run: RunDocument) -> Iterator[Row]:
    """The events of kernels and calls; a call has the number of its function, -1 for a region."""
    columns = run.columns
    names = ("time", "kind", "op", "value", "instance", "worker")
    for time, number, op, value, instance, worker in zip(*(columns[n] for n in names), strict=True):
        kind = KINDS[number]
        if kind in ("call", "return"):
            yield time, kind, -1 if op >= 0 else value, instance, worker
        elif op >= 0:
            yield time, kind, op, instance, worker
