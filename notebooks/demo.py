"""Run notebooks in a kernel, show what each cell prints, and save each as a page: `make demo`.

With `--save`, the notebooks keep their new outputs (`make notebooks`).
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import time
from collections.abc import Iterable, Sequence
from io import TextIOWrapper
from pathlib import Path
from textwrap import indent

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbconvert import HTMLExporter
from nbformat import NotebookNode

from pictures import SLIDES, run_picture, slide
from tfrt_runtime.native.library import load

HERE = Path(__file__).parent
START = HERE / "00_start.ipynb"
PAGES = HERE.parent / "build" / "demo"
SLIDES_FOLDER = HERE.parent / "docs" / "teachers"
CELL_SECONDS = 120
BOARD = re.compile(r"^\S @\w+: ", re.MULTILINE)
FOLDED = "What the run showed: open it when you have predicted it.\n"


def text_of(output: NotebookNode) -> str:
    """Return what a front end without pages would show of an output."""
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        return "\n".join(output.traceback)
    return str(output.data.get("text/plain", ""))


def show_headings(cell: NotebookNode, cell_index: int) -> None:
    """Print the headings of a Markdown cell; nbclient calls this for every kind of cell."""
    if cell.cell_type == "markdown":
        for line in cell.source.splitlines():
            if line.startswith("#"):
                print(f"── {line.lstrip('# ')}\n", flush=True)


def show_cell(cell: NotebookNode, cell_index: int, execute_reply: object) -> None:
    """Print a code cell with its outputs, which are complete now."""
    print(indent(cell.source, "    "))
    for output in cell.outputs:
        print(text_of(output).rstrip("\n"))
    print(flush=True)


def run_notebook(path: Path) -> NotebookNode:
    """Run a notebook, show its outputs as they come, and return it with these outputs.

    Raises:
        CellExecutionError: at the first cell that raises and is not tagged `raises-exception`.
    """
    # If the core has to be compiled, this shows the progress; a cell would only seem slow.
    load()
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        # Otherwise, the kernel reports its transport between the cells' outputs.
        extra_arguments=["--log-level=ERROR"],
        timeout=CELL_SECONDS,
        resources={"metadata": {"path": str(path.parent)}},
        on_cell_start=show_headings,
        on_cell_executed=show_cell,
        # Execution times differ from run to run, and would fill the repository's history.
        record_timing=False,
    )
    # Unlike client.execute(), this closes its event loop, on whichever thread it runs.
    return asyncio.run(client.async_execute())


def write_page(notebook: NotebookNode, path: Path) -> None:
    """Write the notebook as an HTML page that loads nothing from other sites."""
    exporter = HTMLExporter(require_js_url="", mathjax_url="", embed_images=True)  # type: ignore[no-untyped-call]
    page, _ = exporter.from_notebook_node(notebook, {"metadata": {"path": str(HERE)}})
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")


def save(notebook: NotebookNode, path: Path) -> None:
    """Save the notebook over its file, without anything that depends on the machine that ran it.

    A cell tagged `watch` is for readers with a kernel, so it is saved without its outputs. If the
    notebook shows a picture of the cell's run, that picture is saved beside the notebook.
    """
    draw_watched(notebook, path)
    for cell in notebook.cells:
        if cell.metadata.get("jupyter", {}).get("outputs_hidden"):
            name_folded(cell)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def draw_watched(notebook: NotebookNode, path: Path) -> None:
    """Draw the boards of the cells tagged `watch`, and remove these cells' outputs.

    The picture of the first cell with a board is `NAME.svg`, that of the second `NAME_2.svg`.
    """
    watched = [cell for cell in notebook.cells if "watch" in cell.metadata.get("tags", ())]
    tables = [
        (cell.source, text)
        for cell in watched
        if (text := next((text for one in cell.outputs if BOARD.search(text := text_of(one))), ""))
    ]
    is_simple = any("board=simple" in cell.source for cell in notebook.cells)
    for number, run in enumerate(tables, 1):
        picture = path.with_name(f"{path.stem}_{number}.svg" if number > 1 else f"{path.stem}.svg")
        if any(f"({picture.name})" in cell.source for cell in notebook.cells):
            picture.write_text(run_picture(*run, is_simple=is_simple), encoding="utf-8")
        if question := SLIDES.get(picture.stem):
            SLIDES_FOLDER.mkdir(exist_ok=True)
            (SLIDES_FOLDER / picture.name).write_text(slide(question, *run), encoding="utf-8")
    for cell in watched:
        cell.outputs = []


def name_folded(cell: NotebookNode) -> None:
    """Label a folded output, of which JupyterLab shows only the start of its HTML."""
    data = cell.outputs[0].get("data", {}) if cell.outputs else {}
    if "text/html" in data:
        data["text/html"] = FOLDED + data["text/html"].removeprefix(FOLDED)


def report(pages: Iterable[Path], seconds: float) -> None:
    """Say which pages were written, and what to do next."""
    print(f"Ran in {seconds:.1f} s.  Pages to look at:")
    for page in pages:
        print(f"  {page.resolve().as_uri()}")
    print("To run and change it yourself, open JupyterLab:  make lab")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the notebooks; return 1 if a cell fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, default=[START])
    parser.add_argument("--save", action="store_true", help="keep the outputs in the notebooks")
    options = parser.parse_args(arguments)
    # If the terminal lacks a character, a question mark is better than an error.
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    started = time.monotonic()
    pages = []
    for path in options.notebooks:
        try:
            notebook = run_notebook(path)
        except CellExecutionError as problem:
            print(f"{path}: {problem}", file=sys.stderr)
            return 1
        pages.append(PAGES / f"{path.stem}.html")
        write_page(notebook, pages[-1])
        if options.save:
            save(notebook, path)
    report(pages, time.monotonic() - started)
    return 0


if __name__ == "__main__":
    sys.exit(main())
