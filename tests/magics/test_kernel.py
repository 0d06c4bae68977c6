"""`%%tfrt` in a real ipykernel, as a front end sees it: by its messages."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client.manager import KernelManager, start_new_kernel

RUN_MIME = "application/vnd.tfrt.run.v1+json"
WIDGET_MIME = "application/vnd.jupyter.widget-view+json"
PATIENCE = 30

PRELUDE = f"%run -n {Path(__file__).parent / 'fake_kernel.py'}"


class FrontEnd:
    """A client that runs cells and keeps what each of them answers."""

    def __init__(self, manager: KernelManager, client) -> None:
        self.manager, self.client = manager, client

    def run(self, code: str, *, is_page: bool) -> list[dict]:
        """Every message of the cell, up to the one that says that the kernel is idle again."""
        return list(self.messages(self.send(code, is_page=is_page)))

    def send(self, code: str, *, is_page: bool) -> str:
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        # A page says which of its cells it runs.
        metadata = {"cellId": "one"} if is_page else {}
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def messages(self, request: str) -> Iterator[dict]:
        while True:
            message = self.client.get_iopub_msg(timeout=PATIENCE)
            if message["parent_header"].get("msg_id") != request:
                continue
            yield message
            if message["content"].get("execution_state") == "idle":
                return


@pytest.fixture(scope="module")
def front_end() -> Iterator[FrontEnd]:
    manager, client = start_new_kernel(kernel_name="python3")
    front_end = FrontEnd(manager, client)
    try:
        answers = front_end.run(PRELUDE, is_page=False)
        assert [each["content"] for each in answers if each["msg_type"] == "error"] == []
        yield front_end
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def of_type(messages: list[dict], kind: str) -> list[dict]:
    return [message["content"] for message in messages if message["msg_type"] == kind]


def test_a_storm_of_updates_reaches_the_page_as_few_messages_and_exactly(front_end) -> None:
    start = time.monotonic()
    messages = front_end.run("%%tfrt\nfunc @storm() -> i32", is_page=True)
    seconds = time.monotonic() - start

    updates = of_type(messages, "comm_msg")
    assert 1 < len(updates) <= 30 * seconds + 1
    (shown,) = of_type(messages, "display_data")
    (final,) = of_type(messages, "update_display_data")
    assert WIDGET_MIME in shown["data"]
    assert final["transient"] == shown["transient"]
    run = final["data"][RUN_MIME]
    assert (run["status"], run["log"]) == ("done", "the end\n")
    texts = [row["text"] for row in run["sections"][0]["rows"]]
    assert texts == [
        "4000",
        *(str(3968 + place if place < 32 else 3904 + place) for place in range(64)),
    ]
    # The last message of the live board tells the same, for a page that was reloaded meanwhile.
    assert updates[-1]["data"]["state"]["snapshot"]["sections"] == run["sections"]


def test_who_is_no_page_gets_one_final_output(front_end) -> None:
    messages = front_end.run("%%tfrt\nfunc @storm() -> i32", is_page=False)
    (shown,) = of_type(messages, "display_data")
    assert list(shown["data"]) == [RUN_MIME, "text/html", "text/plain"]
    assert shown["data"]["text/plain"].startswith("the end\n● @storm: done, 64 of 64 values")
    assert of_type(messages, "comm_open") == of_type(messages, "comm_msg") == []


@pytest.mark.parametrize("is_page", [True, False])
def test_an_interrupt_is_answered_in_one_line(front_end, is_page) -> None:
    request = front_end.send(
        "print('started')\nget_ipython().run_cell_magic('tfrt', '', 'func @hang() -> i32')",
        is_page=is_page,
    )
    messages = []
    interrupted = False
    for message in front_end.messages(request):
        messages.append(message)
        if not interrupted and message["msg_type"] == ("display_data" if is_page else "stream"):
            interrupted = True
            front_end.manager.interrupt_kernel()

    (problem,) = of_type(messages, "error")
    assert problem["traceback"] == [
        "%%tfrt: interrupted; @hang was still waiting for %1, %2, %3, %4, %5 and 58 more"
    ]
    ended = of_type(messages, "update_display_data" if is_page else "display_data")[-1]
    states = {row["state"] for row in ended["data"][RUN_MIME]["sections"][0]["rows"]}
    assert states == {"available", "cancelled"}


def test_not_waiting_frees_the_kernel_and_the_output_is_completed_later(front_end) -> None:
    request = front_end.send("%%tfrt --no-wait\nfunc @storm() -> i32", is_page=True)
    during = list(front_end.messages(request))
    assert of_type(during, "update_display_data") == []
    board, errors = of_type(during, "display_data")
    assert WIDGET_MIME in board["data"]
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
    assert of_type(messages, "error") == []
    assert shown["data"]["application/vnd.tfrt.diagnostics+json"] == [
        {"line": 3, "col": 3, "end": 7, "sev": "error", "msg": "no such operation: oops"}
    ]
