"""The examples of pages, run: a block ```` ```{run} ```` is a cell, shown with what it prints.

All pages run in one kernel, in an empty folder, each without the names of the others, with `tfrt` and
`np` imported, as the first cell of each recipe says, and `tfrt-nb` on the path.  A cell that raises and a command that
fails stop everything: an example that does not work is not shown.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from tfrt_pages import joined, stripped

RUN = "application/vnd.tfrt.run.v2+json"
_BLOCK = re.compile(r"^```\{run\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_START = "%load_ext tfrt_nb\nimport numpy as np\nimport tfrt_nb as tfrt"
_SECONDS = 120


class BrokenExample(Exception):
    """An example raised an error, which is not what the page says."""


def run_examples(pages: list[Path]) -> None:
    """Replace the blocks of these pages by what was run and what it gave.

    Raises:
        BrokenExample: if a cell raises; names the page.
    """
    texts = {page: page.read_text("utf-8") for page in pages}
    sources = {page: _BLOCK.findall(text) for page, text in texts.items()}
    cells: dict[Path, list[NotebookNode]] = {
        page: [_cell(_checked(source)) for source in (f"%reset -f\n{_START}", *found)]
        for page, found in sources.items()
        if found
    }
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            new_notebook(cells=[cell for one in cells.values() for cell in one]),  # type: ignore[no-untyped-call]
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],
            timeout=_SECONDS,
            resources={"metadata": {"path": folder}},
        )
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        try:
            asyncio.run(client.async_execute(env={**os.environ, "PATH": path}))
        except CellExecutionError as problem:
            page = next(page for page, one in cells.items() if not all(map(_was_run, one)))
            raise BrokenExample(f"{page.name}: {problem}") from None
    for page, (_, *shown) in cells.items():
        parts = _BLOCK.split(texts[page])
        # A reader who types only what a recipe says needs the first cell, too.
        needs_numpy = any("np." in source for source in sources[page])
        start = _START if needs_numpy else _START.replace("import numpy as np\n", "")
        parts[1::2] = map(_shown, sources[page], shown)
        if page.parent.name == "howto":
            parts[1] = f"```python\n{start}\n```\n\n{parts[1]}"
        page.write_text("".join(parts), "utf-8")


def _cell(source: str) -> NotebookNode:
    return new_code_cell(source)  # type: ignore[no-untyped-call, no-any-return]


def _checked(source: str) -> str:
    """The source of a cell that raises when one of its commands fails."""
    return re.sub(r"^!.*$", r"\g<0>\nassert _exit_code == 0", source, flags=re.MULTILINE)


def _was_run(cell: NotebookNode) -> bool:
    return cell.execution_count is not None and all(
        one.output_type != "error" for one in cell.outputs
    )


def _shown(source: str, cell: NotebookNode) -> str:
    """A cell, as the page has it, and its outputs as Markdown."""
    first = source.lstrip().split(maxsplit=1)[0]
    language = {"%%tfrt": "tfrt", "%%writefile": "text"}.get(
        first, "console" if first.startswith("!") else "python"
    )
    source = source.rstrip()
    if language == "console":
        source = re.sub(r"^!", "$ ", source, flags=re.MULTILINE)
    parts = [f"```{language}\n{source}\n```"]
    printed = ""
    for output in cell.outputs:
        data = output.get("data", {})
        if "text/html" in data:
            parts.append(f"```{{raw}} html\n{with_board(data)}\n```")
        else:
            printed += output.get("text") or data.get("text/plain", "") + "\n"
    # A cell's file has another name in each process.
    printed = re.sub(r"/\S*/ipykernel_\d+/\d+\.py", "cell", printed)
    if printed.strip() and language != "text":
        parts.insert(1, f"```text\n{printed.rstrip()}\n```")
    return "\n\n".join(parts)


def board_script() -> str:
    """The modules of the board and `boards.js` as one script: browsers load no modules from a page that was opened as a file."""
    modules = stripped(joined((Path(__file__).parent / "boards.js").resolve()))
    return f'"use strict";(() => {{{modules}}})();'


def with_board(data: Mapping[str, Any]) -> str:
    """The HTML of an output; where it has a run, with the run's document behind it for the script."""
    page = str(data["text/html"])
    if RUN not in data:
        return page
    # "</" would end the element, whatever stands around it.
    document = json.dumps(data[RUN]).replace("</", "<\\/")
    return (
        f'<div class="tfrt-page">{page}</div>'
        f'<script type="application/json" class="tfrt-run">{document}</script>'
    )
