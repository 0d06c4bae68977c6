"""A program, from its text or its file to something that runs.

A text may have functions of two kinds, which `compiled.kinds` tells apart: those of host programs become
BEF, which the executor runs; the others become machine code when they are first run on a host.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tfrt_nb.convert.named_value import NamedValue
from tfrt_runtime.bef.collector import collector_paused
from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.diagnostics import AnyLocation
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.context import HostContext, Sink
from tfrt_runtime.host.trace import Level
from tfrt_runtime.kernels.registry import Kernel, KernelsOver
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.user import USER_KERNELS

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tfrt_nb.compiled.execution import CompiledExecution
    from tfrt_nb.compiled.half import CompiledHalf
    from tfrt_nb.compiled.host import LoadedHalf


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """A named function, as the program has it; those of host programs are not compiled."""

    name: str
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    location: AnyLocation | None
    is_compiled: bool = False


class Program:
    """A program that can be run any number of times.

    `file` has its host functions, `compiled` its other ones, None if there are none.  `text` is its
    source, "" for a program that came as a file.
    """

    def __init__(
        self,
        file: BefFile,
        text: str = "",
        module: ModuleOp | None = None,
        compiled: CompiledHalf | None = None,
    ) -> None:
        self.file = file
        self.name = file.name
        self.text = text
        self._module = module
        self.compiled = compiled
        self._executables: dict[int, Executable] = {}  # of the latest version of the user's kernels
        self._names: dict[tuple[int, int], NamedValue] | None = None

    @staticmethod
    def from_source(text: str, name: str, *, parallel_for: str | None = None) -> Program:
        """The program that `text` is; `name` stands for it in locations.

        Args:
            parallel_for: options of the pass `async-parallel-for`, which splits the parallel loops of
                compiled functions into tasks, for instance "num-workers=4 min-task-size=100" or "".
                A text that begins with `// parallel-for: OPTIONS` asks for it by itself.

        Raises:
            TfrtError: with what is wrong with it, and where.
        """
        # The compiler is imported here: a program that comes as a file does not need it.
        from tfrt_nb.compiled.file import divide, requested_parallel_for
        from tfrt_nb.convert.mlir_to_bef import to_records
        from tfrt_nb.convert.plain_text import plain_records
        from tfrt_nb.source import parse_module

        with collector_paused():
            records = plain_records(text, name)
            if records is not None:
                return Program(BefFile.of(records, name), text)
            host, code = divide(parse_module(text, name))
            compiled = None
            if code is not None:
                from tfrt_nb.compiled.half import CompiledHalf

                options = requested_parallel_for(text) if parallel_for is None else parallel_for
                compiled = CompiledHalf(code, options, (text, name))
            return Program(BefFile.of(to_records(host), name), text, host, compiled)

    @staticmethod
    def from_bef(data: bytes, name: str) -> Program:
        """The program in a BEF file.

        Raises:
            TfrtError: if it is none, or has compiled functions that are none.
        """
        program = Program(BefFile.load(data, name))
        program.bef = data
        if text := program.file.compiled:
            from tfrt_nb.compiled.file import requested_parallel_for
            from tfrt_nb.compiled.half import CompiledHalf
            from tfrt_nb.convert.compiled_functions import read_compiled

            module = read_compiled(text, name)
            program.compiled = CompiledHalf(module, requested_parallel_for(text), (text, name))
        return program

    @property
    def module(self) -> ModuleOp | None:
        """The host functions as a module of the IR; None for a program that came as a file."""
        if self._module is None and self.text:
            from tfrt_nb.source import parse_module

            self._module = parse_module(self.text, self.name)
        return self._module

    @cached_property
    def bef(self) -> bytes:
        """The bytes of the program's file; made when first asked for, with the text of compiled code."""
        from tfrt_runtime.bef.writer import write_bef

        if self.compiled is None or self.file.compiled:
            return write_bef(self.file)
        from tfrt_nb.compiled.file import with_compiled

        return with_compiled(self.file, self.compiled.module, self.compiled.parallel_for)

    @property
    def functions(self) -> list[FunctionSignature]:
        """The functions that have a name and can be called: those of the file, then compiled ones."""
        host = [
            FunctionSignature(
                function.name,
                function.argument_types,
                function.result_types,
                self.file.location(function.location),
            )
            for function in self.file.functions
            if function.name and not self._is_compiled(function)
        ]
        compiled = [] if self.compiled is None else self.compiled.functions.values()
        return host + [
            FunctionSignature(
                function.name,
                function.argument_types,
                function.result_types,
                function.location,
                is_compiled=True,
            )
            for function in compiled
        ]

    def load(
        self,
        kernels: Mapping[str, Kernel] | None = None,
        *,
        trace: bool = False,
        tracing: Level = Level.NONE,
    ) -> Executable:
        """The program against a registry (by default the kernels that there are), ready to run.

        With `trace` it is for one run: what is traced is kept in the executable.  With `tracing` its
        runs tell the tracing of their host what they do.

        Raises:
            TfrtError: if it uses kernels that there are not, or not as they are.
        """
        if kernels is not None or trace or tracing:
            registry = self._with_compiled(available_kernels() if kernels is None else kernels)
            return Executable(self.file, registry, trace=trace, tracing=tracing)
        version = USER_KERNELS.version
        if version not in self._executables:
            registry = self._with_compiled(available_kernels())
            self._executables = {version: Executable(self.file, registry)}
        return self._executables[version]

    def _with_compiled(self, kernels: Mapping[str, Kernel]) -> Mapping[str, Kernel]:
        """The kernels, and the compiled functions that host functions call."""
        compiled = self.compiled_kernels
        return KernelsOver(compiled, kernels) if compiled else kernels

    @functools.cached_property
    def compiled_kernels(self) -> Mapping[str, Kernel]:
        """Kernels for the compiled functions that host functions call; compiled when first asked for.

        Raises:
            TfrtError: at what cannot be compiled.
        """
        if self.compiled is None:
            return {}
        from tfrt_nb.compiled.kernels import compile_kernels

        called = [f.name for f in self.file.functions if self._is_compiled(f)]
        return compile_kernels(self.compiled, called) if called else {}

    def _is_compiled(self, function: BefFunction) -> bool:
        """Whether a function of the file is a compiled one, which the file only declares."""
        if function.kind is not FunctionKind.NATIVE or self.compiled is None:
            return False
        return function.name in self.compiled.defined

    def run(
        self,
        host: HostContext,
        function: str = "main",
        arguments: Sequence[object] = (),
        *,
        kernels: Mapping[str, Kernel] | None = None,
        trace: bool = False,
        output: Sink | None = None,
        wake: bool = True,
    ) -> Execution | CompiledExecution:
        """Start a function; see `Execution`, and for compiled functions `CompiledExecution`.

        Both have `results`, which are AsyncValues, and `wait`, `cancel`, `diagnostics` and `output`.

        Raises:
            TfrtError: if the program cannot be loaded, or has no such function.
        """
        if self.compiled is not None and function in self.compiled.functions:
            from tfrt_nb.compiled.execution import CompiledExecution

            chosen = self.compiled.functions[function]
            loaded = self.load_compiled(host)
            return CompiledExecution(loaded, chosen, arguments, output=output, wake=wake)
        executable = self.load(kernels, trace=trace)
        return Execution(host, executable, function, arguments, output=output, wake=wake)

    def load_compiled(self, host: HostContext) -> LoadedHalf:
        """The code of the compiled functions on a host, made when it is first asked for.

        Raises:
            TfrtError: at what cannot be compiled.
        """
        from tfrt_nb.compiled.host import CompiledHome

        assert self.compiled is not None
        return host.shared_context(CompiledHome).load(self.compiled)

    def named_values(self) -> Mapping[tuple[int, int], NamedValue]:
        """What the text calls registers, by function of the file and register."""
        if self._names is None:
            self._names = {}
            if self.module is not None:
                from tfrt_nb.convert.names import named_values

                self._names = named_values(self.module)
        return self._names
