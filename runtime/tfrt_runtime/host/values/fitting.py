"""Convert Python objects to values of a program's types, except numbers."""

from __future__ import annotations

import reprlib
from contextlib import suppress
from functools import cache
from types import CoroutineType
from typing import TYPE_CHECKING, Any

from tfrt_runtime.host.failures import printable
from tfrt_runtime.host.payload import (
    CHAIN,
    SCALAR_TYPES,
    HostTensor,
    PayloadError,
    encode_integer,
    written,
)

if TYPE_CHECKING:
    from tfrt_runtime.host.tensor.dense import DenseHostTensor

CHAIN_TYPE = "!tfrt.chain"
STRING_TYPE = "!tfrt.string"
_CHECKED = (CHAIN_TYPE, "chain", STRING_TYPE, "index")
BUFFER = "memref<"
"""The prefix of the names of compiled functions' buffer types."""
TENSOR = ".tensor"
"""The suffix of the names of tensor types."""


def fitting(type_text: str, value: object) -> object:
    """Convert `value` to the object that represents it in a program, for the given type.

    For example, an array becomes a tensor, and None becomes a chain.  Any object that shares its
    elements without a copy counts as an array (`as_array`).  Numbers are returned unchanged, and
    are checked when they are encoded.  A type that only the program's kernels know accepts any
    object.

    Raises:
        PayloadError: if the value does not fit the type.
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
        # This only checks the range: an index is stored as a Python object.
        encode_integer("i64", value)
        return value
    elif type_text.endswith(TENSOR):
        return value if isinstance(value, HostTensor) else as_tensor(value, type_text)
    elif type_text.startswith(BUFFER):
        return _fitting_buffer(type_text, value)
    else:
        return value
    raise PayloadError(f"expected {type_text}, found {type(value).__name__}")


def takes_any(type_text: str) -> bool:
    """Return whether the type accepts any object without a check or a conversion."""
    return not (
        type_text in (*SCALAR_TYPES, *_CHECKED)
        or type_text.endswith(TENSOR)
        or type_text.startswith(BUFFER)
    )


def as_array(value: object, type_text: str = "") -> Any:
    """Return `value` as a numpy array over its own elements; `type_text` is the program's type.

    A numpy array is returned unchanged.  Other objects share their elements through
    `__array_interface__`, the buffer protocol, `__array__`, or DLPack, in this order.  The result
    may be read-only.  An object that can only copy its elements is rejected, because the copy may
    differ: for example, it may have NaN for missing elements.

    Raises:
        PayloadError: if the value does not share its elements.
    """
    import numpy as np  # programs without arrays do not import it

    if isinstance(value, np.ndarray):
        return value
    kind, of_numpy = type(value), "__array_interface__"
    try:
        # Do not read the attribute: that might make a copy.
        if hasattr(kind, of_numpy) or hasattr(value, of_numpy):
            return np.asarray(value)
        with suppress(TypeError):
            return np.asarray(memoryview(value))  # type: ignore[arg-type]
        # A dask array would compute all elements on this thread.
        if getattr(value, "__dask_graph__", lambda: None)() is not None:
            raise ValueError("its elements are not computed yet: pass the result of its compute()")
        if hasattr(kind, "__array__"):
            try:
                return np.asanyarray(value.__array__(copy=False))  # type: ignore[attr-defined]
            except TypeError:  # `copy` is a new parameter
                return np.asanyarray(value.__array__())  # type: ignore[attr-defined]
        if hasattr(kind, "__dlpack__"):
            return np.from_dlpack(value)  # type: ignore[arg-type]
    except Exception as wrong:  # noqa: BLE001 - libraries raise all kinds of exceptions
        raise _no_array(type_text, value, wrong) from None
    raise PayloadError(f"expected {type_text}, found {kind.__name__}")


def _no_array(type_text: str, value: object, wrong: Exception) -> PayloadError:
    """Return the error for another library's object.

    The error includes the first line of that library's message.
    """
    reason = printable(wrong).split("\n", 1)[0].rstrip(".")
    is_column = hasattr(type(value), "to_numpy")  # or a whole data frame
    advice = "; convert it to an array, as in numpy.array(..., float)" if is_column else ""
    return PayloadError(f"expected {type_text}, found {type(value).__name__}: {reason}{advice}")


def why_copied(tensor: object, value: object) -> str:
    """Return why a kernel that writes to `tensor` does not write to `value`, or "" if it does.

    `fitting` has made `tensor` from `value`.
    """
    if type(tensor).__name__ == "ndarray":  # from `view_of`: not contiguous
        return "is not C-contiguous and aligned: pass a copy that is"
    if not isinstance(tensor, _tensor_class()) or tensor.array.size == 0:
        return ""
    array = as_array(value)
    if tensor.buffer.is_read_only:
        return "is read-only: pass a copy"
    if tensor.address == array.__array_interface__["data"][0]:
        return ""
    return (
        "is in another byte order: pass an array in this machine's byte order"
        if array.flags.c_contiguous and array.flags.aligned
        else "is not C-contiguous and aligned: pass a copy that is"
    )


def misfit(type_text: str, value: object, wrong: PayloadError) -> str:
    """Return why `value` does not fit the type.

    If the error `wrong` names only the value's class, the result also shows the value.
    """
    reason = str(wrong)
    if not reason.startswith("expected") or (
        type_text not in SCALAR_TYPES and f"{type(value).__name__}: " in reason
    ):
        return reason
    found = f"expected {type_text}, found {_shown(value)}"
    advice = ""
    # Check the class: a traced value raises an error for each unknown attribute.
    if hasattr(type(value), "instead_of_argument"):
        advice = getattr(value, "instead_of_argument", "")
    elif isinstance(value, CoroutineType):
        advice = "create a task from it, as in asyncio.create_task(...)"
    elif type_text.endswith(TENSOR) and isinstance(value, (list, tuple, int, float)):
        advice = "convert it to an array, as in numpy.array(...)"
    elif hasattr(type(value), "toarray"):  # a sparse matrix
        advice = "convert it to an array, as in .toarray()"
    return f"{found}: {advice}" if advice else found


def _shown(value: object) -> str:
    """Format a value for a message, in a limited length, with its type unless that is obvious."""
    if isinstance(value, int):
        return written(value) if type(value) is int else repr(value)
    text = " ".join(reprlib.repr(value).split())
    if isinstance(value, (float, complex, str, bytes, type(None))):
        return text
    return f"{type(value).__name__} {text}"


def _fitting_buffer(type_text: str, value: object) -> object:
    """Return a tensor over the memory of `value`.

    Never copy the elements, because the compiled function may write to the tensor.
    """
    from tfrt_runtime.host.tensor.dense import DenseHostTensor, buffer_type

    if not isinstance(value, HostTensor):
        value = _lent(type_text, as_array(value, type_text))
    if not isinstance(value, DenseHostTensor):
        raise PayloadError(f"expected {type_text}, found {type(value).__name__}")
    if not buffer_type(type_text.removeprefix(BUFFER)[:-1]).fits(value):
        found = f"an array of {value.element_type} with shape {value.shape}"
        raise PayloadError(f"{found} does not fit in {type_text}")
    return value


def _lent(type_text: str, array: Any) -> DenseHostTensor:
    import numpy as np

    from tfrt_runtime.host.tensor.dense import DenseHostTensor, HostBuffer
    from tfrt_runtime.host.tensor.shapes import TensorShape, element_type_of

    if not array.flags.c_contiguous or not array.flags.aligned:
        raise PayloadError(
            f"{type_text} takes a C-contiguous, aligned array: pass a copy, as in a.copy()"
        )
    try:
        element_type = element_type_of(array)
    except ValueError as wrong:
        raise PayloadError(str(wrong)) from None
    array = np.asarray(array)
    if not array.dtype.isnative:
        raise PayloadError(
            f"{type_text} takes an array in this machine's byte order: convert it, as in"
            " a.astype(a.dtype.newbyteorder('='))"
        )
    return DenseHostTensor(element_type, TensorShape(array.shape), HostBuffer.over(array))


@cache
def _tensor_class() -> Any:
    """Return `DenseHostTensor`, imported on first use.

    Programs without arrays therefore start without numpy.
    """
    from tfrt_runtime.host.tensor.dense import DenseHostTensor

    return DenseHostTensor


def as_dense(value: object, type_text: str = "") -> Any:
    """Return a tensor as `as_tensor` does, but copy an array that is not contiguous."""
    found = as_tensor(value, type_text)
    return found if isinstance(found, HostTensor) else _tensor_class().over(found)


def as_tensor(value: object, type_text: str = "") -> object:
    """Return a tensor over the memory of an array (`as_array`) or over a copy.

    The docstring of `DenseHostTensor.over` says when a copy is made.  An array that is not
    contiguous stays an array (`DenseHostTensor.view_of`).

    Raises:
        PayloadError: if `value` is not an array, or if tensors do not support its elements.
    """
    array = as_array(value, type_text)
    try:
        tensor = _tensor_class()
        view = tensor.view_of(array)
        return tensor.over(array) if view is None else view
    except ValueError as wrong:
        raise (
            PayloadError(str(wrong)) if array is value else _no_array(type_text, value, wrong)
        ) from None
