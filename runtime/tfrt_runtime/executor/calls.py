"""The functions of a loaded program that Python can call, and the conversion of their arguments."""

from __future__ import annotations

import functools
import sys
import weakref
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.diagnostics import (
    AnyLocation,
    Diagnostic,
    TfrtError,
    counted,
    error,
    place_of_caller,
)
from tfrt_runtime.host.payload import INTEGER_BITS, SCALAR_TYPES, PayloadError, encode
from tfrt_runtime.host.process import native_process
from tfrt_runtime.host.queues.work_queue import WorkQueue
from tfrt_runtime.host.request import NEW_REQUEST, Request
from tfrt_runtime.host.structs import WORDS, Context
from tfrt_runtime.host.values.async_value import AsyncValue
from tfrt_runtime.host.values.fitting import (
    CHAIN_TYPE,
    STRING_TYPE,
    TENSOR,
    fitting,
    misfit,
    why_copied,
)
from tfrt_runtime.host.values.promises import from_future, is_future, is_on_queue, on_queue
from tfrt_runtime.host.waiting import rest_of
from tfrt_runtime.kernels.registry import ControlKernel, Kernel, PythonKernel
from tfrt_runtime.native import layouts as at

ON_ITS_LOOP = (
    "this thread waits, and runs the event loop of the host, on which 'async def' kernels wait for their"  # noqa: E501
    " turn: await the run or its values, or let the host have a loop of its own"
)

Describe = Callable[[int, int], str]
"""A function that returns the name of an argument for messages.

It takes the number of the function and the number of the argument.
"""
Registry = Mapping[str, Kernel]


def _ordinary(type_text: str) -> int:
    """Return the payload type that native code can make for an MLIR type (`python_entries.put`)."""
    if type_text.endswith(TENSOR):
        return at.TYPE_TENSOR
    others = {CHAIN_TYPE: at.TYPE_CHAIN, STRING_TYPE: at.TYPE_OBJECT}
    return SCALAR_TYPES.get(type_text) or others.get(type_text, at.TYPE_UNKNOWN)


class Entry:
    """A function of a loaded program that Python can call.

    Each call has one block of words: a request, the payload type and the payload of each argument,
    and room for one value per result.
    """

    __slots__ = (
        "_arguments",
        "_describe",
        "_first",
        "_is_remote",
        "_native_template",
        "_place",
        "_template",
        "_writer",
        "address",
        "carries",
        "index",
        "name",
        "result_types",
        "template",
    )

    def __init__(
        self,
        index: int,
        name: str,
        types: tuple[Sequence[str], Sequence[str]],
        address: int,
        place: Callable[[], AnyLocation | None],
        describe: Describe,
        writer: Callable[[int], str | None],
        is_remote: Callable[[int], bool],
        *,
        carries: bool,
    ) -> None:
        """Make the entry of a function.

        Args:
            types: the types of the function's arguments, and the types of its results.
            address: the function's address in native memory.
            place: returns the location of the function's definition.
            writer: returns the kernel through which the function writes to a given tensor argument,
                or None.
            is_remote: returns whether only remote kernels use a given argument.
            carries: whether the function's runs inherit the caller's context variables.
        """
        self.index = index
        self.name = name
        self._arguments, self.result_types = types
        self.address = address
        self.carries = carries
        self._place = place
        self._describe = describe
        self._writer = functools.cache(writer)
        self._is_remote = is_remote
        count = len(self._arguments)
        self._template = array("q", NEW_REQUEST)
        for type_text in self._arguments:
            self._template.extend((_ordinary(type_text), 0, 0))
        self._template.extend([0] * len(self.result_types))
        self._first = 8 * (len(NEW_REQUEST) + at.ARGUMENT_WORDS * count)
        """The offset of the first result from the start of a request, in bytes."""
        head = array("q", bytes(at.TEMPLATE_WORDS))
        head[at.TEMPLATE_SIZE // 8] = self._template.itemsize * len(self._template)
        head[at.TEMPLATE_ARGUMENTS // 8] = count
        head[at.TEMPLATE_FUNCTION // 8] = address
        head[at.TEMPLATE_RESULTS // 8] = len(self.result_types)
        head[at.TEMPLATE_FIRST // 8] = self._first
        head[at.TEMPLATE_CARRIES // 8] = carries
        if len(self.result_types) == 1:
            [word] = self.result_types
            head[at.TEMPLATE_READS // 8] = SCALAR_TYPES.get(word, at.ANY_PAYLOAD)
        self._native_template = head + self._template
        self.template = self._native_template.buffer_info()[0]
        """The address of the struct TEMPLATE for native code."""

    def words(
        self, queue: WorkQueue, given: Sequence[object]
    ) -> tuple[array[int], Sequence[tuple[int, AsyncValue]], Sequence[object]]:
        """Return the words of a call with the arguments `given`, for `Request.open`.

        Also return the arguments that are AsyncValues or futures, with their indexes, and the
        objects that must live until the call has started.  If the caller does not start the call,
        it must call `release`.  If the function takes a tensor, a numpy array becomes a tensor over
        the array's memory.

        Raises:
            TfrtError: if the number of arguments is wrong, or if an argument does not fit its type;
                located at the caller's line.
        """
        if len(given) != len(self._arguments):
            raise self._miscounted(len(given))
        words = self._template[:]
        values: list[tuple[int, AsyncValue]] = []
        kept: list[object] = []
        place = len(NEW_REQUEST)
        for index, value in enumerate(given):
            try:
                self._put(queue, words, place, value, values, kept, index)
            except PayloadError as wrong:
                self.release(words)
                raise self._refused(index, value, wrong) from None
            place += at.ARGUMENT_WORDS
        return words, values, kept

    def rows(
        self, queue: WorkQueue, columns: Sequence[Sequence[object]]
    ) -> tuple[array[int], int, list[object]]:
        """Return the words of one call for each row of the columns, and the number of calls.

        Also return the objects that must live until all calls have started.

        Raises:
            TfrtError: if the number of columns is wrong, if their lengths differ, or if a value
                does not fit its type; located at the caller's line.
        """
        import numpy as np  # programs without batches do not import it

        if len(columns) != len(self._arguments):
            raise self._miscounted(len(columns))
        counts = {len(column) for column in columns}
        if len(counts) != 1:
            found = " and ".join(map(str, sorted(counts))) or "no"
            text = (
                f"@{self.name} is called once for each value of its columns, found {found} values"
            )
            raise TfrtError(error(text, place_of_caller()))
        [count] = counts
        size, kept = self.row_bytes // 8, list[object]()
        words = array("q", NEW_REQUEST)
        words.frombytes(bytes(self.row_bytes * count))
        # A run without calls ends when `Batch` leaves this one.
        words[at.REQUEST_ACTIVE // 8] = count or 1
        table = np.frombuffer(words, np.int64)[len(NEW_REQUEST) :].reshape(count, size)
        for index, (type_text, column) in enumerate(zip(self._arguments, columns, strict=True)):
            payloads = column_payloads(type_text, column)
            place = len(NEW_REQUEST) + at.ARGUMENT_WORDS * index
            if payloads is not None:
                table[:, at.ARGUMENT_WORDS * index] = SCALAR_TYPES[type_text]
                table[:, at.ARGUMENT_WORDS * index + 1] = payloads
                continue
            for row, value in enumerate(column):
                try:
                    if isinstance(value, AsyncValue) or is_future(value):
                        raise PayloadError("a column has values, not futures: use run for those")
                    self._put(queue, words, place, value, [], kept, index)
                except PayloadError as wrong:
                    self.release(words)
                    raise self._refused(index, value, wrong, f"call {row + 1}: ") from None
                place += size
        return words, count, kept

    @property
    def row_bytes(self) -> int:
        """The size of a call's words without the request, in bytes."""
        return 8 * (len(self._template) - len(NEW_REQUEST))

    def result_address(self, request: Request, call: int, index: int) -> int:
        """Return the address of result `index` of call number `call` in the request's words."""
        return request.address + self._first + self.row_bytes * call + 8 * index

    def release(self, given: array[int] | bytes) -> None:
        """Release the handles of objects in the words of calls that were not started."""
        objects, words = native_process().objects, memoryview(given).cast("B").cast("q")
        taken = at.ARGUMENT_WORDS * len(self._arguments)
        # A function without arguments and results has rows of 0 bytes, and a step must not be 0.
        for row in range(len(NEW_REQUEST), len(words), self.row_bytes // 8 or 1):
            for i in range(row, row + taken, at.ARGUMENT_WORDS):
                # If an argument was refused, the later arguments have a type but no payload yet.
                if words[i] == at.TYPE_OBJECT and words[i + 1]:
                    objects.release(words[i + 1])

    def _put(
        self,
        queue: WorkQueue,
        words: array[int],
        place: int,
        value: object,
        values: list[tuple[int, AsyncValue]],
        kept: list[object],
        index: int,
    ) -> None:
        """Write argument `index` of a call to the words at `place`.

        The argument may be a Python object, an AsyncValue, or a future.

        Raises:
            PayloadError: if the argument does not fit its type.
        """
        type_text = self._arguments[index]
        if not isinstance(value, AsyncValue) and not is_future(value):
            if hasattr(type(value), "is_traced"):
                raise PayloadError(f"expected {type_text}, found {type(value).__name__}")
            kept.append(fitted := fitting(type_text, value))
            # If `fitting` has copied the array, the caller's array would not get what the kernel
            # writes.
            writer = None if fitted is value else self._writer(index)
            if writer is not None and (why := why_copied(fitted, value)):
                raise PayloadError(f"'{writer}' writes this array, which {why}")
            payload = encode(type_text, fitted, native_process().objects)
            words[place : place + at.ARGUMENT_WORDS] = array("q", payload)
            return

        if not isinstance(value, AsyncValue):
            refuse, future = self._refusal(index), value
            taken = queue.taken_future(future, type_text, refuse, stays=self._is_remote(index))
            value = from_future(queue, future, type_text, refuse) if taken is None else taken
        elif not is_on_queue(queue, value, type_text):
            value = on_queue(queue, value, type_text, self._refusal(index))
        values.append((index, value))
        words[place], words[place + 1] = at.IS_VALUE, value.address

    def _refusal(self, argument: int) -> Callable[[str], Diagnostic]:
        """Return a function that creates the error for an argument of the wrong type.

        The type of an AsyncValue is known only when the AsyncValue becomes available.
        """
        place = place_of_caller()
        return lambda reason: error(f"{self._described(argument)}: {reason}", place)

    def _described(self, argument: int) -> str:
        return self._describe(self.index, argument)

    def _miscounted(self, found: int) -> TfrtError:
        types = self._arguments
        text = f"@{self.name} takes {counted(len(types), 'argument')}, found {found}"
        if found < len(types):
            text += f": {self._described(found)} of type {types[found]} is missing"
        return TfrtError(error(text, place_of_caller()))

    def _refused(self, index: int, value: object, wrong: PayloadError, call: str = "") -> TfrtError:
        reason = misfit(self._arguments[index], value, wrong)
        return TfrtError(error(f"{call}{self._described(index)}: {reason}", place_of_caller()))

    def results(self, request: Request) -> list[AsyncValue]:
        """Return the results of a started call as AsyncValues, and record them in the request.

        The AsyncValues take over the references in the words.
        """
        queue, source = request.queue, weakref.ref(request)
        place = (request.address + self._first) >> 3
        made, references = [], []
        # Use a loop, because Python 3.11 creates a function for a comprehension.
        for type_text in self.result_types:
            value = AsyncValue(queue, WORDS[place], type_text, source)
            made.append(value)
            references.append(weakref.ref(value))
            place += 1
        request.results = noted = tuple(references)
        # This saves the garbage collector work (`native.python.python_shortcuts`).
        queue.process.untrack(source, noted, *noted, *(() if queue.is_of_users else made))
        return made

    def start_all(self, request: Request, count: int, begun: int, *, is_task: bool) -> None:
        """Create the results of `count` calls, whose rows are in `request`.

        Also start the first `begun` calls.  The request must have `count` active calls.  With
        `is_task`, a call starts when a thread takes it as a task.  Otherwise, the call starts on
        this thread.
        """
        queue, process = request.queue, native_process()
        begin = process.quick.start_calls_with if is_task else process.slow.start_calls_with
        begin(queue.context(), self.address, request.address, count, begun, is_task)

    def start_more(self, request: Request, first: int, count: int, *, is_task: bool) -> None:
        """Start `count` calls that `start_all` has prepared, from call number `first` on."""
        queue, process = request.queue, native_process()
        context = queue.context()
        own = Context.at(context)
        kept = own.request, own.record  # of the kernel that has ended a call; restored below
        begin = process.quick.start_rows if is_task else process.slow.start_rows
        begin(context, self.address, request.address, first, count, is_task)
        own.request, own.record = kept

    def why_never(
        self, request: Request, results: Sequence[AsyncValue], *, blocks: bool
    ) -> list[Diagnostic]:
        """Return why results of a run will never be resolved, or nothing if they may be resolved.

        Any thread may call this.  With `blocks`, assume that this thread does nothing but wait for
        the results.  A run is not stuck while it is waiting for a value that code outside the
        runtime may resolve.
        """
        rest = rest_of(request.queue)
        if rest is None:
            return []
        place = self._place()
        if blocks and _waits_for_this_thread(request):
            return [error(f"@{self.name}: {ON_ITS_LOOP}", place)]
        if request.promises_open():
            return []
        # In the meantime, a promise may have been resolved, which can give the queue work or end
        # the run.
        is_over = request.native.active == 0 and all(value.done() for value in results)
        if is_over or rest != rest_of(request.queue):
            return []
        text = (
            f"@{self.name} cannot go on: nothing runs, nothing is queued, and {_missing(results)}"
        )
        return [error(text, place, request.promises.open_notes(is_inside=True))]

    def is_wanted(self, request: Request, reference: weakref.ref[AsyncValue]) -> bool:
        """Return whether code other than the run's Execution holds a result.

        The holder may be Python or native code.
        """
        value = reference()
        if value is None or value.done():
            return False
        by_holder = any(value is one for one in request.held or ())
        # Two Python references always exist: in `value`, and in the argument of `getrefcount`.  Two
        # native references always exist: in the run, and in the Python object.
        return sys.getrefcount(value) > 2 + by_holder or value.references > 2


def column_payloads(type_text: str, column: Sequence[object]) -> Any:
    """Return the payloads of a column of numbers as an array of words.

    Return None unless all values are ordinary values of the type.
    """
    import numpy as np

    bits = INTEGER_BITS.get(type_text, 0)
    if bits == 0 and type_text != "f64":
        return None
    if isinstance(column, np.ndarray):
        if column.ndim != 1 or column.dtype.kind not in ("iu" if bits else "f"):
            return None
        found = column
    # Compare exact types, because a `bool` is an `int`, too.
    elif all(one is (int if bits else float) for one in set(map(type, column))):
        try:
            found = np.array(column, np.int64 if bits else np.float64)
        except (OverflowError, TypeError, ValueError):  # numpy treats a set, or bytes, as one value
            return None
    else:
        return None
    if not bits:
        return found.astype(np.float64).view(np.int64)
    end = 1 << (bits - 1)
    # Compare Python integers: the numbers may be unsigned and larger than an `int64`.
    if len(found) > 0 and not (-end <= int(found.min()) and int(found.max()) < end):
        return None
    return found.astype(np.int64)


def _missing(results: Sequence[AsyncValue]) -> str:
    """Return the names of the unavailable results, for a message."""
    numbers = [str(i) for i, value in enumerate(results) if not value.done()]
    if not numbers:
        return "some kernels have not run"
    if len(results) == 1:
        return "its result is unavailable"
    return f"result{'s' if len(numbers) > 1 else ''} {', '.join(numbers)} unavailable"


def registers_read_here(function: BefFunction, used: Mapping[str, Kernel]) -> set[int]:
    """Return the registers that kernels other than remote kernels read.

    Return an empty set if no kernel is remote.
    """
    remote = {name for name, one in used.items() if isinstance(one, PythonKernel) and one.remote}
    if not remote:
        return set()
    taken = (record.arguments for record in function.kernels if record.name not in remote)
    return set(function.result_registers).union(*taken)


def writer_of_argument(
    functions: Sequence[BefFunction], registry: Registry, index: int, argument: int
) -> str | None:
    """Return the kernel through which a function writes to a tensor argument, or None.

    The function may call that kernel directly or through other functions.
    """
    left, seen = [(index, argument)], set[tuple[int, int]]()
    while left:
        place = index, argument = left.pop()
        if place in seen:
            continue
        seen.add(place)
        for record in functions[index].kernels:
            if argument not in record.arguments:
                continue
            kernel = registry.get(record.name)
            if isinstance(kernel, PythonKernel) and kernel.parameters is not None:
                # The counts may differ: a call may have an extra chain, or leave out parameters.
                taken = zip(record.arguments, kernel.parameters.annotations, strict=False)
                if any(one == argument and getattr(kind, "is_out", False) for one, kind in taken):
                    return kernel.name
            elif isinstance(kernel, ControlKernel):
                passed = enumerate(record.arguments[kernel.own :], kernel.added)
                same = [number for number, one in passed if one == argument]
                left += [(callee, number) for callee in record.functions for number in same]
    return None


def is_remote(function: BefFunction, registry: Registry, argument: int) -> bool:
    """Return whether only remote kernels use a given argument of a function."""
    used = {record.name: registry[record.name] for record in function.kernels}
    has_remote = any(isinstance(one, PythonKernel) and one.remote for one in used.values())
    return has_remote and argument not in registers_read_here(function, used)


def _waits_for_this_thread(run: Request) -> bool:
    """Return whether the run's kernels wait for the event loop that this thread is running."""
    loop = run.host.serving_loop
    if loop is None or run.outside == 0:
        return False
    return sys.modules["asyncio"]._get_running_loop() is loop  # loaded, because a loop exists
