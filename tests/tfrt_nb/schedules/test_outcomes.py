"""Test the outcomes of all schedules: output, failures, cancellations, and replays."""

from __future__ import annotations

import gc
import math
import threading

import pytest
from tests.tfrt_nb.schedules.explored import PRINTS, explored, looked_at

from tfrt_nb import HostContext, Program, kernel
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.schedules import explore as schedules
from tfrt_nb.schedules.explore import Explorer
from tfrt_nb.schedules.outcomes import Outcome
from tfrt_runtime.host.values.async_value import make_unavailable


def test_two_prints_that_nothing_orders_have_two_outcomes():
    found = explored(PRINTS.format(chain="%c"))
    assert found.is_complete and found.schedules == 2 and not found.races
    assert {(outcome.values, outcome.printed) for outcome in found.outcomes} == {
        (("33",), "int32 = 11\nint32 = 22\n"),
        (("33",), "int32 = 22\nint32 = 11\n"),
    }


def test_what_kernels_print_by_python_is_a_part_of_the_outcome(capsys):
    @kernel("test.tell")
    def tell(number: int, chain):
        print("told", number)
        return chain

    text = PRINTS.replace(
        "tfrt.print.i32 %a, %c", '"test.tell"(%a, %c) : (i32, !tfrt.chain) -> !tfrt.chain'
    )
    text = text.replace(
        "tfrt.print.i32 %b, {chain}", '"test.tell"(%b, {chain}) : (i32, !tfrt.chain) -> !tfrt.chain'
    )
    assert [outcome.printed for outcome in explored(text.format(chain="%p")).outcomes] == [
        "told 11\ntold 22\n"
    ]
    program = Program.from_source(text.format(chain="%c"), "p")
    with Explorer(program, "main") as explorer:
        found = explorer.explore()
        choices = {outcome.printed: one.choices for outcome, one in found.outcomes.items()}
        run, _ = explorer.replay(choices["told 22\ntold 11\n"])
    assert {outcome.printed for outcome in found.outcomes} == {
        "told 11\ntold 22\n",
        "told 22\ntold 11\n",
    }
    said = "".join(text for _, number, text in run.watch.log if number == 3)
    assert said == "told 11\n"
    assert capsys.readouterr().out == ""


def test_what_another_thread_prints_meanwhile_is_no_part_of_the_outcome(capsys):
    @kernel("test.beside")
    def beside(chain):
        other = threading.Thread(target=print, args=("beside",))
        other.start()
        other.join()
        print("here")
        return chain

    found = explored("""func.func @main() -> !tfrt.chain {
  %c = tfrt.new.chain
  %d = "test.beside"(%c) : (!tfrt.chain) -> !tfrt.chain
  tfrt.return %d : !tfrt.chain
}""")
    assert [outcome.printed for outcome in found.outcomes] == ["here\n"]
    assert capsys.readouterr().out == "beside\n" * found.schedules


def test_an_argument_that_is_never_resolved_is_not_waited_for_as_a_run_is(monkeypatch):
    monkeypatch.setattr(schedules, "PATIENCE_SECONDS", 0.05)
    program = Program.from_source(
        """func.func @main(%x: i32) -> (i32, i32) {
  %a = tfrt.constant.i32 1
  %b = tfrt.add.i32 %x, %a
  %c = tfrt.add.i32 %a, %a
  tfrt.return %b, %c : i32, i32
}""",
        "p",
    )
    with HostContext("s") as host:
        missing = make_unavailable(host.work_queue, "i32")
        with Explorer(program, "main", [missing]) as explorer:
            (outcome,) = explorer.explore().outcomes
    assert outcome.values == ("never there", "2")


def test_a_chain_leaves_one_outcome():
    found = explored(PRINTS.format(chain="%p"))
    assert found.is_complete and found.schedules == 1 and len(found.outcomes) == 1


def prints(count):
    lines = "".join(
        f"  %v{i} = tfrt.constant.i32 {i}\n  %p{i} = tfrt.print.i32 %v{i}, %c\n"
        for i in range(count)
    )
    return f"func.func @main() {{\n  %c = tfrt.new.chain\n{lines}  tfrt.return\n}}\n"


def test_every_order_of_some_prints_is_tried_once():
    found = explored(prints(4))
    assert found.is_complete and len(found.outcomes) == found.schedules == math.factorial(4)


def test_beyond_the_limit_it_says_that_these_are_not_all():
    found, document = looked_at(prints(40), most=30)
    text = found.text(document)
    assert not found.is_complete and found.schedules == 30
    assert text.startswith("30 outcomes in 30 schedules, which are not all")
    assert "and 10 outcomes more" in text


FILLS = """\
func.func @main() {{
  %c0 = tfrt.new.chain
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  %a = tfrt_dht.fill_tensor_with_constant.i32 %t, %c0 1 : i32
  %b = tfrt_dht.fill_tensor_with_constant.i32 %t, {chain} {second} : i32
  %d = tfrt.merge.chains %a, %b : !tfrt.chain, !tfrt.chain
  %p = tfrt_dht.print_tensor %t, %d
  tfrt.return
}}
"""


@pytest.mark.parametrize("second", [1, 2])
def test_two_writes_of_one_buffer_are_a_race_also_where_the_outcome_is_the_same(second):
    found, document = looked_at(FILLS.format(chain="%c0", second=second))
    text = found.text(document)
    assert len(found.outcomes) == second and found.is_complete
    assert len(found.races) == 1
    assert "line 4: %a = " in text and "line 5: %b = " in text and "line 7" not in text


def test_writes_in_order_are_no_race():
    found = explored(FILLS.format(chain="%a", second=2))
    assert not found.races and len(found.outcomes) == 1


LATE = """\
func.func @make(%c: !tfrt.chain) -> !tfrt_tensor.tensor {
  %t = tfrt_dht.create_uninitialized_tensor.i32.1 [2 : i64]
  tfrt.return %t : !tfrt_tensor.tensor
}
func.func @write_twice(%t: !tfrt_tensor.tensor, %c: !tfrt.chain) -> (!tfrt.chain, !tfrt.chain) {
  %a = tfrt_dht.fill_tensor_with_constant.i32 %t, %c 1 : i32
  %b = tfrt_dht.fill_tensor_with_constant.i32 %t, %c 2 : i32
  tfrt.return %a, %b : !tfrt.chain, !tfrt.chain
}
func.func @main() -> (!tfrt.chain, !tfrt.chain) {
  %c0 = tfrt.new.chain
  %n = tfrt.constant.i32 1
  %s = tfrt.print.i32 %n, %c0
  %t = tfrt.call @make(%s) : (!tfrt.chain) -> !tfrt_tensor.tensor
  %a:2 = tfrt.call @write_twice(%t, %c0) {bef.nonstrict} : (!tfrt_tensor.tensor, !tfrt.chain) -> (!tfrt.chain, !tfrt.chain)
  tfrt.return %a#0, %a#1 : !tfrt.chain, !tfrt.chain
}
"""  # noqa: E501


def test_a_buffer_that_came_later_than_the_call_that_writes_it_is_a_buffer_all_the_same():
    assert len(explored(LATE).races) == 1


def test_a_buffer_that_has_another_address_in_each_run_is_the_same_buffer():
    counter = """
func.func @main() -> i32 {
  %ch = tfrt.new.chain
  %k = "tfrt_test.atomic.create.i32"() : () -> !test.atomic.i32
  %a = "tfrt_test.atomic.inc.i32"(%k, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %b = "tfrt_test.atomic.inc.i32"(%k, %ch) : (!test.atomic.i32, !tfrt.chain) -> !tfrt.chain
  %v, %g = "tfrt_test.atomic.get.i32"(%k, %a) : (!test.atomic.i32, !tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %v : i32
}"""  # noqa: E501
    with Explorer(Program(counter), "main") as explorer:
        found = explorer.explore()
    assert {outcome.values for outcome in found.outcomes} == {("1",), ("2",)}
    assert found.schedules == 3


def test_a_kernel_that_fails_is_an_outcome_too():
    found = explored(
        """\
func.func @main() -> i32 {
  %e = "tfrt_test.fail"() : () -> i32
  %h = tfrt.add.i32 %e, %e
  tfrt.return %h : i32
}
"""
    )
    (outcome,) = found.outcomes
    assert outcome.values == ("error: something bad happened",)
    assert outcome.errors == ("something bad happened",)


def test_what_one_does_not_see_of_an_outcome_is_an_escape():
    text = Outcome(("1",), "a\ud800\x1b\n", ("\ud801",)).text
    assert text == "  result = 1\n  a\\ud800\\u001b\n  error: \\ud801\n"


def test_a_cancel_may_come_before_or_after_the_others():
    found = explored(
        """\
func.func @main() -> i32 {
  %one = tfrt.constant.i32 1
  %c = tfrt.new.chain
  %s = tfrt.add.i32 %one, %one
  %x, %d = "tfrt_test.cancel"(%c) : (!tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %s : i32
}
"""
    )
    assert len({outcome.values for outcome in found.outcomes}) == 2


def test_tasks_of_compiled_functions_are_steps():
    found = explored(
        """\
func.func @main() -> i64 {
  %six = arith.constant 6 : i64
  %t0 = async.execute {
    vector.print %six : i64
    async.yield
  }
  %t1 = async.execute {
    %y = arith.addi %six, %six : i64
    vector.print %y : i64
    async.yield
  }
  async.await %t0 : !async.token
  async.await %t1 : !async.token
  return %six : i64
}
"""
    )
    assert {outcome.printed for outcome in found.outcomes} == {"6\n12\n", "12\n6\n"}


@pytest.mark.parametrize("form", ["vector.print %{} : i64", "call @printI64(%{}) : (i64) -> ()"])
def test_a_task_within_a_task_prints_before_or_after_what_awaits_the_outer_one(form: str) -> None:
    found = explored(f"""func.func private @printI64(i64)
func.func @main() {{
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %t = async.execute {{
    %u = async.execute {{
      {form.format("one").replace("call", "func.call")}
      async.yield
    }}
    async.yield
  }}
  async.await %t : !async.token
  {form.format("two")}
  return
}}
""")
    assert found.is_complete
    printed = {one.printed.replace("\n", "") for one in found.outcomes}
    assert printed == {"12", "21"}


def test_a_schedule_is_replayed_as_it_was():
    program = Program.from_source(PRINTS.format(chain="%c"), "p")
    with Explorer(program, "main") as explorer:
        found = explorer.explore()
        for outcome, schedules in found.outcomes.items():
            run, again = explorer.replay(schedules.choices)
            assert again == outcome
            data = RunDocument(program, run, explorer.document).data
            assert "".join(text for _, _, text in data["log"]) == outcome.printed
            assert data["status"] == "done"
            del run
    gc.collect()
