"""Kernels that are plain functions of Python, called through CPython's own interface.

The words of the record's data: the function, what finishes in Python what is not ordinary, how many
arguments and attributes there are, the payload type of the result and its bits if it is an integer; then
the payload type of each argument, 0 for what its value says, and each attribute.  The function, what
finishes, and the attributes are addresses of Python objects, which the loaded program holds.  A result of
type TYPE_OBJECT has the class that it must be in the place of the bits, or 0.

A block has the objects that the function is given, and behind them three words for what it raises.

A Python kernel runs in a context of `contextvars` of its own, as `asyncio.to_thread` has it:

    start of the run   launch      RUN_CALLER: a copy of the caller's context, if the program calls Python
          |
    each kernel        enter_run   RUN_SPARE, or a new copy of RUN_CALLER, in which RUN is the run
          |            the function is called
                       leave_run   the copy is the spare one, unless the kernel has set a variable in it

So no kernel sees what another one sets, whichever thread it runs on.  A thread that entered the context once and kept it
from kernel to kernel would save two calls of a few nanoseconds each, but would have to leave it wherever it returns to
code of Python, and what a kernel sets would reach those that happen to follow it on its thread.
"""

from __future__ import annotations

import math

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import python_layouts as py
from tfrt_runtime.native.calls.frame import (
    argument,
    attribute,
    new_result,
    payload_type,
    run_in_python,
    set_chain,
    set_word,
)
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.memory import (
    Address,
    call1,
    call2,
    call3,
    call4,
    call_f64,
    entry,
    load,
    load_acquire,
    load_f32,
    load_f64,
    load_i32,
    load_pointer,
    native,
    outline,
    store,
    store_f32,
    store_f64,
    store_pointer,
)
from tfrt_runtime.native.python.python_entries import hold, slot, type_of

FUNCTION, FINISH, ARGUMENTS, ATTRIBUTES, RESULT_TYPE, RESULT_BITS = range(6)
FIRST_TYPE = 6
RAISED_WORDS = 3
TOO_LARGE = 2.0**128 - 2.0**103
"""The least number that an `f32` rounds to infinity."""


@native
def python_object(api: Address, value: Address, payload_type: int) -> Address:
    """The payload of a value as a new reference to a Python object; 0 with an exception."""
    payload = value + at.VALUE_PAYLOAD
    if payload_type == at.TYPE_OBJECT:
        call1(load(api + py.PYTHON_ADD), load(payload))
        return load(payload)
    if payload_type == at.TYPE_CHAIN:
        call1(load(api + py.PYTHON_ADD), load(api + py.PYTHON_CHAIN))
        return load(api + py.PYTHON_CHAIN)
    if payload_type > at.TYPE_I64 and payload_type != at.TYPE_F32 and payload_type != at.TYPE_F64:
        return read_in_python(api, value)
    if payload_type == at.TYPE_F64:
        return call_f64(load(api + py.PYTHON_MAKE_FLOAT), load_f64(payload))
    if payload_type == at.TYPE_F32:
        return call_f64(load(api + py.PYTHON_MAKE_FLOAT), load_f32(payload))
    if payload_type == at.TYPE_I1:
        return call1(load(api + py.PYTHON_MAKE_BOOL), load(payload) & 1)
    number = load(payload)
    if payload_type == at.TYPE_I32:
        number = load_i32(payload)
    elif payload_type == at.TYPE_I8:
        number = ((number & 0xFF) ^ 0x80) - 0x80
    elif payload_type == at.TYPE_I16:
        number = ((number & 0xFFFF) ^ 0x8000) - 0x8000
    return call1(load(api + py.PYTHON_MAKE_INT), number)


@outline
def read_in_python(api: Address, value: Address) -> Address:
    """The payload of a value as Python makes an object of it."""
    number = call1(load(api + py.PYTHON_MAKE_INT), value)
    if number == 0:
        return 0
    made = call2(load(api + py.PYTHON_CALL_ONE), load(api + py.PYTHON_READ), number)
    call1(load(api + py.PYTHON_DROP), number)
    return made


@native
def is_too_large(number: float) -> bool:
    """Whether a number would be infinite as an `f32`, and is not."""
    return abs(number) >= TOO_LARGE and abs(number) < math.inf


@native
def take_object(context: Address, record: Address, api: Address, returned: Address) -> bool:
    """Set the result to an object that the function returned; False if that may mean something else."""
    wanted = attribute(record, RESULT_BITS)
    type_object = type_of(api, returned)
    if type_object != load(api + py.PYTHON_STR):
        if wanted != 0 or type_object == load(api + py.PYTHON_COROUTINE):
            return False
        is_case = (
            call2(load(api + py.PYTHON_IS_INSTANCE), returned, load(api + py.PYTHON_CASES)) << 32
        )
        if is_case < 0:  # it raised; so it does in Python, which asks again
            call1(load(api + py.PYTHON_CLEAR), 0)
        if is_case != 0:
            return False
    held = hold(load(context + at.CONTEXT_PROCESS), api, returned)
    set_word(context, 0, at.TYPE_OBJECT, held)
    return True


@native
def take_result(
    context: Address, record: Address, api: Address, returned: Address, scratch: Address
) -> bool:
    """Set the result to what the function returned; False if that is no ordinary value of its type."""
    result_type = attribute(record, RESULT_TYPE)
    if result_type == at.TYPE_UNKNOWN:
        return False
    if result_type == at.TYPE_OBJECT:
        return take_object(context, record, api, returned)
    type_object = type_of(api, returned)
    if result_type == at.TYPE_CHAIN:
        if returned != load(api + py.PYTHON_NONE):
            return False
        set_chain(context, 0)
        return True
    if result_type == at.TYPE_F64 or result_type == at.TYPE_F32:
        if type_object != load(api + py.PYTHON_FLOAT):
            return False
        number = load_f64(returned + load(api + py.PYTHON_FLOAT_NUMBER))
        if result_type == at.TYPE_F32 and is_too_large(number):
            return False
        place = new_result(context, 0, result_type)
        store(place, 0)
        if result_type == at.TYPE_F64:
            store_f64(place, number)
        else:
            store_f32(place, number)
        return True
    if type_object != load(api + py.PYTHON_INT):
        return False
    whole = call2(load(api + py.PYTHON_READ_INT), returned, scratch)
    shift = 64 - attribute(record, RESULT_BITS)
    if load_i32(scratch) != 0 or (whole << shift) >> shift != whole:
        return False
    set_word(context, 0, result_type, whole)
    return True


@native
def finish_in_python(
    context: Address, record: Address, api: Address, returned: Address, raised: Address
) -> None:
    """Let Python have what the function returned, or what it has raised (`returned` is 0)."""
    none = load(api + py.PYTHON_NONE)
    if returned == 0:
        call3(load(api + py.PYTHON_FETCH), raised, raised + 8, raised + 16)
        call3(load(api + py.PYTHON_NORMALIZE), raised, raised + 8, raised + 16)
        if load(raised + 16) != 0:
            call2(load(api + py.PYTHON_SET_TRACEBACK), load(raised + 8), load(raised + 16))
    given = take_block(context, 24)
    if given != 0:
        store(given, call1(load(api + py.PYTHON_MAKE_INT), context))
        store(given + 8, returned if returned != 0 else none)
        store(given + 16, load(raised + 8) if returned == 0 else none)
        finish = attribute(record, FINISH)
        said = call4(load(api + py.PYTHON_CALL), finish, given, 3, 0)
        if said == 0:
            call1(load(api + py.PYTHON_UNRAISABLE), finish)
        else:
            call1(load(api + py.PYTHON_DROP), said)
        call1(load(api + py.PYTHON_DROP), load(given))
        give_block(context, given, 24)
    if returned == 0:
        for i in range(RAISED_WORDS):
            if load(raised + 8 * i) != 0:
                call1(load(api + py.PYTHON_DROP), load(raised + 8 * i))


@native
def enter_run(context: Address, api: Address) -> Address:
    """Let this thread work in a context of the run whose kernel it runs; that context, owned, for `leave_run`.

    0 if the run carries none.  With the GIL, and no exception set.
    """
    request = load(context + at.CONTEXT_REQUEST)
    run = load(request + at.REQUEST_RUN) if request != 0 else 0
    if run == 0:
        return 0
    slots = run + load(api + py.PYTHON_FIRST_SLOT)
    entered = load_pointer(slot(slots, py.RUN_SPARE))
    store_pointer(slot(slots, py.RUN_SPARE), 0)
    if entered == 0:
        entered = new_context(api, slots)
    if entered != 0:
        call1(load(api + py.PYTHON_ENTER), entered)
    return entered


@outline
def new_context(api: Address, slots: Address) -> Address:
    """A new context for a kernel of a run; 0 if Python has no memory for it."""
    made = call1(load(api + py.PYTHON_COPY_CONTEXT), load_pointer(slot(slots, py.RUN_CALLER)))
    if made != 0:
        call1(load(api + py.PYTHON_ENTER), made)
        token = call2(
            load(api + py.PYTHON_SET_VARIABLE), load(api + py.PYTHON_RUN), load_pointer(slots)
        )
        call1(load(api + py.PYTHON_EXIT), made)
        call1(load(api + py.PYTHON_DROP), token)
        keep_mapping(api, slots, mapping_of(api, made))
    call1(load(api + py.PYTHON_CLEAR), 0)
    return made


@native
def mapping_of(api: Address, entered: Address) -> Address:
    """The mapping of a context, borrowed: another object once a variable was set.  0 if it is not known where."""
    place = load(api + py.PYTHON_VARIABLES)
    return load_pointer(entered + place) if place != 0 else 0


@native
def keep_mapping(api: Address, slots: Address, mapping: Address) -> None:
    """Let RUN_MAPPING be `mapping`: while the slot holds it, no other one has its address."""
    former = load_pointer(slot(slots, py.RUN_MAPPING))
    call1(load(api + py.PYTHON_ADD), mapping)
    store_pointer(slot(slots, py.RUN_MAPPING), mapping)
    call1(load(api + py.PYTHON_DROP), former)


@native
def leave_run(context: Address, api: Address, request: Address, entered: Address) -> None:
    """Leave the context that `enter_run` returned for a kernel of a run."""
    if entered == 0:
        return
    call1(load(api + py.PYTHON_EXIT), entered)
    slots = load(request + at.REQUEST_RUN) + load(api + py.PYTHON_FIRST_SLOT)
    mapping, activation = (
        load_pointer(slot(slots, py.RUN_MAPPING)),
        load(context + at.CONTEXT_ACTIVATION),
    )
    # There may be very many runs, and Python's collector looks at each context.
    is_last = load_acquire(activation + at.ACTIVATION_REMAINING) == 1
    is_last = is_last and load(activation + at.ACTIVATION_RETURN) == at.RETURN_ROOT
    is_unchanged = mapping != 0 and mapping == mapping_of(api, entered)
    if is_unchanged and not is_last and load_pointer(slot(slots, py.RUN_SPARE)) == 0:
        store_pointer(slot(slots, py.RUN_SPARE), entered)
        return
    if is_last:
        keep_mapping(api, slots, 0)
    call1(load(api + py.PYTHON_DROP), entered)


@entry
def run_framed(context: Address, record: Address) -> None:
    """PROCESS_PYTHON_KERNEL: let Python have the frame, within a context of the run."""
    process = load(context + at.CONTEXT_PROCESS)
    api, request = load(process + at.PROCESS_PYTHON), load(context + at.CONTEXT_REQUEST)
    lock = call1(load(api + py.PYTHON_ENSURE), 0)
    entered = enter_run(context, api)
    call2(load(process + at.PROCESS_CALL_PYTHON), context, record)
    leave_run(context, api, request, entered)
    call1(load(api + py.PYTHON_RELEASE), lock)


@native
def is_ordinary(context: Address, record: Address) -> bool:
    """Whether the arguments are of the types that the function is called with."""
    for i in range(attribute(record, ARGUMENTS)):
        wanted = attribute(record, FIRST_TYPE + i)
        if wanted != 0 and payload_type(context, i) != wanted:
            return False
    return True


@entry
def run(context: Address, record: Address) -> None:
    """Call the function on the frame; what is not ordinary is left to Python."""
    api = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_PYTHON)
    interrupts = load(api + py.PYTHON_INTERRUPTS)
    is_main = load(context + at.CONTEXT_MAIN) != 0
    count = attribute(record, ARGUMENTS)
    total = count + attribute(record, ATTRIBUTES)
    given = 0
    is_interrupted = is_main and load(interrupts + py.INTERRUPTS_NOTED) != 0
    if not is_interrupted and is_ordinary(context, record):
        given = take_block(context, 8 * (total + RAISED_WORDS))
    if given == 0:
        run_in_python(context, record)
        return
    raised = given + 8 * total
    request = load(context + at.CONTEXT_REQUEST)
    lock = call1(load(api + py.PYTHON_ENSURE), 0)
    entered = enter_run(context, api)
    made = 0
    while made < count:
        value = argument(context, made)
        number = python_object(api, value, load(value + at.VALUE_KIND) >> 8)
        if number == 0:
            break
        store(given + 8 * made, number)
        made += 1
    for i in range(count, total):
        store(given + 8 * i, attribute(record, FIRST_TYPE + i))
    returned = 0
    if made == count:
        # Within, an interrupt is the function's: the main thread's handler raises it there.
        if is_main:
            store(interrupts + py.INTERRUPTS_MAY_RAISE, 1)
        returned = call4(load(api + py.PYTHON_CALL), attribute(record, FUNCTION), given, total, 0)
        if is_main:
            store(interrupts + py.INTERRUPTS_MAY_RAISE, 0)
    for i in range(made):
        call1(load(api + py.PYTHON_DROP), load(given + 8 * i))
    is_over = False
    if returned != 0:
        is_over = take_result(context, record, api, returned, raised)
    if not is_over:
        finish_in_python(context, record, api, returned, raised)
    if returned != 0:
        call1(load(api + py.PYTHON_DROP), returned)
    leave_run(context, api, request, entered)
    call1(load(api + py.PYTHON_RELEASE), lock)
    give_block(context, given, 8 * (total + RAISED_WORDS))
