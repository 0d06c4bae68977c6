"""Loops over the elements of tensors.

Each says in plain Python what it does element by element; compiled, `tensor_lowering` makes it a loop
over vectors.  Arrays have the same elements where they start at the same address, and share none
otherwise; nothing is said of their alignment beyond that of an element.
"""

from __future__ import annotations

import math
import struct

from tfrt_runtime.native.memory import Address, load_f32, load_i32, store_f32, store_i32

INT32 = 1 << 31


def add_f32s(target: Address, left: Address, right: Address, count: int) -> None:
    """`target = left + right`."""
    for at in range(0, 4 * count, 4):
        store_f32(target + at, load_f32(left + at) + load_f32(right + at))


def add_i32s(target: Address, left: Address, right: Address, count: int) -> None:
    """`target = left + right`; wraps."""
    for at in range(0, 4 * count, 4):
        store_i32(target + at, load_i32(left + at) + load_i32(right + at))


def equal_f32s(target: Address, left: Address, right: Address, count: int) -> None:
    """1.0 where the elements are equal, else 0.0; NaN equals nothing."""
    for at in range(0, 4 * count, 4):
        store_f32(target + at, float(load_f32(left + at) == load_f32(right + at)))


def equal_i32s(target: Address, left: Address, right: Address, count: int) -> None:
    """1 where the elements are equal, else 0."""
    for at in range(0, 4 * count, 4):
        store_i32(target + at, int(load_i32(left + at) == load_i32(right + at)))


def relu_f32s(target: Address, source: Address, count: int) -> None:
    """What is above zero, and zero for what is below; NaN stays NaN."""
    for at in range(0, 4 * count, 4):
        number = load_f32(source + at)
        store_f32(target + at, 0.0 if number < 0 else number)


def relu_i32s(target: Address, source: Address, count: int) -> None:
    """What is above zero, and zero for what is below."""
    for at in range(0, 4 * count, 4):
        store_i32(target + at, max(load_i32(source + at), 0))


def i32s_to_f32s(target: Address, source: Address, count: int) -> None:
    """The nearest floats."""
    for at in range(0, 4 * count, 4):
        store_f32(target + at, float(load_i32(source + at)))


def f32s_to_i32s(target: Address, source: Address, count: int) -> None:
    """Toward zero; what does not fit, and NaN, becomes the smallest integer."""
    for at in range(0, 4 * count, 4):
        number = load_f32(source + at)
        fits = math.isfinite(number) and -INT32 <= number < INT32
        store_i32(target + at, int(number) if fits else -INT32)


def copy_words32(target: Address, source: Address, count: int) -> None:
    """The same elements of 32 bits."""
    for at in range(0, 4 * count, 4):
        store_i32(target + at, load_i32(source + at))


def fill_words32(target: Address, bits: int, count: int) -> None:
    """The low 32 bits of a word as each element."""
    for at in range(0, 4 * count, 4):
        store_i32(target + at, bits)


def exponential(number: float) -> float:
    """`e` to the power of a number."""
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


def nearest_f32(number: float) -> float:
    """The 32-bit float next to a number."""
    try:
        nearest: float = struct.unpack("f", struct.pack("f", number))[0]
    except OverflowError:
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
    """`target = alpha * left @ right + beta * target` with `cblas_sgemm` (64-bit integers) at `function`.

    f32, row by row; the rows of `right` and `target` start so many elements apart.  Neither a size nor
    `alpha` is 0, and `target` shares no memory with the others.
    """
    del function
    for row in range(rows):
        for column in range(columns):
            total = 0.0
            for i in range(inner):
                factor = load_f32(right + 4 * (i * right_step + column))
                total += load_f32(left + 4 * (row * inner + i)) * factor
            at = target + 4 * (row * target_step + column)
            # What is scaled by 0 does not matter, not even a NaN: that is BLAS's rule.
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
    """As `multiply_matrices` for one row, with `cblas_sgemv` at `function`."""
    multiply_matrices(
        function, 1, columns, inner, alpha, left, right, beta, target, columns, columns
    )
