"""Activations: one call of a function, its registers and ready counts.

An activation is alive while kernels of it have not finished or deliveries to it wait; when the last one
has finished, the run loop ends it (`completion`), and that finishes the kernel of the caller that started
it.

    new_activation   registers and ready counts as in the template; REMAINING = kernels + 1
         |           (the 1 is the caller's, who fills it: it cannot end before `begin`)
         |  deliver  each argument into its register; its users' ready counts go down
       begin         kernels that wait for nothing become ready, constants are delivered, REMAINING - 1
         |
      (run loop)    a ready kernel runs: its results are delivered, REMAINING - 1
         |             result available:   its users' ready counts go down; at 0 the user is ready
         |             result unavailable: mark_shared, REMAINING + 1, a waiter; it does the above later
         |             result returned:    goes to the caller's register at once, not at the end
         v
     REMAINING = 0   one thread sees that, and pushes (activation | READY_END)
         |
    end_activation   RETURN_CALL  freed; the caller's kernel is finished
                     RETURN_ROOT  freed with its table of results; REQUEST_ACTIVE - 1
                     RETURN_JOIN  freed; the join has one block less
                     RETURN_LOOP  used again for the next iteration, or freed at the loop's end

While ACTIVATION_SHARED is 0 one thread has the activation, and its counters are plain words.  Before
another thread may get it, that thread calls `mark_shared`; from then on counters are atomic, for good.
"""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls.delivery import deliver
from tfrt_runtime.native.cells import give_block, take_block
from tfrt_runtime.native.events import log_return, watch_activation
from tfrt_runtime.native.memory import (
    Address,
    copy,
    fetch_add,
    inline,
    load,
    native,
    outline,
    store,
)
from tfrt_runtime.native.queues.ready import finish, push_ready


@native
def new_activation(
    context: Address,
    function: Address,
    request: Address,
    return_kind: int,
    caller: Address,
    record: Address,
    nested: int,
) -> Address:
    """An activation at the entry of `function`, or 0 if it is large and there is no memory for it.

    One pending count belongs to the code that fills it: deliver the arguments, then call `begin`.
    `nested` is ACTIVATION_NESTED of what it is nested in.
    """
    activation = take_block(context, load(function + at.FUNCTION_SIZE))
    if activation == 0:
        return 0
    store(activation + at.ACTIVATION_FUNCTION, function)
    store(activation + at.ACTIVATION_REQUEST, request)
    store(activation + at.ACTIVATION_RETURN, return_kind)
    store(activation + at.ACTIVATION_CALLER, caller)
    store(activation + at.ACTIVATION_CALLER_RECORD, record)
    size = (nested & ~at.ACTIVATION_OBSERVED) + load(function + at.FUNCTION_SIZE)
    store(activation + at.ACTIVATION_NESTED, size)
    # Weights of 0 are only understood where counters are atomic.  Its callers need not be shared.
    is_atomic = load(function + at.FUNCTION_FLAGS) & at.FUNCTION_NONSTRICT != 0
    store(activation + at.ACTIVATION_SHARED, at.SHARED_ALONE if is_atomic else 0)
    reset_activation(activation, function)
    if return_kind != at.RETURN_LOOP:  # each iteration is observed when it starts
        parent = load(record + at.JOIN_CALLER) if return_kind == at.RETURN_JOIN else caller
        if return_kind == at.RETURN_ROOT or load(request + at.REQUEST_OBSERVED) != 0:
            observe_begin(context, activation, parent)
    return activation


@native
def reset_activation(activation: Address, function: Address) -> None:
    """Registers and counters as at entry.  Keeps whether the activation is shared."""
    # One more than kernels: the filler's, so that early deliveries cannot end the activation.
    store(activation + at.ACTIVATION_REMAINING, load(function + at.FUNCTION_KERNELS) + 1)
    copy(
        activation + at.ACTIVATION_REGISTERS,
        load(function + at.FUNCTION_TEMPLATE),
        load(function + at.FUNCTION_TEMPLATE_SIZE),
    )


@outline
def observe_begin(context: Address, activation: Address, caller: Address) -> None:
    """An activation, or an iteration in it, begins: its kernels are known, and a watched run logs it."""
    request = load(activation + at.ACTIVATION_REQUEST)
    nested = load(activation + at.ACTIVATION_NESTED)
    store(activation + at.ACTIVATION_NESTED, nested | at.ACTIVATION_OBSERVED)
    kernels = load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_KERNELS)
    fetch_add(request + at.REQUEST_KNOWN, kernels)
    watch = load(request + at.REQUEST_WATCH)
    if watch != 0:
        watch_activation(context, watch, activation, caller)


@outline
def observe_end(context: Address, activation: Address) -> None:
    """One that was observed when it began is over: kernels that have not counted are decided."""
    nested = load(activation + at.ACTIVATION_NESTED)
    store(activation + at.ACTIVATION_NESTED, nested & ~at.ACTIVATION_OBSERVED)
    function = load(activation + at.ACTIVATION_FUNCTION)
    request = load(activation + at.ACTIVATION_REQUEST)
    short = load(function + at.FUNCTION_KERNELS) - load(function + at.FUNCTION_HEAVY)
    # One addition per call, not per kernel: all threads share REQUEST_DECIDED.
    fetch_add(request + at.REQUEST_DECIDED, short)
    watch = load(request + at.REQUEST_WATCH)
    if watch != 0:
        log_return(context, watch, activation)


@native
def begin(context: Address, activation: Address) -> None:
    """Make the kernels ready that wait for nothing; drops the pending count of the filler.

    Pushed in reverse, so that they run in program order.
    """
    function = load(activation + at.ACTIVATION_FUNCTION)
    entries = load(function + at.FUNCTION_ENTRY_TABLE)
    for i in range(load(function + at.FUNCTION_ENTRIES) - 1, -1, -1):
        push_ready(context, activation, load(entries + 8 * i))
    constants = load(function + at.FUNCTION_CONSTANT_TABLE)
    for i in range(load(function + at.FUNCTION_CONSTANTS)):
        deliver(context, activation, load(constants + 16 * i), load(constants + 16 * i + 8))
    finish(context, activation)


@inline
def root_size(function: Address) -> int:
    """Bytes of the table of a call from outside: its results, its arguments, and one word more."""
    return 8 * (load(function + at.FUNCTION_RESULTS) + load(function + at.FUNCTION_ARGUMENTS)) + 8


@native
def free_activation(context: Address, activation: Address) -> None:
    """Give an activation's memory back."""
    give_block(
        context, activation, load(load(activation + at.ACTIVATION_FUNCTION) + at.FUNCTION_SIZE)
    )
