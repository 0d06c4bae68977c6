"""The machine that this process runs on: a processor with Linux, or WebAssembly on a web page.

`building.machines` describes what the core needs from each of them.  Only this module and
`library.check_platform` check for a particular system; all other code checks for features.
"""

import os
import sys

PAGE = "wasm32"
POINTER_BITS = {"x86_64": 64, "aarch64": 64, PAGE: 32}
"""The machines that the core runs on."""

IS_PAGE = sys.platform == "emscripten"
"""Whether Python runs on a web page, which has no processes, and whose files last only as long
as the page.
"""
HAS_THREADS = not IS_PAGE
"""Whether threads can be started.  Otherwise, one thread does all work."""
HAS_WIDE_POINTERS = not IS_PAGE
"""Whether a pointer is a word, so that CPython and the core call each other directly."""
PAGE_MEMORY = 1 << 30
"""How many bytes values may use on a web page, whose memory grows to 2 or 4 GB and never
shrinks.
"""


def this_machine() -> str:
    """Return the name of this machine, which the core may not support."""
    return PAGE if IS_PAGE else os.uname().machine
