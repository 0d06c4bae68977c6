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
from tfrt_runtime.native import python_layouts as py

METH_FASTCALL = 0x80
_FUNCTIONS = {
    py.PYTHON_ENSURE: "PyGILState_Ensure",
    py.PYTHON_RELEASE: "PyGILState_Release",
    py.PYTHON_CALL: "PyObject_Vectorcall",
    py.PYTHON_DROP: "Py_DecRef",
    py.PYTHON_MAKE_INT: "PyLong_FromLongLong",
    py.PYTHON_MAKE_FLOAT: "PyFloat_FromDouble",
    py.PYTHON_MAKE_BOOL: "PyBool_FromLong",
    py.PYTHON_READ_INT: "PyLong_AsLongLongAndOverflow",
    py.PYTHON_READ_WORD: "PyLong_AsUnsignedLongLongMask",
    py.PYTHON_FETCH: "PyErr_Fetch",
    py.PYTHON_NORMALIZE: "PyErr_NormalizeException",
    py.PYTHON_SET_TRACEBACK: "PyException_SetTraceback",
    py.PYTHON_UNRAISABLE: "PyErr_WriteUnraisable",
    py.PYTHON_OCCURRED: "PyErr_Occurred",
    py.PYTHON_SAVE: "PyEval_SaveThread",
    py.PYTHON_RESTORE: "PyEval_RestoreThread",
    py.PYTHON_ADD: "Py_IncRef",
    py.PYTHON_NEW_BYTES: "PyBytes_FromStringAndSize",
    py.PYTHON_TUPLE_SIZE: "PyTuple_Size",
    py.PYTHON_FORGET: "PyDict_DelItem",
    py.PYTHON_DICT_SIZE: "PyDict_Size",
    py.PYTHON_IS_INSTANCE: "PyObject_IsInstance",
    py.PYTHON_CALL_ONE: "PyObject_CallOneArg",
    py.PYTHON_CLEAR: "PyErr_Clear",
    py.PYTHON_IS_SUBTYPE: "PyType_IsSubtype",
    py.PYTHON_NOTE: "PyDict_SetItem",
    py.PYTHON_THREAD: "PyThreadState_Get",
    py.PYTHON_INTERRUPT: "PyErr_SetInterruptEx",
    py.PYTHON_TRACK: "PyObject_GC_Track",
    py.PYTHON_UNTRACK: "PyObject_GC_UnTrack",
    py.PYTHON_IS_TRACKED: "PyObject_GC_IsTracked",
    py.PYTHON_FIND: "PyDict_GetItemWithError",
}


def python_interface(requests: dict[int, Any], read: Callable[[int], object]) -> array[int]:
    """What native code needs of CPython to call a function and to be called: see PROCESS_PYTHON.

    `requests` are the runs that Python knows; `read` makes an object of the payload of the value at an
    address.  Both must live as long as the words.
    """
    words = array("q", bytes(py.PYTHON_SIZE))
    for place, name in _FUNCTIONS.items():
        function = ctypes.cast(ctypes.pythonapi[name], ctypes.c_void_p)
        words[place // 8] = function.value or 0
    items = {
        py.PYTHON_INT: int,
        py.PYTHON_FLOAT: float,
        py.PYTHON_BOOL: bool,
        py.PYTHON_NONE: None,
        py.PYTHON_CHAIN: CHAIN,
        py.PYTHON_REQUESTS: requests,
        py.PYTHON_READ: read,
        py.PYTHON_STR: str,
        py.PYTHON_TUPLE: tuple,
        py.PYTHON_COROUTINE: CoroutineType,
        py.PYTHON_CASES: NoObject,
        py.PYTHON_TENSOR: NativeTensor,
        py.PYTHON_VALUE: NativeValue,
        py.PYTHON_ANSWER: INTERRUPTS.answer,
        py.PYTHON_TRUE: True,
    }
    for place, item in items.items():
        words[place // 8] = id(item)
    words[py.PYTHON_TUPLE_ITEMS // 8] = tuple.__basicsize__
    # Each is the last word of the struct that all objects, or floats, begin with.
    words[py.PYTHON_TYPE // 8] = object.__basicsize__ - 8
    words[py.PYTHON_FLOAT_NUMBER // 8] = float.__basicsize__ - 8
    words[py.PYTHON_FIRST_SLOT // 8] = object.__basicsize__
    words[py.PYTHON_INTERRUPTS // 8] = INTERRUPTS.address
    # A zero follows the content, and counts to the size.
    assert bytes.__basicsize__ == py.PYTHON_BYTES + 1, "no release of CPython for 64 bits differs"
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
