"""The printing functions of MLIR's runner utilities, which programs declare to show what they do."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

Sink = Callable[[str], None]

_NOTHING = ctypes.CFUNCTYPE(None)
_INTEGER = ctypes.CFUNCTYPE(None, ctypes.c_int64)
_DOUBLE = ctypes.CFUNCTYPE(None, ctypes.c_double)


class Printing:
    """The functions by C name, writing to a sink.  They live as long as this object."""

    def __init__(self, sink: Sink) -> None:
        self._functions: dict[str, ctypes._FuncPointer] = {
            "printI64": _INTEGER(lambda number: sink(str(number))),
            "printF64": _DOUBLE(lambda number: sink(f"{number:g}")),
            "printNewline": _NOTHING(lambda: sink("\n")),
            "printComma": _NOTHING(lambda: sink(", ")),
            "printOpen": _NOTHING(lambda: sink("( ")),
            "printClose": _NOTHING(lambda: sink(" )")),
        }

    @property
    def addresses(self) -> dict[str, int]:
        """Where each function starts."""
        return {
            name: ctypes.cast(function, ctypes.c_void_p).value or 0
            for name, function in self._functions.items()
        }
