"""Inspect a program: its source, its functions, its file, and its stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

from tfrt_nb.nesting import (
    deep_stack,
)
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, FunctionKind
from tfrt_runtime.diagnostics import AnyLocation, Location, TfrtError, error, require
from tfrt_runtime.hooks import HOOKS

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tfrt_nb.compiled.module import CompiledModule
    from tfrt_nb.convert.graph import Graph
    from tfrt_nb.source.plain.program import PlainProgram


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """The name, types, and place of a function.

    `is_compiled` is False for host functions.
    """

    name: str
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    location: AnyLocation | None
    is_compiled: bool = False


class Labels(NamedTuple):
    """The labels that the board shows for a traced function's registers and operations.

    The label of an auxiliary register or operation is "".
    """

    names: Sequence[str]
    """For each value, the variable to which it is assigned, or the expression that creates it."""
    texts: Sequence[str]
    """For each operation, the expression that creates it."""


class Inspection:
    """The part of `Program` that answers questions about the program without running it."""

    file: BefFile
    """The records of the host functions."""
    name: str
    """The name that locations use for the program."""
    _compiled: CompiledModule | None
    """The functions that become machine code, or None if the program has none."""
    _libraries: Mapping[str, Self]
    """The programs whose functions the source may call."""
    _plain: PlainProgram | None
    """The result of reading a plain source, or None. Its module is created when needed."""
    _source: str | Callable[[], str]
    _ir: ModuleOp | None
    _names: dict[tuple[int, int], str] | None
    _labels: Callable[[str, int], Labels] | None = None
    """For a traced program, a function that returns the Python names of a function.

    Its arguments are the function's name and argument count.
    """
    _bytes: bytes | memoryview
    """The content of the file from which the program was read, or b"" for a source.

    The file may be mapped into memory.
    """

    def __iter__(self) -> Iterator[str]:
        """Iterate over the function names, which also makes `"main" in program` work."""
        return iter(self._signatures)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *filter(str.isidentifier, self._signatures)]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self._signatures)

    def __repr__(self) -> str:
        name = self._default_function
        if name is None:
            return f"<Program {self._listed()}>"
        one = self._signatures[name]
        shown = f"@{name}({', '.join(one.argument_types)})"
        if one.result_types:
            is_one = len(one.result_types) == 1
            listed = ", ".join(one.result_types)
            shown += f" -> {listed if is_one else f'({listed})'}"
        if more := len(self._signatures) - 1:
            shown += f", {more} more function{'s' if more > 1 else ''}"
        return f"<Program {shown}>"

    def _repr_html_(self) -> str:
        """Return a notebook's display of the program."""
        # Commands do not need this module, and loading its character table takes a millisecond.
        import html

        picture = self.graph()._repr_html_()
        return f"<code>{html.escape(repr(self))}</code>{picture}<pre>{html.escape(self.mlir)}</pre>"

    @cached_property
    def text(self) -> str:
        """The source, or "" for a program that was read from a BEF file."""
        return self._source if isinstance(self._source, str) else self._source()

    @cached_property
    def mlir(self) -> str:
        """The program as MLIR: its own source, or equivalent text."""
        if self.text and not self._libraries:
            return self.text
        from tfrt_nb.convert.bef_to_mlir import bef_to_mlir
        from tfrt_nb.convert.carried import compiled_text
        from tfrt_nb.dialects.printer import print_module

        has_functions = self.file.functions or self._compiled is None
        host = print_module(bef_to_mlir(self.file), func_dialect=True) if has_functions else ""
        return host if self._compiled is None else f"{host}{compiled_text(self._compiled.module)}"

    @cached_property
    def bef(self) -> bytes:
        """The program as a BEF file, which contains compiled functions as text.

        The file is built on first use.
        """
        from tfrt_runtime.bef.writer import write_bef

        is_whole = getattr(getattr(self._bytes, "obj", None), "size", lambda: len(self._bytes))
        if self._bytes and is_whole() >= len(self._bytes):  # if not, the file was truncated
            return bytes(self._bytes)
        if self._compiled is None or self.file.compiled:
            return write_bef(self.file)
        from tfrt_nb.compiled.division import with_compiled

        with deep_stack():
            return with_compiled(self.file, self._compiled.module, self._compiled.parallel_for)

    @property
    def functions(self) -> list[FunctionSignature]:
        """The functions that can be called: first those in the file, then the compiled ones."""
        found = [
            FunctionSignature(
                one.name, one.argument_types, one.result_types, self.file.location(one.location)
            )
            for one in self.file.functions
            if one.name and not self._is_compiled(one)
        ]
        compiled = {} if self._compiled is None else self._compiled.functions
        found += [
            FunctionSignature(
                one.name, one.argument_types, one.result_types, one.location, is_compiled=True
            )
            for one in compiled.values()
        ]
        return found

    def parameters(self, function: str) -> tuple[str, ...]:
        """Return the names of a function's arguments in the source.

        The result is () for a BEF file, because it has no argument names.
        """
        if self._compiled is not None and function in self._compiled.functions:
            names = [*self._compiled.functions[function].parameters]
        else:
            numbers = {one.name: index for index, one in enumerate(self.file.functions)}
            index = numbers[function]
            arguments = range(len(self.file.functions[index].argument_types))
            known = self._named_values() if arguments else {}
            names = [known.get((index, i), "") for i in arguments]
        return tuple(name.removeprefix("%") for name in names) if all(names) else ()

    def graph(self) -> Graph:
        """Return the graph of the values that the functions' operations pass to each other."""
        drawn: Graph = HOOKS.program_graph(self)
        return drawn

    def emit(self, stage: str) -> str:
        """Return the program at a stage.

        The stage is `mlir`, `bef`, `dot`, or a stage of its compiled functions.

        Raises:
            TfrtError: if no function has that stage, or a function cannot be compiled.
        """
        match stage:
            case "mlir":
                return self.mlir.strip("\n") + "\n"
            case "bef":
                from tfrt_runtime.bef.listing import listing

                return listing(self.bef)
            case "dot":
                return self.graph().dot
        from tfrt_nb.compiled.module import STAGES

        require(stage in STAGES, "stage", f"one of mlir, bef, dot, {', '.join(STAGES)}", stage)
        if self._compiled is None:
            names = self._listed()
            text = (
                f"--emit {stage} is a stage of compiled functions (async.func, and func.func with a"
                f" return), and there are none: {names} {'are' if ',' in names else 'is'} a host"
                " program, whose stages are mlir, bef and dot"
            )
            raise TfrtError(error(text))
        return self._compiled.emit(stage)

    def _listed(self) -> str:
        return ", ".join(f"@{name}" for name in self._signatures) or "no functions"

    @cached_property
    def _signatures(self) -> dict[str, FunctionSignature]:
        return {one.name: one for one in self.functions}

    @cached_property
    def _default_function(self) -> str | None:
        """The function to run if none is named: @main, or the only public function, or None.

        A file does not record which functions are public. A function that another function calls
        counts as private.
        """
        names = list(dict.fromkeys(one.name for one in self._own_functions))
        if "main" in names:
            return "main"
        if len(names) > 1 and self._plain is not None:
            names = [body.name for body in self._plain.bodies if body.name and not body.is_private]
        elif len(names) > 1 and self._module is not None:
            symbols = [op.properties for op in self._module.ops]
            private = {
                getattr(one.get("sym_name"), "data", "")
                for one in symbols
                if getattr(one.get("sym_visibility"), "data", "") == "private"
            }
            names = [name for name in names if name not in private]
        elif len(names) > 1:
            functions = self.file.functions
            called = {
                functions[index].name
                for one in functions
                for index in one.callees
                # A call from the body of one of the function's own loops does not make the function
                # private.
                if not f"{one.name}.".startswith(f"{functions[index].name}.")
            }
            names = [name for name in names if name not in called]
        return names[0] if len(names) == 1 else None

    @property
    def _own_functions(self) -> list[FunctionSignature]:
        """The functions in the program's own source.

        Library functions, and the bodies of traced functions' loops and branches, are left out.
        """
        others = self._library_sources
        lines = self.text.splitlines()

        names = {one.name for one in self.functions}
        # Tracing names the body of a loop or branch after its function: `function.suffix`.
        bodies = {name for name in names if name.rpartition(".")[0] in names}
        if bodies:
            functions = self.file.functions
            bodies &= {functions[index].name for one in functions for index in one.callees}

        def is_own(one: FunctionSignature) -> bool:
            place = one.location
            if one.name in bodies:
                return False
            if not isinstance(place, Location) or place.source not in others:
                return True
            # A library may have the same name as this program, because all programs without a name
            # share the default name.
            here = lines[place.line - 1 : place.line] if place.source == self.name else []
            return any(one.name in line for line in here)

        return [one for one in self.functions if is_own(one)]

    @property
    def _library_sources(self) -> set[str]:
        libraries = self._libraries.values()
        return {one.name for one in libraries}.union(*(one._library_sources for one in libraries))

    @property
    def _module(self) -> ModuleOp | None:
        """The host functions as an IR module, or None if the program is from a BEF file."""
        if self._ir is None and self.text:
            from tfrt_nb.compiled.division import divide
            from tfrt_nb.source import parse_module

            with deep_stack():
                self._ir, _ = divide(parse_module(self.text, self.name))
        return self._ir

    def _parsed(self) -> ModuleOp:
        """Return all functions in a new module, which the caller may take apart."""
        from tfrt_nb.source import parse_module

        if self.text:
            others = {key: library._parsed for key, library in self._libraries.items()}
            return parse_module(self.text, self.name, others)
        return parse_module(self.mlir, self.name)

    def _named_values(self) -> Mapping[tuple[int, int], str]:
        """Return the names of registers in the source, by function index and register.

        A BEF file has no names.
        """
        if self._names is None and self._plain is not None:
            self._names = {
                (index, register): name
                for index, body in enumerate(self._plain.bodies)
                for register, (name, _, _) in enumerate(self._plain.names(body))
                if name
            }
        elif self._names is None and self._labels is not None:
            self._names = {
                (index, register): name
                for index, one in enumerate(self.file.functions)
                for register, name in enumerate(
                    self._labels(one.name, len(one.argument_types)).names
                )
                if name.isidentifier()
            }
        elif self._names is None:
            self._names = {}
            if self._module is not None:
                from tfrt_nb.convert.collect import Collector
                from tfrt_nb.source.spans import value_name

                functions = Collector(self._module, optional_sections=False).functions
                for index, function in enumerate(functions):
                    results = [result for call in function.calls for result in call.op.results]
                    arguments = () if function.block is None else function.block.args
                    for register, value in enumerate((*arguments, *results)):
                        if name := value_name(value):
                            self._names[index, register] = name
        return self._names

    def _is_compiled(self, function: BefFunction) -> bool:
        """Return whether a function is compiled, so that the file only declares it."""
        if function.kind is not FunctionKind.NATIVE or self._compiled is None:
            return False
        return function.name in self._compiled.interface.functions
