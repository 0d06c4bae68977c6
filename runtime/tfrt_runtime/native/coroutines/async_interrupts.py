"""Tell compiled code whether to continue.

The code's run may be cancelled, or the user may have pressed Ctrl-C.  Loops check one word of the
process, which is almost always 0.  While it is nonzero, they call this module.  Each thread knows
the number of the run that it works for, because tasks and waiters carry that number.
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
"""Name of the pointer to PROCESS_INTERRUPTS in compiled code."""


@native
def stop_of(context: Address) -> Address:
    """Return the `STOP_*` words of this thread's run if the run is cancelled, or 0."""
    # The table is replaced as a whole when a run is cancelled; old tables remain for late readers.
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
    """Return the error for the place where a cancelled run's code ends, with a new reference.

    Python makes one error per place; the request for the error also tells Python the place.  All
    code that ends there shares the error.
    """
    for i in range(at.MAX_STOP_PLACES):
        row = stop + at.STOP_PLACES + 2 * WORD * i
        known = load_acquire(row)
        # The row is claimed first, and its error is set later, so that no place gets two rows, each
        # with its own request to Python.
        if known == 0:
            known = record if compare_and_swap(row, 0, record) != 0 else load_acquire(row)
        if known == record:
            shared = load_acquire(row + WORD)
            if shared == 0:
                return first_error(context, row, record)
            add_references(shared, 1)
            return shared
    return report_event(context, at.EVENT_INTERRUPTED, record)


@native
def first_error(context: Address, row: Address, record: Address) -> Address:
    """Make the error of a place; return the place's error with a new reference.

    The result is the row's error if another thread was first, otherwise the new error.  Threads
    that end there while Python is making the first error also ask Python, but only once each; the
    first thread that returns sets the row's error.
    """
    made = report_event(context, at.EVENT_INTERRUPTED, record)
    add_references(made, 1)  # the row's reference, before other threads can find the error there
    if compare_and_swap(row + WORD, 0, made) == 0:
        drop_reference(context, made)
    return made


@native
def stop_here(context: Address, record: Address) -> int:
    """Return 1 if the thread's code must stop, and record the reason for the thread.

    `record` is a place, or 0.
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
    # The holder of this error is kept until nothing is running.
    add_references(failure, 1)
    fail_thread(context, failure)
    return 1


@exported("tfrtAsyncIsCancelled", "i1")
def is_cancelled() -> int:
    """Tell whether a new task must not run; if so, record the reason for the thread."""
    context = here()
    if load_acquire(load(context + at.CONTEXT_PROCESS) + at.PROCESS_INTERRUPTS) == 0:
        return 0
    return stop_here(context, 0)


@exported("tfrtAsyncIsInterrupted", "i1", "ptr")
def is_interrupted(record: Address) -> int:
    """Tell whether a loop must end; if so, record the reason for the thread.

    `record` is the loop's place.
    """
    context = here()
    pending = load_acquire(load(context + at.CONTEXT_PROCESS) + at.PROCESS_INTERRUPTS)
    if pending & at.INTERRUPT_SIGNAL != 0:
        report_event(context, at.EVENT_SIGNAL, record)
    return stop_here(context, record)


@entry
def change_interrupts(process: Address, added: int, removed: int) -> None:
    """Set and clear bits of the word that loops check; a signal may set a bit at any moment."""
    while True:
        bits = load_acquire(process + at.PROCESS_INTERRUPTS)
        changed = (bits | added) & ~removed
        if compare_and_swap(process + at.PROCESS_INTERRUPTS, bits, changed) != 0:
            return


@entry
def present_context(_unused: int) -> Address:
    """Return the context of the compiled code that has called Python."""
    return here()
