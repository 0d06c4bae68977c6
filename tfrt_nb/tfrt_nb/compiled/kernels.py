"""Compiled functions as kernels of host programs.

    func.func @main(%x: i32) -> i32 {
      %y = tfrt.call @twice(%x) : (i32) -> i32
      tfrt.return %y : i32
    }
    async.func @twice(%x: i32) -> !async.value<i32> { ... }

For host programs, @twice is a native function: `declarations` declares it, and the kernel of its name is
machine code, made here when a program is first loaded.  A run of @twice itself is one of a host function
that has such a call for its body.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute

from tfrt_nb.compiled.declarations import Function
from tfrt_nb.compiled.host import HostCode
from tfrt_nb.compiled.module import CompiledModule
from tfrt_nb.convert.places import place_of
from tfrt_nb.dialects.async_.types import ValueType
from tfrt_nb.dialects.crossing import host_type, is_awaited, uncrossable
from tfrt_nb.dialects.types import CHAIN, TENSOR
from tfrt_nb.jit.adapters import adapter_name, buffer_text
from tfrt_nb.jit.compiler import MachineCode
from tfrt_nb.passes.errors import fail
from tfrt_nb.source.spans import location_of, value_name
from tfrt_runtime.async_runtime import kernel_functions
from tfrt_runtime.async_runtime.code_of_run import serve
from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.bef.locations import PlaceWriter
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefModule
from tfrt_runtime.executor.loading.native_functions import PREFIX
from tfrt_runtime.host.context import Request
from tfrt_runtime.kernels.registry import CompiledKernel

_WORDS: dict[Attribute, str] = {CHAIN: "chain", TENSOR: "tensor"}
_SLOW = ("scf.", "memref.", "async.await")
_PLAIN = ("arith.", "math.", "func.func", "func.return")
"""Operations that take no longer than a few numbers, and never ask on behalf of which run they run: they do not
print, call, wait, loop or make tasks."""


def compile_kernels(compiled: CompiledModule, names: Sequence[str]) -> dict[str, CompiledKernel]:
    """Kernels for some functions of a compiled module, by the names under which a registry has them.

    Raises:
        TfrtError: at what cannot be compiled.
    """
    functions = [compiled.definitions[name] for name in names]
    for op in functions:
        type_ = op.function_type
        if (problem := uncrossable(type_.inputs.data, type_.outputs.data)) is not None:
            fail(op, f"'{op.sym_name.data}' cannot be called by host programs: {problem}")
    code = compiled.compile(kernel_functions(), names)
    is_plain = all(map(_is_plain, functions))
    prepare = functools.partial(_prepare, compiled, code, each=not is_plain)
    kernels = [_kernel(op, code, prepare) for op in functions]
    return {kernel.name: kernel for kernel in kernels}


def function_file(compiled: CompiledModule, names: Sequence[str], name: str) -> BefFile:
    """A file that declares some functions of a compiled module: each becomes a host function of one call.

    Its types are those of host functions, but for buffers: Python gives only arrays that fit.
    """
    places = PlaceWriter()
    declared = [
        BefFunction(
            FunctionKind.NATIVE,
            op.sym_name.data,
            _given_types(op.function_type.inputs.data),
            _given_types(op.function_type.outputs.data),
            places.add(place_of(location_of(op))),
        )
        for op in map(compiled.definitions.__getitem__, names)
    ]
    return BefFile.of(
        BefModule(
            tuple(declared),
            (),
            (),
            b"",
            locations=bytes(places.records.data),
            location_strings=bytes(places.strings.data),
        ),
        name,
    )


def argument_names(compiled: CompiledModule, names: Sequence[str]) -> dict[tuple[int, int], str]:
    """What the text calls the arguments of functions, by the indexes of function and argument."""
    return {
        (index, place): name
        for index, one in enumerate(names)
        for place, argument in enumerate(compiled.definitions[one].body.blocks[0].args)
        if (name := value_name(argument)) is not None
    }


def _given_types(types: Sequence[Attribute]) -> tuple[str, ...]:
    held = [type_.value_type if isinstance(type_, ValueType) else type_ for type_ in types]
    return tuple(
        f"memref<{buffer_text(type_)}>" if isinstance(type_, MemRefType) else str(host_type(type_))
        for type_ in held
    )


def _prepare(compiled: CompiledModule, code: MachineCode, run: Request, *, each: bool) -> bool:
    """Get ready for a run that may call into the code, and tidy up when it is over.

    `each` run needs that but for code of whose runs the runtime need not know; returns it.
    """
    shared = run.host.shared_context(HostCode)
    shared.add(compiled, code)
    serve(shared.runtime, run)
    return each


def _is_plain(function: Function) -> bool:
    return all(op.name.startswith(_PLAIN) for op in function.walk())


def _kernel(
    function: Function, code: MachineCode, prepare: Callable[[Request], bool]
) -> CompiledKernel:
    inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
    return CompiledKernel(
        name=PREFIX + function.sym_name.data,
        adapter=code.address(adapter_name(function.sym_name.data)),
        arguments=_words(inputs),
        results=_words(outputs),
        awaited=tuple(i for i, type_ in enumerate(inputs) if is_awaited(type_)),
        heavy=any(op.name.startswith(_SLOW) for op in function.walk()),
        lasting=not _is_plain(function),
        code=code,
        prepare=prepare,
    )


def _words(types: Sequence[Attribute]) -> tuple[str, ...]:
    found = [host_type(type_) for type_ in types]
    return tuple(_WORDS.get(type_) or str(type_) for type_ in found if type_ is not None)
