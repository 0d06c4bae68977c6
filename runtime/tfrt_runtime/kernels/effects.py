"""Kernels that print, sleep or look at the host: they take a chain to be in order."""

from __future__ import annotations

import math
import random
import time

from tfrt_runtime.host.idleness import quiesce
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry

REGISTRY = KernelRegistry("effects")


def _number(value: object) -> float:
    if not isinstance(value, (int, float)):
        raise KernelError(f"expected a number, not a {type(value).__name__}")
    return value


def _text(form: str, value: float) -> str:
    """As C's printf: a NaN has a sign, which x86 sets in those that it makes itself."""
    is_minus_nan = isinstance(value, float) and math.isnan(value) and math.copysign(1, value) < 0
    return "-nan" if is_minus_nan else form % value


def _add_print(word: str, label: str, form: str) -> None:
    @REGISTRY.kernel(f"tfrt.print.{word}", results=("chain",), frame=True)
    def print_number(frame: KernelFrame, value: object) -> None:
        frame.host.print(f"{label} = {_text(form, _number(value))}\n")


for _word, _label, _form in (
    ("i1", "int1", "%d"),
    ("i32", "int32", "%d"),
    ("i64", "int64", "%d"),
    ("f32", "f32", "%f"),
    ("f64", "f64", "%f"),
    ("f16", "f16", "%d"),
):
    _add_print(_word, _label, _form)


def _add_complex(word: str) -> None:
    @REGISTRY.kernel(f"tfrt.print.{word}", results=("chain",), frame=True)
    def print_complex(frame: KernelFrame, value: object) -> None:
        if not isinstance(value, complex):
            raise KernelError(f"expected a complex number, not a {type(value).__name__}")
        real, imaginary = _text("%f", value.real), _text("%f", value.imag)
        frame.host.print(f"{word} = {real}+{imaginary}i\n")


for _word in ("complex64", "complex128"):
    _add_complex(_word)


def _add_delays(word: str) -> None:
    @REGISTRY.kernel(f"tfrt_test.copy.with_delay.{word}", results=(word,))
    def copy_with_delay(value: object) -> object:
        time.sleep(random.uniform(0.001, 0.010))
        return value

    @REGISTRY.kernel(f"tfrt_test.async_copy.with_delay.{word}", results=(word,), blocking=True)
    def async_copy_with_delay(value: object) -> object:
        time.sleep(random.uniform(0.001, 0.010))
        return value


for _word in ("i32", "i64"):
    _add_delays(_word)


@REGISTRY.kernel("tfrt_test.usleep", results=(), blocking=True, frame=True)
def usleep(frame: KernelFrame, microseconds: object) -> None:
    """Sleep in the blocking pool, and say so."""
    _sleep(frame, microseconds)


@REGISTRY.kernel("tfrt_test.blocking.usleep", results=("chain",), blocking=True, frame=True)
def blocking_usleep(frame: KernelFrame, microseconds: object) -> None:
    """As usleep, with a chain for whoever wants to come after it."""
    _sleep(frame, microseconds)


def _sleep(frame: KernelFrame, microseconds: object) -> None:
    time.sleep(max(0.0, _number(microseconds)) / 1e6)
    frame.host.print(f"Slept for {microseconds} microseconds\n")


@REGISTRY.kernel("tfrt_test.quiesce", results=("chain",), frame=True)
def quiesce_queue(frame: KernelFrame) -> None:
    """Work for the queue until nothing of it runs and nothing is queued, apart from such kernels."""
    quiesce(frame.request.queue, lambda: frame.request.is_cancelled)
