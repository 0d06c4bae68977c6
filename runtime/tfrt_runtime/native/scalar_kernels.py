"""Native kernels over scalars: arithmetic, comparisons, casts, chains.

Integers wrap in two's complement.  Division truncates towards zero, as in C; the one quotient that
does not fit (the smallest integer by -1) wraps, too.
"""

from __future__ import annotations

from tfrt_runtime.native.async_value import new_available
from tfrt_runtime.native.frame import (
    argument,
    argument_f32,
    argument_f64,
    argument_i1,
    argument_i32,
    argument_i64,
    attribute,
    fail,
    set_chain,
    set_f32,
    set_f64,
    set_i1,
    set_i32,
    set_i64,
    set_result,
    share_argument,
)
from tfrt_runtime.native.layouts import (
    MESSAGE_DIVIDE_BY_ZERO,
    MESSAGE_WRONG_TYPE,
    RECORD_ARGUMENTS,
    VALUE_KIND,
    VALUE_PAYLOAD,
    VALUE_PAYLOAD2,
)
from tfrt_runtime.native.memory import (
    Address,
    call2,
    entry,
    float_to_int,
    load,
    load_acquire,
    native,
    store,
    wrapping_add,
    wrapping_multiply,
    wrapping_subtract,
)


@entry
def add_i32(context: Address, record: Address) -> None:
    """`tfrt.add.i32`"""
    set_i32(context, 0, argument_i32(context, 0) + argument_i32(context, 1))


@entry
def add_i64(context: Address, record: Address) -> None:
    """`tfrt.add.i64`"""
    set_i64(context, 0, wrapping_add(argument_i64(context, 0), argument_i64(context, 1)))


@entry
def add_f32(context: Address, record: Address) -> None:
    """`tfrt.add.f32`"""
    set_f32(context, 0, argument_f32(context, 0) + argument_f32(context, 1))


@entry
def add_f64(context: Address, record: Address) -> None:
    """`tfrt.add.f64`"""
    set_f64(context, 0, argument_f64(context, 0) + argument_f64(context, 1))


@entry
def minus_i32(context: Address, record: Address) -> None:
    """`tfrt.minus.i32`"""
    set_i32(context, 0, argument_i32(context, 0) - argument_i32(context, 1))


@entry
def minus_i64(context: Address, record: Address) -> None:
    """`tfrt.minus.i64`"""
    set_i64(context, 0, wrapping_subtract(argument_i64(context, 0), argument_i64(context, 1)))


@entry
def multiply_i32(context: Address, record: Address) -> None:
    """`tfrt.mul.i32`"""
    set_i32(context, 0, argument_i32(context, 0) * argument_i32(context, 1))


@entry
def multiply_i64(context: Address, record: Address) -> None:
    """`tfrt.mul.i64`"""
    set_i64(context, 0, wrapping_multiply(argument_i64(context, 0), argument_i64(context, 1)))


@entry
def multiply_f32(context: Address, record: Address) -> None:
    """`tfrt.multiply.f32`"""
    set_f32(context, 0, argument_f32(context, 0) * argument_f32(context, 1))


@entry
def multiply_f64(context: Address, record: Address) -> None:
    """`tfrt.multiply.f64`"""
    set_f64(context, 0, argument_f64(context, 0) * argument_f64(context, 1))


@native
def smaller(left: float, right: float) -> float:
    """As `std::min`: the left one unless the right one is less."""
    return right if right < left else left  # noqa: FURB136 - NaN goes its own way


@entry
def minimum_f32(context: Address, record: Address) -> None:
    """`tfrt.minimum.f32`"""
    set_f32(context, 0, smaller(argument_f32(context, 0), argument_f32(context, 1)))


@entry
def minimum_f64(context: Address, record: Address) -> None:
    """`tfrt.minimum.f64`"""
    set_f64(context, 0, smaller(argument_f64(context, 0), argument_f64(context, 1)))


@native
def truncated_quotient(left: int, right: int) -> int:
    """`left / right` rounded towards zero; `right` is neither 0 nor -1."""
    quotient = left // right
    if quotient < 0 and quotient * right != left:
        quotient += 1
    return quotient


@entry
def divide_i32(context: Address, record: Address) -> None:
    """`tfrt.div.i32`: quotient and remainder."""
    left, right = argument_i32(context, 0), argument_i32(context, 1)
    if right == 0:
        fail(context, record, MESSAGE_DIVIDE_BY_ZERO)
        return
    quotient = -left if right == -1 else truncated_quotient(left, right)
    set_i32(context, 0, quotient)
    set_i32(context, 1, left - quotient * right)


@entry
def divide_i64(context: Address, record: Address) -> None:
    """`tfrt.div.i64`: quotient and remainder."""
    left, right = argument_i64(context, 0), argument_i64(context, 1)
    if right == 0:
        fail(context, record, MESSAGE_DIVIDE_BY_ZERO)
        return
    quotient = wrapping_subtract(0, left) if right == -1 else truncated_quotient(left, right)
    set_i64(context, 0, quotient)
    set_i64(context, 1, wrapping_subtract(left, wrapping_multiply(quotient, right)))


@entry
def divide_f32(context: Address, record: Address) -> None:
    """`tfrt.div.f32`"""
    if argument_f32(context, 1) == 0.0:
        fail(context, record, MESSAGE_DIVIDE_BY_ZERO)
        return
    set_f32(context, 0, argument_f32(context, 0) / argument_f32(context, 1))


@entry
def divide_f64(context: Address, record: Address) -> None:
    """`tfrt.div.f64`"""
    if argument_f64(context, 1) == 0.0:
        fail(context, record, MESSAGE_DIVIDE_BY_ZERO)
        return
    set_f64(context, 0, argument_f64(context, 0) / argument_f64(context, 1))


@entry
def equal_i32(context: Address, record: Address) -> None:
    """`tfrt.equal.i32`"""
    set_i1(context, 0, 1 if argument_i32(context, 0) == argument_i32(context, 1) else 0)


@entry
def equal_i64(context: Address, record: Address) -> None:
    """`tfrt.equal.i64`"""
    set_i1(context, 0, 1 if argument_i64(context, 0) == argument_i64(context, 1) else 0)


@entry
def less_equal_i32(context: Address, record: Address) -> None:
    """`tfrt.lessequal.i32`"""
    set_i1(context, 0, 1 if argument_i32(context, 0) <= argument_i32(context, 1) else 0)


@entry
def less_equal_i64(context: Address, record: Address) -> None:
    """`tfrt.lessequal.i64`"""
    set_i1(context, 0, 1 if argument_i64(context, 0) <= argument_i64(context, 1) else 0)


@entry
def and_i1(context: Address, record: Address) -> None:
    """`tfrt.and.i1`"""
    set_i1(context, 0, argument_i1(context, 0) & argument_i1(context, 1))


@entry
def cast_i64_to_f32(context: Address, record: Address) -> None:
    """`tfrt.cast.i64_to_f32`"""
    set_f32(context, 0, float(argument_i64(context, 0)))


@entry
def cast_i64_to_f64(context: Address, record: Address) -> None:
    """`tfrt.cast.i64_to_f64`"""
    set_f64(context, 0, float(argument_i64(context, 0)))


@entry
def cast_f32_to_i64(context: Address, record: Address) -> None:
    """`tfrt.cast.f32_to_i64`"""
    set_i64(context, 0, float_to_int(argument_f32(context, 0)))


@entry
def cast_f64_to_i64(context: Address, record: Address) -> None:
    """`tfrt.cast.f64_to_i64`"""
    set_i64(context, 0, float_to_int(argument_f64(context, 0)))


@entry
def constant(context: Address, record: Address) -> None:
    """A constant that is made anew; data: payload type and its two words."""
    value = new_available(context, attribute(record, 0))
    store(value + VALUE_PAYLOAD, attribute(record, 1))
    store(value + VALUE_PAYLOAD2, attribute(record, 2))
    set_result(context, 0, value)


@entry
def run_checked(context: Address, record: Address) -> None:
    """A kernel of which only a run knows the types of the arguments.

    Data: the kernel, which has no data, and a payload type per argument, 0 for any.
    """
    for i in range(load(record + RECORD_ARGUMENTS)):
        wanted = attribute(record, 1 + i)
        if wanted != 0 and load_acquire(argument(context, i) + VALUE_KIND) >> 8 != wanted:
            fail(context, record, MESSAGE_WRONG_TYPE)
            return
    call2(attribute(record, 0), context, record)


@entry
def new_chain(context: Address, record: Address) -> None:
    """`tfrt.new.chain` and `tfrt.merge.chains`: the arguments are available by now."""
    set_chain(context, 0)


@entry
def alias_value(context: Address, record: Address) -> None:
    """`tfrt.alias.value`: the second argument, after the chain."""
    share_argument(context, 1, 0)


@entry
def sum_i32(context: Address, record: Address) -> None:
    """`tfrt_test.sum`"""
    total = 0
    for i in range(load(record + RECORD_ARGUMENTS)):
        total += argument_i32(context, i)
    set_i32(context, 0, total)


@entry
def sum_attributes_i32(context: Address, record: Address) -> None:
    """`tfrt_test.sync_sum_attributes`; data: how many there are, and they."""
    total = 0
    for i in range(attribute(record, 0)):
        total += attribute(record, 1 + i)
    set_i32(context, 0, total)


@entry
def nothing(context: Address, record: Address) -> None:
    """A kernel without results that does nothing."""


@entry
def count3_i32(context: Address, record: Address) -> None:
    """`tfrt_test.count3.i32`"""
    for i in range(3):
        set_i32(context, i, argument_i32(context, 0) + i + 1)


@entry
def count3_i64(context: Address, record: Address) -> None:
    """`tfrt_test.count3.i64`"""
    for i in range(3):
        set_i64(context, i, wrapping_add(argument_i64(context, 0), i + 1))
