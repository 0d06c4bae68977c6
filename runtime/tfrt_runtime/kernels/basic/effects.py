"""Kernels that print, sleep, or read the host's state, ordered by chains."""

from __future__ import annotations

import math

from tfrt_runtime.bef.records import DType
from tfrt_runtime.host.payload import CHAIN, bits_of_short
from tfrt_runtime.host.queues.queue_names import WorkQueueError
from tfrt_runtime.host.waiting import quiesce
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import (
    KernelError,
    KernelRegistry,
    Keyword,
    PythonKernel,
)
from tfrt_runtime.kernels.users.outcomes import settle

REGISTRY = KernelRegistry("effects")


def _number(value: object) -> float:
    if not isinstance(value, (int, float)):
        raise KernelError(f"expected a number, found {type(value).__name__}")
    return value


def _text(form: str, value: float) -> str:
    """Format a number as C's printf does.

    A NaN may have a sign: x86 sets the sign bit of NaNs that it produces.
    """
    is_minus_nan = isinstance(value, float) and math.isnan(value) and math.copysign(1, value) < 0
    return "-nan" if is_minus_nan else form % value


def _add_print(word: str, label: str, form: str) -> None:
    @REGISTRY.kernel(f"tfrt.print.{word}", results=("chain",), frame=True)
    def print_number(frame: KernelFrame, value: object) -> None:
        if word.startswith("complex"):
            if not isinstance(value, complex):
                raise KernelError(f"expected a complex number, found {type(value).__name__}")
            text = f"{_text(form, value.real)}+{_text(form, value.imag)}i"
        else:
            number = _number(value)
            # TFRT has no arithmetic for f16, so it prints the bits.
            text = _text(form, bits_of_short(DType.F16, number) if word == "f16" else number)
        frame.host.print(f"{label} = {text}\n")


for _word, _label, _form in (
    ("i1", "int1", "%d"),
    ("i8", "int8", "%d"),
    ("i16", "int16", "%d"),
    ("i32", "int32", "%d"),
    ("i64", "int64", "%d"),
    ("f32", "f32", "%f"),
    ("f64", "f64", "%f"),
    ("f16", "f16", "%d"),
    ("complex64", "complex64", "%f"),
    ("complex128", "complex128", "%f"),
):
    _add_print(_word, _label, _form)


MAX_SECONDS = 1e6


def _add_wait(name: str, results: tuple[str, ...] | None) -> None:
    def wait(frame: KernelFrame, *given: object) -> object:
        """Pass on the operands after a delay; without operands, the result is a chain.

        The last item of `given` is the delay in seconds.  The delay does not block a thread.
        """
        *values, seconds = given
        if not 0 <= _number(seconds) <= MAX_SECONDS:
            raise KernelError(f"seconds must be 0 to {MAX_SECONDS:.0f}, found {seconds}")
        results = values or [CHAIN]
        if len(results) != len(frame.result_types):
            found = f"found {len(values)} operands and {len(frame.result_types)} results"
            raise KernelError(f"a result for each operand, or one chain: {found}")
        later = tuple(frame.allocate(index) for index in range(len(results)))
        watch = frame.request.watched
        timer = frame.host.timers.after(
            _number(seconds) * (1.0 if watch is None else watch.slow),
            lambda: settle(frame, later, results[0] if len(later) == 1 else tuple(results)),
        )
        # Do not keep a cancelled run alive until its last timer is due.
        frame.request.call_when_cancelled(timer, timer.cancel)
        later[0].and_then(lambda: frame.request.forget_when_cancelled(timer))
        return later[0] if len(later) == 1 else later

    seconds = Keyword("seconds")
    kernel = PythonKernel(
        name, wait, results=results, frame=True, keywords=(seconds,), waits="a timer"
    )
    REGISTRY.add(kernel)


_add_wait("demo.wait", None)
for _word in ("i1", "i32", "i64", "f32", "f64"):
    _add_wait(f"demo.wait.{_word}", (_word,))


@REGISTRY.kernel("tfrt_test.quiesce", frame=True)
def quiesce_queue(frame: KernelFrame) -> object:
    """Run the queue's tasks until none is running or queued, apart from kernels like this one.

    Programs written for the first TFRT versions do not expect a chain as the result.
    """
    try:
        quiesce(frame.request.queue, lambda: frame.request.is_cancelled)
    except WorkQueueError as refused:
        raise KernelError(refused.diagnostics[0].message) from None
    return CHAIN if frame.result_types else None
