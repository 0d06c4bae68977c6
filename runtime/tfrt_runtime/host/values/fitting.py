"""Python values where a program says a type that is no number."""

from __future__ import annotations

import reprlib
from functools import cache
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from tfrt_runtime.host.payload import CHAIN, SCALAR_TYPES, PayloadError, encode_integer, written

if TYPE_CHECKING:
    from tfrt_runtime.host.tensor.dense import DenseHostTensor

CHAIN_TYPE = "!tfrt.chain"
STRING_TYPE = "!tfrt.string"
BUFFER = "memref<"
"""How the types of compiled functions' buffers begin."""
TENSOR = ".tensor"
"""How the types of tensors end."""


def fitting(type_text: str, value: object) -> object:
    """`value` as a program of that type holds it: a numpy array is a tensor, None may be a chain.

    Numbers are checked where they are encoded.  Types that only their kernels know take any object.

    Raises:
        PayloadError: if the type has no such values.
    """
    if type_text in SCALAR_TYPES:
        return value
    if type_text == CHAIN_TYPE:
        if value is None or value is CHAIN:
            return CHAIN
    elif type_text == STRING_TYPE:
        if isinstance(value, str):
            return value
    elif type_text == "index":
        encode_integer("i64", value)
        return value
    elif type_text.endswith(TENSOR):
        # To ask an array itself would make its interface.
        if hasattr(type(value), "__array_interface__") or hasattr(value, "__array_interface__"):
            return as_tensor(value)
        if type(value).__module__ != "builtins" and value is not CHAIN:
            return value
    elif type_text.startswith(BUFFER):
        return _fitting_buffer(type_text, value)
    else:
        return value
    raise PayloadError(f"expected {type_text}, found {type(value).__name__}")


def why_copied(tensor: object, array: Any) -> str:
    """Why a tensor that `fitting` made of an array has a copy of its elements; an empty text if it has none."""
    if not isinstance(tensor, _tensor_class()) or tensor.array.size == 0:
        return ""
    interface = array.__array_interface__
    address, is_read_only = interface["data"]
    if tensor.array.__array_interface__["data"][0] == address:
        return ""
    if is_read_only:
        return "is read-only: give it a copy"
    if interface["strides"] is not None:
        return "is not C-contiguous: give it a copy that is"
    return "is in another byte order: give it one of this machine's"


def misfit(type_text: str, value: object, wrong: PayloadError) -> str:
    """Why `value` is none of the type, with the value where the error names only its class."""
    reason = str(wrong)
    if not reason.startswith("expected"):
        return reason
    found = f"expected {type_text}, found {_shown(value)}"
    advice = ""
    # Asked of the class: a traced value refuses to be asked for what it has not.
    if hasattr(type(value), "instead_of_argument"):
        advice = getattr(value, "instead_of_argument", "")
    elif isinstance(value, CoroutineType):
        advice = "make a task of it, as in asyncio.create_task(...)"
    elif type_text.endswith(TENSOR) and isinstance(value, (list, tuple, int, float)):
        advice = "make an array of it, as in numpy.array(...)"
    return f"{found}: {advice}" if advice else found


def _shown(value: object) -> str:
    """A value in a message: not too long, and with its type where that is not to be seen."""
    if isinstance(value, int):
        return written(value) if type(value) is int else repr(value)
    text = reprlib.repr(value)
    if isinstance(value, (float, complex, str, bytes, type(None))):
        return text
    return f"{type(value).__name__} {text}"


def _fitting_buffer(type_text: str, value: object) -> object:
    """A tensor over the memory of `value`, which the function may write: that is no copy."""
    from tfrt_runtime.host.tensor.dense import DenseHostTensor, buffer_type

    if hasattr(value, "__array_interface__"):
        value = _lent(type_text, value)
    if not isinstance(value, DenseHostTensor):
        raise PayloadError(f"expected {type_text}, found {type(value).__name__}")
    if not buffer_type(type_text.removeprefix(BUFFER)[:-1]).fits(value):
        found = f"an array of {value.element_type} with shape {value.shape}"
        raise PayloadError(f"{found} does not fit in {type_text}")
    return value


def _lent(type_text: str, array: Any) -> DenseHostTensor:
    import numpy as np

    from tfrt_runtime.host.tensor.buffers import HostBuffer
    from tfrt_runtime.host.tensor.dense import DenseHostTensor
    from tfrt_runtime.host.tensor.element_types import element_type_of
    from tfrt_runtime.host.tensor.shapes import TensorShape

    array = np.asarray(array)
    if not array.flags.c_contiguous:
        raise PayloadError(f"{type_text} takes a C-contiguous array")
    try:
        element_type = element_type_of(array)
    except ValueError as wrong:
        raise PayloadError(str(wrong)) from None
    if not array.dtype.isnative:
        raise PayloadError(f"{type_text} takes an array in this machine's byte order")
    return DenseHostTensor(element_type, TensorShape(array.shape), HostBuffer.over(array))


@cache
def _tensor_class() -> Any:
    """Imported once an array exists, and so numpy is loaded: other programs start without it."""
    from tfrt_runtime.host.tensor.dense import DenseHostTensor

    return DenseHostTensor


def as_tensor(array: object) -> object:
    """A tensor over the memory of a numpy array, or over a copy: see `DenseHostTensor.over`.

    Raises:
        PayloadError: if a tensor cannot have such elements.
    """
    try:
        return _tensor_class().over(array)
    except ValueError as wrong:
        raise PayloadError(str(wrong)) from None
