"""IR that connects the core, which has 64-bit words, to CPython with 32-bit pointers on web pages.

In WebAssembly, a call through a pointer traps unless caller and function agree on every type.
Therefore, three kinds of adapters convert the types:

- `tfrt_api.NAME`: takes and returns words, and calls CPython's function NAME.
- `ENTRY.fast`: takes pointers, as CPython's METH_FASTCALL convention requires, and calls ENTRY.
- `ENTRY.any`: takes seven words, and calls ENTRY or an exported C function with as many of them as
  it needs (`python_entries.call_with`).
"""

from collections.abc import Callable, Mapping
from inspect import signature

from tfrt_runtime.native.memory import Export

# The result and the parameters of each function. p: a pointer; q: 64 bits; i: a C int,
# sign-extended; d: a double; -: a word that the core passes and the function does not take.
API = {
    "PyBool_FromLong": ("p", "i"),
    "PyBytes_AsString": ("p", "p"),
    "PyBytes_FromStringAndSize": ("p", "pi"),
    "PyContextVar_Set": ("p", "pp"),
    "PyContext_Copy": ("p", "p"),
    "PyContext_CopyCurrent": ("p", "-"),
    "PyContext_Enter": ("i", "p"),
    "PyContext_Exit": ("i", "p"),
    "PyDict_DelItem": ("i", "pp"),
    "PyDict_GetItemWithError": ("p", "pp"),
    "PyDict_SetItem": ("i", "ppp"),
    "PyDict_Size": ("i", "p"),
    "PyErr_Clear": ("", "-"),
    "PyErr_Occurred": ("p", "-"),
    "PyErr_SetInterruptEx": ("i", "i"),
    "PyErr_WriteUnraisable": ("", "p"),
    "PyEval_RestoreThread": ("", "p"),
    "PyEval_SaveThread": ("p", "-"),
    "PyException_SetTraceback": ("i", "pp"),
    "PyFloat_AsDouble": ("d", "p"),
    "PyFloat_FromDouble": ("p", "d"),
    "PyGILState_Ensure": ("i", "-"),
    "PyGILState_Release": ("", "i"),
    "PyLong_AsLongLongAndOverflow": ("q", "pp"),
    "PyLong_AsUnsignedLongLongMask": ("q", "p"),
    "PyLong_AsVoidPtr": ("p", "p"),
    "PyLong_FromLongLong": ("p", "q"),
    "PyObject_CallOneArg": ("p", "pp"),
    "PyObject_CheckBuffer": ("i", "p"),
    "PyObject_GC_IsTracked": ("i", "p"),
    "PyObject_GC_Track": ("", "p"),
    "PyObject_GC_UnTrack": ("", "p"),
    "PyObject_GetAttr": ("p", "pp"),
    "PyObject_IsInstance": ("i", "pp"),
    "PyObject_SetAttr": ("i", "ppp"),
    "PyObject_Type": ("p", "p"),
    "PyThreadState_Get": ("p", "-"),
    "PyTuple_GetItem": ("p", "pi"),
    "PyTuple_Size": ("i", "p"),
    "PyType_IsSubtype": ("i", "pp"),
    "Py_DecRef": ("", "p"),
    "Py_IncRef": ("", "p"),
}
CHANGING = ("PyErr_Fetch", "PyErr_NormalizeException")
"""Functions that write a type, an exception, and a traceback through three pointers.

The core has 8 bytes for each of the three; CPython writes 4.
"""
VECTORCALL = "PyObject_Vectorcall"
_TYPES = {"p": "i32", "i": "i32", "q": "i64", "d": "double", "": "void"}

# In the core's arrays, a pointer to an object takes 8 bytes; CPython expects 4.
# The core passes no keyword names, so the last argument is always 0.
_VECTORCALL = f"""
declare i32 @{VECTORCALL}(i32, i32, i32, i32)
define i64 @"tfrt_api.{VECTORCALL}"(i64 %function, i64 %given, i64 %count, i64 %names) {{
  %n = trunc i64 %count to i32
  %narrow = alloca i32, i32 %n
  %from = inttoptr i64 %given to ptr
  br label %head
head:
  %i = phi i32 [ 0, %0 ], [ %next, %body ]
  %more = icmp ult i32 %i, %n
  br i1 %more, label %body, label %done
body:
  %source = getelementptr i64, ptr %from, i32 %i
  %word = load i64, ptr %source
  %short = trunc i64 %word to i32
  %target = getelementptr i32, ptr %narrow, i32 %i
  store i32 %short, ptr %target
  %next = add i32 %i, 1
  br label %head
done:
  %f = trunc i64 %function to i32
  %g = ptrtoint ptr %narrow to i32
  %r = call i32 @{VECTORCALL}(i32 %f, i32 %g, i32 %n, i32 0)
  %w = zext i32 %r to i64
  ret i64 %w
}}
"""

_FAST = """
define i32 @"{entry}.fast"(i32 %bound, i32 %given, i32 %count) {{
  %wide = alloca i64, i32 %count
  %from = inttoptr i32 %given to ptr
  br label %head
head:
  %i = phi i32 [ 0, %0 ], [ %next, %body ]
  %more = icmp ult i32 %i, %count
  br i1 %more, label %body, label %done
body:
  %source = getelementptr i32, ptr %from, i32 %i
  %short = load i32, ptr %source
  %word = zext i32 %short to i64
  %target = getelementptr i64, ptr %wide, i32 %i
  store i64 %word, ptr %target
  %next = add i32 %i, 1
  br label %head
done:
  %b = zext i32 %bound to i64
  %g = ptrtoint ptr %wide to i64
  %c = zext i32 %count to i64
  %r = call i64 @"{entry}"(i64 %b, i64 %g, i64 %c)
  %s = trunc i64 %r to i32
  ret i32 %s
}}
"""


def adapters(
    entries: Mapping[str, Callable[..., object]],
    others: Mapping[str, int],
    exports: Mapping[str, Export],
) -> tuple[list[str], list[str]]:
    """Return the IR of all adapters, and the names of the exported adapters.

    `others` maps each exported function that is not an entry to the number of its words.
    """
    words = {name: [*signature(function).parameters] for name, function in entries.items()}
    counts = {name: len(each) for name, each in words.items()}
    # CPython calls these through METH_FASTCALL.
    built_in = [name for name, each in words.items() if each == ["bound", "given", "count"]]
    texts = [
        _VECTORCALL,
        *map(_changing, CHANGING),
        *(_api(name, *row) for name, row in API.items()),
    ]
    for name, count in {**counts, **others}.items():
        types = ", ".join(["i64"] * count)
        fast = _FAST.format(entry=name) if name in built_in else ""
        texts.append(f'declare i64 @"{name}"({types})\n' + _any(name, count, name) + fast)
    for name, export in exports.items():
        # Pass words, not pointers: the handle of a buffer has 64 bits, even where a pointer has 32.
        count, called = len(export.parameters), f"{name}.words"
        types = ", ".join(["i64"] * count)
        texts.append(f'declare i64 @"{called}"({types})\n' + _any(name, count, called))
    api = [f"tfrt_api.{name}" for name in (*API, *CHANGING, VECTORCALL)]
    anys = [f"{name}.any" for name in (*counts, *others, *exports)]
    return texts, [*api, *anys, *(f"{name}.fast" for name in built_in)]


def _any(name: str, count: int, called: str) -> str:
    """Return the IR of the function `NAME.any`.

    The function takes seven words, and passes the first `count` words to `called`.
    """
    words = ", ".join(f"i64 %{i}" for i in range(7))
    given = ", ".join(f"i64 %{i}" for i in range(count))
    body = f'  %r = call i64 @"{called}"({given})\n  ret i64 %r\n'
    return f'define i64 @"{name}.any"({words}) {{\n{body}}}\n'


def _changing(name: str) -> str:
    """Return the IR of the adapter for a function in `CHANGING`."""
    lines = [
        f"declare void @{name}(ptr, ptr, ptr)",
        f'define i64 @"tfrt_api.{name}"(i64 %0, i64 %1, i64 %2) {{',
    ]
    for i in range(3):
        lines += [f"  %a{i} = alloca i32", f"  %p{i} = inttoptr i64 %{i} to ptr"]
        lines += [f"  %w{i} = load i64, ptr %p{i}", f"  %s{i} = trunc i64 %w{i} to i32"]
        lines += [f"  store i32 %s{i}, ptr %a{i}"]
    lines += [f"  call void @{name}(ptr %a0, ptr %a1, ptr %a2)"]
    for i in range(3):
        lines += [f"  %r{i} = load i32, ptr %a{i}", f"  %z{i} = zext i32 %r{i} to i64"]
        lines += [f"  store i64 %z{i}, ptr %p{i}"]
    return "\n".join([*lines, "  ret i64 0", "}\n"])


def _api(name: str, result: str, parameters: str) -> str:
    """Return the IR of the adapter for a CPython function with the given row of `API`."""
    types = [_TYPES[p] for p in parameters if p != "-"]
    words = ", ".join(f"{'double' if p == 'd' else 'i64'} %{i}" for i, p in enumerate(parameters))
    lines = [
        f"declare {_TYPES[result]} @{name}({', '.join(types)})",
        f'define {"double" if result == "d" else "i64"} @"tfrt_api.{name}"({words}) {{',
    ]
    given = []
    for i, p in enumerate(parameters):
        if p in "pi":
            lines.append(f"  %n{i} = trunc i64 %{i} to i32")
            given.append(f"i32 %n{i}")
        elif p != "-":
            given.append(f"{_TYPES[p]} %{i}")
    call = f"call {_TYPES[result]} @{name}({', '.join(given)})"
    if result == "":
        lines += [f"  {call}", "  ret i64 0"]
    elif result in "qd":
        lines += [f"  %r = {call}", f"  ret {_TYPES[result]} %r"]
    else:
        # A pointer above 2 GiB must not become negative, whereas an error code of -1 must stay -1.
        extend = "zext" if result == "p" else "sext"
        lines += [f"  %r = {call}", f"  %w = {extend} i32 %r to i64", "  ret i64 %w"]
    return "\n".join([*lines, "}\n"])
