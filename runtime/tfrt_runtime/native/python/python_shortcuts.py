"""All uses of CPython's undocumented internals, which make runs from Python faster.

    shortcut                                     if `host.python_interface` has disabled it
    the mapping of a context tells whether       each run has a copy of its caller's context, and each
    a variable was set in it                     kernel has a copy of that copy
    Python's collector does not examine runs     it examines all of them
    or values without callbacks

The mapping is a field of a context, and the current context is a field of CPython's thread state;
their offsets are located when the core is loaded, and are 0 if they are not found.

An object may be hidden from the collector while it cannot be part of a reference cycle that the
collector could free: a run while the table of runs holds it, a value without callbacks, and weak
references to them.  Otherwise, with 100,000 outstanding runs, the collector would take more time
than everything else.  `track` makes the object visible again when that changes.
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
    """Return a copy of this thread's context, with a reference, or 0 with an exception set.

    This is the previous run's copy if no variable has been set since then: even with many
    outstanding runs, Python's collector then has only one context to examine.
    """
    kept = load(process + at.PROCESS_CALLER)
    if kept != 0 and is_present(api, kept):
        return shared(api, kept)
    made = call1(load(api + at.PYTHON_COPY_CURRENT), 0)
    if made != 0:
        # Do all of this before the drop, which may run user code.
        store(process + at.PROCESS_CALLER, shared(api, made))
        spare = load(api + at.PYTHON_SPARE)
        store(api + at.PYTHON_SPARE, 0)
        call1(load(api + at.PYTHON_DROP), kept)
        call1(load(api + at.PYTHON_DROP), spare)
    return made


@native
def is_present(api: Address, kept: Address) -> bool:
    """Tell whether a copy of a context equals this thread's context.

    Return False if that is unknown.
    """
    place, variables = load(api + at.PYTHON_CONTEXT), load(api + at.PYTHON_VARIABLES)
    if place == 0 or variables == 0:
        return False
    present = load(call1(load(api + at.PYTHON_THREAD), 0) + place)
    return present != 0 and load(present + variables) == load(kept + variables)


@native
def mapping_of(api: Address, entered: Address) -> Address:
    """Return the mapping of a context, with a reference, or 0 if it is unknown.

    Setting a variable replaces the mapping.
    """
    place = load(api + at.PYTHON_VARIABLES)
    if entered == 0 or place == 0:
        return 0
    call1(load(api + at.PYTHON_ADD), load(entered + place))
    return load(entered + place)


@native
def has_mapping(api: Address, entered: Address, mapping: Address) -> bool:
    """Tell whether a context still has the mapping that `mapping_of` found, so that no variable
    was set.
    """
    return mapping != 0 and load(entered + load(api + at.PYTHON_VARIABLES)) == mapping


@entry
def track(bound: Address, given: Address, count: int) -> Address:
    """Make an object visible to Python's collector: `track(object)`."""
    api = load(bound_words(bound))
    be_tracked(api, load(given))
    return shared(api, load(api + at.PYTHON_NONE))


@entry
def untrack(bound: Address, given: Address, count: int) -> Address:
    """Hide objects that currently cannot be in a cycle from Python's collector:
    `untrack(*objects)`.
    """
    api = load(bound_words(bound))
    for i in range(count):
        be_untracked(api, load(given + 8 * i))
    return shared(api, load(api + at.PYTHON_NONE))


@native
def be_tracked(api: Address, item: Address) -> None:
    """Make an object visible to Python's collector, unless it already is."""
    # The result is a 32-bit int.
    if call1(load(api + at.PYTHON_IS_TRACKED), item) << 32 == 0:
        call1(load(api + at.PYTHON_TRACK), item)


@native
def be_untracked(api: Address, item: Address) -> None:
    """Hide an object that currently cannot be part of a cycle from Python's collector."""
    call1(load(api + at.PYTHON_UNTRACK), item)
