"""A short note below a cell: a verdict about an answer, or a prediction beside what happened."""

from __future__ import annotations

import html
from dataclasses import dataclass

_COLOURS = {"✓": "#009e73", "✗": "#d55e00", "·": "#777777"}
"""Okabe and Ito's green and vermilion; the sign says the same without colour."""


@dataclass(frozen=True)
class Note:
    """`sign` is ✓, ✗ or ·; `folded` is a summary and a text that a click opens."""

    sign: str
    title: str
    text: str
    folded: tuple[str, str] | None = None

    def __repr__(self) -> str:
        lines = [
            f"{self.sign} {self.title}".rstrip(),
            *(f"  {row}" for row in self.text.split("\n")),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        colour = _COLOURS[self.sign]
        first, *rest = self.text.split("\n")
        body = html.escape(first)
        if rest:
            body += f"<pre style='margin:4px 0'>{html.escape(chr(10).join(rest))}</pre>"
        more = ""
        if self.folded is not None:
            summary, text = map(html.escape, self.folded)
            more = f"<details><summary>{summary}</summary><pre>{text}</pre></details>"
        title = html.escape(self.title)
        return (
            f"<div role='status' style='border-left:4px solid {colour};padding:2px 10px'>"
            f"<b style='color:{colour}'>{self.sign}</b> <b>{title}</b> {body}{more}</div>"
        )
