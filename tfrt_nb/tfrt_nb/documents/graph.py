"""The graph of a program, as `Program.graph` gives it."""

from __future__ import annotations

from tfrt_nb.convert.graph import Document, Graph
from tfrt_nb.documents.picture import MAX_NODES, image, own_picture
from tfrt_nb.documents.program import program_document
from tfrt_nb.programs import Program


def program_graph(program: Program) -> Graph:
    """What the operations of a program give to each other; in a notebook a picture, if there are not many."""

    def picture(shown: Document) -> str | None:
        is_drawn = 0 < len(shown["operations"]) <= MAX_NODES
        return image(own_picture(shown)) if is_drawn else None

    return Graph(lambda: program_document(program), picture)
