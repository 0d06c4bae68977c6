"""Native kernels that sleep: a sleeping thread ends its sleep early when its run is cancelled."""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import add_references
from tfrt_runtime.native.calls.frame import (
    argument,
    argument_i32,
    argument_i64,
    fail,
    set_chain,
    set_i32,
    set_i64,
    set_result,
)
from tfrt_runtime.native.memory import (
    Address,
    call3,
    entry,
    futex_wait,
    load,
    load_acquire,
    native,
    now,
)
from tfrt_runtime.native.queues.tasks import next_random

SHORTEST_DELAY_NS = 1_000_000
LONGEST_DELAY_NS = 10_000_000


@native
def sleep(context: Address, record: Address, nanoseconds: int) -> bool:
    """Sleep for a kernel; False, and the results are set, if the run was cancelled meanwhile."""
    word = load(context + at.CONTEXT_REQUEST) + at.REQUEST_CANCEL
    end = now() + nanoseconds
    left = nanoseconds
    while left > 0 and load_acquire(word) == 0:
        # A thread that cancels the run wakes the word.  Its low half is 0 only while the whole is, or for
        # an address at a multiple of 4 GiB: then the sleep takes its full time.
        futex_wait(word, 0, left)
        left = end - now()
    cancelled = load_acquire(word)
    if cancelled == 0:
        return True
    results = load(record + at.RECORD_RESULTS)
    add_references(cancelled, results)
    for i in range(results):
        set_result(context, i, cancelled)
    return False


@native
def sleep_and_tell(context: Address, record: Address) -> bool:
    """Sleep for as many microseconds as argument 0 says, and say so; False if the results are set."""
    if load(argument(context, 0) + at.VALUE_KIND) >> 8 != at.TYPE_I32:
        fail(context, record, at.MESSAGE_WRONG_TYPE)
        return False
    microseconds = argument_i32(context, 0)
    if not sleep(context, record, 1000 * microseconds):
        return False
    call3(
        load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_PRINT), context, record, microseconds
    )
    return True


@entry
def usleep(context: Address, record: Address) -> None:
    """`tfrt_test.usleep`"""
    sleep_and_tell(context, record)


@entry
def blocking_usleep(context: Address, record: Address) -> None:
    """`tfrt_test.blocking.usleep`: a chain for what comes after it."""
    if sleep_and_tell(context, record):
        set_chain(context, 0)


@native
def random_delay(context: Address) -> int:
    """Some time from the shortest to the longest delay, in nanoseconds."""
    return SHORTEST_DELAY_NS + next_random(context) % (LONGEST_DELAY_NS - SHORTEST_DELAY_NS)


@entry
def copy_with_delay_i32(context: Address, record: Address) -> None:
    """`tfrt_test.copy.with_delay.i32` and `async_copy.with_delay.i32`"""
    if sleep(context, record, random_delay(context)):
        set_i32(context, 0, argument_i32(context, 0))


@entry
def copy_with_delay_i64(context: Address, record: Address) -> None:
    """`tfrt_test.copy.with_delay.i64` and `async_copy.with_delay.i64`"""
    if sleep(context, record, random_delay(context)):
        set_i64(context, 0, argument_i64(context, 0))
