"""The functions of MLIR's runner utilities: programs declare them to show what they do, and for clocks."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

from tfrt_runtime.async_runtime.printed_buffers import BUFFER_FUNCTIONS, BufferFunction, float_text

Sink = Callable[[str], None]

_NOTHING = ctypes.CFUNCTYPE(None)
_INTEGER = ctypes.CFUNCTYPE(None, ctypes.c_int64)
_UNSIGNED = ctypes.CFUNCTYPE(None, ctypes.c_uint64)
_FLOAT = ctypes.CFUNCTYPE(None, ctypes.c_float)
_DOUBLE = ctypes.CFUNCTYPE(None, ctypes.c_double)
_TEXT = ctypes.CFUNCTYPE(None, ctypes.c_char_p)
_SECONDS = ctypes.CFUNCTYPE(ctypes.c_double)
_NANOSECONDS = ctypes.CFUNCTYPE(ctypes.c_int64)


class Printing:
    """The functions by C name, writing to a sink.  They live as long as this object."""

    def __init__(self, sink: Sink) -> None:
        self._functions: dict[str, ctypes._FuncPointer] = {
            "printI64": _INTEGER(lambda number: sink(str(number))),
            "printU64": _UNSIGNED(lambda number: sink(str(number))),
            "printF32": _FLOAT(lambda number: sink(float_text(number))),
            "printF64": _DOUBLE(lambda number: sink(float_text(number))),
            "printString": _TEXT(lambda text: sink(text.decode(errors="replace"))),
            "printNewline": _NOTHING(lambda: sink("\n")),
            "printComma": _NOTHING(lambda: sink(", ")),
            "printOpen": _NOTHING(lambda: sink("( ")),
            "printClose": _NOTHING(lambda: sink(" )")),
            "printFlops": _DOUBLE(lambda flops: sink(f"{flops / 1e9:f} GFLOPS\n")),
            "rtclock": _SECONDS(time.time),
            "nanoTime": _NANOSECONDS(time.monotonic_ns),
            **{name: _of_buffers(sink, kind) for name, kind in BUFFER_FUNCTIONS.items()},
        }

    @property
    def addresses(self) -> dict[str, int]:
        """Where each function starts."""
        return {
            name: ctypes.cast(function, ctypes.c_void_p).value or 0
            for name, function in self._functions.items()
        }


def _of_buffers(sink: Sink, kind: BufferFunction) -> ctypes._FuncPointer:
    return _INTEGER(lambda address: sink(kind.text(address)))
