"""The structs for Python: CPython's functions and objects, interrupts, and call templates."""

from tfrt_runtime.native.layouts.declared import struct

# Python: CPython functions that native code calls, and Python objects that it uses.
struct(
    "PYTHON",
    size=552,
    ENSURE="PyGILState_Ensure: take the GIL; its result is the argument for PYTHON_RELEASE.",
    RELEASE="PyGILState_Release",
    CALL="PyObject_Vectorcall",
    DROP="Py_DecRef",
    MAKE_INT="",
    MAKE_FLOAT="",
    MAKE_BOOL="",
    READ_INT=(
        "PyLong_AsLongLongAndOverflow. The second argument is the address of the overflow flag."
    ),
    FETCH="PyErr_Fetch: write type, exception, and traceback, each with a reference.",
    NORMALIZE="PyErr_NormalizeException",
    SET_TRACEBACK="",
    UNRAISABLE="",
    INT="The type `int`.",
    FLOAT="",
    NONE="",
    TYPE="PyObject_Type",
    READ_FLOAT="PyFloat_AsDouble",
    INTERRUPTS="",
    REQUEST_DONE=("A Python function that is called with the address of a request that is over."),
    READ_WORD="PyLong_AsUnsignedLongLongMask: return the low 64 bits of an integer.",
    OCCURRED="",
    SAVE=("PyEval_SaveThread: release the GIL; its result is the argument for PYTHON_RESTORE."),
    RESTORE="",
    ADD="Py_IncRef",
    NEW_BYTES="PyBytes_FromStringAndSize",
    TUPLE_SIZE="",
    TUPLE_ITEM="PyTuple_GetItem: return a borrowed reference.",
    BOOL="",
    CHAIN="The Python object that represents a chain.",
    REQUESTS="The dictionary of the runs that Python knows, keyed by request address.",
    FORGET="PyDict_DelItem",
    DICT_SIZE="",
    STR="",
    CASES=(
        "The class of objects that a kernel returns with a special meaning. They are never "
        "payloads."
    ),
    IS_INSTANCE="",
    READ="A Python function that makes a Python object from the value at an address.",
    CALL_ONE="PyObject_CallOneArg",
    COROUTINE="The type of coroutines.",
    CLEAR="PyErr_Clear",
    TENSOR=(
        "The class of tensors. Its `_handle` is None or an object with the native tensor's "
        "`address`."
    ),
    IS_SUBTYPE="PyType_IsSubtype",
    HAS_BUFFER="PyObject_CheckBuffer",
    GET="PyObject_GetAttr",
    SET="PyObject_SetAttr",
    BYTES="PyBytes_AsString",
    NOTE="PyDict_SetItem",
    THREAD="PyThreadState_Get",
    VALUE="The class of values. Its `_address` is the address of the native value.",
    ANSWER=(
        "A Python function that handles an interrupt, given the signal's number and the "
        "frame. It raises an exception, or returns True to handle the interrupt later."
    ),
    TRUE="",
    INTERRUPT="PyErr_SetInterruptEx: make the main thread call a signal's handler soon.",
    TRACK=(
        "PyObject_GC_Track: add an object to Python's garbage collector. It must not be added "
        "twice."
    ),
    UNTRACK="PyObject_GC_UnTrack: remove an object from the collector, if it is there.",
    IS_TRACKED="PyObject_GC_IsTracked",
    FIND=(
        "PyDict_GetItemWithError: return a borrowed reference, or 0 without an exception if "
        "the key is missing."
    ),
    RUN="The context variable RUN: the request of the run for which a Python kernel works.",
    COPY_CURRENT="PyContext_CopyCurrent",
    COPY_CONTEXT="PyContext_Copy",
    ENTER="PyContext_Enter",
    EXIT="PyContext_Exit",
    SET_VARIABLE="PyContextVar_Set",
    VARIABLES=(
        "The offset of the mapping in a contextvars context, or 0 if unknown. Setting a "
        "variable replaces the mapping."
    ),
    CONTEXT=(
        "The offset of the current contextvars context in CPython's thread state, or 0 if unknown."
    ),
    NAME_WORDS=(
        "The string `words`, the name of an attribute of runs. The next four fields are such "
        "strings, too."
    ),
    NAME_ADDRESS="",
    NAME_CALLER="",
    NAME_HANDLE="",
    NAME_VALUE="The string `_address`.",
    SPARE=(
        "A contextvars context for the next kernel of a run whose caller is PROCESS_CALLER, "
        "with a reference; or 0."
    ),
    SPARE_WORDS="The value of RUN in PYTHON_SPARE.",
)

# Interrupts: the state that the main thread's SIGINT handler shares with native code.
struct(
    "INTERRUPTS",
    size=32,
    MAY_RAISE="1 while the main thread runs the user's code.",
    NOTED="1 if an interrupt has arrived that the main thread has not handled.",
    WAITS="How many nested waits the main thread is in.",
    LOOKED="When Python last checked that the handler is installed, in nanoseconds.",
)
INTERRUPTS_LOOK_NS = 10_000_000
"""The minimum time between checks that the handler is installed."""

# Template: the initial words of a request, which each call of a function from Python copies.
ANY_PAYLOAD = 255
"""The type number for any payload that is an object, a chain, a tensor, or a shape."""
struct(
    "TEMPLATE",
    SIZE="How many bytes are copied.",
    ARGUMENTS="",
    FUNCTION="",
    RESULTS="How many results the function has.",
    FIRST="The offset of the first result in the copied words.",
    READS=(
        "The payload type of the only result, if native code makes a Python object of it; else 0."
    ),
    CARRIES=("Not 0 if runs carry the contextvars context of their call (`python_functions`)."),
    WORDS=(
        "The copied words: a request, then the payload type and room for the payload of each "
        "argument, then room for the results."
    ),
)
