"""Calls from Python, whose arguments come as they are."""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_reference, is_available, resolve
from tfrt_runtime.native.calls.executor import start_call
from tfrt_runtime.native.handles import value_of
from tfrt_runtime.native.memory import Address, entry, load, load_acquire, native, store


@entry
def start_call_with(context: Address, function: Address, request: Address, is_task: int) -> None:
    """As `start_call`, with payloads for arguments.

    The words behind those of the request are as `layouts` says.  A payload belongs to the value that is made of it;
    an AsyncValue is borrowed.  The caller finds the results as `start_call` leaves them.
    """
    start_row(context, function, request, request + at.REQUEST_SIZE, is_task)


@entry
def start_calls_with(
    context: Address, function: Address, request: Address, count: int, is_task: int
) -> None:
    """As `start_call_with` for `count` calls, whose rows follow each other."""
    arguments = load(function + at.FUNCTION_ARGUMENTS)
    size = 8 * ((at.ARGUMENT_WORDS + 1) * arguments + load(function + at.FUNCTION_RESULTS))
    for i in range(count):
        start_row(context, function, request, request + at.REQUEST_SIZE + size * i, is_task)


@native
def start_row(
    context: Address, function: Address, request: Address, words: Address, is_task: int
) -> None:
    """Start a call with the row at `words`."""
    count = load(function + at.FUNCTION_ARGUMENTS)
    values = words + 8 * at.ARGUMENT_WORDS * count
    for i in range(count):
        argument = words + 8 * at.ARGUMENT_WORDS * i
        payload_type, first = load(argument), load(argument + 8)
        value = first
        if payload_type != at.IS_VALUE:
            value = value_of(context, payload_type, first, load(argument + 16))
        store(values + 8 * i, value)
    start_call(context, function, request, values, is_task)
    for i in range(count):
        if load(words + 8 * at.ARGUMENT_WORDS * i) != at.IS_VALUE:
            drop_reference(context, load(values + 8 * i))


@entry
def read_results(first: Address, size: int, count: int, payload_type: int, into: Address) -> int:
    """Copy the payloads of one result of `count` calls; the place of `first` and the size of a row say where.

    Stops at the first that is unavailable, an error, or of another type; returns how many were copied.
    """
    for i in range(count):
        value = load(first + size * i)
        if not is_available(value):
            return i
        found = resolve(value)
        is_number = load(found + at.VALUE_KIND) >> 8 == payload_type
        if not is_number or load_acquire(found + at.VALUE_STATE) & at.STATE_BITS != at.CONCRETE:
            return i
        store(into + 8 * i, load(found + at.VALUE_PAYLOAD))
    return count


@entry
def drop_results(context: Address, first: Address, size: int, count: int) -> None:
    """Drop the caller's reference to one result of `count` calls."""
    for i in range(count):
        drop_reference(context, load(first + size * i))
