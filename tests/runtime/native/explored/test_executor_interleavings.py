"""Test small programs on two simulated workers, in many interleavings.

The values must be the same, and nothing may be left over. The programs are decoded as by the
executor's loader, into simulated memory. The workers share their ready kernels after every kernel,
so that as much as possible runs at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from tests.exploring.explorer import World, explore, explore_at_random
from tests.exploring.simulated_host import SimulatedHost, name_cell
from tests.exploring.simulated_program import (
    check_run,
    load_functions,
    outcome,
    start,
    start_workers,
    work,
)
from tests.simulator.failures import DataRace

from tfrt_runtime.bef.records import BefFunction, BefKernel, FunctionKind, Kernels
from tfrt_runtime.executor.loading.decode import Call
from tfrt_runtime.native import async_value, handles
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls import activation, delivery, executor, frame, kernel_calls
from tfrt_runtime.native.kernels import async_kernels, control_kernels, scalar_kernels
from tfrt_runtime.native.memory import load, load_i32
from tfrt_runtime.native.queues import sharing, waiters

Kernel = tuple[str, tuple[int, ...], tuple[int, ...]]
"""The name, the argument registers, and the result registers of a call."""


@dataclass(frozen=True)
class Function:
    """A function, whose registers are numbered from its arguments on."""

    arguments: int
    kernels: Sequence[Kernel]
    results: tuple[int, ...]

    def bef(self) -> BefFunction:
        kernels = [
            BefKernel(name, 0, arguments, (), (), results, (), len(arguments))
            for name, arguments, results in self.kernels
        ]
        return BefFunction(
            kind=FunctionKind.ASYNC,
            name="f",
            argument_types=("i32",) * self.arguments,
            result_types=("i32",) * len(self.results),
            register_count=self.arguments + sum(len(kernel.results) for kernel in kernels),
            kernels=Kernels.of(kernels, self.arguments),
            result_registers=self.results,
        )


@dataclass(frozen=True)
class Program:
    """Functions, the first of which is called with `arguments`, and its expected results.

    An expected None is an error; "any" is any value.
    """

    functions: Sequence[Function]
    arguments: tuple[int, ...]
    results: tuple[int | None | str, ...]


def first_available(context: int, record: int) -> None:
    """Implement a non-strict kernel: return the first available argument."""
    for index in range(load_i32(record + at.RECORD_ARGUMENTS)):
        value = load(load(context + at.CONTEXT_ARGUMENTS) + 8 * index)
        if async_value.state_of(value) >= at.CONCRETE:
            handles.value_add_reference(value)
            frame.set_result(context, 0, value)
            return


def is_less_than_four(context: int, _record: int) -> None:
    frame.set_word(context, 0, at.TYPE_I1, int(frame.argument_i32(context, 0) < 4))


def fail(context: int, record: int) -> None:
    frame.fail(context, record, 0)


def forward(context: int, _record: int) -> None:
    """Return a value that forwards to the argument, which the caller's other kernels also use."""
    value, target = async_value.new_indirect(context), load(load(context + at.CONTEXT_ARGUMENTS))
    async_value.add_references(target, 1)
    waiters.run_waiters(context, async_value.forward_to(context, value, target))
    frame.set_result(context, 0, value)


def chain(context: int, _record: int) -> None:
    frame.set_chain(context, 0)


def calls(host: SimulatedHost) -> dict[str, Call]:
    """Return the kernels of the programs; control kernels call the second function."""
    function = host.function

    def control(kernel: Callable[[int, int], None], *data: int) -> Call:
        return Call(function(kernel), at.KERNEL_CONTROL, data=data, functions=(1,))

    add_task = function(async_kernels.add_task_i32)
    error_task = function(async_kernels.error_task)
    return {
        "add": Call(function(scalar_kernels.KERNELS["add_i32"])),
        "async add": Call(function(async_kernels.async_add_i32), data=(add_task,)),
        "fail later": Call(function(async_kernels.report_error_when_async), data=(error_task,)),
        "fail": Call(function(fail)),
        "forward": Call(function(forward)),
        "chain": Call(function(chain)),
        "less than 4": Call(function(is_less_than_four)),
        "first available": Call(function(first_available), at.KERNEL_NONSTRICT),
        "call": control(control_kernels.call),
        "repeat": control(control_kernels.repeat),
        "while": control(control_kernels.while_loop),
        "do async": control(control_kernels.do_async, function(control_kernels.call_task)),
        "parallel": control(control_kernels.parallel_for, function(control_kernels.parallel_task)),
    }


def load_program(
    host: SimulatedHost, functions: Sequence[Function], **others: Callable[[int, int], None]
) -> list[int]:
    """Load functions; return their addresses.

    They may call `others` in addition to the kernels of `calls`.
    """
    kernels = calls(host) | {name: Call(host.function(kernel)) for name, kernel in others.items()}
    files = [function.bef() for function in functions]
    return load_functions(
        host, [(bef, [kernels[kernel.name] for kernel in bef.kernels], {}) for bef in files]
    )


def begin(host: SimulatedHost, request: int, program: Program, *, is_task: bool) -> list[int]:
    """Start the first function from outside, and return its results."""
    [first, *_] = load_program(host, program.functions)
    return start(host, request, first, program.arguments, len(program.results), is_task=is_task)


def running(
    program: Program, *, is_cancelled: bool = False, is_task: bool = True
) -> Callable[[World], None]:
    """Return a scenario of the program on two workers.

    With `is_cancelled`, another thread cancels it at any time. The program's memory is freed as
    soon as the run has finished, as if the caller had dropped it.
    """

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        host.on_done = host.release_programs
        request = host.request(active=1)
        results = begin(host, request, program, is_task=is_task)
        start_workers(host, request + at.REQUEST_ACTIVE)
        if is_cancelled:
            world.thread(lambda: handles.request_cancel(request), "canceller")

        def check() -> None:
            check_run(host, request, results, program.results, may_fail=is_cancelled)

        world.finally_assert(check)

    return scenario


DIAMOND = Program(
    [
        Function(
            1,
            [
                ("add", (0, 0), (1,)),
                ("add", (1, 0), (2,)),
                ("add", (1, 1), (3,)),
                ("add", (2, 3), (4,)),
            ],
            (4,),
        )
    ],
    (1,),
    (7,),
)
ASYNC_ADDS = Program(
    [
        Function(
            1,
            [
                ("async add", (0, 0), (1,)),
                ("async add", (0, 0), (2,)),
                ("add", (1, 2), (3,)),
            ],
            (3,),
        )
    ],
    (1,),
    (4,),
)
DOUBLE = Function(1, [("async add", (0, 0), (1,))], (1,))
CALLS = Program(
    [
        Function(1, [("call", (0,), (1,)), ("call", (0,), (2,)), ("add", (1, 2), (3,))], (3, 1)),
        DOUBLE,
    ],
    (1,),
    (4, 2),
)
DO_ASYNC = Program(
    [
        Function(
            1, [("do async", (0,), (1,)), ("do async", (0,), (2,)), ("add", (1, 2), (3,))], (3,)
        ),
        Function(1, [("add", (0, 0), (1,))], (1,)),
    ],
    (1,),
    (4,),
)
REPEAT = Program([Function(2, [("repeat", (0, 1), (2,))], (2,)), DOUBLE], (3, 1), (8,))
WHILE = Program(
    [
        Function(2, [("while", (0, 1), (2,))], (2,)),
        Function(1, [("async add", (0, 0), (1,)), ("less than 4", (1,), (2,))], (1, 2)),
    ],
    (1, 1),
    (4,),
)
PARALLEL = Program(
    [
        Function(3, [("parallel", (0, 1, 2), (3,))], (3,)),
        Function(2, [("async add", (0, 1), (2,))], (2,)),
    ],
    (0, 3, 1),
    ("any",),
)
NON_STRICT = Program(
    [
        Function(
            1,
            [
                ("async add", (0, 0), (1,)),
                ("call", (0,), (2,)),
                ("first available", (1, 2), (3,)),
                ("add", (1, 2), (4,)),
            ],
            (3, 4),
        ),
        DOUBLE,
    ],
    (1,),
    (2, 4),
)
NON_STRICT_READER = Program(
    [
        Function(
            1,
            [
                ("call", (0,), (1,)),
                ("call", (0,), (2,)),
                ("first available", (1, 2), (3,)),
                ("add", (3, 3), (4,)),
            ],
            (4,),
        ),
        Function(1, [("add", (0, 0), (1,))], (1,)),
    ],
    (1,),
    (4,),
)
"""The reader drops a value that another worker is still producing; the sum takes its cell."""
PARTIAL_ERROR = Program(
    [
        Function(
            1,
            [
                ("fail", (0,), (1,)),
                ("async add", (0, 0), (2,)),
                ("add", (1, 2), (3,)),
                ("add", (2, 2), (4,)),
            ],
            (3, 4),
        )
    ],
    (1,),
    (None, 4),
)
LATE_ERROR = Program(
    [
        Function(
            2,
            [
                ("fail later", (0,), (2,)),
                ("fail later", (1,), (3,)),
                ("add", (2, 2), (4,)),
                ("add", (2, 3), (5,)),
            ],
            (4, 5),
        )
    ],
    (0, 1),
    (0, None),
)
FORWARD = Program(
    [
        Function(
            1,
            [
                ("async add", (0, 0), (1,)),
                ("forward", (1,), (2,)),
                ("async add", (0, 0), (3,)),
                ("add", (2, 3), (4,)),
                ("add", (1, 2), (5,)),
            ],
            (4, 5),
        )
    ],
    (1,),
    (4, 4),
)
"""A sum of which one argument forwards to another value, and the last to arrive does not."""
ENTRIES = Program(
    [Function(1, [("chain", (), (1,)), ("chain", (), (2,)), ("add", (0, 0), (3,))], (1, 2, 3))],
    (1,),
    ("any", "any", 2),
)
PROGRAMS = {
    "diamond": DIAMOND,
    "entry kernels": ENTRIES,
    "async adds": ASYNC_ADDS,
    "calls": CALLS,
    "do async": DO_ASYNC,
    "repeat": REPEAT,
    "while": WHILE,
    "parallel": PARALLEL,
    "non-strict": NON_STRICT,
    "non-strict reader": NON_STRICT_READER,
    "partial error": PARTIAL_ERROR,
    "late error": LATE_ERROR,
    "forward": FORWARD,
}


def test_a_value_from_outside_may_resolve_while_a_worker_runs_its_activation() -> None:
    function = Function(
        1,
        [
            ("promised", (0,), (1,)),
            ("add", (0, 0), (2,)),
            ("add", (1, 2), (3,)),
        ],
        (3,),
    )

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=1, outside=1)
        request = host.request(active=1)
        [worker], [resolver] = host.contexts, host.outside
        value = name_cell(world, handles.value_make(host.main, at.TYPE_I32), "promise")
        handles.value_add_reference(value)

        def promised(context: int, _record: int) -> None:
            frame.set_result(context, 0, value)

        def resolve() -> None:
            handles.value_emplace(resolver, value, at.TYPE_I32, 5, 0)
            sharing.hand_over(resolver)

        [first] = load_program(host, [function], promised=promised)
        [result] = start(host, request, first, (1,), 1)
        world.thread(lambda: work(worker, request + at.REQUEST_ACTIVE), "worker")
        world.thread(resolve, "resolver")

        def check() -> None:
            assert outcome(result) == 7
            handles.value_drop(host.main, result)
            handles.value_drop(host.main, value)
            assert host.live_values() == host.own_values

        world.finally_assert(check)

    explore(scenario, interleavings=300)


def test_an_error_of_one_thread_is_seen_by_a_kernel_that_another_makes_ready() -> None:
    kernels = [("promised", (0,), (1,)), ("promised", (0,), (2,)), ("add", (1, 2), (3,))]

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=1, outside=2)
        request = host.request(active=1)
        failing, resolver = host.outside
        values = [handles.value_make(host.main, at.TYPE_I32) for _ in range(2)]
        given = iter(values)

        def promised(context: int, _record: int) -> None:
            value = next(given)
            handles.value_add_reference(value)
            frame.set_result(context, 0, value)

        def fail_first() -> None:
            waiters.run_waiters(failing, async_value.set_error(values[0], 0, at.TYPE_UNKNOWN))
            executor.work(failing, 100)

        def resolve_second() -> None:
            handles.value_emplace(resolver, values[1], at.TYPE_I32, 5, 0)
            executor.work(resolver, 100)

        [first] = load_program(host, [Function(1, kernels, (3,))], promised=promised)
        [result] = start(host, request, first, (1,), 1)
        executor.work(host.contexts[0], 100)
        world.thread(fail_first, "failing")
        world.thread(resolve_second, "resolver")

        def check() -> None:
            assert outcome(result) is None
            for value in (result, *values):
                handles.value_drop(host.main, value)
            assert host.live_values() == host.own_values

        world.finally_assert(check)

    explore(scenario, interleavings=300)


@pytest.fixture(autouse=True)
def _short_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one ready entry stand for all entry kernels but the first."""
    monkeypatch.setattr(waiters, "PUSHED_AT_ONCE", 1)


@pytest.fixture
def _share_always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look for sleeping workers after every kernel, and share even short kernels with them."""
    monkeypatch.setattr(executor, "SHARE_INTERVAL", 1)
    monkeypatch.setattr(sharing, "is_large", lambda _tagged, _record: True)


def test_a_diamond_on_two_workers_has_one_value_in_every_interleaving() -> None:
    assert explore(running(DIAMOND)).complete


@pytest.mark.usefixtures("_share_always")
@pytest.mark.parametrize("name", PROGRAMS)
def test_two_workers_that_share_get_the_same_values_and_free_everything(name: str) -> None:
    explore(running(PROGRAMS[name]), interleavings=30)
    explore_at_random(running(PROGRAMS[name]), seed=1, interleavings=80)


@pytest.mark.parametrize("is_task", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_tasks_that_a_thread_kept_may_go_to_another_at_any_time(
    name: str, is_task: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "SHARE_INTERVAL", 1)
    monkeypatch.setattr(executor, "share_when_idle", sharing.hand_over)
    scenario = running(PROGRAMS[name], is_task=is_task)
    explore(scenario, interleavings=10)
    explore_at_random(scenario, seed=4, interleavings=40)


def test_a_promise_of_a_kept_task_needs_its_activation_to_be_shared_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(executor, "SHARE_INTERVAL", 1)
    monkeypatch.setattr(executor, "share_when_idle", sharing.hand_over)
    monkeypatch.setattr(sharing, "mark_shared", lambda _: None)
    with pytest.raises(DataRace):
        explore_at_random(running(ASYNC_ADDS), seed=5, interleavings=1000)


@pytest.mark.usefixtures("_share_always")
@pytest.mark.parametrize("name", ["async adds", "repeat", "parallel"])
def test_a_request_may_be_cancelled_at_any_time(name: str) -> None:
    scenario = running(PROGRAMS[name], is_cancelled=True)
    explore_at_random(scenario, seed=2, interleavings=100)


@pytest.mark.usefixtures("_share_always")
def test_counters_that_are_not_marked_as_shared_would_be_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (activation, delivery, sharing, kernel_calls, control_kernels):
        monkeypatch.setattr(module, "mark_shared", lambda _: None)
    with pytest.raises(DataRace):
        explore_at_random(running(DO_ASYNC), seed=3, interleavings=1000)
