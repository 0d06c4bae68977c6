"""The frame: a native kernel's view of its arguments, results, and errors."""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_reference,
    new_available,
    new_scalar,
)
from tfrt_runtime.native.calls.kernel_calls import report_error
from tfrt_runtime.native.memory import (
    Address,
    call2,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    outline,
    store,
    wrapping_add,
)


@inline
def argument(context: Address, index: int) -> Address:
    """Return argument `index`: a concrete, available value, which the kernel borrows."""
    return load(load(context + at.CONTEXT_ARGUMENTS) + 8 * index)


@native
def payload_type(context: Address, index: int) -> int:
    """Return the type of an argument's payload."""
    # Atomic, because `kernel_return_object` may be setting the type of a compiled program's object.
    return load_acquire(argument(context, index) + at.VALUE_KIND) >> 8


@native
def attribute(record: Address, index: int) -> int:
    """Return word `index` of the data in the kernel's record."""
    return load(record + load_i32(record + at.RECORD_DATA) + 8 * index)


@inline
def set_result(context: Address, index: int, value: Address) -> None:
    """Set result `index` to a value, and take over the caller's reference to the value."""
    store(load(context + at.CONTEXT_RESULTS) + 8 * index, value)


@native
def argument_i1(context: Address, index: int) -> int:
    """Return an `i1` argument as 0 or 1."""
    return load(argument(context, index) + at.VALUE_PAYLOAD) & 1


@native
def argument_i32(context: Address, index: int) -> int:
    """Return an `i32` argument."""
    return load_i32(argument(context, index) + at.VALUE_PAYLOAD)


@native
def argument_i64(context: Address, index: int) -> int:
    """Return an `i64` argument."""
    return load(argument(context, index) + at.VALUE_PAYLOAD)


@native
def set_word(context: Address, index: int, kind: int, word: int) -> None:
    """Set result `index` to a new value of type `kind` with the payload `word`.

    If the payload refers to an object, the value takes over the caller's reference to the object.
    """
    store(new_result(context, index, kind), word)


@inline
def new_result(context: Address, index: int, kind: int) -> Address:
    """Set result `index` to a new value of type `kind`.

    Return the address where the caller must store the payload.
    """
    value = new_available(context, kind)
    set_result(context, index, value)
    return value + at.VALUE_PAYLOAD


@native
def set_i32(context: Address, index: int, number: int) -> None:
    """Set an `i32` result; a number that is too large wraps around."""
    set_result(context, index, new_scalar(context, at.TYPE_I32, number))


@native
def set_i64(context: Address, index: int, number: int) -> None:
    """Set an `i64` result; a number that is too large wraps around."""
    # Compiled words wrap by themselves, but the Python integers of uncompiled code do not.
    set_word(context, index, at.TYPE_I64, wrapping_add(number, 0))


@native
def set_chain(context: Address, index: int) -> None:
    """Set a result to a chain, a value that only orders side effects."""
    set_result(context, index, new_available(context, at.TYPE_CHAIN))


@native
def share_argument(context: Address, index: int, result: int) -> None:
    """Set result `result` to the same AsyncValue as argument `index`."""
    value = argument(context, index)
    add_references(value, 1)
    set_result(context, result, value)


@native
def fail(context: Address, record: Address, message: int) -> None:
    """Report an error, which becomes each result that the kernel has not set.

    If `record` is 0, do nothing: `python_runs.at_once` is only trying the kernel, and will run it
    again.
    """
    if record == 0:
        return
    failed = report_error(context, record, message)
    fail_results(context, record, failed)
    drop_reference(context, failed)


@native
def fail_results(context: Address, record: Address, failed: Address) -> None:
    """Resolve each unset result to the error `failed`, which the caller still owns."""
    results = load(context + at.CONTEXT_RESULTS)
    for i in range(load_i32(record + at.RECORD_RESULTS)):
        if load(results + 8 * i) == 0:
            add_references(failed, 1)
            store(results + 8 * i, failed)


@outline
def run_in_python(context: Address, record: Address) -> None:
    """Let Python run the kernel, using the kernel's frame."""
    call2(load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_PYTHON_KERNEL), context, record)
