"""All uses of CPython's undocumented internals.  They make runs from Python faster.

`host.python_interface` disables a shortcut that this CPython does not support:

    shortcut                                     if it is disabled
    the mapping of a context tells whether       each run has a copy of its caller's context, and
    a variable was set in it                     each kernel has a copy of that copy
    Python's collector does not examine runs     it examines all of them
    or values without callbacks

In this module, a *context* is a `contextvars` context.  Its mapping maps variables to values.  The
mapping is a field of a context, and the current context is a field of CPython's thread state.  The
offsets of both fields are found when the core is loaded; an offset is 0 if it is not found.

An object may be hidden from the garbage collector while it cannot be part of a reference cycle.
The core hides a run while the table of runs holds it, a value without callbacks, and the weak
references to these objects.  Otherwise, with 100,000 outstanding runs, the collector would take
more time than everything else together.  `track` makes an object visible again when it may be part
of a cycle.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import (
    Address,
    bound_words,
    call1,
    entry,
    load,
    native,
    store,
)
from tfrt_runtime.native.python.python_entries import shared


@native
def caller_context(api: Address, process: Address) -> Address:
    """Return a copy of this thread's contextvars context, with a reference.

    Return 0 with an exception set if this fails.  If no variable has been set since the previous
    run, return the previous run's copy, so that the collector has only one context to examine.
    """
    kept = load(process + at.PROCESS_CALLER)
    if kept != 0 and is_present(api, kept):
        return shared(api, kept)
    made = call1(load(api + at.PYTHON_COPY_CURRENT), 0)
    if made != 0:
        # Do all this before the drops, which may run user code.
        store(process + at.PROCESS_CALLER, shared(api, made))
        spare = load(api + at.PYTHON_SPARE)
        store(api + at.PYTHON_SPARE, 0)
        # Either may be 0, which `Py_DecRef` ignores.
        call1(load(api + at.PYTHON_DROP), kept)
        call1(load(api + at.PYTHON_DROP), spare)
    return made


@native
def is_present(api: Address, kept: Address) -> bool:
    """Return whether `kept`, a copy of a context, equals this thread's context.

    Return False if this is unknown.
    """
    place, variables = load(api + at.PYTHON_CONTEXT), load(api + at.PYTHON_VARIABLES)
    if place == 0 or variables == 0:
        return False
    # A mapping never changes, so two contexts with the same mapping are equal.
    present = load(call1(load(api + at.PYTHON_THREAD), 0) + place)
    return present != 0 and load(present + variables) == load(kept + variables)


@native
def mapping_of(api: Address, entered: Address) -> Address:
    """Return the mapping of a context, with a reference, or 0 if it is unknown.

    Setting a variable gives the context another mapping.
    """
    place = load(api + at.PYTHON_VARIABLES)
    if entered == 0 or place == 0:
        return 0
    # The reference prevents a later mapping from getting the same address.
    call1(load(api + at.PYTHON_ADD), load(entered + place))
    return load(entered + place)


@native
def has_mapping(api: Address, entered: Address, mapping: Address) -> bool:
    """Return whether a context still has the given mapping, so that no variable was set."""
    return mapping != 0 and load(entered + load(api + at.PYTHON_VARIABLES)) == mapping


@entry
def track(bound: Address, given: Address, count: int) -> Address:
    """Python function: make an object visible to Python's collector: `track(object)`."""
    api = load(bound_words(bound))
    be_tracked(api, load(given))
    return shared(api, load(api + at.PYTHON_NONE))


@entry
def untrack(bound: Address, given: Address, count: int) -> Address:
    """Python function: hide objects from Python's collector: `untrack(*objects)`.

    The objects must not be part of a cycle.
    """
    api = load(bound_words(bound))
    for i in range(count):
        be_untracked(api, load(given + 8 * i))
    return shared(api, load(api + at.PYTHON_NONE))


@native
def be_tracked(api: Address, item: Address) -> None:
    """Make an object visible to Python's collector, unless it already is."""
    # CPython returns a 32-bit int.
    if call1(load(api + at.PYTHON_IS_TRACKED), item) << 32 == 0:
        call1(load(api + at.PYTHON_TRACK), item)


@native
def be_untracked(api: Address, item: Address) -> None:
    """Hide an object, which must not be part of a cycle, from Python's collector."""
    call1(load(api + at.PYTHON_UNTRACK), item)
