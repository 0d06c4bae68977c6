"""Numba as a writer of LLVM IR and nothing more.  Importing this module imports Numba.

By itself Numba links each function with all that it calls, optimises that and makes machine code of
it, once per function: more than half of the time, for code that is linked and optimised again as a
whole.  Here each function's IR is kept as it was written, once.

This goes through Numba's internals (a library class and `get_executable`), which is why its version
is pinned to a minor one; it changes the process that it is installed in, which does nothing else.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

import numba
from llvmlite import ir
from numba import _dynfunc, types  # type: ignore[attr-defined]
from numba.core import cgutils, codegen, cpu

OPTIONS: dict[str, Any] = {
    "nogil": True,
    "boundscheck": False,
    "error_model": "numpy",
    # The rewrites are for arrays; the core's code is the same without them.
    "no_rewrites": True,
    # Python calls the entries through wrappers of ours.
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


# One module of LLVM IR for each function collected.
COLLECTED: list[str] = []


class CollectingLibrary(codegen.JITCodeLibrary):
    """The IR of one function, without what it calls."""

    def add_ir_module(self, ir_module: ir.Module) -> None:
        COLLECTED.append(cgutils.normalize_ir_text(str(ir_module)))  # type: ignore[no-untyped-call]

    def add_linking_library(self, library: codegen.CodeLibrary) -> None:
        """What is called has its own library."""

    def finalize(self) -> None:
        self._finalized = True


def executable(context: cpu.CPUContext, library: codegen.CodeLibrary, made: Any, env: Any) -> Any:
    """A Python function that stands for a compiled one and is never called.

    Numba looks functions up by this object, so each needs one of its own.
    """
    name = made.qualname.rpartition(".")[2]
    return _dynfunc.make_function(made.lookup_module(), name, "", 1, env, (library,))


def install() -> None:
    """Let Numba collect IR in this process from now on."""
    # Most of what Numba makes stays: to search it often takes a tenth of the time.
    gc.set_threshold(20_000)
    codegen.JITCPUCodegen._library_class = CollectingLibrary
    cpu.CPUContext.get_executable = executable  # type: ignore[method-assign]


def collect(function: Callable[..., object], words: int) -> str:
    """Add the IR of a function of so many words, and of all that it calls, to `COLLECTED`; its name."""
    signature = (types.int64,) * words
    compiled = numba.njit(**OPTIONS)(function)
    compiled.compile(signature)
    name: str = compiled.overloads[signature].fndesc.llvm_func_name
    return name
