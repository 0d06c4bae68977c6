"""The compiled functions of a program: what a run knows of them, their stages, their code."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING

from tfrt_nb.compiled.interface import CompiledFunction, Interface
from tfrt_nb.internal_errors import internal_errors_caught
from tfrt_nb.nesting import deep_stack
from tfrt_runtime.diagnostics import TfrtError, error

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from tfrt_nb.jit.compiler import MachineCode
    from tfrt_nb.jit.places import Placed
    from tfrt_nb.jit.stages import Stage

STAGES = {
    "async-runtime": "async-runtime",
    "coroutine": "coroutine",
    "llvm": "coroutine",
    "llvm-split": "llvm-split",
    "asm": "asm",
}
"""What users call the stages (`jit.stages.Stage`), from the program to the processor: `llvm` is the
coroutines' LLVM IR.

What compiles is imported where it is needed: a run may find its machine code in the cache.
"""

OF_CODE = frozenset({"func.func", "async.func", "memref.global", "llvm.func"})
"""The operations that a module of compiled functions has."""
_PARALLEL_FOR = "// parallel-for:"
_ASYNC_LOOP = "async.parallel_for"
"""What a text has, as an operation or as an attribute of `scf.parallel`, whose parallel loops
are split anyway.
"""
_ONLY_ASYNC_LOOPS = "only-async num-workers=-1 min-task-size=1"
_REQUEST = re.compile(rf"\s*{_PARALLEL_FOR}([^\n]*)")
"""What the first line of a text begins with that wants its parallel loops split, and the
options.
"""


class CompiledModule:
    """The functions of a module that become machine code.  They are compiled once.

    `parallel_for` are options of the pass that splits `scf.parallel` into tasks; None leaves such
    loops sequential, and splits those of `async.parallel_for` for the workers of the queue.
    `level` is that of `executable_pipeline`; None runs with shortcuts, and shows the stages without
    them.
    """

    _read: Callable[[], CompiledModule]

    def __init__(
        self,
        module: ModuleOp,
        parallel_for: str | None = None,
        source: tuple[str, str] | None = None,
        level: int | None = None,
    ) -> None:
        """
        Args:
            source: the text that the module is made from, and its name; known by these, its machine
                code is kept for the next time.

        Raises:
            TfrtError: for options that the pass does not have, and at what is no function.
        """
        from xdsl.context import Context

        from tfrt_nb.passes.errors import fail
        from tfrt_nb.passes.lowering.desugar_proposal import DesugarProposal

        for op in module.ops:
            if op.name not in OF_CODE:  # of a file: `division.split` leaves them in the other half
                fail(op, "expected a function")
        DesugarProposal().apply(Context(), module)
        self._set(parallel_for, source, level)
        self.module = module

    @classmethod
    def known(
        cls,
        interface: Interface,
        read: Callable[[], CompiledModule],
        parallel_for: str | None,
        source: tuple[str, str],
    ) -> CompiledModule:
        """The functions of a text that was compiled before; `read` reads it where its operations
        are asked for.
        """
        made = cls.__new__(cls)
        made._set(parallel_for, source, None)
        made.interface = interface
        made._read = read
        return made

    def _set(
        self, parallel_for: str | None, source: tuple[str, str] | None, level: int | None
    ) -> None:
        self.parallel_for = parallel_for
        if parallel_for is None and (source is None or _ASYNC_LOOP in source[0]):
            parallel_for = _ONLY_ASYNC_LOOPS
        self._first = loop_passes(parallel_for)
        self._source = source
        self.level = level

    def _interleaved(self) -> CompiledModule:
        """The same functions, which let others run between any two of their effects: see
        `passes.interleave`.
        """
        from tfrt_nb.passes.interleave import Interleave, is_needed

        if not is_needed(self.module):
            return self
        made = copy(self)
        made._first = (*self._first, Interleave())
        made.level = 0  # each task is a coroutine, which can be left between two of its effects
        return made

    @cached_property
    def module(self) -> ModuleOp:
        """The functions."""
        return self._read().module

    @cached_property
    def interface(self) -> Interface:
        """What a run knows of the functions."""
        from tfrt_nb.compiled.signatures import read_interface

        return read_interface(self.module)

    @cached_property
    def functions(self) -> Mapping[str, CompiledFunction]:
        """The functions that can be called from outside, by name."""
        functions = self.interface.functions
        return {name: one for name, one in functions.items() if one.is_public}

    @internal_errors_caught()
    def emit(self, stage: str) -> str:
        """The functions at one of `STAGES` of their compilation, as text.

        Raises:
            TfrtError: at what cannot be compiled.
        """
        from tfrt_nb.jit.stages import Stage, emit

        with deep_stack():
            text = emit(self.module, Stage(STAGES[stage]), *self._first, level=self.level or 0)
        return text.rstrip("\n") + "\n"

    def lowering_steps(self) -> Iterator[tuple[str, ModuleOp]]:
        """The name of each step of the lowering, and the module after it, which the next step
        changes.
        """
        from tfrt_nb.jit.stages import lowering_steps

        return lowering_steps(self.module, *self._first, level=self.level or 0)

    def placed_code(self) -> Iterator[tuple[Stage, Placed]]:
        """What LLVM makes of the functions, with the place of each line in the program's text."""
        from tfrt_nb.jit.stages import placed_code

        return placed_code(self.module, *self._first, level=self.level or 0)

    @internal_errors_caught()
    def compile(
        self,
        functions: Mapping[str, int],
        adapted: Collection[str] = (),
        *,
        watched: bool = False,
    ) -> MachineCode:
        """Compile; `functions` are the addresses of what the code calls, kernels call those
        `adapted`.

        With `watched` it logs which blocks run in runs that are watched, and is slower.

        Raises:
            TfrtError: at what cannot be compiled, or is declared and nowhere defined.
        """
        from tfrt_nb.jit.programs import compile_program, load_program

        level = 1 if self.level is None else self.level
        source = self._source
        first = self._first
        if watched:
            from tfrt_nb.passes.log_events import LogEvents

            first = (LogEvents(), *first)
        with deep_stack():
            if source is not None and "module" not in self.__dict__:
                code = load_program(source, functions, *first, adapted=adapted, level=level)
                if code is not None:
                    return code
            return compile_program(
                self.module,
                functions,
                *first,
                adapted=adapted,
                source=source,
                level=level,
            )


def loop_passes(options: str | None) -> Sequence[ModulePass]:
    """The passes that split parallel loops; `options` are as for `CompiledModule`.

    Raises:
        TfrtError: for options that the pass does not have.
    """
    if options is None:
        return ()
    from tfrt_nb.passes.pipeline import parse_pipeline

    try:
        return parse_pipeline(f"async-parallel-for{{{options.strip()} clamp-trip-counts}}").passes
    except TfrtError as problem:
        message = problem.diagnostics[0].message
        raise TfrtError(error(f"parallel-for options '{options.strip()}': {message}")) from None


def requested_parallel_for(text: str) -> str | None:
    """The options of `async-parallel-for` that a text asks for in its first line, if it does."""
    match = _REQUEST.match(text)
    return None if match is None else match[1].strip()


def parallel_for_line(options: str | None) -> str:
    """The first line of a text that asks for `async-parallel-for` with these options."""
    return "" if options is None else f"{_PARALLEL_FOR} {options}".rstrip() + "\n"
