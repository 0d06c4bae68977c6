"""Programs on the simulated core, which the loader's decoding writes into simulated memory.

`start` starts a call on one simulated thread; the scenario's workers `work`.

    def scenario(world: World) -> None:
        host = SimulatedHost(world, workers=2)
        request = host.request(active=1)
        results = start(host, request, load_file(host, file), [], 1)
        start_workers(host, request + REQUEST_ACTIVE)
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache, partial
from typing import Any

from tests.exploring.simulated_host import SimulatedHost, name_cell

from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.executor.loading.decode import Arena, Call, Constant, FunctionWriter
from tfrt_runtime.executor.loading.resolve import Resolver
from tfrt_runtime.kernels.registry import ConstantKernel, Kernel
from tfrt_runtime.native import async_value, handles
from tfrt_runtime.native.building.entries import load as load_entries
from tfrt_runtime.native.calls import decoding, executor
from tfrt_runtime.native.layouts import ERROR, FUNCTION_WORDS, TYPE_I32, VALUE_PAYLOAD
from tfrt_runtime.native.memory import (
    current_world,
    load,
    load_acquire,
    load_i32,
    set_world,
    store,
)
from tfrt_runtime.native.queues import sharing, tasks

Decoded = tuple[BefFunction, Sequence[Call | None], Mapping[int, Constant]]
"""A function, the calls in its records (None for constants), and its constants by register."""


def load_functions(host: SimulatedHost, functions: Sequence[Decoded]) -> list[int]:
    """Write functions into simulated memory, which the host frees, and return their addresses."""
    arena = Arena()
    offsets = [arena.reserve(FUNCTION_WORDS) for _ in functions]
    for offset, (function, calls, constants) in zip(offsets, functions, strict=True):
        FunctionWriter(arena, function, constants, calls, 0, _decode).write(offset, offsets)
    block = write_arena(host, arena)
    return [block + offset for offset in offsets]


class _RealMemory:
    """A world whose addresses are those of this process: the loader's tables are Python's."""

    def load(self, address: int) -> int:
        return ctypes.c_int64.from_address(address).value

    def store(self, address: int, value: int) -> None:
        ctypes.c_int64.from_address(address).value = value

    def load_i32(self, address: int) -> int:
        return ctypes.c_int32.from_address(address).value

    def store_i32(self, address: int, value: int) -> None:
        ctypes.c_int32.from_address(address).value = value


def _decode(plan: int) -> None:
    """Decode a function on the real memory in which the loader has planned it."""
    simulated = current_world()
    set_world(_RealMemory())
    try:
        decoding.decode(plan)
    finally:
        set_world(simulated)


def write_arena(host: SimulatedHost, arena: Arena) -> int:
    """Copy an arena's contents into simulated memory, which the host frees; return its address."""
    words = arena.words.tolist()
    memory, base = arena.seal()
    block = host.block(8 * len(words), "program")
    host.programs.append(block)
    for index, (word, sealed) in enumerate(zip(words, memory.tolist(), strict=True)):
        is_address = word != sealed
        store(block + 8 * index, sealed - base + block if is_address else word)
    return block


def load_file(
    host: SimulatedHost, file: BefFile, kernels: Mapping[str, Kernel], instead: Mapping[str, str]
) -> dict[str, int]:
    """Write a file's functions into simulated memory; return the addresses of those with a name.

    Args:
        kernels: native, control, and constant kernels; the simulated core calls no others.
        instead: names of kernels that replace others.

    Raises:
        TfrtError: if a kernel cannot take its call.
    """
    resolver = Resolver(file, file.functions, lambda name: host.function(_entries()[name]), 0)
    decoded: list[Decoded] = []
    for function in file.functions:
        calls: list[Call | None] = []
        constants: dict[int, Constant] = {}
        for record in function.kernels:
            kernel = kernels[instead.get(record.name, record.name)]
            if isinstance(kernel, ConstantKernel):
                constants[record.results[0]] = resolver.constant(kernel, record)
                calls.append(None)
            else:
                calls.append(resolver.call(kernel, record))
        decoded.append((function, calls, constants))
    addresses = load_functions(host, decoded)
    names = (function.name for function in file.functions)
    return {name: address for name, address in zip(names, addresses, strict=True) if name}


@cache
def _entries() -> dict[str, Any]:
    return dict(load_entries())


def start(
    host: SimulatedHost,
    request: int,
    function: int,
    arguments: Sequence[int],
    results: int,
    *,
    is_task: bool = True,
) -> list[int]:
    """Start a call from outside, as a task or with its first kernels as tasks.

    Args:
        arguments: of type i32.

    Returns:
        The results, indirect values; the caller has a reference to each.
    """
    context = host.main
    given = [handles.value_of(context, TYPE_I32, number, 0) for number in arguments]
    values = host.block(8 * (len(given) + results + 1), "values")
    for index, value in enumerate(given):
        store(values + 8 * index, value)
    executor.start_call(context, function, request, values, int(is_task))
    sharing.hand_over(context)
    for value in given:
        handles.value_drop(context, value)
    found = [load(values + 8 * (len(given) + index)) for index in range(results)]
    for index, result in enumerate(found):
        name_cell(host.world, result, f"result {index}")
    return found


def outcome(value: int) -> int | None:
    """Return the i32 of an available value; None for an error."""
    if async_value.state_of(value) == ERROR:
        return None
    return load_i32(async_value.resolve(value) + VALUE_PAYLOAD)


def start_workers(host: SimulatedHost, active: int) -> None:
    """Have all workers of the scenario `work`."""
    for context in host.contexts:
        host.world.thread(partial(work, context, active), "worker")


def check_run(
    host: SimulatedHost,
    request: int,
    results: Sequence[int],
    expected: Sequence[object],
    *,
    may_fail: bool = False,
) -> None:
    """Check that a run has finished with these results, and that nothing else of it is left.

    An expected None is an error, and "any" is any result.

    With `may_fail`, any result may be an error.
    """
    for result, right in zip(results, expected, strict=True):
        found = outcome(result)
        assert found == right or right == "any" or (may_fail and found is None)
        handles.value_drop(host.main, result)
    assert host.done == [request]
    assert host.live_values() == host.own_values


def work(context: int, active: int) -> None:
    """Work as a worker until the word at `active` is 0."""
    while load_acquire(active) != 0:
        if executor.work(context, 1000) == 1000:
            tasks.sleep_on_queue(context, active, -1)
