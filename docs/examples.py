"""Run the examples of pages as a reader would: a page's blocks are the cells of one notebook.

They run in a real kernel, with `tfrt-nb` on the path. Each page has its own folder, and sees no
names that other pages have defined. The first cell loads the magics; a recipe shows this cell. The
words after a fenced block's ``` decide how it runs:

- `{run}`: a cell, which is shown with what it prints and displays;
- `python`, `tfrt`, or no word and a first line with `%%`: a cell;
- `pycon`: a cell for each `>>>`; `console`: a cell for each `$`, which a shell runs. The lines
  after it are its output;
- `text`, or no word: the output of the block above;
- other words in braces are Sphinx's own.

Another word may follow: `raises` if the cells must fail, or `not-run (REASON)` if they cannot run
here. A cell whose output on the page ends with an error must fail, too. Broken examples are not
published: an unexpected failure, the absence of an expected one, a difference in the output, the
error status of a command, or an unknown kind of block stops everything.
"""

from __future__ import annotations

import asyncio
import doctest
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import ndiff
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from tfrt_pages import joined

RUN = "application/vnd.tfrt.run.v2+json"
CELL, PROGRAM, OUTPUT = "{.tfrt-cell}", "{.tfrt-program}", "{.tfrt-output}"
RAISES = "{.tfrt-cell .tfrt-raises}"
"""The lines above blocks by which `cells.js` finds a page's cells, programs, and outputs.

A cell needs the cells above it; a program needs none. A cell that raises an error does not stop the
cells below it.
"""
_CELLS = ("python", "tfrt", "cell")
"""The kinds of blocks that are cells and are published unchanged."""
_FENCE = re.compile(r"^(```+)([^\n`]*)\n(.*?)^\1$\n?", re.MULTILINE | re.DOTALL)
_ERROR = re.compile(r"^[A-Z]\w*Error: .*\s*\Z", re.MULTILINE)
_START = "%load_ext tfrt_nb\nimport numpy as np\nimport tfrt_nb as tfrt"
_SECONDS = 120

_VARIES = [
    (re.compile(r"\d+(\.\d+)? (ns|µs|ms|s)\b"), "TIME"),
    # The thread, which varies and may be unknown.
    (re.compile(r"\b(cell|main|stand-in|worker \d+|blocking \d+) +(?=TIME)"), ""),
    (re.compile(r"\bmstd:\d+"), "mstd:N"),
    # A loop may be stopped in any iteration, at any operation.
    (re.compile(r". \w+ +(%\w+).*\(×\d+\)"), r"? stopped  \1"),
    (re.compile(r"timed out, \d+ of"), "timed out, SOME of"),
    (re.compile(r" {2,}"), "  "),
]


def steady(text: str) -> str:
    """Replace output that varies by run or by machine, and make column widths independent of it."""
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    return text


class BrokenExample(Exception):
    """Examples do not do what their pages say."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page: its position, the words after the fence, and its lines."""

    start: int
    end: int
    line: int
    words: str
    body: str

    @property
    def kind(self) -> str:
        """The first word.

        A block without a word is a "cell" if its first line is a magic; otherwise, it is "text", an
        output.
        """
        first = self.words.split(maxsplit=1)[0] if self.words else ""
        return first or ("cell" if self.body.startswith("%%") else "text")

    @property
    def options(self) -> str:
        return self.words.partition(" ")[2].strip()


@dataclass(frozen=True)
class Cell:
    """A cell to run, and what the page says about it."""

    line: int
    source: str
    expected: str | None = None
    raises: bool = False
    exit_status: bool = False
    """The error is a command's exit status, which no terminal shows."""


def blocks_of(text: str) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [
        Block(one.start(), one.end(), text.count("\n", 0, one.start()) + 1, one[2].strip(), one[3])
        for one in _FENCE.finditer(text)
    ]


def cells_of(text: str) -> dict[Block, list[Cell]]:
    """Return the cells of each block that has any.

    Raises:
        BrokenExample: if a block is of an unknown kind.
    """
    found: dict[Block, list[Cell]] = {}
    below = _outputs_of(text)
    outputs = {one.start for one in below.values()}
    for block in blocks_of(text):
        if block.kind.startswith("{") and block.kind != "{run}":
            continue
        raises = block.options == "raises"
        if re.fullmatch(r"not-run \(.+\)", block.options):
            continue
        if block.options and not raises:
            raise BrokenExample(f"line {block.line}: a block with {block.options!r}")
        match block.kind:
            case "{run}":
                found[block] = [Cell(block.line, _checked(block.body), raises=raises)]
            case kind if kind in _CELLS:
                output = below.get(block.start)
                expected = output.body if output else None
                fails = raises or (expected is not None and _ERROR.search(expected) is not None)
                found[block] = [Cell(block.line, _checked(block.body), expected, fails)]
            case "pycon":
                found[block] = list(_examples(block))
            case "console":
                found[block] = list(_commands(block, raises))
            case "text" if block.start in outputs:
                pass
            case kind:
                raise BrokenExample(f"line {block.line}: a block of the kind {kind!r} is not run")
    return found


def _outputs_of(text: str) -> dict[int, Block]:
    """Return the blocks of output, by the starts of the blocks directly above them."""
    return {
        one.start: later
        for one, later in pairwise(blocks_of(text))
        if later.kind == "text" and not text[one.end : later.start].strip()
    }


def _examples(block: Block) -> Iterator[Cell]:
    """Yield a cell for each `>>>`.

    A cell whose output on the page begins with `Traceback` must raise the error in its last line.
    """
    for one in doctest.DocTestParser().get_examples(block.body):
        error = one.exc_msg
        expected = one.want if error is None else re.sub(r"^[\w.]+\.(?=\w+:)", "", error)
        yield Cell(block.line + 1 + one.lineno, one.source, expected, error is not None)


def _commands(block: Block, raises: bool) -> Iterator[Cell]:
    """Yield a cell for each `$`; its output is in the lines below it, if there are any."""
    for one in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.body, re.MULTILINE):
        line = block.line + 1 + block.body.count("\n", 0, one.start())
        yield Cell(line, _checked(f"!{one[1]}"), one[2] or None, raises, exit_status=True)


def _checked(source: str) -> str:
    """Return the source of a cell that raises an error if one of its commands fails."""
    return re.sub(r"^!.*$", r"\g<0>\nassert _exit_code == 0", source, flags=re.MULTILINE)


def run_examples(pages: Sequence[Path], files: Mapping[Path, Path] | None = None) -> None:
    """Run the blocks of these pages; add their output to those that are to be shown.

    Args:
        pages: the pages, in the order in which they run.
        files: for some pages, a folder whose files are copied into the page's folder.

    Raises:
        BrokenExample: if an example does not do what its page says; the message names each page and
            line.
    """
    asyncio.run(_run_pages(pages, files or {}))


async def _run_pages(pages: Sequence[Path], files: Mapping[Path, Path]) -> None:
    """Run all pages in one kernel, because starting one takes longer than running most pages."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    problems: list[str] = []
    with TemporaryDirectory() as root:
        client = NotebookClient(
            new_notebook(),  # type: ignore[no-untyped-call]
            kernel_name="python3",
            extra_arguments=["--log-level=ERROR"],
            timeout=_SECONDS,
            resources={"metadata": {"path": root}},
        )
        async with client.async_setup_kernel(env={**os.environ, "PATH": path}):
            for page in pages:
                folder = Path(root, "-".join(page.with_suffix("").parts[-2:]))
                shutil.copytree(files[page], folder) if page in files else folder.mkdir()
                text = page.read_text("utf-8")
                try:
                    outputs = await _run_cells(client, folder, start_of(page), cells_of(text))
                except BrokenExample as problem:
                    problems.append(f"{page.name}, {problem}")
                else:
                    page.write_text(_with_outputs(page, text, outputs), "utf-8")
    if problems:
        raise BrokenExample("\n\n".join(problems))


def start_of(page: Path) -> str:
    """Return the first cell of a page, which recipes show to readers who type along."""
    if page.parent.name != "howto":
        return "%load_ext tfrt_nb"
    needs_numpy = "np." in page.read_text("utf-8")
    return _START if needs_numpy else _START.replace("import numpy as np\n", "")


async def _run_cells(
    client: NotebookClient, folder: Path, start: str, cells: Mapping[Block, list[Cell]]
) -> dict[Block, NotebookNode]:
    """Run all cells, and return the first cell of each block with its outputs.

    Raises:
        BrokenExample: at the first cell that does not do what the page says.
    """
    made: dict[Block, NotebookNode] = {}
    if not cells:
        return made
    # Remove the previous page's names, leave its folder, and count cells from 1 again.
    await _run_cell(
        client, Cell(0, f"%reset -f\n%cd -q {folder}\nget_ipython().execution_count = 1")
    )
    await _run_cell(client, Cell(0, start))
    for block, planned in cells.items():
        for plan in planned:
            ended = await _run_cell(client, plan)
            made.setdefault(block, ended)
    return made


async def _run_cell(client: NotebookClient, plan: Cell) -> NotebookNode:
    cell: NotebookNode = new_code_cell(plan.source)  # type: ignore[no-untyped-call]
    cell.metadata.tags = ["raises-exception"] if plan.raises else []
    client.nb.cells.append(cell)
    try:
        await client.async_execute_cell(cell, len(client.nb.cells) - 1)
    except (CellExecutionError, CellTimeoutError, DeadKernelError) as problem:
        raise BrokenExample(f"line {plan.line}: {problem}") from None
    _compare(plan, cell)
    return cell


def _compare(plan: Cell, cell: NotebookNode) -> None:
    """Check a cell's output against what the page says.

    Raises:
        BrokenExample: if they differ.
    """
    if plan.raises and not any(one.output_type == "error" for one in cell.outputs):
        raise BrokenExample(f"line {plan.line}: this does not fail, and the page says that it does")
    if plan.expected is None:
        return
    outputs = [one for one in cell.outputs if not (plan.exit_status and one.output_type == "error")]
    printed, expected = (
        steady(text).strip().splitlines() for text in ("".join(map(_text, outputs)), plan.expected)
    )
    printed, expected = ([line.rstrip() for line in lines] for lines in (printed, expected))
    if printed != expected:
        difference = "\n".join(ndiff(expected, printed))
        raise BrokenExample(f"line {plan.line}: the output is not that of the page\n{difference}")


def _text(output: NotebookNode) -> str:
    """Return an output as text; of a traceback, only the last line, which says what went wrong."""
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        shown = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(output.traceback))
        return shown.rstrip().rpartition("\n")[2] + "\n"
    return f"{output.data.get('text/plain', '').rstrip()}\n"


def _with_outputs(page: Path, text: str, outputs: Mapping[Block, NotebookNode]) -> str:
    """Return a page's text with its cells marked, and with the outputs that are to be shown."""
    parts, end = [], 0
    below = _outputs_of(text)
    for block, cell in outputs.items():
        parts.append(text[end : block.start])
        if end == 0 and page.parent.name == "howto":
            parts.append(f"{CELL}\n```python\n{start_of(page)}\n```\n\n")
        is_shown = block.kind == "{run}"
        is_cell = block.kind in _CELLS or (is_shown and not block.body.startswith("!"))
        if is_cell:
            parts.append(f"{RAISES if cell.metadata.tags else CELL}\n")
        parts.append(_shown(block.body, cell) if is_shown else text[block.start : block.end])
        end = block.end
        if is_cell and (output := below.get(block.start)):
            parts.append(f"{text[end : output.start]}{OUTPUT}\n{text[output.start : output.end]}")
            end = output.end
    return "".join([*parts, text[end:]])


def _shown(source: str, cell: NotebookNode) -> str:
    """Return a cell as the page has it, followed by its outputs, as Markdown."""
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
            parts.append(f"```{{raw}} html\n<div class='tfrt-output'>{with_board(data)}</div>\n```")
        else:
            printed += _text(output)
    # The name of a cell's file differs from process to process.
    printed = re.sub(r"/\S*/ipykernel_\d+/\d+\.py", "cell", printed)
    if printed.strip() and language != "text":
        parts.insert(1, f"{OUTPUT}\n```text\n{printed.rstrip()}\n```")
    return "\n\n".join(parts) + "\n"


def board_script() -> str:
    """Return the board's modules and `boards.js` as one script.

    Browsers load no modules from a page that was opened as a file.
    """
    modules = joined((Path(__file__).parent / "boards.js").resolve())
    return f'"use strict";(() => {{\n{modules}}})();'


def with_board(data: Mapping[str, Any]) -> str:
    """Return the HTML of an output; if it has a run, the run's document for the script follows."""
    page = str(data["text/html"])
    if RUN not in data:
        return page
    # Inside a script element, "</" could end the element, even in a string.
    document = json.dumps(data[RUN]).replace("</", "<\\/")
    return (
        f'<div class="tfrt-page">{page}</div>'
        f'<script type="application/json" class="tfrt-run">{document}</script>'
    )
