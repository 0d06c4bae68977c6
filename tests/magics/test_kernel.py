"""Test `%%tfrt` in a real ipykernel, by the messages that a front end receives."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager, start_new_kernel
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook
from tests.magics.files import document_of

RUN_MIME = "application/vnd.tfrt.run.v2+json"
PATIENCE = 60
ANSI = re.compile(r"\x1b\[[\d;]*m")

PRELUDE = f"%run -n {Path(__file__).parent / 'fake_kernel.py'}"


class FrontEnd:
    """A client that runs cells and keeps each cell's messages."""

    def __init__(self, manager: KernelManager, client) -> None:
        self.manager, self.client = manager, client

    def run(self, code: str, *, is_page: bool) -> list[dict]:
        """Run a cell, and return its messages until the kernel is idle again."""
        return list(self.messages(self.send(code, is_page=is_page)))

    def send(self, code: str, *, is_page: bool) -> str:
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        # A page says which of its cells it runs.
        metadata = {"cellId": "one"} if is_page else {}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def ask(self, content: dict) -> dict:
        """Return the answer to a page's request."""
        message = self.client.session.msg("tfrt_request", content)
        self.client.control_channel.send(message)
        while True:
            answer = self.client.get_control_msg(timeout=PATIENCE)
            if answer["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return answer["content"]

    def messages(self, request: str) -> Iterator[dict]:
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") != request:
                continue
            yield message
            if message["content"].get("execution_state") == "idle":
                return


@contextlib.contextmanager
def started(prelude: str, *, is_ours: bool = True) -> Iterator[FrontEnd]:
    """Start a kernel that has run a first cell, with a page.

    The page has our extension if `is_ours`.
    """
    manager, client = start_new_kernel(kernel_name="python3")
    front_end = FrontEnd(manager, client)
    try:
        answers = front_end.run(prelude, is_page=False)
        assert [each["content"] for each in answers if each["msg_type"] == "error"] == []
        if is_ours:
            front_end.ask({"here": True})  # the answer of such a page to the kernel's question
        yield front_end
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture(scope="module")
def front_end() -> Iterator[FrontEnd]:
    with started(PRELUDE) as front_end:
        yield front_end


def of_type(messages: list[dict], kind: str) -> list[dict]:
    return [message["content"] for message in messages if message["msg_type"] == kind]


def printed(messages: list[dict]) -> str:
    """Return the printed text; a slow kernel sends one `print` as several messages."""
    return "".join(content["text"] for content in of_type(messages, "stream"))


def body_of(shown: dict) -> dict:
    """Return the body of the run document in a display."""
    return document_of(shown["data"][RUN_MIME])


def test_a_storm_of_updates_reaches_the_page_as_few_messages_and_exactly(front_end) -> None:
    start = time.monotonic()
    messages = front_end.run("%%tfrt\nfunc @storm() -> i32", is_page=True)
    seconds = time.monotonic() - start

    updates = of_type(messages, "comm_msg")
    assert 1 < len(updates) <= 30 * seconds + 2
    (shown,) = of_type(messages, "display_data")
    (final,) = of_type(messages, "update_display_data")
    assert final["transient"] == shown["transient"]
    run = body_of(final)
    assert [text for _, _, text in run["log"]] == ["the end\n"]
    assert run["results"] == {"storm": [["available", "4000"]]}
    assert run["previews"] == {
        str(place): str(3968 + place if place < 32 else 3904 + place) for place in range(64)
    }
    # The last message has the same and, for pages with our extension, the events they lack.
    last = updates[-1]["data"]
    assert last["from"] + len(last["events"]["time"]) == len(run["events"]["time"])
    assert updates[-1]["data"]["bundle"][RUN_MIME] == final["data"][RUN_MIME]


def test_a_page_is_helped_while_a_cell_of_python_runs(front_end, tmp_path) -> None:
    code = (
        f"import pathlib\nprint('runs')\nwhile not "
        f"pathlib.Path({str(tmp_path / 'go')!r}).exists(): pass"
    )
    messages = front_end.messages(front_end.send(code, is_page=True))
    next(m for m in messages if m["msg_type"] == "stream")
    wrong = "%%tfrt\nfunc.func @f() {\n  %a = tfrt.addd.i32\n}"
    (mark,) = front_end.ask({"ask": "lint", "text": wrong})["answer"][:1]
    assert (mark["line"], mark["sev"]) == (3, "error")
    # It is said again, because the answer's "idle" hides the cell that runs.
    next(m for m in messages if m["content"].get("execution_state") == "busy")
    (tmp_path / "go").touch()
    assert list(messages)[-1]["content"]["execution_state"] == "idle"


SLOW = """import pathlib, sys, time
class Slow:
    def __getattr__(self, name): return getattr(sys.__stdout__, name)
    def flush(self): time.sleep(0.3)
fast, sys.stdout = sys.stdout, Slow()
display("runs")
while not pathlib.Path({go!r}).exists(): time.sleep(0.02)
sys.stdout = fast"""


def test_a_page_sees_a_busy_kernel_however_slowly_its_request_ends(front_end, tmp_path) -> None:
    code = SLOW.format(go=str(tmp_path / "go"))
    messages = front_end.messages(front_end.send(code, is_page=True))
    next(m for m in messages if m["msg_type"] == "display_data")
    front_end.ask({"ask": "lint", "text": "%%tfrt\n"})
    statuses = []
    while statuses[-1:] != [("execute_request", "busy")]:
        message = front_end.client.get_iopub_msg(timeout=PATIENCE)
        if message["msg_type"] == "status":
            statuses.append(
                (message["parent_header"]["msg_type"], message["content"]["execution_state"])
            )
    assert statuses[-2] == ("tfrt_request", "idle")
    (tmp_path / "go").touch()
    assert list(messages)[-1]["content"]["execution_state"] == "idle"


def test_a_page_asks_on_the_control_channel_while_the_cell_is_busy(front_end) -> None:
    request = front_end.send("%%tfrt\nfunc @hang() -> i32", is_page=True)
    messages = front_end.messages(request)
    shown = next(m["content"] for m in messages if m["msg_type"] == "display_data")
    run = shown["data"][RUN_MIME]["run"]
    answer = front_end.ask({"run": run, "last": 0})
    assert (answer["status"], answer["previews"]) == ("running", {"0": "1"})
    assert front_end.ask({"run": "another"})["status"] == "unknown"
    front_end.ask({"cancel": run})
    (final,) = of_type(list(messages), "update_display_data")
    assert final["data"][RUN_MIME]["status"] == "cancelled"
    assert run in [each["run"] for each in front_end.ask({})["runs"]]


def test_a_cell_that_closes_every_comm_leaves_pages_an_answer(front_end) -> None:
    close = "import comm\nfor each in [*comm.get_comm_manager().comms.values()]: each.close()"
    front_end.run(close, is_page=False)
    messages = front_end.run("%%tfrt\nfunc @storm() -> i32", is_page=True)
    name = of_type(messages, "comm_msg")[0]["comm_id"]
    request = front_end.client.comm_info("tfrt")
    info = front_end.client.get_shell_msg(timeout=PATIENCE)
    while info["parent_header"].get("msg_id") != request:
        info = front_end.client.get_shell_msg(timeout=PATIENCE)
    assert info["content"]["comms"] == {name: {"target_name": "tfrt"}}


def test_who_is_no_page_gets_one_final_output(front_end) -> None:
    messages = front_end.run("%%tfrt\nfunc @storm() -> i32", is_page=False)
    (shown,) = of_type(messages, "display_data")
    assert list(shown["data"]) == [RUN_MIME, "text/html", "text/plain"]
    assert shown["data"]["text/plain"].startswith("the end\n● @storm: done, 64 of 64 values")
    assert of_type(messages, "comm_open") == of_type(messages, "comm_msg") == []


@pytest.mark.parametrize("is_page", [True, False])
def test_an_interrupt_is_answered_in_one_line(front_end, is_page) -> None:
    request = front_end.send("%%tfrt\nfunc @hang() -> i32", is_page=is_page)
    messages = []
    for message in front_end.messages(request):
        messages.append(message)
        if message["msg_type"] == "stream":
            front_end.manager.interrupt_kernel()

    (problem,) = of_type(messages, "error")
    assert problem["traceback"] == [
        "%%tfrt: interrupted; @hang was still waiting for %1, %2, %3, %4, %5 and 58 more"
    ]
    ended = of_type(messages, "update_display_data" if is_page else "display_data")[-1]
    assert ended["data"][RUN_MIME]["status"] == "cancelled"
    assert body_of(ended)["results"] == {"hang": [["cancelled", ""]]}


FAILING = """
import json, threading
import tfrt_nb

@tfrt_nb.kernel("shop.read")
def read(text: str) -> object:
    return json.loads(text)

@tfrt_nb.kernel("shop.wait")
def wait(text: str) -> object:
    print("waits", flush=True)
    return threading.Event().wait()
"""


def test_an_error_of_a_kernel_is_printed_with_its_lines_and_the_next_cell_runs(front_end) -> None:
    front_end.run(FAILING, is_page=False)
    for cell in ("{}.result()", "await {}", "%xmode Verbose\n{}.result()"):
        call = """tfrt_nb.call("shop.read", "{'level': }")"""
        (problem,) = of_type(front_end.run(cell.format(call), is_page=False), "error")
        shown = ANSI.sub("", "\n".join(problem["traceback"]))
        arguments = "(text=<not kept>)" if "Verbose" in cell else "(text)"
        assert re.search(rf"Cell In\[\d+\], line 6, in read{re.escape(arguments)}\n", shown)
        assert "----> 6     return json.loads(text)\n" in shown
        assert "in JSONDecoder.decode(self" in shown
    front_end.run("%xmode Context", is_page=False)
    assert printed(front_end.run("print(1)", is_page=False)) == "1\n"


def test_a_mistake_in_python_is_shown_with_the_users_frames_only(front_end) -> None:
    front_end.run("import tfrt_nb", is_page=False)
    program = "@tfrt_nb.program\ndef page(number):\n    return number + 'a'"
    front_end.run(program, is_page=False)
    for mistake, lines in (
        ("page(1)", [1, 3]),
        ("page(1, 2)", [1]),
        ("page.map(5)", [1]),
        ("tfrt_nb.call('no.kernel', 1)", [1]),
        ("tfrt_nb.Program('func.func @main() { tfrt.return %x : i32 }')", [1]),
        ("tfrt_nb.HostContext('no queue')", [1]),
    ):
        (problem,) = of_type(front_end.run(mistake, is_page=False), "error")
        shown = ANSI.sub("", "\n".join(problem["traceback"]))
        found = re.findall(r"^Cell In\[\d+\], line (\d+)", shown, re.MULTILINE)
        assert list(map(int, found)) == lines
        assert "\nFile" not in shown


def test_an_interrupt_of_a_kernel_on_the_thread_of_the_notebook_is_printed(front_end) -> None:
    front_end.run(FAILING, is_page=False)
    front_end.run('tfrt_nb.set_default_host(tfrt_nb.HostContext("s"))', is_page=False)
    request = front_end.send('tfrt_nb.call("shop.wait", "").result()', is_page=False)
    messages = []
    for message in front_end.messages(request):
        messages.append(message)
        if message["content"].get("text") == "waits\n":
            front_end.manager.interrupt_kernel()

    (problem,) = of_type(messages, "error")
    shown = ANSI.sub("", "\n".join(problem["traceback"]))
    assert problem["ename"] == "KeyboardInterrupt"
    assert "in wait(text)\n" in shown
    # The interrupt may come before the kernel has returned from printing.
    assert re.search(r"---> 1[01]     (print|return threading)", shown)
    front_end.run("tfrt_nb.set_default_host(None)", is_page=False)
    assert printed(front_end.run("print(1)", is_page=False)) == "1\n"


def test_not_waiting_frees_the_kernel_and_the_output_is_completed_later(front_end) -> None:
    request = front_end.send("%%tfrt --no-wait\nfunc @storm() -> i32", is_page=True)
    during = list(front_end.messages(request))
    assert of_type(during, "update_display_data") == []
    board, errors = of_type(during, "display_data")
    assert board["data"][RUN_MIME]["status"] == "running"
    assert errors["data"] == {"text/html": "", "text/plain": ""}

    while (message := front_end.client.get_iopub_msg(timeout=PATIENCE))[
        "msg_type"
    ] != "update_display_data":
        pass
    assert message["content"]["transient"] == board["transient"]
    assert message["content"]["data"][RUN_MIME]["status"] == "done"


def test_a_mistake_in_the_program_is_shown_without_a_traceback(front_end) -> None:
    messages = front_end.run("%%tfrt\nfunc @f() {\n  oops\n}", is_page=True)
    (shown,) = of_type(messages, "display_data")
    (problem,) = of_type(messages, "error")
    line = re.sub(r"cell \d+", "cell N", problem["evalue"])
    assert (problem["ename"], line) == ("TfrtError", "no such operation: oops – cell N, line 3")
    assert problem["traceback"] == [f"TfrtError: {problem['evalue']}"]
    assert messages.index(next(m for m in messages if m["msg_type"] == "error")) > 1
    assert shown["data"]["application/vnd.tfrt.diagnostics+json"] == [
        {"line": 3, "col": 3, "end": 7, "sev": "error", "msg": "no such operation: oops"}
    ]


@pytest.mark.parametrize("tags", [[], ["raises-exception"]])
def test_a_failed_cell_stops_the_notebook_after_its_board_unless_it_is_tagged(tags) -> None:
    program = (
        "func.func @main() -> i32 {\n  %a = tfrt.constant.i32 0\n  %b, %c = tfrt.div.i32 "
        "%a, %a\n  tfrt.return %b : i32\n}"
    )
    sources = ("%load_ext tfrt_nb", f"%%tfrt -o share\n{program}", "print(share.state)")
    notebook = new_notebook(cells=[new_code_cell(each) for each in sources])
    notebook.cells[1].metadata["tags"] = tags
    with pytest.raises(CellExecutionError) if not tags else contextlib.nullcontext():
        NotebookClient(
            notebook, kernel_name="python3", extra_arguments=["--log-level=ERROR"]
        ).execute()
    assert [each.output_type for each in notebook.cells[1].outputs] == [
        *("display_data", "display_data", "error")
    ]
    assert notebook.cells[1].outputs[2].traceback == ["TfrtError: Divide by zero – cell 2, line 4"]
    assert len(notebook.cells[2].outputs) == bool(tags)


STEPS = (
    "func.func @NAME() -> i32 {\n  %one = tfrt.constant.i32 1\n  %two = tfrt.add.i32 %one, "
    "%one\n  tfrt.return %two : i32\n}\n"
)


def test_each_function_that_is_stepped_through_has_a_board() -> None:
    cell = "%%tfrt --step -o both\n" + "".join(STEPS.replace("NAME", name) for name in "fg")
    with started("%load_ext tfrt_nb") as front_end:
        boards = []
        for message in front_end.messages(front_end.send(cell, is_page=True)):
            if message["msg_type"] == "display_data":
                boards.append(message["content"]["data"][RUN_MIME]["run"])
                while not front_end.ask({"run": boards[-1]})["ready"]:
                    time.sleep(0.02)
                front_end.ask({"step": boards[-1]})  # to its end
        said = front_end.run("print(both['f'].result(), both['g'].result())", is_page=True)
    assert len(set(boards)) == 2
    assert printed(said) == "2 2\n"


PRINTING = """
%load_ext tfrt_nb
import threading, time, tfrt_nb
begin = threading.Event()

@tfrt_nb.kernel("my.say", blocking=True)
def say(chain):
    begin.wait()
    print("from the kernel")
    return chain
"""
SAID = """%%tfrt --no-wait
func.func @main() -> !tfrt.chain {
  %c = tfrt.new.chain
  %d = "my.say"(%c) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %d : !tfrt.chain
}"""


def test_what_a_kernel_prints_is_in_the_log_of_its_cell_also_when_another_cell_runs() -> None:
    with started(PRINTING) as front_end:
        (board, _) = of_type(front_end.run(SAID, is_page=True), "display_data")
        messages = front_end.run("print('from the cell')\nbegin.set()\ntime.sleep(2)", is_page=True)
        while not (updates := of_type(messages, "update_display_data")):
            messages.append(front_end.client.get_iopub_msg(timeout=PATIENCE))

    assert printed(messages) == "from the cell\n"
    assert updates[0]["transient"] == board["transient"]
    body = body_of(updates[0])
    assert "".join(text for _, _, text in body["log"]) == "from the kernel\n"
    lines = [body["program"]["operations"][number]["line"] for _, number, _ in body["log"]]
    assert set(lines) == {4}


STARTING = """
import sys, threading, warnings
import tfrt_nb as tfrt

gates = [threading.Event() for _ in range(4)]

@tfrt.kernel("my.tell", blocking=True)
def tell(x: int) -> int:
    gates[x].wait(30)
    print("told", x)
    print("error", x, file=sys.stderr)
    return x

@tfrt.program
def telling(x: tfrt.i32):
    return tell(x)

source = """ + repr("""
func.func @main(%x: i32) -> i32 {
  %y = "my.tell"(%x) : (i32) -> i32
  %c = tfrt.new.chain
  %d = tfrt.print.i32 %y, %c
  tfrt.return %y : i32
}""")


def test_what_a_run_prints_is_in_the_cell_that_started_it() -> None:
    with started(STARTING, is_ours=False) as front_end:
        cells = [
            front_end.send(f"run{x} = tfrt.Program(source).run({x})", is_page=False) for x in (1, 2)
        ]
        last = front_end.send(
            "[gates[x].set() for x in (2, 1)]; run1.wait(30), run2.wait(30)", is_page=False
        )
        texts: dict[str, str] = {}
        while "".join(texts.values()).count("int32 = ") < 2 or len(texts) < 4:
            message = front_end.client.get_iopub_msg(timeout=PATIENCE)
            if message["msg_type"] == "stream":
                content, cell = message["content"], message["parent_header"]["msg_id"]
                key = (
                    f"{cells.index(cell) + 1 if cell in cells else cell == last} {content['name']}"
                )
                texts[key] = texts.get(key, "") + content["text"]

    assert texts == {
        f"{x} {name}": text
        for x in (1, 2)
        for name, text in (("stdout", f"told {x}\nint32 = {x}\n"), ("stderr", f"error {x}\n"))
    }
