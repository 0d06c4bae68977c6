"""Calls from Python, whose arguments come as they are."""

from __future__ import annotations

from tfrt_runtime.native.async_value import drop_reference
from tfrt_runtime.native.executor import start_call
from tfrt_runtime.native.handles import value_of
from tfrt_runtime.native.layouts import FUNCTION_ARGUMENTS, REQUEST_SIZE
from tfrt_runtime.native.memory import Address, entry, load, store

IS_VALUE = -1
"""In the place of a payload's type: the next word is an AsyncValue."""
ARGUMENT_WORDS = 3


@entry
def start_call_with(context: Address, function: Address, request: Address, is_task: int) -> None:
    """As `start_call`, with payloads for arguments.

    Behind the request's own words are three for each argument: the type of the payload and the payload,
    which belongs to the value then, or IS_VALUE and an AsyncValue, borrowed; then room for one per argument
    and one per result, where the caller finds the results as `start_call` leaves them.
    """
    count = load(function + FUNCTION_ARGUMENTS)
    words = request + REQUEST_SIZE
    values = words + 8 * ARGUMENT_WORDS * count
    for i in range(count):
        argument = words + 8 * ARGUMENT_WORDS * i
        payload_type, first = load(argument), load(argument + 8)
        value = first
        if payload_type != IS_VALUE:
            value = value_of(context, payload_type, first, load(argument + 16))
        store(values + 8 * i, value)
    start_call(context, function, request, values, is_task)
    for i in range(count):
        if load(words + 8 * ARGUMENT_WORDS * i) != IS_VALUE:
            drop_reference(context, load(values + 8 * i))
