"""Test a run's document: what its events say, in the ids of the program's document."""

from __future__ import annotations

import json
import threading
from collections import ChainMap

import numpy as np
import pytest
from tests.fuzz.documents import open_operations
from tests.tfrt_nb.documents.conftest import watched

from tfrt_nb import HostContext, Program
from tfrt_nb.documents.escapes import clean
from tfrt_nb.documents.events import COLUMNS, columns_of, rows_of
from tfrt_nb.documents.run import RunDocument
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.tracing.events import KINDS, Watch, logged
from tfrt_runtime.host.values.async_value import make_unavailable
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.user import user_kernel


def rows(data):
    """Yield each event's kind, operation, value, instance, and payload, except threads' events."""
    events, program = data["events"], data["program"]
    for row in zip(*(events[name] for name in COLUMNS), strict=True):
        event = dict(zip(COLUMNS, row, strict=True))
        kind = KINDS[event["kind"]]
        if kind in ("park", "wake", "steal", "enqueue"):
            continue
        text = program["operations"][event["op"]]["text"] if event["op"] >= 0 else ""
        name = ""
        if kind != "call" and event["value"] >= 0:
            name = program["values"][event["value"]]["name"]
        yield kind, text, name, event["instance"], event["payload"]


def of(data, kind):
    return [row for row in rows(data) if row[0] == kind]


FAST_PATH = """\
func.func @main(%n: i32) -> i32 {
  %six = tfrt.constant.i32 6
  %a = tfrt.add.i32 %n, %six
  %c0 = tfrt.new.chain
  %c1 = tfrt.print.i32 %a, %c0
  tfrt.return %a : i32
}
"""


def test_each_kernel_begins_and_its_value_is_there_once(host):
    data = watched(host, FAST_PATH, 1).data
    assert json.loads(json.dumps(data)) == data
    begun = sorted(row[1].split(" = ")[-1] for row in of(data, "begin"))
    assert begun == ["tfrt.add.i32 %n, %six", "tfrt.new.chain", "tfrt.print.i32 %a, %c0"]
    there = {name: text for _, _, name, _, text in of(data, "available")}
    assert there == {"%n": "1", "%six": "6", "%a": "7", "%c0": None, "%c1": None}
    assert data["status"] == "done" and data["dropped"] == 0
    assert data["previews"] == {"0": "1", "1": "6", "2": "7"}
    ((_, operation, text),) = data["log"]
    assert (text, data["program"]["operations"][operation]["line"]) == ("int32 = 7\n", 5)


def test_times_start_at_the_first_event_and_go_up(host):
    times = watched(host, FAST_PATH, 1).data["events"]["time"]
    assert times[0] == 0 and times == sorted(times)


def test_iterations_are_instances_of_their_loop(host):
    data = watched(
        host,
        """\
func.func @main() -> i32 {
  %three = tfrt.constant.i32 3
  %r = tfrt.repeat.i32 %three, %three : i32 {
    %next = tfrt.add.i32 %three, %three
    tfrt.return %next : i32
  }
  tfrt.return %r : i32
}
""",
    ).data
    calls = of(data, "call")
    assert [row[4] for row in calls] == [0, 1, 1, 1], "the loop's caller is the parent of each"
    assert calls[1][1].startswith("%r = tfrt.repeat")
    values = [(name, text) for _, _, name, _, text in of(data, "available") if name == "%next"]
    assert values == [("%next", "6"), ("%next", "12"), ("%next", "24")]
    added = [instance for _, text, _, instance, _ in of(data, "begin") if "add" in text]
    assert len(set(added)) == 3


def test_calls_and_blocks_of_parallel_loops_know_who_called_them(host):
    data = watched(
        host,
        """\
func.func @double(%x: i32) -> i32 {
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
func.func @main() -> i32 {
  %two = tfrt.constant.i32 2
  %a = tfrt.call @double(%two) : (i32) -> i32
  %b = tfrt.call @double(%a) : (i32) -> i32
  tfrt.return %b : i32
}
""",
    ).data
    assert [row[4] for row in of(data, "call")] == [0, 1, 1]
    assert [text for _, _, name, _, text in of(data, "available") if name == "%y"] == ["4", "8"]


def test_errors_and_what_they_skip_are_told_apart(host):
    document = watched(
        host,
        """\
func.func @main() -> i32 {
  %six = tfrt.constant.i32 6
  %e = "tfrt_test.fail"() : () -> i32
  %h = tfrt.add.i32 %e, %six
  tfrt.return %h : i32
}
""",
    )
    data = document.data
    assert [row[2] for row in of(data, "error")] == ["%e"]
    assert [row[2] for row in of(data, "skipped")] == ["%h"]
    kinds, workers = (data["events"][name] for name in ("kind", "worker"))
    ran = {KINDS[kind]: worker >= 0 for kind, worker in zip(kinds, workers, strict=True)}
    assert (ran["error"], ran["skipped"]) == (True, False)
    assert data["status"] == "failed"
    assert data["previews"]["1"] == data["previews"]["2"] == "something bad happened"


def gated(*, blocking=False):
    """Return a kernel that waits for an event, and an event for its start."""
    began, go_on = threading.Event(), threading.Event()

    def wait(x):
        began.set()
        assert go_on.wait(30)
        return x

    kernel = user_kernel("demo.gate", wait, blocking=blocking)
    return ChainMap({"demo.gate": kernel}, available_kernels()), began, go_on


GATED = """\
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %x = "demo.gate"(%one) : (i32) -> i32
  %y = tfrt.add.i32 %x, %x
  tfrt.return %y : i32
}
"""


def test_a_kernel_that_runs_has_begun_in_the_events_that_are_there():
    kernels, began, go_on = gated(blocking=True)
    with HostContext("mstd:1") as host:
        program = Program.from_source(GATED, "p")
        run = program.run(host, "main", kernels=kernels, watch=True)
        document = RunDocument(program, run)
        assert began.wait(30)
        data = document.data
        assert [text for _, text, *_ in of(data, "begin")] == [
            '%x = "demo.gate"(%one) : (i32) -> i32'
        ]
        assert data["status"] == "running" and not any(r[2] == "%x" for r in of(data, "available"))
        worker = data["events"]["worker"][data["events"]["kind"].index(KINDS.index("begin"))]
        assert "blocking" in data["workers"][worker]
        go_on.set()
        assert run.wait(30)
        new = document.drain()
        assert "2" in new["payload"] and document.status == "done"
        assert document.drain() == columns_of(())


def test_what_is_cancelled_did_not_begin():
    kernels, began, go_on = gated(blocking=True)
    with HostContext("mstd:1", on_diagnostic=lambda _: None) as host:
        program = Program.from_source(GATED, "p")
        run = program.run(host, "main", kernels=kernels, watch=True)
        assert began.wait(30)
        run.cancel()
        go_on.set()
        assert run.wait(30)
        data = RunDocument(program, run).data
        assert [row[2] for row in of(data, "cancelled")] == ["%y"]
        assert data["status"] == "cancelled"


def test_two_watched_runs_do_not_see_each_other(host):
    program = Program.from_source(FAST_PATH, "p")
    runs = [program.run(host, "main", [number], watch=True) for number in (1, 2, 3)]
    unwatched = program.run(host, "main", [4])
    assert all(run.wait(30) for run in (*runs, unwatched))
    for number, run in enumerate(runs, 1):
        data = RunDocument(program, run).data
        assert [text for _, _, name, _, text in of(data, "available") if name == "%a"] == [
            str(number + 6)
        ]
    assert unwatched.watch is None
    with pytest.raises(ValueError, match="watch=True"):
        RunDocument(program, unwatched)


def test_tensors_and_objects_have_previews(host):
    go_on = threading.Event()

    class Slow:
        def __str__(self):
            assert go_on.wait(30)
            return "late"

    class Broken:
        def __str__(self):
            raise RuntimeError("no")

    kernels = ChainMap(
        {
            "demo.slow": user_kernel("demo.slow", lambda: Slow()),
            "demo.broken": user_kernel("demo.broken", lambda: Broken()),
            "demo.text": user_kernel("demo.text", lambda: "a\u202eb\udc00\nc"),
        },
        available_kernels(),
    )
    data = watched(
        host,
        """\
func.func @main() {
  %s = "demo.slow"() : () -> !tfrt.object
  %b = "demo.broken"() : () -> !tfrt.object
  %t = "demo.text"() : () -> !tfrt.object
  tfrt.return
}
""",
        kernels=kernels,
    ).data
    go_on.set()
    for thread in threading.enumerate():
        if thread.name.startswith("text of"):
            thread.join()
    previews = data["previews"]
    assert "more than" in previews["0"] and "RuntimeError" in previews["1"]
    assert previews["2"] == "a\\u202eb\\udc00 c"
    json.dumps(previews).encode()


def test_a_tensor_of_any_size_has_a_picture_with_its_scale(host):
    class Strange:
        @property
        def dtype(self):
            raise LookupError("no")

    grid = np.linspace(-1, 3, 300 * 200, dtype=np.float32).reshape(300, 200)
    kernels = ChainMap(
        {
            "demo.grid": user_kernel("demo.grid", lambda: grid),
            "demo.strange": user_kernel("demo.strange", Strange),
        },
        available_kernels(),
    )
    text = """\
func.func @main() {
  %g = "demo.grid"() : () -> !tfrt_tensor.tensor
  %s = "demo.strange"() : () -> !tfrt.object
  %n = tfrt.constant.i32 1
  tfrt.return
}
"""
    run = watched(host, text, kernels=kernels)
    run.preview()
    assert list(run.pictures) == [0]
    address, low, high = run.pictures[0]
    assert address.startswith("data:image/png;base64,") and len(address) < 6000
    assert (low, high) == (-1, 3)


def test_a_long_text_is_cut_before_it_is_escaped():
    assert len(clean("\x00" * 10_000_000)) <= 400
    assert clean("a\nb") == "a b"


def test_what_was_overwritten_is_counted():
    with HostContext("s") as host:
        document = watched(
            host,
            """\
func.func @main() -> i32 {
  %n = tfrt.constant.i32 40000
  %one = tfrt.constant.i32 1
  %r = tfrt.repeat.i32 %n, %one : i32 {
    %next = tfrt.add.i32 %one, %one
    tfrt.return %next : i32
  }
  tfrt.return %r : i32
}
""",
        )
        data = document.data
        made = 2 + 4 * 40_000  # at least
        assert data["dropped"] > 0
        assert len(data["events"]["time"]) + data["dropped"] >= made
        assert data["previews"]["2"] == "0", "2 to the power of 40 000"
        names = {row["name"]: row["id"] for row in document.program.data["values"]}
        counts = {name: document.seen[number].count for name, number in names.items()}
        assert counts["%n"] == counts["%r"] == 1 and counts["%next"] == 40_000
        assert document.previews[names["%n"]] == "40000"


def test_a_slow_run_has_the_same_results_and_is_over_at_once_when_cancelled():
    kernels, began, go_on = gated()
    go_on.set()
    with HostContext("mstd:1", on_diagnostic=lambda _: None) as host:
        document = watched(host, FAST_PATH, 1, watch=Watch(slow=3))
        assert document.data["previews"]["2"] == "7"
        program = Program.from_source(GATED, "p")
        for factor in (1e9, 1e308):
            began.clear()
            run = program.run(host, "main", kernels=kernels, watch=Watch(slow=factor))
            assert began.wait(30)
            assert not run.wait(0.05)
            run.cancel()
            assert run.wait(30)


TASKS = """\
func.func @main() -> i64 {
  %six = arith.constant 6 : i64
  %t0, %left = async.execute -> !async.value<i64> {
    %x = arith.muli %six, %six : i64
    async.yield %x : i64
  }
  %t1, %right = async.execute [%t0] -> !async.value<i64> {
    %y = arith.addi %six, %six : i64
    async.yield %y : i64
  }
  %a = async.await %left : !async.value<i64>
  %b = async.await %right : !async.value<i64>
  %c = arith.addi %a, %b : i64
  return %c : i64
}
"""


@pytest.mark.parametrize("from_file", [False, True])
def test_tasks_of_compiled_code_write_the_same_events(host, from_file):
    program = Program.from_source(TASKS, "p")
    if from_file:
        program = Program.from_bef(program.bef, "p")
    data = watched(host, program).data
    operations = [row["kernel"] for row in data["program"]["operations"]]
    first, second = (i for i, kernel in enumerate(operations) if kernel == "async.execute")
    begun = [(text, instance) for kind, text, _, instance, _ in rows(data) if kind == "begin"]
    texts = [data["program"]["operations"][number]["text"] for number in (first, second)]
    assert {text for text, _ in begun} == {*texts}
    assert len({instance for _, instance in begun}) == 2
    results = [data["program"]["operations"][number]["results"][1] for number in (first, second)]
    assert [data["previews"][str(number)] for number in results] == ["36", "12"]
    (result,) = data["program"]["functions"][0]["results"]
    assert data["previews"][str(result)] == "48" and data["status"] == "done"
    assert sum(kind == "end" for kind, *_ in rows(data)) == len(begun)


def test_a_task_that_fails_has_values_that_are_errors(host):
    text = """\
async.func @main() -> !async.value<i64> {
  %zero = arith.constant 0 : i1
  cf.assert %zero, "no"
  %one = arith.constant 1 : i64
  return %one : i64
}
"""
    assert watched(host, text).data["status"] == "failed"


def test_a_number_that_was_made_once_before_a_flood_of_events_has_its_text():
    with HostContext("s") as host:
        document = watched(
            host,
            """\
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %n = tfrt.constant.i32 40000
  %more = tfrt.add.i32 %n, %one
  %r = tfrt.repeat.i32 %n, %one : i32 {
    %next = tfrt.add.i32 %one, %one
    tfrt.return %next : i32
  }
  %sum = tfrt.add.i32 %r, %more
  tfrt.return %sum : i32
}
""",
        )
        document.update()
        names = {row["name"]: row["id"] for row in document.program.data["values"]}
        assert document.dropped > 0
        assert document.previews[names["%more"]] == "40001"


def test_an_argument_that_has_not_come_is_absent_until_it_comes():
    text = """\
func.func @main(%a: i32, %b: i32) -> i32 {
  %sum = tfrt.add.i32 %a, %b
  tfrt.return %sum : i32
}
"""
    with HostContext("s") as host:
        late = make_unavailable(host.work_queue, "i32")
        program = Program.from_source(text, "p")
        arguments = [1, late]
        run = program.run(host, arguments=arguments, watch=True)
        document = RunDocument(program, run, arguments=arguments)
        assert document.absent == [1]
        late.emplace(2)
        run.wait(30)
        assert document.absent == [] and run.result(0) == 3


def test_what_a_timer_brings_began_with_its_kernel_and_is_the_timers():
    with HostContext("mstd:1") as host:
        document = watched(
            host,
            """\
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %a = demo.wait.i32 %one {seconds = 0.02}
  tfrt.return %a : i32
}
""",
        )
        document.update()
        seen = document.seen[1]
        assert document.workers[seen.worker] == "timers" and seen.state == "available"
        assert seen.resolved - seen.started > 15_000_000
        assert not document.running


PRINTS = """\
func.func private @printI64(i64)
func.func @main() {
  %seven = arith.constant 7 : i64
  %t = async.execute {
    func.call @printI64(%seven) : (i64) -> ()
    async.yield
  }
  async.await %t : !async.token
  return
}"""


def test_what_compiled_code_prints_is_in_the_log(host) -> None:
    document = watched(host, PRINTS)
    document.update()
    ((time, operation, text),) = document.log
    assert (time > 0, text) == (True, "7")
    assert document.program.data["operations"][operation]["line"] == 5


NATIVE = """\
func.func private @native_add(i32, i32) -> i32 attributes {tfrt.native}
func.func @main(%n: i32) -> i32 {
  %six = tfrt.constant.i32 6
  %sum = tfrt.call @native_add(%six, %n) : (i32, i32) -> i32
  %double = "tfrt_test.async_add.i32"(%sum, %sum) : (i32, i32) -> i32
  tfrt.return %double : i32
}
"""


def test_what_native_functions_do_is_not_taken_for_what_others_do(host) -> None:
    document = watched(host, NATIVE, 4)
    data = document.data
    begun = [text.partition(" ")[0] for _, text, *_ in of(data, "begin")]
    assert begun == ["%sum", "", "%double"]
    names = {value["id"]: value["name"] for value in data["program"]["values"]}
    assert {names[n]: count for n, count in document.counts().items()} == {
        "%n": 1,
        "%six": 1,
        "%sum": 1,
        "%double": 1,
    }


def test_calls_of_functions_without_values_have_no_types(host) -> None:
    text = "func.func @b() { tfrt.return }\nfunc.func @main() { tfrt.return }"
    assert [row[:1] for row in rows(watched(host, text).data)] == [("call",), ("return",)]


PRINTING = """func.func @main() {
  %a = arith.constant 42 : i64
  func.call @printI64(%a) : (i64) -> ()
  func.call @printNewline() : () -> ()
  return
}
func.func private @printI64(i64)
func.func private @printNewline()
"""


@pytest.mark.parametrize("times", [1, 2])
def test_what_compiled_code_prints_is_of_its_only_print(host, times: int) -> None:
    call = "  func.call @printI64(%a) : (i64) -> ()\n"
    document = watched(host, PRINTING.replace(call, times * call))
    lines = {
        None if operation is None else document.program.data["operations"][operation]["line"]
        for _, operation, _ in document.data["log"]
    }
    assert lines == ({3} if times == 1 else {None})


ASYNC_CALLS = """\
async.func @square(%n: i64) -> !async.value<i64> {
  %t, %v = async.execute -> !async.value<i64> {
    %x = arith.muli %n, %n : i64
    async.yield %x : i64
  }
  %a = async.await %v : !async.value<i64>
  return %a : i64
}
async.func @twice(%n: i64) -> !async.value<i64> {
  %m = arith.addi %n, %n : i64
  return %m : i64
}
func.func @main(%n: i64, %m: i64) -> (!async.value<i64>, !async.value<i64>, !async.value<i64>, i64) {
  %one = async.call @square(%n) : (i64) -> !async.value<i64>
  %two = async.call @square(%m) : (i64) -> !async.value<i64>
  %kept = async.call @twice(%n) : (i64) -> !async.value<i64>
  %other = async.call @twice(%m) : (i64) -> !async.value<i64>
  %d = async.await %other : !async.value<i64>
  return %one, %two, %kept, %d : !async.value<i64>, !async.value<i64>, !async.value<i64>, i64
}
"""  # noqa: E501


def test_an_async_function_runs_where_it_is_called_and_each_call_has_its_own_value(host):
    data = watched(host, ASYNC_CALLS, 3, 4).data
    names = ("%one", "%two", "%kept", "%other")
    made = {name: payload for kind, _, name, _, payload in rows(data) if kind == "available"}
    assert [made[name] for name in names] == ["9", "16", "6", "8"]
    by_call = {}
    for kind, text, _, instance, _ in rows(data):
        if kind in ("begin", "suspend", "resume", "end") and "async.call" in text:
            by_call.setdefault(text.partition(" ")[0], []).append((kind, instance))
    assert set(by_call) == set(names)
    for events in by_call.values():
        assert (events[0][0], events[-1][0]) == ("begin", "end")
        assert len({instance for _, instance in events}) == 1


LIBRARY = """\
async.func @double(%x: i64) -> !async.value<i64> {
  %t, %v = async.execute -> !async.value<i64> {
    %y = arith.addi %x, %x : i64
    async.yield %y : i64
  }
  %r = async.await %v : !async.value<i64>
  return %r : i64
}
"""
CALLS_TASKS = """\
func.func @main(%three: i64) -> !async.value<i64> {
  %r = async.call @double(%three) : (i64) -> !async.value<i64>
  return %r : !async.value<i64>
}
"""


def test_what_came_along_from_a_library_has_its_own_events_and_no_line_of_the_program(host):
    """Both programs have an operation at the same line and column."""
    library = Program.from_source(LIBRARY, "library")
    program = Program.from_source(CALLS_TASKS, "own", libraries={"library": library})
    document = watched(host, program, 3)
    operations = document.data["program"]["operations"]
    assert [(row["kernel"], row["line"]) for row in operations] == [
        ("async.call", 2),
        ("async.execute", 0),
        ("arith.addi", 0),
        ("async.await", 0),
    ]
    events = list(rows(document.data))
    begun = {text for kind, text, *_ in events if kind == "begin"}
    assert begun == {operations[0]["text"], operations[1]["text"]}
    made = [(name, payload) for kind, _, name, _, payload in events if kind == "available"]
    assert sorted(made) == [("%r", "6"), ("%t", None), ("%v", "6")]


FAILING_CALLS = """\
async.func @bad(%x: i64) -> !async.value<i64> {
  %zero = arith.constant 0 : i64
  %ok = arith.cmpi ne, %x, %zero : i64
  cf.assert %ok, "zero"
  return %x : i64
}
func.func @checked(%x: i64) -> i64 {
  %f = async.call @bad(%x) : (i64) -> !async.value<i64>
  %v = async.await %f : !async.value<i64>
  return %v : i64
}
async.func @twice(%x: i64) -> !async.value<i64> {
  %v = func.call @checked(%x) : (i64) -> i64
  return %v : i64
}
func.func @main() {
  %zero = arith.constant 0 : i64
  %t = async.call @twice(%zero) : (i64) -> !async.value<i64>
  %e = async.runtime.is_error %t : !async.value<i64>
  return
}
"""


def test_a_call_that_failed_within_an_async_function_is_an_error(host) -> None:
    document = watched(host, FAILING_CALLS)
    document.update()
    states, unlogged = document.states(), document.unlogged()
    operations = document.program.data["operations"]
    calls = [row for row in operations if row["kernel"].endswith("call")]

    assert {row["text"].split("@")[1][:5]: states[row["results"][0]][0] for row in calls} == {
        "bad(%": "error",
        "check": "error",
        "twice": "error",
    }
    assert [unlogged[row["id"]] for row in calls[:2]] == ["error", "error"]
    assert document.running == {}


NO_RESULTS = """\
func @nothing() {
  tfrt.return
}
func @main() {
  %no = tfrt.constant.i1 false
  %zero = tfrt.constant.i32 0
  %two = tfrt.constant.i32 2
  tfrt.call @nothing() : () -> ()
  tfrt.if %no, %two : (i32) -> () {
    tfrt.return
  }
  tfrt.repeat.i32 %two {
    tfrt.return
  }
  tfrt.repeat.i32 %zero {
    tfrt.return
  }
  tfrt.return
}
"""


def test_operations_without_results_end_when_what_they_call_has_ended(host) -> None:
    document = watched(host, NO_RESULTS)
    found = [(kind, op) for kind, op, *_ in rows(document.data) if kind in ("begin", "end")]
    begun = [op for kind, op in found if kind == "begin"]

    assert len(begun) == 4
    assert sorted(op for kind, op in found if kind == "end") == sorted(begun)
    assert document.running == {}


def test_a_mapped_call_that_failed_is_an_error_though_later_ones_did_not(host):
    def part(x: int) -> int:
        if x == 3:
            raise ValueError("three")
        return x

    kernels = ChainMap({"test.part": user_kernel("test.part", part)}, available_kernels())
    text = """\
func.func @call(%x: i64) -> i64 {
  %y = "test.part"(%x) : (i64) -> i64
  tfrt.return %y : i64
}
func.func @main(%list: !tfrt.object) -> !tfrt.object {
  %all = "tfrt.map"(%list) {f = @call} : (!tfrt.object) -> !tfrt.object
  tfrt.return %all : !tfrt.object
}
"""
    program = Program(text)
    run = program.run(range(10), host=host, kernels=kernels, watch=True)
    assert run.wait(60)
    document = RunDocument(program, run)
    document.update()
    document.preview()

    names = {row["name"]: row["id"] for row in document.program.data["values"]}
    seen = document.seen[names["%y"]]
    assert (seen.state, seen.count, seen.failed) == ("error", 10, 1)
    assert document.previews[names["%y"]] == "1 of 10 failed"


WAITS_FOREVER = """\
async.func @main() -> !async.token {
  %two = arith.constant 2 : index
  %group = async.create_group %two : !async.group
  %token = async.execute {
    async.yield
  }
  %number = async.add_to_group %token, %group : !async.token
  async.await_all %group
  async.return
}
"""


def test_a_task_whose_end_is_not_logged_yet_when_the_run_is_over_has_one_end():
    with HostContext("mstd:2") as host:
        program = Program.from_source(WAITS_FOREVER, "forever.mlir")
        run = program.run(host, "main", output=lambda _: None, watch=True)
        run.wait(10)
        assert "the group waits forever" in str(run.diagnostics[0])
        host.quiesce()
        events = list(logged(run.watch.take()))
        # The task's frame ends once, at its start's address; the host's call and @main end, too.
        start = next(event for event in events if event[4] == KINDS.index("start"))
        ends = [
            event for event in events if event[1] == start[1] and event[4] == KINDS.index("end")
        ]
        assert len(ends) == 1
        coming = [[], [event for event in events if event not in ends]]

        def take(start):
            written = [
                (time - start, low | high << 32, instance, kind | worker << 6, payload)
                for time, low, high, instance, kind, worker, payload in (
                    coming.pop() if coming else []
                )
            ]
            return tuple(zip(*written, strict=True)) or ((),) * 5

        run.watch.take = take
        document = RunDocument(program, run)
        assert list(open_operations(document)) == []
        before = of(document.data, "end")
        coming.append(ends)
        assert of(document.data, "end") == before


REUSED_FRAMES = """\
async.func @waits() -> !async.token {
  %one = arith.constant 1 : i64
  %t, %f = async.execute -> !async.value<i64> {
    async.yield %one : i64
  }
  %v = async.await %f : !async.value<i64>
  %u = async.execute {
    async.yield
  }
  return
}
func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  scf.for %i = %c0 to %c3 step %c1 {
    %t = async.execute {
      %u = async.execute {
        %r = async.call @waits() : () -> !async.token
        async.yield
      }
      async.await %u : !async.token
      async.yield
    }
    async.await %t : !async.token
  }
  return
}
"""


def test_an_async_function_is_not_taken_for_a_task_that_had_its_frame():
    with HostContext("s") as host:
        document = watched(host, REUSED_FRAMES)
    operations = document.data["program"]["operations"]
    call = next(row["id"] for row in operations if row["kernel"] == "async.call")
    waits = [op for _, kind, op, *_ in rows_of(document.columns) if KINDS[kind] == "suspend"]

    # In each iteration, the outer task waits for the inner one, and the function for its own task.
    assert waits.count(call) == 3 and len(waits) == 6


def test_the_numbers_of_watched_runs_differ_in_the_bits_that_events_have(host):
    words, program = native_process().words, Program.from_source(FAST_PATH)
    late = make_unavailable(host.work_queue, "i32")
    first = program.run(late, host=host, watch=True)
    words.runs = first.request.id + 0xFFFF
    second = program.run(1, host=host, watch=True)
    words.runs |= 0xFFFF  # the low bits of the next number are 0, as for the events of threads
    third = program.run(1, host=host, watch=True)
    late.emplace(1)
    runs = (first, second, third)
    assert [run.result() for run in runs] == [7, 7, 7]
    assert len({0, *(run.watch.number for run in runs)}) == 4
    assert all(run.wait(60) for run in runs)
    assert [len(of(RunDocument(program, run).data, "begin")) for run in runs] == [3, 3, 3]
