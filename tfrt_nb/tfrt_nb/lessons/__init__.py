"""The exercises of the tutorials, one module for each notebook.

`l00_start` to `l12_python`; `load` makes them known.  A module holds what its notebook asks: the check,
right answers, the wrong answers that learners give, and the reason.
"""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files


def load() -> None:
    """Import every lesson, so that its exercises can be found."""
    for one in sorted(file.name for file in files(__name__).iterdir()):
        if one.startswith("l") and one.endswith(".py"):
            import_module(f"{__name__}.{one.removesuffix('.py')}")
