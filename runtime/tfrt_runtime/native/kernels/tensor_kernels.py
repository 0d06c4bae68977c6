"""Native forms of tensor kernels: the usual arguments, without Python.

Each of these kernels has a Python function that takes anything and says what is wrong with it.  The
native form does the work if its arguments are what they should be; else it changes nothing and lets the
Python function run on the same frame.  Element types are given as the types of payloads.

The arguments of a frame are borrowed and so are the tensors in them.  A chain may follow the tensors.
"""

from __future__ import annotations

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
    add_f32s,
    add_i32s,
    copy_words32,
    equal_f32s,
    equal_i32s,
    exponential,
    f32s_to_i32s,
    fill_words32,
    i32s_to_f32s,
    nearest_f32,
    relu_f32s,
    relu_i32s,
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
    store_i32,
)
from tfrt_runtime.native.tensors import drop_tensor, have_same_shape, new_shape, new_tensor


@native
def operand_count(context: Address, record: Address) -> int:
    """How many arguments there are before a chain at the end."""
    count = load(record + at.RECORD_ARGUMENTS)
    if count > 0 and payload_type(context, count - 1) == at.TYPE_CHAIN:
        count -= 1
    return count


@native
def tensor_argument(context: Address, index: int, element: int) -> Address:
    """The tensor that an argument is, if it has such elements, aligned to 4 bytes; else 0."""
    if payload_type(context, index) != at.TYPE_TENSOR:
        return 0
    tensor = load(argument(context, index) + at.VALUE_PAYLOAD)
    if load(tensor + at.TENSOR_ELEMENT) != element or load(tensor + at.TENSOR_DATA) & 3 != 0:
        return 0
    return tensor


@native
def output_tensor(context: Address, index: int, element: int) -> Address:
    """As `tensor_argument`, of a tensor that the kernel writes: 0 also for one that must not be written."""
    tensor = tensor_argument(context, index, element)
    if tensor != 0 and load(tensor + at.TENSOR_BYTES) == at.READ_ONLY:
        return 0
    return tensor


@native
def only_output(context: Address, record: Address, element: int) -> Address:
    """As `output_tensor`, of the one argument that the kernel has; 0 if it has more."""
    return output_tensor(context, 0, element) if operand_count(context, record) == 1 else 0


@native
def tensor_store(context: Address) -> Address:
    """Where the run's native kernels get memory for tensors, or 0."""
    return load(load(context + at.CONTEXT_REQUEST) + at.REQUEST_STORE)


@native
def tensor_like(context: Address, element: int, size: int, like: Address) -> Address:
    """A new tensor of the shape of `like`; 0 if native kernels get no memory."""
    memory_store = tensor_store(context)
    return 0 if memory_store == 0 else new_tensor(context, memory_store, element, size, like)


@native
def overlap(left: Address, right: Address) -> bool:
    """Whether two tensors of elements of 4 bytes share memory."""
    first, second = load(left + at.TENSOR_DATA), load(right + at.TENSOR_DATA)
    is_before = first + 4 * load(left + at.TENSOR_COUNT) <= second
    return not is_before and not second + 4 * load(right + at.TENSOR_COUNT) <= first


ADD, EQUAL, RELU, CAST = range(4)
"""What `elementwise` can do."""

SAFE_EXPONENT = 40.0
"""exp of it is far from the limits of f32, even times the length of a row."""


# --- shapes and creation ---


@entry
def build_shape(context: Address, record: Address) -> None:
    """`ts.build_shape`; data: rank, number of elements, sizes."""
    memory_store = tensor_store(context)
    if memory_store == 0:
        run_in_python(context, record)
        return
    rank = attribute(record, 0)
    shape = new_shape(context, memory_store, rank, attribute(record, 1))
    for i in range(rank):
        store(shape + at.TENSOR_SIZES + 8 * i, attribute(record, 2 + i))
    set_word(context, 0, at.TYPE_SHAPE, shape)


@entry
def get_tensor_shape(context: Address, record: Address) -> None:
    """`tfrt_dht.get_tensor_shape`"""
    memory_store = tensor_store(context)
    count = load(record + at.RECORD_ARGUMENTS)
    if memory_store == 0 or count == 0 or payload_type(context, 0) != at.TYPE_TENSOR:
        run_in_python(context, record)
        return
    tensor = load(argument(context, 0) + at.VALUE_PAYLOAD)
    rank = load(tensor + at.TENSOR_RANK)
    shape = new_shape(context, memory_store, rank, load(tensor + at.TENSOR_COUNT))
    for i in range(rank):
        store(shape + at.TENSOR_SIZES + 8 * i, load(tensor + at.TENSOR_SIZES + 8 * i))
    set_word(context, 0, at.TYPE_SHAPE, shape)


@entry
def create_tensor(context: Address, record: Address) -> None:
    """`tfrt_dht.create_uninitialized_tensor.*`

    Data: element type and size, then a shape laid out as a tensor is.
    """
    like = load(record + at.RECORD_DATA) + 16
    tensor = tensor_like(context, attribute(record, 0), attribute(record, 1), like)
    if tensor == 0:
        run_in_python(context, record)
    else:
        size = load(tensor + at.TENSOR_BYTES)
        is_fresh = size >> at.LARGEST_KEPT_BITS != 0
        fill_unwritten(context, load(tensor + at.TENSOR_DATA), size, is_fresh)
        set_word(context, 0, at.TYPE_TENSOR, tensor)


@entry
def broadcast(context: Address, record: Address) -> None:
    """`tfrt_test.broadcast.*` of rows as they are; data: element type of 4 bytes, rank."""
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
    count = load(source + at.TENSOR_COUNT)
    into = load(target + at.TENSOR_DATA)
    end = into + load(target + at.TENSOR_BYTES)
    while into < end:
        copy_words32(into, load(source + at.TENSOR_DATA), count)
        into += 4 * count
    set_word(context, 0, at.TYPE_TENSOR, target)


@native
def ends_with(shape: Address, part: Address) -> bool:
    """Whether the last sizes of a shape are those of a tensor."""
    rank = load(part + at.TENSOR_RANK)
    before = load(shape + at.TENSOR_RANK) - rank
    if before < 0:
        return False
    for i in range(rank):
        size = load(part + at.TENSOR_SIZES + 8 * i)
        if load(shape + at.TENSOR_SIZES + 8 * (before + i)) != size:
            return False
    return True


@entry
def fill(context: Address, record: Address) -> None:
    """`tfrt_dht.fill_tensor_with_constant.*`; data: element type of 4 bytes, bits."""
    target = only_output(context, record, attribute(record, 0))
    if target == 0:
        run_in_python(context, record)
        return
    fill_words32(
        load(target + at.TENSOR_DATA), attribute(record, 1), load(target + at.TENSOR_COUNT)
    )
    set_chain(context, 0)


@entry
def assign(context: Address, record: Address) -> None:
    """`tfrt_dht.set_tensor_with_constant_values.*`

    Data: element type of 4 bytes, number of elements, the elements.
    """
    target = only_output(context, record, attribute(record, 0))
    count = attribute(record, 1)
    if target == 0 or load(target + at.TENSOR_COUNT) != count:
        run_in_python(context, record)
        return
    copy_words32(load(target + at.TENSOR_DATA), load(record + at.RECORD_DATA) + 16, count)
    set_chain(context, 0)


# --- element by element ---


@entry
def elementwise(context: Address, record: Address) -> None:
    """`tfrt_test.add.*` and the like; data: operation, operands, element types in and out.

    The result is a tensor of its own, or with one operand more that one and a chain.
    """
    arity, element, made = attribute(record, 1), attribute(record, 2), attribute(record, 3)
    given = operand_count(context, record)
    fits = given == arity or given == arity + 1
    target = 0
    if fits and load(record + at.RECORD_RESULTS) == 1 and are_alike(context, arity, element):
        if given == arity:
            first = tensor_argument(context, 0, element)
            target = tensor_like(context, made, 4, first)
        else:
            target = output_tensor(context, arity, made)
            if target != 0 and not may_write(context, arity, element, target):
                target = 0
    if target == 0:
        run_in_python(context, record)
        return
    combine(context, record, arity, element, target)
    if given == arity:
        set_word(context, 0, at.TYPE_TENSOR, target)
    else:
        set_chain(context, 0)


@entry
def elementwise_inplace(context: Address, record: Address) -> None:
    """`tfrt_test.add_inplace.*` and the like, into the last tensor; data as for `elementwise`."""
    arity, element = attribute(record, 1), attribute(record, 2)
    target = 0
    if operand_count(context, record) == arity and are_alike(context, arity, element):
        target = output_tensor(context, arity - 1, element)
    if target == 0 or not may_write(context, arity, element, target):
        run_in_python(context, record)
        return
    combine(context, record, arity, element, target)
    set_chain(context, 0)


@native
def are_alike(context: Address, arity: int, element: int) -> bool:
    """Whether the first arguments are tensors of such elements and of one shape."""
    first = tensor_argument(context, 0, element)
    if first == 0:
        return False
    for i in range(1, arity):
        other = tensor_argument(context, i, element)
        if other == 0 or not have_same_shape(first, other):
            return False
    return True


@native
def may_write(context: Address, arity: int, element: int, target: Address) -> bool:
    """Whether a tensor has the shape of the first arguments, and shares with each all or no memory."""
    for i in range(arity):
        source = tensor_argument(context, i, element)
        is_same = load(source + at.TENSOR_DATA) == load(target + at.TENSOR_DATA)
        if not have_same_shape(source, target) or not is_same and overlap(source, target):
            return False
    return True


@native
def combine(context: Address, record: Address, arity: int, element: int, target: Address) -> None:
    """Do the operation of the record on the first arguments."""
    operation = attribute(record, 0)
    first = tensor_argument(context, 0, element)
    second = tensor_argument(context, arity - 1, element)
    count, into = load(first + at.TENSOR_COUNT), load(target + at.TENSOR_DATA)
    left, right = load(first + at.TENSOR_DATA), load(second + at.TENSOR_DATA)
    if element == at.TYPE_F32:
        if operation == ADD:
            add_f32s(into, left, right, count)
        elif operation == EQUAL:
            equal_f32s(into, left, right, count)
        elif operation == RELU:
            relu_f32s(into, left, count)
        else:
            f32s_to_i32s(into, left, count)
    elif operation == ADD:
        add_i32s(into, left, right, count)
    elif operation == EQUAL:
        equal_i32s(into, left, right, count)
    elif operation == RELU:
        relu_i32s(into, left, count)
    else:
        i32s_to_f32s(into, left, count)


@entry
def tensor_equal(context: Address, record: Address) -> None:
    """`tfrt_dht.tensor_equal.*`; data: an element type of 4 bytes."""
    element = attribute(record, 0)
    if operand_count(context, record) != 2 or not are_tensors(context, element):
        run_in_python(context, record)
        return
    left = tensor_argument(context, 0, element)
    right = tensor_argument(context, 1, element)
    equal = have_same_shape(left, right) and have_equal_elements(left, right, element)
    set_word(context, 0, at.TYPE_I1, 1 if equal else 0)
    set_chain(context, 1)


@native
def are_tensors(context: Address, element: int) -> bool:
    """Whether the first two arguments are tensors of such elements."""
    left = tensor_argument(context, 0, element)
    return left != 0 and tensor_argument(context, 1, element) != 0


@native
def have_equal_elements(left: Address, right: Address, element: int) -> bool:
    """Whether two tensors of one shape are equal; NaN equals nothing."""
    first, second = load(left + at.TENSOR_DATA), load(right + at.TENSOR_DATA)
    for i in range(load(left + at.TENSOR_COUNT)):
        if element == at.TYPE_F32:
            if load_f32(first + 4 * i) != load_f32(second + 4 * i):
                return False
        elif load_i32(first + 4 * i) != load_i32(second + 4 * i):
            return False
    return True


# --- rows ---


@entry
def softmax_inplace(context: Address, record: Address) -> None:
    """`tfrt_test.softmax_inplace.f32`"""
    target = only_output(context, record, at.TYPE_F32)
    if target == 0 or load(target + at.TENSOR_RANK) == 0:
        run_in_python(context, record)
        return
    softmax_rows(target, target)
    set_chain(context, 0)


@entry
def softmax_into(context: Address, record: Address) -> None:
    """`tfrt_test.softmax.f32`"""
    if operand_count(context, record) != 2 or not are_tensors(context, at.TYPE_F32):
        run_in_python(context, record)
        return
    source = tensor_argument(context, 0, at.TYPE_F32)
    target = output_tensor(context, 1, at.TYPE_F32)
    is_plain = target != 0 and load(source + at.TENSOR_RANK) != 0
    if not is_plain or not have_same_shape(source, target) or overlap(source, target):
        run_in_python(context, record)
        return
    softmax_rows(source, target)
    set_chain(context, 0)


@native
def softmax_rows(source: Address, target: Address) -> None:
    """Softmax of each row along the last dimension.  The two are one tensor, or share no memory."""
    count = load(source + at.TENSOR_COUNT)
    width = load(source + at.TENSOR_SIZES + 8 * (load(source + at.TENSOR_RANK) - 1))
    row, into = load(source + at.TENSOR_DATA), load(target + at.TENSOR_DATA)
    end = row + 4 * count
    while row < end:
        # A summand changes no quotient, but would change the last digit: so only where it is needed
        # to keep the largest exponential of a row from overflowing or vanishing.
        largest = largest_of(row, width)
        summand = largest - min(max(largest, -SAFE_EXPONENT), SAFE_EXPONENT)
        total = 0.0
        for i in range(width):
            power = nearest_f32(exponential(load_f32(row + 4 * i) - summand))
            store_f32(into + 4 * i, power)
            total += power
        total = nearest_f32(total)
        for i in range(width):
            store_f32(into + 4 * i, load_f32(into + 4 * i) / total)
        row += 4 * width
        into += 4 * width


@native
def largest_of(row: Address, width: int) -> float:
    """The largest of at least one number; NaN if one is NaN."""
    largest = load_f32(row)
    for i in range(1, width):
        number = load_f32(row + 4 * i)
        if number > largest or number != number:  # noqa: PLR0124 - only NaN is not itself
            largest = number
    return largest


@entry
def argmax(context: Address, record: Address) -> None:
    """`tfrt_test.argmax.*`; data: element type of 4 bytes, rank, which is not 0."""
    element, rank = attribute(record, 0), attribute(record, 1)
    memory_store = tensor_store(context)
    source, result = tensor_argument(context, 0, element), 0
    if (
        source != 0
        and operand_count(context, record) == 1
        and load(source + at.TENSOR_RANK) == rank
        and memory_store != 0
    ):
        result = new_rows(context, memory_store, source, rank)
    if result == 0:
        run_in_python(context, record)
        return
    width = load(source + at.TENSOR_SIZES + 8 * (rank - 1))
    row, into = load(source + at.TENSOR_DATA), load(result + at.TENSOR_DATA)
    for i in range(load(result + at.TENSOR_COUNT)):
        store_i32(into + 4 * i, index_of_largest(row, width, element))
        row += 4 * width
    set_word(context, 0, at.TYPE_TENSOR, result)


@native
def new_rows(context: Address, memory_store: Address, source: Address, rank: int) -> Address:
    """A tensor of i32 with one element per row of another; 0 if rows have none, or without memory."""
    width = load(source + at.TENSOR_SIZES + 8 * (rank - 1))
    count = 1
    for i in range(rank - 1):
        # Without elements there is no bound to what the sizes may be.
        count *= load(source + at.TENSOR_SIZES + 8 * i)
    if load(source + at.TENSOR_COUNT) == 0 or width == 0:
        return 0
    shape = new_shape(context, memory_store, rank - 1, count)
    for i in range(rank - 1):
        store(shape + at.TENSOR_SIZES + 8 * i, load(source + at.TENSOR_SIZES + 8 * i))
    made = new_tensor(context, memory_store, at.TYPE_I32, 4, shape)
    drop_tensor(context, shape)
    return made


@native
def index_of_largest(row: Address, width: int, element: int) -> int:
    """Where the first of the largest numbers is; the first NaN is larger than all."""
    best = 0
    if element == at.TYPE_I32:
        for i in range(1, width):
            if load_i32(row + 4 * i) > load_i32(row + 4 * best):
                best = i
        return best
    for i in range(1, width):
        largest, number = load_f32(row + 4 * best), load_f32(row + 4 * i)
        if largest != largest:  # noqa: PLR0124 - only NaN is not itself
            return best
        if not number <= largest:
            best = i
    return best
