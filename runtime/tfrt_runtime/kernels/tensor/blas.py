"""The OpenBLAS that numpy brought along: one thread per call, and products that add to their target.

The work queues own the processor: a product that starts threads of its own takes them away from the
kernels that run beside it, and two products at once start twice as many.

numpy has no product that scales and accumulates; BLAS has, without the passes over memory that numpy
needs for it.  Calls let other threads have the GIL.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

_SETTERS = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)


_PRODUCTS = ("scipy_cblas_sgemm64_", "scipy_cblas_sgemv64_")
"""With integers of 64 bits; where there are none, numpy does it."""

_ROW_MAJOR, _AS_IT_IS, _TRANSPOSED = 101, 111, 112

Product = Callable[[float, int, int, float, int, int, int, int], None]
"""alpha, address of A, address of B, beta, address of C, rows of A, columns of B, columns of A."""


@cache
def product_f32() -> Product | None:
    """`C = alpha * A @ B + beta * C` for matrices of f32, row by row; None if there is no OpenBLAS.

    No size is 0, no address is crooked, and C shares no memory with A and B.
    """
    for library in _bundled_libraries():
        with suppress(OSError):
            functions = ctypes.CDLL(str(library))
            if all(hasattr(functions, name) for name in _PRODUCTS):
                return _product(*(getattr(functions, name) for name in _PRODUCTS))
    return None


@cache
def product_addresses() -> tuple[int, int] | None:
    """Where native kernels find `cblas_sgemm` and `cblas_sgemv`; None if there is no OpenBLAS.

    From then on it uses one thread.
    """
    for library in _bundled_libraries():
        with suppress(OSError):
            functions = ctypes.CDLL(str(library))
            if all(hasattr(functions, name) for name in _PRODUCTS) and use_one_blas_thread():
                of_matrices, of_row = (
                    ctypes.cast(getattr(functions, name), ctypes.c_void_p).value or 0
                    for name in _PRODUCTS
                )
                return of_matrices, of_row
    return None


def _product(of_matrices: Any, of_row: Any) -> Product:
    word, size, number, address = ctypes.c_int, ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
    operands = [number, address, size, address, size, number, address, size]
    of_matrices.argtypes = [word] * 3 + [size] * 3 + operands
    of_row.argtypes = [word] * 2 + [size] * 2 + operands
    of_matrices.restype = of_row.restype = None

    def product(
        alpha: float, a: int, b: int, beta: float, c: int, rows: int, columns: int, inner: int
    ) -> None:
        if rows == 1:
            of_row(_ROW_MAJOR, _TRANSPOSED, inner, columns, alpha, b, columns, a, 1, beta, c, 1)
        else:
            shape = (rows, columns, inner)
            order = (_ROW_MAJOR, _AS_IT_IS, _AS_IT_IS)
            of_matrices(*order, *shape, alpha, a, inner, b, columns, beta, c, columns)

    return product


@cache
def use_one_blas_thread() -> bool:
    """Tell the OpenBLAS that numpy brought along, once; whether there was one to tell.

    Other libraries (MKL, Accelerate) keep their own rule.
    """
    return any(_set_threads(library) for library in _bundled_libraries())


def _bundled_libraries() -> Iterator[Path]:
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        yield from sorted(folder.glob("lib*openblas*"))


def _set_threads(library: Path) -> bool:
    # The library is in the process already: opening it again gives the same one.
    with suppress(OSError):
        functions = ctypes.CDLL(str(library))
        for name in _SETTERS:
            if hasattr(functions, name):
                getattr(functions, name)(1)
                return True
    return False
