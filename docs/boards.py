"""Boards in pages: what a run left in a notebook, drawn by one script without a kernel.

The script is plain, not a module, as browsers load no modules from a page that was opened as a file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfrt_pages import joined, stripped

RUN = "application/vnd.tfrt.run.v2+json"
HERE = Path(__file__).parent


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
    return f'"use strict";(() => {{{stripped(joined((HERE / "boards.js").resolve()))}}})();'
