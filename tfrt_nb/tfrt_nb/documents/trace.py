"""Write runs as a file that Perfetto and chrome://tracing open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tfrt_nb.documents.events import OF_CODE, rows_of
from tfrt_nb.documents.run import RunDocument
from tfrt_runtime.executor.tracing import REGION, RUN_SCOPE, Row, Spans, Timing
from tfrt_runtime.host.tracing.events import KINDS
from tfrt_runtime.host.tracing.trace import Activity, ChromeSink, Level


def write_trace(path: str, runs: Sequence[RunDocument], level: Level = Level.DEBUG) -> int:
    """Write the activities recorded so far to a file, and return the number of kernels.

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
    """Yield the activities of a run, sorted by start time.

    They are the run, calls of functions, kernels with locations, and waits.
    """
    data, workers, start = run.program.data, run.workers, run.start or 0
    spans = Spans(_timings(run))
    found = [*spans.take(_rows(run)), *spans.finish()]
    number = run.run.request.id << 32
    first = workers[found[0].worker] if found else "main"
    yield Activity(RUN_SCOPE, first, start, start + spans.last, number)
    ready = _ready(run) if level >= Level.DEBUG else {}
    ended: dict[tuple[int, int | None], Activity] = {}
    # If several spans start at the same time, the longest is the outermost, so it comes first.
    # A span is in `found` twice if both its start and its end added it.
    for span in sorted(dict.fromkeys(found), key=lambda one: (one.begin, -(one.end or one.begin))):
        begin, end = start + span.begin, start + (span.end or span.begin)
        worker, id_ = workers[span.worker], number + span.id if span.id else 0
        if span.kind == "call":
            name = data["functions"][span.number]["name"] if span.number >= 0 else REGION
            yield Activity(f"Function: {name}", worker, begin, end, id_)
        elif level < Level.DEBUG:
            continue
        elif span.kind == "wait":
            name = data["operations"][span.number]["kernel"]
            yield Activity(f"wait: {name}", worker, begin, end, id_)
        else:
            row = data["operations"][span.number]
            place = f"{run.source}:{row['line']}:{row['column']}"
            one = Activity(row["kernel"], worker, begin, end, id_, place)
            if (event := ready.get((span.number, span.instance, span.begin))) is not None:
                time, thread, name = event
                moment = Activity(name, workers[thread], start + time, start + time)
                one.source = ended.setdefault((thread, time), moment)
            if not span.id:
                ended[span.worker, span.end] = one
            yield one


def _timings(run: RunDocument) -> dict[int, Timing]:
    """Return how the log records the end of each operation of host programs."""
    operations, functions = run.program.data["operations"], run.program.data["functions"]
    kernels = (kernel for one in run.run.program.functions for kernel in one.kernels)
    pairs = zip(run.program.kernels, kernels, strict=False)
    callers = {operation for operation, kernel in pairs if kernel.functions}
    kinds = ((row["id"], functions[row["function"]]["kind"]) for row in operations)
    return {
        number: "caller" if number in callers else "late"
        for number, kind in kinds
        if kind not in OF_CODE
    }


Event = tuple[int, int, str]
"""The time and the thread of an event, and its kind as a word."""


def _ready(run: RunDocument) -> dict[tuple[int, int, int], Event | None]:
    """Return the event that made each activity ready, by operation, instance, and start time.

    For most activities, this is the event that resolved the last operand. For a task, the event may
    also have resolved an awaited object, or have queued the task. If all operands of an operation
    are constants, the event is the start of the function's call.
    """
    operations, functions = run.program.data["operations"], run.program.data["functions"]
    latest: dict[tuple[int, int], Event] = {}
    awaited: dict[tuple[int, int], int] = {}
    found = {}
    for time, number, op, value, instance, worker, payload in rows_of(run.columns):
        kind, row = KINDS[number], operations[op] if op >= 0 else None
        is_code = row is not None and functions[row["function"]]["kind"] in OF_CODE
        # Compiled code does not log an object's instance.
        home = 0 if is_code else instance
        event = time, worker, kind if row is None or kind == "call" else row["kernel"]
        if row is not None and kind in ("begin", "resume"):
            needed = (*row["operands"], awaited.get((op, instance), -1))
            events = [latest.get((-1, instance)), *(latest.get((each, home)) for each in needed)]
            found[op, instance, time] = max(filter(None, events), default=None)
        elif kind == "suspend":
            awaited[op, instance] = value
        elif (kind == "enqueue" and is_code) or (kind == "call" and payload):
            latest[-1, instance] = event
        elif kind in ("available", "error") and value >= 0 and ".constant" not in event[2]:
            latest[value, home] = event
    return found


def _rows(run: RunDocument) -> Iterator[Row]:
    """Yield the events of kernels and calls.

    A call has the number of its function, or -1 for a region.
    """
    for time, number, op, value, instance, worker, _ in rows_of(run.columns):
        kind = KINDS[number]
        if kind in ("call", "return"):
            yield time, kind, -1 if op >= 0 else value, instance, worker
        elif op >= 0:
            yield time, kind, op, instance, worker
