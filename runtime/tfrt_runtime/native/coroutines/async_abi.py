"""The runtime's C functions, which compiled coroutines call.

The functions named `mlirAsyncRuntime...` implement the API of MLIR's async runtime, with the same
types and the same reference counting.  Code compiled by MLIR's own tools can therefore link against
them.  An error in the program is reported to Python and never aborts the process.  The API:
https://github.com/llvm/llvm-project/blob/main/mlir/include/mlir/ExecutionEngine/AsyncRuntime.h

The functions named `tfrtAsync...` add features that MLIR's runtime lacks: groups of values, and
errors that carry a reason and a location in the program.

Compiled code has no context, so each function finds the context through its thread.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import drop_optional, is_available, state_of
from tfrt_runtime.native.cells import give_block, need_block
from tfrt_runtime.native.coroutines.async_awaiting import (
    await_and_resume,
    here,
    spawn,
    wait_for_object,
)
from tfrt_runtime.native.coroutines.async_groups import add_member, has_error, new_group
from tfrt_runtime.native.coroutines.async_objects import (
    disown,
    drop_references,
    emplace,
    error_of,
    fail_thread,
    is_registered,
    last_reference,
    new_future,
    new_token,
    note_failure,
    report_event,
    set_object_error,
    storage_of,
    take_held,
    thread_failure,
)
from tfrt_runtime.native.events import log_code, write_code
from tfrt_runtime.native.memory import (
    Address,
    compare_and_swap,
    exchange,
    exported,
    fetch_add,
    inline,
    load,
    load_acquire,
    native,
    store,
)

BLOCK_ALIGNMENT = 16
"""The minimum alignment in bytes of every block."""
WORD = 8


@exported("mlirAsyncRuntimeAddRef", "void", "ptr", "i64")
def add_ref(value: Address, count: int) -> None:
    """Add `count` references."""
    fetch_add(value + at.VALUE_REFERENCES, count)


@exported("mlirAsyncRuntimeDropRef", "void", "ptr", "i64")
def drop_ref(value: Address, count: int) -> None:
    """Drop `count` references."""
    # 0 is an unused token (`create_unused_token`).
    if value != 0:
        drop_references(here(), value, count)


@inline
def made_by(context: Address, made: Address, record: Address) -> Address:
    """Store in a new object the record of the operation that makes it; return the object.

    Reports name the operation.  The record must live at least as long as the object.
    """
    store(made + at.VALUE_OWNER, record)
    log_code(context, at.LOG_CREATE, made, record)
    # `cells.refuse` knew no place in the code. This is the first operation after it that has one.
    if load(context + at.CONTEXT_REFUSED) != 0:
        report_event(context, at.EVENT_REFUSED, record)
    return made


@exported("mlirAsyncRuntimeCreateToken", "ptr")
def create_token() -> Address:
    """Make a token with two references: one for the caller, and one for the producer.

    The producer is the code that resolves the token.
    """
    return new_token(here())


@exported("mlirAsyncRuntimeCreateValue", "ptr", "i64")
def create_value(size: int) -> Address:
    """Make a value with `size` bytes of storage and two references.

    One reference is for the caller, the other for the producer.
    """
    return new_future(here(), size)


@exported("mlirAsyncRuntimeCreateGroup", "ptr", "i64")
def create_group(size: int) -> Address:
    """Make a group for `size` members, with one reference."""
    return new_group(here(), size)


@exported("mlirAsyncRuntimeAddTokenToGroup", "i64", "ptr", "ptr")
@exported("mlirAsyncRuntimeAddValueToGroup", "i64", "ptr", "ptr")
def add_to_group(member: Address, group: Address) -> int:
    """Add a token or a value to a group; return the member's rank in the group."""
    return add_member(here(), member, group, 0)


@exported("tfrtAsyncAddToGroup", "i64", "ptr", "ptr", "ptr")
def add_to_group_at(member: Address, group: Address, record: Address) -> int:
    """Add a member as `add_to_group` does.

    `record` describes the operation that adds the member.
    """
    return add_member(here(), member, group, record)


@exported("mlirAsyncRuntimeEmplaceToken", "void", "ptr")
@exported("mlirAsyncRuntimeEmplaceValue", "void", "ptr")
def emplace_object(value: Address) -> None:
    """Make a token or a value available, and drop the producer's reference.

    A value's storage must already be filled.  If `value` is 0 (an unused token), do nothing.
    """
    if value != 0:
        emplace(here(), value)


@exported("mlirAsyncRuntimeSetTokenError", "void", "ptr")
@exported("mlirAsyncRuntimeSetValueError", "void", "ptr")
def set_error(value: Address) -> None:
    """Turn a token or a value into an error, and drop the producer's reference.

    If `value` is 0 (an unused token), do nothing.
    """
    if value != 0:
        set_object_error(here(), value)


@exported("tfrtAsyncSetErrorUnlessAvailable", "void", "ptr")
def set_error_unless_available(value: Address) -> None:
    """Turn a token into an error, as `set_error` does, unless it is available."""
    # A program may emplace the token of its own coroutine before the coroutine fails. The failure
    # then changes nothing.
    if state_of(value) == at.CONCRETE:
        # No other thread reads this word of an available object.
        drop_optional(here(), exchange(value + at.VALUE_TARGET, 0))
    else:
        set_object_error(here(), value)


@exported("mlirAsyncRuntimeIsTokenError", "i1", "ptr")
@exported("mlirAsyncRuntimeIsValueError", "i1", "ptr")
def is_error(value: Address) -> int:
    """Return whether the token or value is an error."""
    return 1 if state_of(value) == at.ERROR else 0


@exported("tfrtAsyncIsAvailable", "i1", "ptr")
def is_value_available(value: Address) -> int:
    """Return whether the value is available and not an error."""
    return 1 if state_of(value) == at.CONCRETE else 0


@exported("tfrtAsyncGoesOn", "i1", "ptr")
def goes_on(value: Address) -> int:
    """Return whether a coroutine that awaits `value` may continue without suspending.

    It may continue if `value` is available and not an error.  While schedules are being explored,
    however, it always suspends, so that the explorer can choose the next task.
    """
    # `state_of` reads with acquire, because the coroutine reads the payload next.
    if state_of(value) != at.CONCRETE:
        return 0
    return 1 if load(load(here() + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) == 0 else 0


@exported("mlirAsyncRuntimeIsGroupError", "i1", "ptr")
def is_group_error(group: Address) -> int:
    """Return whether a member of the group has failed so far; others may still be unresolved."""
    return 1 if has_error(group) else 0


@exported("mlirAsyncRuntimeAwaitToken", "void", "ptr")
@exported("mlirAsyncRuntimeAwaitValue", "void", "ptr")
@exported("mlirAsyncRuntimeAwaitAllInGroup", "void", "ptr")
def await_object(value: Address) -> None:
    """Wait until an object is resolved.

    A group is resolved when all its members have been added and resolved.
    """
    await_object_at(value, 0)


@exported("tfrtAsyncAwait", "void", "ptr", "ptr")
def await_object_at(value: Address, place: Address) -> None:
    """Wait as `await_object` does; `place` is the record of the waiting operation, or 0."""
    if not is_available(value):
        wait_for_object(here(), value, place)


@exported("mlirAsyncRuntimeGetValueStorage", "ptr", "ptr")
def get_value_storage(value: Address) -> Address:
    """Return the address of the value's bytes.  The bytes of an error are undefined."""
    return storage_of(value)


@exported("mlirAsyncRuntimeExecute", "void", "ptr", "ptr")
def execute(handle: int, resume: Address) -> None:
    """Start a new coroutine: call `resume(handle)` in a task, or here if all threads are busy."""
    spawn(here(), handle, resume)


@exported("mlirAsyncRuntimeAwaitTokenAndExecute", "void", "ptr", "ptr", "ptr")
@exported("mlirAsyncRuntimeAwaitValueAndExecute", "void", "ptr", "ptr", "ptr")
@exported("mlirAsyncRuntimeAwaitAllInGroupAndExecute", "void", "ptr", "ptr", "ptr")
def await_and_execute(value: Address, handle: int, resume: Address) -> None:
    """Call `resume(handle)` once an object is resolved, or now if it already is."""
    await_and_resume(here(), value, handle, resume, 0)


@exported("tfrtAsyncAwaitAndExecute", "void", "ptr", "ptr", "ptr", "ptr")
def await_and_execute_at(value: Address, handle: int, resume: Address, place: Address) -> None:
    """Do as `await_and_execute` does; `place` is the record of the waiting operation, or 0."""
    await_and_resume(here(), value, handle, resume, place)


@exported("tfrtAsyncAwaitAndExecuteFor", "void", "ptr", "ptr", "ptr", "ptr")
def await_and_execute_for(value: Address, handle: int, resume: Address, result: Address) -> None:
    """Call `resume(handle)` as `await_and_execute` does, inside a task.

    `result` is an object that the task will resolve, or 0.  Its record is the place of the wait.
    """
    place = load(result + at.VALUE_OWNER) if result != 0 else 0
    await_and_resume(here(), value, handle, resume, place)


@exported("mlirAsyncRuntimGetNumWorkerThreads", "i64")
def get_num_worker_threads() -> int:
    """Return how many threads can run tasks simultaneously."""
    deques = load(load(here() + at.CONTEXT_QUEUE) + at.QUEUE_WORKERS)
    # One of the deques is for waiting threads.
    return max(1, deques - 1)


@exported("mlirAsyncRuntimePrintCurrentThreadId", "void")
def print_current_thread_id() -> None:
    """Print `Current thread id: ` followed by the thread's number."""
    report_event(here(), at.EVENT_THREAD, 0)


@exported("tfrtAsyncAddRefOnTop", "void", "ptr", "i64")
def add_ref_on_top(value: Address, count: int) -> None:
    """Add `count` references for the program, on top of those that the compiler counts.

    The program adds and drops these references by hand.
    """
    # Update VALUE_ASYNC first: a thread checks this word before it drops such a reference.
    fetch_add(value + at.VALUE_ASYNC, count * at.OBJECT_HELD)
    fetch_add(value + at.VALUE_REFERENCES, count)


@exported("tfrtAsyncDropRefOnTop", "void", "ptr", "i64", "ptr")
def drop_ref_on_top(value: Address, count: int, record: Address) -> None:
    """Drop `count` references that the program added by hand.

    If the program added fewer references, report an error and drop none.  The object survives the
    error, because the references that the compiler counts keep it alive.
    """
    if take_held(value, count):
        drop_references(here(), value, count)
    else:
        report_event(here(), at.EVENT_DROPPED_TOO_OFTEN, record)


@exported("tfrtAsyncDropOwnRef", "void", "ptr", "i64", "ptr")
def drop_own_ref(value: Address, _count: int, record: Address) -> None:
    """Drop one reference to an object that the program has made.

    If the program has added references by hand, drop one of them.  Otherwise, drop the producer's
    reference, as a program that never resolves the object must do.  If neither is left, report an
    error.
    """
    if take_held(value, 1) or disown(value):
        drop_references(here(), value, 1)
    else:
        report_event(here(), at.EVENT_DROPPED_TOO_OFTEN, record)


@exported("tfrtAsyncDropRefByHand", "void", "ptr", "i64", "ptr")
def drop_ref_by_hand(value: Address, count: int, record: Address) -> None:
    """Drop `count` references to an object for which the compiler counts no references.

    If the object has fewer references, report an error and drop none.
    """
    # The list of objects holds a reference that the program must not drop.
    kept = 1 if is_registered(value) else 0
    while True:
        # Check before subtracting: if the count were too low for a moment, another thread that
        # drops a reference could take it for the last one.
        references = load_acquire(value + at.VALUE_REFERENCES)
        if references - kept < count:
            report_event(here(), at.EVENT_DROPPED_TOO_OFTEN, record)
            return
        if compare_and_swap(value + at.VALUE_REFERENCES, references, references - count) != 0:
            break
    if references == count:
        last_reference(here(), value, 0)


@exported("tfrtAsyncCreateToken", "ptr", "ptr")
def create_token_by(record: Address) -> Address:
    """Make a token as `create_token` does, for the operation of `record`."""
    context = here()
    return made_by(context, new_token(context), record)


@exported("tfrtAsyncCreateUnusedToken", "ptr", "ptr")
def create_unused_token(record: Address) -> Address:
    """Make a token as `create_token_by` does, for an operation that no code awaits.

    Return 0 if objects are neither logged nor registered.  The functions that resolve a token or
    drop its references ignore 0.
    """
    context = here()
    if load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_WATCHED) == 0:
        shared = load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_ASYNC)
        if shared == 0 or load(shared + at.ASYNC_CHECKED) == 0:
            return 0
    return made_by(context, new_token(context), record)


@exported("tfrtAsyncCreateValue", "ptr", "i64", "ptr")
def create_value_by(size: int, record: Address) -> Address:
    """Make a value as `create_value` does, for the operation of `record`."""
    context = here()
    return made_by(context, new_future(context, size), record)


@exported("tfrtAsyncCreateGroup", "ptr", "i64", "ptr")
def create_group_by(size: int, record: Address) -> Address:
    """Make a group as `create_group` does, for the operation of `record`."""
    context = here()
    return made_by(context, new_group(context, size), record)


@exported("tfrtAsyncEmplaceStored", "void", "ptr", "i64", "ptr")
def emplace_stored(value: Address, offset: int, record: Address) -> None:
    """Make a value available if its storage holds a pointer at `offset` (0 or 8 bytes).

    If the pointer is 0, because none was stored, turn the value into an error that says so.  Code
    that loads the value would follow the invalid pointer.
    """
    context = here()
    if load(storage_of(value) + offset) != 0:
        emplace(context, value)
        return
    note_failure(context, value, report_event(context, at.EVENT_DESCRIBE, record))
    set_object_error(context, value)


@exported("tfrtAsyncDescribeError", "void", "ptr", "ptr")
def describe_error(value: Address, record: Address) -> None:
    """Record the error that `record` describes as the error of `value`, which is about to fail."""
    context = here()
    if value != 0:
        note_failure(context, value, report_event(context, at.EVENT_DESCRIBE, record))


@exported("tfrtAsyncInheritError", "void", "ptr", "ptr")
def inherit_error(value: Address, source: Address) -> None:
    """Record the error of `source` as the error of `value`, which is about to fail."""
    context = here()
    if value != 0:
        note_failure(context, value, error_of(context, source))


@exported("tfrtAsyncTakeFailure", "void", "ptr")
def take_failure(value: Address) -> None:
    """Record this thread's failure as the error of `value`, which is about to fail."""
    context = here()
    if value != 0:
        note_failure(context, value, thread_failure(context))


@exported("tfrtAsyncFail", "void", "ptr")
def fail(record: Address) -> None:
    """Record the error that `record` describes as this thread's failure.

    The current function is about to return.
    """
    context = here()
    fail_thread(context, report_event(context, at.EVENT_DESCRIBE, record))


@exported("tfrtAsyncFailFrom", "void", "ptr")
def fail_from(source: Address) -> None:
    """Record the error of `source` as this thread's failure.

    The current function is about to return.
    """
    context = here()
    fail_thread(context, error_of(context, source))


@exported("tfrtAsyncAllocateFrame", "ptr", "i64", "i64")
def allocate_frame(size: int, alignment: int) -> Address:
    """Allocate `size` bytes for a coroutine's frame; `alignment` is a power of 2."""
    if alignment <= BLOCK_ALIGNMENT:
        return need_block(here(), size)
    # Besides the frame, the block has room for the alignment, for rounding the size up to a word,
    # and for the word after the frame.
    block = need_block(here(), size + alignment + 2 * WORD)
    frame = (block + alignment - 1) & -alignment
    store(end_of_frame(frame, size), block)
    return frame


@exported("tfrtAsyncFreeFrame", "void", "ptr", "i64", "i64")
def free_frame(frame: Address, size: int, alignment: int) -> None:
    """Free a frame; `size` and `alignment` must be those that `allocate_frame` got.

    The calling thread need not be the thread that allocated the frame.
    """
    if alignment <= BLOCK_ALIGNMENT:
        give_block(here(), frame, size)
    else:
        give_block(here(), load(end_of_frame(frame, size)), size + alignment + 2 * WORD)


@native
def end_of_frame(frame: Address, size: int) -> Address:
    """Return the address of the word after an aligned frame.

    The word holds the address of the frame's block.
    """
    return frame + ((size + WORD - 1) & -WORD)


@native
def log_site(context: Address, site: Address, kind: int) -> int:
    """Log that this thread has reached a place in compiled code; return 1 if it was logged.

    If the run has already logged this place SITE_MOST times, log nothing and return 0.  A run's
    first visit to a place is always logged, because only the run itself writes its number into the
    site.
    """
    run = load(context + at.CONTEXT_RUN)
    if run == 0 or load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_WATCHED) == 0:
        return 0
    count = load(site + at.SITE_COUNT) if load(site + at.SITE_RUN) == run else 0
    if count >= at.SITE_MOST:
        return 0
    # Plain accesses suffice: if two threads visit a place at the same time, a count may be lost,
    # but SITE_MOST is only an approximate limit.
    store(site + at.SITE_RUN, run)
    store(site + at.SITE_COUNT, count + 1)
    write_code(context, kind, load(site + at.SITE_RECORD), 1 if count + 1 == at.SITE_MOST else 0)
    return 1


@exported("tfrtAsyncLogBlock", "void", "ptr")
def log_block(site: Address) -> None:
    """Log that a block of the program starts."""
    log_site(here(), site, at.LOG_BLOCK)


@exported("tfrtAsyncLogEnter", "i64", "ptr")
def log_enter(site: Address) -> int:
    """Log the start of a call; return whether it was logged."""
    return log_site(here(), site, at.LOG_ENTER)


@exported("tfrtAsyncLogLeave", "void", "ptr", "i64")
def log_leave(site: Address, is_logged: int) -> None:
    """Log the end of a call; `is_logged` is the result of `log_enter`."""
    if is_logged != 0:
        log_code(here(), at.LOG_LEAVE, load(site + at.SITE_RECORD), 0)
