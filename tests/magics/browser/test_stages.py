"""Test the stages of a program, and what a reader can copy or save, in a real JupyterLab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.magics.files import document_of

from tfrt_runtime.bef.reader import BefFile

RUN_MIME = "application/vnd.tfrt.run.v2+json"
HOST = """%%tfrt
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %sum = tfrt.add.i32 %one, %one
  tfrt.return %sum : i32
}"""
TASKS = """%%tfrt
func.func @main() -> i32 {
  %c = arith.constant 6 : i32
  %t, %v = async.execute -> !async.value<i32> {
    %y = arith.muli %c, %c : i32
    async.yield %y : i32
  }
  %a = async.await %v : !async.value<i32>
  return %a : i32
}"""
KINDS = ("HTML page", "SVG graph", "PNG graph", "DOT graph", "Chrome trace", "BEF")


def test_stages_are_made_when_they_are_looked_at_and_kept_in_the_file(notebook: Any) -> None:
    page, lab = notebook.page, notebook.lab
    lab.write("stages.ipynb", "%load_ext tfrt_nb", HOST, TASKS)
    notebook.open("stages.ipynb")
    notebook.run_all_and_wait()
    page.wait_for_selector(".tfrt-board[data-status='done'] >> nth=1")
    host, tasks = (page.locator(".tfrt-board").nth(i) for i in range(2))

    host.get_by_role("tab", name="Stages").click()
    host.get_by_role("button", name="BEF", exact=True).wait_for()
    line = host.get_by_role("list", name="Stage", exact=True).locator("[data-line='4']").first
    assert "tfrt.add.i32 %0, %0" in line.inner_text()
    line.click()
    program = host.get_by_role("list", name="Program")
    program.locator("[aria-current=true][data-line='4']").wait_for()
    assert page.locator(".cm-content .tfrt-current").inner_text().strip().startswith("%sum")

    tasks.get_by_role("tab", name="Stages").click()
    tasks.get_by_role("button", name="assembly").wait_for()
    notebook.picture("stages")
    stage = tasks.get_by_role("list", name="Stage", exact=True)
    # The multiplication is found at every stage, and a click on it in the program finds it there.
    tasks.get_by_role("list", name="Program").locator("[data-line='5']").click()
    for name, part in (
        ("async-to-async-runtime", "arith.muli"),
        ("LLVM IR", " mul i32 "),
        ("LLVM IR, split", " mul i32 "),
        ("assembly", "imul"),
    ):
        tasks.get_by_role("button", name=name, exact=True).click()
        stage.locator("[aria-current=true]", has_text=part).first.wait_for()
    tasks.get_by_role("button", name="async-to-async-runtime").click()
    stage.locator("[data-mark='+']").first.wait_for()

    # The file has them, so they are shown without a kernel.
    notebook.save()
    data = lab.read("stages.ipynb").cells[2].outputs[0].data[RUN_MIME]
    body = document_of(data)
    assert [row["name"] for row in body["stages"]["rows"]][-2:] == ["assembly", "BEF"]
    notebook.shut_down()
    notebook.open("stages.ipynb", kernel=False)
    page.wait_for_selector(".tfrt-board[data-status='done'] >> nth=1")
    tasks.get_by_role("tab", name="Stages").click()
    tasks.get_by_role("button", name="assembly").wait_for()


def test_each_export_is_a_file_that_can_be_read(notebook: Any, tmp_path: Path) -> None:
    page = notebook.page
    notebook.lab.write("exports.ipynb", "%load_ext tfrt_nb", HOST)
    notebook.open("exports.ipynb")
    notebook.run_all_and_wait()
    board = page.locator(".tfrt-board[data-status='done']")
    board.wait_for()
    files: dict[str, bytes] = {}
    for kind in KINDS:
        board.get_by_role("button", name="Export", exact=True).click()
        with page.expect_download() as found:
            board.get_by_role("button", name=kind, exact=True).click()
        path = tmp_path / found.value.suggested_filename
        found.value.save_as(path)
        files[kind] = path.read_bytes()
    assert b"%sum = tfrt.add.i32" in files["HTML page"]
    page.set_content(files["HTML page"].decode())
    board.locator("[data-value='%sum'][data-state=available]").wait_for()
    board.get_by_role("button", name="Play", exact=True).wait_for()
    assert files["SVG graph"].startswith(b"<svg ")
    assert b"tfrt.add.i32" in files["SVG graph"]
    assert files["PNG graph"].startswith(b"\x89PNG")
    assert b"0 -> 1" in files["DOT graph"]
    spans = [e for e in json.loads(files["Chrome trace"])["traceEvents"] if e["ph"] == "X"]
    assert "tfrt.add.i32" in {span["name"] for span in spans}
    bef = BefFile.load(memoryview(files["BEF"]))
    assert [one.name for one in bef.functions] == ["main"]
