"""Run programs of an archive in the page, and print each program's output as a line of JSON.

`given` has the programs' paths, relative to /packages.
"""

import contextlib
import io
import json
import os

from tfrt_nb.cli.main import main

for path in given:  # noqa: F821 - set by run.mjs
    folder, name = os.path.split(f"/packages/{path}")
    os.chdir(folder)
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = main(["run", "--work-queue", "s", name])
        except BaseException as problem:  # noqa: BLE001 - the next program runs in any case
            status, raised = -1, f"{type(problem).__name__}: {problem}"
            errors.write(raised)
    print(json.dumps([path, status, output.getvalue() + errors.getvalue()]))
