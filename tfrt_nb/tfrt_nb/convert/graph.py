"""The dataflow of a program as a graph in the DOT language.

The language is defined at https://graphviz.org/doc/info/lang.html.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

Row = dict[str, Any]
Document = dict[str, list[Row]]


class Graph:
    """The graph of a program: clusters for functions and regions, and edges for uses of values."""

    def __init__(
        self, document: Callable[[], Document], picture: Callable[[Document], str | None]
    ) -> None:
        """Create a graph from two functions, which are called on demand.

        `document` builds the program's document. `picture` draws the document for a notebook, or
        returns None if the document is too large.
        """
        self._made, self._picture = document, picture

    @cached_property
    def document(self) -> Document:
        """The program's document, with its functions, operations and values."""
        return self._made()

    @property
    def dot(self) -> str:
        """The graph in Graphviz's DOT language."""
        return "\n".join(["digraph program {", "  node [shape=box];", *self._lines(), "}", ""])

    def _lines(self) -> Iterator[str]:
        document = self.document
        bodies: dict[tuple[int, int | None], list[Row]] = {}
        for row in document["operations"]:
            bodies.setdefault((row["function"], row["parent"]), []).append(row)
        for function in document["functions"]:
            yield from self._cluster(function, bodies)
        for row in document["operations"]:
            for value in row["operands"]:
                yield f"  {self._maker(value)} -> o{row['id']}{self._style(value)};"
        for function in document["functions"]:
            for value in function["results"]:
                yield f"  {self._maker(value)} -> r{function['id']}{self._style(value)};"

    def _cluster(
        self, function: Row, bodies: dict[tuple[int, int | None], list[Row]]
    ) -> Iterator[str]:
        """Yield the nodes of a function, in which regions are nested clusters."""
        number = function["id"]
        yield f"  subgraph cluster_{number} {{"
        yield f"    label={_quoted('@' + function['name'])};"
        if function["arguments"]:
            yield f'    a{number} [label="arguments" shape=ellipse];'
        # The stack is explicit, because regions may be nested more deeply than Python's recursion
        # limit.
        waiting = [iter(bodies.get((number, None), ()))]
        while waiting:
            for row in waiting[-1]:
                label = _quoted(row["text"].partition("\n")[0])
                inner = bodies.get((number, row["id"]))
                if inner is None:
                    yield f"    o{row['id']} [label={label}];"
                    continue
                yield f"    subgraph cluster_o{row['id']} {{"
                yield f"    o{row['id']} [label={label}];"
                waiting.append(iter(inner))
                break
            else:
                waiting.pop()
                if waiting:
                    yield "    }"
        if function["results"]:
            yield f'    r{number} [label="results" shape=ellipse];'
        yield "  }"

    def _maker(self, value: int) -> str:
        """Return the node that defines a value.

        The arguments of a region belong to the node of its operation. The arguments of a function
        have a node of their own.
        """
        row = self.document["values"][value]
        if row["op"] is not None:
            return f"o{row['op']}"
        owner = self._owners.get(value)
        return f"a{row['function']}" if owner is None else f"o{owner}"

    @cached_property
    def _owners(self) -> dict[int, int]:
        """Map each region argument to the operation that has the region."""
        return {
            value: row["id"]
            for row in self.document["operations"]
            for region in row["regions"]
            for value in region["arguments"]
        }

    def _style(self, value: int) -> str:
        return " [style=dashed]" if self.document["values"][value]["chain"] else ""

    def __repr__(self) -> str:
        functions, operations = (len(self.document[key]) for key in ("functions", "operations"))
        return f"<Graph of {functions} function{'s' * (functions != 1)}, {operations} operations>"

    def _repr_html_(self) -> str:
        """Return the view for a notebook: a picture or, for a large program, the DOT text."""
        return self._picture(self.document) or f"<pre>{html.escape(self.dot)}</pre>"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
