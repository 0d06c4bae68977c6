"""The log of watched runs: events in rings, one ring per thread.

Only the ring's own thread writes records, and one reader drains them.  A record has four words: the
time, `op | value << 32`, `instance | kind << 32 | worker << 38 | run << 48`, and a payload.  The
writer never waits for the reader: in a full ring, a new record overwrites the oldest one, and the
reader counts the records that it has missed.  A run that is not watched pays only for loading one
word.

    kernel, thread, coroutine             ring of the thread                  reader (Python)
    log_kernel, log_value, -write_event-> record HEAD % CAPACITY -log_drain->  reads TAIL to HEAD
    log_thread, log_code                  HEAD + 1                            sets TAIL, LOST, SKIP

Only the ring's thread writes HEAD and the records, and only the reader writes TAIL, LOST, and SKIP.
The reader copies the records and then reads HEAD again, as a seqlock reader does
(Boehm 2012, MSPC, "Can seqlocks get along with programming language memory models?").  A copied
record that the writer may have overwritten in the meantime is torn, and counts as lost.  A thread
that exits leaves its ring, with the events in it, to the next thread that needs a ring.

Rejected alternatives: a single ring, because all threads would contend for its HEAD; and a writer
that waits for the reader, because watching a run must not stop the run.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import add_references, drop_optional, is_available, resolve
from tfrt_runtime.native.memory import (
    Address,
    allocate,
    clear,
    compare_and_swap,
    entry,
    exchange,
    fence,
    fetch_add,
    futex_wait,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    now,
    outline,
    push,
    store,
    store_release,
    ticks,
    time_left,
)

LOW = 0xFFFFFFFF


@outline
def take_log(context: Address) -> Address:
    """Give this thread a ring for its first event.

    Return the ring, or 0 if out of memory.  The ring is new, or was left by a thread that has
    exited.  Rings are never freed.
    """
    process = load(context + at.CONTEXT_PROCESS)
    ring = load_acquire(process + at.PROCESS_LOGS)
    # Rings are never freed, so this thread may follow the links without a lock.
    while ring != 0 and compare_and_swap(ring + at.LOG_OWNER, 0, context) == 0:
        ring = load(ring + at.LOG_NEXT)
    if ring == 0:
        ring = make_log(context, process)
    if ring != 0:
        store_release(ring + at.LOG_QUEUE, load(context + at.CONTEXT_QUEUE))
        store(context + at.CONTEXT_LOG, ring)
    return ring


@native
def make_log(context: Address, process: Address) -> Address:
    """Make a new ring for this thread; return 0 if out of memory."""
    ring = allocate(at.LOG_RECORDS + at.LOG_RECORD * at.LOG_CAPACITY)
    if ring == 0:
        return 0
    # Clear only the header: the reader reads no record beyond HEAD.
    clear(ring, at.LOG_RECORDS)
    # Set the owner before the push: afterward, other threads may claim rings without an owner.
    store(ring + at.LOG_OWNER, context)
    push(process + at.PROCESS_LOGS, ring, at.LOG_NEXT)
    return ring


@native
def leave_log(context: Address) -> None:
    """Let another thread take over the ring of this exiting thread.

    The ring keeps the events that the reader has not read yet.
    """
    # Release: the next owner must see the last HEAD and the records before it.
    ring = load(context + at.CONTEXT_LOG)
    if ring != 0:
        store(context + at.CONTEXT_LOG, 0)
        store_release(ring + at.LOG_OWNER, 0)


@inline
def write_event(context: Address, first: int, second: int, payload: int) -> None:
    """Write an event; if the ring is full, overwrite the oldest event."""
    ring = load(context + at.CONTEXT_LOG)
    if ring == 0:
        ring = take_log(context)
    # If memory has run out, drop the event: watching a run must not stop the run.
    if ring != 0:
        head = load(ring + at.LOG_HEAD)
        place = ring + at.LOG_RECORDS + at.LOG_RECORD * (head & (at.LOG_CAPACITY - 1))
        # Store each word with release: a reader that sees a word of this record also sees the
        # current HEAD, so its second read of HEAD shows that the record it copied is torn.
        store_release(place, ticks())
        store_release(place + 8, first)
        store_release(place + 16, second | (load(context + at.CONTEXT_NUMBER) & 1023) << 38)
        store_release(place + 24, payload)
        store_release(ring + at.LOG_HEAD, head + 1)


@inline
def watch_of(activation: Address) -> Address:
    """Return the watch of an activation's run, or 0 if the run is not watched."""
    return load(load(activation + at.ACTIVATION_REQUEST) + at.REQUEST_WATCH)


@native
def is_disturbed(request: Address) -> bool:
    """Return whether a request is cancelled or watched."""
    # REQUEST_UNUSUAL may also be set because of a value, which does not concern the whole run.
    is_unusual = load_acquire(request + at.REQUEST_UNUSUAL) != 0
    return is_unusual and (
        load_acquire(request + at.REQUEST_CANCEL) != 0
        or load_acquire(request + at.REQUEST_WATCH) != 0
    )


@inline
def nested_of(activation: Address) -> int:
    """Return the total size in bytes of an activation and all activations that enclose it."""
    return load(activation + at.ACTIVATION_NESTED) & LOW


@inline
def is_watched(activation: Address) -> bool:
    """Return whether an activation's run is watched."""
    # `watch_activation` marks each watched activation as shared. Checking the mark first avoids
    # reading the requests of most other activations.
    return load(activation + at.ACTIVATION_SHARED) != 0 and watch_of(activation) != 0


@inline
def about(watch: Address, activation: Address, kind: int) -> int:
    """Return the third word of an event about an activation."""
    return (
        load(activation + at.ACTIVATION_NESTED) >> 32 & LOW
        | kind << 32
        | load(watch + at.WATCH_RUN) << 48
    )


@inline
def is_of_program(watch: Address, function: Address) -> bool:
    """Return whether a function belongs to the watched program.

    A watched run may also call other programs' functions, but these calls are not logged.
    """
    return load(function + at.FUNCTION_HANDLE) >> 32 == load(watch + at.WATCH_PROGRAM)


@outline
def log_kernel(
    context: Address, watch: Address, activation: Address, record: Address, kind: int
) -> None:
    """Log an event of a kernel."""
    if is_of_program(watch, load(activation + at.ACTIVATION_FUNCTION)):
        number = load(record + at.RECORD_HANDLE) & LOW
        write_event(context, number | LOW << 32, about(watch, activation, kind), 0)


@outline
def log_call_end(context: Address, activation: Address, record: Address) -> None:
    """Log the end of a kernel that called functions.

    If the kernel has results, do nothing, because their log entries show the end.
    """
    if load_i32(record + at.RECORD_RESULTS) == 0:
        log_kernel(context, watch_of(activation), activation, record, at.LOG_END)


@outline
def log_value(
    context: Address, watch: Address, activation: Address, slot: Address, value: Address
) -> None:
    """Log that a register's value has become available; do nothing if it is still unavailable."""
    # An unavailable value is logged later, by `watched_register_resolved`.
    if is_available(value):
        is_error = load_acquire(resolve(value) + at.VALUE_STATE) & at.STATE_BITS == at.ERROR
        log_state(
            context, watch, activation, slot, value, at.LOG_ERROR if is_error else at.LOG_AVAILABLE
        )


@native
def log_state(
    context: Address, watch: Address, activation: Address, slot: Address, value: Address, kind: int
) -> None:
    """Log that a register holds an available value.

    If the value is an error or does not fit into the event, the watch keeps it.
    """
    if not is_of_program(watch, load(activation + at.ACTIVATION_FUNCTION)):
        return
    concrete = resolve(value)
    number = (load_i32(slot + at.SLOT_REGISTER) - at.ACTIVATION_REGISTERS) >> 3
    function = load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_HANDLE) & LOW
    payload = load(concrete + at.VALUE_PAYLOAD)
    count_value(watch, function, number, payload)
    # Payloads of types up to TYPE_F64 fit into the event's last word.
    if kind != at.LOG_AVAILABLE or load(concrete + at.VALUE_KIND) >> 8 > at.TYPE_F64:
        keep_value(context, watch, function, number, concrete)
    write_event(context, function | number << 32, about(watch, activation, kind), payload)


@native
def kept_of(watch: Address, function: int, number: int) -> Address:
    """Return the address of a register's struct KEPT, or 0 if the watch keeps no values."""
    kept = load(watch + at.WATCH_VALUES)
    return load(kept + 8 * function) + at.KEPT_SIZE * number if kept != 0 else 0


@native
def count_value(watch: Address, function: int, number: int, word: int) -> None:
    """Count one write to a register, and keep `word`, the first word of the register's value.

    The register's event may be overwritten before it is read.
    """
    kept = kept_of(watch, function, number)
    if kept != 0:
        # Store the word before counting, with release: a reader that sees the count must also see a
        # word.
        store_release(kept + at.KEPT_WORD, word)
        fetch_add(kept + at.KEPT_COUNT, 1)


@native
def keep_value(
    context: Address, watch: Address, function: int, number: int, value: Address
) -> None:
    """Keep a value that does not fit into an event, and drop the value that it replaces."""
    kept = kept_of(watch, function, number)
    if kept != 0:
        add_references(value, 1)
        drop_optional(context, exchange(kept + at.KEPT_VALUE, value))


@outline
def watch_activation(
    context: Address, watch: Address, activation: Address, caller: Address
) -> None:
    """Give a starting activation or iteration its number, and log the start.

    Also mark the activation as shared, because a task could otherwise resolve a promise without a
    log entry.
    """
    instance = fetch_add(watch + at.WATCH_INSTANCES, 1) & LOW
    nested = nested_of(activation)
    store(activation + at.ACTIVATION_NESTED, nested | instance << 32)
    if load(activation + at.ACTIVATION_SHARED) == 0:
        store(activation + at.ACTIVATION_SHARED, at.SHARED_ALONE)
    parent = load(caller + at.ACTIVATION_NESTED) >> 32 & LOW if caller != 0 else 0
    function = load(activation + at.ACTIVATION_FUNCTION)
    if is_of_program(watch, function):
        number = load(function + at.FUNCTION_HANDLE) & LOW
        write_event(context, number, about(watch, activation, at.LOG_CALL), parent)


@native
def log_return(context: Address, watch: Address, activation: Address) -> None:
    """Log the end of an activation or of an iteration."""
    function = load(activation + at.ACTIVATION_FUNCTION)
    if is_of_program(watch, function):
        number = load(function + at.FUNCTION_HANDLE) & LOW
        write_event(context, number, about(watch, activation, at.LOG_RETURN), 0)


@outline
def log_thread(context: Address, kind: int) -> None:
    """If any run is watched, log an event of this thread that belongs to no run."""
    if load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_WATCHED) != 0:
        write_event(context, 0, kind << 32, 0)


@inline
def log_code(context: Address, kind: int, what: int, payload: int) -> None:
    """If any run is watched, log an event of compiled code about the object or task `what`.

    A task is identified by its frame.
    """
    if load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_WATCHED) != 0:
        write_code(context, kind, what, payload)


@outline
def write_code(context: Address, kind: int, what: int, payload: int) -> None:
    """Write the event that `log_code` describes."""
    run = load(context + at.CONTEXT_RUN) & 0xFFFF
    write_event(context, what, kind << 32 | run << 48, payload)


@outline
def slow_down(watch: Address, request: Address, start: int) -> None:
    """Make a kernel that started at `start` take WATCH_SLOW / 1000 times as long.

    Return immediately if the run is cancelled.
    """
    end = start + (now() - start) * load(watch + at.WATCH_SLOW) // 1000
    while now() < end and load_acquire(request + at.REQUEST_CANCEL) == 0:
        # `cancel_request` sets this word before it wakes the threads that sleep on it, so this
        # thread does not miss a cancellation.
        futex_wait(request + at.REQUEST_CANCEL, 0, time_left(end))


@entry
def log_drain(ring: Address, target: Address, room: int) -> int:
    """Copy up to `room` new records to `target`, and return their count.

    The first LOG_SKIP of the copied records are torn: the writer may have overwritten them during
    the copy.
    """
    # Acquire: the records before `head` are complete.
    head = load_acquire(ring + at.LOG_HEAD)
    tail = load(ring + at.LOG_TAIL)
    lost = head - at.LOG_CAPACITY - tail
    if lost > 0:
        store(ring + at.LOG_LOST, load(ring + at.LOG_LOST) + lost)
        tail += lost
    count = min(head - tail, room)
    for i in range(count):
        place = ring + at.LOG_RECORDS + at.LOG_RECORD * ((tail + i) & (at.LOG_CAPACITY - 1))
        for word in range(0, at.LOG_RECORD, 8):
            # Not `copy`: each word must be loaded with acquire, as `write_event` explains.
            store(target + at.LOG_RECORD * i + word, load_acquire(place + word))
    # Copy before reading HEAD again.
    fence()
    # The + 1 is for the record that the writer may be writing right now.
    torn = min(max(load_acquire(ring + at.LOG_HEAD) + 1 - at.LOG_CAPACITY - tail, 0), count)
    store(ring + at.LOG_LOST, load(ring + at.LOG_LOST) + torn)
    store(ring + at.LOG_SKIP, torn)
    store(ring + at.LOG_TAIL, tail + count)
    return count


@entry
def log_clock(_context: Address) -> int:
    """Return the event clock's current time, in ticks."""
    return ticks()


@entry
def take_kept(place: Address) -> Address:
    """Take the value, with its reference, out of the word at `place`; return 0 if none is there."""
    return exchange(place, 0)
