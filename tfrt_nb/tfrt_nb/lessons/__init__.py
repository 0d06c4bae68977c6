"""The exercises of the tutorials, one module for each notebook.

`slow` has kernels that take their time, which notebooks import; then `l00_start` to `l12_python`, which `load`
makes known.  A module holds what its notebook asks: the check,
right answers, the wrong answers that learners give, and the reason.
"""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files


def load() -> None:
    """Import the kernels and every lesson, so that its exercises can be found."""
    import_module(f"{__name__}.slow")
    for one in sorted(file.name for file in files(__name__).iterdir()):
        if one.startswith("l") and one.endswith(".py"):
            import_module(f"{__name__}.{one.removesuffix('.py')}")
