"""A run as HTML that needs nothing: no script, no style sheet, no network, no kernel.

It must survive JupyterLab's sanitiser, which keeps tables, `<details>`, images from `data:` and
simple inline styles; so colours are literal, and text takes the theme's own colour.  It strips style sheets,
and the notebook's own have a style for each cell of a table, so that cells repeat what the table cannot give
them: as little as possible, as each board of a saved notebook has such a page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from tfrt_magics.bridge.snapshot import Row, Section, Snapshot
from tfrt_magics.views.marks import STATES, STATUSES, Mark
from tfrt_magics.views.picture import timeline_uri
from tfrt_magics.views.text import headline, when
from tfrt_nb.documents.previews import visible

ROW_LIMIT = 200
NAME_WIDTH = 32
TABLE = "border-collapse:collapse;margin:0;font-family:monospace"
CELL = "text-align:left"
HEADINGS = ("state", "name", "value", "type", "worker", "start + duration")


def page(snapshot: Snapshot) -> str:
    """The whole run; the log and the timelines can be folded away."""
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
        f'<div style="max-height: 420px; overflow: auto">{rows_table(section.rows, section.hidden.total)}'
        f"</div>{_timeline(section)}"
    )


def rows_table(rows: Sequence[Row], hidden: int = 0) -> str:
    """A table of values; `hidden` ones more have no row."""
    return (
        f'<table cellpadding="4" style="{TABLE}"><thead>{_headings()}</thead>'
        f"<tbody>{''.join(_rows(rows, hidden))}</tbody></table>"
    )


def _headings() -> str:
    columns = "".join(f'<th style="{CELL}">{heading}</th>' for heading in HEADINGS)
    return f"<tr>{columns}</tr>"


def _rows(rows: Sequence[Row], hidden: int) -> Iterable[str]:
    yield from map(_row, rows[:ROW_LIMIT])
    if more := hidden + len(rows[ROW_LIMIT:]):
        yield f'<tr><td style="{CELL}" colspan="{len(HEADINGS)}">… and {more} more values</td></tr>'


def _row(row: Row) -> str:
    times = f" <small>(×{row.count})</small>" if row.count > 1 else ""
    name = f"<b>{escape(row.name)}</b>" if row.is_result else _name(row.name)
    cells = (
        f"{_shape(STATES[row.state])}\N{NO-BREAK SPACE}{row.state}",
        name,
        escape(row.text) + times,
        escape(row.type),
        escape(row.worker or ""),
        when(row),
    )
    return f"<tr>{''.join(map(_cell, cells))}</tr>"


def _name(name: str) -> str:
    """A name, without its middle where it would leave no room for the value."""
    if len(name) <= NAME_WIDTH:
        return escape(name)
    return (
        f'<span title="{escape(name)}">{escape(f"{name[: NAME_WIDTH - 12]}…{name[-11:]}")}</span>'
    )


def _cell(content: str) -> str:
    return f'<td style="{CELL}">{content}</td>' if content else "<td></td>"


def _shape(mark: Mark) -> str:
    return f'<span style="color:{mark.colour}">{mark.shape}</span>'


def _timeline(section: Section) -> str:
    address = timeline_uri(section)
    if address is None:
        return ""
    return (
        f"<details open><summary>Timeline of @{escape(section.name)}</summary>"
        f'<img alt="which worker computed which value, and when: the table has the numbers" '
        f'src="{address}"></details>'
    )


def _log(snapshot: Snapshot) -> str:
    if not snapshot.log:
        return ""
    dropped = f"\n… and {snapshot.log_dropped} more characters" if snapshot.log_dropped else ""
    count = len(snapshot.log.splitlines())
    return (
        f"<details open><summary>Printed ({count} line{'s' * (count != 1)})</summary>"
        f'<pre style="max-height: 320px; overflow: auto">{escape(visible(snapshot.log) + dropped)}</pre>'
        "</details>"
    )
