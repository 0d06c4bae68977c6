"""A run as self-contained HTML: no script, no style sheet, no network, no kernel.

JupyterLab's sanitizer keeps only tables, `<details>`, images with `data:` addresses, and simple
inline styles. It strips style sheets. Therefore, colors are literal, and text takes the theme's own
color. The notebook's style sheet styles every table cell, so each cell repeats every style that it
cannot inherit from the table. Keep the HTML short, because every board in a saved notebook contains
it.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from html import escape

from tfrt_magics.bridge.snapshot import Row, Section, Snapshot
from tfrt_magics.views.text import STATES, STATUSES, Mark, headline, when
from tfrt_nb.documents.escapes import duration, visible

ROW_LIMIT = 100
NAME_WIDTH = 32
TABLE = "border-collapse:collapse;margin:0;font-family:monospace"
# The style of the first cells of a row, in single quotes because JSON escapes double quotes.
CELL = "style='text-align:left'"
HEADINGS = ("state", "name", "value", "type", "worker", "start + duration")
# The first columns contain words; the others keep the notebook's alignment of numbers.
LEFT = 4

# The picture of a timeline, in pixels.
WIDTH = 720
GUTTER = 96
LANE = 20
BAR = 12
# A picture has no theme, so use a gray that is readable on white and on black.
GRAY = "#7f7f7f"
BAR_LIMIT = 300


def page(snapshot: Snapshot) -> str:
    """Return the whole run as HTML. The reader can fold the printed text and the timelines."""
    parts = [_section(section, snapshot) for section in snapshot.sections]
    if snapshot.note:
        parts.append(f"<p>{_shape(STATUSES[snapshot.status])} {escape(visible(snapshot.note))}</p>")
    parts.append(_log(snapshot))
    return f"<div>{''.join(parts)}</div>"


def _section(section: Section, snapshot: Snapshot) -> str:
    mark = STATUSES[section.status]
    line = escape(headline(section, snapshot).removeprefix(mark.shape))
    return (
        f'<p style="margin: 8px 0 4px 0"><b>{_shape(mark)}{line}</b></p>'
        f'<div style="max-height: 420px; overflow: auto">{_table(section, snapshot)}'
        f"</div>{'' if snapshot.is_simple else _timeline(section)}"
    )


def _table(section: Section, snapshot: Snapshot) -> str:
    """Return the table of a function's values."""
    shown = [one for one in HEADINGS if one != "worker" or not snapshot.is_simple]
    lines = "".join(_row(row, snapshot) for row in section.rows[:ROW_LIMIT])
    headings = _cells("th", shown)
    if more := section.hidden.total + len(section.rows[ROW_LIMIT:]):
        lines += f'<tr><td {CELL} colspan="{len(shown)}">… and {more} more values</td></tr>'
    return (
        f'<table cellpadding="4" style="{TABLE}"><thead><tr>{headings}</tr></thead>'
        f"<tbody>{lines}</tbody></table>"
    )


def _row(row: Row, snapshot: Snapshot) -> str:
    times = f" <small>(×{row.count})</small>" if row.count > 1 else ""
    name = f"<b>{escape(row.name)}</b>" if row.is_result else _name(row.name)
    cells = (
        f"{_shape(STATES[row.state])}\N{NO-BREAK SPACE}{row.state}",
        name,
        escape(row.text) + times,
        escape(row.type),
        *([] if snapshot.is_simple else [escape(row.worker or "")]),
        when(row),
    )
    return f"<tr>{_cells('td', cells)}</tr>"


def _cells(tag: str, cells: Sequence[str]) -> str:
    styled = [f"{tag} {CELL}" if cell and place < LEFT else tag for place, cell in enumerate(cells)]
    return "".join(f"<{start}>{cell}</{tag}>" for start, cell in zip(styled, cells, strict=True))


def _name(name: str) -> str:
    """Return a name. A long name is shortened in the middle, to leave room for the value."""
    if len(name) <= NAME_WIDTH:
        return escape(name)
    return (
        f'<span title="{escape(name)}">{escape(f"{name[: NAME_WIDTH - 12]}…{name[-11:]}")}</span>'
    )


def _shape(mark: Mark) -> str:
    return f"<span style='color:{mark.color}'>{mark.shape}</span>"


def _log(snapshot: Snapshot) -> str:
    if not snapshot.log:
        return ""
    dropped = f"\n… and {snapshot.log_dropped} more characters" if snapshot.log_dropped else ""
    count = len(snapshot.log.splitlines())
    return (
        f"<details open><summary>Printed ({count} line{'s' * (count != 1)})</summary>"
        f'<pre style="max-height: 320px; overflow: '
        f'auto">{escape(visible(snapshot.log) + dropped)}</pre>'
        "</details>"
    )


def _timeline(section: Section) -> str:
    """Return a picture of the values whose times are known.

    The notebook's sanitizer keeps an `<img>` with a `data:` address, but not inline SVG.
    """
    rows = [row for row in section.rows if row.resolved_ns is not None][:BAR_LIMIT]
    if not rows:
        return ""
    address = "data:image/svg+xml;base64," + b64encode(timeline_svg(rows).encode()).decode()
    return (
        f"<details open><summary>Timeline of @{escape(section.name)}</summary>"
        f'<img alt="which worker computed which value, and when: the table has the numbers" '
        f'src="{address}"></details>'
    )


def timeline_svg(rows: Sequence[Row]) -> str:
    """Return a picture with a lane for each worker and a bar for each value.

    All `rows` must have the time at which the value was resolved.
    """
    workers = sorted({row.worker or "" for row in rows}, key=_natural)
    # At least 1, because `_across` divides by it.
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
    # Machine addresses differ at their ends, so keep the end.
    label = worker if len(worker) <= 14 else f"…{worker[-13:]}"
    return (
        f'<text x="0" y="{middle + 4:g}" fill="{GRAY}">{escape(label)}</text>'
        f'<line x1="{GUTTER}" x2="{WIDTH - 2}" y1="{middle:g}" y2="{middle:g}" '
        f'stroke="{GRAY}" stroke-opacity=".35"/>'
    )


def _bars(rows: Sequence[Row], workers: Sequence[str], end: int) -> Iterator[str]:
    """Yield the bars of each state as one path of thick lines.

    This keeps the picture small, because every saved board contains one.
    """
    for state, mark in STATES.items():
        if lines := [_line(row, workers, end) for row in rows if row.state is state]:
            yield (
                f'<path d="{"".join(lines)}" stroke="{mark.color}" stroke-width="{BAR}" '
                f'stroke-opacity=".85"/>'
            )


def _line(row: Row, workers: Sequence[str], end: int) -> str:
    resolved = row.resolved_ns or 0
    left = _across(resolved if row.started_ns is None else row.started_ns, end)
    # Draw at least two pixels, because most kernels take less time than one pixel represents.
    width = max(2.0, _across(resolved, end) - left)
    middle = workers.index(row.worker or "") * LANE + LANE / 2
    return f"M{left:.1f} {middle:g}h{width:.1f}"


def _tick(fraction: float, end: int, height: int) -> str:
    anchor = "start" if fraction == 0 else "end" if fraction == 1 else "middle"
    return (
        f'<text x="{_across(int(fraction * end), end):.1f}" y="{height - 4}" fill="{GRAY}" '
        f'text-anchor="{anchor}">{duration(int(fraction * end))}</text>'
    )


def _across(time: int, end: int) -> float:
    return GUTTER + (WIDTH - GUTTER - 2) * time / end


def _natural(worker: str) -> tuple[str, int]:
    """Return a key that sorts worker 10 after worker 9."""
    words = worker.rstrip("0123456789")
    return words, int(worker[len(words) :] or 0)
