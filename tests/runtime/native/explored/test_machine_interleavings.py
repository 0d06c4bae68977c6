"""Test functions that become machine code while workers call them, in many interleavings.

Threads share two words of the function, which Python writes: its code, and how long it is
interpreted. They share three words of the run: whether it is cancelled, what may be machine code,
and whether machine code has run. The deadline and the attempt of a call are words of the thread.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.exploring.explorer import World, explore, explore_at_random
from tests.exploring.simulated_host import SimulatedHost
from tests.exploring.simulated_program import check_run, start, start_workers
from tests.runtime.native.explored.test_executor_interleavings import (
    DO_ASYNC,
    Function,
    Program,
    load_program,
)

from tfrt_runtime.native import handles
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls import machine_calls
from tfrt_runtime.native.memory import load, pause, store, store_release

Code = Callable[[int], int]
TWICE = Program([Function(1, [("add", (0, 0), (1,))], (1,))], (3,), (6,))
CALLED_TWICE = Program(
    [
        Function(1, [("call", (0,), (1,)), ("call", (1,), (2,))], (2,)),
        Function(1, [("add", (0, 0), (1,))], (1,)),
    ],
    (1,),
    (4,),
)


REPEATED = Program(
    [
        Function(1, [("repeat", (0, 0), (1,))], (1,)),
        Function(1, [("add", (0, 0), (1,))], (1,)),
    ],
    (3,),
    (24,),
)


def double(attempt: int) -> int:
    """Do the work of each program's last function, as machine code that checks once for a stop."""
    if machine_calls.ask(attempt) == 0:
        return 0
    store(attempt + at.ATTEMPT_RESULTS, 2 * load(load(attempt + at.ATTEMPT_ARGUMENTS)))
    return 1


def double_repeatedly(attempt: int) -> int:
    """Do the work of a loop over `double`, from the remaining iterations and the value."""
    words = load(attempt + at.ATTEMPT_ARGUMENTS)
    if machine_calls.ask(attempt) == 0:
        return 0
    store(attempt + at.ATTEMPT_RESULTS, load(words + 8) << load(words))
    return 1


def until_it_shall_stop(attempt: int) -> int:
    """Loop like machine code that never ends by itself."""
    while machine_calls.ask(attempt) != 0:
        pause()
    return 0


def bail_out(_attempt: int) -> int:
    """Return 0, like machine code that meets an unusual case."""
    return 0


def refuse_to_run(_attempt: int) -> int:
    """Fail: machine code must not run, because this thread might have to cancel it."""
    raise AssertionError("machine code runs within the start of its call")


def becoming_hot(
    program: Program,
    code: Code,
    *,
    interpreted: int,
    is_cancelled: bool = False,
    is_task: bool = True,
) -> Callable[[World], None]:
    """Return a scenario of the program on two workers, whose last function becomes hot.

    It is hot after that many interpreted calls. Everything that belongs to the program is freed as
    soon as the run has finished.
    """

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        host.on_done = host.release_programs
        request = host.request(active=1)
        addresses = load_program(host, program.functions)
        machine = host.block(at.MACHINE_TYPES + 16, "machine", "MACHINE_")
        host.programs.append(machine)
        for field in (at.MACHINE_ARGUMENTS, at.MACHINE_RESULTS):
            store(machine + field, 1)
        for index in range(2):
            store(machine + at.MACHINE_TYPES + 8 * index, at.TYPE_I32)
        store(machine + at.MACHINE_LEFT, interpreted * machine_calls.weight(addresses[-1]))
        store(addresses[-1] + at.FUNCTION_MACHINE, machine)
        address = host.function(code)
        store(machine + at.MACHINE_LOOP, host.function(double_repeatedly))

        def hear(_context: int, event: int, _argument: int) -> int:
            assert event == at.MACHINE_HOT
            store_release(machine + at.MACHINE_CODE, address)
            return 0

        store(host.process + at.PROCESS_MACHINE, host.function(hear))
        results = start(host, request, addresses[0], program.arguments, 1, is_task=is_task)
        start_workers(host, request + at.REQUEST_ACTIVE)
        if is_cancelled:
            world.thread(lambda: handles.request_cancel(request), "canceller")

        def check() -> None:
            check_run(host, request, results, program.results, may_fail=is_cancelled)

        world.finally_assert(check)

    return scenario


def test_two_workers_may_find_at_once_that_a_function_is_hot() -> None:
    for interpreted in (0, 1):
        scenario = becoming_hot(DO_ASYNC, double, interpreted=interpreted)
        explore(scenario, interleavings=60)
        explore_at_random(scenario, seed=1, interleavings=60)


def test_a_call_that_machine_code_gives_up_is_interpreted_from_its_start() -> None:
    for program in (TWICE, CALLED_TWICE):
        explore(becoming_hot(program, bail_out, interpreted=0), interleavings=60)


def test_machine_code_finishes_a_loop_whose_body_has_become_hot() -> None:
    for interpreted in (0, 1):
        scenario = becoming_hot(REPEATED, double, interpreted=interpreted)
        explore(scenario, interleavings=30)
        explore_at_random(scenario, seed=4, interleavings=30)
    cancelled = becoming_hot(REPEATED, double, interpreted=0, is_cancelled=True)
    explore_at_random(cancelled, seed=5, interleavings=50)


def test_machine_code_does_not_run_on_the_thread_that_starts_a_call_directly() -> None:
    explore(becoming_hot(TWICE, refuse_to_run, interpreted=0, is_task=False), interleavings=20)


def test_a_run_of_machine_code_ends_when_its_program_needs_not_be_there() -> None:
    explore(becoming_hot(TWICE, double, interpreted=0), interleavings=100)


def test_machine_code_may_be_cancelled_at_any_time() -> None:
    for program in (TWICE, CALLED_TWICE):
        scenario = becoming_hot(program, double, interpreted=0, is_cancelled=True)
        explore_at_random(scenario, seed=2, interleavings=100)


def test_machine_code_without_an_end_stops_when_its_run_is_cancelled() -> None:
    scenario = becoming_hot(TWICE, until_it_shall_stop, interpreted=0, is_cancelled=True)
    explore_at_random(scenario, seed=3, interleavings=50)
