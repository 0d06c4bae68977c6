"""Compute the layout of a program's operations, and draw the layout as SVG.

In each function and region, an operation is in a layer below its producers. Each layer keeps the
order of the source, except where a few sweeps move an operation closer to its neighbors. Therefore,
a new line in the source does not change the picture elsewhere. The time is linear in the number of
operations and uses.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import count
from math import isqrt
from operator import itemgetter
from typing import Any

from tfrt_nb.documents.events import OF_CODE

MAX_NODES = 500
"""The maximum number of operations in a static picture. A larger picture would be unreadable."""
HEIGHT, GAP, PADDING, HEAD = 28.0, 16.0, 14.0, 26.0
_LETTER, _MAX_LETTERS = 7.0, 36
"""The width of a letter, and the maximum number of letters that a label shows."""
_MAX_IN_ROW = 16
_SWEEPS = 4
_MIN_GROUP = 8
"""The minimum number of operations of one kernel in one layer that are drawn as a group."""
_GROUP_LETTERS = 12
_MAX_UNCROSSED = 3_000
"""The maximum number of operations in a picture whose crossings are reduced.

In a larger picture, readers could not follow the edges anyway, and the board must appear quickly.
"""
_MAX_COMPARED = 16
"""The maximum number of an operation's edges that are checked for crossings.

If an operation has thousands of edges, they all cross others anyway.
"""
_IN_ORDER = ("func.call", "async.await")
"""Operations that compiled code runs in source order although they have results."""

Point = tuple[float, float]


@dataclass(slots=True)
class _Body:
    """The content of a box: the operations of a function, or of a region of operation `parent`."""

    function: int
    parent: int | None
    region: int
    operations: list[int] = field(default_factory=list)
    size: tuple[float, float] = (0.0, 0.0)
    place: tuple[float, float] = (0.0, 0.0)


def layout(
    document: Mapping[str, Sequence[Mapping[str, Any]]], *, grouped: bool = False
) -> dict[str, list[Any]]:
    """Compute the layout of a program document, in pixels at the natural size.

    With `grouped`, operations of the same kernel in the same layer share a box, which has room for
    their names.

    Returns:
        `x`, `y`, `w`, `h`: for each operation, its upper left corner and its size, which includes
        its regions.
        `boxes`: rows with `function`, `op` (None for the function's own box), `region`, `x`, `y`,
        `w`, `h`, with outer boxes first.
        `groups`: rows with `ops`, `x`, `y`, `w`, `h`.
        `order`: pairs of operations of compiled code that are connected only by their source order.
    """
    operations = document["operations"]
    bodies, body_of = _bodies(document)
    order = _order(document, body_of)
    sources, targets = _edges(document, body_of, order)
    levels = [0] * len(operations)  # the length of the longest path to each operation
    # Levels can be assigned in one pass, because targets are in ascending order.
    for source, target in zip(sources, targets, strict=True):
        if levels[source] >= levels[target]:
            levels[target] = levels[source] + 1
    sizes = [
        (2 * PADDING + _LETTER * min(len(row["text"]), _MAX_LETTERS), HEIGHT) for row in operations
    ]
    groups = []
    for layer in _layers(body_of, levels, sources, targets):
        found = _groups(operations, layer) if grouped else []
        for group in found:
            sizes[group[0]] = _size_of_group(len(group))
        inner = {number for group in found for number in group[1:]}
        bodies[body_of[layer[0]]].operations += (one for one in layer if one not in inner)
        groups += found
    places = [(0.0, 0.0)] * len(operations)
    regions: dict[int, list[_Body]] = {}
    for body in reversed(bodies):  # in `bodies`, inner boxes come after outer ones
        if body.parent is not None:
            regions.setdefault(body.parent, []).insert(0, body)
    for body in reversed(bodies):
        _place(body, levels, sizes, places, regions)
    _move(bodies, sizes, places, regions)
    rows = [_open_group(group, places, sizes) for group in groups]
    boxes = [
        {
            "function": body.function,
            "op": body.parent,
            "region": body.region,
            "x": body.place[0],
            "y": body.place[1],
            "w": body.size[0],
            "h": body.size[1],
        }
        for body in bodies
    ]
    return {
        "x": [x for x, _ in places],
        "y": [y for _, y in places],
        "w": [width for width, _ in sizes],
        "h": [height for _, height in sizes],
        "boxes": boxes,
        "groups": rows,
        "order": order,
    }


def _order(
    document: Mapping[str, Sequence[Mapping[str, Any]]], body_of: Sequence[int]
) -> list[list[int]]:
    """Return the pairs of compiled operations that are connected only by their source order.

    In each body, compiled code runs the operations with effects in source order. A pair consists of
    two successive ones, unless the second uses a value of the first.
    """
    kinds = [row["kind"] for row in document["functions"]]
    makers = [row["op"] for row in document["values"]]
    last: dict[int, int] = {}
    pairs = []
    for row, body in zip(document["operations"], body_of, strict=True):
        is_code = kinds[row["function"]] in OF_CODE or row.get("compiled")
        if is_code and (not row["results"] or row["kernel"] in _IN_ORDER):
            before = last.get(body)
            if before is not None and all(makers[value] != before for value in row["operands"]):
                pairs.append([before, row["id"]])
            last[body] = row["id"]
    return pairs


def _groups(operations: Sequence[Mapping[str, Any]], layer: Sequence[int]) -> list[list[int]]:
    """Return the groups of a layer, each in source order.

    An operation with regions is not in a group.
    """
    found: dict[str, list[int]] = {}
    for number in sorted(layer) if len(layer) >= _MIN_GROUP else ():
        if not operations[number]["regions"]:
            found.setdefault(operations[number]["kernel"], []).append(number)
    return [group for group in found.values() if len(group) >= _MIN_GROUP]


def _columns(count: int) -> int:
    """Return how many columns a group has: it is wider than it is high."""
    return min(_MAX_IN_ROW, isqrt(count) + 1)


def _size_of_group(count: int) -> tuple[float, float]:
    columns = _columns(count)
    width = GAP + columns * (2 * PADDING + _LETTER * _GROUP_LETTERS + GAP)
    return width, HEAD + -(-count // columns) * (HEIGHT + GAP / 2) + GAP / 2


def _open_group(
    group: Sequence[int], places: list[tuple[float, float]], sizes: list[tuple[float, float]]
) -> dict[str, Any]:
    """Place the members of a group, and return the group's row.

    The group is at its first member's position.
    """
    (x, y), (w, h) = places[group[0]], sizes[group[0]]
    width = 2 * PADDING + _LETTER * _GROUP_LETTERS
    for place, number in enumerate(group):
        row, column = divmod(place, _columns(len(group)))
        places[number] = x + GAP + column * (width + GAP), y + HEAD + row * (HEIGHT + GAP / 2)
        sizes[number] = width, HEIGHT
    return {"ops": list(group), "x": x, "y": y, "w": w, "h": h}


def _bodies(
    document: Mapping[str, Sequence[Mapping[str, Any]]],
) -> tuple[list[_Body], list[int]]:
    """Return all bodies, functions first, and the body index of each operation."""
    bodies = [_Body(row["id"], None, 0) for row in document["functions"]]
    inner: dict[tuple[int, int], int] = {}
    body_of = []
    for row in document["operations"]:
        parent = row["parent"]
        body_of.append(row["function"] if parent is None else inner[parent, row["region"]])
        for region in range(len(row["regions"])):
            inner[row["id"], region] = len(bodies)
            bodies.append(_Body(row["function"], row["id"], region))
    return bodies, body_of


def _edges(
    document: Mapping[str, Sequence[Mapping[str, Any]]],
    body_of: Sequence[int],
    order: Sequence[Sequence[int]],
) -> tuple[list[int], list[int]]:
    """Return the edges between operations of the same body, as lists of sources and targets.

    An edge comes from a producer, or from the predecessor in `order`. If an operation in a region
    uses a value, the enclosing operation counts as the user.
    """
    operations = document["operations"]
    makers = [row["op"] for row in document["values"]]
    parents = [row["parent"] for row in operations]
    pairs = [(target, source) for source, target in order]
    for row in operations:
        number = row["id"]
        for value in row["operands"]:
            source, target = makers[value], number
            if source is None:
                continue
            while target is not None and body_of[target] != body_of[source]:
                target = parents[target]
            # Blocks may be in any order, so a use can precede its definition. The pass that assigns
            # levels needs edges that point down.
            if target is not None and source < target:
                pairs.append((target, source))
    pairs.sort(key=itemgetter(0))
    return [source for _, source in pairs], [target for target, _ in pairs]


def _layers(
    body_of: Sequence[int], levels: Sequence[int], sources: Sequence[int], targets: Sequence[int]
) -> list[list[int]]:
    """Return the ordered operations of each layer of each body, upper layers first."""
    found: dict[tuple[int, int], list[int]] = {}
    for number, where in enumerate(zip(levels, body_of, strict=True)):
        found.setdefault(where, []).append(number)
    layers = [found[where] for where in sorted(found)]
    wide = [layer for layer in layers if len(layer) > 1]
    place = [0.0] * len(levels)
    """The distance of each operation from the middle of its layer, in operations."""
    for sweep in range(_SWEEPS if wide else 0):
        for layer in wide:
            for number, at in zip(layer, count((1 - len(layer)) / 2), strict=False):
                place[number] = at
        sums, uses = [0.0] * len(place), [0] * len(place)
        # The sweeps alternate, because both producers and users should be near.
        ends, others = (targets, sources) if sweep % 2 == 0 else (sources, targets)
        for end, other in zip(ends, others, strict=True):
            sums[end] += place[other]
            uses[end] += 1
        wanted = [s / n if n else at for s, n, at in zip(sums, uses, place, strict=True)]
        for layer in wide:
            layer.sort(key=lambda number: (wanted[number], number))
    if len(place) <= _MAX_UNCROSSED:
        _uncross(wide, place, sources, targets)
    return layers


def _uncross(
    layers: Sequence[list[int]], place: list[float], sources: Sequence[int], targets: Sequence[int]
) -> None:
    """Swap neighbors in a layer if that reduces the number of crossings.

    This is the step `transpose` from Gansner, Koutsofios, North, and Vo 1993, "A Technique for
    Drawing Directed Graphs", IEEE Transactions on Software Engineering 19(3), which Graphviz also
    uses.
    """
    near: list[tuple[list[int], list[int]]] = [([], []) for _ in place]
    for source, target in zip(sources, targets, strict=True):
        near[target][0].append(source)
        near[source][1].append(target)
    for layer in layers:
        for number, at in zip(layer, count((1 - len(layer)) / 2), strict=False):
            place[number] = at

    def crossings(left: int, right: int) -> int:
        return sum(
            place[one] > place[other]
            for side in (0, 1)
            for one in near[left][side][:_MAX_COMPARED]
            for other in near[right][side][:_MAX_COMPARED]
        )

    for _ in range(_SWEEPS):
        for layer in layers:
            for at in range(len(layer) - 1):
                left, right = layer[at : at + 2]
                if crossings(left, right) > crossings(right, left):
                    layer[at : at + 2] = right, left
                    place[left], place[right] = place[right], place[left]


def _place(
    body: _Body,
    levels: Sequence[int],
    sizes: list[tuple[float, float]],
    places: list[tuple[float, float]],
    regions: Mapping[int, Sequence[_Body]],
) -> None:
    """Place the operations of a body, and compute its size. Its regions must already be placed."""
    rows: list[list[int]] = []
    before = -1
    for number in body.operations:
        if inner := regions.get(number):
            width = max(sizes[number][0], sum(one.size[0] + GAP for one in inner) + GAP)
            sizes[number] = width, HEAD + max(one.size[1] for one in inner) + GAP
        if levels[number] != before or len(rows[-1]) == _MAX_IN_ROW:
            rows.append([])
        before = levels[number]
        rows[-1].append(number)
    widths = [sum(sizes[i][0] for i in row) + GAP * (len(row) - 1) for row in rows]
    widest = max(widths, default=_LETTER * 10)
    top = HEAD
    for row, width in zip(rows, widths, strict=True):
        left = PADDING + (widest - width) / 2
        for number in row:
            places[number] = left, top
            left += sizes[number][0] + GAP
        top += max(sizes[number][1] for number in row) + 2 * GAP
    body.size = widest + 2 * PADDING, (top - 2 * GAP if rows else top) + PADDING


def _move(
    bodies: Sequence[_Body],
    sizes: Sequence[tuple[float, float]],
    places: list[tuple[float, float]],
    regions: Mapping[int, Sequence[_Body]],
) -> None:
    """Convert positions within bodies to positions in the picture.

    Functions are stacked vertically.
    """
    top = 0.0
    for body in bodies:
        if body.parent is None:
            body.place = 0.0, top
            top += body.size[1] + 2 * GAP
        left, upper = body.place
        for number in body.operations:
            x, y = places[number]
            places[number] = left + x, upper + y
            inner_left = left + x + GAP
            for inner in regions.get(number, ()):
                inner.place = inner_left, upper + y + HEAD
                inner_left += inner.size[0] + GAP


@dataclass(slots=True)
class Picture:
    """A drawing: boxes around nodes, and lines with their points.

    A box or a node is a tuple of x, y, width, height, and text.
    """

    width: float
    height: float
    boxes: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    nodes: list[tuple[float, float, float, float, str]] = field(default_factory=list)
    lines: list[tuple[Sequence[Point], bool]] = field(default_factory=list)
    """The points of each line, and whether the line's value is a chain."""


def own_picture(document: Mapping[str, Sequence[Mapping[str, Any]]]) -> Picture:
    """Return the picture of a program document, with operations in source order."""
    places = layout(document)
    x, y, w, h = (places[key] for key in "xywh")
    functions, values = document["functions"], document["values"]
    edges = [
        (values[value]["op"], number, bool(values[value]["chain"]))
        for number, op in enumerate(document["operations"])
        for value in op["operands"]
    ]
    edges += [(before, after, True) for before, after in places["order"]]
    size = [(box["x"] + box["w"], box["y"] + box["h"]) for box in places["boxes"]] or [(1, 1)]
    picture = Picture(max(one for one, _ in size) + 1, max(one for _, one in size) + 1)
    for box in places["boxes"]:
        name = f"@{functions[box['function']]['name']}" if box["op"] is None else ""
        picture.boxes.append((box["x"], box["y"], box["w"], box["h"], name))
    outer = {op["parent"] for op in document["operations"]}
    for number, op in enumerate(document["operations"]):
        # An operation with regions is a box, whose text is above the regions.
        kind = picture.boxes if number in outer else picture.nodes
        kind.append((x[number], y[number], w[number], h[number], str(op["text"])))
    for source, target, is_chain in edges:
        if source is not None:
            start = (x[source] + w[source] / 2, y[source] + h[source])
            end = (x[target] + w[target] / 2, y[target])
            picture.lines.append(((start, end), is_chain))
    return picture


def svg(picture: Picture) -> str:
    """Return the picture as a self-contained SVG, readable on white and on black."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width:.0f}"'
        f' height="{picture.height:.0f}" viewBox="-1 -1 {picture.width + 2:.0f}'
        f' {picture.height + 2:.0f}" font-family="monospace" font-size="11" role="img"'
        ' aria-label="Graph">'
    )
    parts = [head]
    parts += [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="6" fill="none"'
        f' stroke="#888"/><text x="{x + 8:.1f}" y="{y + 16:.1f}" fill="#888">{_text(text)}</text>'
        for x, y, w, h, text in picture.boxes
    ]
    for points, is_chain in picture.lines:
        dashes = ' stroke-dasharray="4 3"' if is_chain else ""
        parts.append(f'<path d="{_path(points)}" fill="none" stroke="#0072b2"{dashes}/>')
    parts += [
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="4" fill="#fff"'
        f' stroke="#0072b2"/><text x="{x + w / 2:.1f}" y="{y + h / 2 + 4:.1f}"'
        f' text-anchor="middle" fill="#000">{_text(text)}</text>'
        for x, y, w, h, text in picture.nodes
    ]
    return "".join([*parts, "</svg>"])


def _path(points: Sequence[Point]) -> str:
    (x, y), *rest = points
    if len(rest) == 1:
        return f"M{x:.1f},{y:.1f}L{rest[0][0]:.1f},{rest[0][1]:.1f}"
    # Each segment of a cubic curve takes three points; Graphviz writes 3n + 1 points.
    curve = " ".join(f"{a:.1f},{b:.1f}" for a, b in rest[: len(rest) // 3 * 3])
    return f"M{x:.1f},{y:.1f}C{curve}"


def _text(text: str) -> str:
    cut = text if len(text) <= _MAX_LETTERS else text[: _MAX_LETTERS - 1] + "…"
    # A lone surrogate cannot be encoded as UTF-8.
    return escape(cut.encode(errors="replace").decode())


def image(picture: Picture) -> str:
    """Return the picture as HTML that a notebook shows even if it is not trusted."""
    data = base64.b64encode(svg(picture).encode()).decode()
    return f'<img alt="Graph" src="data:image/svg+xml;base64,{data}">'
