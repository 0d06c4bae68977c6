"""Calls from Python whose arguments are payloads instead of AsyncValues.

A *row* holds the words of one such call: its arguments and its results.  `layouts.calls` describes
rows.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_reference,
    is_available,
    resolve,
)
from tfrt_runtime.native.calls.executor import (
    begin_table,
    make_results,
    new_table,
    refuse_call,
    start_table,
)
from tfrt_runtime.native.handles import value_of
from tfrt_runtime.native.memory import Address, entry, load, load_acquire, native, store
from tfrt_runtime.native.queues.sharing import add_start
from tfrt_runtime.native.queues.tasks import add_local_task, add_task, free_task, new_task

PIECE = 32
"""The number of a batch's calls that one thread starts by itself.

Fewer calls are not worth waking another thread.
"""
ROW_BITS = 32


@entry
def start_call_with(context: Address, function: Address, request: Address, is_task: int) -> None:
    """Start a call as `start_call` does, with payloads as arguments.

    The row follows the request's own words.  The new values take over the payloads' references.
    The caller still owns arguments that are AsyncValues.  The results are in the row afterward.
    """
    words = request + at.REQUEST_SIZE
    make_results(context, function, words + row_results(function))
    start_table(context, function, request, row_table(context, function, words), is_task)


@entry
def start_calls_with(
    context: Address, function: Address, request: Address, count: int, begun: int, is_task: int
) -> None:
    """Prepare `count` calls in consecutive rows; start the first `begun` of them.

    When this function returns, each row contains the results of its call as AsyncValues, which may
    become available later.  A task starts a call only when a thread reaches the call.  Therefore,
    all calls reuse the memory of a few calls, which stays in the cache.
    """
    words, size = request + at.REQUEST_SIZE, row_size(function)
    for i in range(count):
        make_results(context, function, words + size * i + row_results(function))
    start_rows(context, function, request, 0, begun, is_task)


@entry
def start_rows(
    context: Address, function: Address, request: Address, first: int, count: int, is_task: int
) -> None:
    """Start `count` calls that `start_calls_with` has prepared, from row `first` on."""
    words, size = request + at.REQUEST_SIZE, row_size(function)
    is_chosen = load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) != 0
    if is_task == 0 or is_chosen:  # while schedules are explored, each call is a task
        for i in range(first, first + count):
            table = row_table(context, function, words + size * i)
            start_table(context, function, request, table, is_task)
    elif count != 0:
        run = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RUN_ROWS)
        # A task has room for three words, so the two numbers share one.
        rows = (first << ROW_BITS) + count
        add_start(context, new_task(context, run, function, request, rows))


@entry
def run_rows(context: Address, task: Address) -> None:
    """Task function: start the first call of a range of rows, and leave the other calls to tasks.

    The range is in the task's third word: the number of rows and, above ROW_BITS, the first row.
    """
    function = load(task + at.TASK_FIRST)
    request = load(task + at.TASK_SECOND)
    rows = load(task + at.TASK_THIRD)
    row, count = rows >> ROW_BITS, rows & ((1 << ROW_BITS) - 1)
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_WORKERS) != 0:
        run = load(task + at.TASK_FUNCTION)
        while count > PIECE:
            # Halve the range instead of splitting off single calls: a thief takes the oldest task,
            # which is the largest part, and divides it again.
            half = count // 2
            later = (row + count - half << ROW_BITS) + half
            add_task(context, new_task(context, run, function, request, later))
            count -= half
    table = row_table(context, function, request + at.REQUEST_SIZE + row_size(function) * row)
    # Read this before the call starts: machine code may end the run, and then the request may be
    # gone.
    is_cancelled = load_acquire(request + at.REQUEST_CANCEL) != 0
    if count == 1:
        free_task(context, task)
    else:
        # The task is used again for the other calls. Another thread may take it as soon as it is
        # added.
        store(task + at.TASK_THIRD, (row + 1 << ROW_BITS) + count - 1)
        add_local_task(context, task)
    if is_cancelled:
        refuse_call(context, function, request, table)
    else:
        begin_table(context, function, request, table)


@native
def row_results(function: Address) -> int:
    """Return the offset of the results in a row, in bytes."""
    return 8 * at.ARGUMENT_WORDS * load(function + at.FUNCTION_ARGUMENTS)


@native
def row_size(function: Address) -> int:
    """Return the size of a row in bytes."""
    return row_results(function) + 8 * load(function + at.FUNCTION_RESULTS)


@native
def row_table(context: Address, function: Address, words: Address) -> Address:
    """Return the table for `start_table`, made from the row at `words`."""
    table = new_table(context, function, words + row_results(function))
    place = table + 8 * load(function + at.FUNCTION_RESULTS)
    for i in range(load(function + at.FUNCTION_ARGUMENTS)):
        argument = words + 8 * at.ARGUMENT_WORDS * i
        payload_type, first = load(argument), load(argument + 8)
        value = first
        if payload_type == at.IS_VALUE:
            add_references(value, 1)
        else:
            value = value_of(context, payload_type, first, load(argument + 16))
        store(place + 8 * i, value)
    return table


@entry
def read_results(first: Address, size: int, count: int, payload_type: int, into: Address) -> int:
    """Copy to `into` the payload of one result from each of up to `count` calls.

    `first` is the address of the result in the first row, and `size` is the size of a row.  Stop at
    the first value that is unavailable, an error, or of another type.  Return how many payloads
    were copied.
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
    """Drop the caller's references to one result of each of `count` calls.

    `first` is the address of the result in the first row, and `size` is the size of a row.
    """
    for i in range(count):
        drop_reference(context, load(first + size * i))
