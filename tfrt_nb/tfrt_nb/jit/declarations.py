"""Check a program's declarations of external functions, and let calls to Python functions fail.

    func.func private @printMemrefF32(memref<*xf32>) attributes { llvm.emit_c_interface }
    func.func private @price(i64) -> i64

A program may declare the functions in `async_runtime.printing`, and functions that Python has
registered (`async_runtime.externals`). The types must match exactly. A call to a Python function
may fail:

    %y = call @price(%x) : (i64) -> i64    =>    %ok, %y = call @price(%x) : (i64) -> (i1, i64)
                                                 cf.assert %ok, "'price' failed"
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from xdsl.dialects import cf, func
from xdsl.dialects.builtin import FunctionType, ModuleOp, i1

from tfrt_nb.internal_errors import location_of
from tfrt_nb.jit.names import LIBRARY
from tfrt_nb.jit.runtime_calls import RUNTIME_FUNCTIONS
from tfrt_nb.passes.control_flow import Emitter, PassError, operations_in, replace
from tfrt_runtime.async_runtime.externals import PythonExternal, registered
from tfrt_runtime.async_runtime.printing import BUFFER_PRINTERS, PRINTING
from tfrt_runtime.diagnostics import Diagnostic, error, meant, note

Externals = Mapping[str, PythonExternal]
"""The Python functions that a program declares, by name."""


def check_declarations(module: ModuleOp) -> Externals:
    """Return the registered Python functions that the program declares.

    Raises:
        PassError: if a declared function is unknown or has a different type. The error lists all
            such declarations.
    """
    found: dict[str, PythonExternal] = {}
    problems: list[Diagnostic] = []
    for op in module.body.block.ops:
        if isinstance(op, func.FuncOp) and op.is_declaration:
            name = op.sym_name.data
            own = registered().get(name)
            known = own or PRINTING.get(name)
            if own is not None:
                found[name] = own
            if any(type_.name.startswith("llvm.") for type_ in op.function_type.inputs):
                continue  # `CheckAsync` has a better message for a program that is already lowered
            if known is None:
                problems.append(_unknown(op, name, is_first=not problems))
            # In the tables, an `index` has 64 bits.
            elif re.sub(r"\bindex\b(?!>)", "i64", str(op.function_type)) != known.type:
                text = f"'{name}' is declared with the wrong type: its type is {known.type}"
                problems.append(error(text, location_of(op)))
    if problems:
        raise PassError(*problems)
    return found


def _unknown(op: func.FuncOp, name: str, *, is_first: bool) -> Diagnostic:
    names = sorted([*registered(), *PRINTING])
    if name in LIBRARY or name in RUNTIME_FUNCTIONS:
        message = f"'{name}' is reserved for generated code: programs cannot call it"
    else:
        message = (
            f"'{name}' is declared but not defined, and is not a function that programs may call"
        )
    place, advice = location_of(op), meant(name, names, form="'{}'")
    notes = [note(advice, place)] if advice else []
    if is_first:
        notes.append(
            note(
                f"programs may call {', '.join(n for n in names if n not in BUFFER_PRINTERS)}, "
                "the functions that print buffers, such as printMemrefF32, and what "
                "tfrt_nb.external registers",
                place,
            )
        )
    return error(message, place, notes)


def expand_calls(module: ModuleOp, externals: Externals) -> ModuleOp:
    """Return a copy of the program in which calls to Python functions may fail.

    A program without such calls is returned unchanged.
    """
    python = {name for name, known in externals.items() if known.address is None}
    if not python:
        return module
    module = module.clone()
    for op in operations_in(module):
        if isinstance(op, func.FuncOp) and op.is_declaration and op.sym_name.data in python:
            results = [i1, *op.function_type.outputs]
            op.function_type = FunctionType.from_lists([*op.function_type.inputs], results)
        elif isinstance(op, func.CallOp) and (name := op.callee.root_reference.data) in python:
            emit = Emitter.in_front_of(op)
            call = emit(func.CallOp(op.callee, op.arguments, [i1, *op.res.types]))
            emit(cf.AssertOp(call.res[0], externals[name].failed))
            replace(op, call.res[1:])
    return module
