"""The cells of a notebook that Python code comes from: their names for messages.

A notebook's kernel compiles each cell under the name of a file that it never writes.  IPython knows
which cell that is; where it was not imported there are no cells, and it is not imported here.
"""

from __future__ import annotations

import sys
from typing import Any


def cell_of(source: str) -> str:
    """`Cell In[2]` for the file name of the code of a cell; "" for any other file."""
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else getattr(ipython, "get_ipython", lambda: None)()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = None if name_of is None else name_of(source)
    return " ".join(found) if found else ""
