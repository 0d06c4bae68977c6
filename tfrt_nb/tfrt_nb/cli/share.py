"""Implement `tfrt-nb share`, which prints a link to a program.

The link's fragment contains the source, encoded as base64url of UTF-8. In the page,
`views/static/link.js` decodes it. Browsers never send a fragment to a server.
"""

from __future__ import annotations

import argparse
from base64 import urlsafe_b64encode

from tfrt_nb.cli.files import decode, display_name, read_input

FRAGMENT = "#tfrt="


def execute(options: argparse.Namespace) -> int:
    """Print the link.

    Raises:
        TfrtError: if the file cannot be read as text.
    """
    text = decode(read_input(options.input), display_name(options.input))
    packed = urlsafe_b64encode(text.strip().encode()).decode().rstrip("=")
    print(f"{options.site.rstrip('/')}/lab/index.html{FRAGMENT}{packed}")
    return 0
