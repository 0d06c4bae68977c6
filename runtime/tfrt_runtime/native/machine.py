"""The machine that this process runs on: a processor with Linux, or WebAssembly in a page.

`building.machines` describes what the core needs of each.  This module and `library.check_platform`
alone ask which system it is: all else asks for what the system has.
"""

import os
import sys

PAGE = "wasm32"
POINTER_BITS = {"x86_64": 64, "aarch64": 64, PAGE: 32}
"""The machines that the core runs on."""

IS_PAGE = sys.platform == "emscripten"
"""Whether this is Python in a page: no processes, and files that end with the page."""
HAS_THREADS = not IS_PAGE
"""Whether a thread can be started.  Otherwise all work is that of the one thread."""
HAS_WIDE_POINTERS = not IS_PAGE
"""Whether a pointer is a word, so that CPython and the core call each other directly."""
PAGE_MEMORY = 1 << 30
"""Bytes that values may have in a page, whose memory grows to 2 or 4 GB and never shrinks."""


def this_machine() -> str:
    """Return the name of this machine, which may be none that the core runs on."""
    return PAGE if IS_PAGE else os.uname().machine
