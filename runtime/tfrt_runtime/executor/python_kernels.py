"""Calling a Python kernel from the run loop, and errors of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.diagnostics import AnyLocation, Diagnostic, error, note
from tfrt_runtime.executor.calls import start_call
from tfrt_runtime.executor.resolve import PythonCall
from tfrt_runtime.host.async_value import AsyncValue, encode
from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.context import Request
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.payload import SCALAR_TYPES, PayloadError, read_as, read_payload
from tfrt_runtime.host.process import native_process, request_of
from tfrt_runtime.host.raw import WORDS, signed
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelError
from tfrt_runtime.native.layouts import (
    CONTEXT_ARGUMENTS,
    CONTEXT_RESULTS,
    MESSAGE_CASE_RANGE,
    MESSAGE_DIVIDE_BY_ZERO,
    MESSAGE_ERROR_CHAIN,
    MESSAGE_FAIL,
    MESSAGE_FAIL_ASYNC,
    MESSAGE_NEGATIVE_COUNT,
    MESSAGE_NO_RESULT,
    MESSAGE_NOT_READY,
    MESSAGE_POOL_FULL,
    MESSAGE_QUIET_FAIL,
    MESSAGE_TOO_DEEP,
    MESSAGE_WRONG_TYPE,
    MOST_NESTED,
    RECORD_DATA,
    TYPE_CHAIN,
)

MESSAGES = {
    MESSAGE_NO_RESULT: "the kernel did not set its result",
    MESSAGE_POOL_FULL: (
        "Failed to enqueue blocking work. Maximum number of pending blocking tasks reached."
    ),
    MESSAGE_DIVIDE_BY_ZERO: "Divide by zero",
    MESSAGE_CASE_RANGE: "branch_index invalid",
    MESSAGE_FAIL: "something bad happened",
    MESSAGE_FAIL_ASYNC: "something bad happened asynchronously",
    MESSAGE_ERROR_CHAIN: "error chain",
    MESSAGE_QUIET_FAIL: "something bad happened",
    MESSAGE_NEGATIVE_COUNT: "the number of iterations is negative",
    MESSAGE_TOO_DEEP: f"calls are nested too deeply: they take more than {MOST_NESTED >> 20} MiB",
    MESSAGE_NOT_READY: "the kernel's result is not there yet, and a sync function does not wait",
    MESSAGE_WRONG_TYPE: "an argument is of another type than the kernel takes",
}


class Loaded(Protocol):
    """What a call needs of its program."""

    file: BefFile
    functions: tuple[BefFunction, ...]
    addresses: list[int]


@dataclass(frozen=True, slots=True)
class BoundFunction:
    """A function of the program within a run (`frame.Function`)."""

    program: Loaded
    index: int
    request: Request

    @property
    def name(self) -> str:
        return self.program.functions[self.index].name

    @property
    def argument_types(self) -> tuple[str, ...]:
        return self.program.functions[self.index].argument_types

    @property
    def result_types(self) -> tuple[str, ...]:
        return self.program.functions[self.index].result_types

    def execute(self, arguments: Sequence[AsyncValue]) -> list[AsyncValue]:
        if len(arguments) != len(self.argument_types):
            found = f"found {len(arguments)}"
            raise KernelError(f"'{self.name}' takes {len(self.argument_types)} arguments, {found}")
        self.request.enter_call()
        return start_call(
            self.request, self.program.addresses[self.index], arguments, self.result_types
        )


def present_request(context: int) -> Request:
    """The run whose kernel or task runs in `context`."""
    request = native_process().requests.get(request_of(context))
    assert isinstance(request, Request)
    return request


def error_value(context: int, diagnostic: Diagnostic) -> int:
    """A new error value with one reference; reports the diagnostic to the run."""
    present_request(context).report(diagnostic)
    return quiet_error_value(context, diagnostic)


def quiet_error_value(context: int, diagnostic: Diagnostic) -> int:
    """A new error value with one reference, which nobody hears of but who reads it."""
    process = native_process()
    value = process.quick("handles.value_make", 2)(context, 0)
    handle = process.objects.add(diagnostic)
    process.quick("handles.value_set_error", 3)(context, value, handle)
    return value


def report(context: int, record: int, message: int, location: AnyLocation) -> int:
    """An error of a native kernel as a value with one reference."""
    make = quiet_error_value if message == MESSAGE_QUIET_FAIL else error_value
    return make(context, error(MESSAGES[message] + details(context, record, message), location))


def details(context: int, record: int, message: int) -> str:
    """What a message says beyond its text: the number that was wrong, from the kernel's frame."""
    if message not in (MESSAGE_CASE_RANGE, MESSAGE_NEGATIVE_COUNT):
        return ""
    number = read_as("i32", WORDS[WORDS[(context + CONTEXT_ARGUMENTS) >> 3] >> 3])
    if message == MESSAGE_NEGATIVE_COUNT:
        return f": {number}"
    branches = WORDS[WORDS[(record + RECORD_DATA) >> 3] >> 3]
    return f". branch index: {number} # branches: {branches}"


def run_python_kernel(context: int, record: int, program: Loaded, call: PythonCall) -> None:
    """Run the kernel on the frame in `context`, and set its results.  Never raises."""
    del record
    request = present_request(context)
    results = WORDS[(context + CONTEXT_RESULTS) >> 3] >> 3
    before = request.host.serve(request)
    try:
        INTERRUPTS.allow()
        returned = call_function(context, program, call, request)
        INTERRUPTS.forbid()
        values = result_values(context, call, returned)
    except BaseException as exception:  # noqa: BLE001 - it becomes the results' error
        INTERRUPTS.forbid()
        values = shared(
            context, failure(context, exception, call.location), len(call.record.results)
        )
        if isinstance(exception, KeyboardInterrupt):
            request.interrupted = True
            request.cancel("interrupted")
    else:
        watch_promises(request, call, returned)
    request.host.serve(before)
    for i, value in enumerate(values):
        WORDS[results + i] = value


def watch_promises(request: Request, call: PythonCall, returned: object) -> None:
    """Note which results of a kernel are not there yet."""
    if call.kernel.results is not None and not isinstance(returned, tuple | AsyncValue):
        return
    items = returned if isinstance(returned, tuple) else (returned,)
    for index, item in enumerate(items):
        if isinstance(item, AsyncValue) and not item.done():
            text = f"kernel '{call.kernel.name}' has not resolved its result {index} yet"
            watch = request.promises.watch_inside if item.is_indirect else request.promises.watch
            watch(item, text, call.location)


def shared(context: int, value: int, places: int) -> list[int]:
    """The same value in several places, one reference each.  Consumes a reference."""
    for _ in range(places):
        native_process().quick("handles.value_add_reference", 1)(value)
    native_process().quick("handles.value_drop", 2)(context, value)
    return [value] * places


def call_function(context: int, program: Loaded, call: PythonCall, request: Request) -> object:
    """What the kernel's function returns for the arguments in the frame."""
    kernel, objects = call.kernel, native_process().objects
    first = WORDS[(context + CONTEXT_ARGUMENTS) >> 3] >> 3
    staged = range(first, first + len(call.record.arguments))
    arguments: list[object]
    if kernel.raw:
        arguments = [borrowed(request, WORDS[i]) for i in staged]
    else:
        arguments = [read_payload(WORDS[i], objects, CHAIN) for i in staged]
    if kernel.takes is not None and len(arguments) > kernel.takes and arguments[-1] is CHAIN:
        del arguments[-1]
    if kernel.takes is not None and len(arguments) > kernel.takes:
        raise KernelError(f"'{kernel.name}' takes {kernel.takes} arguments, found {len(arguments)}")
    if not kernel.frame:
        return kernel.function(*arguments, *call.attributes)
    frame = KernelFrame(
        host=request.host,
        request=request,
        name=kernel.name,
        location=call.location,
        location_id=call.record.location,
        debug_info=call.debug_info,
        functions=tuple(BoundFunction(program, index, request) for index in call.record.functions),
        arguments=[value for value in arguments if isinstance(value, AsyncValue)],
        result_types=call.result_types,
        attributes=call.attributes,
    )
    return kernel.function(frame, *arguments, *call.attributes)


def borrowed(request: Request, value: int) -> AsyncValue:
    """A Python reference to a value of the frame."""
    native_process().quick("handles.value_add_reference", 1)(value)
    return AsyncValue(request.queue, value)


_ONE_RESULT = (("chain",), ("object",))


def result_values(context: int, call: PythonCall, returned: object) -> list[int]:
    """Native values for what a kernel returned, each with one reference.

    Raises:
        KernelError: if it returned another number of values than it has results, or wrong ones.
    """
    if call.kernel.results in _ONE_RESULT and not isinstance(returned, tuple | list):
        return [native_value(context, returned, call.kernel.results[0], call)]
    count = len(call.record.results)
    if returned is None and count != 1:
        items: tuple[object, ...] = ()
    elif isinstance(returned, tuple) and (len(returned) == count or count != 1):
        items = returned
    else:
        items = (returned,)
    if len(items) != count:
        raise KernelError(f"the kernel returned {len(items)} values for {count} results")
    words = call.kernel.results or ("",) * count
    values: list[int] = []
    try:
        for item, word, type_text in zip(items, words, call.result_types, strict=True):
            values.append(native_value(context, item, word or word_for(type_text, item), call))
    except BaseException:
        drop = native_process().quick("handles.value_drop", 2)
        for value in values:
            drop(context, value)
        raise
    return values


def word_for(type_text: str, item: object) -> str:
    """The type word of a result that the kernel does not declare."""
    if type_text in SCALAR_TYPES:
        return type_text
    if type_text == "" and isinstance(item, (bool, int, float)):
        return "i1" if isinstance(item, bool) else "i64" if isinstance(item, int) else "f64"
    return "chain" if item is None or item is CHAIN else "object"


def native_value(context: int, item: object, word: str, call: PythonCall) -> int:
    """One result as a native value with one reference."""
    process = native_process()
    if isinstance(item, AsyncValue):
        process.quick("handles.value_add_reference", 1)(item.address)
        return item.address
    if isinstance(item, KernelError):
        return error_value(context, error(item.message, call.location))
    if word == "chain":
        payload_type, first, second = TYPE_CHAIN, 0, 0
    else:
        try:
            payload_type, first, second = encode(word, item, process)
        except PayloadError as wrong:
            raise KernelError(str(wrong)) from None
    make = process.quick("handles.value_of", 4)
    return make(context, payload_type, signed(first), signed(second))


def failure(context: int, exception: BaseException, place: AnyLocation) -> int:
    """The error value for what a kernel raised."""
    if isinstance(exception, KernelError):
        return error_value(context, error(exception.message, place))
    if isinstance(exception, KeyboardInterrupt):
        return error_value(context, error("interrupted", place))
    frames = exception.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    notes = []
    if frames is not None:
        code = frames.tb_frame.f_code
        notes.append(note(f"raised in {code.co_name}, {code.co_filename}:{frames.tb_lineno}"))
    message = f"{type(exception).__name__}: {exception}"
    return error_value(context, error(message, place, notes))
