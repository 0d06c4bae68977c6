"""The Sphinx configuration; `generate.py` writes the sources.

If TFRT_NB_REPOSITORY=OWNER/REPOSITORY is set, each page links to the tutorials on Binder. If
TFRT_NB_SITE is set, readers can edit and run cells: it is the address of the site that `make lite`
builds, relative to the start page of the documentation.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path

from pygments.lexers.python import PythonLexer
from pygments.token import _TokenType
from sphinx.application import Sphinx

from tfrt_nb.language.lexer import TfrtLexer
from tfrt_nb.lessons import RENAMED

project = "tfrt-nb"
extensions = ["myst_nb"]
html_theme = "furo"
html_title = "tfrt-nb"
html_show_copyright = False
# Notebooks are shown as they were saved, so neither building nor reading the site needs a kernel.
nb_execution_mode = "off"

myst_heading_anchors = 3
# A line such as {.tfrt-cell} gives the block below it a class.
myst_enable_extensions = ["attrs_block"]
# A block without a language is a program or a part of one.
highlight_language = "tfrt"
# MLIR text and cell outputs need not be in languages that Pygments knows.
suppress_warnings = ["misc.highlighting_failure", "mystnb.unknown_mime_type", "myst.header"]
html_static_path = ["_static"]
# This script draws the boards of saved runs. It is deferred, so that their data is loaded first.
site = os.environ.get("TFRT_NB_SITE")
html_js_files = [("boards.js", {"defer": "defer", **({"data-site": site} if site else {})})]
html_css_files = ["page.css"]
# Fonts and scripts come with the theme: nothing is loaded from other sites.
html_theme_options: dict[str, object] = {"navigation_with_keys": True}
if repository := os.environ.get("TFRT_NB_REPOSITORY"):
    address = (
        f"https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/notebooks/tutorials.ipynb"
    )
    html_theme_options["announcement"] = f'<a href="{address}">Run the tutorials on Binder</a>'


class CellLexer(PythonLexer):  # type: ignore[misc]
    """Highlights a tutorial's cell, which is a program or Python code."""

    def get_tokens_unprocessed(
        self, text: str, stack: tuple[str, ...] = ("root",)
    ) -> Iterator[tuple[int, _TokenType, str]]:
        """Yield the tokens of the text; the magic on its first line determines the language."""
        if text.startswith("%%tfrt"):
            yield from TfrtLexer().get_tokens_unprocessed(text)
        else:
            yield from super().get_tokens_unprocessed(text, stack)


def name_search_results(app: Sphinx, exception: Exception | None) -> None:
    """Let the search show index entries under their own names.

    Sphinx shows each entry under the title of its page: a dozen results for `AsyncValue` were all
    called "Python". An entry that is listed as a section is shown with its page's title and its own
    name. The search finds entries that are sections anyway.
    """
    path = Path(app.outdir) / "searchindex.js"
    if exception is not None or not path.exists():
        return
    before, after = "Search.setIndex(", ")"
    index = json.loads(path.read_text("utf-8").removeprefix(before).removesuffix(after))
    sections = {title.lower() for title in index["alltitles"]}
    for name, places in index["indexentries"].items():
        if name not in sections:
            index["alltitles"][name] = [[page, anchor or None] for page, anchor, _ in places]
    index["indexentries"] = {}
    path.write_text(f"{before}{json.dumps(index, separators=(',', ':'))}{after}", "utf-8")


def lead_on_from_former_names(app: Sphinx, exception: Exception | None) -> None:
    """Redirect the former addresses of renamed tutorials to their pages."""
    folder = Path(app.outdir) / "tutorials"
    for old, new in RENAMED.items() if exception is None and folder.exists() else ():
        refresh = f'<meta http-equiv="refresh" content="0; url={new}.html">'
        page = f'<!doctype html>{refresh}<a href="{new}.html">{new}</a>'
        (folder / f"{old}.html").write_text(page, "utf-8")


def setup(app: Sphinx) -> None:
    """Highlight programs even if the package is only on the path and not installed."""
    app.connect("build-finished", name_search_results)
    app.connect("build-finished", lead_on_from_former_names)
    app.add_lexer("tfrt", TfrtLexer)
    app.add_lexer("mlir", TfrtLexer)
    app.add_lexer("tfrt-cell", CellLexer)
