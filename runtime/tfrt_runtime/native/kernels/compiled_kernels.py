"""Compiled functions as kernels: conversion between kernel frames and calls to compiled code.

Each compiled function that host programs call has an adapter, which is compiled with the function
and knows its types.  `adapter(context, record)` fetches the arguments with this module's functions,
calls the function, and sets the kernel's results.  It returns 1 if the function failed.  The words
of the record's data are the adapter, this module's waiter functions, the payload types of the
results, and the payload types of the arguments.

Tensors belong to Python, which fills in buffer descriptors and makes tensors from buffers.  A
buffer's spec has three words, which Python reads: the address of the type's text, the length of
that text, and the address of a counter.  The counter says how many running calls may be using the
buffers.

A *host value* is an AsyncValue of a host program.  Compiled code never gets a host value.  Instead,
a coroutine awaits a separate object, which later takes over the host value's outcome.  Thus,
compiled code may count references in its own way, while the host value may be a constant or
indirect.  In the other direction, no conversion is needed: an object that compiled code returns is
an AsyncValue and becomes the kernel's result.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import (
    add_references,
    claim,
    drop_optional,
    drop_reference,
    forward_to,
    is_available,
    new_indirect,
    new_value,
    resolve,
    state_of,
    wait_for,
)
from tfrt_runtime.native.calls.activation import leave_request
from tfrt_runtime.native.calls.frame import argument, attribute, fail_results, set_result, set_word
from tfrt_runtime.native.cells import give_cell, take_cell
from tfrt_runtime.native.coroutines.async_objects import (
    async_abandon,
    become_error,
    drop_references,
    error_of,
    new_future,
    new_object,
    register_checked,
    report_event,
    resolved_before,
    storage_of,
    thread_failure,
)
from tfrt_runtime.native.memory import (
    Address,
    call2,
    compare_and_swap,
    entry,
    exported,
    fence,
    fetch_add,
    load,
    load_acquire,
    load_i32,
    native,
    push,
    set_thread_context,
    store,
    take_all,
)
from tfrt_runtime.native.queues.waiters import publish, run_waiters

ADAPTER = 0
ARGUMENT_ARRIVED = 1
RESULT_ARRIVED = 2
BUFFER_ARRIVED = 3
TENSOR_ARRIVED = 4
FIRST_TYPE = 5
"""The index of the data word with the first result's type.

The arguments' types follow the results' types.
"""

IMPORTS_SWEPT = 1024
"""After this many new imports, the resolved ones are swept."""


@entry
def run_compiled(context: Address, record: Address) -> None:
    """Kernel: call a compiled function.

    If the function fails, set each result that is not yet set to the function's error.
    """
    # Save these words, because compiled code further down this stack may be waiting
    # (`wait_for_object`).
    nested = load(context + at.CONTEXT_NESTED)
    failure = load(context + at.CONTEXT_FAILURE)
    store(context + at.CONTEXT_NESTED, 0)
    store(context + at.CONTEXT_FAILURE, 0)
    run = load(context + at.CONTEXT_RUN)
    store(context + at.CONTEXT_RUN, load(load(context + at.CONTEXT_REQUEST) + at.REQUEST_NUMBER))
    # The runtime's functions that compiled code calls take no context: they find it through the
    # thread (`async_abi`).
    former = set_thread_context(context)
    failed = call2(attribute(record, ADAPTER), context, record)
    set_thread_context(former)
    if failed & 1 != 0:
        noted = thread_failure(context)
        report_event(context, at.EVENT_FAILED, noted)
        fail_results(context, record, noted)
        drop_reference(context, noted)
    drop_optional(context, load(context + at.CONTEXT_FAILURE))
    store(context + at.CONTEXT_NESTED, nested)
    store(context + at.CONTEXT_FAILURE, failure)
    store(context + at.CONTEXT_RUN, run)


@exported("tfrtKernelArgument", "ptr", "ptr", "i64")
def kernel_argument(context: Address, index: int) -> Address:
    """Return the address of a scalar argument's payload."""
    return argument(context, index) + at.VALUE_PAYLOAD


@exported("tfrtKernelObject", "ptr", "ptr", "ptr", "i64")
def kernel_object(context: Address, record: Address, index: int) -> Address:
    """Return an object through which compiled code can await an argument of the kernel.

    The caller gets a new reference to the object.
    """
    kind = attribute(record, FIRST_TYPE + load_i32(record + at.RECORD_RESULTS) + index)
    value = argument(context, index)
    made = object_of(context, value, kind, attribute(record, ARGUMENT_ARRIVED))
    # A resolved object cannot keep a cancelled run waiting, so it is not registered.
    if not is_available(made):
        note_import(context, made, load(context + at.CONTEXT_REQUEST))
    return made


@entry
def note_import(context: Address, made: Address, request: Address) -> None:
    """Register `made`, an object that waits for a host value.

    If `request` is cancelled, the object is abandoned: it becomes an error.
    """
    shared = load(load(context + at.CONTEXT_QUEUE) + at.QUEUE_ASYNC)
    add_references(made, 1)
    cell = take_cell(context)
    store(cell + at.IMPORT_OBJECT, made)
    store(cell + at.IMPORT_REQUEST, request)
    # Count first: a visitor that sees as many imports as are counted has missed none.
    count = fetch_add(shared + at.ASYNC_IMPORTED, 1)
    push(shared + at.ASYNC_IMPORTS, cell, at.IMPORT_NEXT)
    # A cancelling thread sets REQUEST_CANCEL and then visits the imports, so at least one of the
    # two threads sees the other's write.
    fence()
    cancelled = load_acquire(request + at.REQUEST_CANCEL)
    if cancelled != 0:
        # Not `visit_imports`: another thread may hold the list.
        add_references(cancelled, 1)
        async_abandon(context, made, cancelled)
    elif count & (IMPORTS_SWEPT - 1) == IMPORTS_SWEPT - 1:
        visit_imports(context, shared, 0, 0)


@entry
def visit_imports(context: Address, shared: Address, request: Address, failure: Address) -> int:
    """Abandon the objects imported for a cancelled request, and forget all resolved objects.

    The objects of `request` become the error `failure`, which the caller still owns.  If `request`
    is 0, no objects are abandoned.

    Return how many imports are left among those that this thread has seen.  If fewer are left than
    ASYNC_IMPORTED says, another thread may have held some of them.
    """
    # Pairs with the fence in `note_import`: either this thread sees the import, or that thread sees
    # the cancellation.
    fence()
    cell = take_all(shared + at.ASYNC_IMPORTS)
    left = 0
    while cell != 0:
        following = load(cell + at.IMPORT_NEXT)
        made = load(cell + at.IMPORT_OBJECT)
        if request != 0 and load(cell + at.IMPORT_REQUEST) == request:
            add_references(failure, 1)
            async_abandon(context, made, failure)
        if is_available(made):
            fetch_add(shared + at.ASYNC_IMPORTED, -1)
            drop_references(context, made, 1)
            give_cell(context, cell)
        else:
            left += 1
            push(shared + at.ASYNC_IMPORTS, cell, at.IMPORT_NEXT)
        cell = following
    return left


@entry
def object_of(context: Address, value: Address, kind: int, arrived: Address) -> Address:
    """Return an object, with one reference, through which compiled code can await a host value.

    `kind` is the payload type, and `arrived` is the address of `argument_arrived`.
    """
    if is_available(value):
        return available_object(context, resolve(value), kind)
    made = new_object(context, kind)
    # The waiter needs its own reference: the publisher may drop the value before the waiter has
    # run.
    add_references(value, 1)
    # The value may have become available since the check above.
    if not wait_for(context, value, at.WAIT_NOTIFY, arrived, made):
        argument_arrived(context, made, value)
    return made


@native
def available_object(context: Address, source: Address, kind: int) -> Address:
    """Make a resolved object from the concrete or error value `source`, with one reference."""
    made = new_value(context, kind)
    # Plain stores suffice: no other thread knows the object before `register_checked`.
    store(made + at.VALUE_ASYNC, 0)
    if state_of(source) == at.ERROR:
        add_references(source, 1)
        store(made + at.VALUE_TARGET, source)
        store(made + at.VALUE_KIND, kind << 8 | at.KIND_INDIRECT)
        store(made + at.VALUE_STATE, at.ERROR)
    else:
        store(made + at.VALUE_PAYLOAD, load(source + at.VALUE_PAYLOAD))
        store(made + at.VALUE_STATE, at.CONCRETE)
    register_checked(context, made)
    return made


@entry
def argument_arrived(context: Address, made: Address, value: Address) -> None:
    """Waiter function: resolve the object `made` to the outcome of its host value.

    An object that the runtime has already resolved does not change.  The function takes over a
    reference to `value` and the producer's reference to `made`.
    """
    if claim(made):
        source = resolve(value)
        if state_of(source) == at.ERROR:
            add_references(source, 1)
            become_error(context, made, source)
        else:
            store(made + at.VALUE_PAYLOAD, load(source + at.VALUE_PAYLOAD))
            publish(context, made, at.CONCRETE)
        drop_references(context, made, 1)
    else:
        resolved_before(context, made)
    drop_reference(context, value)


@exported("tfrtKernelReturn", "void", "ptr", "ptr", "i64", "i64")
def kernel_return(context: Address, record: Address, index: int, word: int) -> None:
    """Set a scalar result."""
    set_word(context, index, attribute(record, FIRST_TYPE + index), word)


@exported("tfrtKernelReturnObject", "void", "ptr", "ptr", "i64", "ptr")
def kernel_return_object(context: Address, record: Address, index: int, made: Address) -> None:
    """Set a result to the object `made`, and take over the caller's reference.

    The run does not finish before the object is resolved.  If the object fails, so does the run.
    """
    # The type tells Python how to read the payload. A failed object keeps its own kind, which
    # forwards to the error.
    kind = attribute(record, FIRST_TYPE + index) << 8 | at.KIND_CONCRETE
    compare_and_swap(made + at.VALUE_KIND, at.TYPE_UNKNOWN << 8 | at.KIND_CONCRETE, kind)
    request = load(context + at.CONTEXT_REQUEST)
    if not is_available(made):
        # Keep the run and the object alive before adding the waiter, which may run immediately.
        fetch_add(request + at.REQUEST_ACTIVE, 1)
        add_references(made, 1)
        if not wait_for(context, made, at.WAIT_NOTIFY, attribute(record, RESULT_ARRIVED), request):
            result_arrived(context, request, made)
    elif state_of(made) == at.ERROR:
        report_failure(context, made)
    set_result(context, index, made)


@entry
def result_arrived(context: Address, request: Address, made: Address) -> None:
    """Waiter function: note that the object `made`, a result of `request`, has been resolved."""
    if state_of(made) == at.ERROR:
        # A waiter may run in the middle of another run's kernel, which still needs its request.
        former = load(context + at.CONTEXT_REQUEST)
        store(context + at.CONTEXT_REQUEST, request)
        report_failure(context, made)
        store(context + at.CONTEXT_REQUEST, former)
    drop_reference(context, made)
    # Do this last: if nothing else of the run is active, the program may be gone afterward.
    leave_request(context, request)


@native
def report_failure(context: Address, made: Address) -> None:
    """Report the error of a failed object to the current request."""
    failure = error_of(context, made)
    report_event(context, at.EVENT_FAILED, failure)
    drop_reference(context, failure)


@exported("tfrtKernelBorrowBuffer", "i1", "ptr", "ptr")
def kernel_borrow_buffer(context: Address, request: Address) -> int:
    """Fill in the buffer descriptor for a tensor argument; return 1 if the tensor's type is wrong.

    `request` is the address of five words: the record, the argument, the spec, the descriptor, and
    whether the argument is the first buffer of its call.
    """
    return report_event(context, at.EVENT_BORROW_BUFFER, request)


@exported("tfrtKernelReturnBuffer", "void", "ptr", "ptr")
def kernel_return_buffer(context: Address, request: Address) -> None:
    """Make a result from a buffer; `request` has the same format as in `kernel_borrow_buffer`."""
    report_event(context, at.EVENT_RETURN_BUFFER, request)


@native
def new_pending(context: Address, record: Address, spec: Address, resolved: Address) -> Address:
    """Make a cell that describes a wait for a buffer.

    The run does not finish before the buffer arrives.
    """
    request = load(context + at.CONTEXT_REQUEST)
    fetch_add(request + at.REQUEST_ACTIVE, 1)
    pending = take_cell(context)
    store(pending + at.PENDING_REQUEST, request)
    store(pending + at.PENDING_RECORD, record)
    store(pending + at.PENDING_SPEC, spec)
    store(pending + at.PENDING_OBJECT, resolved)
    return pending


@exported("tfrtKernelBufferObject", "ptr", "ptr", "ptr", "i64", "i64", "ptr")
def kernel_buffer_object(
    context: Address, record: Address, index: int, size: int, spec: Address
) -> Address:
    """Return a value through which compiled code can await a tensor argument, with a new reference.

    The value's payload is a buffer descriptor of `size` bytes.
    """
    value = argument(context, index)
    made = new_future(context, size)
    add_references(value, 1)
    # A tensor of the wrong type is an error at the record's location, so the run must last until
    # the tensor arrives.
    pending = new_pending(context, record, spec, made)
    store(pending + at.PENDING_DESCRIPTOR, storage_of(made))
    store(pending + at.PENDING_VALUE, value)
    if not wait_for(context, value, at.WAIT_NOTIFY, attribute(record, TENSOR_ARRIVED), pending):
        tensor_arrived(context, pending, value)
    return made


@entry
def tensor_arrived(context: Address, pending: Address, value: Address) -> None:
    """Waiter function: resolve the buffer value for a tensor that has become available."""
    made = load(pending + at.PENDING_OBJECT)
    request = load(pending + at.PENDING_REQUEST)
    # Claim first: after that, no other thread resolves the object, and Python may fill in its
    # descriptor.
    if claim(made):
        failure = 0
        if state_of(value) == at.ERROR:
            failure = error_of(context, value)
        else:
            store(pending + at.PENDING_VALUE, resolve(value))
            failure = report_event(context, at.EVENT_TENSOR_ARRIVED, pending)
        if failure != 0:
            become_error(context, made, failure)
        else:
            publish(context, made, at.CONCRETE)
        drop_references(context, made, 1)
    else:
        resolved_before(context, made)
    drop_reference(context, value)
    give_cell(context, pending)
    leave_request(context, request)


@exported("tfrtKernelReturnBufferObject", "void", "ptr", "ptr", "i64", "ptr", "ptr")
def kernel_return_buffer_object(
    context: Address, record: Address, index: int, made: Address, spec: Address
) -> None:
    """Set a result to the tensor that Python makes from the buffer value `made`.

    The function takes over the caller's reference to `made`.
    """
    result = new_indirect(context)
    add_references(result, 1)
    pending = new_pending(context, record, spec, result)
    if not wait_for(context, made, at.WAIT_NOTIFY, attribute(record, BUFFER_ARRIVED), pending):
        buffer_arrived(context, pending, made)
    set_result(context, index, result)


@entry
def buffer_arrived(context: Address, pending: Address, made: Address) -> None:
    """Waiter function: have Python make the result's tensor from a resolved buffer value."""
    result = load(pending + at.PENDING_OBJECT)
    request = load(pending + at.PENDING_REQUEST)
    # Python reports a failure to the context's request, but here, that may belong to another run.
    former = load(context + at.CONTEXT_REQUEST)
    store(context + at.CONTEXT_REQUEST, request)
    if state_of(made) == at.ERROR:
        target = error_of(context, made)
        report_event(context, at.EVENT_FAILED, target)
    else:
        store(pending + at.PENDING_DESCRIPTOR, storage_of(made))
        target = report_event(context, at.EVENT_BUFFER_ARRIVED, pending)
    store(context + at.CONTEXT_REQUEST, former)
    give_cell(context, pending)
    run_waiters(context, forward_to(context, result, target))
    drop_reference(context, result)
    drop_references(context, made, 1)
    # Do this last: if nothing else of the run is active, the program may be gone afterward.
    leave_request(context, request)
