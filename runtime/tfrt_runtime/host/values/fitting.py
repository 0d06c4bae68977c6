"""Convert Python values to a program's non-numeric types."""

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
"""The prefixes of the types of compiled functions' buffers."""
TENSOR = ".tensor"
"""The suffixes of the types of tensors."""


def fitting(type_text: str, value: object) -> object:
    """Return `value` as a program holds it for the given type: an array as a tensor, None as a
    chain.

    Any object that shares its elements without a copy counts as an array; see `as_array`.  Numbers
    are checked where they are encoded.  Types that only their kernels know accept any object.

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
    """Tell whether the type accepts any object, without a check or a conversion."""
    return not (
        type_text in (*SCALAR_TYPES, *_CHECKED)
        or type_text.endswith(TENSOR)
        or type_text.startswith(BUFFER)
    )


def as_array(value: object, type_text: str = "") -> Any:
    """Return `value` as a numpy array over its own elements, for a program's value of that type.

    A numpy array is returned unchanged.  Other objects share their elements through
    `__array_interface__`, the buffer protocol, `__array__`, or DLPack, in this order, perhaps
    read-only.  An object that could only copy its elements is rejected: a copy may differ, for
    example because it has NaN for missing elements.

    Raises:
        PayloadError: if the value does not share its elements.
    """
    import numpy as np  # programs without arrays do not import it

    if isinstance(value, np.ndarray):
        return value
    kind, of_numpy = type(value), "__array_interface__"
    try:
        # Do not access the attribute: that might create the interface, over a copy.
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
            except TypeError:  # the object's library does not have that parameter yet
                return np.asanyarray(value.__array__())  # type: ignore[attr-defined]
        if hasattr(kind, "__dlpack__"):
            return np.from_dlpack(value)  # type: ignore[arg-type]
    except Exception as wrong:  # noqa: BLE001 - libraries raise all kinds
        raise _no_array(type_text, value, wrong) from None
    raise PayloadError(f"expected {type_text}, found {kind.__name__}")


def _no_array(type_text: str, value: object, wrong: Exception) -> PayloadError:
    """Return the error for an object of another library, with the first line of its message."""
    reason = printable(wrong).split("\n", 1)[0].rstrip(".")
    is_column = hasattr(type(value), "to_numpy")  # or a whole data frame
    advice = "; convert it to an array, as in numpy.array(..., float)" if is_column else ""
    return PayloadError(f"expected {type_text}, found {type(value).__name__}: {reason}{advice}")


def why_copied(tensor: object, value: object) -> str:
    """Return why a kernel that writes to `tensor`, which `fitting` made from `value`, does not
    write to `value` itself.
    """
    if type(tensor).__name__ == "ndarray":  # made by `view_of`: its rows are not contiguous
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
    """Return why `value` does not fit the type, with the value if the error names
    only its class.
    """
    reason = str(wrong)
    if not reason.startswith("expected") or (
        type_text not in SCALAR_TYPES and f"{type(value).__name__}: " in reason
    ):
        return reason
    found = f"expected {type_text}, found {_shown(value)}"
    advice = ""
    # Check the class: a traced value raises for attributes that it does not have.
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
    """Format a value for a message: not too long, and with its type if that is not obvious."""
    if isinstance(value, int):
        return written(value) if type(value) is int else repr(value)
    text = " ".join(reprlib.repr(value).split())
    if isinstance(value, (float, complex, str, bytes, type(None))):
        return text
    return f"{type(value).__name__} {text}"


def _fitting_buffer(type_text: str, value: object) -> object:
    """Return a tensor over the memory of `value`, never a copy, because the function may write to
    it.
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
    """Import the class on first use, so that programs without arrays start without numpy."""
    from tfrt_runtime.host.tensor.dense import DenseHostTensor

    return DenseHostTensor


def as_dense(value: object, type_text: str = "") -> Any:
    """Return a tensor, as `as_tensor` does, but copy an array whose rows are not contiguous."""
    found = as_tensor(value, type_text)
    return found if isinstance(found, HostTensor) else _tensor_class().over(found)


def as_tensor(value: object, type_text: str = "") -> object:
    """Return a tensor over the memory of an array (`as_array`) or over a copy.

    See `DenseHostTensor.over`.

    An array whose rows are not contiguous remains an array; see `DenseHostTensor.view_of`.

    Raises:
        PayloadError: if `value` is not an array, or tensors do not support such elements.
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
