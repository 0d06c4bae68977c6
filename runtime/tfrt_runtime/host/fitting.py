"""Python values where a program says a type that is no number."""

from __future__ import annotations

from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.payload import SCALAR_TYPES, PayloadError

CHAIN_TYPE = "!tfrt.chain"
STRING_TYPE = "!tfrt.string"
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
    elif type_text.endswith(TENSOR):
        if hasattr(value, "__array_interface__"):
            return as_tensor(value)
        if type(value).__module__ != "builtins" and value is not CHAIN:
            return value
    else:
        return value
    raise PayloadError(f"expected {type_text}, found {type(value).__name__}")


def as_tensor(array: object) -> object:
    """A tensor over the memory of a numpy array, or over a copy: see `DenseHostTensor.over`.

    Raises:
        PayloadError: if a tensor cannot have such elements.
    """
    # An array exists, so numpy is loaded; other programs start without it.
    from tfrt_runtime.host.tensor.dense import DenseHostTensor

    try:
        return DenseHostTensor.over(array)  # type: ignore[arg-type]
    except ValueError as wrong:
        raise PayloadError(str(wrong)) from None
