"""`tfrt_test.benchmark`: run a region repeatedly, and measure each run.

Each run is a separate call, which is over when its only result is available.  Each call after the
first starts in a task of its own.  A table records each run's wall-clock and CPU time in
nanoseconds.  After the last run, Python makes a report from the table.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_reference,
    new_available,
    new_indirect,
    resolve,
    state_of,
    wait_for,
)
from tfrt_runtime.native.calls.activation import begin, new_activation, refuse_root, root_size
from tfrt_runtime.native.calls.delivery import deliver, end_kernel
from tfrt_runtime.native.calls.frame import attribute
from tfrt_runtime.native.calls.kernel_calls import fail_kernel_with
from tfrt_runtime.native.cells import give_block, need_block, take_block
from tfrt_runtime.native.events import nested_of
from tfrt_runtime.native.kernels.control_kernels import callee, register_value
from tfrt_runtime.native.memory import (
    Address,
    call3,
    copy,
    cpu_time,
    entry,
    fetch_add,
    load,
    load_acquire,
    load_i32,
    native,
    now,
    store,
)
from tfrt_runtime.native.queues.tasks import add_local_task, free_task, new_task
from tfrt_runtime.native.queues.waiters import mark_shared

FIRST_SAMPLES = 64
"""The initial capacity of the table, in samples; a power of 2."""

# The words of the kernel's data: two functions, then the attributes, sorted by name.
RUN_IS_OVER, NEXT_RUN, DURATION_SECONDS, MAX_COUNT, NAME, WARMUP_RUNS = range(6)


@entry
def benchmark(context: Address, record: Address) -> None:
    """`tfrt_test.benchmark`; data: the words listed above."""
    start_benchmark(context, record, attribute(record, WARMUP_RUNS))


@entry
def sync_benchmark(context: Address, record: Address) -> None:
    """`tfrt_test.sync_benchmark`; data: the words listed above, without the name."""
    start_benchmark(context, record, attribute(record, NAME))


@native
def start_benchmark(context: Address, record: Address, warmups: int) -> None:
    """Allocate the table of samples, and start the first run."""
    caller = load(context + at.CONTEXT_ACTIVATION)
    # The thread that ends the last run delivers the chain to the caller, and that may be any
    # thread.
    mark_shared(caller)
    if nested_of(caller) > at.MAX_NESTED:
        fail_kernel_with(context, caller, record, at.MESSAGE_TOO_DEEP)
        return
    # Neither block needs a check for 0: both have a size class, and small blocks are never refused.
    state = take_block(context, at.BENCHMARK_SIZE)
    store(state + at.BENCHMARK_CALLER, caller)
    store(state + at.BENCHMARK_RECORD, record)
    store(state + at.BENCHMARK_WARMUPS, warmups)
    store(state + at.BENCHMARK_COUNT, 0)
    store(state + at.BENCHMARK_TOTAL, 0)
    store(state + at.BENCHMARK_SAMPLES, take_block(context, 16 * FIRST_SAMPLES))
    store(state + at.BENCHMARK_ROOM, FIRST_SAMPLES)
    start_run(context, state)


@native
def start_run(context: Address, state: Address) -> None:
    """Call the region once, and call `run_is_over` when its result is available.

    The waiter is added last, for two reasons.  First, if the region returns an argument, its result
    is available before all arguments are delivered.  Second, the caller's references to the
    arguments are dropped at the end of the last run.
    """
    caller = load(state + at.BENCHMARK_CALLER)
    record = load(state + at.BENCHMARK_RECORD)
    request = load(caller + at.ACTIVATION_REQUEST)
    function = callee(record, 0)
    value = new_indirect(context)
    # One reference is for the call's table, and one for `run_is_over`.
    add_references(value, 1)
    store(state + at.BENCHMARK_VALUE, value)
    results = need_block(context, root_size(function))
    store(results, value)
    # Each run of the region is a root call, so `end_root` subtracts this 1.
    fetch_add(request + at.REQUEST_ACTIVE, 1)
    # The wall clock is read last here and first in `run_is_over`, so that the wall time does not
    # include reading the CPU clock.
    store(state + at.BENCHMARK_CPU, cpu_time())
    store(state + at.BENCHMARK_WALL, now())
    nested = nested_of(caller) + 16 * FIRST_SAMPLES
    body = new_activation(context, function, request, at.RETURN_ROOT, 0, results, nested)
    if body == 0:
        refuse_root(context, function, request, results)
    else:
        slots = load(function + at.FUNCTION_ARGUMENT_TABLE)
        for i in range(load_i32(record + at.RECORD_ARGUMENTS)):
            argument = register_value(caller, record, i)
            add_references(argument, 1)
            deliver(context, body, load(slots + 8 * i), argument)
        begin(context, body)
    if not wait_for(context, value, at.WAIT_CALL, attribute(record, RUN_IS_OVER), state):
        run_is_over(context, state)


@entry
def run_is_over(context: Address, state: Address) -> None:
    """Waiter function: record a finished run's times; start the next run or end the benchmark."""
    wall = now() - load(state + at.BENCHMARK_WALL)
    cpu = cpu_time() - load(state + at.BENCHMARK_CPU)
    value = load(state + at.BENCHMARK_VALUE)
    failed = resolve(value) if state_of(value) == at.ERROR else 0
    if failed == 0:
        # A region that returns one of its arguments has a valid result even if the run is
        # cancelled, so the benchmark would otherwise not stop.
        request = load(load(state + at.BENCHMARK_CALLER) + at.ACTIVATION_REQUEST)
        failed = load_acquire(request + at.REQUEST_CANCEL)
    if failed != 0:
        # `value` keeps `failed` alive until the kernel's result has its own reference.
        end_benchmark(context, state, failed)
        drop_reference(context, value)
        return
    drop_reference(context, value)
    warmups = load(state + at.BENCHMARK_WARMUPS)
    if warmups > 0:
        store(state + at.BENCHMARK_WARMUPS, warmups - 1)
    else:
        add_sample(context, state, wall, cpu)
    if is_enough(state):
        end_benchmark(context, state, 0)
    else:
        # Add a task instead of calling `start_run`, which may call this function directly:
        # otherwise, each run would add a level to the native stack.
        record = load(state + at.BENCHMARK_RECORD)
        add_local_task(context, new_task(context, attribute(record, NEXT_RUN), state, 0, 0))


@native
def add_sample(context: Address, state: Address, wall: int, cpu: int) -> None:
    """Add a run's times to the table.

    If memory runs out, drop the times, because the run that contains the benchmark is then ending.
    """
    store(state + at.BENCHMARK_TOTAL, load(state + at.BENCHMARK_TOTAL) + wall)
    count = load(state + at.BENCHMARK_COUNT)
    is_full = count == load(state + at.BENCHMARK_ROOM)
    if is_full and not double_samples(context, state, count):
        return
    place = load(state + at.BENCHMARK_SAMPLES) + 16 * count
    store(place, wall)
    store(place + 8, cpu)
    store(state + at.BENCHMARK_COUNT, count + 1)


@native
def double_samples(context: Address, state: Address, count: int) -> bool:
    """Double the size of the table of `count` samples; return False if memory runs out."""
    old = load(state + at.BENCHMARK_SAMPLES)
    larger = take_block(context, 32 * count)
    if larger == 0:
        return False
    copy(larger, old, 16 * count)
    give_block(context, old, 16 * count)
    store(state + at.BENCHMARK_SAMPLES, larger)
    store(state + at.BENCHMARK_ROOM, 2 * count)
    return True


@native
def is_enough(state: Address) -> bool:
    """Return whether the benchmark has reached the program's limit on runs or seconds."""
    record = load(state + at.BENCHMARK_RECORD)
    if load(state + at.BENCHMARK_WARMUPS) > 0:
        return False
    if load(state + at.BENCHMARK_COUNT) >= min(attribute(record, MAX_COUNT), at.MAX_SAMPLES):
        return True
    return load(state + at.BENCHMARK_TOTAL) >= attribute(record, DURATION_SECONDS) * 1_000_000_000


@entry
def next_run(context: Address, task: Address) -> None:
    """Task function: start another run."""
    state = load(task + at.TASK_FIRST)
    free_task(context, task)
    start_run(context, state)


@native
def end_benchmark(context: Address, state: Address, failed: Address) -> None:
    """End the kernel: report the measurements and return a chain, or return the error `failed`."""
    caller = load(state + at.BENCHMARK_CALLER)
    record = load(state + at.BENCHMARK_RECORD)
    # The callback finds the run in the context, where the waiter's thread may have another run.
    store(context + at.CONTEXT_REQUEST, load(caller + at.ACTIVATION_REQUEST))
    if failed == 0:
        call3(load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_PRINT), context, record, state)
        result = new_available(context, at.TYPE_CHAIN)
    else:
        result = failed
        add_references(result, 1)
    samples = load(state + at.BENCHMARK_SAMPLES)
    give_block(context, samples, 16 * load(state + at.BENCHMARK_ROOM))
    give_block(context, state, at.BENCHMARK_SIZE)
    end_kernel(context, caller, record, result)
