"""Call Python kernels for the run loop, and create kernels' errors."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, error
from tfrt_runtime.executor.loading.resolve import PythonCall
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.payload import (
    CHAIN,
    RUN,
    SCALAR_TYPES,
    PayloadError,
    address_of_words,
    as_python,
    encode,
    read_as,
    read_payload,
)
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.request import Request
from tfrt_runtime.host.structs import WORDS, Context, Record, signed
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.values.fitting import CHAIN_TYPE, fitting
from tfrt_runtime.host.values.promises import is_awaited, on_queue, unresolved
from tfrt_runtime.kernels.calls import FEW, calls_around, notes_around
from tfrt_runtime.kernels.frame import Function, KernelFrame
from tfrt_runtime.kernels.registry import ITS_LOOP, KernelError, PythonKernel
from tfrt_runtime.kernels.users.outcomes import (
    count_array,
    diagnostic_of,
    failed,
    items_of,
    nth_result,
    of_future,
    ordinary,
    pass_on,
    refusing,
    stay_open_for,
)
from tfrt_runtime.native import layouts as at
from tfrt_runtime.scalars import FAILURES

MESSAGES = {
    at.MESSAGE_NO_RESULT: "the kernel did not set its result",
    at.MESSAGE_POOL_FULL: (
        "Failed to enqueue blocking work. Maximum number of pending blocking tasks reached."
    ),
    at.MESSAGE_CASE_RANGE: "branch_index invalid",
    at.MESSAGE_FAIL: "something bad happened",
    at.MESSAGE_FAIL_ASYNC: "something bad happened asynchronously",
    at.MESSAGE_ERROR_CHAIN: "error chain",
    at.MESSAGE_QUIET_FAIL: "something bad happened",
    at.MESSAGE_NEGATIVE_COUNT: "the number of iterations is negative",
    at.MESSAGE_TOO_DEEP: f"calls are nested too deeply: they take more than {at.MAX_NESTED >> 20} MiB",  # noqa: E501
    at.MESSAGE_NO_MEMORY: "out of memory",
    at.MESSAGE_NOT_READY: "the kernel's result is not available yet, and a sync function does not wait",  # noqa: E501
    at.MESSAGE_WRONG_TYPE: "an argument has a different type than the kernel takes",
}
_OUTSIDE = (at.MESSAGE_FAIL_ASYNC, at.MESSAGE_QUIET_FAIL, at.MESSAGE_NO_MEMORY)
"""Messages that may be reported while no kernel is running on the thread."""


def present_request(context: int) -> Request:
    """Return the run whose kernel or task is running in `context`."""
    request: Request = native_process().requests[Context.at(context).request]
    return request


def error_value(context: int, diagnostic: Diagnostic) -> int:
    """Report a diagnostic to the current run; return an error value with one reference."""
    present_request(context).report(diagnostic)
    return native_process().error_value(context, diagnostic)


def report(context: int, record: int, message: int, location: AnyLocation) -> int:
    """Return a native kernel's error as an error value with one reference."""
    notes = () if message in _OUTSIDE else notes_around(context, present_request(context))
    diagnostic = error(message_text(context, record, message), location, notes)
    if message == at.MESSAGE_QUIET_FAIL:  # it is reported where it is read
        return native_process().error_value(context, diagnostic)
    return error_value(context, diagnostic)


def message_text(context: int, record: int, message: int) -> str:
    """Return the text of a message.

    Some messages include the invalid number, which is in the kernel's frame.
    """
    arguments = Context.at(context).arguments >> 3
    if message >= at.FIRST_FAILURE:
        failure = FAILURES[message - at.FIRST_FAILURE]
        if not failure.word:
            return failure.text
        return failure.text.format(read_as(failure.word, WORDS[arguments + failure.shown]))
    text = MESSAGES[message]
    if message == at.MESSAGE_NEGATIVE_COUNT:
        return f"{text}: {read_as('i32', WORDS[arguments])}"
    if message == at.MESSAGE_CASE_RANGE:
        branches = WORDS[(record + Record.at(record).data) >> 3]
        return f"{text}. branch index: {read_as('i32', WORDS[arguments])} # branches: {branches}"
    return text


Bind = Callable[[int, Request], Function]
"""Returns function number `index` of the program in a form that can be called in a run."""


def run_python_kernel(context: int, bind: Bind, call: PythonCall) -> None:
    """Run the kernel with the frame in `context`, and set the kernel's results.

    This function never raises an exception.
    """
    request = present_request(context)
    results = Context.at(context).results >> 3
    before = request.host.serve(request)
    allocated: dict[int, AsyncValue] = {}
    try:
        # This may raise an interrupt that has arrived before, so it must be inside `try`.
        INTERRUPTS.allow()
        returned = call_function(context, bind, call, request, allocated)
        INTERRUPTS.forbid()
        allocated = {}
        values = result_values(context, call, returned)
    except BaseException as exception:  # noqa: BLE001 - it becomes the results' error
        INTERRUPTS.forbid()
        values = failure(context, call, exception, allocated)
    request.host.serve(before)
    for i, value in enumerate(values):
        WORDS[results + i] = value


def failure(
    context: int,
    call: PythonCall,
    exception: BaseException,
    allocated: dict[int, AsyncValue],
) -> list[int]:
    """Return errors as the results of a kernel that raised `exception`.

    Each result has one reference.  Results that the kernel has already made available keep their
    values.
    """
    request = present_request(context)
    # Read these before the exception is detached: dropping its frames drops promises. A promise
    # that was dropped earlier is already an error.
    kept = {i: own for i, own in allocated.items() if own.done() and own.exception(0) is None}
    allocated.clear()  # drops promises without other references silently
    # After running out of memory, the error needs some of the reserved memory.
    is_short = isinstance(exception, MemoryError)
    with native_process().refusing() if is_short else contextlib.nullcontext():
        diagnostic = failed(request, exception, call.location, notes_around(context, request))
        value = native_process().error_value(context, diagnostic)
    values = [
        kept[index].address if index in kept else value for index in range(len(call.record.results))
    ]
    for one in values:
        native_process().quick.value_add_reference(one)
    native_process().quick.value_drop(context, value)
    pass_on(request, exception, diagnostic)
    return values


def call_function(
    context: int,
    bind: Bind,
    call: PythonCall,
    request: Request,
    allocated: dict[int, AsyncValue],
) -> object:
    """Call the kernel's function with the frame's arguments.

    `allocated` receives the results that the function allocates through its frame.
    """
    kernel, objects = call.kernel, native_process().objects
    first = Context.at(context).arguments >> 3
    staged = range(first, first + len(call.record.arguments))
    arguments: list[object]
    if kernel.raw:
        arguments = [borrowed(request, WORDS[i]) for i in staged]
    elif call.order:
        arguments = mixed(request, kernel, call.order, [WORDS[i] for i in staged])
    else:
        arguments = [read_payload(WORDS[i], objects) for i in staged]
        if kernel.arrays:
            arguments = [as_python(value) for value in arguments]
    if kernel.takes is not None and len(arguments) > kernel.takes and arguments[-1] is CHAIN:
        del arguments[-1]
    if kernel.takes is not None and len(arguments) > kernel.takes:
        raise KernelError(f"'{kernel.name}' takes {kernel.taken}, found {len(arguments)}")
    if not kernel.frame:
        return kernel.function(*arguments, *call.attributes)
    frame = frame_of(context, call, request)
    frame.functions = tuple([bind(index, request) for index in call.record.functions])
    frame.arguments = [value for value in arguments if isinstance(value, AsyncValue)]
    frame.allocated = allocated
    return kernel.function(frame, *arguments, *call.attributes)


def frame_of(context: int, call: PythonCall, request: Request) -> KernelFrame:
    """Return a frame for the kernel that is running in `context`, without functions."""
    return KernelFrame(
        request.host,
        request,
        call.kernel.name,
        call.location,
        calls_around(context, FEW),
        call.record.location,
        call.debug_info,
        call.result_types,
        call.attributes,
        call.is_read_here,
    )


def start_coroutine(call: PythonCall, *given: object) -> int:
    """Call the function of a coroutine kernel with the arguments and attributes `given`.

    Return the address of the result, with a reference.

    Native code calls this.  The function only starts a task, so no user code runs here.
    """
    words, process = RUN.get(), native_process()
    assert words is not None
    request = process.requests[address_of_words(words)]
    made = call.kernel.function(frame_of(request.queue.context(), call, request), *given)
    held: AsyncValue = request.host.hold(request, made, False)
    process.quick.value_add_reference(held.address)
    return held.address


def mixed(
    request: Request, kernel: PythonKernel, order: tuple[int, ...], staged: list[int]
) -> list[object]:
    """Return the arguments of a lazy kernel in the order of the kernel's parameters.

    In the record, the arguments that the kernel does not await come last.
    """
    arguments: list[object] = [None] * len(order)
    for place, value in zip(order, staged, strict=True):
        if kernel.is_lazy(place):
            arguments[place] = borrowed(request, value)
        else:
            arguments[place] = as_python(read_payload(value, native_process().objects))
    return arguments


def borrowed(request: Request, value: int) -> AsyncValue:
    """Return an AsyncValue for a value of the frame."""
    native_process().quick.value_add_reference(value)
    return AsyncValue(request.queue, value)


_ONE_RESULT = (("chain",), ("object",))


def result_values(context: int, call: PythonCall, returned: object) -> list[int]:
    """Return native values for the objects that a kernel returned, each with one reference.

    Raises:
        KernelError: if the number of objects is not the number of results, or if an object is
            invalid.
    """
    words = call.kernel.results
    if words in _ONE_RESULT and not isinstance(returned, tuple | list):
        assert words is not None
        if not isinstance(returned, AsyncValue):
            return [native_value(context, returned, words[0], call, 0)]
    request = present_request(context)
    if isinstance(returned, AsyncValue) and request.promises.counts(returned):
        # The run has allocated the value, so the value's queue and type are right.
        return [native_value(context, request.host.hold(request, returned, False), "", call, 0)]
    values: list[int] = []
    later: list[tuple[int, AsyncValue, AsyncValue]] = []
    try:
        for index, item in enumerate(items_of(returned, words or call.result_types)):
            word = words[index] if words else word_for(call.result_types[index], item)
            is_outside = False
            if is_awaited(item, word):
                what = nth_result(call.kernel.name, index, len(call.record.results))
                item, is_outside = of_future(request, item, word, call.location, what), True
            if isinstance(item, AsyncValue):
                what = nth_result(call.kernel.name, index, len(call.record.results))
                refuse = refusing(request, call.location, what)
                given, item = item, on_queue(request.queue, item, word, refuse)
                if not given.is_indirect:
                    item = request.host.hold(request, item, is_outside or item is not given)
                if not item.done():
                    later.append((index, given, item))
            values.append(native_value(context, item, word, call, index))
    except BaseException:
        drop = native_process().quick.value_drop
        for value in values:
            drop(context, value)
        raise
    for index, given, item in later:
        if request.promises.counts(given):
            continue
        text = unresolved(call.kernel.name, index, call.kernel.waits)
        stay_open_for(request, item, given, text, call.location)
    return values


def word_for(type_text: str, item: object) -> str:
    """Return the type of a result that the kernel does not declare.

    The result is the type in the file or, if the file has none, the type of the Python object.
    """
    if type_text != "":
        return type_text
    if isinstance(item, (bool, int, float)):
        return "i1" if isinstance(item, bool) else "i64" if isinstance(item, int) else "f64"
    return CHAIN_TYPE if item is None or item is CHAIN else "object"


def native_value(context: int, item: object, word: str, call: PythonCall, index: int) -> int:
    """Return result number `index` as a native value with one reference."""
    process = native_process()
    match item:
        case AsyncValue():
            process.quick.value_add_reference(item.address)
            return item.address
        case KernelError():
            return error_value(context, diagnostic_of(item, call.location))
    if word == "chain":
        payload_type, first, second = at.TYPE_CHAIN, 0, 0
    else:
        try:
            count_array(present_request(context).host, item)
            item = fitting(word, item)
            payload_type, first, second = encode(word, item, process.objects)
        except PayloadError as wrong:
            what = nth_result(call.kernel.name, index, len(call.record.results))
            raise KernelError(f"{what}: {wrong}") from None
    return process.quick.value_of(context, payload_type, signed(first), signed(second))


Finish = Callable[[int, object, BaseException | None], None]
"""Sets the result of the kernel in a context, given the kernel's return value or exception.

It never raises an exception.
"""


def plain_call(
    call: PythonCall, argument_types: tuple[str, ...]
) -> tuple[tuple[int, ...], Finish] | None:
    """Return the data words with which native code can call a Python kernel directly.

    Also return the function that sets the kernel's result if native code cannot.  That function
    must live as long as the kernel.

    Return None if native code cannot call the kernel directly.  For example, the kernel may have
    several results, or may take a frame besides its arguments (unless it is a coroutine kernel,
    because `start_coroutine` passes it the frame).
    """
    kernel = call.kernel
    is_coroutine = kernel.waits == ITS_LOOP and not call.record.functions
    is_framed = kernel.frame and not is_coroutine
    is_plain = kernel.arrays and not (is_framed or kernel.raw or call.order)
    takes_all = kernel.takes is None or len(argument_types) <= kernel.takes
    if not is_plain or not takes_all or len(call.record.results) != 1:
        return None
    function = partial(start_coroutine, call) if is_coroutine else kernel.function
    result = (at.IS_VALUE, 0) if is_coroutine else ordinary(call.result_types[0])

    # The last parameter keeps the function alive.
    def finish(
        context: int, returned: object, raised: BaseException | None, _: object = function
    ) -> None:
        try:
            if raised is None:
                [value] = result_values(context, call, returned)
            else:
                [value] = failure(context, call, raised, {})
        except BaseException as problem:  # noqa: BLE001 - it becomes the result's error
            [value] = failure(context, call, problem, {})
        WORDS[Context.at(context).results >> 3] = value

    words = (
        id(function),
        id(finish),
        len(argument_types),
        len(call.attributes),
        *result,
        *(SCALAR_TYPES.get(one, 0) for one in argument_types),
        *map(id, call.attributes),
    )
    return words, finish
