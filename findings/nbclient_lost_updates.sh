#!/usr/bin/env bash
# nbclient with ipykernel 7.4: what an asyncio task updates during a later cell is missing in the executed notebook.
#
# Versions: nbclient 0.11.0 with ipykernel 7.4.0, against ipykernel 6.31.0, CPython 3.11.
# Behavior: a cell starts a task and shows an output with a display_id; while the next cell awaits the task, the task updates
#   that output.  ipykernel 7.4.0 sends the update in the name of the cell that started the task, 6.31.0 in that of the running
#   cell.  nbclient drops messages in the name of a cell that has ended, updates of a display_id among them.  JupyterLab shows it.
# Why it matters: the same notebook that is right in JupyterLab is stale when nbconvert, papermill, or CI runs it; no error.
# Workaround: make the last update from the running cell, or from a thread without the context of the first one.
#
# Output:
#   ipykernel 6.31.0: 'done'
#   ipykernel 7.4.0: 'begun'
set -euo pipefail
expected="ipykernel 6.31.0: 'done'
ipykernel 7.4.0: 'begun'"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
cat >"$folder/finding.py" <<'PYTHON'
from importlib.metadata import version

import nbformat
from nbclient import NotebookClient

START = """
import asyncio
from IPython.display import display

async def work():
    handle = display("begun", display_id=True)
    await asyncio.sleep(0.2)
    handle.update("done")

task = asyncio.create_task(work())
await asyncio.sleep(0)
"""
cells = [nbformat.v4.new_code_cell(source) for source in (START, "await task")]
NotebookClient(nbformat.v4.new_notebook(cells=cells)).execute()
shown = [one.data["text/plain"] for cell in cells for one in cell.outputs if "data" in one]
print(f"ipykernel {version('ipykernel')}:", *shown)
PYTHON
printed=$(
    for version in 6.31.0 7.4.0; do
        "$folder/venv/bin/pip" install --quiet nbclient==0.11.0 "ipykernel==$version" >&2
        "$folder/venv/bin/python" "$folder/finding.py" 2>/dev/null
    done
)
echo "$printed"
[ "$printed" = "$expected" ] || { echo "this is another output than that of the header" >&2; exit 1; }
