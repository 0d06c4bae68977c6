"""Loops over the elements of tensors.

Uncompiled, each loop is ordinary Python that handles one element at a time.  `building.lowering`
compiles it to a loop over vectors or to a call.  The arrays must not overlap, and must be aligned
for their elements, but need not be aligned for vectors.
"""

import math
import struct

from tfrt_runtime.native.memory import Address, load_f32, load_i32, store_f32, store_i32


def relu_f32s(array: Address, count: int) -> None:
    """Replace each negative element with zero; NaN stays NaN."""
    for at in range(0, 4 * count, 4):
        number = load_f32(array + at)
        store_f32(array + at, 0.0 if number < 0 else number)


def copy_words32(target: Address, source: Address, count: int) -> None:
    """Copy 32-bit elements."""
    for at in range(0, 4 * count, 4):
        store_i32(target + at, load_i32(source + at))


def exponential(number: float) -> float:
    """Return `e` to the power of `number`."""
    try:
        return math.exp(number)
    except OverflowError:
        # The C library's `exp`, which compiled code calls, returns infinity instead of raising.
        return math.inf


def nearest_f32(number: float) -> float:
    """Return the 32-bit float that is nearest to `number`."""
    try:
        nearest: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
        # Here, too, compiled code gets infinity: `fptrunc` never raises.
        return math.copysign(math.inf, number)
    return nearest


def multiply_matrices(
    function: Address,
    rows: int,
    columns: int,
    inner: int,
    alpha: float,
    left: Address,
    right: Address,
    beta: float,
    target: Address,
    right_step: int,
    target_step: int,
) -> None:
    """Compute `target = alpha * left @ right + beta * target` with BLAS.

    `function` is the address of `cblas_sgemm`, the version with 64-bit integers.  The elements are
    f32 in row-major order.  `right_step` and `target_step` are the distances between the starts of
    consecutive rows, in elements.  No size is 0, `alpha` is not 0, and `target` does not overlap
    the other matrices.
    """
    del function
    for row in range(rows):
        for column in range(columns):
            total = 0.0
            for i in range(inner):
                factor = load_f32(right + 4 * (i * right_step + column))
                total += load_f32(left + 4 * (row * inner + i)) * factor
            at = target + 4 * (row * target_step + column)
            # BLAS's rule: a matrix scaled by 0 is not read, so a NaN in it has no effect.
            before = beta * load_f32(at) if beta != 0 else 0.0
            store_f32(at, alpha * total + before)


def multiply_row(
    function: Address,
    columns: int,
    inner: int,
    alpha: float,
    left: Address,
    right: Address,
    beta: float,
    target: Address,
) -> None:
    """Compute what `multiply_matrices` does for one row, with `cblas_sgemv` at `function`."""
    multiply_matrices(
        function, 1, columns, inner, alpha, left, right, beta, target, columns, columns
    )
