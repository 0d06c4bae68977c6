"""The picture of a program as SVG."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from tfrt_nb.documents.layout import layout

MAX_NODES = 500
"""A still picture of more operations cannot be read."""
_LETTERS = 40

Point = tuple[float, float]


@dataclass(slots=True)
class Picture:
    """Boxes (x, y, width, height, text) around nodes (likewise), and lines with their points."""

    width: float
    height: float
    boxes: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    nodes: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    lines: list[tuple[Sequence[Point], bool]] = field(default_factory=list)
    """The second is whether the value is a chain."""


def own_picture(document: Mapping[str, Sequence[Mapping[str, Any]]]) -> Picture:
    """The picture of a program document in the order of its text."""
    places = layout(document)
    x, y, w, h = (places[key] for key in "xywh")
    functions, values = document["functions"], document["values"]
    edges = [
        (values[value]["op"], number, bool(values[value]["chain"]))
        for number, op in enumerate(document["operations"])
        for value in op["operands"]
    ]
    size = [(box["x"] + box["w"], box["y"] + box["h"]) for box in places["boxes"]] or [(1, 1)]
    picture = Picture(max(one for one, _ in size) + 1, max(one for _, one in size) + 1)
    for box in places["boxes"]:
        name = f"@{functions[box['function']]['name']}" if box["op"] is None else ""
        picture.boxes.append((box["x"], box["y"], box["w"], box["h"], name))
    outer = {op["parent"] for op in document["operations"]}
    for number, op in enumerate(document["operations"]):
        # What has others within has its text above them.
        kind = picture.boxes if number in outer else picture.nodes
        kind.append((x[number], y[number], w[number], h[number], str(op["text"])))
    for source, target, is_chain in edges:
        if source is not None:
            start = (x[source] + w[source] / 2, y[source] + h[source])
            end = (x[target] + w[target] / 2, y[target])
            picture.lines.append(((start, end), is_chain))
    return picture


def svg(picture: Picture) -> str:
    """The picture as an SVG text that needs nothing else; readable on white and on black."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width:.0f}"'
        f' height="{picture.height:.0f}" viewBox="-1 -1 {picture.width + 2:.0f}'
        f' {picture.height + 2:.0f}" font-family="monospace" font-size="11" role="img"'
        ' aria-label="Graph">'
    )
    parts = [head]
    for x, y, w, h, text in picture.boxes:
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="6" fill="none"'
            f' stroke="#888"/><text x="{x + 8:.1f}" y="{y + 16:.1f}" fill="#888">{_text(text)}</text>'
        )
    for points, is_chain in picture.lines:
        dashes = ' stroke-dasharray="4 3"' if is_chain else ""
        parts.append(f'<path d="{_path(points)}" fill="none" stroke="#0072b2"{dashes}/>')
    for x, y, w, h, text in picture.nodes:
        parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="4" fill="#fff"'
            f' stroke="#0072b2"/><text x="{x + w / 2:.1f}" y="{y + h / 2 + 4:.1f}"'
            f' text-anchor="middle" fill="#000">{_text(text)}</text>'
        )
    return "".join([*parts, "</svg>"])


def _path(points: Sequence[Point]) -> str:
    (x, y), *rest = points
    if len(rest) == 1:
        return f"M{x:.1f},{y:.1f}L{rest[0][0]:.1f},{rest[0][1]:.1f}"
    curve = " ".join(f"{a:.1f},{b:.1f}" for a, b in rest[: len(rest) // 3 * 3])
    return f"M{x:.1f},{y:.1f}C{curve}"


def _text(text: str) -> str:
    cut = text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"
    return escape(cut.encode(errors="replace").decode())


def image(picture: Picture) -> str:
    """The picture as HTML, which an untrusted notebook shows as well."""
    data = base64.b64encode(svg(picture).encode()).decode()
    return f'<img alt="Graph" src="data:image/svg+xml;base64,{data}">'
