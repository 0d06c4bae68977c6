"""Runs from Python, from the arguments of a call to its result: functions of Python (`python_entries`).

    begin    a `bytes` with the words of a request, and the arguments of its call as payloads
    launch   starts that call (`python_calls.start_call_with`)
    result   works for a value, and returns it as a Python object
    end      works for a run until nothing of it is left
    leave    the Python object of a run dies

Each returns the object MISSING, or None, where something is not ordinary: Python does it then.  The words bound
to each are the address of the table of CPython's functions, that of the process, and that of MISSING.

When nothing of a run is left, either Python hears of that, if it wants to (REQUEST_HEARD), or the
request goes to the stack PROCESS_OVER, without the GIL; the next thread that passes here with the GIL lets
Python forget the run.  If the run has no Python object any more (REQUEST_LEFT), that is the same thread.
"""

from __future__ import annotations

from tfrt_runtime.native.async_value import drop_reference, is_available, is_object, resolve
from tfrt_runtime.native.calls.endings import add_over, take_over
from tfrt_runtime.native.calls.executor import (
    WAITERS_BUDGET,
    run_ready_entry,
    run_task,
    work,
)
from tfrt_runtime.native.cells import give_block, need_block, trim
from tfrt_runtime.native.kernels.python_functions import is_too_large, python_object
from tfrt_runtime.native.layouts import (
    ANY_PAYLOAD,
    CONCRETE,
    CONTEXT_DEADLINE,
    CONTEXT_DEQUE,
    CONTEXT_EPOCH,
    CONTEXT_MAIN,
    CONTEXT_PENDING,
    CONTEXT_PROCESS,
    CONTEXT_PYTHON,
    CONTEXT_QUEUE,
    CONTEXT_READY,
    CONTEXT_READY_TOP,
    CONTEXT_SPAWNED,
    CONTEXT_THREAD,
    CONTEXT_WORKER,
    INTERRUPTS_LOOKED,
    INTERRUPTS_NOTED,
    INTERRUPTS_WAITS,
    KERNEL_BLOCKING,
    KERNEL_HEAVY,
    KERNEL_LASTING,
    PROCESS_HELD,
    PROCESS_PYTHON,
    PROCESS_RUN_ROOT,
    PROCESS_RUNS,
    PYTHON_ADD,
    PYTHON_BOOL,
    PYTHON_BYTES,
    PYTHON_CALL,
    PYTHON_CHAIN,
    PYTHON_DICT_SIZE,
    PYTHON_DROP,
    PYTHON_ENSURE,
    PYTHON_FIRST_SLOT,
    PYTHON_FLOAT,
    PYTHON_FLOAT_NUMBER,
    PYTHON_FORGET,
    PYTHON_INT,
    PYTHON_INTERRUPTS,
    PYTHON_IS_SUBTYPE,
    PYTHON_MAKE_INT,
    PYTHON_NEW_BYTES,
    PYTHON_NONE,
    PYTHON_OCCURRED,
    PYTHON_READ_INT,
    PYTHON_READ_WORD,
    PYTHON_RELEASE,
    PYTHON_REQUEST_DONE,
    PYTHON_REQUESTS,
    PYTHON_RESTORE,
    PYTHON_STR,
    PYTHON_TENSOR,
    PYTHON_TUPLE_ITEMS,
    PYTHON_TUPLE_SIZE,
    PYTHON_TYPE,
    PYTHON_UNRAISABLE,
    QUEUE_ASIDE,
    QUEUE_CHOOSE,
    QUEUE_DEQUES,
    QUEUE_HOST,
    QUEUE_WORKERS,
    READY_BITS,
    READY_KERNEL,
    RECORD_FLAGS,
    RECORD_FUNCTIONS,
    REQUEST_CANCELLED_VALUE,
    REQUEST_HEARD,
    REQUEST_LEFT,
    REQUEST_NEXT,
    REQUEST_NUMBER,
    REQUEST_OPEN,
    REQUEST_SIZE,
    REQUEST_STORE,
    REQUEST_TOLD,
    REQUEST_UNUSUAL,
    STATE_BITS,
    TASK_FUNCTION,
    TEMPLATE_ARGUMENTS,
    TEMPLATE_SIZE,
    TEMPLATE_WORDS,
    TYPE_CHAIN,
    TYPE_F32,
    TYPE_F64,
    TYPE_I1,
    TYPE_I8,
    TYPE_I16,
    TYPE_I32,
    TYPE_I64,
    TYPE_OBJECT,
    TYPE_TENSOR,
    VALUE_KIND,
    VALUE_STATE,
)
from tfrt_runtime.native.memory import (
    Address,
    call1,
    call2,
    call4,
    compare_and_swap,
    entry,
    fetch_add,
    inline,
    load,
    load_acquire,
    load_f64,
    load_i32,
    native,
    now,
    store,
    store_f32,
    store_f64,
    store_release,
)
from tfrt_runtime.native.python_calls import ARGUMENT_WORDS
from tfrt_runtime.native.python_objects import hold
from tfrt_runtime.native.queues.sharing import SLICE_NS, give_way, hand_over
from tfrt_runtime.native.queues.starting import take_start
from tfrt_runtime.native.queues.tasks import keep_injected, take_pending, turn

LIGHT_ENTRIES = 256
"""How much a thread does that keeps the GIL: a few microseconds."""
LOOK_NS = 10_000_000
"""Python looks at the handler of SIGINT so often: see `host.interrupts`."""
KEPT_AT_REST = 64 << 20
"""Bytes that native code may hold when no run is left; free slabs beyond go to the system."""


@native
def word(api: Address, given: Address, index: int) -> int:
    """An argument that is an integer."""
    return call1(load(api + PYTHON_READ_WORD), load(given + 8 * index))


@native
def shared(api: Address, item: Address) -> Address:
    """A new reference to a Python object."""
    call1(load(api + PYTHON_ADD), item)
    return item


@entry
def begin(bound: Address, given: Address, count: int) -> Address:
    """The words of a request: `begin(template, cancelled value, store of tensors, arguments)`.

    None if an argument is no ordinary value of its type, or there are too many or few.  Tensors are borrowed.
    """
    api, process = load(bound + PYTHON_BYTES), load(bound + PYTHON_BYTES + 8)
    template, arguments = word(api, given, 0), load(given + 24)
    wanted = load(template + TEMPLATE_ARGUMENTS)
    if call1(load(api + PYTHON_TUPLE_SIZE), arguments) != wanted:
        return shared(api, load(api + PYTHON_NONE))
    made = call2(
        load(api + PYTHON_NEW_BYTES), template + TEMPLATE_WORDS, load(template + TEMPLATE_SIZE)
    )
    if made == 0:
        return 0
    request = made + PYTHON_BYTES
    items = arguments + load(api + PYTHON_TUPLE_ITEMS)
    place = request + REQUEST_SIZE
    for i in range(wanted):
        if not put(api, place, load(items + 8 * i)):
            call1(load(api + PYTHON_DROP), made)
            return shared(api, load(api + PYTHON_NONE))
        place += 8 * ARGUMENT_WORDS
    for i in range(wanted):
        place = request + REQUEST_SIZE + 8 * ARGUMENT_WORDS * i
        if load(place) == TYPE_OBJECT:  # only now: nothing is to be taken back
            hold(process, api, load(place + 8))
    store(request + REQUEST_CANCELLED_VALUE, word(api, given, 1))
    store(request + REQUEST_STORE, word(api, given, 2))
    store(request + REQUEST_NUMBER, next_number(process))
    return made


@entry
def next_number(process: Address) -> int:
    """The number of a run that begins."""
    return fetch_add(process + PROCESS_RUNS, 1) + 1


@native
def put(api: Address, place: Address, item: Address) -> bool:
    """Write the payload of an argument behind its type; False if it is no ordinary value of that type."""
    payload_type = load(place)
    type_object = load(item + load(api + PYTHON_TYPE))
    if payload_type >= TYPE_I8 and payload_type <= TYPE_I64:
        if type_object != load(api + PYTHON_INT):
            return False
        number = call2(load(api + PYTHON_READ_INT), item, place + 16)
        shift = 56
        if payload_type == TYPE_I16:
            shift = 48
        elif payload_type == TYPE_I32:
            shift = 32
        elif payload_type == TYPE_I64:
            shift = 0
        if load_i32(place + 16) != 0 or (number << shift) >> shift != number:
            return False
        store(place + 16, 0)
        store(place + 8, number)
        return True
    if payload_type == TYPE_F64 or payload_type == TYPE_F32:
        if type_object != load(api + PYTHON_FLOAT):
            return False
        number_f64 = load_f64(item + load(api + PYTHON_FLOAT_NUMBER))
        if payload_type == TYPE_F64:
            store_f64(place + 8, number_f64)
        elif is_too_large(number_f64):
            return False
        else:
            store_f32(place + 8, number_f64)
        return True
    if payload_type == TYPE_I1:
        if type_object != load(api + PYTHON_BOOL):
            return False
        store(place + 8, call1(load(api + PYTHON_READ_WORD), item))
        return True
    if payload_type == TYPE_OBJECT:
        if type_object != load(api + PYTHON_STR):
            return False
        store(place + 8, item)
        return True
    if payload_type == TYPE_TENSOR:
        return put_tensor(api, place, item)
    is_chain = item == load(api + PYTHON_CHAIN) or item == load(api + PYTHON_NONE)
    return payload_type == TYPE_CHAIN and is_chain


@native
def put_tensor(api: Address, place: Address, item: Address) -> bool:
    """As `put`; False for what is no tensor, or one that no native kernel has had."""
    type_object = load(item + load(api + PYTHON_TYPE))
    # The result is an int of 32 bits.
    if call2(load(api + PYTHON_IS_SUBTYPE), type_object, load(api + PYTHON_TENSOR)) << 32 == 0:
        return False
    slot = load(api + PYTHON_FIRST_SLOT)
    handle = load(item + slot)
    if handle == 0 or handle == load(api + PYTHON_NONE):
        return False
    store(place + 8, call1(load(api + PYTHON_READ_WORD), load(handle + slot)))
    return True


@entry
def result(bound: Address, given: Address, count: int) -> Address:
    """What a value is: `result(context, value, type of its payload, request or 0)`; works for it on this thread.

    MISSING if it is unavailable when nothing is left to do, or no ordinary value of the type; and
    where this thread must not work, the run is cancelled or watched, or a signal came.
    """
    api, process = load(bound + PYTHON_BYTES), load(bound + PYTHON_BYTES + 8)
    context, value = word(api, given, 0), word(api, given, 1)
    missing = load(bound + PYTHON_BYTES + 16)
    request = word(api, given, 3)
    if request != 0 and load_acquire(request + REQUEST_UNUSUAL) != 0:
        return shared(api, missing)
    if not is_available(value) and not work_here(context, api, value, False):
        forget_over(process, api)
        return shared(api, missing)
    made = object_of(api, value, word(api, given, 2))
    forget_over(process, api)
    if made == 0 and call1(load(api + PYTHON_OCCURRED), 0) == 0:
        return shared(api, missing)
    return made


@entry
def end(bound: Address, given: Address, count: int) -> Address:
    """None when nothing of a run is left: `end(context, request)`; works for it on this thread.

    MISSING if it is not over when nothing is left to do, and in the cases of `result`.
    """
    api, process = load(bound + PYTHON_BYTES), load(bound + PYTHON_BYTES + 8)
    context, request = word(api, given, 0), word(api, given, 1)
    found = load(bound + PYTHON_BYTES + 16)
    if load_acquire(request + REQUEST_UNUSUAL) == 0 and (
        is_reached(request, True) or work_here(context, api, request, True)
    ):
        found = load(api + PYTHON_NONE)
    forget_over(process, api)
    return shared(api, found)


@inline
def is_reached(goal: Address, is_run: bool) -> bool:
    """Whether what a thread works for is there: the end of a run, or a value."""
    if is_run:
        return load_acquire(goal + REQUEST_OPEN) == 0
    return is_available(goal)


@native
def object_of(api: Address, value: Address, payload_type: int) -> Address:
    """An available value of that type as a new reference to a Python object; 0 if it is not ordinary."""
    found = resolve(value)
    kind = load(found + VALUE_KIND) >> 8
    is_type = kind == payload_type
    if payload_type == ANY_PAYLOAD:
        is_type = kind == TYPE_CHAIN or is_object(kind)
    if not is_type or load_acquire(found + VALUE_STATE) & STATE_BITS != CONCRETE:
        return 0
    return python_object(api, found, kind)


@native
def work_here(context: Address, api: Address, goal: Address, is_run: bool) -> bool:
    """Work for a value or a run on this thread, which has the GIL; whether `is_reached`, and no signal came."""
    queue = load(context + CONTEXT_QUEUE)
    # A thread that runs a kernel needs another context for what it runs meanwhile.
    is_busy = load(context + CONTEXT_EPOCH) & 1 != 0
    if is_busy or queue == 0 or load(queue + QUEUE_ASIDE) != 0 or load(queue + QUEUE_CHOOSE) != 0:
        return False
    interrupts = load(api + PYTHON_INTERRUPTS)
    is_main = load(context + CONTEXT_MAIN) != 0
    if is_main:
        if now() - load(interrupts + INTERRUPTS_LOOKED) > LOOK_NS:
            return False
        store(interrupts + INTERRUPTS_WAITS, load(interrupts + INTERRUPTS_WAITS) + 1)
    workers = load(queue + QUEUE_WORKERS)
    has_deque = workers != 0 and compare_and_swap(queue + QUEUE_HOST, 0, 1) != 0
    if has_deque:
        store(context + CONTEXT_DEQUE, load(load(queue + QUEUE_DEQUES) + 8 * (workers - 1)))
    store(context + CONTEXT_WORKER, max(workers - 1, 0))
    # Odd from here: while this thread may hold work the queue is not quiescent.
    turn(context)
    store(context + CONTEXT_PYTHON, api)
    if not work_lightly(context, goal, is_run):
        give_way(context)
        work_until(context, goal, is_run, now() + SLICE_NS)
    if load(context + CONTEXT_PYTHON) == 0:
        store(context + CONTEXT_DEADLINE, 0)
        call1(load(api + PYTHON_RESTORE), load(context + CONTEXT_THREAD))
    store(context + CONTEXT_PYTHON, 0)
    turn(context)
    is_ready = load(context + CONTEXT_READY) != load(context + CONTEXT_READY_TOP)
    if is_ready or load(context + CONTEXT_PENDING) != 0:
        hand_over(context)
    store(context + CONTEXT_WORKER, -1)
    if has_deque:
        store(context + CONTEXT_DEQUE, 0)
        # The last of these: the next thread takes the deque as this one leaves it.
        store_release(queue + QUEUE_HOST, 0)
    if is_main:
        store(interrupts + INTERRUPTS_WAITS, load(interrupts + INTERRUPTS_WAITS) - 1)
        if load(interrupts + INTERRUPTS_NOTED) != 0:
            return False
    return is_reached(goal, is_run)


@native
def work_lightly(context: Address, goal: Address, is_run: bool) -> bool:
    """Run short kernels until the goal is reached; False if what comes next may take longer.

    The thread has the GIL, and keeps it while that is short (`give_way`): giving it away costs more than a small
    run, and where other threads want it, this one would wait for its turn.
    """
    for _ in range(LIGHT_ENTRIES):
        if is_reached(goal, is_run):
            return True
        if load(context + CONTEXT_PYTHON) == 0:
            return False
        top = load(context + CONTEXT_READY_TOP)
        if top == load(context + CONTEXT_READY):
            task = light_task(context)
            if task == 0:
                return False
            run_task(context, task)
        else:
            if not is_light(load(top - 16), load(top - 8)):
                return False
            # Popped before it runs: the kernel pushes its users on top.
            store(context + CONTEXT_READY_TOP, top - 16)
            run_ready_entry(context, load(top - 16), load(top - 8))
    return False


@native
def light_task(context: Address) -> Address:
    """The next task, if it begins a call from outside; or 0."""
    if load(load(context + CONTEXT_QUEUE) + QUEUE_WORKERS) != 0:
        return take_start(context)
    if load(context + CONTEXT_PENDING) == 0:
        keep_injected(context)
        store(context + CONTEXT_SPAWNED, 0)  # as `next_task` does at the begin of a round
    task = load(context + CONTEXT_PENDING)
    root = load(load(context + CONTEXT_PROCESS) + PROCESS_RUN_ROOT)
    return take_pending(context) if task != 0 and load(task + TASK_FUNCTION) == root else 0


@native
def is_light(tagged: Address, record: Address) -> bool:
    """Whether a ready entry takes no longer than a few numbers: it calls nothing, and does not block."""
    if tagged & READY_BITS != READY_KERNEL:
        return True
    long = KERNEL_HEAVY | KERNEL_BLOCKING | KERNEL_LASTING
    return load(record + RECORD_FLAGS) & long == 0 and load(record + RECORD_FUNCTIONS) == 0


@native
def work_until(context: Address, goal: Address, is_run: bool, deadline: int) -> None:
    """Work until the goal is reached, nothing is left to do, or the clock says `deadline`."""
    store(context + CONTEXT_DEADLINE, deadline)
    while not is_reached(goal, is_run) and work(context, WAITERS_BUDGET) != WAITERS_BUDGET:
        if now() >= deadline:
            break
    store(context + CONTEXT_DEADLINE, 0)


@entry
def leave(bound: Address, given: Address, count: int) -> Address:
    """The Python object of a run dies: `leave(context, request, results, count of results)`.

    Its references to results are dropped.  If the run is not over, the thread that ends it lets Python forget it.
    """
    api, process = load(bound + PYTHON_BYTES), load(bound + PYTHON_BYTES + 8)
    context, request = word(api, given, 0), word(api, given, 1)
    results, results_count = word(api, given, 2), word(api, given, 3)
    for i in range(results_count):
        drop_reference(context, load(results + 8 * i))
    compare_and_swap(request + REQUEST_TOLD, 0, REQUEST_LEFT)
    forget_over(process, api)
    return shared(api, load(api + PYTHON_NONE))


@entry
def forget(bound: Address, given: Address, count: int) -> Address:
    """Let Python forget the runs that are over: `forget()`."""
    api = load(bound + PYTHON_BYTES)
    forget_over(load(bound + PYTHON_BYTES + 8), api)
    return shared(api, load(api + PYTHON_NONE))


@entry
def request_done(context: Address, request: Address, told: int) -> None:
    """PROCESS_REQUEST_DONE: tell Python that a run is over, or let it forget the run."""
    process = load(context + CONTEXT_PROCESS)
    api = load(process + PROCESS_PYTHON)
    lock = call1(load(api + PYTHON_ENSURE), 0)
    if told == REQUEST_HEARD:
        given = need_block(context, 8)
        store(given, call1(load(api + PYTHON_MAKE_INT), request))
        done = load(api + PYTHON_REQUEST_DONE)
        said = call4(load(api + PYTHON_CALL), done, given, 1, 0)
        if said == 0:
            call1(load(api + PYTHON_UNRAISABLE), done)
        else:
            call1(load(api + PYTHON_DROP), said)
        call1(load(api + PYTHON_DROP), load(given))
        give_block(context, given, 8)
    else:
        store_release(request + REQUEST_OPEN, 0)
        add_over(process, request)
        forget_over(process, api)
    call1(load(api + PYTHON_RELEASE), lock)


@native
def forget_over(process: Address, api: Address) -> None:
    """Let Python forget the runs that are over.  With the GIL."""
    request = take_over(process)
    if request == 0:
        return
    requests = load(api + PYTHON_REQUESTS)
    while request != 0:
        # Read first: the request may die with its Python object.
        following = load(request + REQUEST_NEXT)
        key = call1(load(api + PYTHON_MAKE_INT), request)
        call2(load(api + PYTHON_FORGET), requests, key)
        call1(load(api + PYTHON_DROP), key)
        request = following
    is_much = load_acquire(process + PROCESS_HELD) > KEPT_AT_REST
    if is_much and call1(load(api + PYTHON_DICT_SIZE), requests) == 0:
        trim(process, KEPT_AT_REST)
