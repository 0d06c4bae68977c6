"""What native code knows of Python: CPython functions and objects, interrupts, and call templates.

They are declared as in `layouts`; modules that read many of them import this one as `py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfrt_runtime.native.declared import at, declarer

if TYPE_CHECKING:

    def __getattr__(name: str) -> int:
        """Return the offset of a field that `_struct` defines."""


_struct = declarer(globals())

# Python: functions of CPython's C API that native code calls, and objects that it compares with.
_struct(
    "PYTHON",
    size=488,
    ENSURE=(
        "PyGILState_Ensure: the thread holds the GIL, until PYTHON_RELEASE is called with what "
        "this returns."
    ),
    RELEASE="",
    CALL="PyObject_Vectorcall",
    DROP="Py_DecRef",
    MAKE_INT="",
    MAKE_FLOAT="",
    MAKE_BOOL="",
    READ_INT=(
        "PyLong_AsLongLongAndOverflow: the second argument is where it says whether the number "
        "does not fit."
    ),
    FETCH=(
        "PyErr_Fetch, PyErr_Normalize: they fill in type, exception and traceback, each with a "
        "reference."
    ),
    NORMALIZE="",
    SET_TRACEBACK="",
    UNRAISABLE="",
    INT="The type `int`.",
    FLOAT="",
    NONE="",
    TYPE="Offset of an object's type.",
    FLOAT_NUMBER="Offset of the number in a float.",
    INTERRUPTS="",
    REQUEST_DONE="What is called with the address of a request of which nothing is left.",
    READ_WORD="PyLong_AsUnsignedLongLongMask: the low 64 bits of an integer.",
    OCCURRED="",
    SAVE=(
        "PyEval_SaveThread: the thread gives the GIL away, until PYTHON_RESTORE is called with "
        "what this returns."
    ),
    RESTORE="",
    ADD="Py_IncRef",
    NEW_BYTES="PyBytes_FromStringAndSize",
    TUPLE_SIZE="",
    TUPLE_ITEMS="Offset of the items in a tuple.",
    BOOL="",
    CHAIN="The Python object for chains.",
    REQUESTS="The dictionary of the runs that Python knows, by the address of their words.",
    FORGET="PyDict_DelItem",
    DICT_SIZE="",
    STR="",
    CASES=(
        "The class whose instances no object payload is: what kernels return that means "
        "something else."
    ),
    IS_INSTANCE="",
    READ="What makes a Python object of the value at an address, of any payload.",
    CALL_ONE="PyObject_CallOneArg",
    COROUTINE="The type of coroutines.",
    CLEAR="PyErr_Clear",
    TENSOR=(
        "The class of tensors. Their first slot holds what has the native tensor's address in "
        "its own first slot."
    ),
    IS_SUBTYPE="PyType_IsSubtype",
    FIRST_SLOT="Offset of the first slot of an object.",
    NOTE="PyDict_SetItem",
    THREAD="PyThreadState_Get",
    VALUE="The class of values; the first slot is the address of the native value.",
    ANSWER=(
        "What answers an interrupt, called with the signal's number and the frame: True to have "
        "it later, or it raises."
    ),
    TRUE="",
    INTERRUPT=(
        "PyErr_SetInterruptEx: the handler of a signal is called at the main thread's next check."
    ),
    TRACK=("PyObject_GC_Track: Python's collector looks at an object. It must not do so already."),
    UNTRACK="PyObject_GC_UnTrack: it does not, whether or not it did.",
    IS_TRACKED="PyObject_GC_IsTracked",
    FIND=("PyDict_GetItemWithError: borrowed; 0 without an exception where there is no such key."),
    TUPLE="",
    RUN="The context variable RUN: the words of the run whose kernel code belongs to.",
    COPY_CURRENT="PyContext_CopyCurrent",
    COPY_CONTEXT="PyContext_Copy",
    ENTER="PyContext_Enter",
    EXIT="PyContext_Exit",
    SET_VARIABLE="PyContextVar_Set",
    VARIABLES=(
        "Offset of the mapping in a context, which is another object once a variable was set; 0 "
        "if it is not known."
    ),
    CONTEXT=("Offset of the present context in CPython's state of a thread; 0 if it is not known."),
)
PYTHON_BYTES = bytes.__basicsize__ - 1
"""Offset of the content in a `bytes`, which a zero follows; native code asks `python_entries.content`."""

# Interrupts: state that the main thread's SIGINT handler and native code share.
_struct(
    "INTERRUPTS",
    size=32,
    MAY_RAISE="1 while the main thread runs the user's code.",
    NOTED="1 if an interrupt came that the main thread has not answered.",
    WAITS="How many waits of the main thread there are.",
    LOOKED="When Python last looked whether the handler is installed.",
)
INTERRUPTS_LOOK_NS = 10_000_000
"""Minimum interval between Python's checks that the handler is installed."""

# Run: slots of the Python object, from PYTHON_FIRST_SLOT on; empty if the run carries no context.
_struct(
    "RUN",
    CALLER=at(8, "A copy of the context of the call that started the run."),
    MAPPING="The mapping of the context that was made last for a kernel.",
    SPARE="A context for the next kernel, with that mapping; empty while a kernel works in it.",
)

# Template: the initial words of each call of a function from Python, which the call copies.
ANY_PAYLOAD = 255
"""Used instead of a payload type: an object, a chain, a tensor, or a shape."""
_struct(
    "TEMPLATE",
    SIZE="Bytes that are copied.",
    ARGUMENTS="",
    FUNCTION="",
    RESULTS="How many there are.",
    FIRST="Offset of the first of them in the words that are copied.",
    READS=("The type of the only result's payload, if native code makes an object of it; else 0."),
    CARRIES="Not 0 if runs carry the context of their call: see `python_functions`.",
    WORDS=(
        "The words of a request; for each argument the type of its payload, and room for that; "
        "room for values."
    ),
)
