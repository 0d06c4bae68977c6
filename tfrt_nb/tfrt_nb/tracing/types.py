"""The types that Python's values have in programs."""

from __future__ import annotations

from tfrt_runtime.bef.encoding import DType
from tfrt_runtime.host.values.async_value import AsyncValue, State
from tfrt_runtime.kernels.users.annotations import NUMBERS, OBJECT, STRING, TENSOR

VALUES = (*NUMBERS, STRING)
"""The types that an object may turn out to have: a kernel checks it when the program runs."""
DTYPES = {name: DType[name.upper()] for name in NUMBERS}


def is_array(value: object) -> bool:
    """Whether a value is a numpy array; numpy is not imported for the question."""
    return (
        type(value).__module__ == "numpy"
        and hasattr(value, "__array_interface__")
        and (
            hasattr(value, "ndim")
            and hasattr(value, "strides")
            and type(value).__name__ == "ndarray"
        )
    )


def type_of_value(value: object) -> str:
    """The type that a Python value has in a program, where nothing else says it."""
    if isinstance(value, AsyncValue):
        if value.type or value.state is not State.AVAILABLE:
            return value.type or OBJECT
        value = value.result(0)
    if isinstance(value, bool) or _is_numpy(value, "bool"):
        return "i1"
    if isinstance(value, int) or _is_numpy(value, "int"):
        return "i64"
    if isinstance(value, float) or _is_numpy(value, "float"):
        return "f64"
    if isinstance(value, str):
        return STRING
    return TENSOR if is_array(value) else OBJECT


def _is_numpy(value: object, kind: str) -> bool:
    kind_of = type(value).__name__
    return type(value).__module__ == "numpy" and kind_of.lstrip("u").startswith(kind)
