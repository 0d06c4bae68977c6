"""One BLAS thread per call.

The work queues own the processor: a product that starts threads of its own takes them away from the
kernels that run beside it, and two products at once start twice as many.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

_SETTERS = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)


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
