"""Events of watched runs: a ring for each thread, which it alone writes and one reader drains.

A record is four words: time, `op | value << 32`, `instance | kind << 32 | worker << 38 | run << 48`, and
a payload.  The writer never waits for the reader: the oldest record makes room, and the reader counts
what it has missed.  Runs that are not watched pay one read of a word.

    kernel, thread, coroutine                     ring of the thread                    reader (Python)
    log_kernel, log_value,     --write_event-->  record HEAD % CAPACITY  --log_drain-->  records TAIL to HEAD
    log_thread, log_code                          HEAD + 1                               TAIL, LOST, SKIP

Only the thread that owns the ring writes HEAD and the records, only the reader TAIL, LOST and SKIP.  The
reader copies first and reads HEAD again afterwards: records that the writer may have written meanwhile
are torn, and are counted as lost.  A thread that ends leaves its ring, with the events in it, to the next
thread that needs one.
"""

from __future__ import annotations

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
    native,
    now,
    outline,
    store,
    store_release,
    ticks,
    time_left,
)
from tfrt_runtime.native.stacks import push

LOW = 0xFFFFFFFF


@outline
def take_log(context: Address) -> Address:
    """The ring of a thread that writes its first event; 0 if there is no memory.

    A ring that no thread owns any more, or a new one: the process keeps them for good.
    """
    process = load(context + at.CONTEXT_PROCESS)
    ring = load_acquire(process + at.PROCESS_LOGS)
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
    """A new ring for a thread; 0 if there is no memory."""
    ring = allocate(at.LOG_RECORDS + at.LOG_RECORD * at.LOG_CAPACITY)
    if ring == 0:
        return 0
    clear(ring, at.LOG_RECORDS)
    store(ring + at.LOG_OWNER, context)
    push(process + at.PROCESS_LOGS, ring, at.LOG_NEXT)
    return ring


@native
def leave_log(context: Address) -> None:
    """A thread ends: another thread may own its ring, with the events that are not read yet."""
    # Release: the next owner sees the last HEAD and the records before it.
    ring = load(context + at.CONTEXT_LOG)
    if ring != 0:
        store(context + at.CONTEXT_LOG, 0)
        store_release(ring + at.LOG_OWNER, 0)


@inline
def write_event(context: Address, first: int, second: int, payload: int) -> None:
    """Write one event; the oldest one makes room."""
    ring = load(context + at.CONTEXT_LOG)
    if ring == 0:
        ring = take_log(context)
    if ring != 0:
        head = load(ring + at.LOG_HEAD)
        place = ring + at.LOG_RECORDS + at.LOG_RECORD * (head & (at.LOG_CAPACITY - 1))
        # Release, each word: a reader that sees one of a new record also sees the HEAD before it, so that
        # its second read of HEAD shows that the record is torn.
        store_release(place, ticks())
        store_release(place + 8, first)
        store_release(place + 16, second | (load(context + at.CONTEXT_NUMBER) & 1023) << 38)
        store_release(place + 24, payload)
        store_release(ring + at.LOG_HEAD, head + 1)


@inline
def watch_of(activation: Address) -> Address:
    """The watch of the run that an activation belongs to, or 0."""
    return load(load(activation + at.ACTIVATION_REQUEST) + at.REQUEST_WATCH)


@inline
def nested_of(activation: Address) -> int:
    """Bytes of an activation and of those that it is nested in."""
    return load(activation + at.ACTIVATION_NESTED) & LOW


@inline
def is_watched(activation: Address) -> bool:
    """Whether the run of an activation is watched: then it counts as shared, which is known at once."""
    return load(activation + at.ACTIVATION_SHARED) != 0 and watch_of(activation) != 0


@inline
def about(watch: Address, activation: Address, kind: int) -> int:
    """The third word of an event of an activation."""
    return (
        load(activation + at.ACTIVATION_NESTED) >> 32 & LOW
        | kind << 32
        | load(watch + at.WATCH_RUN) << 48
    )


@inline
def is_of_program(watch: Address, function: Address) -> bool:
    """Whether a function belongs to the watched program, and not to another that runs within its run."""
    return load(function + at.FUNCTION_HANDLE) >> 32 == load(watch + at.WATCH_PROGRAM)


@inline
def has_numbers(watch: Address, function: Address) -> bool:
    """Whether kernels and registers of a function are known to the reader by their numbers."""
    is_shell = load(function + at.FUNCTION_FLAGS) & at.FUNCTION_SHELL != 0
    return is_of_program(watch, function) and not is_shell


@outline
def log_kernel(
    context: Address, watch: Address, activation: Address, record: Address, kind: int
) -> None:
    """Something happens to a kernel."""
    if has_numbers(watch, load(activation + at.ACTIVATION_FUNCTION)):
        number = load(record + at.RECORD_HANDLE) & LOW
        write_event(context, number | LOW << 32, about(watch, activation, kind), 0)


@outline
def log_call_end(context: Address, activation: Address, record: Address) -> None:
    """A kernel that called functions is over: without results, nothing else would say so."""
    if load(record + at.RECORD_RESULTS) == 0:
        log_kernel(context, watch_of(activation), activation, record, at.LOG_END)


@outline
def log_value(
    context: Address, watch: Address, activation: Address, slot: Address, value: Address
) -> None:
    """A value has come to its register, if it is available."""
    if is_available(value):
        is_error = load_acquire(resolve(value) + at.VALUE_STATE) & at.STATE_BITS == at.ERROR
        log_state(
            context, watch, activation, slot, value, at.LOG_ERROR if is_error else at.LOG_AVAILABLE
        )


@native
def log_state(
    context: Address, watch: Address, activation: Address, slot: Address, value: Address, kind: int
) -> None:
    """An available value is in its register.  What does not fit into the event is kept beside."""
    if not has_numbers(watch, load(activation + at.ACTIVATION_FUNCTION)):
        return
    concrete = resolve(value)
    number = (load(slot + at.SLOT_REGISTER) - at.ACTIVATION_REGISTERS) >> 3
    function = load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_HANDLE) & LOW
    payload = load(concrete + at.VALUE_PAYLOAD)
    count_value(watch, function, number, payload)
    if kind != at.LOG_AVAILABLE or load(concrete + at.VALUE_KIND) >> 8 > at.TYPE_F64:
        keep_value(context, watch, function, number, concrete)
    write_event(context, function | number << 32, about(watch, activation, kind), payload)


@native
def kept_of(watch: Address, function: int, number: int) -> Address:
    """What the watch keeps of a register, or 0."""
    kept = load(watch + at.WATCH_VALUES)
    return load(kept + 8 * function) + at.KEPT_SIZE * number if kept != 0 else 0


@native
def count_value(watch: Address, function: int, number: int, word: int) -> None:
    """A register is set once more, to `word`: its event may be overwritten before it is read."""
    kept = kept_of(watch, function, number)
    if kept != 0:
        # Release, before the count: a reader that sees the count sees a word of the register.
        store_release(kept + at.KEPT_WORD, word)
        fetch_add(kept + at.KEPT_COUNT, 1)


@native
def keep_value(
    context: Address, watch: Address, function: int, number: int, value: Address
) -> None:
    """A value that does not fit into an event is the latest one of its register."""
    kept = kept_of(watch, function, number)
    if kept != 0:
        add_references(value, 1)
        drop_optional(context, exchange(kept + at.KEPT_VALUE, value))


@outline
def watch_activation(
    context: Address, watch: Address, activation: Address, caller: Address
) -> None:
    """Number an activation, or an iteration in it.

    It counts as shared from the start: tasks must not keep a promise that the log does not see.
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
    """An activation, or an iteration in it, is over."""
    function = load(activation + at.ACTIVATION_FUNCTION)
    if is_of_program(watch, function):
        number = load(function + at.FUNCTION_HANDLE) & LOW
        write_event(context, number, about(watch, activation, at.LOG_RETURN), 0)


@native
def log_register(
    context: Address, activation: Address, place: int, value: Address, word: int
) -> None:
    """A register of a sync function is set; `place` is its function and, above, its number.

    `value` is what is boxed, or 0 for a scalar, which is `word`.
    """
    watch = watch_of(activation)
    if watch == 0:
        return
    if value != 0:
        word = load(value + at.VALUE_PAYLOAD)
        if load(value + at.VALUE_KIND) >> 8 > at.TYPE_F64:
            keep_value(context, watch, place & LOW, place >> 32, value)
    count_value(watch, place & LOW, place >> 32, word)
    write_event(context, place, about(watch, activation, at.LOG_AVAILABLE), word)


@outline
def log_thread(context: Address, kind: int) -> None:
    """Something happens to the thread itself, which belongs to no run."""
    if load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_WATCHED) != 0:
        write_event(context, 0, kind << 32, 0)


@inline
def log_code(context: Address, kind: int, what: int, payload: int) -> None:
    """Something happens to an object or a task (by its frame) of compiled code on this thread."""
    if load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_WATCHED) != 0:
        write_code(context, kind, what, payload)


@outline
def write_code(context: Address, kind: int, what: int, payload: int) -> None:
    """Write the event of `log_code`."""
    run = load(context + at.CONTEXT_RUN) & 0xFFFF
    write_event(context, what, kind << 32 | run << 48, payload)


@outline
def slow_down(watch: Address, request: Address, start: int) -> None:
    """Let a kernel that began at `start` last longer, by the factor of its watch in thousandths.

    Ends at once when the run is cancelled.
    """
    end = start + (now() - start) * load(watch + at.WATCH_SLOW) // 1000
    while now() < end and load_acquire(request + at.REQUEST_CANCEL) == 0:
        futex_wait(request + at.REQUEST_CANCEL, 0, time_left(end))


@entry
def log_drain(ring: Address, target: Address, room: int) -> int:
    """Copy what is new to `target`; how many records.  Of those the first LOG_SKIP are torn."""
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
            store(target + at.LOG_RECORD * i + word, load_acquire(place + word))
    # The copies come before the second read of HEAD.
    fence()
    # The writer may be at record `head`, which stands where `head - LOG_CAPACITY` was.
    torn = min(max(load_acquire(ring + at.LOG_HEAD) + 1 - at.LOG_CAPACITY - tail, 0), count)
    store(ring + at.LOG_LOST, load(ring + at.LOG_LOST) + torn)
    store(ring + at.LOG_SKIP, torn)
    store(ring + at.LOG_TAIL, tail + count)
    return count


@entry
def log_clock(_context: Address) -> int:
    """The clock of events, now."""
    return ticks()


@entry
def take_kept(place: Address) -> Address:
    """Take the value out of KEPT_VALUE, with its reference; 0 if there is none."""
    return exchange(place, 0)
