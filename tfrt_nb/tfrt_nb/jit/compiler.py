"""LLVM IR to machine code in this process.

The pipeline is LLVM's own; it splits coroutines on the way at every level.  Functions that compiled code
calls are given by address; what is not given is looked for in the process (`malloc`, `sin`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import llvmlite.binding as llvm

from tfrt_nb.jit.effort import FULL
from tfrt_runtime.diagnostics import TfrtError, error


class UnresolvedFunction(TfrtError):
    """The program calls functions that nobody provides."""


@dataclass(frozen=True)
class MachineCode:
    """Compiled functions.  They live as long as this object."""

    engine: llvm.ExecutionEngine

    def address(self, name: str) -> int:
        """Where the function starts.

        Raises:
            KeyError: if no public function has the name.
        """
        address = int(self.engine.get_function_address(name))
        if address == 0:
            raise KeyError(name)
        return address


def split_coroutines(text: str, level: int = FULL) -> str:
    """The module after LLVM's optimisations, as text; its coroutines are state machines."""
    module, _ = _optimised(text, level)
    return str(module)


def assembly(text: str, level: int = FULL) -> str:
    """The machine code of the module, as text."""
    module, machine = _optimised(text, level)
    return str(machine.emit_assembly(module))


def compile_module(text: str, functions: Mapping[str, int], level: int = FULL) -> MachineCode:
    """Compile the module; `functions` are the addresses of what it calls.

    Raises:
        UnresolvedFunction: naming the functions that are not given and not in the process.
    """
    module, machine = _optimised(text, level)
    missing = [name for name in _called(module) if not _is_known(name, functions)]
    if missing:
        raise UnresolvedFunction(
            *(error(f"'{name}' is declared but not defined") for name in missing)
        )
    engine = llvm.create_mcjit_compiler(module, machine)
    for function in module.functions:
        if function.name in functions:
            engine.add_global_mapping(function, functions[function.name])
    engine.finalize_object()
    return MachineCode(engine)


def _optimised(text: str, level: int) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    machine = target.create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        jit=True,
    )
    module = llvm.parse_assembly(text)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    builder = llvm.create_pass_builder(
        machine, llvm.create_pipeline_tuning_options(speed_level=level)
    )
    builder.getModulePassManager().run(module, builder)
    return module, machine


def _called(module: llvm.ModuleRef) -> Iterator[str]:
    for function in module.functions:
        if function.is_declaration and not function.name.startswith("llvm."):
            yield str(function.name)


def _is_known(name: str, functions: Mapping[str, int]) -> bool:
    return name in functions or hasattr(ctypes.CDLL(None), name)
