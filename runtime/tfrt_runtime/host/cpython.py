"""What the native core and CPython know of each other.

The core calls functions of CPython's own interface by their addresses; its entries are built-in functions.
"""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Callable
from types import CoroutineType
from typing import Any

from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.objects import CHAIN, NativeTensor, NativeValue, NoObject
from tfrt_runtime.native import layouts as at

METH_FASTCALL = 0x80
_FUNCTIONS = {
    at.PYTHON_ENSURE: "PyGILState_Ensure",
    at.PYTHON_RELEASE: "PyGILState_Release",
    at.PYTHON_CALL: "PyObject_Vectorcall",
    at.PYTHON_DROP: "Py_DecRef",
    at.PYTHON_MAKE_INT: "PyLong_FromLongLong",
    at.PYTHON_MAKE_FLOAT: "PyFloat_FromDouble",
    at.PYTHON_MAKE_BOOL: "PyBool_FromLong",
    at.PYTHON_READ_INT: "PyLong_AsLongLongAndOverflow",
    at.PYTHON_READ_WORD: "PyLong_AsUnsignedLongLongMask",
    at.PYTHON_FETCH: "PyErr_Fetch",
    at.PYTHON_NORMALIZE: "PyErr_NormalizeException",
    at.PYTHON_SET_TRACEBACK: "PyException_SetTraceback",
    at.PYTHON_UNRAISABLE: "PyErr_WriteUnraisable",
    at.PYTHON_OCCURRED: "PyErr_Occurred",
    at.PYTHON_SAVE: "PyEval_SaveThread",
    at.PYTHON_RESTORE: "PyEval_RestoreThread",
    at.PYTHON_ADD: "Py_IncRef",
    at.PYTHON_NEW_BYTES: "PyBytes_FromStringAndSize",
    at.PYTHON_TUPLE_SIZE: "PyTuple_Size",
    at.PYTHON_FORGET: "PyDict_DelItem",
    at.PYTHON_DICT_SIZE: "PyDict_Size",
    at.PYTHON_IS_INSTANCE: "PyObject_IsInstance",
    at.PYTHON_CALL_ONE: "PyObject_CallOneArg",
    at.PYTHON_CLEAR: "PyErr_Clear",
    at.PYTHON_IS_SUBTYPE: "PyType_IsSubtype",
    at.PYTHON_NOTE: "PyDict_SetItem",
    at.PYTHON_THREAD: "PyThreadState_Get",
    at.PYTHON_INTERRUPT: "PyErr_SetInterruptEx",
    at.PYTHON_TRACK: "PyObject_GC_Track",
    at.PYTHON_UNTRACK: "PyObject_GC_UnTrack",
    at.PYTHON_IS_TRACKED: "PyObject_GC_IsTracked",
    at.PYTHON_FIND: "PyDict_GetItemWithError",
}


def python_interface(requests: dict[int, Any], read: Callable[[int], object]) -> array[int]:
    """What native code needs of CPython to call a function and to be called: see PROCESS_PYTHON.

    `requests` are the runs that Python knows; `read` makes an object of the payload of the value at an
    address.  Both must live as long as the words.
    """
    words = array("q", bytes(at.PYTHON_SIZE))
    for place, name in _FUNCTIONS.items():
        function = ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p)
        words[place // 8] = function.value or 0
    items = {
        at.PYTHON_INT: int,
        at.PYTHON_FLOAT: float,
        at.PYTHON_BOOL: bool,
        at.PYTHON_NONE: None,
        at.PYTHON_CHAIN: CHAIN,
        at.PYTHON_REQUESTS: requests,
        at.PYTHON_READ: read,
        at.PYTHON_STR: str,
        at.PYTHON_TUPLE: tuple,
        at.PYTHON_COROUTINE: CoroutineType,
        at.PYTHON_CASES: NoObject,
        at.PYTHON_TENSOR: NativeTensor,
        at.PYTHON_VALUE: NativeValue,
        at.PYTHON_ANSWER: INTERRUPTS.answer,
        at.PYTHON_TRUE: True,
    }
    for place, item in items.items():
        words[place // 8] = id(item)
    words[at.PYTHON_TUPLE_ITEMS // 8] = tuple.__basicsize__
    # Each is the last word of the struct that all objects, or floats, begin with.
    words[at.PYTHON_TYPE // 8] = object.__basicsize__ - 8
    words[at.PYTHON_FLOAT_NUMBER // 8] = float.__basicsize__ - 8
    words[at.PYTHON_FIRST_SLOT // 8] = object.__basicsize__
    words[at.PYTHON_INTERRUPTS // 8] = INTERRUPTS.address
    # A zero follows the content, and counts to the size.
    assert bytes.__basicsize__ == at.PYTHON_BYTES + 1, "no release of CPython for 64 bits differs"
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
    """The entry of the core at `address` as a function of Python: see `native.python.python_entries`.

    `words` are what is bound to it.
    """
    definition = _MethodDef(name.encode(), address, METH_FASTCALL, None)
    # It must live as long as the function, at the end of the interpreter, too: the function holds it in the
    # place of its module.
    made: Callable[..., Any] = _new_function(definition, array("q", words).tobytes(), definition)
    return made
