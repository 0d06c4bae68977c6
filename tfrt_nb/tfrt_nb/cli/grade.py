"""`tfrt-nb grade`: the answers in notebooks, checked without a kernel."""

from __future__ import annotations

import argparse
import importlib
import sys

from tfrt_nb.cli.files import EXIT_OK, EXIT_PROBLEM, show
from tfrt_nb.exercises.exercise import grade_notebook
from tfrt_runtime.diagnostics import TfrtError, error


def execute(options: argparse.Namespace) -> int:
    """Print a line for each answer; 1 unless all are right."""
    missed = False
    sys.path.insert(0, "")  # as `python -m` does: a module of this folder
    for module in options.exercises:
        try:
            importlib.import_module(module)
        except TfrtError as problem:
            show(problem)
            return EXIT_PROBLEM
        except Exception as problem:  # noqa: BLE001  # the module of a user may raise anything
            text = f"cannot import '{module}': {type(problem).__name__}: {problem}"
            show(TfrtError(error(text)))
            return EXIT_PROBLEM
    for path in options.notebooks:
        try:
            verdicts = grade_notebook(path)
        except OSError as problem:
            show(TfrtError(error(f"cannot read '{path}': {problem.strerror}")))
            return EXIT_PROBLEM
        except TfrtError as problem:
            show(problem)
            return EXIT_PROBLEM
        missed |= not all(one.is_right for one in verdicts)
        for one in verdicts:
            print(f"{path}: {one.exercise.name}: {one.mark}")
        print(f"{path}: {sum(one.is_right for one in verdicts)} of {len(verdicts)} right")
    return EXIT_PROBLEM if missed else EXIT_OK
