"""Test which operations of compiled functions ran: watched code reports each block's start."""

from __future__ import annotations

import pytest
from tests.tfrt_nb.documents.conftest import watched

from tfrt_nb.documents.blocks import Reached
from tfrt_nb.documents.program import ProgramDocument
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.programs import Program
from tfrt_runtime.native.layouts import SITE_MOST


def states(document):
    """Return the states of operations that have no events.

    The key is the operation's text up to the first space or parenthesis.
    """
    found = document.unlogged()
    return {
        row["text"].strip().split(" ")[0]: found.get(row["id"], "did not run")
        for row in document.program.data["operations"]
    }


BRANCHES = """\
func.func @main(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %positive = arith.cmpi sgt, %n, %zero : i64
  %r = scf.if %positive -> i64 {
    %a = arith.addi %n, %n : i64
    scf.yield %a : i64
  } else {
    %b = arith.subi %zero, %n : i64
    scf.yield %b : i64
  }
  %i = arith.index_cast %n : i64 to index
  %s = scf.index_switch %i -> i64
  case 1 {
    %one = arith.muli %r, %r : i64
    scf.yield %one : i64
  }
  case 2 {
    %two = arith.subi %r, %n : i64
    scf.yield %two : i64
  }
  default {
    %other = arith.addi %r, %r : i64
    scf.yield %other : i64
  }
  return %s : i64
}
func.func @never(%x: i64) -> i64 {
  %never = arith.muli %x, %x : i64
  return %never : i64
}
"""


@pytest.mark.parametrize(
    ("n", "taken"), [(1, {"%a", "%one"}), (2, {"%a", "%two"}), (-3, {"%b", "%other"})]
)
def test_of_branches_what_was_taken_ran_and_nothing_else(host, n, taken) -> None:
    found = states(watched(host, BRANCHES, n))
    inside = {"%a", "%b", "%one", "%two", "%other", "%never"}
    assert {name for name in inside if found[name] == "available"} == taken
    assert {found[name] for name in inside - taken} == {"did not run"}
    assert {found[name] for name in found.keys() - inside} == {"available"}


LOOPS = """\
func.func @main(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = scf.for %i = %zero to %n step %one iter_args(%acc = %zero) -> i64 : i64 {
    %k = arith.addi %acc, %i : i64
    %large = arith.cmpi sgt, %k, %one : i64
    %m = scf.if %large -> i64 {
      %d = arith.subi %k, %one : i64
      scf.yield %d : i64
    } else {
      scf.yield %k : i64
    }
    scf.yield %m : i64
  }
  %w = scf.while (%x = %n) : (i64) -> i64 {
    %more = arith.cmpi sgt, %x, %one : i64
    scf.condition(%more) %x : i64
  } do {
  ^body(%y: i64):
    %less = arith.subi %y, %one : i64
    scf.yield %less : i64
  }
  %r = arith.addi %s, %w : i64
  return %r : i64
}
"""


@pytest.mark.parametrize(
    ("n", "idle"),
    [(0, {"%k", "%large", "%m", "%d", "%less"}), (1, {"%d", "%less"}), (2, {"%d"}), (9, set())],
)
def test_a_loop_without_a_round_has_not_run_its_body(host, n, idle) -> None:
    found = states(watched(host, LOOPS, n))
    assert {name for name, state in found.items() if state != "available"} == idle
    assert {found[name] for name in idle} <= {"did not run"}


BLOCKS = """\
async.func @choose(%n: i64) -> !async.value<i64> {
  %zero = arith.constant 0 : i64
  %c = arith.cmpi sgt, %n, %zero : i64
  cf.cond_br %c, ^yes, ^no
^yes:
  %y = arith.addi %n, %n : i64
  cf.br ^end(%y : i64)
^no:
  %z = arith.subi %n, %n : i64
  cf.br ^end(%z : i64)
^end(%r: i64):
  %last = arith.addi %r, %r : i64
  return %last : i64
}
func.func @main(%n: i64) -> i64 {
  %t, %v = async.execute -> !async.value<i64> {
    %u = async.call @choose(%n) : (i64) -> !async.value<i64>
    %x = async.await %u : !async.value<i64>
    async.yield %x : i64
  }
  %w = async.await %v : !async.value<i64>
  return %w : i64
}
"""


@pytest.mark.parametrize(("n", "ran", "idle"), [(4, "%y", "%z"), (-4, "%z", "%y")])
def test_of_blocks_those_that_were_branched_to_ran(host, n, ran, idle) -> None:
    found = states(watched(host, BLOCKS, n))
    assert (found[ran], found[idle], found["%last"]) == ("available", "did not run", "available")
    assert found["%u"] == found["%x"] == found["%w"] == "available"


FAILS = """\
func.func @main(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %bad = arith.divsi %n, %zero : i64
  %after = arith.addi %bad, %n : i64
  return %after : i64
}
"""


def test_before_what_fails_all_ran_and_behind_it_nothing(host) -> None:
    found = states(watched(host, FAILS, 4))
    assert found == {"%zero": "available", "%bad": "error", "%after": "did not run"}


FAILS_IN_A_LOOP = """\
func.func @main(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ten = arith.constant 10 : i64
  %s = scf.for %i = %zero to %ten step %one iter_args(%acc = %zero) -> i64 : i64 {
    %left = arith.subi %n, %i : i64
    %bad = arith.divsi %n, %left : i64
    %after = arith.addi %bad, %acc : i64
    scf.yield %after : i64
  }
  return %s : i64
}
"""


def test_what_may_have_run_in_an_earlier_round_is_not_recorded(host) -> None:
    found = states(watched(host, FAILS_IN_A_LOOP, 3))
    assert (found["%left"], found["%bad"]) == ("available", "error")
    assert found["%after"] == "unrecorded"


TASKS = """\
func.func @main(%n: i64) {
  %t = async.execute {
    async.yield
  }
  %end = arith.addi %n, %n : i64
  return
}
"""


def test_that_a_task_was_made_does_not_say_how_it_ended_in_a_run_that_failed() -> None:
    reached = Reached(ProgramDocument(Program.from_source(TASKS, "p")))
    clean = reached.states({0, 1}, set(), is_clean=True, is_whole=True)
    failed = reached.states({0, 1}, set(), is_clean=False, is_whole=True)
    assert (clean, failed) == ({0: "available", 1: "available"}, {0: "unrecorded", 1: "available"})


CALLED_BY_HOST = """\
func.func @main() -> i64 {
  %n = tfrt.constant.i64 4
  %y = tfrt.call @twice(%n) : (i64) -> i64
  tfrt.return %y : i64
}
func.func @twice(%x: i64) -> i64 {
  %t, %v = async.execute -> !async.value<i64> {
    %q = arith.addi %x, %x : i64
    async.yield %q : i64
  }
  %w = async.await %v : !async.value<i64>
  return %w : i64
}
func.func @never(%x: i64) -> i64 {
  %never = arith.addi %x, %x : i64
  return %never : i64
}
"""


def test_tasks_of_code_that_a_kernel_calls_are_logged(host) -> None:
    document = watched(host, CALLED_BY_HOST)
    found = states(document)
    assert (found["%w"], found["%q"], found["%never"]) == ("available", "available", "did not run")
    values = {row["name"]: row["id"] for row in document.program.data["values"]}
    assert document.previews[values["%v"]] == "8" and document.counts()[values["%y"]] == 1


REGIONS = """\
func.func @main(%n: i32) -> (i32, i32) {
  %x, %one = tfrt.div.i32 %n, %n
  %y, %done = hex.run(%n) {
    %t, %v = async.execute -> !async.value<i32> {
      %four = arith.constant 4 : i32
      async.yield %four : i32
    }
    %w = async.await %v : !async.value<i32>
    %s = arith.addi %w, %n : i32
    kernel.return %s
  } : i32, !hex.chain
  %r = tfrt.jit (%x as %a: i32) -> i32 {
    %zero = arith.constant 0 : i32
    %c = arith.cmpi sgt, %a, %zero : i32
    %z = scf.if %c -> i32 {
      %taken = arith.addi %a, %a : i32
      scf.yield %taken : i32
    } else {
      %other = arith.subi %zero, %a : i32
      scf.yield %other : i32
    }
    tfrt.return %z : i32
  }
  tfrt.return %y, %r : i32, i32
}
"""


def test_what_a_region_of_a_host_program_computes_has_its_state(host) -> None:
    document = watched(host, REGIONS, 7)
    found = states(document)
    inside = ("%t,", "%four", "%w", "%s", "%zero", "%c", "%z", "%taken")
    assert {found[name] for name in inside} == {"available"}
    assert found["%other"] == "did not run"
    values = {row["name"]: row for row in document.program.data["values"]}
    assert values["%a"]["parent"] == values["%x"]["id"]
    texts = {name: document.previews.get(row["id"]) for name, row in values.items()}
    assert (texts["%y"], texts["%v"], texts["%r"]) == ("11", "4", "2")
    assert document.counts()[values["%y"]["id"]] == 1


def test_a_region_whose_argument_is_an_error_computes_nothing(host) -> None:
    found = states(watched(host, REGIONS, 0))
    assert found["%four"] == "available"
    assert {found[name] for name in ("%zero", "%c", "%z", "%taken")} == {"did not run"}


def test_where_events_were_lost_nothing_is_said_to_have_been_skipped() -> None:
    document = ProgramDocument(Program.from_source(BRANCHES, "p"))
    ids = {row["id"] for row in document.data["operations"]}
    whole = Reached(document).states(set(), set(), is_clean=True, is_whole=True)
    lost = Reached(document).states(set(), set(), is_clean=True, is_whole=False)
    assert whole == {}
    assert lost == dict.fromkeys(ids, "unrecorded")


CALLS = """\
async.func @inc(%x: i64) -> !async.value<i64> {
  %y = arith.addi %x, %x : i64
  return %y : i64
}
func.func @twice(%x: i64) -> i64 {
  %z = arith.addi %x, %x : i64
  return %z : i64
}
func.func @main(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = scf.for %i = %zero to %n step %one iter_args(%acc = %zero) -> i64 : i64 {
    %v = async.call @inc(%acc) : (i64) -> !async.value<i64>
    %w = async.await %v : !async.value<i64>
    %p = func.call @twice(%w) : (i64) -> i64
    scf.yield %p : i64
  }
  return %s : i64
}
"""


def spans(document, name):
    """Return the instances of a call that started, and those that finished.

    Plain calls finish with their values.
    """
    data = document.data
    operation = next(
        o["id"] for o in data["program"]["operations"] if o["text"].strip().startswith(name + " ")
    )
    events = data["events"]
    kinds = [events["kinds"][kind] for kind in events["kind"]]
    rows = list(zip(kinds, events["op"], events["instance"], strict=True))
    begun = [instance for kind, op, instance in rows if op == operation and kind == "begin"]
    kernel = data["program"]["operations"][operation]["kernel"]
    last = "end" if kernel == "async.call" else "available"
    ended = [instance for kind, op, instance in rows if op == operation and kind == last]
    return begun, ended


@pytest.mark.parametrize("name", ["%v", "%p"])
def test_calls_that_never_wait_have_bars(host, name) -> None:
    document = watched(host, CALLS, 3)
    begun, ended = spans(document, name)
    assert len(begun) == 3 and begun == ended
    number = next(value["id"] for value in document.program.data["values"] if value["name"] == name)
    assert document.seen[number].state == "available" and document.counts()[number] == 3


CALLED_LAST = """\
func.func @main(%n: i64) -> i64 {
  %x = func.call @twice(%n) : (i64) -> i64
  return %x : i64
}
func.func @twice(%x: i64) -> i64 {
  %z = arith.addi %x, %x : i64
  return %z : i64
}
"""


def test_a_result_that_a_call_gives_has_its_text(host) -> None:
    document = watched(host, CALLED_LAST, 4)
    document.update()
    (number,) = document.program.data["functions"][0]["results"]
    assert document.previews[number] == "8" and document.counts()[number] == 1


def test_a_place_logs_its_first_calls_and_says_that_there_were_more(host) -> None:
    few, many = watched(host, CALLS, SITE_MOST - 1), watched(host, CALLS, 5 * SITE_MOST)
    assert "more" not in few.unlogged().values()
    begun, ended = spans(many, "%p")
    assert len(begun) == len(ended) == SITE_MOST
    assert states(many)["%p"] == "more" and many.dropped == 0


def test_each_run_logs_anew_also_beside_another_of_the_same_code(host) -> None:
    program = Program.from_source(CALLS, "p")
    runs = [program.run(host, "main", (2 * SITE_MOST,), watch=True) for _ in range(6)]
    for run in runs:
        assert run.wait(60)
        found = states(RunDocument(program, run))
        assert found["%y"] == found["%z"] == "available"


def test_code_that_is_not_watched_logs_nothing() -> None:
    program = Program.from_source(CALLS, "p")
    assert "tfrtAsyncLog" not in program.emit("llvm")
    assert program._load_compiled("main") is not program._load_compiled("main", watched=True)


def test_programs_cannot_log_by_themselves() -> None:
    text = (
        'func.func @main() {\n  "async.runtime.log"() {event = "block", site = 1 : i64} : () '
        "-> ()\n  return\n}\n"
    )
    with pytest.raises(Exception, match="is reserved for passes: programs cannot have it"):
        Program.from_source(text, "p").compile()
