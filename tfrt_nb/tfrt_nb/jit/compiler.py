"""Compile LLVM IR to machine code in this process, and link it to a table of functions.

LLVM's own pass pipeline optimizes the code, and splits coroutines at every level. The code is
linked only to the functions in a table, never to other functions in the process. This module reads
from the object file itself which functions the file calls, because LLVM adds calls that no
declaration shows: `memcpy` to copy a struct, or `__divti3` to divide 128-bit integers.
"""

from __future__ import annotations

import ctypes
import functools
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from tfrt_nb.jit.names import INTERRUPT_FLAG, LIBRARY, global_symbol
from tfrt_runtime.async_runtime.externals import address_of
from tfrt_runtime.diagnostics import TfrtError, error

try:
    import llvmlite.binding as llvm
except ModuleNotFoundError:  # a browser page can still show the stages up to LLVM IR
    HAS_LLVM = False
else:
    HAS_LLVM = True

QUICK, FULL = 0, 2
"""LLVM's optimization levels."""
_IS_NEAR = sys.platform == "linux" and platform.machine() == "x86_64"
"""Whether the parts of a loaded object file are less than 2 GB apart.

This is the case if llvmlite's memory manager puts them in one block of memory. For larger
distances, LLVM selects instructions slowly, even if quick selection is requested.
"""
_LIBRARY_BY_TABLE = """
!llvm.module.flags = !{!0}
!0 = !{i32 7, !"RtLibUseGOT", i32 1}
"""
"""A module whose flag makes calls that LLVM adds, such as `memcpy`, go through the table.

The flag takes effect in the module with which this one is linked.
"""

_HAS_COROUTINES = " presplitcoroutine"
_TO_BFLOAT = """
; Rounds to nearest, ties to even.  The lower half of a NaN may be all that makes it one, so it
; gets the quiet bit.
define hidden bfloat @__truncsfbf2(float %x) {
  %bits = bitcast float %x to i32
  %upper = lshr i32 %bits, 16
  %is_odd = and i32 %upper, 1
  %half = add i32 %is_odd, 32767
  %sum = add i32 %bits, %half
  %rounded = lshr i32 %sum, 16
  %quiet = or i32 %upper, 64
  %is_nan = fcmp uno float %x, 0.0
  %chosen = select i1 %is_nan, i32 %quiet, i32 %rounded
  %word = trunc i32 %chosen to i16
  %result = bitcast i16 %word to bfloat
  ret bfloat %result
}

; Rounds to odd in f32 first: towards 0, with the last bit set where that is inexact.  So the
; second rounding sees on which side of a tie the number is.
define hidden bfloat @__truncdfbf2(double %x) {
  %near = fptrunc double %x to float
  %back = fpext float %near to double
  %is_exact = fcmp ueq double %back, %x
  %bits = bitcast float %near to i32
  %size = call double @llvm.fabs.f64(double %x)
  %near_size = call double @llvm.fabs.f64(double %back)
  %is_larger = fcmp ogt double %near_size, %size
  %excess = zext i1 %is_larger to i32
  %towards_0 = sub i32 %bits, %excess
  %odd = or i32 %towards_0, 1
  %chosen = select i1 %is_exact, i32 %bits, i32 %odd
  %single = bitcast i32 %chosen to float
  %result = call bfloat @__truncsfbf2(float %single)
  ret bfloat %result
}

declare double @llvm.fabs.f64(double)
"""
"""Rounding to bf16, for processors that have no instruction for it.

LLVM calls these functions, which libgcc has only since version 13. Each module that has bf16
numbers is linked with them. The rounding from f64 first rounds to odd, which avoids double rounding
(Boldo & Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved Algorithms Using Rounding
to Odd", IEEE Trans. Computers 57(4), 2008).
"""


# With these features, `vcvtneps2bf16` rounds to bf16, which turns subnormal numbers into 0; see
# Intel's *Architecture Instruction Set Extensions*. Without them, LLVM calls the functions above.
_FLUSHING = {"avx512bf16", "avxneconvert"}


class UnresolvedFunction(TfrtError):
    """The error for machine code that calls a function that is in no table."""


@dataclass(frozen=True)
class MachineCode:
    """Compiled functions, whose memory is freed with this object."""

    engine: llvm.ExecutionEngine
    is_interpreted: bool = False

    def address(self, name: str) -> int:
        """Return the address of a function.

        Raises:
            KeyError: if no public function has the name.
        """
        address = int(self.engine.get_function_address(name))
        if address == 0:
            raise KeyError(name)
        return address


def split_coroutines(text: str, level: int = FULL) -> str:
    """Return the module's LLVM IR after LLVM's optimizations.

    At that point, coroutines are state machines.
    """
    module, _ = _optimised(text, level)
    return str(module)


def assembly(text: str, level: int = FULL) -> str:
    """Return the module's machine code as assembly."""
    module, machine = _optimised(text, level)
    _call_by_table(module)
    return str(machine.emit_assembly(module))


def object_code(text: str, level: int = FULL) -> bytes:
    """Compile the module to an object file."""
    module, machine = _optimised(text, level)
    if "bfloat" in text:
        module.link_in(llvm.parse_assembly(_TO_BFLOAT))
    _call_by_table(module)
    return bytes(machine.emit_object(module))


def load(code: bytes, functions: Mapping[str, int]) -> MachineCode:
    """Link an object file to functions of the runtime and of the C library.

    `functions` contains the addresses of the runtime's functions.

    Raises:
        UnresolvedFunction: if the code calls a function that is in no table. The error names all
            such functions.
    """
    addresses = linked(code, functions)
    declarations = "\n".join(f"declare void {global_symbol(name)}()" for name in addresses)
    # The engine accepts an address only for a function that a module declares.
    module = llvm.parse_assembly(declarations)
    engine = llvm.create_mcjit_compiler(module, _machine(QUICK), use_lmm=_IS_NEAR or None)
    for name, address in addresses.items():
        engine.add_global_mapping(module.get_function(name), address)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    if place := engine.get_global_value_address(INTERRUPT_FLAG.removeprefix("@")):
        # The code has loops, which check a word for interrupts. The code needs the address of this
        # word.
        flag = functions.get(INTERRUPT_FLAG.removeprefix("@"), _NOBODY_INTERRUPTS)
        ctypes.c_int64.from_address(place).value = flag
    return MachineCode(engine)


_never = ctypes.c_int64(0)
_NOBODY_INTERRUPTS = ctypes.addressof(_never)


def _machine(level: int) -> llvm.TargetMachine:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features()
    features.update((name, False) for name in _FLUSHING & features.keys())
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=features.flatten(),
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
        # Each part of a split coroutine is a copy of the whole coroutine. Branches on constants
        # skip the code that does not belong to the part, so remove that code.
        tidy = llvm.create_new_module_pass_manager()
        tidy.add_simplify_cfg_pass()
        tidy.run(module, builder)
    return module, machine


def _call_by_table(module: llvm.ModuleRef) -> None:
    """Make calls to external functions load the addresses from a table near the code.

    The functions can therefore be at any distance from the code.
    """
    if not _IS_NEAR:
        return
    module.link_in(llvm.parse_assembly(_LIBRARY_BY_TABLE))
    for function in module.functions:
        if function.is_declaration:
            function.add_function_attribute("nonlazybind")


def linked(code: bytes, functions: Mapping[str, int]) -> dict[str, int]:
    """Return the address of each function that an object file calls.

    `functions` contains the addresses of the runtime's functions.

    Raises:
        UnresolvedFunction: if the code calls a function that is in no table. The error names all
            such functions.
    """
    found: dict[str, int] = {}
    missing = []
    for name in undefined_symbols(code):
        address = functions.get(name) or address_of(name) or _library_address(name)
        if address is None:
            missing.append(
                error(f"the machine code calls '{name}', which is in no table of functions")
            )
        else:
            found[name] = address
    if missing:
        raise UnresolvedFunction(*missing)
    return found


# `Elf64_Sym` has 24 bytes: `st_name` is at 0, and `st_shndx` is at 6.
_SYMBOL_SIZE, _SECTION_OF_SYMBOL = 24, slice(6, 8)


def undefined_symbols(code: bytes) -> list[str]:
    """Return the undefined symbols of a 64-bit ELF object file."""
    sections = {s.name(): s.data() for s in llvm.ObjectFileRef.from_data(code).sections()}
    if b".symtab" not in sections:
        raise UnresolvedFunction(error("the machine code has no table of symbols"))
    symbols, texts = sections[b".symtab"], sections[b".strtab"]
    names = []
    for start in range(0, len(symbols), _SYMBOL_SIZE):
        symbol = symbols[start : start + _SYMBOL_SIZE]
        text = int.from_bytes(symbol[:4], "little")
        # Symbols in section 0 are undefined.
        if text and not any(symbol[_SECTION_OF_SYMBOL]):
            names.append(texts[text : texts.index(0, text)].decode())
    return names


@functools.cache
def _library_address(name: str) -> int | None:
    if name not in LIBRARY:
        return None
    for library in (None, "libm.so.6", "libgcc_s.so.1"):
        try:
            function = getattr(ctypes.CDLL(library), name)
        except (OSError, AttributeError):
            continue
        return ctypes.cast(function, ctypes.c_void_p).value
    return None
