"""Test sync functions on two simulated workers: they move between threads and free everything."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import pytest
from tests.exploring.explorer import World, explore, explore_at_random
from tests.exploring.simulated_host import SimulatedHost
from tests.exploring.simulated_program import (
    Decoded,
    check_run,
    load_functions,
    start,
    start_workers,
)
from tests.simulator.failures import SimulationError

from tfrt_runtime.bef.records import BefFunction, BefKernel, FunctionKind, Kernels
from tfrt_runtime.executor.loading.decode import Call, Constant
from tfrt_runtime.kernels.basic.scalars import CONTROL_KERNELS, SCALAR_KERNELS
from tfrt_runtime.kernels.registry import ConstantKernel, ControlKernel, NativeKernel
from tfrt_runtime.native import handles
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls import in_order
from tfrt_runtime.native.kernels import async_kernels, control_kernels, scalar_kernels

COPY = NativeKernel("copy", "async_kernels.share_later", results=None, sync=True)
"""A kernel whose result is its argument."""

Kernel = tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...]]
"""The name, the argument registers, the result registers, and the functions of a call."""


def function(
    kind: FunctionKind, arguments: int, kernels: Sequence[Kernel], results: tuple[int, ...]
) -> BefFunction:
    """Return a function over i32."""
    records = [
        BefKernel(name, 0, given, (), functions, made, (), len(given))
        for name, given, made, functions in kernels
    ]
    return BefFunction(
        kind=kind,
        name="f",
        argument_types=("i32",) * arguments,
        result_types=("i32",) * len(results),
        register_count=arguments + sum(len(record.results) for record in records),
        kernels=Kernels.of(records, arguments),
        result_registers=results,
    )


MAIN = function(
    FunctionKind.ASYNC,
    1,
    [
        ("tfrt.call", (0,), (1,), (1,)),
        ("tfrt.call", (0,), (2,), (1,)),
        ("tfrt.add.i32", (1, 2), (3,), ()),
    ],
    (3,),
)
DOUBLE = function(FunctionKind.SYNC, 1, [("tfrt.add_s.i32", (0, 0), (1,), ())], (1,))
LOOP = function(FunctionKind.SYNC, 1, [("tfrt.repeat.i32", (0, 0), (1,), (2,))], (1,))
BOXED_LOOP = function(
    FunctionKind.SYNC,
    1,
    [("copy", (0,), (1,), ()), ("tfrt.repeat.i32", (0, 1), (2,), (2,)), ("copy", (2,), (3,), ())],
    (3,),
)
RECURSION = function(
    FunctionKind.SYNC,
    1,
    [
        ("zero", (), (1,), ()),
        ("tfrt.lessequal_s.i32", (0, 1), (2,), ()),
        ("tfrt.cond", (2, 0), (3,), (2, 3)),
    ],
    (3,),
)
END = function(FunctionKind.SYNC, 1, [("tfrt.add_s.i32", (0, 0), (1,), ())], (1,))
STEP = function(
    FunctionKind.SYNC,
    1,
    [
        ("one", (), (1,), ()),
        ("copy", (0,), (2,), ()),
        ("tfrt.minus_s.i32", (0, 1), (3,), ()),
        ("tfrt.call", (3,), (4,), (1,)),
        ("tfrt.add_s.i32", (2, 4), (5,), ()),
    ],
    (5,),
)
FAILS = function(
    FunctionKind.SYNC,
    1,
    [
        ("zero", (), (1,), ()),
        ("copy", (0,), (2,), ()),
        ("tfrt.div_s.i32", (2, 1), (3, 4), ()),
        ("tfrt.add_s.i32", (2, 3), (5,), ()),
    ],
    (5,),
)
IGNORES = function(
    FunctionKind.SYNC,
    1,
    [("tfrt.call", (0,), (1,), (2,)), ("tfrt.add_s.i32", (0, 0), (2,), ())],
    (2,),
)
PROGRAMS = {
    "straight on": ([MAIN, DOUBLE], 4, 16),
    "loop": ([MAIN, LOOP, DOUBLE], 3, 48),
    "boxed loop": ([MAIN, BOXED_LOOP, DOUBLE], 2, 16),
    "recursion": ([MAIN, RECURSION, END, STEP], 3, 12),
    "error": ([MAIN, FAILS], 3, None),
    "unused error": ([MAIN, IGNORES, FAILS], 3, None),
    "error in a loop": ([MAIN, LOOP, FAILS], 3, None),
}
"""The functions, the argument of the first one, and its result."""


def share_later(context: int, record: int) -> None:
    async_kernels.share_arguments(context, record)


def decode(host: SimulatedHost, functions: Sequence[BefFunction]) -> int:
    """Write the functions into simulated memory, like the loader; return the first's address."""
    kernels = {
        **SCALAR_KERNELS,
        **CONTROL_KERNELS,
        "copy": COPY,
        "zero": ConstantKernel("zero", "i32", ("i32",), sync=True),
        "one": ConstantKernel("one", "i32", ("i32",), sync=True),
    }
    symbols = {"async_kernels.share_later": share_later}
    for name in ("call", "cond", "repeat"):
        symbols[f"control_kernels.{name}"] = getattr(control_kernels, name)
    for name in ("add_i32", "minus_i32", "lessequal_i32", "div_i32"):
        symbols[f"scalar_kernels.{name}"] = scalar_kernels.KERNELS[name]
    decoded: list[Decoded] = []
    for bef in functions:
        calls: list[Call | None] = []
        constants: dict[int, Constant] = {}
        for record in bef.kernels:
            kernel = kernels[record.name]
            if isinstance(kernel, ConstantKernel):
                number = int(record.name == "one")
                constants[record.results[0]] = Constant(at.TYPE_I32, number, 0)
                calls.append(None)
                continue
            assert isinstance(kernel, NativeKernel | ControlKernel)
            flags = at.KERNEL_CONTROL if isinstance(kernel, ControlKernel) else 0
            address = host.function(symbols[kernel.symbol])
            calls.append(Call(address, flags, functions=record.functions))
        decoded.append((bef, calls, constants))
    return load_functions(host, decoded)[0]


def running(name: str, *, is_cancelled: bool = False) -> Callable[[World], None]:
    """Return a scenario of the program on two workers.

    With `is_cancelled`, another thread cancels it at any time.
    """
    functions, argument, expected = PROGRAMS[name]

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        request = host.request(active=1)
        results = start(host, request, decode(host, functions), [argument], 1)
        start_workers(host, request + at.REQUEST_ACTIVE)
        if is_cancelled:
            world.thread(lambda: handles.request_cancel(request), "canceller")

        def check() -> None:
            if expected is None and not is_cancelled:
                assert set(host.errors) == {at.FIRST_FAILURE}
            check_run(host, request, results, [expected], may_fail=is_cancelled)

        world.finally_assert(check)

    return scenario


@pytest.fixture
def _leave_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let others run after every kernel, and continue on another thread every third time."""
    turns = itertools.count()
    monkeypatch.setattr(in_order, "SLICE", 1)
    monkeypatch.setattr(in_order, "must_leave", lambda _: next(turns) % 3 == 0)


@pytest.mark.parametrize("name", PROGRAMS)
def test_two_workers_get_the_same_values_and_free_everything(name: str) -> None:
    explore(running(name), interleavings=30)
    explore_at_random(running(name), seed=1, interleavings=40)


@pytest.mark.usefixtures("_leave_often")
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_run_may_go_on_elsewhere_after_every_kernel(name: str) -> None:
    explore_at_random(running(name), seed=2, interleavings=40)


@pytest.mark.usefixtures("_leave_often")
@pytest.mark.parametrize("name", ["loop", "boxed loop", "recursion"])
def test_a_run_may_be_cancelled_at_any_time(name: str) -> None:
    explore_at_random(running(name, is_cancelled=True), seed=3, interleavings=60)


@pytest.mark.parametrize(
    ("name", "function"),
    [("error", "skip_kernels"), ("recursion", "drop_reference"), ("unused error", "take_results")],
)
def test_what_is_not_given_back_would_be_noticed(
    name: str, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(in_order, function, lambda *_: 0)
    with pytest.raises((SimulationError, AssertionError)):
        explore_at_random(running(name), seed=4, interleavings=2)
