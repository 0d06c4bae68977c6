"""Matrix products: `tfrt_test.matmul.{f32,i32}.2`, the seed's example of a kernel, on the OpenBLAS that numpy brought along.

BLAS uses one thread per call.  The work queues own the processor: a product that starts threads of its own takes them
away from the kernels that run beside it, and two products at once start twice as many.

numpy has no product that scales and accumulates; BLAS has, without the passes over memory that numpy needs for it.
Calls let other threads have the GIL.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from tfrt_runtime.host.tensor.buffers import HostBuffer
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.element_types import F32, I32, AnyArray, ElementType
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry, Shortcut
from tfrt_runtime.kernels.tensor.arguments import dense_tensor, quietly

REGISTRY: Final = KernelRegistry("matrix products")

_SETTERS: Final = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)
_PRODUCTS: Final = ("scipy_cblas_sgemm64_", "scipy_cblas_sgemv64_")
"""With integers of 64 bits; where there are none, numpy does it."""

_ROW_MAJOR, _AS_IT_IS, _TRANSPOSED = 101, 111, 112


@cache
def use_one_blas_thread() -> ctypes.CDLL | None:
    """The OpenBLAS that numpy brought along, which uses one thread from now on; None if there is none.

    Other libraries (MKL, Accelerate) keep their own rule.
    """
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for file in sorted(folder.glob("lib*openblas*")):
            with suppress(OSError):
                # It is in the process already: opening it again gives the same one.
                library = ctypes.CDLL(str(file))
                for name in _SETTERS:
                    if hasattr(library, name):
                        getattr(library, name)(1)
                        return library
    return None


@cache
def product_addresses() -> tuple[int, ...] | None:
    """Where native kernels find `cblas_sgemm` and `cblas_sgemv`; None if there is no OpenBLAS."""
    library = use_one_blas_thread()
    if library is None or not all(hasattr(library, name) for name in _PRODUCTS):
        return None
    pointers = (ctypes.cast(getattr(library, name), ctypes.c_void_p) for name in _PRODUCTS)
    return tuple(pointer.value or 0 for pointer in pointers)


Product = Callable[[float, int, int, float, int, int, int, int], None]
"""alpha, address of A, address of B, beta, address of C, rows of A, columns of B, columns of A."""


@cache
def _product_f32() -> Product | None:
    """`C = alpha * A @ B + beta * C` for matrices of f32, row by row; None if there is no OpenBLAS.

    No size is 0, no address is crooked, and C shares no memory with A and B.
    """
    addresses = product_addresses()
    if addresses is None:
        return None
    word, size, number, address = ctypes.c_int, ctypes.c_int64, ctypes.c_float, ctypes.c_void_p
    operands = [number, address, size, address, size, number, address, size]
    of_matrices = ctypes.CFUNCTYPE(None, *[word] * 3, *[size] * 3, *operands)(addresses[0])
    of_row = ctypes.CFUNCTYPE(None, *[word] * 2, *[size] * 2, *operands)(addresses[1])

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


def _accumulate_in_blas(
    alpha: float, a: DenseHostTensor, b: DenseHostTensor, beta: float, c: DenseHostTensor
) -> bool:
    """Do it if BLAS can; whether it could."""
    if c.element_type is not F32 or (product := _product_f32()) is None:
        return False
    addresses = [tensor.buffer.address for tensor in (a, b, c)]
    is_crooked = any(address % F32.size for address in addresses)
    is_shared = any(_overlap(factor.buffer, c.buffer) for factor in (a, b))
    (rows, inner), columns = a.shape.sizes, b.shape.sizes[1]
    if is_crooked or is_shared or 0 in (rows, inner, columns):
        return False
    product(alpha, addresses[0], addresses[1], beta, addresses[2], rows, columns, inner)
    return True


def _overlap(left: HostBuffer, right: HostBuffer) -> bool:
    return left.address < right.address + right.size and right.address < left.address + left.size


def check_shapes(a: DenseHostTensor, b: DenseHostTensor, c: DenseHostTensor) -> None:
    """`c` has the shape of the product of `a` and `b`.

    Raises:
        KernelError: if not, or if there is no product.
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
    """C = alpha * A @ B + beta * C, in place.  `c` may share memory with `a` and `b`.

    With `beta` 0 what `c` held does not matter, not even a NaN: that is BLAS's rule.
    """
    if alpha == 1 and beta == 0:
        np.matmul(a, b, out=c)
        return
    scalar = c.dtype.type
    product = np.matmul(a, b)
    if alpha != 1:
        product *= scalar(alpha)
    if beta != 0:
        if beta != 1:
            c *= scalar(beta)
        c += product
    else:
        c[...] = product


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
        left, right, result = (dense_tensor(tensor, element_type, 2) for tensor in (a, b, c))
        check_shapes(left, right, result)
        use_one_blas_thread()
        if (alpha, beta) == (1, 0) or not _accumulate_in_blas(alpha, left, right, beta, result):
            accumulate_product(alpha, left.array, right.array, beta, result.array)


_add_matmul(F32)
_add_matmul(I32)
