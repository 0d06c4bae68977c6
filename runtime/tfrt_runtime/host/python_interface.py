"""CPython's C API for the native core, and entries of the core as Python functions.

These functions are documented.  Only `native.python.python_shortcuts` uses undocumented internals.
This module searches for them once, and switches them off if this CPython differs, or if
TFRT_NB_SHORTCUTS is 0.
"""

from __future__ import annotations

import contextvars
import ctypes
import gc
import os
import sys
from array import array
from collections.abc import Callable
from types import CoroutineType
from typing import Any

from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.payload import CHAIN, RUN, NativeTensor, NativeValue, NoObject
from tfrt_runtime.native import machine, threads
from tfrt_runtime.native import python_layouts as py
from tfrt_runtime.native.library import Library

METH_FASTCALL = 0x80
THREAD_STATE_BYTES = 256
"""Bytes of CPython's thread state that are read; the state is larger in all releases."""
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
    py.PYTHON_COPY_CURRENT: "PyContext_CopyCurrent",
    py.PYTHON_COPY_CONTEXT: "PyContext_Copy",
    py.PYTHON_ENTER: "PyContext_Enter",
    py.PYTHON_EXIT: "PyContext_Exit",
    py.PYTHON_SET_VARIABLE: "PyContextVar_Set",
    py.PYTHON_TYPE: "PyObject_Type",
    py.PYTHON_READ_FLOAT: "PyFloat_AsDouble",
    py.PYTHON_TUPLE_ITEM: "PyTuple_GetItem",
    py.PYTHON_GET: "PyObject_GetAttr",
    py.PYTHON_SET: "PyObject_SetAttr",
    py.PYTHON_BYTES: "PyBytes_AsString",
}
_NAMES = {
    py.PYTHON_NAME_WORDS: sys.intern("words"),
    py.PYTHON_NAME_ADDRESS: sys.intern("address"),
    py.PYTHON_NAME_CALLER: sys.intern("caller"),
    py.PYTHON_NAME_HANDLE: sys.intern("_handle"),
    py.PYTHON_NAME_VALUE: sys.intern("_address"),
}
SHORTCUTS = "TFRT_NB_SHORTCUTS"
"""The environment variable that is 0 if the core must use only CPython's documented interface."""


def python_interface(
    core: Library, requests: dict[int, Any], read: Callable[[int], object]
) -> array[int]:
    """Return the words of CPython for calls from and to native code: see PROCESS_PYTHON.

    `requests` are the registered runs; `read` makes an object from the payload of the value at an
    address.  Both must live as long as the words.
    """
    words = array("q", bytes(py.PYTHON_SIZE))
    for place, name in _FUNCTIONS.items():
        words[place // 8] = core.python(name)
    items = {
        py.PYTHON_INT: int,
        py.PYTHON_FLOAT: float,
        py.PYTHON_BOOL: bool,
        py.PYTHON_NONE: None,
        py.PYTHON_CHAIN: CHAIN,
        py.PYTHON_REQUESTS: requests,
        py.PYTHON_READ: read,
        py.PYTHON_STR: str,
        py.PYTHON_COROUTINE: CoroutineType,
        py.PYTHON_CASES: NoObject,
        py.PYTHON_TENSOR: NativeTensor,
        py.PYTHON_VALUE: NativeValue,
        py.PYTHON_ANSWER: INTERRUPTS.answer,
        py.PYTHON_TRUE: True,
        py.PYTHON_RUN: RUN,
        **_NAMES,
    }
    for place, item in items.items():
        words[place // 8] = id(item)
    words[py.PYTHON_INTERRUPTS // 8] = INTERRUPTS.address
    if os.environ.get(SHORTCUTS) == "0" or not _may_untrack():
        words[py.PYTHON_UNTRACK // 8] = words[py.PYTHON_OCCURRED // 8]  # it does nothing
    if os.environ.get(SHORTCUTS) != "0" and machine.HAS_WIDE_POINTERS:
        words[py.PYTHON_VARIABLES // 8], words[py.PYTHON_CONTEXT // 8] = _places()
    return words


def _may_untrack() -> bool:
    """Tell whether Python's collector can stop tracking an object, and track it again."""
    item = [None]
    kind = ctypes.PYFUNCTYPE(None, ctypes.py_object)
    try:
        kind(("PyObject_GC_UnTrack", ctypes.pythonapi))(item)
        was_tracked = gc.is_tracked(item)
        if not was_tracked:
            kind(("PyObject_GC_Track", ctypes.pythonapi))(item)
    except AttributeError:
        return False
    return not was_tracked and gc.is_tracked(item)


def _places() -> tuple[int, int]:
    """Return the offsets of a context's mapping, and of the current context in the thread state.

    Both are 0 if either is not where this CPython is expected to have it.
    """
    context = contextvars.Context()
    referents = gc.get_referents(context)
    if sys.implementation.name != "cpython" or len(referents) != 1:
        return 0, 0
    mapping = _place_of(referents[0], id(context), type(context).__basicsize__)
    thread = ctypes.pythonapi["PyThreadState_Get"]
    thread.restype = ctypes.c_int64
    present = context.run(lambda: _place_of(context, thread(), THREAD_STATE_BYTES))
    return (mapping, present) if mapping and present else (0, 0)


def _place_of(item: object, address: int, size: int) -> int:
    """Return the offset of an object's address in the bytes at an address; 0 if it is not there."""
    words = (ctypes.c_int64 * (size // 8)).from_address(address)
    return next((8 * i for i, word in enumerate(words) if word == id(item)), 0)


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("documentation", ctypes.c_char_p),
    )


_new_function = ctypes.pythonapi.PyCFunction_NewEx
_new_function.argtypes = [ctypes.POINTER(_MethodDef), ctypes.py_object, ctypes.py_object]
_new_function.restype = ctypes.py_object


def bind(core: Library) -> None:
    """Let entries read the integers that they are bound to: `native.threads.READ_BOUND`."""
    set_reader = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(core[threads.READ_BOUND])
    set_reader(core.python("PyLong_AsVoidPtr"))


def built_in_function(name: str, address: int, *words: int) -> Callable[..., Any]:
    """Return the entry of the core at `address` as a Python function.

    `words` are bound to it: see `native.python.python_entries`.
    """
    definition, bound = _MethodDef(name.encode(), address, METH_FASTCALL, None), array("q", words)
    # They must live as long as the function, even while the interpreter exits: the function holds
    # them as its module.
    made: Callable[..., Any]
    made = _new_function(definition, bound.buffer_info()[0], (definition, bound))
    return made
