"""The entries of the core as functions of Python, and Python objects that native values refer to.

CPython calls an entry as it calls its own built-in functions (METH_FASTCALL): `given` is an array of `count`
objects, borrowed, and the result is a new reference, or 0 with an exception set.  The object that CPython
keeps with each function is a `bytes` that holds two words: the address of the entry, and that of the
table of CPython's own functions; for a function that is written for Python that table's address comes first, then that
of the process.

A handle of an object (a payload, a diagnostic, a waiter, the owner of a tensor) is its address, with a reference of its
own.  What has the handle owns that reference, and drops it once.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import python_layouts as py
from tfrt_runtime.native.memory import (
    Address,
    call1,
    call4,
    call7,
    entry,
    inline,
    load,
    load_pointer,
    native,
    pointer_size,
    store,
)


@inline
def content(item: Address) -> Address:
    """The content of a `bytes`, which is behind its count of references, type, size and hash."""
    return item + 4 * pointer_size()


@inline
def type_of(api: Address, item: Address) -> Address:
    """The type of a Python object."""
    return load_pointer(item + load(api + py.PYTHON_TYPE))


@inline
def slot(slots: Address, field: int) -> Address:
    """The place of a slot of a Python object whose first is at `slots`; `field` counts 8 bytes for each."""
    return slots + field * pointer_size() // 8


@inline
def first_slot(api: Address, item: Address) -> Address:
    """What the first slot of a Python object holds."""
    return load_pointer(item + load(api + py.PYTHON_FIRST_SLOT))


@native
def word(api: Address, given: Address, index: int) -> int:
    """An argument that is an integer."""
    return call1(load(api + py.PYTHON_READ_WORD), load(given + 8 * index))


@native
def shared(api: Address, item: Address) -> Address:
    """A new reference to a Python object."""
    call1(load(api + py.PYTHON_ADD), item)
    return item


@native
def word_of(api: Address, given: Address, count: int, index: int) -> int:
    """An argument as a word; 0 if there are fewer.  -1 and an exception if it is no integer."""
    return word(api, given, index) if index < count else 0


@native
def call_with(bound: Address, given: Address, count: int, is_slow: bool) -> Address:
    """Call the entry with integers for its words; what it returns as an integer."""
    entry_address, api = load(content(bound)), load(content(bound) + 8)
    first = word_of(api, given, count, 0)
    second = word_of(api, given, count, 1)
    third = word_of(api, given, count, 2)
    fourth = word_of(api, given, count, 3)
    fifth = word_of(api, given, count, 4)
    sixth = word_of(api, given, count, 5)
    seventh = word_of(api, given, count, 6)
    # CPython says in this way that one of them was no integer.
    is_suspect = first == -1 or second == -1 or third == -1 or fourth == -1
    is_suspect = is_suspect or fifth == -1 or sixth == -1 or seventh == -1
    if is_suspect and call1(load(api + py.PYTHON_OCCURRED), 0) != 0:
        return 0
    # An entry that takes fewer words does not see the others.
    if is_slow:
        thread = call1(load(api + py.PYTHON_SAVE), 0)
        answer = call7(entry_address, first, second, third, fourth, fifth, sixth, seventh)
        call1(load(api + py.PYTHON_RESTORE), thread)
    else:
        answer = call7(entry_address, first, second, third, fourth, fifth, sixth, seventh)
    return call1(load(api + py.PYTHON_MAKE_INT), answer)


@entry
def call_quick(bound: Address, given: Address, count: int) -> Address:
    """Call an entry, and keep the GIL."""
    return call_with(bound, given, count, False)


@entry
def call_slow(bound: Address, given: Address, count: int) -> Address:
    """Call an entry, without the GIL while it runs."""
    return call_with(bound, given, count, True)


@native
def hold(process: Address, api: Address, item: Address) -> Address:
    """A new handle of an object.  With the GIL."""
    call1(load(api + py.PYTHON_ADD), item)
    store(process + at.PROCESS_OBJECTS, load(process + at.PROCESS_OBJECTS) + 1)
    return item


@entry
def object_add(bound: Address, given: Address, count: int) -> Address:
    """A function of Python: a new handle of an object."""
    api, process = load(content(bound)), load(content(bound) + 8)
    return call1(load(api + py.PYTHON_MAKE_INT), hold(process, api, load(given)))


@entry
def object_get(bound: Address, given: Address, count: int) -> Address:
    """A function of Python: the object of a handle."""
    api = load(content(bound))
    item = call1(load(api + py.PYTHON_READ_WORD), load(given))
    call1(load(api + py.PYTHON_ADD), item)
    return item


@entry
def object_take(bound: Address, given: Address, count: int) -> Address:
    """A function of Python: the object of a handle, which ends."""
    api, process = load(content(bound)), load(content(bound) + 8)
    # The reference of the handle becomes the caller's.
    store(process + at.PROCESS_OBJECTS, load(process + at.PROCESS_OBJECTS) - 1)
    return call1(load(api + py.PYTHON_READ_WORD), load(given))


@entry
def object_release(context: Address, item: Address) -> None:
    """PROCESS_RELEASE_OBJECT: a handle ends."""
    process = load(context + at.CONTEXT_PROCESS)
    api = load(process + at.PROCESS_PYTHON)
    lock = call1(load(api + py.PYTHON_ENSURE), 0)
    # First: code of users may run when the object dies, and count.
    store(process + at.PROCESS_OBJECTS, load(process + at.PROCESS_OBJECTS) - 1)
    call1(load(api + py.PYTHON_DROP), item)
    call1(load(api + py.PYTHON_RELEASE), lock)


@entry
def handle(bound: Address, given: Address, count: int) -> Address:
    """The handler of SIGINT, as `host.interrupts` says: `handle(number, frame)`; where the interrupt is to come later, it is sent once more.

    Code of Python cannot do that: its own next check would be the one that answers.
    """
    api = load(content(bound))
    is_later = call4(load(api + py.PYTHON_CALL), load(api + py.PYTHON_ANSWER), given, 2, 0)
    if is_later == 0:
        return 0
    if is_later == load(api + py.PYTHON_TRUE):
        call1(load(api + py.PYTHON_INTERRUPT), word(api, given, 0))
    call1(load(api + py.PYTHON_DROP), is_later)
    return shared(api, load(api + py.PYTHON_NONE))
