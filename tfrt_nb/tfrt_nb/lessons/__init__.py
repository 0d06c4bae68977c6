"""The exercises of the tutorials, one module for each notebook; the function `load()` registers
them.

Builds on `exercises`.  As the notebooks, in part one: `l00_start`, `l01_values`, `l02_graph`,
`l03_chains`, `l04_errors`, `l05_calls`, `l06_loops`, `l07_python`, `l08_threads`, `l09_schedules`,
`l10_downloads`; in part two: `l11_bef`, `l12_tensors`, `l13_async`,
`l14_coroutines`, `l15_references`, `l16_pass_project`.  A module
holds what its notebook asks: the check, right answers, the wrong answers that learners give, and
the reason.
"""

import sys
from importlib import import_module
from importlib.resources import files

RENAMED = {
    "05_control_flow": "05_calls",
    "06_threads": "08_threads",
    "07_bef": "11_bef",
    "08_tensors": "12_tensors",
    "09_async": "13_async",
    "10_references": "15_references",
    "11_schedules": "09_schedules",
    "12_python": "07_python",
}
"""What notebooks were called before, and are called now, without their ending.

Saved answers import the module of the old name, and links lead to the old page.
"""


def load() -> None:
    """Import every lesson, so that its exercises can be found; by its former name, too."""
    for one in sorted(file.name for file in files(__name__).iterdir()):
        if one.startswith("l") and one.endswith(".py"):
            import_module(f"{__name__}.{one.removesuffix('.py')}")
    for old, new in RENAMED.items():
        sys.modules[f"{__name__}.l{old}"] = sys.modules[f"{__name__}.l{new}"]
