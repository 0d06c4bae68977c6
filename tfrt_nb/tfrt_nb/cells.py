"""The names that messages use for notebook cells with Python code.

A notebook's kernel compiles each cell under a made-up file name, and IPython knows which cell has
that name. This module does not import IPython, because cells exist only if other code has imported
it.
"""

from __future__ import annotations

import sys
from typing import Any


def cell_of(source: str) -> str:
    """Return the label of the cell whose code has this file name, such as `Cell In[2]`.

    Return "" for any other file.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else getattr(ipython, "get_ipython", lambda: None)()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = None if name_of is None else name_of(source)
    return " ".join(found) if found else ""
