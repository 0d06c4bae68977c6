"""Starting a function of a loaded program from Python."""

from __future__ import annotations

import reprlib
from array import array
from collections.abc import Callable, Sequence

from tfrt_runtime.callers import place_of_caller
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error
from tfrt_runtime.host.async_value import AsyncValue, encode
from tfrt_runtime.host.context import Request
from tfrt_runtime.host.fitting import fitting
from tfrt_runtime.host.futures import from_future, is_future, on_queue
from tfrt_runtime.host.payload import ENCODERS, SCALAR_TYPES, PayloadError
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.work_queue import WorkQueue
from tfrt_runtime.native.layouts import TYPE_OBJECT
from tfrt_runtime.native.python_calls import ARGUMENT_WORDS, IS_VALUE


def start_call(
    request: Request,
    function: int,
    arguments: Sequence[AsyncValue],
    result_types: Sequence[str],
) -> list[AsyncValue]:
    """Start the function at address `function`; its results, perhaps unavailable.

    One of the request's active counts becomes the call's.  Kernels become ready on this thread.
    """
    words = [value.address for value in arguments]
    return _started(request, "executor.start_call", function, words, result_types, is_task=False)


class Arguments:
    """The arguments of one call from outside, as words for `start_with`.

    `values` are those that were given as values or futures, by their index.  Whoever does not start
    the call gives them up with `release`.  A numpy array is a tensor over its memory where the program
    takes one.
    """

    __slots__ = ("_kept", "values", "words")

    def __init__(
        self,
        queue: WorkQueue,
        describe: Callable[[int], str],
        given: Sequence[object],
        types: Sequence[str],
    ) -> None:
        """
        Args:
            describe: names an argument by its index.

        Raises:
            TfrtError: if a value does not fit its type, at the line of the caller.
        """
        self.values: list[tuple[int, AsyncValue]] = []
        self.words: list[int] = []
        self._kept: list[object] = []  # the words of these are only good while they are alive
        try:
            for value, type_text in zip(given, types, strict=True):
                if not isinstance(value, AsyncValue) and not is_future(value):
                    self._kept.append(value := fitting(type_text, value))
                encoder = ENCODERS.get(type(value))
                if encoder is None or type_text in SCALAR_TYPES:
                    self._add(queue, value, type_text, describe)
                else:
                    self.words += (encoder[0], encoder[1](value), 0)
        except PayloadError as wrong:
            index = len(self.words) // ARGUMENT_WORDS
            self.release()
            reason = str(wrong)
            if reason.startswith("expected"):
                reason = f"expected {types[index]}, found {shown(given[index])}"
            text = f"{describe(index)}: {reason}"
            raise TfrtError(error(text, place_of_caller())) from None

    def _add(
        self, queue: WorkQueue, value: object, type_text: str, describe: Callable[[int], str]
    ) -> None:
        if not isinstance(value, AsyncValue) and not is_future(value):
            self.words += encode(type_text, value, native_process())
            return
        index = len(self.words) // ARGUMENT_WORDS

        def refuse(reason: str) -> Diagnostic:
            return error(f"{describe(index)}: {reason}")

        if not isinstance(value, AsyncValue):
            value = from_future(queue, value, type_text, refuse)
        value = on_queue(queue, value, type_text, refuse)
        self.values.append((index, value))
        self.words += (IS_VALUE, value.address, 0)

    def release(self) -> None:
        """Give up the handles of objects: there is no call that takes them over."""
        objects = native_process().objects
        for i in range(0, len(self.words), ARGUMENT_WORDS):
            if self.words[i] == TYPE_OBJECT:
                objects.release(self.words[i + 1])


def shown(value: object) -> str:
    """A value in a message: not too long, and with its type where that is not to be seen."""
    text = reprlib.repr(value)
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return text
    return f"{type(value).__name__} {text}"


def start_with(
    request: Request,
    function: int,
    arguments: Arguments,
    result_types: Sequence[str],
    *,
    is_task: bool,
) -> list[AsyncValue]:
    """As `start_call`; with `is_task` kernels become ready on the thread that takes the call."""
    words = arguments.words
    room = len(words) // ARGUMENT_WORDS
    entry = "python_calls.start_call_with"
    return _started(request, entry, function, words + [0] * room, result_types, is_task=is_task)


def _started(
    request: Request,
    entry: str,
    function: int,
    words: list[int],
    result_types: Sequence[str],
    *,
    is_task: bool,
) -> list[AsyncValue]:
    queue, given = request.queue, len(words)
    memory = array("q", words + [0] * (len(result_types) + 1))
    process = native_process()
    start = (process.quick if is_task else process.slow)(entry, 5)
    start(queue.context(), function, request.address, memory.buffer_info()[0], is_task)
    return [AsyncValue(queue, memory[given + i], text) for i, text in enumerate(result_types)]
