"""What the operations of a program give to each other, as a graph in the DOT language."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator

from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction


class Graph:
    """The graph of a program: a cluster for each function, an edge for each use of a value."""

    def __init__(self, file: BefFile, picture: Callable[[], str | None]) -> None:
        """`picture` draws the program for a notebook, unless it is too large."""
        self._functions = file.functions
        self._picture = picture

    @property
    def dot(self) -> str:
        """The text for Graphviz."""
        lines = [line for item in enumerate(self._functions) for line in _cluster(*item)]
        return "\n".join(["digraph program {", "  node [shape=box];", *lines, "}", ""])

    def __repr__(self) -> str:
        count = sum(len(function.kernels) for function in self._functions)
        return f"<Graph of {len(self._functions)} functions, {count} operations>"

    def _repr_html_(self) -> str:
        """What a notebook shows of it: a picture, of a large program the text."""
        return self._picture() or f"<pre>{html.escape(self.dot)}</pre>"


def _cluster(index: int, function: BefFunction) -> Iterator[str]:
    """The lines of one function."""
    yield f"  subgraph cluster_{index} {{"
    yield f"    label={_quoted('@' + function.name if function.name else 'region')};"
    yield f'    f{index}a [label="arguments" shape=ellipse];'
    makers = {register: f"f{index}a" for register in range(len(function.argument_types))}
    for number, kernel in enumerate(function.kernels):
        yield f"    f{index}k{number} [label={_quoted(kernel.name)}];"
        makers |= dict.fromkeys(kernel.results, f"f{index}k{number}")
    yield f'    f{index}r [label="results" shape=ellipse];'
    for number, kernel in enumerate(function.kernels):
        for register in kernel.arguments:
            yield f"    {makers[register]} -> f{index}k{number};"
    for register in function.result_registers:
        yield f"    {makers[register]} -> f{index}r;"
    yield "  }"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
