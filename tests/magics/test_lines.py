"""Test the line magics on the real compiler and runtime."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tfrt_magics.lines import matching
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
def test_a_pattern_finds_names_in_order(pattern: str, found: list[str]) -> None:
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
    assert "no cell has defined a program" in cell("%tfrt_graph")
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
        ("%tfrt_graph --dot ''", "'' is not a file name"),
        ("%tfrt_graph --dot a\0b", "is not a file name"),
        ("%tfrt ~no_such_user/x.mlir", "'~no_such_user/x.mlir' is not a file name"),
        ("%tfrt_trace", "file"),
        ("%tfrt_trace a b", "found a b"),
        ("%tfrt_trace 'open", "quotation"),
        ("%tfrt_trace ~no_such_user/x.json", "'~no_such_user/x.json' is not a file name"),
        ("%tfrt_trace /no/such/folder/x.json", "/no/such/folder/x.json"),
        ("%tfrt_config timeot=3", "did you mean timeout?"),
        ("%tfrt_config timeout=soon", "timeout=soon: expected a float, not the str 'soon'"),
        ("%tfrt_config timeout=-1", "timeout=-1: should not be less than 0.0"),
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


@pytest.fixture
def display(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A display that is on no screen."""
    there, here = os.pipe()
    with subprocess.Popen(
        ["Xvfb", "-displayfd", str(here)], pass_fds=[here], stderr=subprocess.DEVNULL
    ) as server:
        os.close(here)
        with os.fdopen(there) as numbers:
            monkeypatch.setenv("DISPLAY", f":{numbers.readline().strip()}")
        monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
        yield
        server.terminate()  # the window's process exits with it


@pytest.mark.skipif(
    None in map(shutil.which, ("Xvfb", "xwininfo")) and os.environ.get("CI") != "true",
    reason="Xvfb or xwininfo is not installed",
)
def test_the_window_of_xdot_shows_the_program(
    cell, display: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    cell(f"%%tfrt\n{SHOP}")
    said = cell("%tfrt_graph --window").strip()
    if "needs GTK" in said and os.environ.get("CI") != "true":
        pytest.skip(said)
    assert said == "xdot's window opens"
    (file,) = tmp_path.glob("*.dot")
    assert "tfrt.mul.i32" in file.read_text()
    title, shown = f'"{file.name} - Dot Viewer"', ""
    end = time.monotonic() + 60
    while title not in shown and time.monotonic() < end:
        time.sleep(0.1)
        command = ["xwininfo", "-root", "-tree"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert title in shown


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
    text = (
        'func.func @main() {\n  %s = tfrt_test.get_string {value = "<script>x</script>"}\n  '
        "tfrt.return\n}"
    )
    drawn = svg(own_picture(program_document(Program.from_source(text))))
    assert "<script" not in drawn


@pytest.mark.skipif(
    shutil.which("dot") is None and os.environ.get("CI") != "true",
    reason="Graphviz is not installed",
)
def test_graphviz_places_the_same_operations() -> None:
    picture = graphviz_picture(Program.from_source(SHOP).graph().dot)
    texts = [text for *_, text in picture.nodes]
    assert any("tfrt.mul.i32" in text for text in texts)
    assert len(picture.lines) >= 4


def test_the_last_run_is_traced(cell, tmp_path) -> None:
    assert "no cell has run" in cell(f"%tfrt_trace {tmp_path}/x.json")
    cell(f"%%tfrt\n{SHOP}")
    assert ", 3 kernels; open it at ui.perfetto.dev" in cell(f"%tfrt_trace {tmp_path}/run.json")
    events = json.loads((tmp_path / "run.json").read_text())["traceEvents"]
    assert "tfrt.mul.i32" in [one["name"] for one in events]
    one = (
        "func.func @one() -> !tfrt.chain {\n  %c = tfrt.new.chain\n  tfrt.return %c : "
        "!tfrt.chain\n}"
    )
    cell(f"%%tfrt\n{one}")
    assert ", 1 kernel; open it" in cell(f"%tfrt_trace {tmp_path}/one.json")


def test_settings_are_listed_and_set(cell, notebook) -> None:
    assert cell("%tfrt_config timeout").startswith("timeout = ")
    shown = cell("%tfrt_config")
    assert ("work_queue = " in shown, "timeout = 0.0" in shown) == (True, True)
    assert cell("%tfrt_config timeout=0.7") == ""
    assert "timeout = 0.7" in cell("%tfrt_config")
    cell("%config TFRT.timeout = 0")
    assert "timeout = 0.0" in cell("%tfrt_config")


WAITS = """func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %two = "tools.later"(%one) : (i32) -> i32
  tfrt.return %two : i32
}"""
LATER = """import asyncio
from tfrt_nb import kernel
@kernel("tools.later")
async def later(x: int) -> int:
    await asyncio.sleep(0.05)
    return x + 1
@kernel("tools.never")
async def never(x: int) -> int:
    await asyncio.Future()"""


def test_a_run_that_is_slowed_down_waits_longer_for_its_coroutines_and_can_be_stopped(cell) -> None:
    cell(LATER)
    begun = time.monotonic()
    cell(f"%%tfrt --slow 10 -o two\n{WAITS}")
    assert (cell("print(two.result())"), time.monotonic() - begun > 0.45) == ("2\n", True)
    assert "timed out" in cell(f"%%tfrt --slow 10000 --timeout 0.3\n{WAITS}")


def test_a_stepped_program_binds_its_results_and_stops_in_time(cell) -> None:
    cell(LATER)
    cell(f"%%tfrt --step -o two\n{WAITS}")
    assert cell("print(two.result())") == "2\n"
    cell(f"%%tfrt --step -o both\n{WAITS}\n{WAITS.replace('@main', '@other')}")
    assert cell("print({name: one.result() for name, one in both.items()})") == (
        "{'main': 2, 'other': 2}\n"
    )
    bad = "func.func @bad() -> i32 {\n  %zero = tfrt.constant.i32 0\n"
    bad += "  %share, %rest = tfrt.div.i32 %zero, %zero\n  tfrt.return %share : i32\n}"
    assert "4:19: error: Divide by zero" in cell(f"%%tfrt --step -o both\n{bad}\n{WAITS}")
    assert cell("print(both['bad'].state, both['main'].result())") == "error 2\n"
    shown = cell(f"%%tfrt --step --timeout 0.3\n{WAITS.replace('later', 'never')}")
    assert ("@main timed out after 0.3 s" in shown, "'tools.never' has not resolved" in shown) == (
        True,
        True,
    )


def test_options_for_parallel_loops_are_checked_without_a_loop(cell) -> None:
    assert "'async-parallel-for' has no option 'foo'" in cell(f"%%tfrt --parallel-for foo\n{SHOP}")
    shown = cell(f"%%tfrt\n// parallel-for: num-workers=many\n{SHOP}")
    assert "'many' is not a value for 'num-workers'" in shown


def test_programs_that_never_ran_are_not_waited_for_at_the_end(cell) -> None:
    for _ in range(3):
        cell("%%tfrt\nfunc.func @f(%x: i32) -> i32 {\n  tfrt.return %x : i32\n}")
    begun = time.monotonic()
    cell("%tfrt_reset")
    assert time.monotonic() - begun < 2


def test_slow_says_that_compiled_functions_are_as_fast_as_ever(cell) -> None:
    text = "func.func @main() -> i64 {\n  %six = arith.constant 6 : i64\n  return %six : i64\n}"
    assert "not of compiled ones: @main\n" in cell(f"%%tfrt --slow 3\n{text}")
    assert "--slow" not in cell(f"%%tfrt --slow 3\n{WAITS}")


@pytest.mark.parametrize("way", ["step", "explore"])
def test_slow_says_that_it_changes_no_schedule_and_no_step(cell, way: str) -> None:
    text = "func.func @main() -> i32 {\n  %six = tfrt.constant.i32 6\n  tfrt.return %six : i32\n}"
    assert cell(f"%%tfrt --{way} --slow 3\n{text}").startswith(
        "--slow applies only to runs that proceed"
    )
    assert "--slow" not in cell(f"%%tfrt --{way}\n{text}")


def test_stepping_through_compiled_functions_says_that_choosing_takes_the_board(cell) -> None:
    text = "func.func @main() -> i64 {\n  %six = arith.constant 6 : i64\n  return %six : i64\n}"
    shown = cell(f"%%tfrt --step -o six\n{text}")
    assert "choosing them needs the board\n  result = 6" in shown
    assert cell("print(six.result())") == "6\n"


def test_the_graph_of_compiled_functions_has_their_tasks_as_boxes() -> None:
    graph = Program.from_source("""func.func @main() -> i64 {
  %six = arith.constant 6 : i64
  %t0, %left = async.execute -> !async.value<i64> {
    %x = arith.muli %six, %six : i64
    async.yield %x : i64
  }
  %t1 = async.execute [%t0] {
    async.yield
  }
  %a = async.await %left : !async.value<i64>
  return %a : i64
}""").graph()
    lines = [line.strip() for line in graph.dot.splitlines()]

    task = lines.index("subgraph cluster_o1 {")
    assert lines[task + 1 : task + 4] == [
        'o1 [label="%t0, %left = async.execute -> !async.value<i64>"];',
        'o2 [label="%x = arith.muli %six, %six : i64"];',
        "}",
    ]
    assert {"o0 -> o2;", "o1 -> o3 [style=dashed];", "o1 -> o4;", "o4 -> r0;"} <= set(lines)
    assert repr(graph) == "<Graph of 1 function, 5 operations>"

    picture = own_picture(graph.document)
    boxes = [text for *_, text in picture.boxes if text]
    assert boxes == ["@main", "%t0, %left = async.execute -> !async.value<i64>"]
    assert "%x = arith.muli %six, %six : i64" in [text for *_, text in picture.nodes]
