"""A function's timeline as one SVG picture: a lane per worker, a bar per value."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape

from tfrt_magics.bridge.snapshot import Row, Section
from tfrt_magics.views.marks import STATES
from tfrt_nb.report import duration

WIDTH = 720
GUTTER = 96
LANE = 20
BAR = 12
# Pictures have no theme: this grey can be read on white and on black.
GREY = "#7f7f7f"
BAR_LIMIT = 300


def timeline_uri(section: Section) -> str | None:
    """The picture as a `data:` address, or None when no value has a time.

    An `<img>` with such an address survives the notebook's sanitiser; inline SVG does not.
    """
    rows = [row for row in section.rows if row.resolved_ns is not None][:BAR_LIMIT]
    if not rows:
        return None
    return "data:image/svg+xml;base64," + b64encode(timeline_svg(rows).encode()).decode()


def timeline_svg(rows: Sequence[Row]) -> str:
    """The picture of `rows`; each has a time at which it was resolved."""
    workers = sorted({row.worker or "" for row in rows}, key=_natural)
    end = max(1, *(row.resolved_ns or 0 for row in rows))
    height = LANE * len(workers) + 18
    shapes = [
        *(_lane(place, worker) for place, worker in enumerate(workers)),
        *_bars(rows, workers, end),
        *(_tick(fraction, end, height) for fraction in (0, 0.25, 0.5, 0.75, 1)),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="11">'
        f"{''.join(shapes)}</svg>"
    )


def _lane(place: int, worker: str) -> str:
    middle = place * LANE + LANE / 2
    return (
        f'<text x="0" y="{middle + 4:g}" fill="{GREY}">{escape(worker[:14])}</text>'
        f'<line x1="{GUTTER}" x2="{WIDTH - 2}" y1="{middle:g}" y2="{middle:g}" '
        f'stroke="{GREY}" stroke-opacity=".35"/>'
    )


def _bars(rows: Sequence[Row], workers: Sequence[str], end: int) -> Iterator[str]:
    """The bars of each state are one path of thick lines, as the picture is kept with every board."""
    for state, mark in STATES.items():
        if lines := [_line(row, workers, end) for row in rows if row.state is state]:
            yield (
                f'<path d="{"".join(lines)}" stroke="{mark.colour}" stroke-width="{BAR}" '
                f'stroke-opacity=".85"/>'
            )


def _line(row: Row, workers: Sequence[str], end: int) -> str:
    resolved = row.resolved_ns or 0
    left = _across(resolved if row.started_ns is None else row.started_ns, end)
    # Two pixels at least: most kernels take less time than one.
    width = max(2.0, _across(resolved, end) - left)
    middle = workers.index(row.worker or "") * LANE + LANE / 2
    return f"M{left:.1f} {middle:g}h{width:.1f}"


def _tick(fraction: float, end: int, height: int) -> str:
    anchor = "start" if fraction == 0 else "end" if fraction == 1 else "middle"
    return (
        f'<text x="{_across(int(fraction * end), end):.1f}" y="{height - 4}" fill="{GREY}" '
        f'text-anchor="{anchor}">{duration(int(fraction * end))}</text>'
    )


def _across(time: int, end: int) -> float:
    return GUTTER + (WIDTH - GUTTER - 2) * time / end


def _natural(worker: str) -> tuple[str, int]:
    """Worker 10 after worker 9."""
    words = worker.rstrip("0123456789")
    return words, int(worker[len(words) :] or 0)
