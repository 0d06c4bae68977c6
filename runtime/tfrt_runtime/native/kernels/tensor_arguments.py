"""What a native tensor kernel says to its frame: tensors in, tensors out, the rest to Python."""

from __future__ import annotations

from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.async_value import new_available
from tfrt_runtime.native.calls.frame import argument, set_result
from tfrt_runtime.native.memory import Address, call2, load, native, outline, store
from tfrt_runtime.native.tensors import new_tensor

ALL_RANKS = -1


@outline
def run_in_python(context: Address, record: Address) -> None:
    """Let the kernel's Python function have the frame."""
    call2(load(load(context + at.CONTEXT_PROCESS) + at.PROCESS_PYTHON_KERNEL), context, record)


@native
def payload_type(context: Address, index: int) -> int:
    """The type of an argument's payload."""
    return load(argument(context, index) + at.VALUE_KIND) >> 8


@native
def operand_count(context: Address, record: Address) -> int:
    """How many arguments there are before a chain at the end."""
    count = load(record + at.RECORD_ARGUMENTS)
    if count > 0 and payload_type(context, count - 1) == at.TYPE_CHAIN:
        count -= 1
    return count


@native
def tensor_argument(context: Address, index: int, element: int, rank: int) -> Address:
    """The tensor that an argument is, if it has such elements and that rank; else 0."""
    value = argument(context, index)
    if load(value + at.VALUE_KIND) >> 8 != at.TYPE_TENSOR:
        return 0
    tensor = load(value + at.VALUE_PAYLOAD)
    if load(tensor + at.TENSOR_ELEMENT) != element or load(tensor + at.TENSOR_DATA) & 3 != 0:
        return 0
    return tensor if rank == ALL_RANKS or load(tensor + at.TENSOR_RANK) == rank else 0


@native
def only_tensor(context: Address, record: Address, element: int, rank: int) -> Address:
    """As `tensor_argument`, of the one argument that the kernel has; 0 if it has more."""
    if operand_count(context, record) != 1:
        return 0
    return tensor_argument(context, 0, element, rank)


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
def set_tensor(context: Address, index: int, payload_type: int, tensor: Address) -> None:
    """Emplace a tensor or shape as a result, which takes ownership of the caller's reference."""
    value = new_available(context, payload_type)
    store(value + at.VALUE_PAYLOAD, tensor)
    set_result(context, index, value)


@native
def overlap(left: Address, right: Address) -> bool:
    """Whether two tensors of elements of 4 bytes share memory."""
    first, second = load(left + at.TENSOR_DATA), load(right + at.TENSOR_DATA)
    is_before = first + 4 * load(left + at.TENSOR_COUNT) <= second
    return not is_before and not second + 4 * load(right + at.TENSOR_COUNT) <= first
