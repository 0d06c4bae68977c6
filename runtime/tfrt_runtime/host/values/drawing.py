"""What notebooks show of values, runs and programs.  The floors that draw say here how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _plain(shown: Any) -> str:
    from html import escape  # runs draw nothing

    return f"<code>{escape(repr(shown))}</code>"


DRAWING: dict[str, Callable[[Any], Any]] = {"value_html": _plain, "run_html": _plain}
"""HTML of an `AsyncValue` and of an `Execution` at this moment; `program_graph` is the graph of a program."""
