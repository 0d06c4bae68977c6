"""Test boards of runs and batches that Python starts: which are watched, and what pages get."""

from __future__ import annotations

import ast
import gc
import json
import re
import time
import weakref
from collections.abc import Iterator

import pytest
from tests.magics.test_kernel import RUN_MIME, FrontEnd, body_of, of_type, started

import tfrt_nb as tfrt
from tfrt_magics.live.python_run import FOLDED_ROWS, BatchRun, _traced, board_of
from tfrt_magics.live.watching import MAX_BOARDS, shown_calls
from tfrt_nb.documents.events import CALL
from tfrt_nb.documents.run import RunDocument
from tfrt_runtime.host.tracing.events import Watch

SLOW = 60
PRELUDE = """%load_ext tfrt_nb
import time, threading, gc
import tfrt_nb as tfrt
import tfrt_magics.live.python_run as live

@tfrt.kernel(blocking=True)
def gate(x: int) -> int:
    opened.wait(60)
    if x == 3: raise ValueError("three")
    return x * 2

@tfrt.program
def order(apples: tfrt.i64):
    pears = gate(apples)
    return gate(pears) + 1

@tfrt.program
def page(n: tfrt.i64):
    return gate(n)

@tfrt.program
def quick(apples: tfrt.i64):
    plums = apples * 3
    return plums + 1

opened = threading.Event()
tfrt.call("tfrt.add.i32", 1, 2).result()
"""


class NoPage:
    """A recipient of messages that no page gets."""

    @property
    def place(self) -> dict[str, None]:
        return {}

    def send(self, message: dict[str, object]) -> None: ...


@pytest.fixture
def kernel() -> Iterator[FrontEnd]:
    with started(PRELUDE) as front_end:
        yield front_end


def calls(cell: str) -> list[str]:
    """Return the source texts of the calls whose values a cell displays."""
    lines = cell.splitlines()
    found = shown_calls(ast.parse(cell))
    return sorted(lines[one[0] - 1][one[1] - 1 : (one[3] or 0) - 1] for one in found)


def boards(messages: list[dict]) -> list[dict]:
    """Return the run documents that a cell has shown, in their first state."""
    shown = [*of_type(messages, "display_data"), *of_type(messages, "execute_result")]
    return [one for one in shown if RUN_MIME in one["data"]]


def states(kernel: FrontEnd, shown: dict) -> dict[str, list[str]]:
    """Return a board's current texts by the names of its rows."""
    answer = kernel.ask({"run": shown["data"][RUN_MIME]["run"], "last": 0})
    rows = answer["bundle"]["text/plain"].splitlines()[1:]
    found = [re.split(r"  +", row.strip()) for row in rows if row.startswith("  ")]
    return {row[1]: row for row in found}


def test_the_calls_whose_value_a_cell_displays_are_known_before_it_runs() -> None:
    assert calls("order(4)") == ["order(4)"]
    assert calls("x = 1\nrun = order(4)\nrun") == ["order(4)"]
    assert calls("(run := order(4))") == ["order(4)"]
    assert calls("for i in (1, 2):\n    display(order(i))\n0") == ["order(i)"]
    assert calls("a = b = order(1)\ndisplay(a)") == sorted(["display(a)", "order(1)"])
    assert calls("order(4).result()") == ["order(4).result()"]  # its value is not a run
    assert calls("[order(1)]") == calls("order(1); x = 2") == calls("") == []


def test_a_run_that_ends_before_it_is_shown_has_its_whole_board(kernel: FrontEnd) -> None:
    code = "run = quick(4); run.wait()\ntime.sleep(0.1)\nrun"
    [shown] = of_type(kernel.run(code, is_page=True), "execute_result")
    body = body_of(shown)
    names = [one["name"] for one in body["program"]["values"] if one["name"]]
    assert names == ["apples", "plums", "plums + 1"]
    assert [one["text"] for one in body["program"]["operations"]][1] == "plums = apples * 3"
    assert body["source"].strip().splitlines()[1:] == [
        "def quick(apples: tfrt.i64):",
        "    plums = apples * 3",
        "    return plums + 1",
    ]
    assert body["events"]["time"] != []
    text = shown["data"]["text/plain"]
    assert re.search(r"plums +12 +i64", text) and "loc(" not in json.dumps(body)
    assert "@quick: done, " in text


def test_only_runs_that_are_shown_are_watched(kernel: FrontEnd) -> None:
    code = "def f():\n    return quick(5)\nseen = quick(1), quick(2)\nr = f()\nr.wait()\n"
    said = of_type(
        kernel.run(code + "print([x.watch for x in (*seen, r)])", is_page=True), "stream"
    )
    assert [one["text"] for one in said] == ["[None, None, None]\n"]
    said = of_type(kernel.run("quick(7).result()", is_page=True), "execute_result")
    assert said[0]["data"]["text/plain"] == "22"
    said = of_type(kernel.run("r = quick(7)\ndisplay(r)\nprint(r.watch)", is_page=True), "stream")
    assert "Watch object" in said[0]["text"]


def test_a_run_that_is_shown_later_is_known_from_its_users(kernel: FrontEnd) -> None:
    kernel.run("run = order(4); time.sleep(0.2)", is_page=True)
    [shown] = boards(kernel.run("display([1]); run", is_page=True))
    rows = states(kernel, shown)
    assert rows["apples"][0] == "● available"
    assert rows["pears"][0].endswith("unavailable")
    [again] = boards(kernel.run("run", is_page=True))  # the same board, shown twice
    assert again["data"][RUN_MIME]["run"] == shown["data"][RUN_MIME]["run"]
    kernel.run("opened.set(); run.wait(); time.sleep(0.7)", is_page=True)
    rows = states(kernel, shown)
    assert {name: row[0] for name, row in rows.items()} == dict.fromkeys(rows, "● available")
    assert rows["result"][2] == "17"


def test_a_batch_has_a_row_for_each_call_and_names_the_failed_one(kernel: FrontEnd) -> None:
    [shown] = boards(kernel.run("batch = page.map(range(5)); batch", is_page=True))
    assert [row[0] for row in states(kernel, shown).values()] == ["○ unavailable"] * 5
    kernel.run("opened.set(); batch.wait(); time.sleep(0.5)", is_page=True)
    answer = kernel.ask({"run": shown["data"][RUN_MIME]["run"], "last": 0})
    text = answer["bundle"]["text/plain"]
    assert answer["status"] == "failed"
    assert text.splitlines()[-1] == "▲ 1 of 5 failed: element 3"
    assert "▲ error      [3]  ValueError: three" in text and "● available  [4]  8" in text


def test_a_batch_that_is_dropped_or_whose_host_is_closed_ends_on_its_board(
    kernel: FrontEnd,
) -> None:
    code = "host = tfrt.HostContext('mstd:2')\npage.map(range(4, 9), host=host)"
    [shown] = boards(kernel.run(code, is_page=True))
    kernel.run("_ = None; Out.clear(); gc.collect()", is_page=True)
    assert len(states(kernel, shown)) == 5
    kernel.run(
        "threading.Timer(0.2, opened.set).start(); host.close(); time.sleep(0.7)", is_page=True
    )
    answer = kernel.ask({"run": shown["data"][RUN_MIME]["run"], "last": 0})
    assert answer["status"] in ("cancelled", "done")
    assert not any(row[0].endswith("unavailable") for row in states(kernel, shown).values())


@pytest.mark.parametrize("end", ["run.cancel()", "host.close(0)"])
def test_a_run_that_is_cancelled_ends_on_its_board_while_its_kernel_is_busy(
    kernel: FrontEnd, end: str
) -> None:
    code = "host = tfrt.HostContext('mstd:2')\nrun = order.run(5, host=host)\nrun"
    [shown] = boards(kernel.run(code, is_page=True))
    wait = "while not live._boards[run].over.is_set(): time.sleep(0.01)"
    kernel.run(f"{end}\n{wait}", is_page=True)
    answer = kernel.ask({"run": shown["data"][RUN_MIME]["run"], "last": 0})
    assert answer["status"] == "cancelled"
    assert answer["bundle"]["text/plain"].startswith("■ @order: cancelled")
    assert states(kernel, shown)["result"][0] == "■ cancelled"
    kernel.run("opened.set()", is_page=True)


def test_a_block_shows_its_runs_while_the_cell_waits(kernel: FrontEnd) -> None:
    code = (
        "opened.set()\nwith tfrt.board():\n    print(order(4).result(), page.map([1, 2]).result())"
    )
    messages = kernel.run(code, is_page=True)
    # A slow kernel may send one line as two messages.
    assert "".join(one["text"] for one in of_type(messages, "stream")) == "17 [2, 4]\n"
    kinds = [each["msg_type"] for each in messages]
    assert len(boards(messages)) == 2 and kinds.index("display_data") < kinds.index("stream")
    code = "with tfrt.board():\n    for n in range(25): quick(n).result()\nquick(1).watch"
    messages = kernel.run(code, is_page=True)
    assert len(boards(messages)) == MAX_BOARDS
    assert of_type(messages, "display_data")[-1]["data"]["text/plain"].startswith("5 more runs ")


def test_outside_of_a_notebook_a_block_does_nothing() -> None:
    with tfrt.board():
        assert tfrt.call("tfrt.add.i32", 1, 2).result(SLOW) == 3


@tfrt.kernel
def echoed(x: int) -> int:
    return x


@tfrt.program
def echo(x: tfrt.i64):  # type: ignore[no-untyped-def]
    kept = echoed(x)
    return kept * 2


def test_many_calls_are_folded() -> None:
    batch = echo.map(range(10_000))
    board = board_of(batch, NoPage())
    assert batch.wait(SLOW)
    board.record.look()
    rows = board.record.snapshot.sections[0].rows
    assert len(rows) == FOLDED_ROWS
    assert [row.name for row in rows][-1] == "[9900 … 9999]"
    assert {row.text for row in rows} == {"100 of 100"}
    assert board.record.snapshot.note == "10,000 of 10,000 calls"


def test_a_batch_of_nothing_has_a_board() -> None:
    batch = echo.map([])
    assert batch.wait(SLOW)
    found = BatchRun(batch).snapshot()
    assert found.status == "done" and found.sections[0].rows == ()


def test_a_board_keeps_no_run_that_is_over() -> None:
    run = echo(4)
    assert run.result(SLOW) == 8
    assert run.wait(SLOW)  # a result may be there before the run is over
    board = board_of(run, NoPage())
    assert board.bundle()["text/plain"] != ""
    gone = weakref.ref(run)
    del run
    end = time.monotonic() + SLOW
    while gone() is not None and time.monotonic() < end:  # another thread may be collecting garbage
        gc.collect()
    assert gone() is None


def test_what_was_made_before_a_watch_began_is_known_from_its_users() -> None:
    is_open = tfrt.unavailable()

    @tfrt.program
    def two(x: tfrt.i64, late: tfrt.i64):  # type: ignore[no-untyped-def]
        first = echoed(x)
        return first + late

    run = two(4, is_open)
    end = time.monotonic() + SLOW
    while run.progress[0] < 1 and time.monotonic() < end:
        time.sleep(0.001)
    run._log_events(Watch())
    late = [None, is_open.for_waiter()]
    document = RunDocument(two.trace(), run, None, late, run._running_kernels())
    names = [one["name"] for one in document.program.data["values"]]
    document.update()
    assert {names[n]: one for n, (one, _) in document.states().items()} == {"x": "available"}
    is_open.set_result(3)
    assert run.wait(SLOW)
    document.update()
    found = {names[n]: one for n, (one, _) in document.states().items()}
    assert found == dict.fromkeys(["x", "late", "first", "first + late"], "available")


def test_what_a_queued_run_logs_is_not_inferred_as_well() -> None:
    with tfrt.HostContext("s") as host:
        run = echo(4, host=host)  # starts when this thread waits for it
        traced = _traced(run)
        assert traced is not None
        assert run.wait(SLOW)
        document = traced.events
        document.update()
        assert {one.count for one in document.seen.values()} == {1}
        assert document.drain()["kind"].count(CALL) == 1


def test_a_simple_board_is_simple_for_python_too(kernel: FrontEnd) -> None:
    kernel.run("%tfrt_config board=simple", is_page=True)
    for cell in ("with tfrt.board(): quick(1).result()", "quick(2)"):
        for board in boards(kernel.run(cell, is_page=True)):
            assert board["data"][RUN_MIME]["simple"]
    kernel.run("%tfrt_config board=full", is_page=True)
    [full] = boards(kernel.run("with tfrt.board(): quick(3).result()", is_page=True))
    assert "simple" not in full["data"][RUN_MIME]
