"""A program, from its text or its file to something that runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from tfrt_nb.convert.named_value import NamedValue
from tfrt_runtime.bef.collector import collector_paused
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import AnyLocation
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.host.context import HostContext, Sink
from tfrt_runtime.host.trace import Level
from tfrt_runtime.kernels.registry import Kernel
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.user import USER_KERNELS

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """A named function, as the program has it."""

    name: str
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    location: AnyLocation


class Program:
    """A program that can be run any number of times.

    `text` is its source, "" for a program that came as a file.
    """

    def __init__(self, file: BefFile, text: str = "", module: ModuleOp | None = None) -> None:
        self.file = file
        self.name = file.name
        self.text = text
        self.module = module
        self._executables: dict[int, Executable] = {}  # of the latest version of the user's kernels
        self._names: dict[tuple[int, int], NamedValue] | None = None

    @staticmethod
    def from_source(text: str, name: str) -> Program:
        """The program that `text` is; `name` stands for it in locations.

        Raises:
            TfrtError: with what is wrong with it, and where.
        """
        with collector_paused():
            # The compiler is imported here: a program that comes as a file does not need it.
            from tfrt_nb.convert.mlir_to_bef import to_records
            from tfrt_nb.source import parse_module

            module = parse_module(text, name)
            return Program(BefFile.of(to_records(module), name), text, module)

    @staticmethod
    def from_bef(data: bytes, name: str) -> Program:
        """The program in a BEF file.

        Raises:
            MalformedBef: if it is none.
        """
        program = Program(BefFile.load(data, name))
        program.bef = data
        return program

    @cached_property
    def bef(self) -> bytes:
        """The bytes of its file."""
        from tfrt_runtime.bef.writer import write_bef

        return write_bef(self.file)

    @property
    def functions(self) -> list[FunctionSignature]:
        """The functions that have a name, in file order."""
        return [
            FunctionSignature(
                function.name,
                function.argument_types,
                function.result_types,
                self.file.location(function.location),
            )
            for function in self.file.functions
            if function.name
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
            registry = available_kernels() if kernels is None else kernels
            return Executable(self.file, registry, trace=trace, tracing=tracing)
        version = USER_KERNELS.version
        if version not in self._executables:
            self._executables = {version: Executable(self.file, available_kernels())}
        return self._executables[version]

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
    ) -> Execution:
        """Start a function; see `Execution`.

        Raises:
            TfrtError: if the program cannot be loaded, or has no such function.
        """
        executable = self.load(kernels, trace=trace)
        return Execution(host, executable, function, arguments, output=output, wake=wake)

    def named_values(self) -> Mapping[tuple[int, int], NamedValue]:
        """What the text calls registers, by function of the file and register."""
        if self._names is None:
            self._names = {}
            if self.module is not None:
                from tfrt_nb.convert.names import named_values

                self._names = named_values(self.module)
        return self._names
