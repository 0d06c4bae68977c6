"""Test all schedules of small programs: their outcomes, their races, and replays."""

from __future__ import annotations

import asyncio
import itertools
import threading
from concurrent.futures import Future

import pytest
from tests.fuzz.random_racy_programs import random_racy_program
from tests.tfrt_nb.schedules.explored import PRINTS, explored, looked_at, raced

from tfrt_nb import AsyncValue, HostContext, KernelFrame, Program, kernel
from tfrt_nb.schedules import explore as schedules
from tfrt_nb.schedules.explore import Explorer
from tfrt_runtime.diagnostics import TfrtError


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
        # Different elements, one after another, or awaited in between.
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
        whole = next(iter(explorer.explore().outcomes.values())).choices
        with pytest.raises(TfrtError, match=f"number {len(whole)} is missing, but "):
            explorer.replay(whole[:-1])
        with pytest.raises(TfrtError, match=f"it ends after {len(whole)} of them"):
            explorer.replay([*whole, 1])
        assert explorer.replay(whole)[0].done()


def test_many_schedules_have_the_same_steps() -> None:
    task = "  %{} = async.execute {{\n    async.yield\n  }}\n"
    store = (
        "  %s = async.execute {\n    memref.store %one, %cell[%zero] : memref<1xi64>\n    "
        "async.yield\n  }\n"
    )
    text = (
        "func.func @main() {\n  %zero = arith.constant 0 : index\n  %one = arith.constant 1 : i64\n"
        "  %cell = memref.alloc() : memref<1xi64>\n"
        f"{''.join(map(task.format, 'abcd'))}{store}  return\n}}\n"
    )
    with Explorer(Program.from_source(text, "p"), "main") as explorer:
        found = explorer.explore()
    # Five tasks in each order, only one of which does anything.
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
        (  # the code that starts a task continues, in @main and in another task
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
