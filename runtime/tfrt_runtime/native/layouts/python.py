"""Python in native code: CPython functions and objects, interrupts, and call templates."""

from tfrt_runtime.native.layouts.declared import struct

# Python: functions of CPython's C API that native code calls, and objects with which it compares.
struct(
    "PYTHON",
    size=552,
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
    TYPE="PyObject_Type",
    READ_FLOAT="PyFloat_AsDouble",
    INTERRUPTS="",
    REQUEST_DONE="What is called with the address of a request of which nothing is left.",
    READ_WORD="PyLong_AsUnsignedLongLongMask: the low 64 bits of an integer.",
    OCCURRED="",
    SAVE=(
        "PyEval_SaveThread: the thread releases the GIL, until PYTHON_RESTORE is called with "
        "what this returns."
    ),
    RESTORE="",
    ADD="Py_IncRef",
    NEW_BYTES="PyBytes_FromStringAndSize",
    TUPLE_SIZE="",
    TUPLE_ITEM="PyTuple_GetItem: borrowed.",
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
    TENSOR="The class of tensors; `_handle` is None, or has the native tensor's `address`.",
    IS_SUBTYPE="PyType_IsSubtype",
    GET="PyObject_GetAttr",
    SET="PyObject_SetAttr",
    BYTES="PyBytes_AsString",
    NOTE="PyDict_SetItem",
    THREAD="PyThreadState_Get",
    VALUE="The class of values; `_address` is that of the native value.",
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
    NAME_WORDS="The text `words`, an attribute of runs, and so on.",
    NAME_ADDRESS="",
    NAME_CALLER="",
    NAME_HANDLE="",
    NAME_VALUE="The text `_address`.",
    SPARE="A context for the next kernel of a run whose caller is PROCESS_CALLER, owned; or 0.",
    SPARE_WORDS="The value that RUN has there.",
)

# Interrupts: the state that the main thread's SIGINT handler and native code share.
struct(
    "INTERRUPTS",
    size=32,
    MAY_RAISE="1 while the main thread runs the user's code.",
    NOTED="1 if an interrupt came that the main thread has not answered.",
    WAITS="How many waits of the main thread there are.",
    LOOKED="When Python last looked whether the handler is installed.",
)
INTERRUPTS_LOOK_NS = 10_000_000
"""Minimum interval between Python's checks that the handler is installed."""

# Template: the initial words of each call of a function from Python; the call copies them.
ANY_PAYLOAD = 255
"""Stands for a payload type that is an object, a chain, a tensor, or a shape."""
struct(
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
