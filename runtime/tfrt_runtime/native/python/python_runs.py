"""Python functions for runs, from a call's arguments to the end of the run (`python_entries`).

    tfrt.call     at_once        a kernel of numbers runs now, without a run; returns the address of
                                 its result

    Program.run   launch         the words of a request, a `bytes`; a task that starts its call,
        |                        in QUEUE_STARTED
    result()      first, end     `python_waits`: this thread works until the result is available
        |                        or the run is over
    last kernel   leave_request  REQUEST_NOTIFY = 0: no GIL; the request goes to PROCESS_OVER, a
        |                        stack
        |                        NOTIFY_PYTHON or NOTIFY_FORGET: `request_done`, which takes the GIL
        v
    next call     forget_over    with the GIL: Python forgets the runs of that stack
    from Python

    __del__       leave          the Python object of a run dies: NOTIFY_FORGET, if the run is not
                                 over

Python's collector does not examine a run while the table of runs holds it; see `python_shortcuts`.

In an unusual case, each function returns the object MISSING or None, and Python code then handles
the case.  The words bound to each function are the addresses of the table of CPython functions, of
the process, and of MISSING.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    drop_reference,
    is_available,
    new_available,
    resolve,
)
from tfrt_runtime.native.calls.activation import add_over
from tfrt_runtime.native.cells import give_block, need_block
from tfrt_runtime.native.memory import (
    Address,
    bound_words,
    call1,
    call2,
    call3,
    call4,
    compare_and_swap,
    entry,
    fetch_add,
    futex_wait,
    load,
    load_acquire,
    native,
    store,
    store_release,
    take_all,
)
from tfrt_runtime.native.python.python_calls import start_call_with
from tfrt_runtime.native.python.python_entries import (
    hold,
    is_one_of,
    put,
    shared,
    word,
    word_attribute,
)
from tfrt_runtime.native.python.python_shortcuts import be_tracked, be_untracked, caller_context
from tfrt_runtime.native.trimming import keep_few, trim_at_rest

TURN_RUNS = 128
"""The number of runs that one thread starts before it lets other threads start runs.

A turn takes about a quarter of a millisecond.
"""
TURNS = 16
"""If a thread takes this many turns in a row, the other threads are no longer starting runs."""
WAKE_UP_NS = 50_000


@native
def context_of(api: Address, queue: Address) -> Address:
    """Return the context of this thread; the caller must hold the GIL.

    Return 0 with an exception set if this fails.
    """
    thread = call1(load(api + at.PYTHON_THREAD), 0)
    if load(queue + at.QUEUE_THREAD) == thread:
        return load(queue + at.QUEUE_CONTEXT)
    answer = call4(load(api + at.PYTHON_CALL), load(queue + at.QUEUE_FIND), 0, 0, 0)
    if answer == 0:
        return 0
    context = call1(load(api + at.PYTHON_READ_WORD), answer)
    call1(load(api + at.PYTHON_DROP), answer)
    # Another thread may have run this code in the meantime. The GIL protects the words below.
    # Another thread uses this queue, too, so the threads take turns from now on.
    if load(queue + at.QUEUE_THREAD) != 0:
        store(queue + at.QUEUE_TURN, TURN_RUNS * TURNS)
    store(queue + at.QUEUE_CONTEXT, context)
    store(queue + at.QUEUE_THREAD, thread)
    return context


@native
def take_turns(api: Address, queue: Address) -> None:
    """Before a run starts, release the GIL from time to time for other threads that start runs.

    CPython lets a thread keep the GIL for 5 ms while other threads wait: with eight threads, each
    would wait for 35 ms.  A short run rarely releases the GIL by itself.
    """
    left = load(queue + at.QUEUE_TURN) - 1
    if left < 0:
        return
    store(queue + at.QUEUE_TURN, left)
    if left % TURN_RUNS == 0:
        thread = call1(load(api + at.PYTHON_SAVE), 0)
        # Give another thread time to wake up and take the GIL. Otherwise, this thread would take it
        # back immediately. If another thread has already changed QUEUE_TURN, this thread does not
        # sleep.
        futex_wait(queue + at.QUEUE_TURN, left, WAKE_UP_NS)
        call1(load(api + at.PYTHON_RESTORE), thread)


@entry
def launch(bound: Address, given: Address, count: int) -> Address:
    """Start a run.

    The call is `launch(run, queue, template, cancelled value, store of tensors, arguments,
    starts)`.  The function sets the attribute `words` of the new object `run` to the run's words (a
    request).  From then on, Python can find the run by the address of these words.  `starts` is one
    of:

    - 0: start nothing.  Arguments that are tensors are borrowed.
    - 1: start the call as a task.
    - 2: start the call as a task, and forget the run when it is over, as after `leave`.

    The function returns MISSING, and changes nothing, if an argument is not an ordinary value of
    its type or the number of arguments is wrong.
    """
    words = bound_words(bound)
    api, process, missing = load(words), load(words + 8), load(words + 16)
    queue = word(api, given, 1)
    # Take turns first: while this thread does not hold the GIL, another thread may change
    # QUEUE_CONTEXT.
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
    request = call1(load(api + at.PYTHON_BYTES), made)
    place = request + at.REQUEST_SIZE
    for i in range(wanted):
        if not put(api, place, call2(load(api + at.PYTHON_TUPLE_ITEM), arguments, i)):
            # Nothing else must be undone, because `put` only borrows objects.
            call1(load(api + at.PYTHON_DROP), made)
            return shared(api, missing)
        place += 8 * at.ARGUMENT_WORDS
    is_carried = load(template + at.TEMPLATE_CARRIES) == 0 or carry(
        api, process, run, request, made
    )
    is_known = is_carried and note(api, run, request, made)
    # The attribute `words` of the run keeps them alive from now on.
    call1(load(api + at.PYTHON_DROP), made)
    if not is_known:
        return 0
    for i in range(wanted):
        place = request + at.REQUEST_SIZE + 8 * at.ARGUMENT_WORDS * i
        if load(place) == at.TYPE_OBJECT:  # do this last, when nothing can fail
            hold(process, api, load(place + 8))
    store(request + at.REQUEST_CANCELLED_VALUE, word(api, given, 3))
    store(request + at.REQUEST_STORE, word(api, given, 4))
    store(request + at.REQUEST_NUMBER, next_number(process))
    starts = word(api, given, 6)
    if starts == 2:
        # A plain store suffices: no thread works for the run yet.
        store(request + at.REQUEST_NOTIFY, at.NOTIFY_FORGET)
    if starts != 0:
        start_call_with(context, load(template + at.TEMPLATE_FUNCTION), request, 1)
    return shared(api, load(api + at.PYTHON_NONE))


@native
def note(api: Address, run: Address, request: Address, made: Address) -> bool:
    """Give a run its words, and register the run under the words' address.

    Return False with an exception set if this fails.
    """
    key = call1(load(api + at.PYTHON_MAKE_INT), request)
    # CPython returns 32-bit ints, which are not 0 if Python is out of memory.
    failed = call3(load(api + at.PYTHON_SET), run, load(api + at.PYTHON_NAME_WORDS), made) << 32
    failed |= call3(load(api + at.PYTHON_SET), run, load(api + at.PYTHON_NAME_ADDRESS), key) << 32
    if failed == 0:
        failed = call3(load(api + at.PYTHON_NOTE), load(api + at.PYTHON_REQUESTS), key, run) << 32
    call1(load(api + at.PYTHON_DROP), key)
    be_untracked(api, run)
    return failed == 0


@native
def carry(api: Address, process: Address, run: Address, request: Address, made: Address) -> bool:
    """Give a run a copy of this thread's contextvars context.

    Return False with an exception set if this fails.
    """
    carried = caller_context(api, process)
    if carried == 0:
        return False
    failed = call3(load(api + at.PYTHON_SET), run, load(api + at.PYTHON_NAME_CALLER), carried) << 32
    call1(load(api + at.PYTHON_DROP), carried)  # the run now holds the context
    store(request + at.REQUEST_CALLER, carried)
    store(request + at.REQUEST_WORDS, made)
    return failed == 0


@entry
def adopt(bound: Address, given: Address, count: int) -> Address:
    """Register a run whose words already exist: `adopt(run, words, carries)`."""
    words = bound_words(bound)
    api, process = load(words), load(words + 8)
    run, made = load(given), load(given + 8)
    request = call1(load(api + at.PYTHON_BYTES), made)
    if word(api, given, 2) != 0 and not carry(api, process, run, request, made):
        return 0
    store(request + at.REQUEST_NUMBER, next_number(process))
    if not note(api, run, request, made):
        return 0
    return shared(api, load(api + at.PYTHON_NONE))


@entry
def at_once(bound: Address, given: Address, count: int) -> Address:
    """Run a kernel on numbers, without a run: `at_once(queue, kernel, template, arguments)`.

    `template` is the template of a function that calls the kernel.  Return the address of the only
    result as an int, or the addresses of several results as words in a `bytes`.  The caller gets a
    reference to each result.

    Return MISSING, and change nothing, in the same cases as `launch`.  Also return MISSING if an
    argument is an unavailable value, the kernel fails, this thread is running a kernel, or
    schedules are being explored.
    """
    words = bound_words(bound)
    api, missing = load(words), load(words + 16)
    queue, template = word(api, given, 0), word(api, given, 2)
    take_turns(api, queue)
    context, arguments = context_of(api, queue), load(given + 24)
    if context == 0:
        return 0
    wanted = load(template + at.TEMPLATE_ARGUMENTS)
    # A kernel that is running on this thread uses the frame that this function would fill.
    is_busy = load(context + at.CONTEXT_EPOCH) & 1 != 0 or load(queue + at.QUEUE_CHOOSE) != 0
    if is_busy or call1(load(api + at.PYTHON_TUPLE_SIZE), arguments) != wanted:
        return shared(api, missing)
    types = template + at.TEMPLATE_WORDS
    frame, results = load(context + at.CONTEXT_ARGUMENTS), load(context + at.CONTEXT_RESULTS)
    made = 0
    while made < wanted:
        kind = load(types + at.REQUEST_SIZE + 8 * at.ARGUMENT_WORDS * made)
        value = number_value(
            context, api, kind, call2(load(api + at.PYTHON_TUPLE_ITEM), arguments, made)
        )
        if value == 0:
            break
        store(frame + 8 * made, value)
        made += 1
    store(results, 0)
    if made == wanted:
        store(context + at.CONTEXT_REQUEST, 0)
        # The record is 0: there is no run to which `frame.fail` could report an error.
        call2(word(api, given, 1), context, 0)
    for i in range(made):
        drop_reference(context, load(frame + 8 * i))
    # A kernel that fails sets no result at all, so checking the first one suffices.
    if load(results) == 0:
        return shared(api, missing)
    count_made = load(template + at.TEMPLATE_RESULTS)
    if count_made == 1:
        return call1(load(api + at.PYTHON_MAKE_INT), load(results))
    return call2(load(api + at.PYTHON_NEW_BYTES), results, 8 * count_made)


@native
def number_value(context: Address, api: Address, payload_type: int, item: Address) -> Address:
    """Return a new reference to the value of a Python number or of an AsyncValue.

    Return 0 if the object is neither an ordinary number of type `payload_type` nor an available
    AsyncValue of that type.
    """
    place = need_block(context, 8 * at.ARGUMENT_WORDS)
    store(place, payload_type)
    value = 0
    if put(api, place, item):
        value = new_available(context, payload_type)
        store(value + at.VALUE_PAYLOAD, load(place + 8))
    elif is_one_of(api, item, at.PYTHON_VALUE):
        value = available_of(api, item, payload_type)
    give_block(context, place, 8 * at.ARGUMENT_WORDS)
    return value


@native
def available_of(api: Address, item: Address, payload_type: int) -> Address:
    """Return a new reference to the concrete value of an AsyncValue's Python object.

    Return 0 if the value is unavailable, an error, or of another type.
    """
    # The address is 0 while the object is being destroyed.
    value = word_attribute(api, item, load(api + at.PYTHON_NAME_VALUE))
    if value == 0 or not is_available(value):
        return 0
    value = resolve(value)
    is_type = load(value + at.VALUE_KIND) >> 8 == payload_type
    if not is_type or load_acquire(value + at.VALUE_STATE) & at.STATE_BITS != at.CONCRETE:
        return 0
    add_references(value, 1)
    return value


@entry
def next_number(process: Address) -> int:
    """Return a number for a new run."""
    return fetch_add(process + at.PROCESS_RUNS, 1) + 1


@entry
def leave(bound: Address, given: Address, count: int) -> Address:
    """Handle the destruction of a run's Python object: `leave(queue, request, template)`.

    Drop the object's references to its results.  If `template` is 0, the object has none.  If the
    run is not over, Python forgets it when a thread ends the run.
    """
    words = bound_words(bound)
    api, process = load(words), load(words + 8)
    context, request = context_of(api, word(api, given, 0)), word(api, given, 1)
    if context == 0:
        return 0
    template = word(api, given, 2)
    if template != 0:
        results = request + load(template + at.TEMPLATE_FIRST)
        for i in range(load(template + at.TEMPLATE_RESULTS)):
            drop_reference(context, load(results + 8 * i))
    # If the word is not 0, Python forgets the run anyway, or has already forgotten it.
    compare_and_swap(request + at.REQUEST_NOTIFY, 0, at.NOTIFY_FORGET)
    forget_over(process, context, api)
    return shared(api, load(api + at.PYTHON_NONE))


@entry
def forget(bound: Address, given: Address, count: int) -> Address:
    """Let Python forget finished runs: `forget()`, or `forget(queue)`.

    With `queue`, also free unused memory if necessary.
    """
    words = bound_words(bound)
    api, process = load(words), load(words + 8)
    context = 0
    if count != 0:
        context = context_of(api, word(api, given, 0))
        if context == 0:
            return 0
    forget_over(process, context, api)
    return shared(api, load(api + at.PYTHON_NONE))


@entry
def request_done(context: Address, request: Address, notify: int) -> None:
    """PROCESS_REQUEST_DONE: a run is over; call Python, or let Python forget the run."""
    process = load(context + at.CONTEXT_PROCESS)
    api = load(process + at.PROCESS_PYTHON)
    lock = call1(load(api + at.PYTHON_ENSURE), 0)
    if notify == at.NOTIFY_PYTHON:
        given = need_block(context, 8)
        store(given, call1(load(api + at.PYTHON_MAKE_INT), request))
        done = load(api + at.PYTHON_REQUEST_DONE)
        said = call4(load(api + at.PYTHON_CALL), done, given, 1, 0)
        if said == 0:
            # The caller is the run loop, which cannot handle an exception.
            call1(load(api + at.PYTHON_UNRAISABLE), done)
        else:
            call1(load(api + at.PYTHON_DROP), said)
        call1(load(api + at.PYTHON_DROP), load(given))
        give_block(context, given, 8)
    else:
        # Clear the word first: `forget_over` may free the request.
        store_release(request + at.REQUEST_OPEN, 0)
        add_over(process, request)
        forget_over(process, context, api)
    call1(load(api + at.PYTHON_RELEASE), lock)


@native
def forget_over(process: Address, context: Address, api: Address) -> None:
    """Let Python forget finished runs; the caller must hold the GIL.

    If `context`, this thread's context, is not 0, also free unused memory.
    """
    request = take_all(process + at.PROCESS_OVER)
    if request == 0:
        return
    requests = load(api + at.PYTHON_REQUESTS)
    while request != 0:
        # Read this first: the request may be freed together with its Python object.
        following = load(request + at.REQUEST_NEXT)
        key = call1(load(api + at.PYTHON_MAKE_INT), request)
        run = call2(load(api + at.PYTHON_FIND), requests, key)
        if run != 0:  # other objects may refer to the run, so it may be part of a cycle
            be_tracked(api, run)
        # This may destroy the run, so `be_tracked` comes first.
        call2(load(api + at.PYTHON_FORGET), requests, key)
        call1(load(api + at.PYTHON_DROP), key)
        request = following
    if context == 0:
        return
    # This thread may not start another run for a long time.
    keep_few(context)
    is_much = load_acquire(process + at.PROCESS_HELD) > at.KEPT_AT_REST
    if is_much and call1(load(api + at.PYTHON_DICT_SIZE), requests) == 0:
        trim_at_rest(context)
