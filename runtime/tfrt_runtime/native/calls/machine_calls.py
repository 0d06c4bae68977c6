"""Calls to functions that are machine code.

A function becomes machine code when it is hot and a compiler is available (`executor.machine`).
Such a function contains only scalars, control flow, and calls to other such functions, so it has no
visible effects before it returns.  It bails out in any unusual situation: an argument that is an
error or unavailable, an operation that fails, a full stack, or a cancelled run.  After a bailout,
the interpreter runs the call from its start, and then the rest of the run.  The run does not use
machine code again, because the code would bail out at each nested call.

If a loop of an interpreted call becomes hot, its remaining iterations run as machine code
(`finish_loop`).  This is on-stack replacement, as in Hölzle and Ungar 1994, OOPSLA, "A
Third-Generation SELF Implementation".  Rejected alternative: deoptimization, which returns to the
interpreter at the operation that bails out (Hölzle, Chambers, and Ungar 1992, PLDI, "Debugging
Optimized Code with Dynamic Deoptimization").  Deoptimization needs a map of the state at each
operation that may bail out, whereas a call without visible effects can simply start over.  Also
rejected: machine code that makes the error itself.  An error skips only the kernels that depend on
it, so the call's other results are still values; machine code would have to track, for each value,
whether it is an error.  Moreover, only the interpreter can continue when the stack is full, because
the executor's activations are not on the stack.

Machine code regularly calls `ask`, which decides whether the code may continue.  `ask` also shares
this thread's ready work with other threads.  If the thread's deadline has passed, `ask` lets Python
decide whether the code must stop.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    drop_reference,
    is_available,
    new_scalar,
    resolve,
    state_of,
)
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.events import is_disturbed
from tfrt_runtime.native.memory import (
    Address,
    call1,
    call3,
    copy,
    entry,
    inline,
    load,
    load_acquire,
    native,
    now,
    outline,
    stack_room,
    store,
    store_release,
)
from tfrt_runtime.native.queues.sharing import SLICE_NS, give_way, share_when_idle

FUEL = 1 << 18
"""The number of kernels that machine code runs between two calls of `ask`: 50 to 500 us."""
CALL_WEIGHT = 4
"""How many kernels machine code runs in the time that the executor takes for one."""


@native
def machine_code(context: Address, request: Address, machine: Address, kernels: int) -> Address:
    """Return the machine code that a run may use for a function, or 0.

    If the function has no machine code yet, count `kernels` more interpreted kernels.  If the count
    is then large enough, ask Python to compile the function.
    """
    tier = load_acquire(request + at.REQUEST_TIER)
    # Machine code logs no events, so watched runs are interpreted.
    if tier == at.TIER_INTERPRETER or is_disturbed(request):
        return 0
    # While schedules are explored, each kernel is a step of its own.
    if load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_CHOOSE) != 0:
        return 0
    code = load_acquire(machine + at.MACHINE_CODE)
    if code != 0:
        return code
    # The subtraction need not be atomic: a lost update only delays the compiler a little.
    left = load_acquire(machine + at.MACHINE_LEFT) - kernels
    store_release(machine + at.MACHINE_LEFT, left)
    # The count of a function that must never be compiled starts at MACHINE_NEVER.
    # Compare with half of it, because kernels may have been subtracted since.
    if left > at.MACHINE_NEVER // 2 or (left >= 0 and tier != at.TIER_COMPILED):
        return 0
    callback = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_MACHINE)
    call3(callback, context, at.MACHINE_HOT, load(machine + at.MACHINE_NUMBER))
    return load_acquire(machine + at.MACHINE_CODE)


@inline
def weight(function: Address) -> int:
    """Return the number of kernels to count for one interpreted call of `function`."""
    return CALL_WEIGHT * (load(function + at.FUNCTION_KERNELS) + 1)


@native
def attempt_size(machine: Address) -> int:
    """Return the size in bytes of an attempt, the block that holds the state of one call."""
    return at.ATTEMPT_RESULTS + 8 * load(machine + at.MACHINE_RESULTS)


@native
def run_machine(
    context: Address, request: Address, machine: Address, code: Address, words: Address
) -> Address:
    """Run machine code on the payloads at `words`.

    Return the attempt, which holds the results and which the caller must free.  Return 0 if the
    code has bailed out.
    """
    attempt = take_block(context, attempt_size(machine))
    if attempt == 0:
        return 0
    store(attempt + at.ATTEMPT_STACK, stack_room())
    store(attempt + at.ATTEMPT_FUEL, FUEL)
    store(attempt + at.ATTEMPT_ASK, load(machine + at.MACHINE_ASK))
    store(attempt + at.ATTEMPT_CONTEXT, context)
    store(attempt + at.ATTEMPT_REQUEST, request)
    store(attempt + at.ATTEMPT_ARGUMENTS, words)
    store(attempt + at.ATTEMPT_NEXT, 0)
    if call1(code, attempt) != 0:
        store_release(request + at.REQUEST_COMPILED, 1)
        return attempt
    give_block(context, attempt, attempt_size(machine))
    # From now on, the whole run is interpreted, as the module's docstring explains.
    store_release(request + at.REQUEST_TIER, at.TIER_INTERPRETER)
    return 0


@entry
def ask(attempt: Address) -> int:
    """Return the number of kernels that machine code may run next, or 0 if it must bail out.

    After that many kernels, the code calls `ask` again.
    """
    context, request = load(attempt + at.ATTEMPT_CONTEXT), load(attempt + at.ATTEMPT_REQUEST)
    if is_disturbed(request):
        return 0
    # Call this before reading the deadline: releasing the GIL sets one.
    give_way(context)
    share_when_idle(context)
    deadline = load(context + at.CONTEXT_DEADLINE)
    # After the deadline, ask Python once per slice: a call of Python costs far more than `ask`.
    if deadline != 0 and now() >= max(deadline, load(attempt + at.ATTEMPT_NEXT)):
        callback = load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_MACHINE)
        if call3(callback, context, at.MACHINE_LOOK, request) == 0:
            return 0
        store(attempt + at.ATTEMPT_NEXT, now() + SLICE_NS)
    return FUEL


@native
def take_word(value: Address, payload_type: int, place: Address) -> bool:
    """Store the payload of the scalar `value` at `place`.

    Return False if `value` is unavailable, an error, or not of type `payload_type`.
    """
    if not is_available(value):
        return False
    found = resolve(value)
    if state_of(found) != at.CONCRETE or load(found + at.VALUE_KIND) >> 8 != payload_type:
        return False
    store(place, load(found + at.VALUE_PAYLOAD))
    return True


@native
def result_of(context: Address, machine: Address, attempt: Address, index: int) -> Address:
    """Return result number `index` of a finished attempt as a value with one reference."""
    types = machine + at.MACHINE_TYPES + 8 * load(machine + at.MACHINE_ARGUMENTS)
    return new_scalar(
        context, load(types + 8 * index), load(attempt + at.ATTEMPT_RESULTS + 8 * index)
    )


@native
def run_on_values(
    context: Address, request: Address, machine: Address, code: Address, words: Address
) -> Address:
    """Run machine code on the payloads of AsyncValues.

    Take over the block `words`, which holds the values' addresses.

    Return the attempt, which holds the results and which the caller must free.  Return 0 if a
    value is not an available scalar of its type or if the code has bailed out.
    """
    attempt = 0
    if take_words(machine, words):
        attempt = run_machine(context, request, machine, code, words)
    give_block(context, words, 8 * load(machine + at.MACHINE_ARGUMENTS) + 8)
    return attempt


@native
def take_words(machine: Address, words: Address) -> bool:
    """Replace the addresses of AsyncValues at `words` with the values' payloads.

    Return False if a value is unavailable, or is not a scalar of the expected type.
    """
    is_ready = True
    for i in range(load(machine + at.MACHINE_ARGUMENTS)):
        place = words + 8 * i
        payload_type = load(machine + at.MACHINE_TYPES + 8 * i)
        # After a failure, `words` holds payloads and addresses. The caller then only frees it.
        is_ready = is_ready and take_word(load(place), payload_type, place)
    return is_ready


@outline
def finish_loop(context: Address, loop: Address, request: Address) -> bool:
    """Run the remaining iterations of a loop as machine code, if the loop's body is hot.

    Return True if the loop has ended; it then holds its final values.  Otherwise, do nothing, and
    return False.
    """
    function = load(loop + at.LOOP_FUNCTION)
    machine = load(function + at.FUNCTION_MACHINE)
    if machine_code(context, request, machine, weight(function)) == 0:
        return False
    # A plain load suffices: Python stores MACHINE_LOOP before MACHINE_CODE, which `machine_code`
    # has read with acquire.
    code = load(machine + at.MACHINE_LOOP)
    count = load(loop + at.LOOP_VALUES)
    size = 8 * count + 8
    words = 0
    if code != 0:
        words = take_block(context, size)
    if words == 0:
        return False
    # A counted loop gets LOOP_LEFT. Any other loop gets 1, because its condition holds.
    store(words, max(load(loop + at.LOOP_LEFT), 1))
    copy(words + 8, loop + at.LOOP_TABLE, 8 * count)
    attempt = 0
    if take_words(machine, words + 8):
        attempt = run_machine(context, request, machine, code, words)
    give_block(context, words, size)
    if attempt == 0:
        return False
    for i in range(count):
        place = loop + at.LOOP_TABLE + 8 * i
        drop_reference(context, load(place))
        store(place, result_of(context, machine, attempt, i))
    give_block(context, attempt, attempt_size(machine))
    return True
