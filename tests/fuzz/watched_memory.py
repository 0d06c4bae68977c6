"""Watch freed memory: the async runtime's functions first check that their objects are alive.

Compiled code reaches tokens, values, and groups through the runtime's functions, which this module
replaces. The functions here hold one more reference to each new object, so no memory is freed and
no address is reused. A caller must have a reference to the objects it passes: an object that has
only our reference would be freed in a normal run. Checked runs find a reference that is dropped too
many times; this also finds an object that is used after its last reference was dropped.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from tfrt_nb.compiled import kernels
from tfrt_nb.jit.compiler import load, object_code
from tfrt_runtime.async_runtime.runs import kernel_functions
from tfrt_runtime.native import layouts as at
from tfrt_runtime.native.memory import EXPORTS, Export

MOST = 1 << 17
"""The maximum number of a program's objects that are released afterward."""
_OBJECTS = frozenset(("value", "member", "group", "source", "result"))
"""Parameters of the runtime's functions that are tokens, values, or groups."""
_PREFIX = "watched."


class WatchedMemory:
    """The functions, and what they have found since the last `look`.

    Programs must run one after another.
    """

    def __init__(self) -> None:
        self._made = (ctypes.c_int64 * MOST)()
        # The number of created objects, the number of uses of dead objects, and the first function
        # that used one.
        self._counts = (ctypes.c_int64 * 3)()
        self._names = [name for name in EXPORTS if name.startswith(("mlirAsync", "tfrtAsync"))]
        functions = kernel_functions()
        self._code = load(object_code(self._text(), 0), functions)
        watched = {name: self._code.address(f"{_PREFIX}{name}") for name in self._names}
        self._functions = functions | watched
        self._drop = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(
            functions["mlirAsyncRuntimeDropRef"]
        )

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Let programs that are compiled inside the block call these functions."""
        with patch.object(kernels, "kernel_functions", lambda: self._functions):
            yield

    def look(self) -> list[str]:
        """Return the problems, and release the objects; call this when nothing runs."""
        made, wrong, first = self._counts
        problems = [f"{self._names[first - 1]} used an object that is freed"] if wrong else []
        left = 0
        for address in self._made[: min(made, MOST)]:
            words = (ctypes.c_int64 * (at.VALUE_ASYNC // 8 + 1)).from_address(address)
            if words[0] > 1 + (words[at.VALUE_ASYNC // 8] & at.OBJECT_REGISTERED):
                left += 1
            self._drop(address, 1)
        self._counts[:] = (0, 0, 0)
        return problems + (["objects are left over", f"{left} of {made}"] if left else [])

    def _text(self) -> str:
        """Return the functions as LLVM IR."""
        layout = {
            "made": ctypes.addressof(self._made),
            "counts": ctypes.addressof(self._counts),
            "most": MOST,
            "async_": at.VALUE_ASYNC,
            "state": at.VALUE_STATE,
            "state_bits": at.STATE_BITS,
            "unconstructed": at.UNCONSTRUCTED,
            "kind": at.VALUE_KIND,
            "group": at.TYPE_GROUP,
        }
        return "\n".join(
            [_HELPERS.format(**layout)]
            + [_function(name, EXPORTS[name], number) for number, name in enumerate(self._names, 1)]
        )


_HELPERS = """
define i1 @alive(ptr %object, i64 %needed, i1 %user, i64 %number) {{
  %none = icmp eq ptr %object, null
  br i1 %none, label %yes, label %look
look:
  %references = load atomic i64, ptr %object acquire, align 8
  %place = getelementptr i8, ptr %object, i64 {async_}
  %bits = load atomic i64, ptr %place acquire, align 8
  %listed = and i64 %bits, 1
  %others = add i64 %listed, 1
  %wanted = add i64 %others, %needed
  ; The producer of a token or value has the second one, and drops it after the object is resolved.
  %state.place = getelementptr i8, ptr %object, i64 {state}
  %head = load atomic i64, ptr %state.place acquire, align 8
  %state = and i64 %head, {state_bits}
  %open = icmp eq i64 %state, {unconstructed}
  %kind.place = getelementptr i8, ptr %object, i64 {kind}
  %kind = load atomic i64, ptr %kind.place acquire, align 8
  %type = lshr i64 %kind, 8
  %single = icmp ne i64 %type, {group}
  %apart = and i1 %open, %single
  %produced = and i1 %apart, %user
  %producers = zext i1 %produced to i64
  %least = add i64 %wanted, %producers
  %few = icmp slt i64 %references, %least
  br i1 %few, label %no, label %yes
no:
  %wrong = getelementptr i64, ptr inttoptr (i64 {counts} to ptr), i64 1
  %first = getelementptr i64, ptr inttoptr (i64 {counts} to ptr), i64 2
  %before = atomicrmw add ptr %wrong, i64 1 seq_cst
  %same = cmpxchg ptr %first, i64 0, i64 %number seq_cst seq_cst
  ret i1 false
yes:
  ret i1 true
}}
define void @keep(ptr %object) {{
  %none = icmp eq ptr %object, null
  br i1 %none, label %done, label %hold
hold:
  %references = atomicrmw add ptr %object, i64 1 seq_cst
  %number = atomicrmw add ptr inttoptr (i64 {counts} to ptr), i64 1 seq_cst
  %fits = icmp slt i64 %number, {most}
  br i1 %fits, label %note, label %done
note:
  %place = getelementptr i64, ptr inttoptr (i64 {made} to ptr), i64 %number
  store atomic ptr %object, ptr %place release, align 8
  br label %done
done:
  ret void
}}
"""


def _function(name: str, export: Export, number: int) -> str:
    """Return a function that checks its objects and then calls the runtime's function.

    If it returns nothing, it does not call the runtime's function with dead objects.
    """
    names = list(inspect.signature(export.function).parameters)
    types = dict(zip(names, export.parameters, strict=True))
    given = ", ".join(f"{type_} %{one}" for one, type_ in types.items())
    lines = [f"declare {export.returns} @{name}({', '.join(types.values())})"]
    lines.append(f'define {export.returns} @"{_PREFIX}{name}"({given}) {{')
    is_silent = export.returns == "void"
    for one in (one for one in names if one in _OBJECTS):
        needed = "%count" if name == "mlirAsyncRuntimeDropRef" else "1"
        is_users = one == "value" and ("Await" in name or name.endswith("Ref"))
        user = "true" if is_users or one in ("member", "source") else "false"
        lines.append(
            f"  %alive.{one} = call i1 @alive(ptr %{one}, i64 {needed}, i1 {user}, i64 {number})"
        )
        if is_silent:
            lines += [f"  br i1 %alive.{one}, label %after.{one}, label %dead", f"after.{one}:"]
    if is_silent:
        lines += [f"  call void @{name}({given})", "  ret void"]
        if any("label %dead" in line for line in lines):
            lines += ["dead:", "  ret void"]
    else:
        lines.append(f"  %given = call {export.returns} @{name}({given})")
        if "Create" in name:
            lines.append("  call void @keep(ptr %given)")
        lines.append(f"  ret {export.returns} %given")
    return "\n".join([*lines, "}"])
