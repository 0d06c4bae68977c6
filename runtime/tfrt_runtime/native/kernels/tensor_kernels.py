"""Native versions of tensor kernels.

Each kernel here also exists as a Python function, which uses numpy, takes any arguments, and
reports invalid ones.  The native version handles only the usual arguments.  For all other
arguments, it changes nothing and lets the Python function run with the same frame.  Calling a
Python kernel takes a few microseconds.  This module has the kernels for which that would double the
time of a small network layer.

Kernels borrow their arguments and the tensors in them.  A chain may follow the tensors.  Element
types are payload types.
"""

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.calls.frame import (
    argument,
    attribute,
    payload_type,
    run_in_python,
    set_chain,
    set_word,
)
from tfrt_runtime.native.cells import fill_unwritten
from tfrt_runtime.native.kernels.tensor_loops import (
    copy_words32,
    exponential,
    nearest_f32,
    relu_f32s,
)
from tfrt_runtime.native.memory import (
    Address,
    entry,
    load,
    load_f32,
    load_i32,
    native,
    store,
    store_f32,
)
from tfrt_runtime.native.tensors import new_shape, new_tensor


@native
def operand_count(context: Address, record: Address) -> int:
    """Return the number of arguments, not counting a chain at the end."""
    count = load_i32(record + at.RECORD_ARGUMENTS)
    if count > 0 and payload_type(context, count - 1) == at.TYPE_CHAIN:
        count -= 1
    return count


@native
def tensor_argument(context: Address, index: int, element: int) -> Address:
    """Return an argument's tensor, or 0 if it is not usable here.

    The tensor must have elements of the given type and be aligned to 4 bytes.
    """
    if payload_type(context, index) != at.TYPE_TENSOR:
        return 0
    tensor = load(argument(context, index) + at.VALUE_PAYLOAD)
    # The elements of a numpy array may be unaligned, but `tensor_loops` needs aligned ones.
    if load(tensor + at.TENSOR_ELEMENT) != element or load(tensor + at.TENSOR_DATA) & 3 != 0:
        return 0
    return tensor


@native
def output_tensor(context: Address, index: int, element: int) -> Address:
    """Return an argument's tensor as `tensor_argument` does, or 0 if it is read-only."""
    tensor = tensor_argument(context, index, element)
    if tensor != 0 and load(tensor + at.TENSOR_BYTES) == at.READ_ONLY:
        return 0
    return tensor


@native
def only_output(context: Address, record: Address, element: int) -> Address:
    """Return the tensor of the only argument as `output_tensor` does.

    Return 0 if there are more arguments.
    """
    return output_tensor(context, 0, element) if operand_count(context, record) == 1 else 0


@native
def tensor_store(context: Address) -> Address:
    """Return the store from which native kernels take memory for tensors, or 0 if none is set."""
    return load(load(context + at.CONTEXT_REQUEST) + at.REQUEST_STORE)


@native
def tensor_like(context: Address, element: int, size: int, like: Address) -> Address:
    """Return a new tensor with the shape of `like`; return 0 if native kernels have no store."""
    memory_store = tensor_store(context)
    return 0 if memory_store == 0 else new_tensor(context, memory_store, element, size, like)


@native
def overlap(left: Address, right: Address) -> bool:
    """Return whether two tensors with 4-byte elements share memory."""
    first, second = load(left + at.TENSOR_DATA), load(right + at.TENSOR_DATA)
    is_before = first + 4 * load(left + at.TENSOR_COUNT) <= second
    return not is_before and not second + 4 * load(right + at.TENSOR_COUNT) <= first


SAFE_EXPONENT = 40.0
"""A number whose exponential, even times the length of a row, stays far from the limits of f32."""


# --- shapes and creation ---


@entry
def build_shape(context: Address, record: Address) -> None:
    """`ts.build_shape`: make a shape; data: the rank, the element count, and the sizes."""
    memory_store = tensor_store(context)
    if memory_store == 0:
        run_in_python(context, record)
        return
    rank = attribute(record, 0)
    # This cannot fail: a shape has no elements, and its descriptor comes from `need_block`.
    shape = new_shape(context, memory_store, rank, attribute(record, 1))
    for i in range(rank):
        store(shape + at.TENSOR_SIZES + 8 * i, attribute(record, 2 + i))
    set_word(context, 0, at.TYPE_SHAPE, shape)


@entry
def create_tensor(context: Address, record: Address) -> None:
    """`tfrt_dht.create_uninitialized_tensor.*`: make a tensor with undefined elements.

    Data: the type and size of the elements, then a shape in the layout of a tensor.
    """
    like = record + load_i32(record + at.RECORD_DATA) + 16
    tensor = tensor_like(context, attribute(record, 0), attribute(record, 1), like)
    if tensor == 0:
        run_in_python(context, record)
    else:
        size = load(tensor + at.TENSOR_BYTES)
        # The store keeps no free blocks of this size, so such a block comes from the system.
        is_fresh = size >> at.LARGEST_KEPT_BITS != 0
        fill_unwritten(context, load(tensor + at.TENSOR_DATA), size, is_fresh)
        set_word(context, 0, at.TYPE_TENSOR, tensor)


@entry
def broadcast(context: Address, record: Address) -> None:
    """`tfrt_test.broadcast.*`: repeat the elements of a smaller tensor.

    This version can only repeat the tensor as a whole.  Data: the element type, which has 4 bytes,
    and the rank.
    """
    element, rank = attribute(record, 0), attribute(record, 1)
    if operand_count(context, record) != 2 or payload_type(context, 1) != at.TYPE_SHAPE:
        run_in_python(context, record)
        return
    source = tensor_argument(context, 0, element)
    shape = load(argument(context, 1) + at.VALUE_PAYLOAD)
    target = 0
    if source != 0 and load(shape + at.TENSOR_RANK) == rank and ends_with(shape, source):
        target = tensor_like(context, element, 4, shape)
    if target == 0:
        run_in_python(context, record)
        return
    # `count` is not 0, so the loop below ends: `new_tensor` refuses tensors without elements, and
    # the last sizes of `target` equal the sizes of `source`.
    count = load(source + at.TENSOR_COUNT)
    into = load(target + at.TENSOR_DATA)
    end = into + load(target + at.TENSOR_BYTES)
    while into < end:
        copy_words32(into, load(source + at.TENSOR_DATA), count)
        into += 4 * count
    set_word(context, 0, at.TYPE_TENSOR, target)


@native
def ends_with(shape: Address, part: Address) -> bool:
    """Return whether the last sizes of `shape` equal the sizes of the tensor `part`."""
    rank = load(part + at.TENSOR_RANK)
    before = load(shape + at.TENSOR_RANK) - rank
    if before < 0:
        return False
    for i in range(rank):
        size = load(part + at.TENSOR_SIZES + 8 * i)
        if load(shape + at.TENSOR_SIZES + 8 * (before + i)) != size:
            return False
    return True


# --- element by element ---


@entry
def relu_inplace(context: Address, record: Address) -> None:
    """`tfrt_test.relu_inplace.f32`: replace each negative element of a tensor with zero."""
    target = only_output(context, record, at.TYPE_F32)
    if target == 0:
        run_in_python(context, record)
        return
    relu_f32s(load(target + at.TENSOR_DATA), load(target + at.TENSOR_COUNT))
    set_chain(context, 0)


# --- rows ---


@entry
def softmax_inplace(context: Address, record: Address) -> None:
    """`tfrt_test.softmax_inplace.f32`: replace each row of a matrix with its softmax."""
    target = only_output(context, record, at.TYPE_F32)
    if target == 0 or load(target + at.TENSOR_RANK) == 0:
        run_in_python(context, record)
        return
    # If `width` is 0, the tensor has no elements, and the loop below does not run.
    width = load(target + at.TENSOR_SIZES + 8 * (load(target + at.TENSOR_RANK) - 1))
    row = load(target + at.TENSOR_DATA)
    end = row + 4 * load(target + at.TENSOR_COUNT)
    while row < end:
        # Subtracting a constant from all exponents changes the quotients at most in their last
        # digit. Do it only if the row's largest exponential would otherwise overflow or vanish.
        largest = largest_of(row, width)
        summand = largest - min(max(largest, -SAFE_EXPONENT), SAFE_EXPONENT)
        total = 0.0
        for i in range(width):
            # Round each power and the total to `f32`, because the reference implementation rounds
            # there.
            power = nearest_f32(exponential(load_f32(row + 4 * i) - summand))
            store_f32(row + 4 * i, power)
            total += power
        total = nearest_f32(total)
        for i in range(width):
            store_f32(row + 4 * i, load_f32(row + 4 * i) / total)
        row += 4 * width
    set_chain(context, 0)


@native
def largest_of(row: Address, width: int) -> float:
    """Return the largest of the `width` numbers at `row`, or NaN if any of them is NaN.

    `width` must be at least 1.
    """
    largest = load_f32(row)
    for i in range(1, width):
        number = load_f32(row + 4 * i)
        # No number is greater than NaN, so NaN stays.
        if number > largest or number != number:  # noqa: PLR0124 - only NaN is not itself
            largest = number
    return largest
