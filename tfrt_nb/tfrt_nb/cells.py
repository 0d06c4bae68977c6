"""Names, for messages, of the notebook cells that Python code comes from.

A notebook's kernel compiles each cell under the name of a file that it never writes.  IPython knows
which cell that is; if it was not imported, there are no cells, so it is not imported here.
"""

from __future__ import annotations

import sys
from typing import Any


def cell_of(source: str) -> str:
    """Return `Cell In[2]` for the file name of a cell's code; "" for any other file."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else getattr(ipython, "get_ipython", lambda: None)()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = None if name_of is None else name_of(source)
    return " ".join(found) if found else ""
