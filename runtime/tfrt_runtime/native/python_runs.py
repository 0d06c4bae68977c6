"""Runs from Python, from the arguments of a call to its result: functions of Python (`python_entries`).

    at_once  runs a kernel of numbers now, without a run, and returns its result as an address
    launch   makes the words of a request, a `bytes`; Python knows the run then, and its call may start
    first    works for the only result of a run, and returns it as a Python object
    result   the same for any value
    end      works for a run until nothing of it is left
    leave    the Python object of a run dies

Each returns the object MISSING, or None, where something is not ordinary: Python does it then.  The words bound
to each are the address of the table of CPython's functions, that of the process, and that of MISSING.

When nothing of a run is left, either Python hears of that, if it wants to (REQUEST_HEARD), or the
request goes to the stack PROCESS_OVER, without the GIL; the next thread that passes here with the GIL lets
Python forget the run.  If the run has no Python object any more (REQUEST_LEFT), that is the same thread.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_reference,
    is_available,
    is_object,
    new_available,
    resolve,
)
from tfrt_runtime.native.calls.endings import add_over
from tfrt_runtime.native.calls.executor import (
    WAITERS_BUDGET,
    run_ready_entry,
    run_task,
    work,
)
from tfrt_runtime.native.cells import KEPT_AT_REST, give_block, need_block, trim_at_rest
from tfrt_runtime.native.kernels.python_functions import is_too_large, python_object
from tfrt_runtime.native.memory import (
    Address,
    call1,
    call2,
    call3,
    call4,
    compare_and_swap,
    entry,
    fetch_add,
    futex_wait,
    inline,
    load,
    load_acquire,
    load_f64,
    load_i32,
    native,
    now,
    pause,
    store,
    store_f32,
    store_f64,
    store_release,
)
from tfrt_runtime.native.python_calls import ARGUMENT_WORDS, start_call_with
from tfrt_runtime.native.python_objects import hold
from tfrt_runtime.native.queues.sharing import SLICE_NS, give_way, hand_over
from tfrt_runtime.native.queues.starting import take_start
from tfrt_runtime.native.queues.tasks import (
    begin_seeking,
    end_seeking,
    has_task,
    keep_injected,
    take_pending,
    turn,
)
from tfrt_runtime.native.stacks import take_all

LIGHT_ENTRIES = 256
"""How much a thread does that keeps the GIL: a few microseconds."""
TURN_RUNS = 256
"""Runs that a thread starts in its turn, some half a millisecond, where several threads start runs."""
TURNS = 16
"""Turns of one thread behind each other until the others are taken to have ended."""
WAKE_UP_NS = 50_000
LOOK_NS = 10_000_000
"""Python looks at the handler of SIGINT so often: see `host.interrupts`."""


@native
def word(api: Address, given: Address, index: int) -> int:
    """An argument that is an integer."""
    return call1(load(api + at.PYTHON_READ_WORD), load(given + 8 * index))


@native
def shared(api: Address, item: Address) -> Address:
    """A new reference to a Python object."""
    call1(load(api + at.PYTHON_ADD), item)
    return item


@native
def context_of(api: Address, queue: Address) -> Address:
    """The context of this thread, which has the GIL; 0 with an exception set where Python has none for it."""
    thread = call1(load(api + at.PYTHON_THREAD), 0)
    if load(queue + at.QUEUE_THREAD) == thread:
        return load(queue + at.QUEUE_CONTEXT)
    answer = call4(load(api + at.PYTHON_CALL), load(queue + at.QUEUE_FIND), 0, 0, 0)
    if answer == 0:
        return 0
    context = call1(load(api + at.PYTHON_READ_WORD), answer)
    call1(load(api + at.PYTHON_DROP), answer)
    # Another thread may have been here meanwhile.  Each writes all words before it gives the GIL away.
    if load(queue + at.QUEUE_THREAD) != 0:
        store(queue + at.QUEUE_TURN, TURN_RUNS * TURNS)
    store(queue + at.QUEUE_CONTEXT, context)
    store(queue + at.QUEUE_THREAD, thread)
    return context


@native
def take_turns(api: Address, queue: Address) -> None:
    """Before a run: now and then give the GIL to another thread that starts runs, too.

    CPython lets a thread keep it for 5 ms while others wait, and eight of them would wait for 35.  A short run
    seldom gives it away by itself.
    """
    left = load(queue + at.QUEUE_TURN) - 1
    if left < 0:
        return
    store(queue + at.QUEUE_TURN, left)
    if left % TURN_RUNS == 0:
        thread = call1(load(api + at.PYTHON_SAVE), 0)
        # The time that a thread needs to wake up: else this one would have the GIL back at once.  One that
        # comes writes the word, so that this does not sleep if it was here already.
        futex_wait(queue + at.QUEUE_TURN, left, WAKE_UP_NS)
        call1(load(api + at.PYTHON_RESTORE), thread)


@entry
def launch(bound: Address, given: Address, count: int) -> Address:
    """Make the words of a run: `launch(run, queue, template, cancelled value, store of tensors, arguments, starts)`.

    They go to the first slot of the run, an object that was just made, and Python knows it by their address
    from now on.  If `starts` is true its call starts as a task; else arguments that are tensors are borrowed.

    MISSING, and nothing has changed, if an argument is no ordinary value of its type, or there are too
    many or few.
    """
    api, process = load(bound + at.PYTHON_BYTES), load(bound + at.PYTHON_BYTES + 8)
    missing = load(bound + at.PYTHON_BYTES + 16)
    queue = word(api, given, 1)
    take_turns(api, queue)
    run, context = load(given), context_of(api, queue)
    if context == 0:
        return 0
    template, arguments = word(api, given, 2), load(given + 40)
    wanted = load(template + at.TEMPLATE_ARGUMENTS)
    if call1(load(api + at.PYTHON_TUPLE_SIZE), arguments) != wanted:
        return shared(api, missing)
    made = call2(
        load(api + at.PYTHON_NEW_BYTES),
        template + at.TEMPLATE_WORDS,
        load(template + at.TEMPLATE_SIZE),
    )
    if made == 0:
        return 0
    request = made + at.PYTHON_BYTES
    items = arguments + load(api + at.PYTHON_TUPLE_ITEMS)
    place = request + at.REQUEST_SIZE
    for i in range(wanted):
        if not put(api, place, load(items + 8 * i)):
            call1(load(api + at.PYTHON_DROP), made)
            return shared(api, missing)
        place += 8 * ARGUMENT_WORDS
    store(run + load(api + at.PYTHON_FIRST_SLOT), made)
    key = call1(load(api + at.PYTHON_MAKE_INT), request)
    # The result is an int of 32 bits: not 0 where Python has no memory for it.
    failed = call3(load(api + at.PYTHON_NOTE), load(api + at.PYTHON_REQUESTS), key, run) << 32
    call1(load(api + at.PYTHON_DROP), key)
    if failed != 0:
        return 0
    for i in range(wanted):
        place = request + at.REQUEST_SIZE + 8 * ARGUMENT_WORDS * i
        if load(place) == at.TYPE_OBJECT:  # only now: nothing is to be taken back
            hold(process, api, load(place + 8))
    store(request + at.REQUEST_CANCELLED_VALUE, word(api, given, 3))
    store(request + at.REQUEST_STORE, word(api, given, 4))
    store(request + at.REQUEST_NUMBER, next_number(process))
    if word(api, given, 6) != 0:
        start_call_with(context, load(template + at.TEMPLATE_FUNCTION), request, 1)
    return shared(api, load(api + at.PYTHON_NONE))


@entry
def at_once(bound: Address, given: Address, count: int) -> Address:
    """The result of a kernel of numbers, with a reference: `at_once(queue, kernel, template, arguments)`.

    The template is of a function that calls the kernel.  MISSING, and nothing has changed, in the cases of
    `launch`, if an argument is a value that is not available, if the kernel makes an error, and where
    the thread runs a kernel or schedules are explored.
    """
    api, missing = load(bound + at.PYTHON_BYTES), load(bound + at.PYTHON_BYTES + 16)
    queue, template = word(api, given, 0), word(api, given, 2)
    take_turns(api, queue)
    context, arguments = context_of(api, queue), load(given + 24)
    if context == 0:
        return 0
    wanted = load(template + at.TEMPLATE_ARGUMENTS)
    is_busy = load(context + at.CONTEXT_EPOCH) & 1 != 0 or load(queue + at.QUEUE_CHOOSE) != 0
    if is_busy or call1(load(api + at.PYTHON_TUPLE_SIZE), arguments) != wanted:
        return shared(api, missing)
    items, types = arguments + load(api + at.PYTHON_TUPLE_ITEMS), template + at.TEMPLATE_WORDS
    frame, results = load(context + at.CONTEXT_ARGUMENTS), load(context + at.CONTEXT_RESULTS)
    made = 0
    while made < wanted:
        kind = load(types + at.REQUEST_SIZE + 8 * ARGUMENT_WORDS * made)
        value = number_value(context, api, kind, load(items + 8 * made))
        if value == 0:
            break
        store(frame + 8 * made, value)
        made += 1
    store(results, 0)
    if made == wanted:
        store(context + at.CONTEXT_REQUEST, 0)
        call2(word(api, given, 1), context, 0)
    for i in range(made):
        drop_reference(context, load(frame + 8 * i))
    if load(results) == 0:
        return shared(api, missing)
    return call1(load(api + at.PYTHON_MAKE_INT), load(results))


@native
def number_value(context: Address, api: Address, payload_type: int, item: Address) -> Address:
    """A number of that type as a value with a reference; 0 if the object is none, and no value that is."""
    place = need_block(context, 8 * ARGUMENT_WORDS)
    store(place, payload_type)
    value = 0
    if put(api, place, item):
        value = new_available(context, payload_type)
        store(value + at.VALUE_PAYLOAD, load(place + 8))
    elif is_one_of(api, item, at.PYTHON_VALUE):
        value = available_of(api, item, payload_type)
    give_block(context, place, 8 * ARGUMENT_WORDS)
    return value


@native
def available_of(api: Address, item: Address, payload_type: int) -> Address:
    """A reference to what an AsyncValue is, if that is available and of the type; else 0."""
    # 0 while the object dies.
    value = call1(load(api + at.PYTHON_READ_WORD), load(item + load(api + at.PYTHON_FIRST_SLOT)))
    if value == 0 or not is_available(value):
        return 0
    value = resolve(value)
    is_type = load(value + at.VALUE_KIND) >> 8 == payload_type
    if not is_type or load_acquire(value + at.VALUE_STATE) & at.STATE_BITS != at.CONCRETE:
        return 0
    add_references(value, 1)
    return value


@inline
def is_one_of(api: Address, item: Address, kind: int) -> bool:
    """Whether a Python object is an instance of the class that word `kind` of PROCESS_PYTHON names."""
    type_object = load(item + load(api + at.PYTHON_TYPE))
    # The result is an int of 32 bits.
    return call2(load(api + at.PYTHON_IS_SUBTYPE), type_object, load(api + kind)) << 32 != 0


@entry
def next_number(process: Address) -> int:
    """The number of a run that begins."""
    return fetch_add(process + at.PROCESS_RUNS, 1) + 1


@native
def put(api: Address, place: Address, item: Address) -> bool:
    """Write the payload of an argument behind its type; False if it is no ordinary value of that type."""
    payload_type = load(place)
    type_object = load(item + load(api + at.PYTHON_TYPE))
    if payload_type >= at.TYPE_I8 and payload_type <= at.TYPE_I64:
        if type_object != load(api + at.PYTHON_INT):
            return False
        number = call2(load(api + at.PYTHON_READ_INT), item, place + 16)
        shift = 56
        if payload_type == at.TYPE_I16:
            shift = 48
        elif payload_type == at.TYPE_I32:
            shift = 32
        elif payload_type == at.TYPE_I64:
            shift = 0
        if load_i32(place + 16) != 0 or (number << shift) >> shift != number:
            return False
        store(place + 16, 0)
        store(place + 8, number)
        return True
    if payload_type == at.TYPE_F64 or payload_type == at.TYPE_F32:
        if type_object != load(api + at.PYTHON_FLOAT):
            return False
        number_f64 = load_f64(item + load(api + at.PYTHON_FLOAT_NUMBER))
        if payload_type == at.TYPE_F64:
            store_f64(place + 8, number_f64)
        elif is_too_large(number_f64):
            return False
        else:
            store_f32(place + 8, number_f64)
        return True
    if payload_type == at.TYPE_I1:
        if type_object != load(api + at.PYTHON_BOOL):
            return False
        store(place + 8, call1(load(api + at.PYTHON_READ_WORD), item))
        return True
    if payload_type == at.TYPE_OBJECT:
        if type_object != load(api + at.PYTHON_STR):
            return False
        store(place + 8, item)
        return True
    if payload_type == at.TYPE_TENSOR:
        return put_tensor(api, place, item)
    is_chain = item == load(api + at.PYTHON_CHAIN) or item == load(api + at.PYTHON_NONE)
    return payload_type == at.TYPE_CHAIN and is_chain


@native
def put_tensor(api: Address, place: Address, item: Address) -> bool:
    """As `put`; False for what is no tensor, or one that no native kernel has had."""
    if not is_one_of(api, item, at.PYTHON_TENSOR):
        return False
    slot = load(api + at.PYTHON_FIRST_SLOT)
    handle = load(item + slot)
    if handle == 0 or handle == load(api + at.PYTHON_NONE):
        return False
    store(place + 8, call1(load(api + at.PYTHON_READ_WORD), load(handle + slot)))
    return True


@entry
def first(bound: Address, given: Address, count: int) -> Address:
    """What the result of a run is that has one: `first(queue, template, words)`; works for it on this thread.

    MISSING in the cases of `result`, and if the run is cancelled or watched.
    """
    api, missing = load(bound + at.PYTHON_BYTES), load(bound + at.PYTHON_BYTES + 16)
    template, request = word(api, given, 1), load(given + 16) + at.PYTHON_BYTES
    payload_type = load(template + at.TEMPLATE_READS)
    if payload_type == 0 or load_acquire(request + at.REQUEST_UNUSUAL) != 0:
        return shared(api, missing)
    value = load(request + load(template + at.TEMPLATE_FIRST))
    return found(bound, context_of(api, word(api, given, 0)), value, payload_type)


@entry
def result(bound: Address, given: Address, count: int) -> Address:
    """What a value is: `result(queue, value, type of its payload)`; works for it on this thread.

    MISSING if it is unavailable when nothing is left to do, or no ordinary value of the type; and
    where this thread must not work, or a signal came.
    """
    api = load(bound + at.PYTHON_BYTES)
    context = context_of(api, word(api, given, 0))
    return found(bound, context, word(api, given, 1), word(api, given, 2))


@native
def found(bound: Address, context: Address, value: Address, payload_type: int) -> Address:
    """A new reference to what `result` returns."""
    if context == 0:
        return 0
    api, process = load(bound + at.PYTHON_BYTES), load(bound + at.PYTHON_BYTES + 8)
    missing = load(bound + at.PYTHON_BYTES + 16)
    if not is_available(value) and not work_here(context, api, value, False):
        forget_over(process, context, api)
        return shared(api, missing)
    made = object_of(api, value, payload_type)
    forget_over(process, context, api)
    if made == 0 and call1(load(api + at.PYTHON_OCCURRED), 0) == 0:
        return shared(api, missing)
    return made


@entry
def end(bound: Address, given: Address, count: int) -> Address:
    """None when nothing of a run is left: `end(queue, words)`; works for it on this thread.

    MISSING if it is not over when nothing is left to do, and in the cases of `first`.
    """
    api, process = load(bound + at.PYTHON_BYTES), load(bound + at.PYTHON_BYTES + 8)
    context, request = context_of(api, word(api, given, 0)), load(given + 8) + at.PYTHON_BYTES
    if context == 0:
        return 0
    answer = load(bound + at.PYTHON_BYTES + 16)
    if load_acquire(request + at.REQUEST_UNUSUAL) == 0 and (
        is_reached(request, True) or work_here(context, api, request, True)
    ):
        answer = load(api + at.PYTHON_NONE)
    forget_over(process, context, api)
    return shared(api, answer)


@inline
def is_reached(goal: Address, is_run: bool) -> bool:
    """Whether what a thread works for is there: the end of a run, or a value."""
    if is_run:
        return load_acquire(goal + at.REQUEST_OPEN) == 0
    return is_available(goal)


@native
def object_of(api: Address, value: Address, payload_type: int) -> Address:
    """An available value of that type as a new reference to a Python object; 0 if it is not ordinary."""
    found = resolve(value)
    kind = load(found + at.VALUE_KIND) >> 8
    is_type = kind == payload_type
    if payload_type == at.ANY_PAYLOAD:
        is_type = kind == at.TYPE_CHAIN or is_object(kind)
    if not is_type or load_acquire(found + at.VALUE_STATE) & at.STATE_BITS != at.CONCRETE:
        return 0
    return python_object(api, found, kind)


@native
def work_here(context: Address, api: Address, goal: Address, is_run: bool) -> bool:
    """Work for a value or a run on this thread, which has the GIL; whether `is_reached`, and no signal came."""
    queue = load(context + at.CONTEXT_QUEUE)
    # A thread that runs a kernel needs another context for what it runs meanwhile.
    is_busy = load(context + at.CONTEXT_EPOCH) & 1 != 0
    if (
        is_busy
        or queue == 0
        or load(queue + at.QUEUE_ASIDE) != 0
        or load(queue + at.QUEUE_CHOOSE) != 0
    ):
        return False
    interrupts = load(api + at.PYTHON_INTERRUPTS)
    is_main = load(context + at.CONTEXT_MAIN) != 0
    if is_main:
        if now() - load(interrupts + at.INTERRUPTS_LOOKED) > LOOK_NS:
            return False
        store(interrupts + at.INTERRUPTS_WAITS, load(interrupts + at.INTERRUPTS_WAITS) + 1)
    workers = load(queue + at.QUEUE_WORKERS)
    has_deque = workers != 0 and compare_and_swap(queue + at.QUEUE_HOST, 0, 1) != 0
    if has_deque:
        store(context + at.CONTEXT_DEQUE, load(load(queue + at.QUEUE_DEQUES) + 8 * (workers - 1)))
    store(context + at.CONTEXT_WORKER, max(workers - 1, 0))
    # Odd from here: while this thread may hold work the queue is not quiescent.
    turn(context)
    store(context + at.CONTEXT_PYTHON, api)
    if not work_lightly(context, goal, is_run):
        give_way(context)
        if workers != 0:
            store(context + at.CONTEXT_LEAVES, at.LEAVES_UNKNOWN)
        work_until(context, goal, is_run, now() + SLICE_NS)
        store(context + at.CONTEXT_LEAVES, 0)
    if load(context + at.CONTEXT_PYTHON) == 0:
        store(context + at.CONTEXT_DEADLINE, 0)
        call1(load(api + at.PYTHON_RESTORE), load(context + at.CONTEXT_THREAD))
    store(context + at.CONTEXT_PYTHON, 0)
    turn(context)
    is_ready = load(context + at.CONTEXT_READY) != load(context + at.CONTEXT_READY_TOP)
    if is_ready or load(context + at.CONTEXT_PENDING) != 0:
        hand_over(context)
    store(context + at.CONTEXT_WORKER, -1)
    if has_deque:
        store(context + at.CONTEXT_DEQUE, 0)
        # The last of these: the next thread takes the deque as this one leaves it.
        store_release(queue + at.QUEUE_HOST, 0)
    if is_main:
        store(interrupts + at.INTERRUPTS_WAITS, load(interrupts + at.INTERRUPTS_WAITS) - 1)
        if load(interrupts + at.INTERRUPTS_NOTED) != 0:
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
        if load(context + at.CONTEXT_PYTHON) == 0:
            return False
        top = load(context + at.CONTEXT_READY_TOP)
        if top == load(context + at.CONTEXT_READY):
            task = light_task(context)
            if task == 0:
                return False
            run_task(context, task)
        else:
            if not is_light(load(top - 16), load(top - 8)):
                return False
            # Popped before it runs: the kernel pushes its users on top.
            store(context + at.CONTEXT_READY_TOP, top - 16)
            run_ready_entry(context, load(top - 16), load(top - 8))
    return False


@native
def light_task(context: Address) -> Address:
    """The next task, if it begins a call from outside; or 0."""
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_WORKERS) != 0:
        return take_start(context)
    if load(context + at.CONTEXT_PENDING) == 0:
        keep_injected(context)
        store(context + at.CONTEXT_SPAWNED, 0)  # as `next_task` does at the begin of a round
    task = load(context + at.CONTEXT_PENDING)
    root = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_RUN_ROOT)
    return take_pending(context) if task != 0 and load(task + at.TASK_FUNCTION) == root else 0


@native
def is_light(tagged: Address, record: Address) -> bool:
    """Whether a ready entry takes no longer than a few numbers: it calls nothing, and does not block."""
    if tagged & at.READY_BITS != at.READY_KERNEL:
        return True
    long = at.KERNEL_HEAVY | at.KERNEL_BLOCKING | at.KERNEL_LASTING
    return load(record + at.RECORD_FLAGS) & long == 0 and load(record + at.RECORD_FUNCTIONS) == 0


@native
def work_until(context: Address, goal: Address, is_run: bool, deadline: int) -> None:
    """Work until the goal is reached, nothing is left to do here, or the clock says `deadline`."""
    store(context + at.CONTEXT_DEADLINE, deadline)
    while (
        not is_reached(goal, is_run)
        and load(context + at.CONTEXT_LEAVES) != at.HAS_LEFT
        and now() < deadline
    ):
        if work(context, WAITERS_BUDGET) == WAITERS_BUDGET and not seek_for(context, goal, is_run):
            break
    store(context + at.CONTEXT_DEADLINE, 0)


@native
def seek_for(context: Address, goal: Address, is_run: bool) -> bool:
    """Seek work as long as CONTEXT_SEEKING_UNTIL says, before this thread goes back to Python to sleep."""
    begin_seeking(context)
    found = False
    while not found and now() < load(context + at.CONTEXT_SEEKING_UNTIL):
        pause()
        found = has_task(context) or is_reached(goal, is_run)
    end_seeking(context)
    return found


@entry
def leave(bound: Address, given: Address, count: int) -> Address:
    """The Python object of a run dies: `leave(queue, words, template)`.

    Its references to results are dropped; with 0 for the template it has none.  If the run is not over, the
    thread that ends it lets Python forget it.
    """
    api, process = load(bound + at.PYTHON_BYTES), load(bound + at.PYTHON_BYTES + 8)
    context, request = context_of(api, word(api, given, 0)), load(given + 8) + at.PYTHON_BYTES
    if context == 0:
        return 0
    template = word(api, given, 2)
    if template != 0:
        results = request + load(template + at.TEMPLATE_FIRST)
        for i in range(load(template + at.TEMPLATE_RESULTS)):
            drop_reference(context, load(results + 8 * i))
    compare_and_swap(request + at.REQUEST_TOLD, 0, at.REQUEST_LEFT)
    forget_over(process, context, api)
    return shared(api, load(api + at.PYTHON_NONE))


@entry
def forget(bound: Address, given: Address, count: int) -> Address:
    """Let Python forget the runs that are over: `forget()`, or `forget(queue)` on a thread that may trim."""
    api, process = load(bound + at.PYTHON_BYTES), load(bound + at.PYTHON_BYTES + 8)
    context = 0
    if count != 0:
        context = context_of(api, word(api, given, 0))
        if context == 0:
            return 0
    forget_over(process, context, api)
    return shared(api, load(api + at.PYTHON_NONE))


@entry
def request_done(context: Address, request: Address, told: int) -> None:
    """PROCESS_REQUEST_DONE: tell Python that a run is over, or let it forget the run."""
    process = load(context + at.CONTEXT_PROCESS)
    api = load(process + at.PROCESS_PYTHON)
    lock = call1(load(api + at.PYTHON_ENSURE), 0)
    if told == at.REQUEST_HEARD:
        given = need_block(context, 8)
        store(given, call1(load(api + at.PYTHON_MAKE_INT), request))
        done = load(api + at.PYTHON_REQUEST_DONE)
        said = call4(load(api + at.PYTHON_CALL), done, given, 1, 0)
        if said == 0:
            call1(load(api + at.PYTHON_UNRAISABLE), done)
        else:
            call1(load(api + at.PYTHON_DROP), said)
        call1(load(api + at.PYTHON_DROP), load(given))
        give_block(context, given, 8)
    else:
        store_release(request + at.REQUEST_OPEN, 0)
        add_over(process, request)
        forget_over(process, context, api)
    call1(load(api + at.PYTHON_RELEASE), lock)


@native
def forget_over(process: Address, context: Address, api: Address) -> None:
    """Let Python forget the runs that are over.  With the GIL; `context` is this thread's, or 0."""
    request = take_all(process + at.PROCESS_OVER)
    if request == 0:
        return
    requests = load(api + at.PYTHON_REQUESTS)
    while request != 0:
        # Read first: the request may die with its Python object.
        following = load(request + at.REQUEST_NEXT)
        key = call1(load(api + at.PYTHON_MAKE_INT), request)
        call2(load(api + at.PYTHON_FORGET), requests, key)
        call1(load(api + at.PYTHON_DROP), key)
        request = following
    is_much = load_acquire(process + at.PROCESS_HELD) > KEPT_AT_REST
    if is_much and context != 0 and call1(load(api + at.PYTHON_DICT_SIZE), requests) == 0:
        trim_at_rest(context)
