"""The compiled functions of a program: their interface, their stages, and their code."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from tfrt_nb.compiled.interface import CompiledFunction, Interface
from tfrt_nb.internal_errors import internal_errors_caught
from tfrt_nb.nesting import deep_stack
from tfrt_runtime.diagnostics import TfrtError, error

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.passes import ModulePass

    from tfrt_nb.jit.places import Placed
    from tfrt_nb.jit.stages import Stage

STAGES = {
    "async-runtime": "async-runtime",
    "coroutine": "coroutine",
    "llvm": "coroutine",
    "llvm-split": "llvm-split",
    "asm": "asm",
}
"""Maps the stage names that users see to `jit.stages.Stage`, in order of compilation.

`llvm` is the LLVM IR with coroutines. The keys are strings, because a run that finds its machine
code in the cache does not import the compiler.
"""

OF_CODE = frozenset({"func.func", "async.func", "memref.global", "llvm.func"})
"""The operations that a module of compiled functions may have at its top level."""
_PARALLEL_FOR = "// parallel-for:"
_ASYNC_LOOP = "async.parallel_for"
"""An operation whose parallel loops are always split.

It may also be an attribute of `scf.parallel`.
"""
_ONLY_ASYNC_LOOPS = "only-async num-workers=-1 min-task-size=1"
_REQUEST = re.compile(rf"\s*{_PARALLEL_FOR}([^\n]*)")
"""Matches a first line that requests the splitting of parallel loops, with its options."""


class ProgramCode(Protocol):
    """Code that can run. It stays loaded as long as this object exists."""

    @property
    def is_interpreted(self) -> bool:
        """Whether an interpreter runs the code, which is then not machine code."""

    def address(self, name: str) -> int:
        """Return the address of a function that kernels call."""


class CompiledModule:
    """A module's functions that become machine code. They are compiled only once.

    `parallel_for` contains the options of the pass that splits `scf.parallel` into tasks. With
    None, `scf.parallel` stays sequential, and the loops of `async.parallel_for` are split for the
    queue's workers. `level` is the level of `executable_pipeline`. With None, runs use shortcuts,
    and the stages are shown without shortcuts.
    """

    _read: Callable[[], CompiledModule]

    def __init__(
        self,
        module: ModuleOp,
        parallel_for: str | None = None,
        source: tuple[str, str] | None = None,
        level: int | None = None,
    ) -> None:
        """Hold the functions of `module`.

        Args:
            source: the string from which the module was parsed, and its name. Together, they are
                the key under which later runs find the machine code in the cache.

        Raises:
            TfrtError: if `parallel_for` has an option that the pass does not know, or if the
                module's top level has an operation that is not in `OF_CODE`. In the second case,
                the error is located at the operation.
        """
        from xdsl.context import Context

        from tfrt_nb.passes.control_flow import fail
        from tfrt_nb.passes.lowering.desugar_proposal import DesugarProposal

        for op in module.ops:
            if op.name not in OF_CODE:  # in a file, `division.split` leaves them in the other half
                fail(op, "expected a function")
        # The interface describes the functions after this pass, because it may change their types.
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
        """Return the functions of a source that was compiled before.

        `read` parses the source when its operations are needed.
        """
        # The constructor would need the parsed module.
        made = cls.__new__(cls)
        made._set(parallel_for, source, None)
        made.interface = interface
        made._read = read
        return made

    def _set(
        self, parallel_for: str | None, source: tuple[str, str] | None, level: int | None
    ) -> None:
        self.parallel_for = parallel_for
        # If there is no source to search, only the pass can find out whether the module has such
        # loops.
        if parallel_for is None and (source is None or _ASYNC_LOOP in source[0]):
            parallel_for = _ONLY_ASYNC_LOOPS
        self._first = loop_passes(parallel_for)
        self._source = source
        self.level = level

    def _interleaved(self) -> CompiledModule:
        """Return these functions in a form that can yield between any two effects.

        See `passes.log_events.Interleave`.
        """
        from tfrt_nb.passes.log_events import Interleave, is_needed

        if not is_needed(self.module):
            return self
        made = copy(self)
        made._first = (*self._first, Interleave())
        made.level = 0  # each task is a coroutine, which can yield between two of its effects
        return made

    @cached_property
    def module(self) -> ModuleOp:
        """The module of the functions."""
        return self._read().module

    @cached_property
    def interface(self) -> Interface:
        """The facts that a run needs about the functions."""
        from tfrt_nb.compiled.signatures import read_interface

        return read_interface(self.module)

    @cached_property
    def functions(self) -> Mapping[str, CompiledFunction]:
        """The functions that code outside the module can call, by name."""
        return {name: one for name, one in self.interface.functions.items() if one.is_public}

    @internal_errors_caught()
    def emit(self, stage: str) -> str:
        """Return the text of the functions at one of the `STAGES`.

        Raises:
            TfrtError: if an operation cannot be compiled.
        """
        from tfrt_nb.jit.stages import Stage, emit

        with deep_stack():
            text = emit(self.module, Stage(STAGES[stage]), *self._first, level=self.level or 0)
        return text.rstrip("\n") + "\n"

    def lowering_steps(self) -> Iterator[tuple[str, ModuleOp]]:
        """Yield the name of each lowering step, and the module after it.

        The next step modifies the same module in place.
        """
        from tfrt_nb.jit.lowering import lowering_steps

        return lowering_steps(self.module, *self._first, level=self.level or 0)

    def placed_code(self) -> Iterator[tuple[Stage, Placed]]:
        """Yield LLVM's output for the functions at each stage, each line with its source place."""
        from tfrt_nb.jit.stages import placed_code

        return placed_code(self.module, *self._first, level=self.level or 0)

    @internal_errors_caught()
    def compile(
        self,
        functions: Mapping[str, int],
        adapted: Collection[str] = (),
        *,
        watched: bool = False,
        interpreted: bool = False,
    ) -> ProgramCode:
        """Compile the functions, with entry points through which kernels call those in `adapted`.

        `functions` contains the addresses of the functions that the code calls. With `watched`, the
        code logs which blocks run while a board shows the run, and is slower. With `interpreted`,
        or if LLVM is missing, an interpreter runs the functions.

        Raises:
            TfrtError: if an operation cannot be compiled, or a declaration has no definition.
        """
        level = 1 if self.level is None else self.level
        source = self._source
        first = self._first
        if watched:
            from tfrt_nb.passes.log_events import LogEvents

            first = (LogEvents(), *first)
        if interpreted or not has_llvm():
            from tfrt_nb.interpreter.functions import interpret_program

            with deep_stack():
                return interpret_program(
                    self.module, functions, *first, adapted=adapted, level=level
                )
        from tfrt_nb.jit.programs import compile_program, load_program

        with deep_stack():
            # The source has not been parsed, so its code is probably in the cache.
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


@functools.cache
def has_llvm() -> bool:
    """Return whether functions can become machine code here. If not, they are interpreted."""
    try:
        import tfrt_nb.jit.programs  # noqa: F401
    except (ImportError, OSError):
        return False
    return True


def loop_passes(options: str | None) -> Sequence[ModulePass]:
    """Return the passes that split parallel loops; for `options`, see `CompiledModule`.

    Raises:
        TfrtError: if `async-parallel-for` does not have one of the options.
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
    """Return the options of `async-parallel-for` in the first line of a source, or None."""
    match = _REQUEST.match(text)
    return None if match is None else match[1].strip()


def parallel_for_line(options: str | None) -> str:
    """Return the line to put first in a source to request `async-parallel-for` with `options`."""
    return "" if options is None else f"{_PARALLEL_FOR} {options}".rstrip() + "\n"
