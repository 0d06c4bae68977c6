"""Matrix products: `tfrt_test.matmul.{f32,i32}.2`, the seed's example of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tfrt_runtime.host.tensor.buffers import HostBuffer
from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.element_types import F32, I32, AnyArray, ElementType
from tfrt_runtime.kernels.arguments import dense_tensor
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry, Shortcut
from tfrt_runtime.kernels.tensor.blas import product_addresses, product_f32, use_one_blas_thread
from tfrt_runtime.kernels.tensor.quiet import quietly

REGISTRY: Final = KernelRegistry("matrix products")


def _matmul(element_type: ElementType) -> Callable[..., None]:
    def matmul(alpha: float, a: object, b: object, beta: float, c: object) -> None:
        left, right, result = (dense_tensor(tensor, element_type, 2) for tensor in (a, b, c))
        check_shapes(left, right, result)
        use_one_blas_thread()
        if (alpha, beta) == (1, 0) or not _accumulate_in_blas(alpha, left, right, beta, result):
            quietly(accumulate_product, alpha, left.array, right.array, beta, result.array)

    return matmul


def _accumulate_in_blas(
    alpha: float, a: DenseHostTensor, b: DenseHostTensor, beta: float, c: DenseHostTensor
) -> bool:
    """Do it if BLAS can; whether it could."""
    if c.element_type is not F32 or (product := product_f32()) is None:
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

for _element_type in (F32, I32):
    REGISTRY.kernel(
        f"tfrt_test.matmul.{_element_type.word}.2",
        results=("chain",),
        heavy=True,
        shortcut=_NATIVE if _element_type is F32 else None,
    )(_matmul(_element_type))
