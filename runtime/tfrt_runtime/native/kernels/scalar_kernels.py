"""Native kernels for scalars, constants, and chains.

The scalar kernels are generated from the table of operations in `tfrt_runtime.scalars`.
"""

from collections.abc import Callable
from typing import Any

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import new_available
from tfrt_runtime.native.calls.frame import (
    argument,
    argument_i32,
    argument_i64,
    attribute,
    fail,
    new_result,
    payload_type,
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
    load_f32,
    load_f64,
    load_i32,
    shared,
    store,
    store_f32,
    store_f64,
    store_i32,
    wrapping_add,
)
from tfrt_runtime.scalars import OPERATIONS, Operation, failure_number, wrapped

KERNELS: dict[str, Callable[[Address, Address], None]] = {}
"""The generated kernels, keyed by symbol, such as `add_i32` or `cast_i32_to_f64`."""

_SOURCE = """
def {symbol}(context, record):
    {operands} = {arguments}{failing}
    {results} = compute({operands})
    {sets}
"""
_READS = {
    "i1": "load({place}) & 1",
    # `memory` has no loads of 8 or 16 bits.
    "i8": "wrapped(load({place}), 8)",
    "i16": "wrapped(load({place}), 16)",
    "i32": "load_i32({place})",
    "i64": "load({place})",
    "f32": "load_f32({place})",
    "f64": "load_f64({place})",
}
"""Code that reads an operand from the address of its payload, as a signed integer or a double."""
_WRITES = {
    "i1": "store({place}, int({number}))",
    "i8": "store({place}, wrapped({number}, 8))",
    "i16": "store({place}, wrapped({number}, 16))",
    "i32": "store({place}, 0); store_i32({place}, {number})",
    # Adding 0 wraps the number around in ordinary Python, and costs nothing in compiled code.
    "i64": "store({place}, wrapping_add({number}, 0))",
    "f32": "store_f32({place}, {number})",
    "f64": "store_f64({place}, {number})",
}
"""Code that writes a result to the address of its payload.

Integers wrap around.  The upper half of an `i32` payload is 0.
"""
_NAMES: dict[str, Any] = {
    **{function.__name__: function for function in (load, load_i32, load_f32, load_f64)},
    **{function.__name__: function for function in (store, store_i32, store_f32, store_f64)},
    **{function.__name__: function for function in (argument, new_result, fail, wrapping_add)},
    "wrapped": shared(wrapped),
    # `entry` registers a kernel under its `__module__`, which a function made by `exec` takes from
    # this name.
    "__name__": __name__,
}
_FAILING = """
    if fails({operands}):
        fail(context, record, number)
        return"""


def _make_kernel(operation: Operation) -> None:
    """Generate a kernel from a row of the table of operations.

    The kernel is generated as source, because Numba needs functions with a fixed number of
    parameters.
    """
    names = [f"operand{i}" for i in range(len(operation.operands))]
    space = {**_NAMES, "compute": shared(operation.compute)}
    arguments, sets, failing = [], [], ""
    for i, word in enumerate(operation.operands):
        place = f"argument(context, {i}) + {at.VALUE_PAYLOAD}"
        arguments.append(_READS[word].format(place=place))
    for i, word in enumerate(operation.results):
        payload_type = getattr(at, f"TYPE_{word.upper()}")
        sets.append(f"place{i} = new_result(context, {i}, {payload_type})")
        sets.append(_WRITES[word].format(place=f"place{i}", number=f"result{i}"))
    if operation.failure is not None:
        space["fails"] = shared(operation.failure.when)
        space["number"] = at.FIRST_FAILURE + failure_number(operation.failure)
        failing = _FAILING.format(operands=", ".join(names))
    source = _SOURCE.format(
        symbol=operation.symbol,
        operands=", ".join(names),
        arguments=", ".join(arguments),
        failing=failing,
        results=", ".join(f"result{i}" for i in range(len(operation.results))),
        sets="; ".join(sets),
    )
    exec(source, space)  # noqa: S102
    KERNELS[operation.symbol] = entry(space[operation.symbol])


for _operation in OPERATIONS.values():
    _make_kernel(_operation)


@entry
def constant(context: Address, record: Address) -> None:
    """Return a new value with a constant; data: the payload type and the payload's two words."""
    value = new_available(context, attribute(record, 0))
    store(value + at.VALUE_PAYLOAD, attribute(record, 1))
    store(value + at.VALUE_PAYLOAD2, attribute(record, 2))
    set_result(context, 0, value)


@entry
def run_checked(context: Address, record: Address) -> None:
    """Check the types of the arguments, then run another kernel.

    The data are the address of that kernel, which must not need data of its own, and the payload
    type of each argument, or 0 for any type.
    """
    for i in range(load_i32(record + at.RECORD_ARGUMENTS)):
        # A BEF file may pass any value, and the kernels read payloads without checking their types.
        wanted = attribute(record, 1 + i)
        if wanted != 0 and payload_type(context, i) != wanted:
            fail(context, record, at.MESSAGE_WRONG_TYPE)
            return
    call2(attribute(record, 0), context, record)


@entry
def new_chain(context: Address, record: Address) -> None:
    """`tfrt.new.chain` and `tfrt.merge.chains`: return a chain once all arguments are available."""
    set_chain(context, 0)


@entry
def alias_value(context: Address, record: Address) -> None:
    """`tfrt.alias.value`: return the second argument; the first is a chain."""
    share_argument(context, 1, 0)


@entry
def sum_i32(context: Address, record: Address) -> None:
    """`tfrt_test.sum`: return the sum of all arguments."""
    total = 0
    # Go from last to first. If there are thousands of arguments, only the last ones are still in
    # the cache now. The arguments are dropped from first to last, and by then the first ones are in
    # the cache.
    for i in range(load_i32(record + at.RECORD_ARGUMENTS) - 1, -1, -1):
        total += argument_i32(context, i)
    set_i32(context, 0, total)


@entry
def sum_attributes_i32(context: Address, record: Address) -> None:
    """`tfrt_test.sync_sum_attributes`: return the sum of all attributes.

    Data: the number of attributes, then the attributes.
    """
    total = 0
    for i in range(attribute(record, 0)):
        total += attribute(record, 1 + i)
    set_i32(context, 0, total)


@entry
def nothing(context: Address, record: Address) -> None:
    """Do nothing; this is the function of kernels without results."""


@entry
def count3_i32(context: Address, record: Address) -> None:
    """`tfrt_test.count3.i32`: return the next three numbers."""
    for i in range(3):
        set_i32(context, i, argument_i32(context, 0) + i + 1)


@entry
def count3_i64(context: Address, record: Address) -> None:
    """`tfrt_test.count3.i64`: return the next three numbers."""
    for i in range(3):
        set_i64(context, i, wrapping_add(argument_i64(context, 0), i + 1))
