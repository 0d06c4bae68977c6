"""All schedules of small programs: their outcomes, their races, and a schedule again."""

from __future__ import annotations

import asyncio
import gc
import itertools
import math
import threading
from concurrent.futures import Future

import pytest
from tests.fuzz.random_racy_programs import random_racy_program

from tfrt_nb import AsyncValue, HostContext, KernelFrame, Program, kernel
from tfrt_nb.documents.run import RunDocument
from tfrt_nb.schedules import explore as schedules
from tfrt_nb.schedules.explore import Explorer
from tfrt_nb.schedules.outcomes import Outcome
from tfrt_runtime.diagnostics import TfrtError
from tfrt_runtime.host.values.async_value import make_unavailable

PRINTS = """\
func.func @main() -> i32 {{
  %c = tfrt.new.chain
  %a = tfrt.constant.i32 11
  %b = tfrt.constant.i32 22
  %p = tfrt.print.i32 %a, %c
  %q = tfrt.print.i32 %b, {chain}
  %s = tfrt.add.i32 %a, %b
  tfrt.return %s : i32
}}
"""


def explored(text, **limits):
    return looked_at(text, **limits)[0]


def looked_at(text, **limits):
    """What is found, and the document of the program."""
    with Explorer(Program.from_source(text, "p"), "main") as explorer:
        return explorer.explore(**limits), explorer.document


def raced(found, document):
    """The lines of the operations that race."""
    lines = [row["line"] for row in document.data["operations"]]
    return [(lines[race.first], lines[race.second]) for race in found.races]


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
"""


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
}"""
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


def test_what_is_explored_leaves_nothing_behind():
    before = threading.active_count()
    for _ in range(3):
        explored(PRINTS.format(chain="%c"))
    assert threading.active_count() == before


ARRIVALS = """\
func.func @main() -> i32 {{
  %c = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %two = tfrt.constant.i32 2
  %a = {a}
  %b = {b}
  %p = tfrt.print.i32 %a, %c
  %q = tfrt.print.i32 %b, %c
  %r = tfrt.add.i32 %a, %b
  tfrt.return %r : i32
}}
"""


@kernel("test_explore.coroutine")
async def coroutine(x: int) -> int:
    await asyncio.sleep(1000)
    return x


@kernel("test_explore.thread")
def resolved_by_a_thread(frame: KernelFrame, x: int) -> AsyncValue:
    value = frame.allocate()
    threading.Thread(target=lambda: value.emplace(x)).start()
    return value


_calls = itertools.count()


@kernel("test_explore.racing")
def resolved_sometimes_before_it_returns(frame: KernelFrame, x: int) -> AsyncValue:
    value = frame.allocate()
    thread = threading.Thread(target=lambda: value.emplace(x))
    thread.start()
    if next(_calls) % 3:
        thread.join()
    return value


@kernel("test_explore.future")
def future_done_sometimes_before_it_returns(x: int) -> Future[int]:
    future: Future[int] = Future()
    thread = threading.Thread(target=lambda: future.set_result(x))
    thread.start()
    if next(_calls) % 3:
        thread.join()
    return future


def call_of(name: str, value: str) -> str:
    return f'"test_explore.{name}"({value}) : (i32) -> i32'


WAITS = [
    f"demo.wait.i32 {value} {{seconds = {n}.0}}" for value, n in (("%one", 1000), ("%two", 10))
]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        WAITS,
        *(
            [call_of(name, value) for value in ("%one", "%two")]
            for name in ("coroutine", "thread", "racing", "future")
        ),
    ],
    ids=["timers", "coroutines", "threads", "racing threads", "racing futures"],
)
def test_what_comes_from_outside_comes_in_each_order_and_time_does_not_pass(a, b):
    found = explored(ARRIVALS.format(a=a, b=b))
    assert found.is_complete
    assert {(outcome.values, outcome.printed) for outcome in found.outcomes} == {
        (("3",), "int32 = 1\nint32 = 2\n"),
        (("3",), "int32 = 2\nint32 = 1\n"),
    }


def test_a_timer_may_be_before_or_behind_a_cancellation():
    found = explored("""\
func.func @main() -> i32 {
  %c = tfrt.new.chain
  %one = tfrt.constant.i32 1
  %a = demo.wait.i32 %one {seconds = 1000.0}
  %x, %d = "tfrt_test.cancel"(%c) : (!tfrt.chain) -> (i32, !tfrt.chain)
  tfrt.return %a : i32
}
""")
    assert {outcome.values for outcome in found.outcomes} == {("1",), ("error: Cancelled",)}


def test_the_bodies_of_coroutines_run_in_each_order():
    order = []

    @kernel("test_explore.noted")
    async def noted(x: int) -> int:
        await asyncio.sleep(1)
        order.append(x)
        return x

    explored(ARRIVALS.format(a=call_of("noted", "%one"), b=call_of("noted", "%two")))
    assert {tuple(order[i : i + 2]) for i in range(0, len(order), 2)} == {(1, 2), (2, 1)}


HEAD = """func.func @main() -> i32 {
  %m = memref.alloc() : memref<4xi32>
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : index
  memref.store %one, %m[%0] : memref<4xi32>
"""
TAIL = """  %r = memref.load %m[%0] : memref<4xi32>
  return %r : i32
}
"""
TASK = """async.execute {after} {{
    %x{n} = memref.load %m[{load}] : memref<4xi32>
    %y{n} = arith.addi %x{n}, %one : i32
    memref.store %y{n}, %m[{store}] : memref<4xi32>
    async.yield
  }}
"""


def task(n: int, index: str = "%0", after: str = "", load: str = "") -> str:
    return f"  %t{n} = " + TASK.format(n=n, store=index, load=load or index, after=after)


def await_tokens(*numbers: int) -> str:
    return "".join(f"  async.await %t{n} : !async.token\n" for n in numbers)


FORKED = task(1) + task(2)
IN_GROUP = """  %g = async.create_group %two : !async.group
  scf.for %i = %0 to %two step %1 {
    %t = async.execute {
      memref.store %one, %m[%0] : memref<4xi32>
      async.yield
    }
    %a = async.add_to_group %t, %g : !async.token
  }
"""
NESTED = """  %t1 = async.execute {
    %t = async.execute {
      memref.store %one, %m[%0] : memref<4xi32>
      async.yield
    }
    async.yield
  }
  async.await %t1 : !async.token
"""


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        (FORKED + await_tokens(1, 2), {(9, 17), (11, 15), (11, 17)}),
        (task(1), {(11, 14)}),
        (IN_GROUP, {(11, 16)}),
        (NESTED, {(10, 16)}),
        # Other elements, one after the other, or awaited.
        (task(1) + task(2, "%1") + await_tokens(1, 2), set()),
        (task(1) + task(2, after="[%t1]") + await_tokens(2), set()),
        (task(1) + await_tokens(1) + task(2) + await_tokens(2), set()),
        (IN_GROUP + "  async.await_all %g\n", set()),
    ],
)
def test_two_tasks_that_nothing_orders_race_for_an_element_of_a_buffer(body, lines):
    found, document = looked_at(HEAD + body + TAIL)
    assert set(raced(found, document)) == lines


def test_what_async_functions_do_to_a_buffer_races_at_their_calls():
    found, document = looked_at("""async.func @fill(%m: memref<1xi32>, %x: i32) -> !async.token {
  %0 = arith.constant 0 : index
  memref.store %x, %m[%0] : memref<1xi32>
  return
}
async.func @main() -> !async.token {
  %m = memref.alloc() : memref<1xi32>
  %one = arith.constant 1 : i32
  %a = async.call @fill(%m, %one) : (memref<1xi32>, i32) -> !async.token
  %b = async.call @fill(%m, %one) : (memref<1xi32>, i32) -> !async.token
  return
}
""")
    assert raced(found, document) == [(9, 10)]


def test_choices_that_no_schedule_has_are_refused() -> None:
    program = Program.from_source(PRINTS.format(chain="%c"), "p")
    with Explorer(program, "main") as explorer:
        for choices in ([99], [*next(iter(explorer.explore().outcomes.values())).choices[:1], 99]):
            with pytest.raises(TfrtError, match=f"number {len(choices)} is 99, but "):
                explorer.replay(choices)


def test_many_schedules_have_the_same_steps() -> None:
    task = "  %{} = async.execute {{\n    async.yield\n  }}\n"
    store = "  %s = async.execute {\n    memref.store %one, %cell[%zero] : memref<1xi64>\n    async.yield\n  }\n"
    text = (
        "func.func @main() {\n  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : i64\n"
        "  %cell = memref.alloc() : memref<1xi64>\n"
        f"{''.join(map(task.format, 'abcd'))}{store}  return\n}}\n"
    )
    with Explorer(Program.from_source(text, "p"), "main") as explorer:
        found = explorer.explore()
    # Five tasks in each order, of which only one does anything.
    assert (len(found.outcomes), found.schedules, found.is_complete) == (1, 1, True)


def test_objects_without_a_text_are_compared_by_their_type() -> None:
    @kernel("test.thing")
    def thing(number: int) -> object:
        print("made", number)
        return object()

    text = """
func.func @main() -> !test.thing {
  %a = tfrt.constant.i32 1
  %b = tfrt.constant.i32 2
  %x = "test.thing"(%a) : (i32) -> !test.thing
  %y = "test.thing"(%b) : (i32) -> !test.thing
  tfrt.return %x : !test.thing
}"""
    with Explorer(Program.from_source(text, "p"), "main") as explorer:
        outcomes = explorer.explore().outcomes
    assert {one.values for one in outcomes} == {("<object>",)}
    assert len(outcomes) == 2


EFFECTS = """func.func private @printI64(i64)
func.func @main() -> i64 {{
  %0 = arith.constant 0 : index
  %m = memref.alloc() : memref<1xi64>
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %zero = arith.constant 0 : i64
  memref.store %zero, %m[%0] : memref<1xi64>
{}
  %r = memref.load %m[%0] : memref<1xi64>
  return %r : i64
}}
func.func @tell(%x: i64) {{
  call @printI64(%x) : (i64) -> ()
  return
}}
"""
ADD = """async.execute {
  %x = memref.load %m[%0] : memref<1xi64>
  %y = arith.addi %x, %one : i64
  memref.store %y, %m[%0] : memref<1xi64>
  async.yield
}
"""


def prints_of(*names: str, call: str = "printI64") -> str:
    return "".join(f"func.call @{call}(%{name}) : (i64) -> ()\n" for name in names)


@pytest.mark.parametrize(
    ("body", "outcomes"),
    [
        (
            (
                f"%a = async.execute {{ {prints_of('one', 'two')} async.yield }}\n"
                f"%b = async.execute {{ {prints_of('three')} async.yield }}\n"
                "async.await %a : !async.token\nasync.await %b : !async.token"
            ),
            {"123 0", "132 0", "312 0"},
        ),
        (  # the code that starts a task goes on, in @main and in another task
            (
                f"%a = async.execute {{ {prints_of('one')} async.yield }}\n"
                f"{prints_of('two', 'three')}async.await %a : !async.token"
            ),
            {"123 0", "213 0", "231 0"},
        ),
        (
            (
                "%a = async.execute {\n"
                f"%b = async.execute {{ {prints_of('one', call='tell')} async.yield }}\n"
                f"{prints_of('two', call='tell')} async.await %b : !async.token\nasync.yield }}\n"
                "async.await %a : !async.token"
            ),
            {"12 0", "21 0"},
        ),
        (  # an update is lost
            f"%a = {ADD}%b = {ADD}async.await %a : !async.token\nasync.await %b : !async.token",
            {" 1", " 2"},
        ),
        (
            '%a = async.execute { %no = arith.constant false\ncf.assert %no, "no"\nasync.yield }\n'
            "%e = async.runtime.is_error %a : !async.token\n%n = arith.extui %e : i1 to i64\n"
            + prints_of("n"),
            {"0 0", "1 0"},
        ),
    ],
)
def test_other_tasks_may_run_between_two_effects_of_one(body: str, outcomes: set[str]) -> None:
    found = explored(EFFECTS.format(body))
    assert {f"{one.printed} {one.values[0]}" for one in found.outcomes} == outcomes
    assert found.is_complete


def test_what_real_runs_of_racy_programs_come_to_is_found() -> None:
    with HostContext("mstd:4", on_diagnostic=lambda _: None) as host:
        for seed in range(400, 406):
            program = Program.from_source(random_racy_program(seed), f"seed {seed}")
            with Explorer(program, "main") as explorer:
                found = explorer.explore()
            for _ in range(40):
                printed: list[str] = []
                run = program.run(host, output=printed.append)
                run.wait()
                outcome = schedules.comparable_outcome(run, "".join(printed))
                assert outcome in found.outcomes or not found.is_complete, (seed, outcome)


def test_the_time_is_over_within_a_schedule_too() -> None:
    found, document = looked_at(
        """func.func @main() {
  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %most = arith.constant 1000000000000 : index
  scf.for %i = %0 to %most step %1 {
    %t = async.execute { async.yield }
    async.await %t : !async.token
  }
  return
}
""",
        seconds=0.3,
    )
    assert not found.outcomes and found.steps > 1
    head = f"the limit was reached, {found.steps} steps into schedule 1"
    assert found.text(document).startswith(f"0 outcomes in 0 schedules, which are not all: {head}")


def test_an_outcome_says_that_it_read_what_was_never_written() -> None:
    found, document = looked_at("""func.func @main() {
  %a = dht.create_uninit_tensor.i32.1 [1 : i32]
  dht.fill_tensor.i32 %a 41
  dht.print_tensor.i32 %a
}
""")
    assert {(one.printed[-5:], how.reads_unwritten) for one, how in found.outcomes.items()} == {
        ("[41]\n", False),
        ("766]\n", True),
    }
    assert found.text(document).count("it reads memory that was never written") == 1


@pytest.mark.parametrize(
    "memory",
    [
        "%m = memref.alloc() : memref<2xi64>",
        "%m = memref.alloca() : memref<2xi64>",
        "%m = memref.alloca(%two) : memref<?xi64>",
    ],
)
@pytest.mark.parametrize("is_written", [False, True])
def test_buffers_that_are_read_before_they_are_written(memory: str, is_written: bool) -> None:
    kind = memory.rpartition(" ")[2]
    store = f"memref.store %one, %m[%zero] : {kind}" if is_written else ""
    found = explored(f"""func.func @main() -> i64 {{
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %one = arith.constant 1 : i64
  {memory}
  {store}
  %x = memref.load %m[%zero] : {kind}
  return %x : i64
}}
""")
    assert [how.reads_unwritten for how in found.outcomes.values()] == [not is_written]


def test_addresses_make_no_outcomes() -> None:
    found = explored("""func.func private @printMemrefI64(memref<*xi64>)
func.func @main() {
  %0 = arith.constant 0 : index
  %one = arith.constant 1 : i64
  %m = memref.alloc() : memref<1xi64>
  memref.store %one, %m[%0] : memref<1xi64>
  %u = memref.cast %m : memref<1xi64> to memref<*xi64>
  %t = async.execute {
    func.call @printMemrefI64(%u) : (memref<*xi64>) -> ()
    async.yield
  }
  func.call @printMemrefI64(%u) : (memref<*xi64>) -> ()
  async.await %t : !async.token
  return
}
""")
    (outcome,) = found.outcomes
    assert found.schedules == 2 and "base@ = ..." in outcome.printed and "0x" not in outcome.printed


def test_measured_times_make_no_outcomes() -> None:
    text = """func @main() {
  %a = tfrt.constant.i32 3
  tfrt_test.benchmark "triple"(%a : i32) duration_secs = 1, max_count = 3, num_warmup_runs = 0 {
    tfrt.return %a : i32
  }
  tfrt.return
}
"""
    [outcome] = explored(text).outcomes
    assert "Duration(ns): ...\n" in outcome.printed
    assert [outcome] == [*explored(text).outcomes]
