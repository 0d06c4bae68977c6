"""What native code knows of Python: functions and objects of CPython, interrupts, how calls begin.

As in `layouts`; modules that read many import it as `py`.
"""

# Python: functions of CPython's interface that native code calls, and objects that it compares with.
PYTHON_ENSURE = 0
"""PyGILState_Ensure: the thread holds the GIL, until PYTHON_RELEASE is called with what this returns."""
PYTHON_RELEASE = 8
PYTHON_CALL = 16
"""PyObject_Vectorcall"""
PYTHON_DROP = 24
"""Py_DecRef"""
PYTHON_MAKE_INT = 32
PYTHON_MAKE_FLOAT = 40
PYTHON_MAKE_BOOL = 48
PYTHON_READ_INT = 56
"""PyLong_AsLongLongAndOverflow: the second argument is where it says whether the number does not fit."""
PYTHON_FETCH = 64
"""PyErr_Fetch, PyErr_Normalize: they fill in type, exception and traceback, each with a reference."""
PYTHON_NORMALIZE = 72
PYTHON_SET_TRACEBACK = 80
PYTHON_UNRAISABLE = 88
PYTHON_INT = 96
"""The type `int`."""
PYTHON_FLOAT = 104
PYTHON_NONE = 112
PYTHON_TYPE = 120
"""Offset of an object's type."""
PYTHON_FLOAT_NUMBER = 128
"""Offset of the number in a float."""
PYTHON_INTERRUPTS = 136
PYTHON_REQUEST_DONE = 144
"""What is called with the address of a request of which nothing is left."""
PYTHON_READ_WORD = 152
"""PyLong_AsUnsignedLongLongMask: the low 64 bits of an integer."""
PYTHON_OCCURRED = 160
PYTHON_SAVE = 168
"""PyEval_SaveThread: the thread gives the GIL away, until PYTHON_RESTORE is called with what this returns."""
PYTHON_RESTORE = 176
PYTHON_ADD = 184
"""Py_IncRef"""
PYTHON_NEW_BYTES = 192
"""PyBytes_FromStringAndSize"""
PYTHON_TUPLE_SIZE = 200
PYTHON_TUPLE_ITEMS = 208
"""Offset of the items in a tuple."""
PYTHON_BOOL = 216
PYTHON_CHAIN = 224
"""The Python object for chains."""
PYTHON_REQUESTS = 232
"""The dictionary of the runs that Python knows, by the address of their words."""
PYTHON_FORGET = 240
"""PyDict_DelItem"""
PYTHON_DICT_SIZE = 248
PYTHON_STR = 256
PYTHON_CASES = 264
"""The class whose instances no object payload is: what kernels return that means something else."""
PYTHON_IS_INSTANCE = 272
PYTHON_READ = 280
"""What makes a Python object of the value at an address, of any payload."""
PYTHON_CALL_ONE = 288
"""PyObject_CallOneArg"""
PYTHON_COROUTINE = 296
"""The type of coroutines."""
PYTHON_CLEAR = 304
"""PyErr_Clear"""
PYTHON_TENSOR = 312
"""The class of tensors.  Their first slot holds what has the native tensor's address in its own first slot."""
PYTHON_IS_SUBTYPE = 320
"""PyType_IsSubtype"""
PYTHON_FIRST_SLOT = 328
"""Offset of the first slot of an object."""
PYTHON_NOTE = 336
"""PyDict_SetItem"""
PYTHON_THREAD = 344
"""PyThreadState_Get"""
PYTHON_VALUE = 352
"""The class of values; the first slot is the address of the native value."""
PYTHON_ANSWER = 360
"""What answers an interrupt, called with the signal's number and the frame: True to have it later, or it raises."""
PYTHON_TRUE = 368
PYTHON_INTERRUPT = 376
"""PyErr_SetInterruptEx: the handler of a signal is called at the main thread's next check."""
PYTHON_TRACK = 384
"""PyObject_GC_Track: Python's collector looks at an object.  It must not do so already."""
PYTHON_UNTRACK = 392
"""PyObject_GC_UnTrack: it does not, whether or not it did."""
PYTHON_IS_TRACKED = 400
"""PyObject_GC_IsTracked"""
PYTHON_FIND = 408
"""PyDict_GetItemWithError: borrowed; 0 without an exception where there is no such key."""
PYTHON_TUPLE = 416
PYTHON_RUN = 424
"""The context variable RUN: the words of the run whose kernel code belongs to."""
PYTHON_COPY_CURRENT = 432
"""PyContext_CopyCurrent"""
PYTHON_COPY_CONTEXT = 440
"""PyContext_Copy"""
PYTHON_ENTER = 448
"""PyContext_Enter"""
PYTHON_EXIT = 456
"""PyContext_Exit"""
PYTHON_SET_VARIABLE = 464
"""PyContextVar_Set"""
PYTHON_VARIABLES = 472
"""Offset of the mapping in a context, which is another object once a variable was set; 0 if it is not known."""
PYTHON_CONTEXT = 480
"""Offset of the present context in CPython's state of a thread; 0 if it is not known."""
PYTHON_SIZE = 488
PYTHON_BYTES = 32
"""Offset of the content in a `bytes`."""

# Interrupts: what the main thread's handler of SIGINT and native code know of each other.
INTERRUPTS_MAY_RAISE = 0
"""1 while the main thread runs the user's code."""
INTERRUPTS_NOTED = 8
"""1 if an interrupt came that the main thread has not answered."""
INTERRUPTS_WAITS = 16
"""How many waits of the main thread there are."""
INTERRUPTS_LOOKED = 24
"""When Python last looked whether the handler is installed."""
INTERRUPTS_SIZE = 32
INTERRUPTS_LOOK_NS = 10_000_000
"""Python looks so often whether the handler is installed."""

# Run: slots of the Python object, from PYTHON_FIRST_SLOT on; empty if the run carries no context.
RUN_CALLER = 8
"""A copy of the context of the call that started the run."""
RUN_MAPPING = 16
"""The mapping of the context that was made last for a kernel."""
RUN_SPARE = 24
"""A context for the next kernel, with that mapping; empty while a kernel works in it."""

# Template: what each call of a function from Python begins as, which is copied.
ANY_PAYLOAD = 255
"""In the place of the type of a payload: an object, a chain, a tensor or a shape."""
TEMPLATE_SIZE = 0
"""Bytes that are copied."""
TEMPLATE_ARGUMENTS = 8
TEMPLATE_FUNCTION = 16
TEMPLATE_RESULTS = 24
"""How many there are."""
TEMPLATE_FIRST = 32
"""Offset of the first of them in the words that are copied."""
TEMPLATE_READS = 40
"""The type of the only result's payload, if native code makes an object of it; else 0."""
TEMPLATE_CARRIES = 48
"""Not 0 if runs carry the context of their call: see `python_functions`."""
TEMPLATE_WORDS = 56
"""The words of a request; for each argument the type of its payload, and room for that; room for values."""
