"""What a run leaves in the notebook: the same facts in every form that may be wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from tfrt_magics.bridge.record import RUN_MIME, Json, Record
from tfrt_magics.bridge.snapshot import Snapshot
from tfrt_magics.views.page import page
from tfrt_magics.views.text import text_table

if TYPE_CHECKING:
    from tfrt_magics.bridge.explored import Explored


NO_BOARD = (
    "It waits for a choice on the board, which this page does not have, as tfrt-nb's extension of JupyterLab is"
    " missing in it: interrupt the cell."
)


def explored_bundle(found: Explored, place: Mapping[str, Json]) -> dict[str, Json]:
    """The display data of an exploration: a board with its outcomes, and text."""
    page = f"<pre>{escape(found.text)}</pre>"
    return {RUN_MIME: found.file(place), "text/html": page, "text/plain": found.text.rstrip("\n")}


def run_bundle(record: Record) -> dict[str, Json]:
    """The display data of a run as it is: our own JSON for the labextension, a page, and text."""
    snapshot = record.snapshot
    if record.is_stepped and not snapshot.note:
        snapshot = replace(snapshot, note=NO_BOARD)
    return {RUN_MIME: record.file(), **table_bundle(snapshot)}


def table_bundle(snapshot: Snapshot) -> dict[str, Json]:
    """The display data of a run for a page that has no board: a page, and text."""
    return {"text/html": page(snapshot), "text/plain": text_table(snapshot)}
