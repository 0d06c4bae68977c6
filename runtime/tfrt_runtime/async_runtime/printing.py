"""The functions of MLIR's runner utilities, which programs call to print and to read clocks.

Buffers are printed as follows:

    Unranked Memref base@ = 0x55d0c5f3a2c0 rank = 1 offset = 0 sizes = [3] strides = [1] data =
    [1,  2,  3]

A buffer is passed as the address of 4 + 2 * `MAX_DIMENSIONS` words: rank, allocated address,
address of the elements, offset, then the sizes and the strides in elements.  Only the first `rank`
sizes and strides are valid.

The functions are declared in MLIR's `mlir/ExecutionEngine/RunnerUtils.h` and `CRunnerUtils.h`:
https://github.com/llvm/llvm-project/tree/main/mlir/include/mlir/ExecutionEngine
"""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tfrt_runtime.bef.attributes import unpack
from tfrt_runtime.bef.records import DType
from tfrt_runtime.host.structs import words_at

Sink = Callable[[str], None]

MAX_DIMENSIONS = 8
"""Maximum rank of a buffer whose type does not state its rank."""


@dataclass(frozen=True, slots=True)
class BufferFunction:
    """A function that prints buffers whose elements have a given type.

    If `rank` is not None, the function accepts only buffers of that rank.  If `has_elements` is
    false, it prints only a buffer's address and shape.
    """

    element: str
    rank: int | None = None
    has_elements: bool = True

    def text(self, address: int) -> str:
        """Return the text that is printed for the buffer described at `address`."""
        words = words_at(address, 4 + 2 * MAX_DIMENSIONS)
        rank, _, elements, offset = words[:4]
        sizes, strides = words[4 : 4 + rank], words[4 + MAX_DIMENSIONS :][:rank]
        title = "Memref" if self.rank is not None else "Unranked Memref"
        head = (
            f"{title} base@ = {elements:#x} rank = {rank} offset = {offset} "
            f"sizes = {sizes} strides = {strides}"
        )
        if not self.has_elements:
            return f"{head}\n"
        size, element_text = _ELEMENTS[self.element]

        def text_at(index: int) -> str:
            return element_text(ctypes.string_at(elements + index * size, size))

        data = _nested(text_at, rank, offset, sizes, strides) if rank else f"[{text_at(offset)}]"
        # MLIR's functions print the space before the line break, too.
        return f"{head} data = \n{data}\n"


def _nested(
    text_at: Callable[[int], str],
    rank: int,
    offset: int,
    sizes: Sequence[int],
    strides: Sequence[int],
) -> str:
    """Return the elements in nested brackets, with each innermost row on its own line."""
    if not sizes:
        return text_at(offset)
    separator = ", " + "\n" * (len(sizes) > 1) + " " * (rank - len(sizes) + 1)
    inner = [
        _nested(text_at, rank, offset + i * strides[0], sizes[1:], strides[1:])
        for i in range(sizes[0])
    ]
    return f"[{separator.join(inner)}]"


def float_text(number: float) -> str:
    """Return the number as C's `%g` prints it."""
    if math.isnan(number):
        # C prints the sign of a NaN, and Python does not.
        return "-nan" if math.copysign(1, number) < 0 else "nan"
    return f"{number:g}"


def _float(dtype: DType) -> Callable[[bytes], str]:
    return lambda data: float_text(unpack(dtype, data)[0])


def _integer(dtype: DType) -> Callable[[bytes], str]:
    return lambda data: str(unpack(dtype, data)[0])


_ELEMENTS: dict[str, tuple[int, Callable[[bytes], str]]] = {
    "bf16": (2, _float(DType.BF16)),
    "f16": (2, _float(DType.F16)),
    "f32": (4, _float(DType.F32)),
    "f64": (8, _float(DType.F64)),
    # C++ prints bytes as characters.
    "i8": (1, lambda data: data.decode(errors="replace")),
    "i16": (2, _integer(DType.I16)),
    "i32": (4, _integer(DType.I32)),
    "i64": (8, _integer(DType.I64)),
    "index": (8, _integer(DType.UI64)),
}
"""For each element type, the bytes per element and a function that returns an element's text."""

_WORDS = {element: "Ind" if element == "index" else element.upper() for element in _ELEMENTS}
_WITH_SHAPES = ("f32", "f64", "i8", "i32", "i64", "index")

BUFFER_FUNCTIONS: dict[str, BufferFunction] = {
    **{f"printMemref{word}": BufferFunction(element) for element, word in _WORDS.items()},
    # The names of these functions until 2022.
    **{f"print_memref_{word.lower()}": BufferFunction(e) for e, word in _WORDS.items()},
    **{
        f"printMemrefShape{_WORDS[element]}": BufferFunction(element, has_elements=False)
        for element in _WITH_SHAPES
    },
    **{f"printMemref{rank}dF32": BufferFunction("f32", rank) for rank in range(5)},
    **{f"printMemref1d{_WORDS[element]}": BufferFunction(element, 1) for element in _WITH_SHAPES},
}
"""The functions that print buffers, by C name."""


@dataclass(frozen=True, slots=True)
class External:
    """A function that compiled code calls: its type in MLIR syntax, and its effect."""

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
"""C function types, by MLIR type."""
_BUFFER_KIND = ctypes.CFUNCTYPE(None, ctypes.c_int64)
"""The C type of all functions that print buffers: they take the address of a descriptor."""


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
    # The names of these functions until 2021.
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
"""The functions that print scalars, each with a Python function that formats the argument."""

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


class Printing:
    """The printing functions in a form that C can call.  They write to a sink.

    Owns:
        the functions' code, which is freed with this object
    """

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
        """The address of each function."""
        return {
            name: ctypes.cast(function, ctypes.c_void_p).value or 0
            for name, function in self._functions.items()
        }


def _writing(sink: Sink, text: Callable[..., str]) -> Callable[..., None]:
    return lambda *arguments: sink(text(*arguments))
