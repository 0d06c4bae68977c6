"""The graph of a program as a picture with Graphviz's layout, or in xdot's window."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

from tfrt_nb.documents.picture import Picture
from tfrt_runtime.diagnostics import TfrtError, error

_SECONDS = 60


def graphviz_picture(dot: str) -> Picture:
    """Lay out a graph in DOT source with Graphviz, and return it as a picture.

    xdot's parser reads the output of Graphviz.

    Raises:
        TfrtError: if Graphviz or xdot is missing or fails. The message is one line.
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
        """Keeps the positions that Graphviz computes. Their y axis points up."""

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
                # Graphviz writes positions in points, but sizes in inches.
                w, h = 72 * float(attrs["width"]), 72 * float(attrs["height"])
                label = attrs.get("label", id).decode(errors="replace")
                picture.nodes.append((x - w / 2, height - y - h / 2, w, h, label))

        def handle_edge(self, src_id: bytes, dst_id: bytes, attrs: Mapping[str, bytes]) -> None:
            if "pos" in attrs:
                # Leave out the arrow's tip, which comes first and is marked by a letter.
                points = [part for part in attrs["pos"].split() if part[:1] not in (b"e", b"s")]
                numbers = [_numbers(point) for point in points]
                picture.lines.append(([(x, height - y) for x, y in numbers], False))

    Reader(DotLexer(buf=done.stdout)).parse()
    return picture


def _numbers(text: bytes) -> list[float]:
    return [float(part) for part in text.split(b",")]


def open_window(dot: str) -> None:
    """Show DOT source in xdot's window. The window is a separate process that outlives the cell.

    Raises:
        TfrtError: if a program or package is missing. The message is one line that names it.
    """
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise TfrtError(error("--window needs a display: DISPLAY is not set"))
    try:
        import xdot
    except ImportError:
        raise TfrtError(error("--window needs xdot: pip install 'tfrt-nb[xdot]'")) from None
    folder = str(Path(xdot.__file__).parents[1])
    python = next(_pythons_with_gtk(folder), None)
    if python is None:
        text = (
            "--window needs GTK 3 for Python: pip install 'tfrt-nb[xdot]', for which the machine"
            " needs libcairo2-dev, libgirepository1.0-dev and gir1.2-gtk-3.0; or apt install"
            " python3-gi python3-gi-cairo gir1.2-gtk-3.0"
        )
        raise TfrtError(error(text))
    with tempfile.NamedTemporaryFile("w", suffix=".dot", delete=False, encoding="utf-8") as file:
        file.write(dot)
    code = (
        f"import sys, os; sys.path.append({folder!r}); from xdot.__main__ import main;"
        f" sys.argv[1:] = [{file.name!r}]; main(); os.unlink({file.name!r})"
    )
    window = subprocess.Popen(
        [python, "-c", code],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    # Without a wait, the process would stay a zombie after its window is closed.
    threading.Thread(target=window.wait, daemon=True).start()


def _pythons_with_gtk(folder: str) -> Iterator[str]:
    """Yield the Python interpreters that can open xdot's window.

    Candidates are this interpreter, and the system's interpreter with Debian packages.
    """
    check = (
        f"import sys; sys.path.append({folder!r}); import gi; gi.require_version('Gtk', '3.0');"
        " import xdot.ui.window"
    )
    for python in (sys.executable, "/usr/bin/python3"):
        if Path(python).exists():
            done = subprocess.run([python, "-c", check], capture_output=True, check=False)
            if done.returncode == 0:
                yield python
