"""The entries of the core as functions of Python.

CPython calls them as it calls its own built-in functions (METH_FASTCALL): `given` is an array of `count`
objects, borrowed, and the result is a new reference, or 0 with an exception set.  The object that CPython
keeps with each function is a `bytes` that holds two words: the address of the entry, and that of the
table of CPython's own functions.
"""

from __future__ import annotations

from tfrt_runtime.native import python_layouts as py
from tfrt_runtime.native.memory import Address, call1, call7, entry, load, native


@native
def word_of(api: Address, given: Address, count: int, index: int) -> int:
    """An argument as a word; 0 if there are fewer.  -1 and an exception if it is no integer."""
    if index >= count:
        return 0
    return call1(load(api + py.PYTHON_READ_WORD), load(given + 8 * index))


@native
def call_with(bound: Address, given: Address, count: int, is_slow: bool) -> Address:
    """Call the entry with integers for its words; what it returns as an integer."""
    entry_address, api = load(bound + py.PYTHON_BYTES), load(bound + py.PYTHON_BYTES + 8)
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
        word = call7(entry_address, first, second, third, fourth, fifth, sixth, seventh)
        call1(load(api + py.PYTHON_RESTORE), thread)
    else:
        word = call7(entry_address, first, second, third, fourth, fifth, sixth, seventh)
    return call1(load(api + py.PYTHON_MAKE_INT), word)


@entry
def call_quick(bound: Address, given: Address, count: int) -> Address:
    """Call an entry, and keep the GIL."""
    return call_with(bound, given, count, False)


@entry
def call_slow(bound: Address, given: Address, count: int) -> Address:
    """Call an entry, without the GIL while it runs."""
    return call_with(bound, given, count, True)
