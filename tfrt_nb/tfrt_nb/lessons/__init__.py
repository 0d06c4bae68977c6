"""The exercises of the tutorials, one module for each notebook; the function `load()` registers
them.

Builds on `exercises`.  As the notebooks: `l00_start`, `l01_values`, `l02_graph`, `l03_chains`,
`l04_errors`, `l05_control_flow`, `l06_threads`, `l07_bef`, `l08_tensors`, `l09_async`,
`l09b_coroutines`, `l10_references`, `l11_schedules`, `l12_python`, `l13_pass_project`.  A module
holds what its notebook asks: the check, right answers, the wrong answers that learners give, and
the reason.
"""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files


def load() -> None:
    """Import every lesson, so that its exercises can be found."""
    for one in sorted(file.name for file in files(__name__).iterdir()):
        if one.startswith("l") and one.endswith(".py"):
            import_module(f"{__name__}.{one.removesuffix('.py')}")
