"""Whether compiled code shall go on: its run may be cancelled, or the user may have pressed Ctrl-C.

Loops check one word of the process, which is 0 nearly always.  While it is not, they ask here: the
threads know the number of the run that they work for, as tasks and waiters carry it along.
"""

from __future__ import annotations

from tfrt_runtime.native import async_layouts as co
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import add_references, drop_reference
from tfrt_runtime.native.coroutines.async_awaiting import here
from tfrt_runtime.native.coroutines.async_objects import fail_thread, report_event
from tfrt_runtime.native.memory import (
    Address,
    compare_and_swap,
    entry,
    exported,
    load,
    load_acquire,
    native,
)

WORD = 8
FLAG = "tfrtInterruptFlag"
"""What compiled code calls its pointer to PROCESS_INTERRUPTS."""


@native
def stop_of(context: Address) -> Address:
    """The `STOP_*` words of this thread's run if that is cancelled, or 0."""
    # The table is replaced as a whole when a run is cancelled; former tables stay for late readers.
    number = load(context + at.CONTEXT_RUN)
    table = load_acquire(load(context + at.CONTEXT_PROCESS) + at.PROCESS_CANCELLED_RUNS)
    if table != 0 and number != 0:
        for i in range(load(table)):
            row = table + WORD + 2 * WORD * i
            if load_acquire(row) == number:
                return load_acquire(row + WORD)
    return 0


@native
def place_error(context: Address, stop: Address, record: Address) -> Address:
    """The error of a cancelled run's code that ends at a place, with a reference of its own.

    Python makes one per place, and hears of the place by that.  All that end there share it.
    """
    for i in range(co.MAX_STOP_PLACES):
        row = stop + co.STOP_PLACES + 2 * WORD * i
        known = load_acquire(row)
        # The row first, its error later: Python must not be asked for the same place in two rows.
        if known == 0:
            known = record if compare_and_swap(row, 0, record) != 0 else load_acquire(row)
        if known == record:
            shared = load_acquire(row + WORD)
            if shared == 0:
                return first_error(context, row, record)
            add_references(shared, 1)
            return shared
    return report_event(context, co.EVENT_INTERRUPTED, record)


@native
def first_error(context: Address, row: Address, record: Address) -> Address:
    """A new error for a place, with a reference of its own; that of the row, unless another thread was first.

    Threads that end there while Python makes the first one ask Python, too, but once each: the one that is back first
    gives the row its error.
    """
    made = report_event(context, co.EVENT_INTERRUPTED, record)
    add_references(made, 1)  # the row's, before others can find the error there
    if compare_and_swap(row + WORD, 0, made) == 0:
        drop_reference(context, made)
    return made


@native
def stop_here(context: Address, record: Address) -> int:
    """1 if the thread's code shall stop: why is noted for the thread.  `record` is a place, or 0."""
    stop = stop_of(context)
    if stop != 0 and record != 0:
        fail_thread(context, place_error(context, stop, record))
        return 1
    failure = 0
    shared = load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_ASYNC)
    if stop != 0:
        failure = load(stop + co.STOP_ERROR)
    elif shared != 0:
        failure = load_acquire(shared + co.ASYNC_CANCELLED)
    if failure == 0:
        return 0
    # What holds it is kept until nothing runs.
    add_references(failure, 1)
    fail_thread(context, failure)
    return 1


@exported("tfrtAsyncIsCancelled", "i1")
def is_cancelled() -> int:
    """Whether a new task shall not run; why is noted for the thread."""
    context = here()
    if load_acquire(load(context + at.CONTEXT_PROCESS) + at.PROCESS_INTERRUPTS) == 0:
        return 0
    return stop_here(context, 0)


@exported("tfrtAsyncIsInterrupted", "i1", "ptr")
def is_interrupted(record: Address) -> int:
    """Whether a loop shall end; why is noted for the thread.  Its record says where it is."""
    context = here()
    pending = load_acquire(load(context + at.CONTEXT_PROCESS) + at.PROCESS_INTERRUPTS)
    if pending & at.INTERRUPT_SIGNAL != 0:
        report_event(context, co.EVENT_SIGNAL, record)
    return stop_here(context, record)


@entry
def change_interrupts(process: Address, added: int, removed: int) -> None:
    """Set and clear bits of the word that loops check; a signal may set one at any moment."""
    while True:
        bits = load_acquire(process + at.PROCESS_INTERRUPTS)
        changed = (bits | added) & ~removed
        if compare_and_swap(process + at.PROCESS_INTERRUPTS, bits, changed) != 0:
            return


@entry
def present_context(_unused: int) -> Address:
    """The context of the compiled code that has called Python."""
    return here()
