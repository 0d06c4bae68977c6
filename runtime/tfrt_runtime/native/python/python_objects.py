"""Python objects that native values refer to: payloads, diagnostics, waiters, owners of tensors.

A handle is the address of the object, with a reference of its own.  Whatever has the handle owns that
reference, and drops it once.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import python_layouts as py
from tfrt_runtime.native.memory import Address, call1, entry, load, native, store


@native
def hold(process: Address, api: Address, item: Address) -> Address:
    """A new handle of an object.  With the GIL."""
    call1(load(api + py.PYTHON_ADD), item)
    store(process + at.PROCESS_OBJECTS, load(process + at.PROCESS_OBJECTS) + 1)
    return item


@entry
def object_add(bound: Address, given: Address, count: int) -> Address:
    """A function of Python: a new handle of an object."""
    api, process = load(bound + py.PYTHON_BYTES), load(bound + py.PYTHON_BYTES + 8)
    return call1(load(api + py.PYTHON_MAKE_INT), hold(process, api, load(given)))


@entry
def object_get(bound: Address, given: Address, count: int) -> Address:
    """A function of Python: the object of a handle."""
    api = load(bound + py.PYTHON_BYTES)
    item = call1(load(api + py.PYTHON_READ_WORD), load(given))
    call1(load(api + py.PYTHON_ADD), item)
    return item


@entry
def object_take(bound: Address, given: Address, count: int) -> Address:
    """A function of Python: the object of a handle, which ends."""
    api, process = load(bound + py.PYTHON_BYTES), load(bound + py.PYTHON_BYTES + 8)
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
