"""One BLAS thread per call."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest

from tfrt_runtime.kernels.tensor.blas import use_one_blas_thread

LIBRARIES = list((Path(np.__file__).parent.parent / "numpy.libs").glob("lib*openblas64*"))


@pytest.mark.skipif(not LIBRARIES, reason="numpy came without its own OpenBLAS")
def test_numpys_own_blas_uses_one_thread() -> None:
    told = use_one_blas_thread()
    functions = ctypes.CDLL(str(LIBRARIES[0]))
    assert (told, functions.scipy_openblas_get_num_threads64_()) == (True, 1)
