"""`tfrt-nb share`: a program as a link, whose fragment holds the source.

The page's side is `views/static/link.js`: base64url of UTF-8.  No browser sends a fragment to a
server.
"""

from __future__ import annotations

import argparse
from base64 import urlsafe_b64encode

from tfrt_nb.cli.files import decode, display_name, read_input, show
from tfrt_runtime.diagnostics import TfrtError

FRAGMENT = "#tfrt="


def execute(options: argparse.Namespace) -> int:
    """Print the link; return 1 if the file cannot be read as text."""
    try:
        text = decode(read_input(options.input), display_name(options.input))
    except TfrtError as problem:
        show(problem)
        return 1
    packed = urlsafe_b64encode(text.strip().encode()).decode().rstrip("=")
    print(f"{options.site.rstrip('/')}/lab/index.html{FRAGMENT}{packed}")
    return 0
