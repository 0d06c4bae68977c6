"""The graph of a program as a picture, in a notebook and by Graphviz."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping

from tfrt_magics.bridge.record import Json
from tfrt_nb.documents.picture import Picture, image
from tfrt_runtime.diagnostics import TfrtError, error

_SECONDS = 60


def graphviz_picture(dot: str) -> Picture:
    """The picture that Graphviz makes of a DOT text, read by xdot's parser.

    Raises:
        TfrtError: in one line, if one of them is missing or fails.
    """
    if shutil.which("dot") is None:
        raise TfrtError(error("--engine dot needs Graphviz: apt install graphviz"))
    try:
        from xdot.dot.lexer import DotLexer
        from xdot.dot.parser import DotParser
    except ImportError:
        raise TfrtError(error("--engine dot needs xdot: pip install --no-deps xdot")) from None
    try:
        done = subprocess.run(
            ["dot", "-Tdot"], input=dot.encode(), capture_output=True, check=True, timeout=_SECONDS
        )
    except subprocess.TimeoutExpired:
        raise TfrtError(error(f"Graphviz took more than {_SECONDS} s")) from None
    except subprocess.CalledProcessError as problem:
        said = problem.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise TfrtError(error(f"Graphviz failed: {said}")) from None
    picture = Picture(1, 1)
    height = 0.0

    class Reader(DotParser):  # type: ignore[misc]
        """Keeps what Graphviz says of places; its y axis points up."""

        def handle_graph(self, attrs: Mapping[str, bytes]) -> None:
            nonlocal height
            if "bb" in attrs:
                left, low, right, top = _numbers(attrs["bb"])
                if not height:
                    height, picture.width, picture.height = top, right, top
                label = attrs.get("label", b"").decode(errors="replace")
                picture.boxes.append((left, height - top, right - left, top - low, label))

        def handle_node(self, id: bytes, attrs: Mapping[str, bytes]) -> None:
            if "pos" in attrs:
                x, y = _numbers(attrs["pos"])
                w, h = 72 * float(attrs["width"]), 72 * float(attrs["height"])
                label = attrs.get("label", id).decode(errors="replace")
                picture.nodes.append((x - w / 2, height - y - h / 2, w, h, label))

        def handle_edge(self, src_id: bytes, dst_id: bytes, attrs: Mapping[str, bytes]) -> None:
            if "pos" in attrs:
                # The arrow's tip comes first, marked by its letter.
                points = [part for part in attrs["pos"].split() if part[:1] not in (b"e", b"s")]
                numbers = [_numbers(point) for point in points]
                picture.lines.append(([(x, height - y) for x, y in numbers], False))

    Reader(DotLexer(buf=done.stdout)).parse()
    return picture


def _numbers(text: bytes) -> list[float]:
    return [float(part) for part in text.split(b",")]


def graph_bundle(picture: Picture, text: str) -> dict[str, Json]:
    """The display data: a picture that an untrusted notebook shows as well, and the text."""
    return {"text/html": image(picture), "text/plain": text}
