"""Implement `tfrt-nb lsp`, a language server for editors."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec

from tfrt_nb.cli.files import EXIT_OK
from tfrt_runtime.diagnostics import TfrtError, error


def execute(_: argparse.Namespace) -> int:
    """Serve until the client sends `exit` or closes the stream.

    Raises:
        TfrtError: if pygls is not installed.
    """
    if find_spec("pygls") is None:
        raise TfrtError(error("pygls is not installed: pip install 'tfrt-nb[lsp]'"))
    from tfrt_nb.language.server import make_server

    # Give the server a copy of standard output, because it closes its stream at the end. Redirect
    # all other output, which would break the protocol.
    with os.fdopen(os.dup(sys.stdout.fileno()), "wb") as answers, redirect_stdout(sys.stderr):
        make_server().start_io(stdout=answers)
    return EXIT_OK
