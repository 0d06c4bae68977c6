"""The sinks of `tfrt-nb run --tracing-sink`."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator

from tfrt_runtime.host.tracing.trace import SINKS, Level, Tracing, TracingSink


@contextlib.contextmanager
def tracing_of(options: argparse.Namespace) -> Iterator[Tracing | None]:
    """Within: the tracing that was asked for is on.  Its sink is closed at the end."""
    sink = _sink(options)
    if sink is None:
        yield None
        return
    tracing = Tracing(sink, Level.of(options.trace_level))
    try:
        with tracing.requested():
            yield tracing
    finally:
        sink.close()


def _sink(options: argparse.Namespace) -> TracingSink | None:
    if options.tracing_sink == "debug":  # between the program's own lines, to see what came first
        return SINKS["debug"](sys.stdout.write)
    if options.tracing_sink == "simple":
        return SINKS["simple"](sys.stderr.write)
    return None
