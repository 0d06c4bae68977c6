"""Check that random programs do the same on every queue, simulated, interpreted, and compiled.

A program that is cancelled halfway may produce less, but nothing different.
"""

from __future__ import annotations

import asyncio
import functools
import random
import time
from dataclasses import dataclass

import numpy as np
from tests.exploring.explorer import Machine, World, explore_at_random
from tests.exploring.simulated_host import SimulatedHost
from tests.exploring.simulated_program import load_file, outcome, start, work
from tests.fuzz.async_interpreter import Result, interpret
from tests.fuzz.random_async_programs import random_program as random_async_program
from tests.fuzz.random_programs import UNLIMITED, Extras, random_program
from tests.fuzz.random_scalar_programs import random_scalar_program
from tests.fuzz.running import Runner, ends

from tfrt_nb.compiled.kernels import HostCode
from tfrt_nb.programs import Program
from tfrt_nb.source import parse_module
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import Tier
from tfrt_runtime.host.context import HostContext
from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.user import kernel
from tfrt_runtime.native.handles import value_drop
from tfrt_runtime.native.layouts import REQUEST_ACTIVE

ALL_QUEUES = ("s", "mstd:1", "mstd:2", "mstd:8")
CANCELLED = "cancelled halfway"
ENOUGH_SECONDS = 30.0
"""The time limit of a program in seconds.

Most programs finish after milliseconds; some wait for a hundred delays of 100 ms.
"""
WITH_DELAYS = 0.1
"""The share of host programs that keep their delays.

Loops over delays take seconds in which nothing is tested.
"""

INSTEAD = {"tfrt_test.async_copy.with_delay.i32": "tfrt_test.async_copy.i32"}
"""Replacements of kernels: the simulated core calls no Python kernels, and has no clock."""
LARGE_PROGRAMS = 0.2
"""The share of full-sized programs, which take half of the time.

Some bugs need many values at once, but most need a few steps.
"""
NUMBERS_PER_PROGRAM = 3
"""The number of arguments with which a program of scalars runs.

These runs take less time than compiling it.
"""
LARGE = Machine(step_limit=1_000_000)


def _wrapped(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


@functools.cache
def extras() -> Extras:
    """Register kernels of all kinds in this process, and return them."""

    def plain(x: int, y: int, *, a: int, b: int) -> int:
        if (x + b) % 11 == 0:
            raise KernelError(f"a plain kernel fails at {x}")
        return _wrapped(x * a + y * b)

    async def coroutine(x: int, y: int, *, b: int, a: int) -> int:
        await asyncio.sleep(0)
        if (x + a) % 13 == 0:
            raise KernelError(f"a coroutine fails at {x}")
        return _wrapped(x - a * y + b)

    def blocking(x: int, y: int, *, a: int, b: int) -> int:
        time.sleep(0.0001)
        if (y - b) % 17 == 0:
            raise KernelError(f"a blocking kernel fails at {y}")
        return _wrapped(x + y * a - b)

    def native(x, y, *, b, a):  # type: ignore[no-untyped-def]
        return (x & 1023) * a + (y & 1023) * 3 - b

    def array(x: int, y: int, *, a: int, b: int) -> object:
        return np.array([x, y, a, b], dtype=np.int32)

    def total(tensor: np.ndarray, _: object) -> int:  # type: ignore[type-arg]
        return _wrapped(int(tensor.sum(dtype=np.int64)))

    kernel("random.plain")(plain)
    kernel("random.coroutine")(coroutine)
    kernel("random.blocking", blocking=True)(blocking)
    kernel("random.native", native="(i32, i32) -> i32")(native)
    kernel("random.array")(array)
    kernel("random.total")(total)
    shortcut = getattr(available_kernels()["random.native"], "shortcut", None)
    if shortcut is not None:
        shortcut.words((1, 1))  # Numba compiles it here, instead of in each child
    names = ("plain", "coroutine", "blocking", "native")
    return Extras(
        tuple(f"random.{name}" for name in names), ("random.array",), ("random.total",), prints=True
    )


COMPILED = (
    "@compiled",
    """func.func @compiled(%x: i32, %y: i32) -> i32 {
  %one = arith.constant 1 : i32
  %q = arith.divsi %x, %y : i32
  %r = arith.addi %q, %one : i32
  return %r : i32
}
""",
)
TASKS = (
    "@tasks",
    """async.func @tasks(%x: i32, %y: i32) -> !async.value<i32> {
  %t, %v = async.execute -> !async.value<i32> {
    %p = arith.muli %x, %y : i32
    async.yield %p : i32
  }
  %p = async.await %v : !async.value<i32>
  %r = arith.subi %p, %x : i32
  return %r : i32
}
""",
)


def steps(chance: random.Random) -> int:
    """Return the maximum number of steps of a program."""
    return UNLIMITED if chance.random() < LARGE_PROGRAMS else int(2 ** chance.uniform(1.0, 4.0))


def host_program(chance: random.Random) -> str:
    """Return a host program with kernels of all kinds.

    One in ten calls compiled functions, and one in ten has delays.
    """
    given = extras()
    if chance.random() < 0.1:
        given = Extras(
            given.numbers, given.arrays, given.sums, (COMPILED, TASKS), prints=given.prints
        )
    text = random_program(chance.getrandbits(40), given, steps(chance))
    if chance.random() < WITH_DELAYS:
        return text
    for late, at_once in INSTEAD.items():
        text = text.replace(f'"{late}"', f'"{at_once}"')
    return text


def scalar_program(chance: random.Random) -> str:
    """Return a host program for the simulated core."""
    return random_program(chance.getrandbits(40), most=steps(chance))


def tiered_program(chance: random.Random) -> str:
    """Return a host program of scalars, which may become machine code."""
    return random_scalar_program(chance.getrandbits(40))


def async_program(chance: random.Random) -> str:
    """Return an async program."""
    return random_async_program(chance.getrandbits(40), steps(chance))


@dataclass(frozen=True)
class Seen:
    """The observed behavior of a run: its results, its output, and the errors that were raised.

    An error among the results is None, because the order decides which of two errors wins.
    """

    results: tuple[object, ...]
    output: str
    errors: frozenset[str]


def on_every_queue(runner: Runner, text: str, chance: random.Random) -> None:
    """Check that a host program does the same on every queue; then cancel it on one of them."""
    program = Program.from_source(text, "random.mlir")
    seen = _run_everywhere(runner, program)
    for queue, found in seen.items():
        if found != seen["s"]:
            runner.problems.append(f"{queue} differs from s\n{found}\n{seen['s']}")
    queue = chance.choice(ALL_QUEUES)
    _cancel_half_way(runner, program, queue, seen["s"], chance)


def on_both_tiers(runner: Runner, text: str, chance: random.Random) -> None:
    """Check that functions of scalars do the same interpreted and as machine code.

    Values, errors, and their places must be the same.
    """
    program = Program.from_source(text, "random.mlir")
    for number in chance.sample(range(-1, 7), NUMBERS_PER_PROGRAM):
        queue = chance.choice(("s", "mstd:2"))
        seen, texts = [], []
        for tier in (Tier.INTERPRETER, Tier.COMPILED):
            execution = program.run(number, host=runner.host(queue), tier=tier)
            runner.ran += 1
            if not execution.wait(ENOUGH_SECONDS):
                runner.problems.append(f"a program of scalars does not end on {queue}, {tier}\n")
                execution.cancel()
                ends(execution)
            seen.append(_seen(execution))
            texts.append([str(value.exception(0)) for value in execution.results])
            if tier is Tier.COMPILED and execution.tier_note is not None:
                runner.problems.append(f"not compiled: {execution.tier_note}\n")
        # NaN is not equal to itself.
        if repr(seen[0]) != repr(seen[1]) or texts[0] != texts[1]:
            runner.problems.append(
                f"tiers differ on {queue} for {number}\n{seen[0]}\n{seen[1]}\n{texts}"
            )


def _run_everywhere(runner: Runner, program: Program, tier: Tier = Tier.AUTO) -> dict[str, Seen]:
    """Return what a program does on each queue.

    It runs on all of them at the same time, because it may wait most of the time.
    """
    runs = {queue: _start(runner, program, queue, tier) for queue in ALL_QUEUES}
    return {queue: _end(runner, run, queue) for queue, run in runs.items()}


def _start(runner: Runner, program: Program, queue: str, tier: Tier = Tier.AUTO) -> Execution:
    runner.ran += 1
    return program.run(runner.host(queue), output=lambda _: None, tier=tier)


def _end(runner: Runner, execution: Execution, queue: str) -> Seen:
    if not execution.wait(ENOUGH_SECONDS):
        runner.problems.append(f"a random program does not end on {queue}\n")
        execution.cancel()
        ends(execution)
    return _seen(execution)


def _seen(execution: Execution) -> Seen:
    results = [v.result(0) if v.exception(0) is None else None for v in execution.results]
    raised = frozenset(map(str, execution.diagnostics))
    return Seen(tuple(results), execution.output, raised)


def _cancel_half_way(
    runner: Runner, program: Program, queue: str, expected: Seen, chance: random.Random
) -> None:
    """Cancel the program at a random time, and check what it has done by then.

    Its results must be the expected ones or errors, and its prints the first of the expected ones.
    """
    execution = program.run(runner.host(queue), output=lambda _: None)
    if queue != "s":
        time.sleep(chance.choice((0.0, 0.0001, 0.001)))
    elif chance.random() < 0.5:
        execution.wait(0.0)
    execution.cancel(CANCELLED)
    if not ends(execution):
        runner.problems.append(f"a random program goes on after its cancellation on {queue}\n")
        return
    found = _seen(execution)
    pairs = zip(found.results, expected.results, strict=True)
    if any(one is not None and one != other for one, other in pairs):
        runner.problems.append(f"other results when cancelled\n{found}\n{expected}")
    if not expected.output.startswith(found.output):
        runner.problems.append(f"other prints when cancelled\n{found}\n{expected}")


def simulated(runner: Runner, text: str, chance: random.Random) -> None:
    """Check that the simulated core does the same as the native core.

    The simulated core has two workers, which run in random order.
    """
    program = Program.from_source(text, "random.mlir")
    expected = list(_end(runner, _start(runner, program, "s"), "s").results)
    kernels = available_kernels()

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        request = host.request(active=1)
        functions = load_file(host, program.file, kernels, INSTEAD)
        results = start(host, request, functions["main"], [], len(expected))
        for context in host.contexts:
            world.thread(lambda context=context: work(context, request + REQUEST_ACTIVE), "worker")

        def check() -> None:
            assert [outcome(result) for result in results] == expected
            for result in results:
                value_drop(host.main, result)
            assert host.done == [request]
            assert host.live_values() == host.own_values

        world.finally_assert(check)

    explore_at_random(scenario, LARGE, seed=chance.getrandbits(30), interleavings=1)


def as_interpreted(runner: Runner, text: str, chance: random.Random) -> None:
    """Check that an async program prints and fails as the oracle says, on all tiers and queues.

    The oracle walks the program's operations as they are before the passes.
    """
    module = parse_module(text, "random.mlir")
    expected = interpret(module)
    program = Program.from_source(text, "random.mlir")
    program.compile()
    shared = {queue: runner.host(queue).shared_context(HostCode) for queue in ALL_QUEUES}
    for one in shared.values():
        one.check(program._compiled)
        one.runtime.checked = chance.random() < 0.5
    for tier in (Tier.AUTO, Tier.INTERPRETER):
        for queue, found in _run_everywhere(runner, program, tier).items():
            if not agrees(expected, found):
                runner.problems.append(
                    f"{queue}, {tier} differs from the oracle\n{expected}\n{found}"
                )
            if left := shared[queue].runtime.live_objects():
                runner.problems.append(f"objects are left over on {queue}, {tier}\n{left}")
    if (
        "async.runtime." not in text
    ):  # a cancelled program does not drop the references that it has added by hand
        _cancel_compiled(runner, program, runner.host(chance.choice(ALL_QUEUES)), expected, chance)


def agrees(expected: Result, found: Seen) -> bool:
    """Return whether the output is the same, and the error is one of the possible ones."""
    if expected.output != found.output or bool(expected.errors) != bool(found.errors):
        return False
    places = tuple(f"random.mlir:{line}:" for _, line in expected.errors)
    return all(error.startswith(places) for error in found.errors)


def _cancel_compiled(
    runner: Runner,
    program: Program,
    host: HostContext,
    expected: Result,
    chance: random.Random,
) -> None:
    execution = program.run(host, output=lambda _: None)
    time.sleep(chance.choice((0.0, 0.0001, 0.001)))
    execution.cancel(CANCELLED)
    if not ends(execution):
        runner.problems.append("a random async program goes on after its cancellation\n")
    elif not expected.output.startswith(execution.output):
        runner.problems.append(f"other prints when cancelled\n{execution.output}\n{expected}")
