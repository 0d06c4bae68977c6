"""The functions of MLIR's runner utilities: programs declare them to show what they do, and for clocks."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from dataclasses import dataclass

from tfrt_runtime.async_runtime.printed_buffers import BUFFER_FUNCTIONS, BufferFunction, float_text

Sink = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class External:
    """A function that compiled code calls: its type in MLIR's words, and what it does."""

    name: str
    type: str
    does: str


_KINDS = {
    "() -> ()": ctypes.CFUNCTYPE(None),
    "(i1) -> ()": ctypes.CFUNCTYPE(None, ctypes.c_bool),
    "(i32) -> ()": ctypes.CFUNCTYPE(None, ctypes.c_int32),
    "(i64) -> ()": ctypes.CFUNCTYPE(None, ctypes.c_int64),
    "(f32) -> ()": ctypes.CFUNCTYPE(None, ctypes.c_float),
    "(f64) -> ()": ctypes.CFUNCTYPE(None, ctypes.c_double),
    "() -> f64": ctypes.CFUNCTYPE(ctypes.c_double),
    "() -> i64": ctypes.CFUNCTYPE(ctypes.c_int64),
}
"""How C calls functions of each type."""
_BUFFER_KIND = ctypes.CFUNCTYPE(None, ctypes.c_int64)
"""All functions of buffers take the address of a descriptor."""


def _flops(flops: float) -> str:
    return f"{flops / 1e9:f} GFLOPS\n"


_PRINTERS: dict[External, Callable[..., str]] = {
    External("printI64", "(i64) -> ()", "prints a signed integer"): str,
    External("printU64", "(i64) -> ()", "prints an unsigned integer"): lambda n: str(n % 2**64),
    External("printF32", "(f32) -> ()", "prints a number"): float_text,
    External("printF64", "(f64) -> ()", "prints a number"): float_text,
    External("printNewline", "() -> ()", "ends the line"): lambda: "\n",
    External("printComma", "() -> ()", "prints ', '"): lambda: ", ",
    External("printOpen", "() -> ()", "prints '( '"): lambda: "( ",
    External("printClose", "() -> ()", "prints ' )'"): lambda: " )",
    External("printFlops", "(f64) -> ()", "prints operations per second as GFLOPS"): _flops,
    # So they were called until 2021.
    External("print_i1", "(i1) -> ()", "prints 0 or 1"): lambda bit: str(int(bit)),
    External("print_i32", "(i32) -> ()", "prints a signed integer"): str,
    External("print_i64", "(i64) -> ()", "prints a signed integer"): str,
    External("print_f32", "(f32) -> ()", "prints a number"): float_text,
    External("print_f64", "(f64) -> ()", "prints a number"): float_text,
    External("print_newline", "() -> ()", "ends the line"): lambda: "\n",
    External("print_comma", "() -> ()", "prints ', '"): lambda: ", ",
    External("print_open", "() -> ()", "prints '( '"): lambda: "( ",
    External("print_close", "() -> ()", "prints ' )'"): lambda: " )",
    External("print_flops", "(f64) -> ()", "prints operations per second as GFLOPS"): _flops,
}
"""Those that print scalars, each with the text of what it is given."""

_CLOCKS: dict[External, Callable[[], float]] = {
    External("rtclock", "() -> f64", "the time in seconds since 1970"): time.time,
    External("nanoTime", "() -> i64", "a time in nanoseconds, which only grows"): time.monotonic_ns,
}


def _buffer_function(name: str, kind: BufferFunction) -> External:
    shape = "*x" if kind.rank is None else "?x" * kind.rank
    what = "place, shape and elements" if kind.has_elements else "place and shape"
    return External(name, f"(memref<{shape}{kind.element}>) -> ()", f"prints a buffer's {what}")


BUFFER_PRINTERS = {name: _buffer_function(name, kind) for name, kind in BUFFER_FUNCTIONS.items()}
PRINTING: dict[str, External] = {
    function.name: function for function in (*_PRINTERS, *_CLOCKS)
} | BUFFER_PRINTERS
"""The functions by name."""


class Printing:
    """The functions as C calls them, writing to a sink.  They live as long as this object."""

    def __init__(self, sink: Sink) -> None:
        self._functions: dict[str, ctypes._FuncPointer] = {
            **{e.name: _KINDS[e.type](_writing(sink, text)) for e, text in _PRINTERS.items()},
            **{e.name: _KINDS[e.type](clock) for e, clock in _CLOCKS.items()},
            **{
                name: _BUFFER_KIND(_writing(sink, kind.text))
                for name, kind in BUFFER_FUNCTIONS.items()
            },
        }

    @property
    def addresses(self) -> dict[str, int]:
        """Where each function starts."""
        return {
            name: ctypes.cast(function, ctypes.c_void_p).value or 0
            for name, function in self._functions.items()
        }


def _writing(sink: Sink, text: Callable[..., str]) -> Callable[..., None]:
    return lambda *arguments: sink(text(*arguments))
