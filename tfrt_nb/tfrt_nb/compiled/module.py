"""The compiled functions of a program: its functions, its stages, its code."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from tfrt_nb.compiled.declarations import Function
from tfrt_nb.compiled.kinds import OF_CODE
from tfrt_nb.dialects.crossing import uncrossable
from tfrt_nb.internal_errors import internal_errors_caught, location_of
from tfrt_nb.jit.compiler import MachineCode
from tfrt_nb.jit.programs import compile_program
from tfrt_nb.nesting import deep_stack
from tfrt_nb.passes.errors import fail
from tfrt_nb.passes.lowering.desugar_proposal import DesugarProposal
from tfrt_runtime.diagnostics import Location, TfrtError, error

if TYPE_CHECKING:
    from tfrt_nb.jit.places import Placed
    from tfrt_nb.jit.stages import Stage

STAGES = {
    "async-runtime": "async-runtime",
    "coroutine": "coroutine",
    "llvm": "coroutine",
    "llvm-split": "llvm-split",
    "asm": "asm",
}
"""What users call the stages (`jit.stages.Stage`), from the program to the processor: `llvm` is the coroutines'
LLVM IR.

What compiles is imported where it is needed: a run may find its machine code in the cache.
"""


@dataclass(frozen=True, slots=True)
class CompiledFunction:
    """A function that can be called from outside: it is public and has a body."""

    name: str
    arguments: tuple[Attribute, ...]
    results: tuple[Attribute, ...]
    location: Location | None

    @property
    def argument_types(self) -> tuple[str, ...]:
        """The types of the arguments as text."""
        with deep_stack():
            return tuple(map(str, self.arguments))

    @property
    def result_types(self) -> tuple[str, ...]:
        """The types of the results as text."""
        with deep_stack():
            return tuple(map(str, self.results))

    @property
    def uncrossable(self) -> str | None:
        """Which argument or result Python and host programs cannot have, if there is one."""
        with deep_stack():
            return uncrossable(self.arguments, self.results)


class CompiledModule:
    """The functions of a module that become machine code.  They are compiled once.

    `parallel_for` are options of the pass that splits `scf.parallel` into tasks; None leaves such loops
    sequential.  `level` is that of `executable_pipeline`; None runs with shortcuts, and shows the stages
    without them.
    """

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
        for op in module.ops:
            if op.name not in OF_CODE:  # of a file: `split` leaves them in the other half
                fail(op, "expected a function")
        DesugarProposal().apply(Context(), module)
        self.module = module
        self.parallel_for = parallel_for
        self._first = loop_passes(parallel_for)
        self._source = source
        self.level = level
        self.definitions = {
            op.sym_name.data: op for op in module.ops if isinstance(op, Function) and op.body.blocks
        }
        """All functions that have a body, private ones, too."""
        self.functions = {
            name: _signature(op)
            for name, op in self.definitions.items()
            if op.sym_visibility is None or op.sym_visibility.data == "public"
        }

    @property
    def _shown_level(self) -> int:
        return self.level or 0

    @internal_errors_caught()
    def emit(self, stage: str) -> str:
        """The functions at one of `STAGES` of their compilation, as text.

        Raises:
            TfrtError: at what cannot be compiled.
        """
        from tfrt_nb.jit.stages import Stage, emit

        with deep_stack():
            text = emit(self.module, Stage(STAGES[stage]), *self._first, level=self._shown_level)
        return text.rstrip("\n") + "\n"

    def lowering_steps(self) -> Iterator[tuple[str, ModuleOp]]:
        """The name of each step of the lowering, and the module after it, which the next step changes."""
        from tfrt_nb.jit.stages import lowering_steps

        return lowering_steps(self.module, *self._first, level=self._shown_level)

    def placed_code(self) -> Iterator[tuple[Stage, Placed]]:
        """What LLVM makes of the functions, with the place of each line in the program's text."""
        from tfrt_nb.jit.stages import placed_code

        return placed_code(self.module, *self._first, level=self._shown_level)

    @internal_errors_caught()
    def compile(self, functions: Mapping[str, int], adapted: Collection[str] = ()) -> MachineCode:
        """Compile; `functions` are the addresses of what the code calls, kernels call those `adapted`.

        Raises:
            TfrtError: at what cannot be compiled, or is declared and nowhere defined.
        """
        with deep_stack():
            return compile_program(
                self.module,
                functions,
                *self._first,
                adapted=adapted,
                source=self._source,
                level=1 if self.level is None else self.level,
            )

    @cached_property
    def counts_references(self) -> bool:
        """Whether the text itself counts references or resolves objects, and may do so wrongly."""
        with deep_stack():
            return any(op.name in _BY_HAND for op in self.module.walk())


_BY_HAND = frozenset(
    {"async.add_ref", "async.drop_ref"}
    | {f"async.runtime.{name}" for name in ("create", "add_ref", "drop_ref")}
    | {"async.runtime.set_available", "async.runtime.set_error"}
)


def loop_passes(options: str | None) -> Sequence[ModulePass]:
    """The passes that split parallel loops; `options` are as for `CompiledModule`.

    Raises:
        TfrtError: for options that the pass does not have.
    """
    if options is None:
        return ()
    from tfrt_nb.passes.notation import parse_pipeline

    try:
        return parse_pipeline(f"async-parallel-for{{{options.strip()} clamp-trip-counts}}").passes
    except TfrtError as problem:
        message = problem.diagnostics[0].message
        raise TfrtError(error(f"parallel-for options '{options.strip()}': {message}")) from None


def _signature(op: Function) -> CompiledFunction:
    type_ = op.function_type
    return CompiledFunction(
        op.sym_name.data, type_.inputs.data, type_.outputs.data, location_of(op)
    )
