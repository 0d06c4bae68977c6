"""Matrix products: `tfrt_test.matmul.{f32,i32}.2`, the seed's example of a kernel.

numpy's OpenBLAS computes products of f32, and the native version calls it, too: BLAS scales and
accumulates without further passes over memory.  numpy computes all other products: of other element
types, in non-contiguous or shared memory, or without OpenBLAS.

BLAS uses one thread per call.  The work queues own the processor: a product that started its own
threads would take processors away from the kernels that run at the same time, and two simultaneous
products would start twice as many.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.shapes import F32, I32, AnyArray, ElementType
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry, Shortcut
from tfrt_runtime.kernels.tensor.arguments import dense_tensor, output_tensor, quietly

REGISTRY: Final = KernelRegistry("matrix products")

_SETTERS: Final = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)
_PRODUCTS: Final = ("scipy_cblas_sgemm64_", "scipy_cblas_sgemv64_")
"""With 64-bit integers; without these functions, numpy computes the products."""


@cache
def use_one_blas_thread() -> ctypes.CDLL | None:
    """Limit the OpenBLAS in numpy's package to one thread, and return it; None if there is none.

    Other libraries (MKL, Accelerate) keep their own settings.
    """
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for file in sorted(folder.glob("lib*openblas*")):
            with suppress(OSError):
                # It is already in the process: opening it again returns the same library.
                library = ctypes.CDLL(str(file))
                for name in _SETTERS:
                    if hasattr(library, name):
                        getattr(library, name)(1)
                        return library
    return None


@cache
def product_addresses() -> tuple[int, ...] | None:
    """Return the addresses of `cblas_sgemm` and `cblas_sgemv` for native kernels, or None."""
    library = use_one_blas_thread()
    if library is None or not all(hasattr(library, name) for name in _PRODUCTS):
        return None
    pointers = (ctypes.cast(getattr(library, name), ctypes.c_void_p) for name in _PRODUCTS)
    return tuple(pointer.value or 0 for pointer in pointers)


def check_shapes(a: DenseHostTensor, b: DenseHostTensor, c: DenseHostTensor) -> None:
    """Check that `c` has the shape of the product of `a` and `b`.

    Raises:
        KernelError: if it does not, or if the product does not exist.
    """
    if a.shape.sizes[1] != b.shape.sizes[0]:
        raise KernelError(
            f"MatMul argument tensors inner dimension mismatch: {a.shape} vs. {b.shape}"
        )
    if c.shape.sizes != (a.shape.sizes[0], b.shape.sizes[1]):
        raise KernelError(
            f"MatMul result shape {c.shape} does not match product shape of arguments: "
            f"{a.shape} * {b.shape}"
        )


@quietly
def accumulate_product(alpha: float, a: AnyArray, b: AnyArray, beta: float, c: AnyArray) -> None:
    """Compute C = alpha * A @ B + beta * C in place.  `c` may share memory with `a` and `b`.

    As in BLAS, operands with a factor of 0 are not read, so NaNs in them have no effect: `a` and
    `b` if `alpha` is 0, and `c` if `beta` is 0.  Without an inner dimension, there is no product to
    scale, regardless of `alpha`.
    """
    if alpha == 1 and beta == 0:
        np.matmul(a, b, out=c)
        return
    scalar = c.dtype.type
    product: AnyArray | None = None
    if alpha != 0 and a.shape[1] != 0:
        product = np.matmul(a, b)
        if alpha != 1:
            product *= scalar(alpha)
    if beta == 0:
        c[...] = 0 if product is None else product
        return
    if beta != 1:
        c *= scalar(beta)
    if product is not None:
        c += product


_NATIVE: Final = Shortcut(
    "tensor_products.matmul_f32",
    product_addresses,
    functions=("tensor_products.multiply_parts",),
)


def _add_matmul(element_type: ElementType) -> None:
    @REGISTRY.kernel(
        f"tfrt_test.matmul.{element_type.word}.2",
        results=("chain",),
        heavy=True,
        shortcut=_NATIVE if element_type is F32 else None,
    )
    def matmul(alpha: float, a: object, b: object, beta: float, c: object) -> None:
        left, right, result = (
            *(dense_tensor(tensor, element_type, 2) for tensor in (a, b)),
            output_tensor(c, element_type, 2),
        )
        check_shapes(left, right, result)
        use_one_blas_thread()
        accumulate_product(alpha, left.array, right.array, beta, result.array)


_add_matmul(F32)
_add_matmul(I32)
