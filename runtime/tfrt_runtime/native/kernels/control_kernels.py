"""Native kernels that start functions: call, if, case, repeat, while, do.async, parallel loops.

A control kernel owns its arguments and passes them to the function that it starts.  It neither
waits nor recurses: when that function ends, its activation delivers the results to the kernel's
registers (ACTIVATION_RETURN).
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_reference,
    new_available,
    new_scalar,
    resolve,
)
from tfrt_runtime.native.calls.activation import (
    begin,
    free_activation,
    new_activation,
    start_iteration,
)
from tfrt_runtime.native.calls.delivery import deliver, drop_arguments, end_kernel, slot_of
from tfrt_runtime.native.calls.frame import argument_i1, argument_i32, attribute
from tfrt_runtime.native.calls.hot_calls import call_machine
from tfrt_runtime.native.calls.kernel_calls import (
    fail_kernel_with,
    fail_without_memory,
    memory_error,
)
from tfrt_runtime.native.cells import take_block
from tfrt_runtime.native.events import is_watched, log_call_end, nested_of
from tfrt_runtime.native.memory import (
    Address,
    compare_and_swap,
    entry,
    load,
    load_acquire,
    load_i32,
    native,
    store,
)
from tfrt_runtime.native.queues.tasks import add_task, free_task, new_task
from tfrt_runtime.native.queues.waiters import finish, leave_join, mark_shared


@native
def register_value(activation: Address, record: Address, index: int) -> Address:
    """Return the value in an argument's register.

    The caller takes over the register's reference for this use.
    """
    return load(activation + load_i32(record + at.RECORD_REGISTERS + 4 * index))


@native
def start_call(
    context: Address, caller: Address, record: Address, function: Address, first: int
) -> None:
    """Call `function` with the kernel's arguments from number `first` on.

    Drop the earlier arguments.
    """
    request = load(caller + at.ACTIVATION_REQUEST)
    # `call_machine` also checks this, but checking here saves most calls from calling it.
    may_be_hot = load_acquire(request + at.REQUEST_TIER) != at.TIER_INTERPRETER
    if (
        may_be_hot
        and load(function + at.FUNCTION_MACHINE) != 0
        and call_machine(context, caller, record, function, first)
    ):
        return
    nested = nested_of(caller)
    if nested > at.MAX_NESTED:
        fail_kernel_with(context, caller, record, at.MESSAGE_TOO_DEEP)
        return
    # If memory runs out, `refuse` reads these words to find the run that it ends and the kernel
    # that it names. In a task (`call_task`), they are left over from other work.
    store(context + at.CONTEXT_REQUEST, request)
    store(context + at.CONTEXT_RECORD, record)
    activation = new_activation(context, function, request, at.RETURN_CALL, caller, record, nested)
    if activation == 0:
        fail_without_memory(context, caller, record)
        return
    # Drop them only now: until the activation exists, the kernel may fail, and `fail_kernel` drops
    # all arguments.
    drop_arguments(context, caller, record, first)
    # The callee takes over the kernel's references, so a call changes no reference counts.
    slots = load(function + at.FUNCTION_ARGUMENT_TABLE)
    for i in range(load_i32(record + at.RECORD_ARGUMENTS) - first):
        value = register_value(caller, record, first + i)
        deliver(context, activation, load(slots + 8 * i), value)
    begin(context, activation)


@native
def callee(record: Address, index: int) -> Address:
    """Return function number `index` in a kernel's record."""
    return load(record + load_i32(record + at.RECORD_FUNCTIONS) + 8 * index)


@entry
def call(context: Address, record: Address) -> None:
    """`tfrt.call`: call a function with the kernel's arguments."""
    start_call(context, load(context + at.CONTEXT_ACTIVATION), record, callee(record, 0), 0)


@entry
def cond(context: Address, record: Address) -> None:
    """`tfrt.if` and `tfrt.cond`: call the first function if the condition holds.

    Otherwise, call the second function.
    """
    caller = load(context + at.CONTEXT_ACTIVATION)
    start_call(context, caller, record, callee(record, 1 - argument_i1(context, 0)), 1)


@entry
def case(context: Address, record: Address) -> None:
    """`tfrt.case`: call the function that argument 0 selects; data: the number of functions."""
    caller = load(context + at.CONTEXT_ACTIVATION)
    index = argument_i32(context, 0)
    if index < 0 or index >= attribute(record, 0):
        fail_kernel_with(context, caller, record, at.MESSAGE_CASE_RANGE)
        return
    start_call(context, caller, record, callee(record, index), 1)


@native
def new_loop(context: Address, caller: Address, record: Address, left: int, first: int) -> Address:
    """Make a loop whose values are the kernel's arguments from number `first` on.

    The kernel's arguments stay alive until the loop ends.  Return 0 if the loop has many values and
    memory runs out.
    """
    values = load_i32(record + at.RECORD_ARGUMENTS) - first
    loop = take_block(context, at.LOOP_TABLE + 16 * values)
    if loop == 0:
        return 0
    store(loop + at.LOOP_CALLER, caller)
    store(loop + at.LOOP_RECORD, record)
    store(loop + at.LOOP_FUNCTION, callee(record, 0))
    store(loop + at.LOOP_LEFT, left)
    store(loop + at.LOOP_VALUES, values)
    store(loop + at.LOOP_CONDITION, 0)
    for i in range(values):
        value = register_value(caller, record, first + i)
        # The body takes over these references, whereas the kernel keeps its own until `end_loop`.
        add_references(value, 1)
        store(loop + at.LOOP_TABLE + 8 * i, value)
    return loop


@native
def run_loop(context: Address, caller: Address, record: Address, left: int) -> None:
    """Start a loop with at least one iteration; `left` is the count, or -1 for a condition."""
    nested = nested_of(caller)
    if nested > at.MAX_NESTED:
        fail_kernel_with(context, caller, record, at.MESSAGE_TOO_DEEP)
        return
    function = callee(record, 0)
    request = load(caller + at.ACTIVATION_REQUEST)
    # Take both blocks before dropping arguments, so that the kernel can fail as usual if memory
    # runs out.
    # The body has no caller: it returns to the loop, whose address is stored below.
    body = new_activation(context, function, request, at.RETURN_LOOP, 0, 0, nested)
    loop = 0
    if body != 0:
        loop = new_loop(context, caller, record, left, 1)
        if loop == 0:
            free_activation(context, body)
    if loop == 0:
        fail_without_memory(context, caller, record)
        return
    store(body + at.ACTIVATION_CALLER_RECORD, loop)
    drop_arguments(context, caller, record, 1)
    start_iteration(context, loop, body)


@native
def forward_arguments(context: Address, caller: Address, record: Address) -> None:
    """End a loop without iterations: the loop values become the results."""
    drop_arguments(context, caller, record, 1)
    for i in range(load_i32(record + at.RECORD_ARGUMENTS) - 1):
        deliver(context, caller, slot_of(record, i), register_value(caller, record, 1 + i))
    if is_watched(caller):
        log_call_end(context, caller, record)
    finish(context, caller)


@entry
def repeat(context: Address, record: Address) -> None:
    """`tfrt.repeat.i32`: run a loop as many times as argument 0 says."""
    caller = load(context + at.CONTEXT_ACTIVATION)
    count = argument_i32(context, 0)
    if count < 0:
        fail_kernel_with(context, caller, record, at.MESSAGE_NEGATIVE_COUNT)
        return
    if count == 0:
        forward_arguments(context, caller, record)
    else:
        run_loop(context, caller, record, count)


@entry
def while_loop(context: Address, record: Address) -> None:
    """`tfrt.while`: run a loop while its condition, argument 0, holds."""
    caller = load(context + at.CONTEXT_ACTIVATION)
    if argument_i1(context, 0) == 0:
        forward_arguments(context, caller, record)
    else:
        run_loop(context, caller, record, -1)


@entry
def do_async(context: Address, record: Address) -> None:
    """`tfrt_test.do.async`: call the region in a queued task; data: `call_task`."""
    caller = load(context + at.CONTEXT_ACTIVATION)
    # The task may run on another thread.
    mark_shared(caller)
    # The task needs no `add_pending`: the kernel counts as unfinished until its call has ended.
    add_task(context, new_task(context, attribute(record, 0), caller, record, 0))


@entry
def call_task(context: Address, task: Address) -> None:
    """Task function: call the kernel's function with all arguments."""
    caller = load(task + at.TASK_FIRST)
    record = load(task + at.TASK_SECOND)
    free_task(context, task)
    start_call(context, caller, record, callee(record, 0), 0)


@entry
def parallel_for(context: Address, record: Address) -> None:
    """`tfrt.parallel_for.i32` and `parallel_call.i32`: call a body for each block of a range.

    The arguments are start, end, block size, and the body's own arguments.  The result is a chain.
    Data: `parallel_task`.
    """
    caller = load(context + at.CONTEXT_ACTIVATION)
    if nested_of(caller) > at.MAX_NESTED:
        fail_kernel_with(context, caller, record, at.MESSAGE_TOO_DEEP)
        return
    start, end = argument_i32(context, 0), argument_i32(context, 1)
    size = max(argument_i32(context, 2), 1)
    # Words have 64 bits, so these sums of 32-bit numbers cannot overflow.
    blocks = max((end - start + size - 1) // size, 0)
    if blocks == 0:
        end_kernel(context, caller, record, new_available(context, at.TYPE_CHAIN))
        return
    # Blocks may run on other threads, which then deliver the chain to the caller.
    mark_shared(caller)
    join = take_block(context, at.JOIN_SIZE)
    store(join + at.JOIN_CALLER, caller)
    store(join + at.JOIN_RECORD, record)
    store(join + at.JOIN_LEFT, blocks)
    store(join + at.JOIN_ERROR, 0)
    split_blocks(context, join, 0, blocks)


@native
def split_blocks(context: Address, join: Address, first: int, last: int) -> None:
    """Run block `first` here, and turn the later blocks before `last` into tasks.

    In a cancelled run, skip the blocks instead.
    """
    record = load(join + at.JOIN_RECORD)
    cancelled = load_acquire(
        load(load(join + at.JOIN_CALLER) + at.ACTIVATION_REQUEST) + at.REQUEST_CANCEL
    )
    if cancelled != 0:
        add_references(cancelled, 1)
        skip_blocks(context, join, cancelled, last - first)
        return
    # Halve the range instead of making a task per block: a thief takes the oldest task, which is
    # the largest part.
    while last - first > 1:
        middle = first + (last - first) // 2
        task = new_task(context, attribute(record, 0), join, middle, last)
        add_task(context, task)
        last = middle
    run_block(context, join, first)


@native
def skip_blocks(context: Address, join: Address, failed: Address, blocks: int) -> None:
    """End `blocks` blocks without starting them, so that the loop fails with the error `failed`.

    If the loop has already failed, it keeps its first error.  The function takes over a reference
    to `failed`.
    """
    if compare_and_swap(join + at.JOIN_ERROR, 0, failed) == 0:
        drop_reference(context, failed)
    leave_join(context, join, blocks)


@entry
def parallel_task(context: Address, task: Address) -> None:
    """Run some blocks of a parallel loop, as a task.

    TASK_FIRST is the loop's join, and the blocks are those from TASK_SECOND to before TASK_THIRD.
    """
    join = load(task + at.TASK_FIRST)
    first = load(task + at.TASK_SECOND)
    last = load(task + at.TASK_THIRD)
    free_task(context, task)
    split_blocks(context, join, first, last)


@native
def run_block(context: Address, join: Address, block: int) -> None:
    """Start the body for one block, with the block's bounds and the body's own arguments."""
    caller = load(join + at.JOIN_CALLER)
    record = load(join + at.JOIN_RECORD)
    function = callee(record, 0)
    start = load_register_i32(caller, record, 0)
    # This must be the block size that `parallel_for` has used to count the blocks.
    size = max(load_register_i32(caller, record, 2), 1)
    low = start + block * size
    high = min(low + size, load_register_i32(caller, record, 1))
    request = load(caller + at.ACTIVATION_REQUEST)
    nested = nested_of(caller)
    store(context + at.CONTEXT_REQUEST, request)
    store(context + at.CONTEXT_RECORD, record)
    # The body has no caller: its result and its end go to the join.
    body = new_activation(context, function, request, at.RETURN_JOIN, 0, join, nested)
    if body == 0:
        skip_blocks(context, join, memory_error(context, request, record), 1)
        return
    slots = load(function + at.FUNCTION_ARGUMENT_TABLE)
    deliver(context, body, load(slots), new_scalar(context, at.TYPE_I32, low))
    deliver(context, body, load(slots + 8), new_scalar(context, at.TYPE_I32, high))
    for i in range(3, load_i32(record + at.RECORD_ARGUMENTS)):
        value = register_value(caller, record, i)
        add_references(value, 1)
        # The body takes the block's two bounds instead of the loop's start, end, and block size.
        deliver(context, body, load(slots + 8 * (i - 1)), value)
    begin(context, body)


@native
def load_register_i32(caller: Address, record: Address, index: int) -> int:
    """Return the available `i32` in an argument's register."""
    # The register still holds its value: `end_kernel` drops the arguments after the last block.
    return load_i32(resolve(register_value(caller, record, index)) + at.VALUE_PAYLOAD)
