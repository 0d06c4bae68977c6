"""The exercises of the tutorials, one module for each notebook; the function `load()` registers
them.

Builds on `exercises`. In the order of the notebooks, in part one: `l00_start`, `l01_values`,
`l02_graph`, `l03_chains`, `l04_errors`, `l05_calls`, `l06_loops`, `l07_python`, `l08_threads`,
`l09_schedules`, `l10_downloads`; in part two: `l11_bef`, `l12_tensors`, `l13_async`,
`l14_coroutines`, `l15_references`, `l16_pass_project`. A module holds the exercises of its
notebook: for each, the check, right answers, wrong answers that learners give, and an explanation.
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
"""Former names of notebooks, mapped to their current names, both without `.ipynb`.

Saved answers import the module by its old name, and links lead to the old page.
"""


def load() -> None:
    """Import every lesson, also under its former name, so that its exercises can be found."""
    for one in sorted(file.name for file in files(__name__).iterdir()):
        if one.startswith("l") and one.endswith(".py"):
            import_module(f"{__name__}.{one.removesuffix('.py')}")
    for old, new in RENAMED.items():
        sys.modules[f"{__name__}.l{old}"] = sys.modules[f"{__name__}.l{new}"]
