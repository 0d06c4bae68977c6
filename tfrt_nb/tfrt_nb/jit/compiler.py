"""LLVM IR to machine code in this process.

The pipeline is LLVM's own; it splits coroutines on the way at every level.  What compiled code may call is
in the tables of `linking`.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import llvmlite.binding as llvm

from tfrt_nb.jit.linking import linked
from tfrt_nb.jit.names import INTERRUPT_FLAG, global_symbol
from tfrt_nb.jit.rounding import TO_BFLOAT

QUICK, FULL = 0, 2
"""Levels of LLVM's optimisations."""
_IS_NEAR = sys.platform == "linux" and platform.machine() == "x86_64"
"""Whether the parts of an object are less than 2 GB apart: llvmlite's memory manager then puts them into
one piece of memory.

LLVM selects instructions for larger distances by its slow way even where it is asked for the quick one.
"""
_LIBRARY_BY_TABLE = """
!llvm.module.flags = !{!0}
!0 = !{i32 7, !"RtLibUseGOT", i32 1}
"""
"""A module that makes one that it is linked into call LLVM's own needs, like `memcpy`, in that way, too."""

_HAS_COROUTINES = " presplitcoroutine"


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
    _call_by_table(module)
    return str(machine.emit_assembly(module))


def compile_module(text: str, functions: Mapping[str, int]) -> MachineCode:
    """Compile the module; `functions` are the addresses of the runtime's functions.

    Raises:
        UnresolvedFunction: naming the functions that are in no table.
    """
    return load(object_code(text), functions)


def object_code(text: str, level: int = FULL) -> bytes:
    """Compile the module to an object file."""
    module, machine = _optimised(text, level)
    if "bfloat" in text:
        module.link_in(llvm.parse_assembly(TO_BFLOAT))
    _call_by_table(module)
    return bytes(machine.emit_object(module))


def load(code: bytes, functions: Mapping[str, int]) -> MachineCode:
    """Link an object file to the runtime's functions at the given addresses, and to those of its tables.

    Raises:
        UnresolvedFunction: naming the functions that are in no table.
    """
    addresses = linked(code, functions)
    declarations = "\n".join(f"declare void {global_symbol(name)}()" for name in addresses)
    # The engine knows addresses by the declarations of a module.
    module = llvm.parse_assembly(declarations)
    engine = llvm.create_mcjit_compiler(module, _machine(QUICK), use_lmm=_IS_NEAR or None)
    for name, address in addresses.items():
        engine.add_global_mapping(module.get_function(name), address)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    _connect_interrupts(engine, functions)
    return MachineCode(engine)


def _connect_interrupts(engine: llvm.ExecutionEngine, functions: Mapping[str, int]) -> None:
    """Tell code with loops where the word is that it checks."""
    place = engine.get_global_value_address(INTERRUPT_FLAG.removeprefix("@"))
    if place:
        flag = functions.get(INTERRUPT_FLAG.removeprefix("@"), _NOBODY_INTERRUPTS)
        ctypes.c_int64.from_address(place).value = flag


_never = ctypes.c_int64(0)
_NOBODY_INTERRUPTS = ctypes.addressof(_never)


def _machine(level: int) -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=level,
        reloc="pic" if _IS_NEAR else "default",
        codemodel="small" if _IS_NEAR else "jitdefault",
        jit=True,
    )


def _optimised(text: str, level: int) -> tuple[llvm.ModuleRef, llvm.TargetMachine]:
    machine = _machine(level)
    module = llvm.parse_assembly(text)
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    module.verify()
    builder = llvm.create_pass_builder(
        machine, llvm.create_pipeline_tuning_options(speed_level=level)
    )
    builder.getModulePassManager().run(module, builder)
    if level == QUICK and _HAS_COROUTINES in text:
        # Each part of a split coroutine is a copy of the whole, with branches on constants around the rest.
        tidy = llvm.create_new_module_pass_manager()
        tidy.add_simplify_cfg_pass()
        tidy.run(module, builder)
    return module, machine


def _call_by_table(module: llvm.ModuleRef) -> None:
    """Let calls of functions elsewhere, however far, find their addresses in a table beside the code."""
    if not _IS_NEAR:
        return
    module.link_in(llvm.parse_assembly(_LIBRARY_BY_TABLE))
    for function in module.functions:
        if function.is_declaration:
            function.add_function_attribute("nonlazybind")
