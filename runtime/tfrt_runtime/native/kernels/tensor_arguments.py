"""What a native tensor kernel says to its frame: tensors in, tensors out, the rest to Python."""

from __future__ import annotations

from tfrt_runtime.native.async_value import new_available
from tfrt_runtime.native.calls.frame import argument, set_result
from tfrt_runtime.native.layouts import (
    CONTEXT_PROCESS,
    CONTEXT_REQUEST,
    PROCESS_PYTHON_KERNEL,
    RECORD_ARGUMENTS,
    REQUEST_STORE,
    TENSOR_COUNT,
    TENSOR_DATA,
    TENSOR_ELEMENT,
    TENSOR_RANK,
    TYPE_CHAIN,
    TYPE_TENSOR,
    VALUE_KIND,
    VALUE_PAYLOAD,
)
from tfrt_runtime.native.memory import Address, call2, load, native, outline, store
from tfrt_runtime.native.tensors import new_tensor

ALL_RANKS = -1


@outline
def run_in_python(context: Address, record: Address) -> None:
    """Let the kernel's Python function have the frame."""
    call2(load(load(context + CONTEXT_PROCESS) + PROCESS_PYTHON_KERNEL), context, record)


@native
def payload_type(context: Address, index: int) -> int:
    """The type of an argument's payload."""
    return load(argument(context, index) + VALUE_KIND) >> 8


@native
def operand_count(context: Address, record: Address) -> int:
    """How many arguments there are before a chain at the end."""
    count = load(record + RECORD_ARGUMENTS)
    if count > 0 and payload_type(context, count - 1) == TYPE_CHAIN:
        count -= 1
    return count


@native
def tensor_argument(context: Address, index: int, element: int, rank: int) -> Address:
    """The tensor that an argument is, if it has such elements and that rank; else 0."""
    value = argument(context, index)
    if load(value + VALUE_KIND) >> 8 != TYPE_TENSOR:
        return 0
    tensor = load(value + VALUE_PAYLOAD)
    if load(tensor + TENSOR_ELEMENT) != element or load(tensor + TENSOR_DATA) & 3 != 0:
        return 0
    return tensor if rank == ALL_RANKS or load(tensor + TENSOR_RANK) == rank else 0


@native
def tensor_store(context: Address) -> Address:
    """Where the run's native kernels get memory for tensors, or 0."""
    return load(load(context + CONTEXT_REQUEST) + REQUEST_STORE)


@native
def tensor_like(context: Address, element: int, size: int, like: Address) -> Address:
    """A new tensor of the shape of `like`; 0 if native kernels get no memory."""
    memory_store = tensor_store(context)
    return 0 if memory_store == 0 else new_tensor(context, memory_store, element, size, like)


@native
def set_tensor(context: Address, index: int, payload_type: int, tensor: Address) -> None:
    """Emplace a tensor or shape as a result, which takes ownership of the caller's reference."""
    value = new_available(context, payload_type)
    store(value + VALUE_PAYLOAD, tensor)
    set_result(context, index, value)


@native
def overlap(left: Address, right: Address) -> bool:
    """Whether two tensors of elements of 4 bytes share memory."""
    first, second = load(left + TENSOR_DATA), load(right + TENSOR_DATA)
    is_before = first + 4 * load(left + TENSOR_COUNT) <= second
    return not is_before and not second + 4 * load(right + TENSOR_COUNT) <= first
