"""CPython's C API for the native core, and entries of the core as Python functions.

The core uses CPython's documented functions, and the undocumented internals that
`native.python.python_shortcuts` needs.  This module locates these internals once.  It disables the
shortcuts if this CPython differs, or if the environment variable TFRT_NB_SHORTCUTS is 0.

`QUICK` and `SLOW` map the entries of the core to the core's modules.  An entry takes and returns
64-bit integers.  An address refers to a struct in `native.layouts`.  The entry's module documents
the entry, in the docstring of the function of the same name: its effect, its words, the references
that it takes over, and its threads.  A test checks the calls.
"""

from __future__ import annotations

import contextvars
import ctypes
import gc
import os
import sys
from array import array
from collections.abc import Callable, Mapping
from types import CoroutineType
from typing import Any

from tfrt_runtime.host.interrupts import INTERRUPTS
from tfrt_runtime.host.payload import CHAIN, RUN, NativeTensor, NativeValue, NoObject
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native import machine, threads
from tfrt_runtime.native.library import Library


def _modules(entries: dict[str, str]) -> dict[str, str]:
    """Return the module of each entry, keyed by entry."""
    return {name: module for module, names in entries.items() for name in names.split()}


BOTH = _modules(
    {
        "handles": "value_forward value_set_error",
        "python_calls": "start_calls_with start_rows start_call_with",
    }
)
"""Entries that are called in both ways: with and without the GIL."""

QUICK = BOTH | _modules(
    {
        "cells": "fill_stock give_back memory_limit reserve_within",
        "activation": "leave_request",
        "trimming": "trim trim_at_rest",
        "events": "log_clock log_drain take_kept",
        "decoding": "decode",
        "deques": "take_tasks",
        "blocking_pool": "pool_pop",
        "sharing": "begin_started",
        "waiters": "drop_latch",
        "tensors": "add_tensor_reference drop_tensor reclaim_all tensor_over trim_store",
        "handles": "context_free context_make host_leave host_take latch_make request_cancel"
        " request_enter request_notify value_add_reference value_and_then value_claim value_drop"
        " value_make value_make_indirect value_of value_outcome",
        "python_calls": "drop_results read_results",
        "python_runs": "next_number",
        "async_objects": "async_abandon async_sweep next_stuck",
        "async_interrupts": "change_interrupts present_context",
        "async_buffers": "free_kept keep_buffer",
    }
)
"""Entries that return immediately and are called with the GIL."""

SLOW = BOTH | _modules(
    {
        "sharing": "hand_over",
        "executor": "blocking_loop help_until start_call refuse_blocking run_one watch_until"
        " worker_loop",
        "handles": "pool_stop queue_stop value_emplace value_break",
        "async_awaiting": "async_call",
        "compiled_kernels": "visit_imports",
    }
)
"""Entries that may run kernels or wait and are called without the GIL."""


class Entries:
    """Entries of the core as attributes, each created on first use.

    Safe to share between threads.
    """

    def __init__(
        self, make: Callable[[str], Callable[..., int]], modules: Mapping[str, str]
    ) -> None:
        """Create entries with `make`.

        `make` returns the core's export `MODULE.NAME` as a Python function.
        """
        self._make, self._modules = make, modules

    def __getattr__(self, name: str) -> Callable[..., int]:
        if name not in self._modules:
            raise AttributeError(f"the core has no entry {name} for Python")
        # If two threads both create the entry, either function works.
        entry = self.__dict__[name] = self._make(f"{self._modules[name]}.{name}")
        return entry


METH_FASTCALL = 0x80
THREAD_STATE_BYTES = 256
"""How many bytes of CPython's thread state are read; in all releases, the state is larger."""
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
    at.PYTHON_HAS_BUFFER: "PyObject_CheckBuffer",
    at.PYTHON_NOTE: "PyDict_SetItem",
    at.PYTHON_THREAD: "PyThreadState_Get",
    at.PYTHON_INTERRUPT: "PyErr_SetInterruptEx",
    at.PYTHON_TRACK: "PyObject_GC_Track",
    at.PYTHON_UNTRACK: "PyObject_GC_UnTrack",
    at.PYTHON_IS_TRACKED: "PyObject_GC_IsTracked",
    at.PYTHON_FIND: "PyDict_GetItemWithError",
    at.PYTHON_COPY_CURRENT: "PyContext_CopyCurrent",
    at.PYTHON_COPY_CONTEXT: "PyContext_Copy",
    at.PYTHON_ENTER: "PyContext_Enter",
    at.PYTHON_EXIT: "PyContext_Exit",
    at.PYTHON_SET_VARIABLE: "PyContextVar_Set",
    at.PYTHON_TYPE: "PyObject_Type",
    at.PYTHON_READ_FLOAT: "PyFloat_AsDouble",
    at.PYTHON_TUPLE_ITEM: "PyTuple_GetItem",
    at.PYTHON_GET: "PyObject_GetAttr",
    at.PYTHON_SET: "PyObject_SetAttr",
    at.PYTHON_BYTES: "PyBytes_AsString",
}
_NAMES = {
    at.PYTHON_NAME_WORDS: sys.intern("words"),
    at.PYTHON_NAME_ADDRESS: sys.intern("address"),
    at.PYTHON_NAME_CALLER: sys.intern("caller"),
    at.PYTHON_NAME_HANDLE: sys.intern("_handle"),
    at.PYTHON_NAME_VALUE: sys.intern("_address"),
}
SHORTCUTS = "TFRT_NB_SHORTCUTS"
"""The environment variable that, set to 0, restricts the core to CPython's documented interface."""


def python_interface(
    core: Library, requests: dict[int, Any], read: Callable[[int], object]
) -> array[int]:
    """Return the words of the struct PYTHON, through which native code calls CPython.

    `requests` are the registered runs.  `read` returns the payload of the value at an address as a
    Python object.  Both must live as long as the words.
    """
    words = array("q", bytes(at.PYTHON_SIZE))
    for place, name in _FUNCTIONS.items():
        words[place // 8] = core.python(name)
    items = {
        at.PYTHON_INT: int,
        at.PYTHON_FLOAT: float,
        at.PYTHON_BOOL: bool,
        at.PYTHON_NONE: None,
        at.PYTHON_CHAIN: CHAIN,
        at.PYTHON_REQUESTS: requests,
        at.PYTHON_READ: read,
        at.PYTHON_STR: str,
        at.PYTHON_COROUTINE: CoroutineType,
        at.PYTHON_CASES: NoObject,
        at.PYTHON_TENSOR: NativeTensor,
        at.PYTHON_VALUE: NativeValue,
        at.PYTHON_ANSWER: INTERRUPTS.answer,
        at.PYTHON_TRUE: True,
        at.PYTHON_RUN: RUN,
        **_NAMES,
    }
    for place, item in items.items():
        words[place // 8] = id(item)
    words[at.PYTHON_INTERRUPTS // 8] = INTERRUPTS.address
    if os.environ.get(SHORTCUTS) == "0" or not _may_untrack():
        words[at.PYTHON_UNTRACK // 8] = words[at.PYTHON_OCCURRED // 8]  # a function without effects
    if os.environ.get(SHORTCUTS) != "0" and machine.HAS_WIDE_POINTERS:
        words[at.PYTHON_VARIABLES // 8], words[at.PYTHON_CONTEXT // 8] = _places()
    return words


def _may_untrack() -> bool:
    """Return whether the garbage collector can stop tracking an object and start again later."""
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
    """Return two offsets, or 0 for both if a field is not where this module expects it.

    The first is the offset of the mapping in a contextvars context.  The second is the offset of
    the current context in CPython's thread state.
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
    """Return where `size` bytes at `address` contain an object's address.

    The result is an offset, or 0 if the bytes do not contain the address.
    """
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
    """Let entries read the integers to which they are bound (`native.threads.READ_BOUND`)."""
    set_reader = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(core[threads.READ_BOUND])
    set_reader(core.python("PyLong_AsVoidPtr"))


def built_in_function(name: str, address: int, *words: int) -> Callable[..., Any]:
    """Return the core's entry at `address` as a Python function.

    `words` are bound to the function, as `native.python.python_entries` explains.
    """
    definition, bound = _MethodDef(name.encode(), address, METH_FASTCALL, None), array("q", words)
    # Both must live as long as the function, even while the interpreter exits. Therefore, the
    # function holds them as its module.
    made: Callable[..., Any]
    made = _new_function(definition, bound.buffer_info()[0], (definition, bound))
    return made
