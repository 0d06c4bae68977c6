"""What host functions see of the compiled functions that they call: native functions."""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Region

from tfrt_nb.compiled.kinds import Halves, symbols_in
from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.control_flow import NATIVE
from tfrt_nb.dialects.crossing import host_types

Function = func.FuncOp | AsyncFuncOp


def declare_compiled(halves: Halves) -> ModuleOp:
    """The host half, with a declaration for each compiled function that it refers to.

    It is the same module if there is none.
    """
    compiled = {op.sym_name.data: op for op in halves.compiled.ops if isinstance(op, Function)}
    called = {name: None for op in halves.host.ops for name in symbols_in(op)} if compiled else {}
    for name in called:
        declaration = _declaration(compiled[name]) if name in compiled else None
        if declaration is not None:
            halves.host.body.block.add_op(declaration)
    return halves.host


def _declaration(function: Function) -> func.FuncOp | None:
    """None if the function cannot be called: an operation that refers to it is no kernel, and refused later."""
    type_ = function.function_type
    inputs, outputs = host_types(type_.inputs.data), host_types(type_.outputs.data)
    if inputs is None or outputs is None:
        return None
    declaration = func.FuncOp(function.sym_name.data, (inputs, outputs), Region(), "private")
    declaration.attributes[NATIVE] = UnitAttr()
    declaration.location = function.location
    return declaration
