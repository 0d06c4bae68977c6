"""The outcomes of all schedules of a function, as text and as a run document."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tfrt_magics.bridge.record import MAX_STAGES, Document, Json, Writer
from tfrt_magics.bridge.runtime import PageProgram
from tfrt_nb.documents.escapes import visible
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.programs import Program
from tfrt_nb.schedules.explore import Explorer
from tfrt_nb.schedules.outcomes import MAX_SHOWN, Outcome, Schedules


@dataclass(frozen=True, slots=True)
class Explored:
    """The outcomes of a function, in the two forms in which a notebook shows them.

    `text` is for readers without a board. `body` is for the board: it is the content of a run
    document, with the outcomes under the key `outcomes`.
    """

    text: str
    body: Document

    def file(self, place: Mapping[str, Json]) -> dict[str, Json]:
        """Return the run document in the file format.

        `place` identifies the cell to which the document belongs.
        """
        head: dict[str, Json] = {"version": 2, "run": uuid.uuid4().hex, **place}
        return {**head, "status": "done", "note": "", **Writer({}).written(self.body)}


def explored(program: Program, function: str, arguments: Sequence[object]) -> Explored:
    """Find all outcomes of a function within the usual limits, and one run for each outcome.

    Raises:
        TfrtError: if the program cannot be loaded, or `arguments` do not match the function's
            parameters.
    """
    page = PageProgram(program)
    with Explorer(program, function, arguments, page.document) as explorer:
        found = explorer.explore()
        shown = list(found.outcomes.items())[:MAX_SHOWN]
        rows = [_row(program, page, explorer, function, *each) for each in shown]
    text = found.text(page.document)
    races = [[race.first, race.second] for race in found.races]
    counts = {"count": len(found.outcomes), "schedules": found.schedules, "races": races}
    stages = page.stages()
    size = sum(len(row["text"]) for row in stages["rows"])
    body = {
        **page.body,
        **({"stages": stages} if 0 < size <= MAX_STAGES else {}),
        **(rows[0]["run"] if rows else {}),
        "functions": [{"name": function, "status": "done"}],
        "outcomes": {"rows": rows, "is_complete": found.is_complete, **counts},
    }
    return Explored(text, body)


def _row(
    program: Program,
    page: PageProgram,
    explorer: Explorer,
    function: str,
    outcome: Outcome,
    found: Schedules,
) -> dict[str, Any]:
    """Return the row of an outcome, with a run that produces this outcome."""
    run, _ = explorer.replay(found.choices)
    data = RunDocument(program, run, page.document).data
    return {
        "values": [visible(value) for value in outcome.values],
        "printed": visible(outcome.printed),
        "errors": [visible(message) for message in outcome.errors],
        "schedules": found.count,
        "order": found.operations,
        "other": found.other,
        "run": {
            **{
                name: data[name]
                for name in ("events", "workers", "dropped", "previews", "unlogged")
            },
            "log": [[time, operation, visible(text)] for time, operation, text in data["log"]],
            "functions": [{"name": function, "status": "failed" if outcome.errors else "done"}],
        },
    }
