"""Run a program in this process, as `tfrt-nb run` does, for examples in the documentation."""

import io
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

from tfrt_nb.cli.main import main


def run_example(program: str, *options: str) -> str:
    """Return what `tfrt-nb run` prints for a program: the standard output, then the errors."""
    out, problems = io.StringIO(), io.StringIO()
    with TemporaryDirectory() as folder:
        path = Path(folder, "example.mlir")
        path.write_text(program, "utf-8")
        with redirect_stdout(out), redirect_stderr(problems):
            main(["run", str(path), "--timeout", "60", *options])
    printed = out.getvalue() + problems.getvalue()
    return printed.replace(str(path), path.name).removeprefix("--- Running 'main':\n").rstrip()
