"""Boards in pages: what a run left in a notebook, drawn by one script without a kernel.

The script is plain, not a module, as browsers load no modules from a page that was opened as a file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

RUN = "application/vnd.tfrt.run.v2+json"
HERE = Path(__file__).parent
VIEWS = HERE.parent / "magics" / "tfrt_magics" / "views" / "static"
_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";$', re.MULTILINE)
_EXPORT = re.compile(
    r"^export (?:(?:async )?(?:function|class) (\w+)|const (\w+)|const \[([\w, ]+)\])", re.MULTILINE
)


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


def script() -> str:
    """The modules of the board and `boards.js` as one script."""
    parts: list[str] = []
    numbers: dict[Path, int] = {}
    _add((HERE / "boards.js").resolve(), numbers, parts)
    return "\n".join(['"use strict";', *parts])


def _add(path: Path, numbers: dict[Path, int], parts: list[str]) -> int:
    """Add a module behind those that it imports; its number."""
    if path in numbers:
        return numbers[path]
    text = path.read_text(encoding="utf-8")

    def imported(found: re.Match[str]) -> str:
        folder = VIEWS if path.parent == HERE else path.parent
        number = _add((folder / found[2]).resolve(), numbers, parts)
        return f"const {{{found[1].replace(' as ', ': ')}}} = module{number};"

    body = _IMPORT.sub(imported, text)
    names = ", ".join(
        name
        for found in _EXPORT.findall(text)
        for name in ", ".join(filter(None, found)).split(", ")
    )
    body = re.sub(r"^export ", "", body, flags=re.MULTILINE)
    if left := re.search(r"^(import|export)\b.*", body, re.MULTILINE):
        raise ValueError(f"{path.name}: a form that this script does not know: {left[0]}")
    number = numbers[path] = len(numbers)
    parts.append(f"const module{number} = (() => {{\n{body}\nreturn {{ {names} }};\n}})();")
    return number
