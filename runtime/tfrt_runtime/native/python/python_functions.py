"""Kernels that are ordinary Python functions, called through CPython's C API.

The record's data has these words:

- The function, and a second function that handles unusual results in Python.
- The number of arguments, and the number of attributes.
- The payload type of the result, and the class that the result must have, or 0.  If the type is
  IS_VALUE, the function returns the address of an AsyncValue, with a reference, as an integer.
- The payload type of each argument, or 0 if any type is allowed.
- Each attribute.

The functions and attributes are addresses of Python objects, which the loaded program keeps alive.

`run` takes a block for the arguments, followed by three words for an exception.

A Python kernel runs in its own `contextvars` context, as a function in `asyncio.to_thread` does:

    start of the run   launch      REQUEST_CALLER: a copy of the caller's context, if the program
          |                        calls Python
    each kernel        enter_run   PYTHON_SPARE, or a new copy of REQUEST_CALLER, in which RUN is
          |                        the run
          |            the function is called
                       leave_run   the copy is the spare one, unless the kernel has set a variable
                                   in it

Therefore, no kernel sees variables that another kernel has set, on any thread.  All runs that were
started from the same context share the spare context.  Making a copy per run would take as long as
a short kernel, and Python's collector would examine each copy.

Rejected alternative: a thread that stays in the context from kernel to kernel.  This would save two
calls that take a few nanoseconds each.  However, the thread would have to leave the context at each
return to Python code.  Also, later kernels on this thread would see the variables that a kernel has
set.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import claim
from tfrt_runtime.native.calls.frame import (
    argument,
    attribute,
    payload_type,
    run_in_python,
    set_result,
    set_word,
)
from tfrt_runtime.native.cells import give_block, need_block, take_block
from tfrt_runtime.native.handles import value_emplace
from tfrt_runtime.native.memory import (
    Address,
    bound_words,
    call1,
    call2,
    call3,
    call4,
    entry,
    fetch_add,
    load,
    native,
    store,
)
from tfrt_runtime.native.python.python_entries import hold, put, python_object, type_of, word
from tfrt_runtime.native.python.python_shortcuts import has_mapping, mapping_of
from tfrt_runtime.native.queues.sharing import hand_over

FUNCTION, FINISH, ARGUMENTS, ATTRIBUTES, RESULT_TYPE, RESULT_CLASS = range(6)
FIRST_TYPE = 6
RAISED_WORDS = 3


@native
def is_plain(api: Address, wanted: Address, returned: Address) -> bool:
    """Return whether a returned object is a value as it is.

    It might also be a future, for example, or an array, whose memory counts toward the host's
    budget.  `wanted` is the class that the result must have, or 0.
    """
    type_object = type_of(api, returned)
    if type_object == load(api + at.PYTHON_STR):
        return True
    # `wanted` is either `str` or 0 (`outcomes.ordinary`), so no other type is right.
    if wanted != 0 or type_object == load(api + at.PYTHON_COROUTINE):
        return False
    is_case = call2(load(api + at.PYTHON_IS_INSTANCE), returned, load(api + at.PYTHON_CASES)) << 32
    if is_case < 0:  # the check failed; Python repeats it and reports the failure
        call1(load(api + at.PYTHON_CLEAR), 0)
    return is_case == 0 and call1(load(api + at.PYTHON_HAS_BUFFER), returned) << 32 == 0


@native
def read_result(
    api: Address, result_type: int, wanted: Address, returned: Address, place: Address
) -> bool:
    """Write the payload of a returned object to the second of the three words at `place`.

    A payload that is an object is borrowed.  Return False if the object is not an ordinary value of
    the result's type.
    """
    store(place, result_type)
    # The block's contents are undefined, and `put` does not write all bytes of every payload.
    store(place + 8, returned if result_type == at.TYPE_OBJECT else 0)
    store(place + 16, 0)
    if result_type == at.TYPE_OBJECT:
        return is_plain(api, wanted, returned)
    return put(api, place, returned)


@entry
def settle(bound: Address, given: Address, count: int) -> Address:
    """Python function: resolve a value to a returned object.

    The call is `settle(context, value, type of the result, class of the result, object)`.  Return
    False, and do nothing, if the object is not an ordinary value of the type.  If the value is
    resolved already, it stays as it is.
    """
    words = bound_words(bound)
    api, process = load(words), load(words + 8)
    context, value, result_type = word(api, given, 0), word(api, given, 1), word(api, given, 2)
    place = need_block(context, 24)
    is_ordinary = read_result(api, result_type, word(api, given, 3), load(given + 32), place)
    payload = load(place + 8)
    give_block(context, place, 24)
    if is_ordinary and claim(value):
        if result_type == at.TYPE_OBJECT:
            hold(process, api, payload)
        # A waiter may call Python code, which may release the GIL.  Without this count, the queue
        # would then seem to have no work left, although other waiters have not run yet.
        fetch_add(process + at.PROCESS_RESUMING, 1)
        value_emplace(context, value, result_type, payload, 0)
        if load(context + at.CONTEXT_EPOCH) & 1 == 0:  # this thread does not work for the queue
            hand_over(context)
        fetch_add(process + at.PROCESS_RESUMING, -1)
    return call1(load(api + at.PYTHON_MAKE_BOOL), is_ordinary)


@native
def finish_in_python(
    context: Address, record: Address, api: Address, returned: Address, raised: Address
) -> None:
    """Pass the returned object to Python, or the raised exception if `returned` is 0."""
    none = load(api + at.PYTHON_NONE)
    if returned == 0:
        call3(load(api + at.PYTHON_FETCH), raised, raised + 8, raised + 16)
        call3(load(api + at.PYTHON_NORMALIZE), raised, raised + 8, raised + 16)
        # PYTHON_FETCH takes the traceback out of the exception, where Python code expects it.
        if load(raised + 16) != 0:
            call2(load(api + at.PYTHON_SET_TRACEBACK), load(raised + 8), load(raised + 16))
    given = take_block(context, 24)
    if given != 0:
        store(given, call1(load(api + at.PYTHON_MAKE_INT), context))
        store(given + 8, returned if returned != 0 else none)
        store(given + 16, load(raised + 8) if returned == 0 else none)
        finish = attribute(record, FINISH)
        said = call4(load(api + at.PYTHON_CALL), finish, given, 3, 0)
        if said == 0:
            # The run loop, which calls this kernel, cannot handle an exception.
            call1(load(api + at.PYTHON_UNRAISABLE), finish)
        else:
            call1(load(api + at.PYTHON_DROP), said)
        call1(load(api + at.PYTHON_DROP), load(given))
        give_block(context, given, 24)
    if returned == 0:
        for i in range(RAISED_WORDS):
            if load(raised + 8 * i) != 0:
                call1(load(api + at.PYTHON_DROP), load(raised + 8 * i))


@native
def enter_run(context: Address, api: Address) -> Address:
    """Enter a contextvars context of the run whose kernel this thread is running.

    Return the context, with a reference, for `leave_run`, or 0 if the run carries no context.  The
    caller must hold the GIL, and no exception may be set.
    """
    request = load(context + at.CONTEXT_REQUEST)
    # `python_runs.at_once` runs kernels without a request.
    caller = load(request + at.REQUEST_CALLER) if request != 0 else 0
    if caller == 0:
        return 0
    words, entered, known = load(request + at.REQUEST_WORDS), 0, 0
    if caller == load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_CALLER):
        entered, known = load(api + at.PYTHON_SPARE), load(api + at.PYTHON_SPARE_WORDS)
        # A context can be entered only once at a time, so no other kernel may find this one until
        # it is left.
        store(api + at.PYTHON_SPARE, 0)
    if entered == 0:
        entered, known = call1(load(api + at.PYTHON_COPY_CONTEXT), caller), 0
    if entered != 0:
        call1(load(api + at.PYTHON_ENTER), entered)
        # If the last kernel in this context belonged to the same run, RUN is already set.
        if words != known:
            token = call2(load(api + at.PYTHON_SET_VARIABLE), load(api + at.PYTHON_RUN), words)
            call1(load(api + at.PYTHON_DROP), token)
    call1(load(api + at.PYTHON_CLEAR), 0)  # Python may have run out of memory
    return entered


@native
def leave_run(
    context: Address, api: Address, request: Address, entered: Address, mapping: Address
) -> None:
    """Leave the contextvars context that `enter_run` returned.

    `mapping` is what `mapping_of` returned for that context after it was entered.
    """
    if entered == 0:
        return
    call1(load(api + at.PYTHON_EXIT), entered)
    caller = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_CALLER)
    # Compare before dropping: after that, a new mapping may have the address `mapping`.
    is_spare = has_mapping(api, entered, mapping)
    call1(load(api + at.PYTHON_DROP), mapping)
    if (
        is_spare
        and load(api + at.PYTHON_SPARE) == 0
        and load(request + at.REQUEST_CALLER) == caller
    ):
        store(api + at.PYTHON_SPARE, entered)
        # The variable RUN in the spare context keeps these words alive, so no other run gets their
        # address.
        store(api + at.PYTHON_SPARE_WORDS, load(request + at.REQUEST_WORDS))
    else:
        call1(load(api + at.PYTHON_DROP), entered)


@entry
def run_framed(context: Address, record: Address) -> None:
    """PROCESS_PYTHON_KERNEL: have Python run the kernel in a contextvars context of the run."""
    process = load(context + at.CONTEXT_PROCESS)
    api, request = load(process + at.PROCESS_PYTHON), load(context + at.CONTEXT_REQUEST)
    lock = call1(load(api + at.PYTHON_ENSURE), 0)
    entered = enter_run(context, api)
    mapping = mapping_of(api, entered)
    call2(load(process + at.PROCESS_CALL_PYTHON), context, record)
    leave_run(context, api, request, entered, mapping)
    call1(load(api + at.PYTHON_RELEASE), lock)


@native
def is_ordinary(context: Address, record: Address) -> bool:
    """Return whether the arguments have the types in the record's data."""
    for i in range(attribute(record, ARGUMENTS)):
        wanted = attribute(record, FIRST_TYPE + i)
        if wanted != 0 and payload_type(context, i) != wanted:
            return False
    return True


@entry
def run(context: Address, record: Address) -> None:
    """Kernel: call a Python function with the arguments.

    Leave unusual arguments and results to Python code.
    """
    api = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_PYTHON)
    interrupts = load(api + at.PYTHON_INTERRUPTS)
    is_main = load(context + at.CONTEXT_MAIN) != 0
    count = attribute(record, ARGUMENTS)
    total = count + attribute(record, ATTRIBUTES)
    given = 0
    # Python code raises the interrupt before it calls the kernel's function.
    is_interrupted = is_main and load(interrupts + at.INTERRUPTS_NOTED) != 0
    if not is_interrupted and is_ordinary(context, record):
        given = take_block(context, 8 * (total + RAISED_WORDS))
    if given == 0:
        run_in_python(context, record)
        return
    raised = given + 8 * total
    request = load(context + at.CONTEXT_REQUEST)
    lock = call1(load(api + at.PYTHON_ENSURE), 0)
    entered = enter_run(context, api)
    mapping = mapping_of(api, entered)
    made = 0
    while made < count:
        value = argument(context, made)
        number = python_object(api, value, load(value + at.VALUE_KIND) >> 8)
        if number == 0:
            # The exception becomes the kernel's error, as if the function had raised it.
            break
        store(given + 8 * made, number)
        made += 1
    for i in range(count, total):
        store(given + 8 * i, attribute(record, FIRST_TYPE + i))
    returned = 0
    if made == count:
        # During the call, the main thread's handler may raise an interrupt inside the function.
        if is_main:
            store(interrupts + at.INTERRUPTS_MAY_RAISE, 1)
        returned = call4(load(api + at.PYTHON_CALL), attribute(record, FUNCTION), given, total, 0)
        if is_main:
            store(interrupts + at.INTERRUPTS_MAY_RAISE, 0)
    for i in range(made):
        call1(load(api + at.PYTHON_DROP), load(given + 8 * i))
    is_over, result_type = False, attribute(record, RESULT_TYPE)
    if returned != 0 and result_type == at.IS_VALUE:
        is_over = True
        set_result(context, 0, call1(load(api + at.PYTHON_READ_WORD), returned))
    elif returned != 0:
        # The words for an exception are free, because the function has returned.
        is_over = read_result(api, result_type, attribute(record, RESULT_CLASS), returned, raised)
        if is_over:
            if result_type == at.TYPE_OBJECT:
                hold(load(context + at.CONTEXT_PROCESS), api, returned)
            set_word(context, 0, result_type, load(raised + 8))
    if not is_over:
        finish_in_python(context, record, api, returned, raised)
    if returned != 0:
        call1(load(api + at.PYTHON_DROP), returned)
    leave_run(context, api, request, entered, mapping)
    call1(load(api + at.PYTHON_RELEASE), lock)
    give_block(context, given, 8 * (total + RAISED_WORDS))
