#!/usr/bin/env bash
# cloudpickle: a function that was sent has lost the name of its file, so remote tracebacks have lines without a file.
#
# Versions: cloudpickle 3.1.3 against 3.1.1, CPython 3.11.
# Behavior: cloudpickle 3.1.1 keeps the name of the file of a function that it pickles by value (of __main__, of a notebook, a
#   lambda).  3.1.3 puts "<dynamic-code>" in its place.  The line number stays.
# Why it matters: all that sends functions to other processes (Dask, Ray, joblib, Spark) shows tracebacks with a line and no
#   file, and without the text of the line, even where the file is on the same disk.
# Workaround: after loading, `function.__code__ = function.__code__.replace(co_filename=NAME)`, with the name sent beside it.
#
# Output:
#   3.1.1: File "main.py", line 2, in share
#   3.1.3: File "<dynamic-code>", line 2, in share
set -euo pipefail
expected='3.1.1: File "main.py", line 2, in share
3.1.3: File "<dynamic-code>", line 2, in share'

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
cat >"$folder/main.py" <<'PYTHON'
def share(x):
    return 1 / x


if __name__ == "__main__":
    import sys

    import cloudpickle

    sys.stdout.buffer.write(cloudpickle.dumps(share))
PYTHON
cat >"$folder/worker.py" <<'PYTHON'
import pickle
import sys
import traceback
from importlib.metadata import version
from pathlib import Path

share = pickle.load(sys.stdin.buffer)
try:
    share(0)
except ZeroDivisionError as problem:
    (frame,) = traceback.extract_tb(problem.__traceback__)[1:]
    print(f'{version("cloudpickle")}: File "{Path(frame.filename).name}", line {frame.lineno}, in {frame.name}')
PYTHON
cd "$folder"
printed=$(
    for version in 3.1.1 3.1.3; do
        venv/bin/pip install --quiet "cloudpickle==$version"
        venv/bin/python main.py | venv/bin/python worker.py
    done
)
echo "$printed"
[ "$printed" = "$expected" ] || { echo "this is another output than that of the header" >&2; exit 1; }
