"""What a program's text calls a register."""

from __future__ import annotations

from dataclasses import dataclass

from tfrt_runtime.diagnostics import Location


@dataclass(frozen=True, slots=True)
class NamedValue:
    """What the text calls a register, and where."""

    function: str
    """Name of the function that it is written in, also for a value inside a region."""
    name: str
    type: str
    location: Location | None
    depth: int
    """How many regions are around it within the function."""
