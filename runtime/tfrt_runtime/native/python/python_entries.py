"""The core's entries as Python functions, and the Python objects that native values refer to.

CPython calls an entry in the same way as its own built-in functions (METH_FASTCALL).  `given` is an
array of `count` borrowed objects.  The result is a new reference, or 0 with an exception set.
CPython keeps an object with each function; here, the object is an integer, the address of two words
(`bound_words`).  For a general entry (`call_with`), the words are the address of the entry and the
address of the table of CPython functions (the struct PYTHON, here called `api`).  For a function
written for Python, the words are the address of that table and the address of the process.

This module leaves all access to the fields of Python objects to CPython's functions.

The handle of an object (a payload, a diagnostic, a waiter, or a tensor's owner) is the object's
address together with a reference.  The holder of a handle owns that reference and drops it once.

`put` and `python_object` convert between Python objects and payloads.  Objects that they do not
support are converted in Python, by `host.values.fitting` and `host.payload`, which report why an
object does not fit.
"""

import math

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import (
    Address,
    bound_words,
    call1,
    call2,
    call4,
    call7,
    call_f64,
    call_for_f64,
    entry,
    inline,
    load,
    load_f32,
    load_f64,
    load_i32,
    native,
    outline,
    store,
    store_f32,
    store_f64,
)


@native
def word(api: Address, given: Address, index: int) -> int:
    """Return an argument, which must be an integer, as a word."""
    return call1(load(api + at.PYTHON_READ_WORD), load(given + 8 * index))


@native
def type_of(api: Address, item: Address) -> Address:
    """Return the type of an object, as a borrowed reference."""
    found = call1(load(api + at.PYTHON_TYPE), item)
    # The object keeps its type alive.
    call1(load(api + at.PYTHON_DROP), found)
    return found


@native
def word_attribute(api: Address, item: Address, name: Address) -> int:
    """Return an integer attribute of an object, or 0 if the attribute does not exist.

    Leave no exception set.
    """
    found = call2(load(api + at.PYTHON_GET), item, name)
    if found == 0:
        call1(load(api + at.PYTHON_CLEAR), 0)
        return 0
    number = call1(load(api + at.PYTHON_READ_WORD), found)
    call1(load(api + at.PYTHON_DROP), found)
    return number


@native
def shared(api: Address, item: Address) -> Address:
    """Add a reference to a Python object, and return the object."""
    call1(load(api + at.PYTHON_ADD), item)
    return item


@native
def word_of(api: Address, given: Address, count: int, index: int) -> int:
    """Return an argument as a word, or 0 if it is missing.

    If the argument is not an integer, return -1 with an exception set.
    """
    return word(api, given, index) if index < count else 0


@native
def call_with(bound: Address, given: Address, count: int, is_slow: bool) -> Address:
    """Call an entry with integers as its words; return its result as an integer.

    If `is_slow`, release the GIL during the call.
    """
    words = bound_words(bound)
    entry_address, api = load(words), load(words + 8)
    first = word_of(api, given, count, 0)
    second = word_of(api, given, count, 1)
    third = word_of(api, given, count, 2)
    fourth = word_of(api, given, count, 3)
    fifth = word_of(api, given, count, 4)
    sixth = word_of(api, given, count, 5)
    seventh = word_of(api, given, count, 6)
    # CPython returns -1 for an argument that is not an integer.
    is_suspect = first == -1 or second == -1 or third == -1 or fourth == -1
    is_suspect = is_suspect or fifth == -1 or sixth == -1 or seventh == -1
    if is_suspect and call1(load(api + at.PYTHON_OCCURRED), 0) != 0:
        return 0
    # An entry with fewer parameters ignores the other words.
    if is_slow:
        thread = call1(load(api + at.PYTHON_SAVE), 0)
        answer = call7(entry_address, first, second, third, fourth, fifth, sixth, seventh)
        call1(load(api + at.PYTHON_RESTORE), thread)
    else:
        answer = call7(entry_address, first, second, third, fourth, fifth, sixth, seventh)
    return call1(load(api + at.PYTHON_MAKE_INT), answer)


@entry
def call_quick(bound: Address, given: Address, count: int) -> Address:
    """Python function: call an entry while holding the GIL."""
    return call_with(bound, given, count, False)


@entry
def call_slow(bound: Address, given: Address, count: int) -> Address:
    """Python function: call an entry without the GIL."""
    return call_with(bound, given, count, True)


@native
def hold(process: Address, api: Address, item: Address) -> Address:
    """Return a new handle for an object.  The caller must hold the GIL."""
    call1(load(api + at.PYTHON_ADD), item)
    store(process + at.PROCESS_OBJECTS, load(process + at.PROCESS_OBJECTS) + 1)
    return item


@entry
def object_add(bound: Address, given: Address, count: int) -> Address:
    """Python function: return a new handle for an object."""
    words = bound_words(bound)
    api, process = load(words), load(words + 8)
    return call1(load(api + at.PYTHON_MAKE_INT), hold(process, api, load(given)))


@entry
def object_get(bound: Address, given: Address, count: int) -> Address:
    """Python function: return the object of a handle."""
    api = load(bound_words(bound))
    item = call1(load(api + at.PYTHON_READ_WORD), load(given))
    call1(load(api + at.PYTHON_ADD), item)
    return item


@entry
def object_take(bound: Address, given: Address, count: int) -> Address:
    """Python function: return the object of a handle, and release the handle."""
    words = bound_words(bound)
    api, process = load(words), load(words + 8)
    # The handle's reference becomes the caller's.
    store(process + at.PROCESS_OBJECTS, load(process + at.PROCESS_OBJECTS) - 1)
    return call1(load(api + at.PYTHON_READ_WORD), load(given))


@entry
def object_release(context: Address, item: Address) -> None:
    """PROCESS_RELEASE_OBJECT: release a handle, on a thread that need not hold the GIL."""
    process = load(context + at.CONTEXT_PROCESS)
    api = load(process + at.PROCESS_PYTHON)
    lock = call1(load(api + at.PYTHON_ENSURE), 0)
    # Update the count first: destroying the object may run user code, which may change the count,
    # too.
    store(process + at.PROCESS_OBJECTS, load(process + at.PROCESS_OBJECTS) - 1)
    call1(load(api + at.PYTHON_DROP), item)
    call1(load(api + at.PYTHON_RELEASE), lock)


@entry
def handle(bound: Address, given: Address, count: int) -> Address:
    """Python function: handle SIGINT, as `host.interrupts` describes: `handle(number, frame)`.

    If Python code defers the interrupt, this function sends the signal again.  Python code could
    not do that itself, because the interpreter would react at once, inside that same code.
    """
    api = load(bound_words(bound))
    is_later = call4(load(api + at.PYTHON_CALL), load(api + at.PYTHON_ANSWER), given, 2, 0)
    if is_later == 0:
        return 0
    if is_later == load(api + at.PYTHON_TRUE):
        call1(load(api + at.PYTHON_INTERRUPT), word(api, given, 0))
    call1(load(api + at.PYTHON_DROP), is_later)
    return shared(api, load(api + at.PYTHON_NONE))


# This is halfway between the largest `f32`, 2**128 - 2**104, and 2**128. A tie is rounded to even,
# which is infinity here.
TOO_LARGE = 2.0**128 - 2.0**103
"""The smallest number that becomes infinite when it is rounded to an `f32`."""


@native
def put(api: Address, place: Address, item: Address) -> bool:
    """Convert a Python object to the payload type at `place`, and write the payload after the type.

    The two words after the type must be 0.  A payload that is an object is borrowed.  Return False
    if the object is not an ordinary value of that type.
    """
    payload_type = load(place)
    type_object = type_of(api, item)
    if payload_type >= at.TYPE_I8 and payload_type <= at.TYPE_I64:
        # Compare the exact type: a `bool` is an `int`, too, and Python code decides about
        # subclasses.
        if type_object != load(api + at.PYTHON_INT):
            return False
        # The payload's second word, which no integer uses, has room for the overflow flag.
        number = call2(load(api + at.PYTHON_READ_INT), item, place + 16)
        shift = 64 - (8 << (payload_type - at.TYPE_I8))
        if load_i32(place + 16) != 0 or (number << shift) >> shift != number:
            return False
        store(place + 16, 0)
        store(place + 8, number)
        return True
    if payload_type == at.TYPE_F64 or payload_type == at.TYPE_F32:
        if type_object != load(api + at.PYTHON_FLOAT):
            return False
        number_f64 = call_for_f64(load(api + at.PYTHON_READ_FLOAT), item)
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
    """Write a tensor as `put` does.

    Return False unless a native kernel has already used the Python object.
    """
    if not is_one_of(api, item, at.PYTHON_TENSOR):
        return False
    handle = call2(load(api + at.PYTHON_GET), item, load(api + at.PYTHON_NAME_HANDLE))
    tensor = 0
    if handle != 0:  # None has no address
        tensor = word_attribute(api, handle, load(api + at.PYTHON_NAME_ADDRESS))
        call1(load(api + at.PYTHON_DROP), handle)
    store(place + 8, tensor)
    # PYTHON_GET sets an exception if it fails, but the callers expect none.
    call1(load(api + at.PYTHON_CLEAR), 0)
    return tensor != 0


@native
def python_object(api: Address, value: Address, payload_type: int) -> Address:
    """Make a Python object from a value's payload; return a new reference.

    Return 0 with an exception set if this fails.
    """
    payload = value + at.VALUE_PAYLOAD
    if payload_type == at.TYPE_OBJECT:
        call1(load(api + at.PYTHON_ADD), load(payload))
        return load(payload)
    if payload_type == at.TYPE_CHAIN:
        call1(load(api + at.PYTHON_ADD), load(api + at.PYTHON_CHAIN))
        return load(api + at.PYTHON_CHAIN)
    if payload_type > at.TYPE_I64 and payload_type != at.TYPE_F32 and payload_type != at.TYPE_F64:
        return read_in_python(api, value)
    if payload_type == at.TYPE_F64:
        return call_f64(load(api + at.PYTHON_MAKE_FLOAT), load_f64(payload))
    if payload_type == at.TYPE_F32:
        return call_f64(load(api + at.PYTHON_MAKE_FLOAT), load_f32(payload))
    if payload_type == at.TYPE_I1:
        return call1(load(api + at.PYTHON_MAKE_BOOL), load(payload) & 1)
    # Extend the sign: the upper half of an `i32` payload is 0.
    shift = 64 - (8 << (payload_type - at.TYPE_I8))
    return call1(load(api + at.PYTHON_MAKE_INT), (load(payload) << shift) >> shift)


@outline
def read_in_python(api: Address, value: Address) -> Address:
    """Have Python code make an object from a value's payload."""
    number = call1(load(api + at.PYTHON_MAKE_INT), value)
    if number == 0:
        return 0
    made = call2(load(api + at.PYTHON_CALL_ONE), load(api + at.PYTHON_READ), number)
    call1(load(api + at.PYTHON_DROP), number)
    return made


@native
def is_too_large(number: float) -> bool:
    """Return whether a finite number becomes infinite as an `f32`."""
    return abs(number) >= TOO_LARGE and abs(number) < math.inf


@inline
def is_one_of(api: Address, item: Address, kind: int) -> bool:
    """Return whether an object is an instance of a class.

    `kind` is the field of the struct PYTHON that holds the class.
    """
    type_object = type_of(api, item)
    # CPython returns a 32-bit int, so the upper half of the word is undefined.
    return call2(load(api + at.PYTHON_IS_SUBTYPE), type_object, load(api + kind)) << 32 != 0
