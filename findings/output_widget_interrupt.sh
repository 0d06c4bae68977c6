#!/usr/bin/env bash
# ipywidgets: `with Output():` swallows KeyboardInterrupt and SystemExit, so an interrupted cell goes on and ends "ok".
#
# Versions: ipywidgets 8.1.9, ipykernel 7.4.0, nbclient 0.11.0, CPython 3.11.
# Behavior: the context manager shows any exception that leaves its block, and returns True: ordinary errors, and also the
#   KeyboardInterrupt of the stop button, and SystemExit.  The next line of the cell runs, and the cell has no error.
# Why it matters: with a loop around the block, the stop button ends one round, and the loop goes on; "Run All" and
#   nbconvert take the interrupted cell for a good one.
# Workaround: catch what must end the cell inside the block, note it, and raise it again after the block.
#
# Output:
#   interrupted: round 0, round 1, round 2, the cell ended without an error
set -euo pipefail
expected='interrupted: round 0, round 1, round 2, the cell ended without an error'

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet ipywidgets==8.1.9 ipykernel==7.4.0 nbclient==0.11.0
cat >"$folder/finding.py" <<'PYTHON'
import nbformat
from nbclient import NotebookClient

SOURCE = """
from ipywidgets import Output

for round in range(3):
    with Output():
        raise KeyboardInterrupt  # as the stop button does
    print(f"round {round}", end=", ")
"""
cell = nbformat.v4.new_code_cell(SOURCE)
NotebookClient(nbformat.v4.new_notebook(cells=[cell]), allow_errors=True).execute()
printed = "".join(one.text for one in cell.outputs if one.output_type == "stream" and one.name == "stdout")
errors = [one.ename for one in cell.outputs if one.output_type == "error"]
print(f"interrupted: {printed}the cell ended {' '.join(errors) or 'without an error'}")
PYTHON
printed=$("$folder/venv/bin/python" "$folder/finding.py" 2>/dev/null)
echo "$printed"
[ "$printed" = "$expected" ] || { echo "this is another output than that of the header" >&2; exit 1; }
