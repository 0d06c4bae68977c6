"""Machine code is linked to a table of functions, never to whatever the process happens to have.

What an object file calls is read from the file: LLVM adds calls that no declaration shows, such as `memcpy` for
a copy of a struct, or `__divti3` for a division of 128 bits.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping

import llvmlite.binding as llvm

from tfrt_runtime.async_runtime.externals import address_of
from tfrt_runtime.async_runtime.printing import External
from tfrt_runtime.diagnostics import TfrtError, error


class UnresolvedFunction(TfrtError):
    """Machine code calls functions that are in no table."""


_MATHEMATICS = {
    1: (
        *(
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "sinh",
            "cosh",
            "tanh",
            "asinh",
            "acosh",
            "atanh",
        ),
        *("exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "erf"),
        *("floor", "ceil", "trunc", "round", "roundeven", "rint", "nearbyint"),
    ),
    2: ("atan2", "pow", "fmod", "fmin", "fmax"),
    3: ("fma",),
}
"""Functions of the C library by the number of their arguments, which is also that of those for `f32`."""

_HELPERS = {
    "aligned_alloc": ("(i64, i64) -> !llvm.ptr", "allocates a buffer"),
    "free": ("(!llvm.ptr) -> ()", "frees a buffer"),
    "memcpy": ("(!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr", "copies memory"),
    "memmove": ("(!llvm.ptr, !llvm.ptr, i64) -> !llvm.ptr", "copies memory that may overlap"),
    "memset": ("(!llvm.ptr, i32, i64) -> !llvm.ptr", "fills memory"),
    "bcmp": ("(!llvm.ptr, !llvm.ptr, i64) -> i32", "compares memory"),
    "ldexp": ("(f64, i32) -> f64", "multiplies by a power of 2"),
    "ldexpf": ("(f32, i32) -> f32", "multiplies by a power of 2"),
    "sincos": ("(f64, !llvm.ptr, !llvm.ptr) -> ()", "sine and cosine"),
    "sincosf": ("(f32, !llvm.ptr, !llvm.ptr) -> ()", "sine and cosine"),
    **{
        f"__{name}ti3": ("(i128, i128) -> i128", "divides integers of 128 bits")
        for name in ("div", "udiv", "mod", "umod", "mul")
    },
    **{
        f"__fix{sign}{short}ti": (f"({type_}) -> i128", "converts a number")
        for short, type_ in (("hf", "f16"), ("sf", "f32"), ("df", "f64"))
        for sign in ("", "uns")
    },
    **{
        f"__float{sign}ti{short}": (f"(i128) -> {type_}", "converts a number")
        for short, type_ in (("hf", "f16"), ("sf", "f32"), ("df", "f64"))
        for sign in ("", "un")
    },
    "__truncsfhf2": ("(f32) -> f16", "rounds a number"),
    "__truncdfhf2": ("(f64) -> f16", "rounds a number"),
    "__extendhfsf2": ("(f16) -> f32", "widens a number"),
}

LIBRARY: dict[str, External] = {
    name: External(name, type_, does) for name, (type_, does) in _HELPERS.items()
} | {
    f"{name}{suffix}": External(
        f"{name}{suffix}",
        f"({', '.join([type_] * count)}) -> {type_}",
        "a function of the C library",
    )
    for count, names in _MATHEMATICS.items()
    for name in names
    for suffix, type_ in (("", "f64"), ("f", "f32"))
}
"""What LLVM may call by itself: functions of the C library and of the compiler's own."""


def linked(code: bytes, functions: Mapping[str, int]) -> dict[str, int]:
    """The address of each function that an object file calls; `functions` are those of the runtime.

    Raises:
        UnresolvedFunction: naming the functions that are in no table.
    """
    found: dict[str, int] = {}
    missing = []
    for name in undefined_symbols(code):
        address = functions.get(name) or address_of(name) or _library_address(name)
        if address is None:
            missing.append(
                error(f"the machine code calls '{name}', which is in no table of functions")
            )
        else:
            found[name] = address
    if missing:
        raise UnresolvedFunction(*missing)
    return found


_SYMBOL_SIZE, _SECTION_OF_SYMBOL = 24, slice(6, 8)


def undefined_symbols(code: bytes) -> list[str]:
    """The names in an object file (ELF, 64 bits) that other objects have to define."""
    sections = {s.name(): s.data() for s in llvm.ObjectFileRef.from_data(code).sections()}
    if b".symtab" not in sections:
        raise UnresolvedFunction(error("the machine code has no table of symbols"))
    symbols, texts = sections[b".symtab"], sections[b".strtab"]
    names = []
    for start in range(0, len(symbols), _SYMBOL_SIZE):
        symbol = symbols[start : start + _SYMBOL_SIZE]
        text = int.from_bytes(symbol[:4], "little")
        if text and not any(symbol[_SECTION_OF_SYMBOL]):
            names.append(texts[text : texts.index(0, text)].decode())
    return names


@functools.cache
def _library_address(name: str) -> int | None:
    if name not in LIBRARY:
        return None
    for library in (None, "libm.so.6", "libgcc_s.so.1"):
        try:
            function = getattr(ctypes.CDLL(library), name)
        except (OSError, AttributeError):
            continue
        return ctypes.cast(function, ctypes.c_void_p).value
    return None
