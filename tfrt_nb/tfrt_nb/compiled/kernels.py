"""Compiled functions as kernels of host programs.

    func.func @main(%x: i32) -> i32 {
      %y = tfrt.call @twice(%x) : (i32) -> i32
      tfrt.return %y : i32
    }
    async.func @twice(%x: i32) -> !async.value<i32> { ... }

To the host half, @twice is a native function: declared there, implemented by a kernel of the same name.
That kernel is machine code, made here when a program is first loaded.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, UnitAttr
from xdsl.ir import Attribute, Region

from tfrt_nb.compiled.half import CompiledHalf
from tfrt_nb.compiled.host import CompiledHome
from tfrt_nb.compiled.kinds import Halves, symbols_in
from tfrt_nb.convert.collect import NATIVE
from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.crossing import host_type, host_types, is_awaited
from tfrt_nb.dialects.types import CHAIN, TENSOR
from tfrt_nb.jit.adapters import adapter_name
from tfrt_nb.jit.compiler import MachineCode
from tfrt_runtime.async_runtime import kernel_functions
from tfrt_runtime.executor.native_functions import PREFIX
from tfrt_runtime.host.context import Request
from tfrt_runtime.kernels.registry import CompiledKernel

Function = func.FuncOp | AsyncFuncOp

_WORDS = {CHAIN: "chain", TENSOR: "tensor"}
_SLOW = ("scf.", "memref.", "async.await")


def declare_compiled(halves: Halves) -> ModuleOp:
    """The host half, with a declaration for each compiled function that it refers to.

    It is the same module if there is none.
    """
    compiled = {op.sym_name.data: op for op in halves.compiled.ops if isinstance(op, Function)}
    called = {name: None for op in halves.host.ops for name in symbols_in(op)} if compiled else {}
    for name in called:
        if name in compiled:
            halves.host.body.block.add_op(_declaration(compiled[name]))
    return halves.host


def _declaration(function: Function) -> func.FuncOp:
    type_ = function.function_type
    inputs, outputs = host_types(type_.inputs.data), host_types(type_.outputs.data)
    assert inputs is not None and outputs is not None, "verified"
    declaration = func.FuncOp(function.sym_name.data, (inputs, outputs), Region(), "private")
    declaration.attributes[NATIVE] = UnitAttr()
    declaration.location = function.location
    return declaration


def compile_kernels(half: CompiledHalf, names: Sequence[str]) -> dict[str, CompiledKernel]:
    """Kernels for the functions `names` of a half, by the names that a registry has them under.

    Raises:
        TfrtError: at what cannot be compiled.
    """
    code = half.compile(kernel_functions(), names)
    functions = {op.sym_name.data: op for op in half.module.ops if isinstance(op, Function)}
    kernels = [_kernel(functions[name], code) for name in names]
    return {kernel.name: kernel for kernel in kernels}


def _kernel(function: Function, code: MachineCode) -> CompiledKernel:
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    has_buffers = any(isinstance(type_, MemRefType) for type_ in (*inputs, *outputs))

    def prepare(run: Request) -> None:
        home = run.host.shared_context(CompiledHome)
        home.keep(code)
        home.runtime.serve(run)
        if has_buffers:
            run.on_done(home.runtime.kept_tensors.sweep)

    return CompiledKernel(
        name=PREFIX + function.sym_name.data,
        adapter=code.address(adapter_name(function.sym_name.data)),
        arguments=_words(inputs),
        results=_words(outputs),
        awaited=tuple(i for i, type_ in enumerate(inputs) if is_awaited(type_)),
        heavy=any(op.name.startswith(_SLOW) for op in function.walk()),
        code=code,
        prepare=prepare,
    )


def _words(types: Sequence[Attribute]) -> tuple[str, ...]:
    found = [host_type(type_) for type_ in types]
    return tuple(_WORDS.get(type_) or str(type_) for type_ in found if type_ is not None)
