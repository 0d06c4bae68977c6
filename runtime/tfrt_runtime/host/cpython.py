"""What the native core and CPython know of each other.

The core calls functions of CPython's own interface by their addresses; its entries are built-in functions.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from types import CoroutineType
from typing import Any

from tfrt_runtime.host.chain import CHAIN
from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.objects import NativeTensor, NoObject
from tfrt_runtime.native.layouts import (
    PYTHON_ADD,
    PYTHON_BOOL,
    PYTHON_BYTES,
    PYTHON_CALL,
    PYTHON_CALL_ONE,
    PYTHON_CASES,
    PYTHON_CHAIN,
    PYTHON_CLEAR,
    PYTHON_COROUTINE,
    PYTHON_DICT_SIZE,
    PYTHON_DROP,
    PYTHON_ENSURE,
    PYTHON_FETCH,
    PYTHON_FIRST_SLOT,
    PYTHON_FLOAT,
    PYTHON_FLOAT_NUMBER,
    PYTHON_FORGET,
    PYTHON_INT,
    PYTHON_INTERRUPTS,
    PYTHON_IS_INSTANCE,
    PYTHON_IS_SUBTYPE,
    PYTHON_MAKE_BOOL,
    PYTHON_MAKE_FLOAT,
    PYTHON_MAKE_INT,
    PYTHON_NEW_BYTES,
    PYTHON_NONE,
    PYTHON_NORMALIZE,
    PYTHON_OCCURRED,
    PYTHON_READ,
    PYTHON_READ_INT,
    PYTHON_READ_WORD,
    PYTHON_RELEASE,
    PYTHON_REQUESTS,
    PYTHON_RESTORE,
    PYTHON_SAVE,
    PYTHON_SET_TRACEBACK,
    PYTHON_SIZE,
    PYTHON_STR,
    PYTHON_TENSOR,
    PYTHON_TUPLE_ITEMS,
    PYTHON_TUPLE_SIZE,
    PYTHON_TYPE,
    PYTHON_UNRAISABLE,
)

METH_FASTCALL = 0x80
_FUNCTIONS = {
    PYTHON_ENSURE: "PyGILState_Ensure",
    PYTHON_RELEASE: "PyGILState_Release",
    PYTHON_CALL: "PyObject_Vectorcall",
    PYTHON_DROP: "Py_DecRef",
    PYTHON_MAKE_INT: "PyLong_FromLongLong",
    PYTHON_MAKE_FLOAT: "PyFloat_FromDouble",
    PYTHON_MAKE_BOOL: "PyBool_FromLong",
    PYTHON_READ_INT: "PyLong_AsLongLongAndOverflow",
    PYTHON_READ_WORD: "PyLong_AsUnsignedLongLongMask",
    PYTHON_FETCH: "PyErr_Fetch",
    PYTHON_NORMALIZE: "PyErr_NormalizeException",
    PYTHON_SET_TRACEBACK: "PyException_SetTraceback",
    PYTHON_UNRAISABLE: "PyErr_WriteUnraisable",
    PYTHON_OCCURRED: "PyErr_Occurred",
    PYTHON_SAVE: "PyEval_SaveThread",
    PYTHON_RESTORE: "PyEval_RestoreThread",
    PYTHON_ADD: "Py_IncRef",
    PYTHON_NEW_BYTES: "PyBytes_FromStringAndSize",
    PYTHON_TUPLE_SIZE: "PyTuple_Size",
    PYTHON_FORGET: "PyDict_DelItem",
    PYTHON_DICT_SIZE: "PyDict_Size",
    PYTHON_IS_INSTANCE: "PyObject_IsInstance",
    PYTHON_CALL_ONE: "PyObject_CallOneArg",
    PYTHON_CLEAR: "PyErr_Clear",
    PYTHON_IS_SUBTYPE: "PyType_IsSubtype",
}


def python_interface(requests: dict[int, Any], read: Callable[[int], object]) -> array[int]:
    """What native code needs of CPython to call a function and to be called: see PROCESS_PYTHON.

    `requests` are the runs that Python knows; `read` makes an object of the payload of the value at an
    address.  Both must live as long as the words.
    """
    words = array("q", bytes(PYTHON_SIZE))
    for place, name in _FUNCTIONS.items():
        function = ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p)
        words[place // 8] = function.value or 0
    items = {
        PYTHON_INT: int,
        PYTHON_FLOAT: float,
        PYTHON_BOOL: bool,
        PYTHON_NONE: None,
        PYTHON_CHAIN: CHAIN,
        PYTHON_REQUESTS: requests,
        PYTHON_READ: read,
        PYTHON_STR: str,
        PYTHON_COROUTINE: CoroutineType,
        PYTHON_CASES: NoObject,
        PYTHON_TENSOR: NativeTensor,
    }
    for place, item in items.items():
        words[place // 8] = id(item)
    words[PYTHON_TUPLE_ITEMS // 8] = tuple.__basicsize__
    # Each is the last word of the struct that all objects, or floats, begin with.
    words[PYTHON_TYPE // 8] = object.__basicsize__ - 8
    words[PYTHON_FLOAT_NUMBER // 8] = float.__basicsize__ - 8
    words[PYTHON_FIRST_SLOT // 8] = object.__basicsize__
    words[PYTHON_INTERRUPTS // 8] = INTERRUPTS.address
    # A zero follows the content, and counts to the size.
    assert bytes.__basicsize__ == PYTHON_BYTES + 1, "no release of CPython for 64 bits differs"
    return words


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_int64),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.argtypes = [ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.py_object]
_new_function.restype = ctypes.py_object


def built_in(name: str, address: int, *words: int) -> Callable[..., Any]:
    """The entry of the core at `address` as a function of Python: see `native.python_entries`.

    `words` are what is bound to it.
    """
    definition = _MethodDef(name.encode(), address, METH_FASTCALL, None)
    # It must live as long as the function, at the end of the interpreter, too: the function holds it in the
    # place of its module.
    made: Callable[..., Any] = _new_function(definition, array("q", words).tobytes(), definition)
    return made
