"""What notebooks show of values and runs.  The floors that draw boards say here how."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _plain(shown: Any) -> str:
    from html import escape  # runs draw nothing

    return f"<code>{escape(repr(shown))}</code>"


DRAWING: dict[str, Callable[[Any], str]] = {"value_html": _plain, "run_html": _plain}
"""HTML of an `AsyncValue` and of an `Execution` at this moment."""
