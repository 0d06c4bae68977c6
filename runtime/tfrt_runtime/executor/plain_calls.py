"""Python kernels that take and return plain values: called by closures that are made for their types.

They do what `python_kernels.run_python_kernel` does, at a third of its cost.  Functions over numbers are
called by native code, at a tenth of that.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

from tfrt_runtime.executor.python_kernels import (
    LONG_SECONDS,
    as_python,
    failure,
    result_values,
)
from tfrt_runtime.executor.resolve import PythonCall
from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.fitting import CHAIN_TYPE
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.payload import (
    INTEGER_BITS,
    READERS,
    SCALAR_TYPES,
    bits_of_f64,
    read_payload,
)
from tfrt_runtime.host.process import native_process, shielded
from tfrt_runtime.host.raw import WORDS
from tfrt_runtime.native.layouts import CONTEXT_ARGUMENTS, CONTEXT_RESULTS, TYPE_CHAIN, TYPE_F64
from tfrt_runtime.native.python_functions import LONG_NS

Runner = Callable[[int], None]
"""Runs the kernel on the frame in a context, and sets its results.  Never raises."""
Finish = Callable[[int, int, object, BaseException | None], None]
"""Sets the result of the kernel whose frame is in a context: how long it took in nanoseconds, what it
returned, what it has raised.  Never raises."""
Encoder = Callable[[int, object], int]
"""A native value with one reference for what a kernel returned; 0 if it is nothing ordinary."""


def plain_runner(call: PythonCall, argument_types: tuple[str, ...]) -> Runner | None:
    """What runs a kernel of the user's that only wants its arguments; None for other kernels."""
    kernel = call.kernel
    is_plain = kernel.arrays and not (kernel.frame or kernel.raw or call.order)
    takes_all = kernel.takes is None or len(argument_types) <= kernel.takes
    if not is_plain or not takes_all or len(call.record.results) != 1:
        return None
    function, attributes, watch = kernel.function, call.attributes, kernel.watch
    readers = tuple(enumerate(map(_reader, argument_types)))
    read_one = readers[0][1] if len(readers) == 1 else None
    encode = _encoder(call.result_types[0])
    now, interrupts = time.monotonic, INTERRUPTS
    frame, results = CONTEXT_ARGUMENTS >> 3, CONTEXT_RESULTS >> 3

    def run(context: int) -> None:
        here = context >> 3
        place = WORDS[here + frame] >> 3
        try:
            if interrupts.waits:
                interrupts.allow()
            if read_one is not None:
                given = read_one(WORDS[place])
                begun = now()
                returned = function(given, *attributes)
            else:
                all_given = [read(WORDS[place + i]) for i, read in readers]
                begun = now()
                returned = function(*all_given, *attributes)
            took = now() - begun
            if interrupts.may_raise:
                interrupts.forbid()
            value = encode(context, returned) or result_values(context, call, returned)[0]
        except BaseException as problem:  # noqa: BLE001 - it becomes the results' error
            interrupts.forbid()
            [value] = failure(context, call, problem)
        else:
            if took > LONG_SECONDS and watch is not None:
                shielded(functools.partial(watch, took))
        WORDS[WORDS[here + results] >> 3] = value

    return run


def native_words(
    call: PythonCall, argument_types: tuple[str, ...], finish: Finish
) -> tuple[int, ...] | None:
    """The data of a kernel that native code calls by itself (`native.python_functions`).

    None if its arguments and its result are not all numbers, or nothing for the result.  `finish` must
    live as long as the kernel.
    """
    result_type = call.result_types[0]
    bits = INTEGER_BITS.get(result_type, 0)
    if result_type not in (CHAIN_TYPE, "f32", "f64") and bits == 0:
        return None
    if not all(one in INTEGER_BITS or one in ("i1", "f32", "f64") for one in argument_types):
        return None
    return (
        id(call.kernel.function),
        id(finish),
        len(argument_types),
        len(call.attributes),
        SCALAR_TYPES.get(result_type, TYPE_CHAIN),
        bits,
        *(SCALAR_TYPES[one] for one in argument_types),
        *map(id, call.attributes),
    )


def finisher(call: PythonCall) -> Finish:
    """What sets the result of a kernel that native code has called, where it cannot do so by itself."""
    encode, watch = _encoder(call.result_types[0]), call.kernel.watch

    def finish(context: int, took: int, returned: object, raised: BaseException | None) -> None:
        value = 0
        if raised is None:
            try:
                value = encode(context, returned) or result_values(context, call, returned)[0]
            except BaseException as problem:  # noqa: BLE001 - it becomes the result's error
                raised = problem
        if raised is not None:
            [value] = failure(context, call, raised)
        elif took > LONG_NS and watch is not None:
            shielded(functools.partial(watch, took / 1e9))
        WORDS[WORDS[(context + CONTEXT_RESULTS) >> 3] >> 3] = value

    return finish


def _reader(type_text: str) -> Callable[[int], object]:
    """What reads the payload of an argument of that type."""
    if type_text in SCALAR_TYPES:
        return READERS[SCALAR_TYPES[type_text]]
    objects = native_process().objects
    return lambda value: as_python(read_payload(value, objects, CHAIN))


def _encoder(type_text: str) -> Encoder:
    """What makes the native value of a result of that type."""
    make = native_process().quick("handles.value_of", 4)
    number = SCALAR_TYPES.get(type_text, 0)
    if type_text in INTEGER_BITS:
        end = 1 << (INTEGER_BITS[type_text] - 1)

        def of_integer(context: int, returned: object) -> int:
            if type(returned) is int and -end <= returned < end:
                return make(context, number, returned, 0)
            return 0

        return of_integer
    if number == TYPE_F64:

        def of_float(context: int, returned: object) -> int:
            if type(returned) is float:
                return make(context, number, bits_of_f64(returned), 0)
            return 0

        return of_float
    if type_text == CHAIN_TYPE:

        def of_none(context: int, returned: object) -> int:
            return make(context, TYPE_CHAIN, 0, 0) if returned is None else 0

        return of_none
    return lambda context, returned: 0
