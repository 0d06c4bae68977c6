"""The line magics on the real compiler and runtime."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from tfrt_magics.tools import matching
from tfrt_magics.views.graph import graphviz_picture
from tfrt_nb import Program
from tfrt_nb.documents.picture import own_picture, svg
from tfrt_nb.documents.program import program_document

SHOP = """func.func @main() -> i32 {
  %six = tfrt.constant.i32 6
  %c = tfrt.new.chain
  %answer = tfrt.mul.i32 %six, %six
  %d = tfrt.print.i32 %answer, %c
  tfrt.return %answer : i32
}"""


@pytest.mark.parametrize(
    ("pattern", "found"),
    [("ab", ["ab"]), ("a*", ["ab", "abc"]), ("b", ["ab", "abc"]), ("", ["ab", "abc"]), ("z", [])],
)
def test_patterns(pattern: str, found: list[str]) -> None:
    assert matching(["abc", "ab"], pattern) == found


def test_kernels_say_what_they_take_and_do(cell) -> None:
    cell(
        "from tfrt_nb import kernel\n@kernel('tools.wait')\ndef wait(x: int, *, ms: int) -> int:\n"
        "    'Wait a moment.'\n    return x"
    )
    assert "tfrt.add.i32  (i32, i32) -> i32" in cell("%tfrt_kernels tfrt.add.i32")
    shown = cell("%tfrt_kernels tools.*")
    assert ("tools.wait  (int) -> int  {ms: int}" in shown, "Wait a moment." in shown) == (
        True,
        True,
    )
    assert "did you mean tools.wait?" in cell("%tfrt_kernels tools.wiat")
    assert len(cell("%tfrt_kernels").splitlines()) > 1000


def test_the_graph_of_the_last_program_or_a_named_one_is_written(cell, tmp_path) -> None:
    assert "no cell has made a program" in cell("%tfrt_graph")
    cell(f"%%tfrt --as shop\n{SHOP}")
    assert cell(f"%tfrt_graph --dot {tmp_path}/last.dot").startswith("written")
    cell(f"%tfrt_graph shop --dot {tmp_path}/named.dot")
    text = (tmp_path / "last.dot").read_text()
    assert text == (tmp_path / "named.dot").read_text()
    assert ("digraph" in text, "tfrt.mul.i32" in text) == (True, True)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("%tfrt_graph nowhere", "nowhere"),
        ("%tfrt_graph --dot /no/such/folder/x.dot", "/no/such/folder/x.dot"),
        ("%tfrt_graph --engine neato", "neato"),
        ("%tfrt_graph --dto x", "--dto"),
        ("%tfrt_graph 'open", "quotation"),
        ("%tfrt_trace", "file"),
        ("%tfrt_trace /no/such/folder/x.json", "/no/such/folder/x.json"),
        ("%tfrt_config timeot=3", "did you mean timeout?"),
        ("%tfrt_config timeout", "timeout=VALUE"),
        ("%tfrt_config timeout=soon", "timeout=soon"),
        ("%tfrt_config work_queue=many", "many"),
        ("%tfrt_config live=sometimes", "sometimes"),
    ],
)
def test_what_is_wrong_with_a_line_is_one_line(cell, line: str, part: str) -> None:
    cell(f"%%tfrt\n{SHOP}")
    shown = cell(line)
    assert (len(shown.splitlines()), part in shown) == (1, True)


def test_a_window_without_a_display_says_so(cell, monkeypatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    cell(f"%%tfrt\n{SHOP}")
    assert "display" in cell("%tfrt_graph --window")


def test_our_own_picture_has_each_operation_and_dashes_for_chains() -> None:
    program = Program.from_source(SHOP)
    picture = own_picture(program_document(program))
    assert [text for *_, text in picture.nodes] == [
        "%six = tfrt.constant.i32 6",
        "%c = tfrt.new.chain",
        "%answer = tfrt.mul.i32 %six, %six",
        "%d = tfrt.print.i32 %answer, %c",
    ]
    drawn = svg(picture)
    assert ("tfrt.mul.i32" in drawn, drawn.count("stroke-dasharray")) == (True, 1)


def test_a_hostile_name_is_escaped() -> None:
    text = 'func.func @main() {\n  %s = tfrt_test.get_string {value = "<script>x</script>"}\n  tfrt.return\n}'
    drawn = svg(own_picture(program_document(Program.from_source(text))))
    assert "<script" not in drawn


@pytest.mark.skipif(
    shutil.which("dot") is None and os.environ.get("CI") != "true",
    reason="Graphviz is not installed",
)
def test_graphviz_places_the_same_operations() -> None:
    picture = graphviz_picture(Program.from_source(SHOP).graph().dot)
    texts = [text for *_, text in picture.nodes]
    assert "tfrt.mul.i32" in texts
    assert len(picture.lines) >= 4


def test_the_last_run_is_traced(cell, tmp_path) -> None:
    assert "no cell has run" in cell(f"%tfrt_trace {tmp_path}/x.json")
    cell(f"%%tfrt\n{SHOP}")
    assert "ui.perfetto.dev" in cell(f"%tfrt_trace {tmp_path}/run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    assert "tfrt.mul.i32" in [one["name"] for one in events]


def test_settings_are_listed_and_set(cell, notebook) -> None:
    shown = cell("%tfrt_config")
    assert ("work_queue = " in shown, "timeout = 0.0" in shown) == (True, True)
    assert cell("%tfrt_config timeout=0.7") == ""
    assert "timeout = 0.7" in cell("%tfrt_config")
    cell("%config TFRT.timeout = 0")
    assert "timeout = 0.0" in cell("%tfrt_config")
