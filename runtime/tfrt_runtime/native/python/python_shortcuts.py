"""What CPython's documented interface does not say, and runs from Python gain by: all of it is here.

    shortcut                                     off, if `host.python_interface` finds CPython otherwise
    the mapping of a context tells whether       each run has a copy of its caller's context, and each
    a variable was set in it                     kernel a copy of that
    Python's collector does not look at runs,    it looks at all of them
    nor at values without callbacks

The mapping is a field of a context, the present context one of CPython's state of a thread; their offsets are
searched when the core is loaded, and 0 if they are not found.

An object may be taken from the collector while it can be part of no circle that it could free: a run while the table of
runs holds it, a value without callbacks, and their weak references.  Where 100 000 runs are outstanding, the
collector takes more time than all else otherwise.  `track` lets it look when that changes.
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
    """A copy of the context of this thread, with a reference; 0 with an exception.

    The copy of the run before, if no variable was set since: where many runs are outstanding, Python's collector has one
    context to look at.
    """
    kept = load(process + at.PROCESS_CALLER)
    if kept != 0 and is_present(api, kept):
        return shared(api, kept)
    made = call1(load(api + at.PYTHON_COPY_CURRENT), 0)
    if made != 0:
        # All before what drops: code of users may run there.
        store(process + at.PROCESS_CALLER, shared(api, made))
        spare = load(api + at.PYTHON_SPARE)
        store(api + at.PYTHON_SPARE, 0)
        call1(load(api + at.PYTHON_DROP), kept)
        call1(load(api + at.PYTHON_DROP), spare)
    return made


@native
def is_present(api: Address, kept: Address) -> bool:
    """Whether a copy of a context has what the context of this thread has; False if it is not known."""
    place, variables = load(api + at.PYTHON_CONTEXT), load(api + at.PYTHON_VARIABLES)
    if place == 0 or variables == 0:
        return False
    present = load(call1(load(api + at.PYTHON_THREAD), 0) + place)
    return present != 0 and load(present + variables) == load(kept + variables)


@native
def mapping_of(api: Address, entered: Address) -> Address:
    """The mapping of a context, with a reference: another object once a variable was set.  0 if it is not known."""
    place = load(api + at.PYTHON_VARIABLES)
    if entered == 0 or place == 0:
        return 0
    call1(load(api + at.PYTHON_ADD), load(entered + place))
    return load(entered + place)


@native
def has_mapping(api: Address, entered: Address, mapping: Address) -> bool:
    """Whether a context has the mapping that `mapping_of` found: no variable was set since."""
    return mapping != 0 and load(entered + load(api + at.PYTHON_VARIABLES)) == mapping


@entry
def track(bound: Address, given: Address, count: int) -> Address:
    """Let Python's collector look at an object: `track(object)`."""
    api = load(bound_words(bound))
    be_tracked(api, load(given))
    return shared(api, load(api + at.PYTHON_NONE))


@entry
def untrack(bound: Address, given: Address, count: int) -> Address:
    """Let Python's collector not look at objects, which can be part of no circle now: `untrack(*objects)`."""
    api = load(bound_words(bound))
    for i in range(count):
        be_untracked(api, load(given + 8 * i))
    return shared(api, load(api + at.PYTHON_NONE))


@native
def be_tracked(api: Address, item: Address) -> None:
    """Let Python's collector look at an object, whether or not it does."""
    # The answer is an int of 32 bits.
    if call1(load(api + at.PYTHON_IS_TRACKED), item) << 32 == 0:
        call1(load(api + at.PYTHON_TRACK), item)


@native
def be_untracked(api: Address, item: Address) -> None:
    """Let Python's collector not look at an object, which can be part of no circle now."""
    call1(load(api + at.PYTHON_UNTRACK), item)
