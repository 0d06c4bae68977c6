"""Convolution, pooling, and normalization for convolutional networks, with numpy and BLAS.

Images are `[batch, height, width, channels]`, and filters are `[height, width, channels, filters]`.
Kernels write their results into tensors that the program has created.  If `padding` is `valid`,
windows lie inside the image.  If it is `same`, the image is extended so that it has one window per
stride.  Temporary memory also comes from the host's allocator, so huge sizes cause an error instead
of exhausting the machine's memory.

This module also has matrix products: `tfrt_test.matmul.{f32,i32}.2`, the seed's example of a
kernel.  The OpenBLAS that comes with numpy computes f32 products, even in the native version,
because BLAS scales and accumulates without extra passes over memory.  numpy itself computes all
other products: those of other element types, of non-contiguous or shared memory, and on systems
without OpenBLAS.

BLAS uses one thread per call.  A product that started its own threads would take processors away
from the work queue's threads, and two simultaneous products would start twice as many threads.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tfrt_runtime.host.tensor.dense import DenseHostTensor
from tfrt_runtime.host.tensor.shapes import F32, I32, AnyArray, ElementType, sizes_text
from tfrt_runtime.kernels.frame import KernelFrame
from tfrt_runtime.kernels.registry import KernelError, KernelRegistry, Shortcut
from tfrt_runtime.kernels.tensor.arguments import dense_tensor, new_tensor, output_tensor, quietly

REGISTRY: Final = KernelRegistry("matrix products and convolution")

# The packages of numpy's releases rename OpenBLAS's functions in different ways.
_SETTERS: Final = (
    "scipy_openblas_set_num_threads64_",
    "scipy_openblas_set_num_threads",
    "openblas_set_num_threads64_",
    "openblas_set_num_threads",
)
_PRODUCTS: Final = ("scipy_cblas_sgemm64_", "scipy_cblas_sgemv64_")
"""BLAS functions with 64-bit integers.

If a library does not have them, numpy computes the products.
"""


@cache
def use_one_blas_thread() -> ctypes.CDLL | None:
    """Limit the OpenBLAS in numpy's package to one thread.

    Return the library, or None if numpy's package has no OpenBLAS.  Other libraries (MKL,
    Accelerate) keep their settings.
    """
    package = Path(np.__file__).parent
    for folder in (package.parent / "numpy.libs", package / ".dylibs"):
        for file in sorted(folder.glob("lib*openblas*")):
            with suppress(OSError):
                # Opening a library that is already in the process returns the same library.
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
        KernelError: if the shape is different, or if `a` and `b` cannot be multiplied.
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

    As in BLAS, `a` and `b` are not read if `alpha` is 0, and `c` is not read if `beta` is 0.  A NaN
    in an operand that is not read has no effect.  If the inner dimension is 0, the product is 0 for
    any `alpha`.
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


@dataclass(frozen=True, slots=True)
class Axis:
    """One dimension of an image under a sliding window.

    The image is extended by `before` and `after` pixels.  It has `count` windows of `size` pixels,
    one every `stride` pixels.
    """

    length: int
    size: int
    stride: int
    before: int
    after: int
    count: int

    @property
    def extended(self) -> int:
        """The length of the extended image."""
        return self.before + self.length + self.after


def plan_axis(length: int, size: int, stride: int, padding: str) -> Axis:
    """Return the windows over `length` pixels: one window of `size` pixels every `stride` pixels.

    Raises:
        KernelError: if the size, the stride, or the padding is invalid.
    """
    if size < 1 or stride < 1:
        raise KernelError(f"a window of {size} pixels with a stride of {stride} pixels is invalid")
    match padding:
        case "valid":
            return Axis(length, size, stride, 0, 0, max((length - size) // stride + 1, 0))
        case "same":
            count = -(-length // stride)
            missing = max((count - 1) * stride + size - length, 0)
            # If the number is odd, the last side gets the additional pixel, as in TensorFlow.
            return Axis(length, size, stride, missing // 2, missing - missing // 2, count)
    raise KernelError(f"padding is 'valid' or 'same', not '{padding}'")


def plan_axes(
    images: DenseHostTensor, size: tuple[int, ...], strides: tuple[int, ...], padding: str
) -> tuple[Axis, Axis]:
    """Return the windows over the height and over the width.

    Raises:
        KernelError: if the attributes are invalid.
    """
    if len(size) != 2 or len(strides) != 2:
        raise KernelError(
            f"windows of {sizes_text(size)} pixels every {sizes_text(strides)}: "
            "expected two numbers each"
        )
    _, height, width, _ = images.shape.sizes
    return (
        plan_axis(height, size[0], strides[0], padding),
        plan_axis(width, size[1], strides[1], padding),
    )


def _require_sizes(result: DenseHostTensor, sizes: tuple[int, ...]) -> None:
    if result.shape.sizes != sizes:
        raise KernelError(f"the result has shape {result.shape}, but needs {sizes_text(sizes)}")


def windows_over(
    frame: KernelFrame, images: DenseHostTensor, axes: tuple[Axis, Axis], outside: float
) -> AnyArray:
    """Return the windows as a view of the images.

    The view is `[batch, rows, columns, channels, height, width]`.  There must be at least one
    window.  Pixels outside the image have the value `outside`.
    """
    rows, columns = axes
    pixels = _extended(frame, images, axes, outside)
    windows = sliding_window_view(pixels, (rows.size, columns.size), axis=(1, 2))
    return windows[:, :: rows.stride, :: columns.stride]


def _extended(
    frame: KernelFrame, images: DenseHostTensor, axes: tuple[Axis, Axis], outside: float
) -> AnyArray:
    rows, columns = axes
    if (rows.extended, columns.extended) == (rows.length, columns.length):
        return images.array
    batch, height, width, channels = images.shape.sizes
    extended = new_tensor(frame, F32, (batch, rows.extended, columns.extended, channels)).array
    extended.fill(outside)
    inside = extended[:, rows.before :, columns.before :]
    inside[:, :height, :width] = images.array
    return extended


@REGISTRY.kernel(
    "tfrt_test.conv2d.f32",
    attributes=("string", "array.i64"),
    results=("chain",),
    heavy=True,
    frame=True,
)
def conv2d(
    frame: KernelFrame,
    source: object,
    filters: object,
    target: object,
    padding: str,
    strides: tuple[int, ...],
) -> None:
    """Write the product of each window with each filter into `target`."""
    images, kernel, result = (
        *(dense_tensor(value, F32, 4) for value in (source, filters)),
        output_tensor(target, F32, 4),
    )
    height, width, channels, count = kernel.shape.sizes
    if images.shape.sizes[3] != channels:
        raise KernelError(
            f"Conv2D argument tensors channel mismatch: {images.shape} vs. {kernel.shape}"
        )
    axes = plan_axes(images, (height, width), strides, padding)
    batch = images.shape.sizes[0]
    _require_sizes(result, (batch, axes[0].count, axes[1].count, count))
    if result.shape.element_count == 0:
        return
    use_one_blas_thread()
    quietly(np.matmul)(
        _patches(frame, images, axes),
        kernel.array.reshape(height * width * channels, count),
        out=result.array.reshape(-1, count),
    )


def _patches(frame: KernelFrame, images: DenseHostTensor, axes: tuple[Axis, Axis]) -> AnyArray:
    """Return one row per window: the window's pixels, row by row, each with its channels."""
    rows, columns = axes
    batch, _, _, channels = images.shape.sizes
    if (rows.size, columns.size, rows.stride, columns.stride) == (1, 1, 1, 1):
        return images.array.reshape(-1, channels)
    windows = windows_over(frame, images, axes, outside=0).transpose(0, 1, 2, 4, 5, 3)
    patches = new_tensor(frame, F32, windows.shape).array
    patches[...] = windows
    return patches.reshape(batch * rows.count * columns.count, -1)


@REGISTRY.kernel(
    "tfrt_test.max_pooling_2d.f32",
    attributes=("string", "array.i64", "array.i64"),
    results=("chain",),
    frame=True,
)
def max_pooling_2d(
    frame: KernelFrame,
    source: object,
    target: object,
    padding: str,
    pool_size: tuple[int, ...],
    strides: tuple[int, ...],
) -> None:
    """Write the largest pixel of each window, per channel, into `target`."""
    images, result = dense_tensor(source, F32, 4), output_tensor(target, F32, 4)
    axes = plan_axes(images, pool_size, strides, padding)
    batch, _, _, channels = images.shape.sizes
    _require_sizes(result, (batch, axes[0].count, axes[1].count, channels))
    if result.shape.element_count == 0:
        return
    windows = windows_over(frame, images, axes, outside=-np.inf)
    result.array.fill(-np.inf)
    # Loop over the window's pixels, so that each step passes over long rows of memory.
    for row in range(axes[0].size):
        for column in range(axes[1].size):
            np.maximum(result.array, windows[..., row, column], out=result.array)


@REGISTRY.kernel("tfrt_test.global_average.f32", results=("chain",))
def global_average(source: object, target: object) -> None:
    """Write the mean of each image's pixels into `target`, whose shape is `[batch, channels]`."""
    images, result = dense_tensor(source, F32, 4), output_tensor(target, F32, 2)
    batch, height, width, channels = images.shape.sizes
    _require_sizes(result, (batch, channels))
    _average(images.array, np.float32(height * width), result.array)


@quietly
def _average(images: AnyArray, pixels: np.float32, target: AnyArray) -> None:
    np.sum(images, axis=(1, 2), out=target)
    target /= pixels


@REGISTRY.kernel("tfrt_test.batch_norm_inplace.f32", attributes=("f32",), results=("chain",))
def batch_norm_inplace(
    tensor: object, scale: object, offset: object, mean: object, variance: object, epsilon: float
) -> None:
    """Normalize pixels, per channel, in place.

    The result is `scale * (pixel - mean) / sqrt(variance + epsilon) + offset`.
    """
    images = output_tensor(tensor, F32)
    parameters = [dense_tensor(value, F32, 1) for value in (scale, offset, mean, variance)]
    channels = images.shape.sizes[-1:]
    for parameter in parameters:
        if parameter.shape.sizes != channels:
            raise KernelError(
                f"BatchNorm parameter of shape {parameter.shape} for images {images.shape}"
            )
    arrays = [parameter.array for parameter in parameters]
    _normalize(images.array, arrays, np.float32(epsilon))


@quietly
def _normalize(images: AnyArray, parameters: list[AnyArray], epsilon: np.float32) -> None:
    scale, offset, mean, variance = parameters
    # One factor and one summand per channel allow the images to be normalized in two passes.
    factor = scale / np.sqrt(variance + epsilon)
    images *= factor
    images += offset - mean * factor
