"""What a finished run leaves in the notebook: the same facts in every form that may be wanted."""

from __future__ import annotations

from tfrt_magics.bridge.snapshot import Snapshot
from tfrt_magics.bridge.stream import Json, snapshot_json
from tfrt_magics.views.page import page
from tfrt_magics.views.text import text_table

RUN_MIME = "application/vnd.tfrt.run.v1+json"


def run_bundle(snapshot: Snapshot) -> dict[str, Json]:
    """The display data of `snapshot`: our own JSON for the labextension, a page, and text."""
    return {
        RUN_MIME: snapshot_json(snapshot),
        "text/html": page(snapshot),
        "text/plain": text_table(snapshot),
    }
