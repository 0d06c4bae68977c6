"""The operations of Python's host objects on native objects: one entry of the core for each."""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    add_waiter,
    claim,
    drop_reference,
    forward_to,
    is_available,
    is_indirect,
    new_available,
    new_indirect,
    new_value,
    new_waiter,
    point_at,
    resolve,
    set_error,
    wait_for,
)
from tfrt_runtime.native.calls.activation import cancel_request
from tfrt_runtime.native.cells import give_block, need_block, take_block
from tfrt_runtime.native.events import leave_log
from tfrt_runtime.native.memory import (
    Address,
    allocate,
    clear,
    compare_and_swap,
    entry,
    fetch_add,
    futex_wake,
    load,
    load_acquire,
    release,
    store,
    store_release,
)
from tfrt_runtime.native.queues.tasks import wake_all
from tfrt_runtime.native.queues.waiters import drop_latch, publish, run_waiters
from tfrt_runtime.native.tensors import add_tensor_reference
from tfrt_runtime.native.trimming import give_all

FIRST_READY_ENTRIES = 256


@entry
def context_make(process: Address, queue: Address, pool: Address, number: int) -> Address:
    """Make the context of one thread; free it with `context_free`.

    Return 0 if out of memory.  If the thread is a worker, the caller must set CONTEXT_DEQUE and
    CONTEXT_WORKER.
    """
    context = allocate(at.CONTEXT_SIZE)
    if context == 0:
        return 0
    clear(context, at.CONTEXT_SIZE)
    store(context + at.CONTEXT_PROCESS, process)
    store(context + at.CONTEXT_QUEUE, queue)
    store(context + at.CONTEXT_BLOCKING, pool)
    store(context + at.CONTEXT_NUMBER, number)
    store(context + at.CONTEXT_WORKER, -1)
    # Marsaglia's seed for xorshift, made different for each thread; see `tasks.next_random`.
    store(context + at.CONTEXT_RANDOM, 88172645463325252 + number)
    # These blocks come from the new context's own free lists, so set its process and queue first.
    ready = need_block(context, 16 * FIRST_READY_ENTRIES)
    store(context + at.CONTEXT_READY, ready)
    store(context + at.CONTEXT_READY_TOP, ready)
    store(context + at.CONTEXT_READY_LIMIT, ready + 16 * FIRST_READY_ENTRIES)
    frame = take_block(context, 16 * at.FRAME_ROOM)
    store(context + at.CONTEXT_ARGUMENTS, frame)
    store(context + at.CONTEXT_RESULTS, frame + 8 * at.FRAME_ROOM)
    store(context + at.CONTEXT_FRAME_LIMIT, at.FRAME_ROOM)
    return context


@entry
def context_free(context: Address) -> None:
    """Free a context, and hand its free blocks over to other threads.

    The context's ready stack must be empty.
    """
    ready = load(context + at.CONTEXT_READY)
    give_block(context, ready, load(context + at.CONTEXT_READY_LIMIT) - ready)
    frame = load(context + at.CONTEXT_ARGUMENTS)
    give_block(context, frame, 16 * load(context + at.CONTEXT_FRAME_LIMIT))
    # Do this after freeing the blocks above, which puts them into the context's free lists.
    give_all(context)
    leave_log(context)
    release(context)


@entry
def value_make(context: Address, payload_type: int) -> Address:
    """Make an unavailable concrete value with one reference."""
    return new_value(context, payload_type)


@entry
def value_of(context: Address, payload_type: int, first: int, second: int) -> Address:
    """Make an available value with one reference and the payload words `first` and `second`.

    If the payload is an object's handle, the value takes over the caller's reference to it.  If the
    payload is a tensor, the value adds its own reference.
    """
    if payload_type == at.TYPE_TENSOR:
        add_tensor_reference(first)
    value = new_available(context, payload_type)
    store(value + at.VALUE_PAYLOAD, first)
    store(value + at.VALUE_PAYLOAD2, second)
    return value


@entry
def value_make_indirect(context: Address) -> Address:
    """Make an unavailable indirect value with one reference."""
    return new_indirect(context)


@entry
def value_claim(value: Address) -> int:
    """Claim the right to resolve a concrete value; return 0 if it has already been claimed."""
    return 1 if not is_indirect(value) and claim(value) else 0


@entry
def value_emplace(
    context: Address, value: Address, payload_type: int, first: int, second: int
) -> None:
    """Publish a claimed value with the given payload; handle references as `value_of` does."""
    if payload_type == at.TYPE_TENSOR:
        add_tensor_reference(first)
    # Atomic, because another thread may be checking whether the value is indirect.
    store_release(value + at.VALUE_KIND, payload_type << 8 | at.KIND_CONCRETE)
    store(value + at.VALUE_PAYLOAD, first)
    store(value + at.VALUE_PAYLOAD2, second)
    publish(context, value, at.CONCRETE)


@entry
def value_set_error(context: Address, value: Address, handle: int) -> None:
    """Publish a claimed value as an error.

    Take over the caller's reference to the diagnostic `handle`.
    """
    run_waiters(context, set_error(value, handle, at.TYPE_ERROR))


@entry
def value_forward(context: Address, indirect: Address, target: Address) -> None:
    """Resolve an indirect value to `target`; take over the caller's reference to `target`."""
    run_waiters(context, forward_to(context, indirect, target))


@entry
def value_break(context: Address, indirect: Address, failure: Address) -> None:
    """Resolve an indirect value to the error `failure`.

    The value may already forward to another value.  Take over the caller's reference to `failure`.
    No other thread may resolve `indirect` at the same time.
    """
    # If another value is still to be forwarded here, `run_waiter` later drops that value instead.
    run_waiters(context, point_at(context, indirect, failure))


@entry
def value_outcome(value: Address) -> Address:
    """Return the concrete or error value that a value forwards to, or the value itself.

    Return 0 if the value is unavailable.  The caller gets no reference.
    """
    return resolve(value) if is_available(value) else 0


@entry
def value_add_reference(value: Address) -> None:
    """Add one reference."""
    add_references(value, 1)


@entry
def value_drop(context: Address, value: Address) -> None:
    """Drop one reference."""
    drop_reference(context, value)


@entry
def value_and_then(context: Address, value: Address, handle: int) -> None:
    """Call the Python callback `handle` when the value is resolved.

    If the value is already resolved, call it now.
    """
    waiter = new_waiter(context, at.WAIT_PYTHON, handle, 0)
    if not add_waiter(value, waiter):
        # `add_waiter` may have stored a link before the value was resolved.
        store(waiter + at.WAITER_NEXT, 0)
        run_waiters(context, waiter)


@entry
def latch_make(context: Address, value: Address) -> Address:
    """Make a latch: its word LATCH_PENDING is 1 until the value is resolved.

    Free the latch with `drop_latch`.
    """
    latch = take_block(context, at.CELL_SIZE)
    store(latch + at.LATCH_PENDING, 1)
    # The latch has two owners: the waiter and the sleeping thread. Either may use it last.
    store(latch + at.LATCH_OWNERS, 2)
    if not wait_for(context, value, at.WAIT_LATCH, latch, 0):
        # No waiter was added, so drop the latch on its behalf, too.
        store_release(latch + at.LATCH_PENDING, 0)
        drop_latch(context, latch)
    return latch


@entry
def request_enter(request: Address) -> int:
    """Count one more activity of a request; `leave_request` ends the activity.

    Return 0, and do nothing, if the request has finished.
    """
    active = load_acquire(request + at.REQUEST_ACTIVE)
    # Add only to the count that was checked: the last activity may end in the meantime.
    while active != 0 and compare_and_swap(request + at.REQUEST_ACTIVE, active, active + 1) == 0:
        active = load_acquire(request + at.REQUEST_ACTIVE)
    return active


@entry
def request_notify(request: Address) -> int:
    """Ask the core to call Python when a request finishes; return 0 if it has already finished."""
    while True:
        notify = load_acquire(request + at.REQUEST_NOTIFY)
        if notify == at.NOTIFY_OVER:
            return 0
        # Swap even if the word is already NOTIFY_PYTHON: only a successful swap proves that the
        # request has not finished.
        if compare_and_swap(request + at.REQUEST_NOTIFY, notify, at.NOTIFY_PYTHON) != 0:
            return 1


@entry
def host_take(queue: Address) -> int:
    """Take the deque that the queue reserves for a thread that is not a worker.

    Return 0 if another thread has it.
    """
    return compare_and_swap(queue + at.QUEUE_HOST, 0, 1)


@entry
def host_leave(queue: Address) -> None:
    """Release the deque that `host_take` took."""
    store_release(queue + at.QUEUE_HOST, 0)


@entry
def request_cancel(request: Address) -> int:
    """Cancel a request; return 0 if it is already cancelled."""
    return 1 if cancel_request(request) else 0


@entry
def queue_stop(queue: Address) -> None:
    """Make the workers of a queue exit."""
    # Store before waking: a woken worker reads QUEUE_STOP.
    store_release(queue + at.QUEUE_STOP, 1)
    wake_all(queue)


@entry
def pool_stop(pool: Address) -> None:
    """Make the threads of a blocking pool exit."""
    store_release(pool + at.POOL_STOP, 1)
    # A thread that has read the old epoch and is about to sleep stays awake.
    fetch_add(pool + at.POOL_EPOCH, 1)
    futex_wake(pool + at.POOL_EPOCH, 1 << 30)
