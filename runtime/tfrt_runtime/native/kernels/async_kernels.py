"""Native kernels that produce results later: in a task, in the blocking pool, or after a sleep.

If a run is cancelled, its sleeping kernels wake up early.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_reference,
    forward_to,
    new_indirect,
    new_scalar,
    new_value,
)
from tfrt_runtime.native.calls.activation import cancel_request
from tfrt_runtime.native.calls.frame import (
    argument,
    argument_i32,
    argument_i64,
    attribute,
    fail,
    fail_results,
    payload_type,
    set_chain,
    set_i32,
    set_i64,
    set_result,
    set_word,
    share_argument,
)
from tfrt_runtime.native.calls.kernel_calls import report_error
from tfrt_runtime.native.coroutines.async_objects import report_event
from tfrt_runtime.native.memory import (
    Address,
    call3,
    entry,
    fetch_add,
    futex_wait,
    inline,
    load,
    load_acquire,
    load_i32,
    native,
    now,
    store,
    store_i32,
)
from tfrt_runtime.native.queues.tasks import add_short_task, free_task, new_task, next_random
from tfrt_runtime.native.queues.waiters import (
    add_pending,
    finish,
    publish,
    register_resolved,
    run_waiters,
)


@native
def enqueue(context: Address, function: int, first: int, second: int, third: int) -> None:
    """Add a task to the current activation, which does not end until the task has finished."""
    activation = load(context + at.CONTEXT_ACTIVATION)
    # Count the task before adding it: the task may run, and finish, immediately.
    add_pending(activation)
    task = new_task(context, function, first, second, third)
    # `share_pending` reads this word to mark the activation as shared before another thread can get
    # the task.
    store(task + at.TASK_ACTIVATION, activation)
    # A wake-up takes longer than a short task, so no thread is woken for it.
    add_short_task(context, task)


@native
def end_task(context: Address, task: Address) -> None:
    """Free a finished task that `enqueue` made."""
    activation = load(task + at.TASK_ACTIVATION)
    free_task(context, task)
    finish(context, activation)


@native
def promise(context: Address, record: Address, payload_type: int, first: int, second: int) -> None:
    """Set result 0 to an unavailable value, and add a task that resolves it.

    The task's function is data word 0 of the record.  The task's inputs are `first` and `second`.
    """
    value = new_value(context, payload_type)
    store(value + at.VALUE_REFERENCES, 2)  # one for the result, one for the task
    # The owner lets `is_own_promise` recognize a value that only this thread's task can resolve;
    # such a value needs no waiter.
    store(value + at.VALUE_OWNER, load(context + at.CONTEXT_ACTIVATION))
    set_result(context, 0, value)
    enqueue(context, attribute(record, 0), value, first, second)


@native
def keep_promise(context: Address, task: Address) -> None:
    """Publish a finished task's value, which already has its payload, and free the task."""
    value = load(task + at.TASK_FIRST)
    activation = load(task + at.TASK_ACTIVATION)
    # A plain load suffices: `wait_for_register` writes this word only while the activation is not
    # shared, and sharing the task publishes the write.
    slot = load(value + at.VALUE_WAITING)
    if slot == 0:
        publish(context, value, at.CONCRETE)
        drop_reference(context, value)
    else:
        keep_for_register(context, value, activation, slot)
    end_task(context, task)


@inline
def keep_for_register(context: Address, value: Address, activation: Address, slot: Address) -> None:
    """Publish a value for which a register of its own activation is waiting."""
    store(value + at.VALUE_WAITING, 0)
    if load(activation + at.ACTIVATION_SHARED) == 0:
        # Plain stores suffice: only this thread uses the activation.
        # The list of waiters that this store overwrites is empty, because `wait_for_register` calls
        # `mark_shared` before it adds a waiter.
        store(value + at.VALUE_STATE, at.CONCRETE)
        store(value + at.VALUE_REFERENCES, load(value + at.VALUE_REFERENCES) - 1)
    else:
        publish(context, value, at.CONCRETE)
        drop_reference(context, value)
    register_resolved(context, activation, slot, value)


@entry
def async_add_i32(context: Address, record: Address) -> None:
    """`tfrt_test.async_add.i32`: add two numbers in a task; data: `add_task_i32`."""
    promise(context, record, at.TYPE_I32, argument_i32(context, 0), argument_i32(context, 1))


@entry
def add_task_i32(context: Address, task: Address) -> None:
    """Task function: add two numbers."""
    total = load(task + at.TASK_SECOND) + load(task + at.TASK_THIRD)
    store_i32(load(task + at.TASK_FIRST) + at.VALUE_PAYLOAD, total)
    keep_promise(context, task)


@entry
def async_copy_i32(context: Address, record: Address) -> None:
    """`tfrt_test.async_copy.i32` and `async_copy_2.i32`: return the argument from a task.

    Data: `copy_task`.
    """
    promise(context, record, at.TYPE_I32, argument_i32(context, 0), 0)


@entry
def async_constant_i32(context: Address, record: Address) -> None:
    """`tfrt_test.async_constant.i32`: return a constant from a task.

    Data: `copy_task`, the constant.
    """
    promise(context, record, at.TYPE_I32, attribute(record, 1), 0)


@entry
def async_constant_i1(context: Address, record: Address) -> None:
    """`tfrt_test.async_constant.i1`: return a constant from a task.

    Data: `copy_task`, the constant.
    """
    promise(context, record, at.TYPE_I1, attribute(record, 1), 0)


@entry
def copy_task(context: Address, task: Address) -> None:
    """Task function: return the input."""
    store(load(task + at.TASK_FIRST) + at.VALUE_PAYLOAD, load(task + at.TASK_SECOND))
    keep_promise(context, task)


@entry
def fail_now(context: Address, record: Address) -> None:
    """`tfrt_test.fail`: report an error as the result."""
    fail(context, record, at.MESSAGE_FAIL)


@entry
def fail_quietly(context: Address, record: Address) -> None:
    """`native_error`: fail with an error that is not reported."""
    fail(context, record, at.MESSAGE_QUIET_FAIL)


@entry
def partial_fail(context: Address, record: Address) -> None:
    """`tfrt_test.partial_fail`: return 1 as the first result and an error as each of the others."""
    set_i32(context, 0, 1)
    fail(context, record, at.MESSAGE_FAIL)


@entry
def error_chain(context: Address, record: Address) -> None:
    """`tfrt_test.error_chain`: return an error as a chain."""
    fail(context, record, at.MESSAGE_ERROR_CHAIN)


@native
def promise_indirect(context: Address, record: Address, number: int) -> None:
    """Set result 0 to an indirect value, and add a task that resolves it.

    The task resolves the value to 0 if `number` is 0, and to an error otherwise.
    """
    value = new_indirect(context)
    add_references(value, 1)
    set_result(context, 0, value)
    enqueue(context, attribute(record, 0), value, number, record)


@entry
def report_error_async(context: Address, record: Address) -> None:
    """`tfrt_test.report_error_async`: report an error from a task; data: `error_task`."""
    promise_indirect(context, record, 1)


@entry
def report_error_when_async(context: Address, record: Address) -> None:
    """`tfrt_test.report_error_{concrete,indirect}_async`: return an error if argument 0 is not 0.

    A task produces the result.
    """
    promise_indirect(context, record, argument_i32(context, 0))


@entry
def error_task(context: Address, task: Address) -> None:
    """Task function: resolve an indirect value to 0 or to an error."""
    value = load(task + at.TASK_FIRST)
    number = load(task + at.TASK_SECOND)
    record = load(task + at.TASK_THIRD)
    # `report_error` finds the run in the context, and this thread may have worked for another run
    # since the kernel returned.
    store(
        context + at.CONTEXT_REQUEST, load(load(task + at.TASK_ACTIVATION) + at.ACTIVATION_REQUEST)
    )
    if number != 0:
        target = report_error(context, record, at.MESSAGE_FAIL_ASYNC)
    else:
        target = new_scalar(context, at.TYPE_I32, 0)
    run_waiters(context, forward_to(context, value, target))
    drop_reference(context, value)
    end_task(context, task)


@entry
def cancel(context: Address, record: Address) -> None:
    """`tfrt_test.cancel`: cancel the run, but return 0 and a chain."""
    request = load(load(context + at.CONTEXT_ACTIVATION) + at.ACTIVATION_REQUEST)
    if cancel_request(request) and load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_ASYNC) != 0:
        # Python must also make the run's coroutines stop waiting.
        report_event(context, at.EVENT_CANCELLED, request)
    set_i32(context, 0, 0)
    set_chain(context, 1)


@entry
def atomic_create_i32(context: Address, record: Address) -> None:
    """`tfrt_test.atomic.create.i32`: make a counter that starts at 0."""
    set_word(context, 0, at.TYPE_ATOMIC_I32, 0)


@native
def add_to_atomic(context: Address, record: Address, number: int) -> None:
    """Add a number to the counter in argument 0, and return a chain.

    The argument's type is checked, because a BEF file may pass any value.
    """
    if payload_type(context, 0) != at.TYPE_ATOMIC_I32:
        fail(context, record, at.MESSAGE_WRONG_TYPE)
        return
    # The word may grow beyond 32 bits: `atomic_get_i32` returns its low half, as if the counter had
    # wrapped around.
    fetch_add(argument(context, 0) + at.VALUE_PAYLOAD, number)
    set_chain(context, 0)


@entry
def atomic_increment_i32(context: Address, record: Address) -> None:
    """`tfrt_test.atomic.inc.i32`: add 1 to a counter."""
    add_to_atomic(context, record, 1)


@entry
def atomic_add_i32(context: Address, record: Address) -> None:
    """`tfrt_test.atomic.add.i32`: add a number to a counter."""
    add_to_atomic(context, record, argument_i32(context, 1))


@entry
def atomic_get_i32(context: Address, record: Address) -> None:
    """`tfrt_test.atomic.get.i32`: return the number in a counter."""
    if payload_type(context, 0) != at.TYPE_ATOMIC_I32:
        fail(context, record, at.MESSAGE_WRONG_TYPE)
        return
    set_i32(context, 0, load_acquire(argument(context, 0) + at.VALUE_PAYLOAD))
    set_chain(context, 1)


@entry
def share_arguments(context: Address, record: Address) -> None:
    """`tfrt_test.multi_arg_result`: return each argument."""
    for i in range(load_i32(record + at.RECORD_ARGUMENTS)):
        share_argument(context, i, i)


@entry
def identity(context: Address, record: Address) -> None:
    """`tfrt_test.identity`: return each argument after the first, which is a chain."""
    for i in range(1, load_i32(record + at.RECORD_ARGUMENTS)):
        share_argument(context, i, i - 1)


@entry
def make_indirect(context: Address, record: Address) -> None:
    """`tfrt_test.make_indirect`: return an indirect value for each argument."""
    for i in range(load_i32(record + at.RECORD_ARGUMENTS)):
        value = argument(context, i)
        indirect = new_indirect(context)
        add_references(value, 1)
        run_waiters(context, forward_to(context, indirect, value))
        set_result(context, i, indirect)


@entry
def get_uniqueness(context: Address, record: Address) -> None:
    """`tfrt_test.get_uniqueness`: return, for each argument, whether it has only one reference."""
    for i in range(load_i32(record + at.RECORD_ARGUMENTS)):
        value = argument(context, i)
        unique = load_acquire(value + at.VALUE_REFERENCES) == 1
        # The kernel is raw (KERNEL_RAW), so an argument may still forward to another value.
        if load(value + at.VALUE_KIND) & at.KIND_BITS == at.KIND_INDIRECT:
            unique = (
                unique and load_acquire(load(value + at.VALUE_TARGET) + at.VALUE_REFERENCES) == 1
            )
        set_word(context, i, at.TYPE_I1, 1 if unique else 0)


SHORTEST_DELAY_NS = 1_000_000
LONGEST_DELAY_NS = 10_000_000


@native
def sleep(context: Address, record: Address, nanoseconds: int) -> bool:
    """Sleep until the time has passed or the run is cancelled.

    If the run is cancelled, set the kernel's results to the cancellation error and return False.
    """
    word = load(context + at.CONTEXT_REQUEST) + at.REQUEST_CANCEL
    end = now() + nanoseconds
    left = nanoseconds
    while left > 0 and load_acquire(word) == 0:
        # A thread that cancels the run wakes the threads that sleep on this word. However, the
        # futex compares only the word's low half. If the address of the cancellation error is a
        # multiple of 4 GiB, that half is 0, and the sleep takes its full time.
        futex_wait(word, 0, left)
        left = end - now()
    cancelled = load_acquire(word)
    if cancelled == 0:
        return True
    fail_results(context, record, cancelled)
    return False


@native
def sleep_and_tell(context: Address, record: Address) -> bool:
    """Sleep for the number of microseconds in argument 0, and print that number.

    Return False if the kernel has failed and its results are already set.
    """
    if payload_type(context, 0) != at.TYPE_I32:
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
    """`tfrt_test.usleep`: sleep for a number of microseconds."""
    sleep_and_tell(context, record)


@entry
def blocking_usleep(context: Address, record: Address) -> None:
    """`tfrt_test.blocking.usleep`: sleep, then return a chain."""
    if sleep_and_tell(context, record):
        set_chain(context, 0)


@native
def random_delay(context: Address) -> int:
    """Return a random delay in nanoseconds: 1 to 10 ms."""
    return SHORTEST_DELAY_NS + next_random(context) % (LONGEST_DELAY_NS - SHORTEST_DELAY_NS)


@entry
def copy_with_delay_i32(context: Address, record: Address) -> None:
    """`tfrt_test.{copy,async_copy}.with_delay.i32`: sleep, then return the argument."""
    if sleep(context, record, random_delay(context)):
        set_i32(context, 0, argument_i32(context, 0))


@entry
def copy_with_delay_i64(context: Address, record: Address) -> None:
    """`tfrt_test.{copy,async_copy}.with_delay.i64`: sleep, then return the argument."""
    if sleep(context, record, random_delay(context)):
        set_i64(context, 0, argument_i64(context, 0))
