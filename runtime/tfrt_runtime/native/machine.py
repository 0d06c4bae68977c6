"""The machine on which this process runs: Linux on some processor, or WebAssembly on a web page.

`building.machines` describes what the core needs from each machine.  Only this module and
`library.check_platform` check for a particular system.  All other code checks for features.
"""

import os
import sys

PAGE = "wasm32"
POINTER_BITS = {"x86_64": 64, "aarch64": 64, PAGE: 32}
"""The machines that the core supports, with the size of a pointer in bits."""

IS_PAGE = sys.platform == "emscripten"
"""Whether Python runs on a web page.

A page has no processes, and its files last only as long as the page.
"""
HAS_THREADS = not IS_PAGE
"""Whether threads can be started.  If not, one thread does all the work."""
HAS_WIDE_POINTERS = not IS_PAGE
"""Whether a pointer has as many bits as a word, so that CPython and the core need no adapters."""
PAGE_MEMORY = 1 << 30
"""How many bytes values may take up on a web page.

A page's memory can grow to 2 or 4 GB, and never shrinks.
"""


def this_machine() -> str:
    """Return the name of this machine.  The core may not support it."""
    return PAGE if IS_PAGE else os.uname().machine
