"""Native kernels over scalars: those of the table `tfrt_runtime.scalars`, constants, chains."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import new_available
from tfrt_runtime.native.calls import frame
from tfrt_runtime.native.calls.frame import (
    argument,
    argument_i32,
    argument_i64,
    attribute,
    fail,
    set_chain,
    set_i32,
    set_i64,
    set_result,
    share_argument,
)
from tfrt_runtime.native.memory import (
    Address,
    call2,
    entry,
    load,
    load_acquire,
    shared,
    store,
    wrapping_add,
)
from tfrt_runtime.scalars import OPERATIONS, Operation, failure_number

KERNELS: dict[str, Callable[[Address, Address], None]] = {}
"""The kernels of the table by symbol: `add_i32`, `cast_i32_to_f64`."""

_SOURCE = """
def {symbol}(context, record):
    {operands} = {arguments}{failing}
    {results} = compute({operands})
    {sets}
"""
_FAILING = """
    if fails({operands}):
        fail(context, record, number)
        return"""


def _make_kernel(operation: Operation) -> None:
    """Make an entry of the core of a row of the table.

    It is written as text: Numba compiles functions with a fixed number of operands and results.
    """
    names = [f"operand{i}" for i in range(len(operation.operands))]
    space: dict[str, Any] = {
        "__name__": __name__,
        "compute": shared(operation.compute),
        "fail": frame.fail,
    }
    arguments, sets, failing = [], [], ""
    for i, word in enumerate(operation.operands):
        space[f"argument_{word}"] = getattr(frame, f"argument_{word}")
        arguments.append(f"argument_{word}(context, {i})")
    for i, word in enumerate(operation.results):
        space[f"set_{word}"] = getattr(frame, f"set_{word}")
        sets.append(f"set_{word}(context, {i}, result{i})")
    if operation.failure is not None:
        space["fails"] = shared(operation.failure.when)
        space["number"] = at.FIRST_FAILURE + failure_number(operation.failure)
        failing = _FAILING.format(operands=", ".join(names))
    source = _SOURCE.format(
        symbol=operation.symbol,
        operands=", ".join(names),
        arguments=", ".join(arguments),
        failing=failing,
        results=", ".join(f"result{i}" for i in range(len(sets))),
        sets="; ".join(sets),
    )
    exec(source, space)  # noqa: S102
    KERNELS[operation.symbol] = entry(space[operation.symbol])


for _operation in OPERATIONS.values():
    _make_kernel(_operation)


@entry
def constant(context: Address, record: Address) -> None:
    """A constant that is made anew; data: payload type and its two words."""
    value = new_available(context, attribute(record, 0))
    store(value + at.VALUE_PAYLOAD, attribute(record, 1))
    store(value + at.VALUE_PAYLOAD2, attribute(record, 2))
    set_result(context, 0, value)


@entry
def run_checked(context: Address, record: Address) -> None:
    """A kernel of which only a run knows the types of the arguments.

    Data: the kernel, which has no data, and a payload type per argument, 0 for any.
    """
    for i in range(load(record + at.RECORD_ARGUMENTS)):
        wanted = attribute(record, 1 + i)
        if wanted != 0 and load_acquire(argument(context, i) + at.VALUE_KIND) >> 8 != wanted:
            fail(context, record, at.MESSAGE_WRONG_TYPE)
            return
    call2(attribute(record, 0), context, record)


@entry
def new_chain(context: Address, record: Address) -> None:
    """`tfrt.new.chain` and `tfrt.merge.chains`: the arguments are available by now."""
    set_chain(context, 0)


@entry
def alias_value(context: Address, record: Address) -> None:
    """`tfrt.alias.value`: the second argument, after the chain."""
    share_argument(context, 1, 0)


@entry
def sum_i32(context: Address, record: Address) -> None:
    """`tfrt_test.sum`"""
    total = 0
    for i in range(load(record + at.RECORD_ARGUMENTS)):
        total += argument_i32(context, i)
    set_i32(context, 0, total)


@entry
def sum_attributes_i32(context: Address, record: Address) -> None:
    """`tfrt_test.sync_sum_attributes`; data: how many there are, and they."""
    total = 0
    for i in range(attribute(record, 0)):
        total += attribute(record, 1 + i)
    set_i32(context, 0, total)


@entry
def nothing(context: Address, record: Address) -> None:
    """A kernel without results that does nothing."""


@entry
def count3_i32(context: Address, record: Address) -> None:
    """`tfrt_test.count3.i32`"""
    for i in range(3):
        set_i32(context, i, argument_i32(context, 0) + i + 1)


@entry
def count3_i64(context: Address, record: Address) -> None:
    """`tfrt_test.count3.i64`"""
    for i in range(3):
        set_i64(context, i, wrapping_add(argument_i64(context, 0), i + 1))
