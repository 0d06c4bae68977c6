"""How compiled code learns that its run was cancelled or that the user pressed Ctrl-C.

Loops in compiled code check a word that is shared by the whole process and is almost always 0.
While the word is not 0, loops call this module.  Each thread knows the number of the run that it
works for, because tasks and waiters carry that number.
"""

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
"""The name that compiled code uses for the pointer to PROCESS_INTERRUPTS."""


@native
def stop_of(context: Address) -> Address:
    """Return the address of the `STOP_*` words of this thread's run.

    Return 0 if the run is not cancelled.
    """
    # When a run is cancelled, a new table replaces the old one. The old one stays in memory,
    # because other threads may still be reading it.
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
    """Return a cancelled run's error for a place in the code, with a new reference.

    All code that stops at the same place shares one error.  Python makes that error, and thus
    learns the place.
    """
    for i in range(at.MAX_STOP_PLACES):
        row = stop + at.STOP_PLACES + 2 * WORD * i
        known = load_acquire(row)
        # Claim the row before making the error, so that no place gets two rows.
        if known == 0:
            known = record if compare_and_swap(row, 0, record) != 0 else load_acquire(row)
        if known == record:
            shared = load_acquire(row + WORD)
            if shared == 0:
                return first_error(context, row, record)
            add_references(shared, 1)
            return shared
    # All rows belong to other places, so this error is not shared.
    return report_event(context, at.EVENT_INTERRUPTED, record)


@native
def first_error(context: Address, row: Address, record: Address) -> Address:
    """Have Python make the error for a place; return the error with a new reference.

    Several threads may do this at the same time.  The first of them stores its error in `row`.
    """
    made = report_event(context, at.EVENT_INTERRUPTED, record)
    add_references(made, 1)  # for the row, before other threads find the error there
    if compare_and_swap(row + WORD, 0, made) == 0:
        drop_reference(context, made)
    return made


@native
def stop_here(context: Address, record: Address) -> int:
    """Return 1 if this thread's code must stop, and then record the reason for this thread.

    `record` describes the place in the code, or is 0.
    """
    stop = stop_of(context)
    if stop != 0 and record != 0:
        fail_thread(context, place_error(context, stop, record))
        return 1
    failure = 0
    shared = load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_ASYNC)
    if stop != 0:
        failure = load(stop + at.STOP_ERROR)
    elif shared != 0:
        failure = load_acquire(shared + at.ASYNC_CANCELLED)
    if failure == 0:
        return 0
    # The struct that holds this error lives until nothing is running.
    add_references(failure, 1)
    fail_thread(context, failure)
    return 1


@exported("tfrtAsyncIsCancelled", "i1")
def is_cancelled() -> int:
    """Return whether a new task must not run.  If so, record the reason for this thread."""
    context = here()
    if load_acquire(load(context + at.CONTEXT_PROCESS) + at.PROCESS_INTERRUPTS) == 0:
        return 0
    return stop_here(context, 0)


@exported("tfrtAsyncIsInterrupted", "i1", "ptr")
def is_interrupted(record: Address) -> int:
    """Return whether the loop at `record` must end.  If so, record the reason for this thread."""
    context = here()
    pending = load_acquire(load(context + at.CONTEXT_PROCESS) + at.PROCESS_INTERRUPTS)
    # Report the signal before the check below: Python cancels the run if the signal is Ctrl-C.
    if pending & at.INTERRUPT_SIGNAL != 0:
        report_event(context, at.EVENT_SIGNAL, record)
    return stop_here(context, record)


@entry
def change_interrupts(process: Address, added: int, removed: int) -> None:
    """Set the bits `added` and clear the bits `removed` in the word that loops check.

    The update is atomic, because a signal handler may set a bit at the same time.
    """
    while True:
        bits = load_acquire(process + at.PROCESS_INTERRUPTS)
        changed = (bits | added) & ~removed
        if compare_and_swap(process + at.PROCESS_INTERRUPTS, bits, changed) != 0:
            return


@entry
def present_context(_unused: int) -> Address:
    """Return the context of the compiled code that has called Python on this thread."""
    return here()
