"""What a native kernel says to its frame: arguments in, results out, errors."""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import add_references, drop_reference, new_available
from tfrt_runtime.native.calls.kernel_calls import report_error
from tfrt_runtime.native.memory import (
    Address,
    inline,
    load,
    load_f32,
    load_f64,
    load_i32,
    native,
    shared,
    store,
    store_f32,
    store_f64,
    store_i32,
    wrapping_add,
)
from tfrt_runtime.scalars import wrapped

shared(wrapped)


@inline
def argument(context: Address, index: int) -> Address:
    """Argument `index`, concrete and available; borrowed."""
    return load(load(context + at.CONTEXT_ARGUMENTS) + 8 * index)


@native
def attribute(record: Address, index: int) -> int:
    """Word `index` of the kernel's data."""
    return load(load(record + at.RECORD_DATA) + 8 * index)


@inline
def set_result(context: Address, index: int, value: Address) -> None:
    """Hand a value, with one reference, to result `index`."""
    store(load(context + at.CONTEXT_RESULTS) + 8 * index, value)


@native
def argument_i1(context: Address, index: int) -> int:
    """An `i1` argument as 0 or 1."""
    return load(argument(context, index) + at.VALUE_PAYLOAD) & 1


@native
def argument_i8(context: Address, index: int) -> int:
    """An `i8` argument."""
    return wrapped(load(argument(context, index) + at.VALUE_PAYLOAD), 8)


@native
def argument_i16(context: Address, index: int) -> int:
    """An `i16` argument."""
    return wrapped(load(argument(context, index) + at.VALUE_PAYLOAD), 16)


@native
def argument_i32(context: Address, index: int) -> int:
    """An `i32` argument."""
    return load_i32(argument(context, index) + at.VALUE_PAYLOAD)


@native
def argument_i64(context: Address, index: int) -> int:
    """An `i64` argument."""
    return load(argument(context, index) + at.VALUE_PAYLOAD)


@native
def argument_f32(context: Address, index: int) -> float:
    """An `f32` argument, as a double."""
    return load_f32(argument(context, index) + at.VALUE_PAYLOAD)


@native
def argument_f64(context: Address, index: int) -> float:
    """An `f64` argument."""
    return load_f64(argument(context, index) + at.VALUE_PAYLOAD)


@native
def set_i1(context: Address, index: int, number: int) -> None:
    """Emplace an `i1` result."""
    value = new_available(context, at.TYPE_I1)
    store(value + at.VALUE_PAYLOAD, int(number))
    set_result(context, index, value)


@native
def set_i8(context: Address, index: int, number: int) -> None:
    """Emplace an `i8` result; wraps."""
    value = new_available(context, at.TYPE_I8)
    store(value + at.VALUE_PAYLOAD, wrapped(number, 8))
    set_result(context, index, value)


@native
def set_i16(context: Address, index: int, number: int) -> None:
    """Emplace an `i16` result; wraps."""
    value = new_available(context, at.TYPE_I16)
    store(value + at.VALUE_PAYLOAD, wrapped(number, 16))
    set_result(context, index, value)


@native
def set_i32(context: Address, index: int, number: int) -> None:
    """Emplace an `i32` result; wraps."""
    value = new_available(context, at.TYPE_I32)
    store(value + at.VALUE_PAYLOAD, 0)
    store_i32(value + at.VALUE_PAYLOAD, number)
    set_result(context, index, value)


@native
def set_i64(context: Address, index: int, number: int) -> None:
    """Emplace an `i64` result; wraps."""
    value = new_available(context, at.TYPE_I64)
    store(value + at.VALUE_PAYLOAD, wrapping_add(number, 0))
    set_result(context, index, value)


@native
def set_f32(context: Address, index: int, number: float) -> None:
    """Emplace an `f32` result, rounded."""
    value = new_available(context, at.TYPE_F32)
    store_f32(value + at.VALUE_PAYLOAD, number)
    set_result(context, index, value)


@native
def set_f64(context: Address, index: int, number: float) -> None:
    """Emplace an `f64` result."""
    value = new_available(context, at.TYPE_F64)
    store_f64(value + at.VALUE_PAYLOAD, number)
    set_result(context, index, value)


@native
def set_chain(context: Address, index: int) -> None:
    """Emplace a chain."""
    set_result(context, index, new_available(context, at.TYPE_CHAIN))


@native
def share_argument(context: Address, index: int, result: int) -> None:
    """Let an argument's AsyncValue be a result, too."""
    value = argument(context, index)
    add_references(value, 1)
    set_result(context, result, value)


@native
def fail(context: Address, record: Address, message: int) -> None:
    """Report an error once; it becomes each result that is not set yet.

    Without a record the kernel was only tried: it sets no result (`python_runs.at_once`).
    """
    if record == 0:
        return
    failed = report_error(context, record, message)
    results = load(context + at.CONTEXT_RESULTS)
    for i in range(load(record + at.RECORD_RESULTS)):
        if load(results + 8 * i) == 0:
            add_references(failed, 1)
            store(results + 8 * i, failed)
    drop_reference(context, failed)
