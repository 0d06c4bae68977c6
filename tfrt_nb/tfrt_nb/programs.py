"""A program, from its text or its file to something that runs.

A text may have functions of two kinds, which `compiled.division` tells apart: those of host programs become
BEF, which the executor runs; the others become machine code when they are first run, and are kernels to it.
"""

from __future__ import annotations

import functools
import os
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tfrt_nb.internal_errors import internal_errors_caught
from tfrt_nb.nesting import (
    MAX_LINES,
    MAX_TEXT,
    deep_stack,
    too_large,
)
from tfrt_runtime.bef.collector import collector_paused
from tfrt_runtime.bef.encoding import MAGIC, FunctionKind
from tfrt_runtime.bef.reader import BefFile, mapped
from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.callers import deadline_in, place_of_caller, require, require_column
from tfrt_runtime.diagnostics import AnyLocation, Location, TfrtError, error, meant, note
from tfrt_runtime.executor.batch import Batch
from tfrt_runtime.executor.calls import Entry
from tfrt_runtime.executor.execution import Execution
from tfrt_runtime.executor.machine import AUTO, Code, Tier
from tfrt_runtime.executor.program import Executable
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.context import HostContext, Sink
from tfrt_runtime.host.default_host import default_host
from tfrt_runtime.kernels.registry import Kernel, KernelsOver
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.user import USER_FUNCTIONS, USER_KERNELS, annotated_results

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tfrt_nb.compiled.module import CompiledModule
    from tfrt_nb.convert.graph import Graph
    from tfrt_nb.source.plain.program import PlainProgram
    from tfrt_runtime.executor.sync.sync_lowering import SyncFunction
    from tfrt_runtime.host.tracing.events import Watch


HOOKS.own_packages.update(
    ("tfrt_nb", "numpy")
)  # numpy calls methods of the values that it is given
HOOKS.kernel_names, HOOKS.result_types = USER_FUNCTIONS.keys, annotated_results


class _HotFunctions:
    """The compiler of hot functions, imported for the first of them."""

    is_imported = False

    def compile(self, functions: Mapping[int, SyncFunction], index: int) -> Code:
        from tfrt_nb.jit.hot_functions import compile_hot

        self.is_imported = True
        return compile_hot(functions, index)


HOOKS.compiler = _HotFunctions()

_FORMER_MEMBERS = frozenset(
    (
        "compiled",
        "default_function",
        "load_compiled",
        "module",
        "named_values",
        "own_functions",
        "parsed",
        "run_function",
    )
)
"""Members that were public in 0.1: they still work unless a function has their name."""


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """A named function, as the program has it; those of host programs are not compiled."""

    name: str
    argument_types: tuple[str, ...]
    result_types: tuple[str, ...]
    location: AnyLocation | None
    is_compiled: bool = False


class NoFunctionError(TfrtError, KeyError):
    """A program has no function of the name that it was indexed with."""


class Program:
    """A program that can be run any number of times: each of its functions is a method that starts it.

    `program["map"]` is any function by its name, also one that has the name of a member of this
    class, that is no Python name, or that begins with an underscore.  All members without an
    underscore are public; the guide lists them.
    """

    file: BefFile
    """The records of the host functions."""
    name: str
    """What stands for the program in locations."""
    _compiled: CompiledModule | None
    """The functions that become machine code; None if there are none."""
    _captured: Sequence[object]
    """The objects that a traced function captured: see `tfrt_nb.tracing`."""
    _libraries: Mapping[str, Program]
    """The programs whose functions the text may call."""
    _plain: PlainProgram | None
    """The reading of a text that is plain; it has no module until that is asked for."""
    _source: str | Callable[[], str]
    _ir: ModuleOp | None
    _executables: dict[int, Executable]
    """Of the latest version of the user's kernels, which is the key."""
    _kernels_of_code: dict[bool, Mapping[str, Kernel]]
    """The compiled functions, by whether they log what runs."""
    _executables_of_code: dict[bool, Executable]
    """The same as programs."""
    _bound: dict[str | None, tuple[int, Executable, Entry]]
    """What runs where a function is named, or none, with the version of the user's kernels."""
    _names: dict[tuple[int, int], str] | None
    _bytes: bytes | memoryview
    """The file that the program came as, perhaps mapped into memory; b"" for a text."""

    def __init__(
        self,
        text: str,
        name: str = "<program>",
        *,
        parallel_for: str | None = None,
        level: int | None = None,
    ) -> None:
        """The program that `text` is; see `from_source`."""
        made = Program.from_source(text, name, parallel_for=parallel_for, level=level)
        self.__dict__.update(made.__dict__)

    @classmethod
    def _of_file(
        cls,
        file: BefFile,
        text: str | Callable[[], str] = "",
        module: ModuleOp | None = None,
        compiled: CompiledModule | None = None,
    ) -> Program:
        """A program from what is in it; a function for its text is called when that is asked for."""
        program = cls.__new__(cls)
        program.file = file
        program.name = file.name
        program._source = text
        program._ir = module
        program._compiled = compiled
        program._executables = {}
        program._kernels_of_code, program._executables_of_code = {}, {}
        program._bound = {}
        program._names = None
        program._plain = None
        program._bytes = b""
        program._captured = ()
        program._libraries = {}
        return program

    @staticmethod
    @internal_errors_caught()
    def from_source(
        text: str,
        name: str = "<program>",
        *,
        parallel_for: str | None = None,
        libraries: Mapping[str, Program] | None = None,
        level: int | None = None,
    ) -> Program:
        """The program that `text` is; `name` stands for it in locations.

        Args:
            libraries: programs by name; what the text calls and does not define is theirs.
            parallel_for: options of the pass `async-parallel-for`, which splits the parallel loops of
                compiled functions into tasks, for instance `num-workers=4 min-task-size=100`, or an
                empty text.  A program that begins with `// parallel-for: OPTIONS` asks for it by itself.
                None splits only loops of `async.parallel_for`, for the workers of the queue.
            level: 0 compiles functions by the lowering that the async dialect describes, 1 with shortcuts
                that change no result; None runs with shortcuts, and `emit` shows the lowering.

        Raises:
            TfrtError: with what is wrong with it, and where.
        """
        is_name = (
            isinstance(text, str) and text.endswith((".mlir", ".bef")) and text.split() == [text]
        )
        if is_name or not isinstance(text, str):
            raise TfrtError(
                error(f"a program is a text, found {_no_text(text)}", place_of_caller())
            )
        require(isinstance(name, str), "the name of a program", "a text", name)
        are_options = parallel_for is None or isinstance(parallel_for, str)
        require(are_options, "parallel_for", "a text of options or None", parallel_for)
        require(level in (None, 0, 1), "level", "0, 1 or None", level)
        are_programs = isinstance(libraries or {}, Mapping) and all(
            isinstance(one, Program) for one in (libraries or {}).values()
        )
        require(are_programs, "libraries", "a dictionary of programs by name", libraries)
        if len(text) > MAX_TEXT:
            raise too_large(name, len(text))
        if (lines := text.count("\n")) > MAX_LINES:
            raise too_large(name, len(text), lines)
        # The compiler is imported here: a program that comes as a file does not need it.
        from tfrt_nb.compiled.division import divide
        from tfrt_nb.compiled.module import CompiledModule, loop_passes, requested_parallel_for
        from tfrt_nb.convert.mlir_to_bef import to_records
        from tfrt_nb.convert.plain_text import plain_records
        from tfrt_nb.source import parse_module
        from tfrt_nb.source.plain.reader import read_plain
        from tfrt_nb.source.spans import SourceText

        options = requested_parallel_for(text) if parallel_for is None else parallel_for
        if options is not None:
            loop_passes(options)  # wrong ones are refused also where no function is compiled
        with collector_paused(), deep_stack():
            plain = None if libraries else read_plain(SourceText(text, name))
            records = None if plain is None else plain_records(plain)
            if records is not None:
                program = Program._of_file(BefFile.of(records, name), text)
                program._plain = plain
                return program
            others = {key: library._parsed for key, library in (libraries or {}).items()}
            host, code = divide(parse_module(text, name, others))
            compiled = None
            if code is not None:
                source = (text, name) if not libraries else None
                compiled = CompiledModule(code, options, source, level)
            program = Program._of_file(BefFile.of(to_records(host), name), text, host, compiled)
            program._libraries = libraries or {}
            return program

    @staticmethod
    def from_bef(data: bytes | memoryview, name: str = "<program>") -> Program:
        """The program in a BEF file.

        Raises:
            TfrtError: if it is none, or has compiled functions that are none.
        """
        return program_of_bef(data, name, code_of_text)

    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> Program:
        """The program in a file, of text or BEF.

        A file is mapped into memory.  Replace a BEF file rather than writing into it while a program of it
        is in use: `bef` reads it again.

        Raises:
            OSError: if it cannot be read.
            TfrtError: if it is neither, or the text is wrong.
        """
        data = mapped(path) if Path(path).is_file() else Path(path).read_bytes()
        if data[: len(MAGIC)] == MAGIC or os.fspath(path).endswith(".bef"):
            return Program.from_bef(data, os.fspath(path))
        try:
            return Program.from_source(str(data, "utf-8-sig"), os.fspath(path))
        except UnicodeDecodeError as wrong:
            text = f"{os.fspath(path)} is neither text nor a BEF file: {wrong.reason}"
            raise TfrtError(error(text, Location(os.fspath(path), 1, 1))) from None

    def __copy__(self) -> Program:
        return self  # nothing changes it

    def __deepcopy__(self, _: object) -> Program:
        return self

    def __reduce__(self) -> tuple[Callable[..., Program], tuple[object, ...]]:
        if self._captured:
            raise TfrtError(
                error(
                    f"{self!r} holds Python objects that it captured, which are not pickled:"
                    f" pass them as arguments ({type(self._captured[0]).__name__} is the first)",
                    place_of_caller(),
                )
            )
        if not self.text:
            return Program.from_bef, (self.bef, self.name)
        half = self._compiled
        options, level = (None, None) if half is None else (half.parallel_for, half.level)
        make = functools.partial(
            Program.from_source, parallel_for=options, libraries=self._libraries, level=level
        )
        return make, (self.text, self.name)

    def __getattr__(self, name: str) -> Callable[..., Execution]:
        # Python and IPython look for hooks such as __array__ and _repr_png_, which they then call.
        if not name[:1] == "_" == name[-1:] and name in self._signatures:
            return functools.partial(self._run_function, name)
        if name in _FORMER_MEMBERS:
            what = "is internal and will be removed; the guide lists what is public"
            warnings.warn(f"Program.{name} {what}", DeprecationWarning, stacklevel=2)
            return getattr(self, f"_{name}")  # type: ignore[no-any-return]
        raise AttributeError(f"the program has no function @{name}: it has {self._listed()}")

    def __getitem__(self, name: str) -> Callable[..., Execution]:
        """Return the method that starts the function of that name, whatever the name is.

        Raises:
            NoFunctionError: if there is none, at the line of the caller; also a TfrtError and a KeyError.
        """
        require(isinstance(name, str), "the index of a program", "the name of a function", name)
        if name in self._signatures:
            return functools.partial(self._run_function, name)

        place = place_of_caller()
        advice = meant(name, self._signatures, form="@{}")
        notes = [note(advice, place)] if advice else []
        text = f"the program has no function @{name}: it has {self._listed()}"
        raise NoFunctionError(error(text, place, notes))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the functions, so that `"main" in program` works, too."""
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
        """What a notebook shows of the program."""
        import html  # a command needs none, and its table of characters takes a millisecond

        picture = self.graph()._repr_html_()
        text = html.escape(self.mlir)
        return f"<code>{html.escape(repr(self))}</code>{picture}<pre>{text}</pre>"

    def _listed(self) -> str:
        return ", ".join(f"@{name}" for name in self._signatures) or "no functions"

    @cached_property
    def _signatures(self) -> dict[str, FunctionSignature]:
        return {one.name: one for one in self.functions}

    @cached_property
    def _default_function(self) -> str | None:
        """What runs when no function is named: @main, or the only public one; None else.

        A file does not say what is public: there, what another function calls is not.
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
                if not _is_within(one.name, functions[index].name)
            }
            names = [name for name in names if name not in called]
        return names[0] if len(names) == 1 else None

    @cached_property
    def text(self) -> str:
        """The source, "" for a program that came as a file."""
        return self._source if isinstance(self._source, str) else self._source()

    @cached_property
    def mlir(self) -> str:
        """The program as text: its source, or what says the same."""
        if self.text and not self._libraries:
            return self.text
        from tfrt_nb.convert.bef_to_mlir import bef_to_mlir
        from tfrt_nb.convert.carried import compiled_text
        from tfrt_nb.dialects.printer import print_module

        has_functions = self.file.functions or self._compiled is None
        host = print_module(bef_to_mlir(self.file), func_dialect=True) if has_functions else ""
        return host if self._compiled is None else f"{host}{compiled_text(self._compiled.module)}"

    def _parsed(self) -> ModuleOp:
        """All functions as a module of their own, which the caller may take apart."""
        from tfrt_nb.source import parse_module

        if self.text:
            others = {key: library._parsed for key, library in self._libraries.items()}
            return parse_module(self.text, self.name, others)
        return parse_module(self.mlir, self.name)

    def emit(self, stage: str) -> str:
        """The program at a stage: `mlir`, `bef`, or one of its compiled functions.

        Raises:
            TfrtError: if no function has that stage, or it cannot be compiled.
        """
        if stage == "mlir":
            return self.mlir.strip("\n") + "\n"
        if stage == "bef":
            from tfrt_runtime.bef.listing import listing

            return listing(self.bef)
        if stage == "dot":
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

    def parameters(self, function: str) -> tuple[str, ...]:
        """What the text calls the arguments of a function; () for a file, which has no names."""
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
        """What the functions' operations give to each other."""
        drawn: Graph = HOOKS.program_graph(self)
        return drawn

    @property
    def _module(self) -> ModuleOp | None:
        """The host functions as a module of the IR; None for a program that came as a file."""
        if self._ir is None and self.text:
            if self._compiled is not None:  # without its functions
                self._ir = Program.from_source(self.text, self.name)._ir
            else:
                from tfrt_nb.source import parse_module

                self._ir = parse_module(self.text, self.name)
        return self._ir

    @cached_property
    def bef(self) -> bytes:
        """The bytes of the program's file; made when first asked for, with the text of compiled code."""
        from tfrt_runtime.bef.writer import write_bef

        is_whole = getattr(getattr(self._bytes, "obj", None), "size", lambda: len(self._bytes))
        if self._bytes and is_whole() >= len(self._bytes):  # else the mapped file was cut
            return bytes(self._bytes)
        if self._compiled is None or self.file.compiled:
            return write_bef(self.file)
        from tfrt_nb.compiled.division import with_compiled

        with deep_stack():
            return with_compiled(self.file, self._compiled.module, self._compiled.parallel_for)

    @property
    def functions(self) -> list[FunctionSignature]:
        """The functions that have a name and can be called: those of the file, then compiled ones."""
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

    @property
    def _own_functions(self) -> list[FunctionSignature]:
        """Those of the program's own text, which run without being named.

        Not those of its libraries, and not the bodies of loops and branches of a traced function.
        """
        others = self._library_sources
        lines = self.text.splitlines()

        names = {one.name for one in self.functions}
        bodies = {name for name in names if name.rpartition(".")[0] in names}  # as traces name them
        if bodies:
            functions = self.file.functions
            bodies &= {functions[index].name for one in functions for index in one.callees}

        def is_own(one: FunctionSignature) -> bool:
            place = one.location
            if one.name in bodies:
                return False
            if not isinstance(place, Location) or place.source not in others:
                return True
            # A library may have the name of this program, as those without one of their own have.
            here = lines[place.line - 1 : place.line] if place.source == self.name else []
            return any(one.name in line for line in here)

        return [one for one in self.functions if is_own(one)]

    @property
    def _library_sources(self) -> set[str]:
        libraries = self._libraries.values()
        return {one.name for one in libraries}.union(*(one._library_sources for one in libraries))

    def load(
        self,
        kernels: Mapping[str, Kernel] | None = None,
        *,
        watched: bool = False,
    ) -> Executable:
        """The program against a registry (by default all kernels), ready to run.

        With `watched` its sync functions log each value in runs that are watched, its compiled ones which
        blocks run, and are slower.

        Raises:
            TfrtError: if it uses kernels that do not exist, or uses them as they are not.
        """
        is_mapping = kernels is None or isinstance(kernels, Mapping)
        require(
            is_mapping, "kernels", "a KernelRegistry, or a mapping of names to kernels", kernels
        )
        logs = any(
            one.kind is FunctionKind.SYNC or self._is_compiled(one) for one in self.file.functions
        )
        watched = watched and logs
        if kernels is not None or watched:
            available = available_kernels() if kernels is None else kernels
            registry = self._with_compiled(available, watched=watched)
            return self._named(Executable(self.file, registry, watched=watched))
        version = USER_KERNELS.version
        if version not in self._executables:
            registry = self._with_compiled(available_kernels())
            self._executables = {version: self._named(Executable(self.file, registry))}
        return self._executables[version]

    def _named(self, executable: Executable) -> Executable:
        """`executable`, whose errors say what the text calls its arguments."""
        program = weakref.ref(self)

        def name_of(function: int, register: int) -> str:
            named = program()
            found = None if named is None else named._named_values().get((function, register))
            return "" if found is None else f"%{found.removeprefix('%')}"

        executable.name_of = name_of
        executable.captured = self._captured
        return executable

    def _with_compiled(
        self, kernels: Mapping[str, Kernel], *, watched: bool = False
    ) -> Mapping[str, Kernel]:
        """The kernels, and the compiled functions if host functions call some."""
        is_called = any(map(self._is_compiled, self.file.functions))
        return KernelsOver(self._compiled_kernels(watched), kernels) if is_called else kernels

    def _compiled_kernels(self, watched: bool) -> Mapping[str, Kernel]:
        """Kernels for the compiled functions that can be run, or are called by host functions.

        They are compiled when first asked for.

        Raises:
            TfrtError: at what cannot be compiled.
        """
        if self._compiled is None:
            return {}
        if watched not in self._kernels_of_code:
            from tfrt_nb.compiled.kernels import compile_kernels

            called = [f.name for f in self.file.functions if self._is_compiled(f)]
            names = list(dict.fromkeys([*called, *self._runnable]))
            self._kernels_of_code[watched] = compile_kernels(self._compiled, names, watched=watched)
        return self._kernels_of_code[watched]

    @cached_property
    def _runnable(self) -> list[str]:
        """The compiled functions whose arguments and results Python can have."""
        functions = {} if self._compiled is None else self._compiled.functions
        return [name for name, one in functions.items() if one.uncrossable is None]

    def _interleaved(self) -> Program:
        """The same program, whose compiled functions let others run between any two of their effects.

        For `schedules.explore`.  Itself, if no tasks have effects.
        """
        compiled = None if self._compiled is None else self._compiled._interleaved()
        if compiled is self._compiled:
            return self
        made = Program._of_file(self.file, self._source, self._ir, compiled)
        made._libraries, made._captured = self._libraries, self._captured
        return made

    def compile(self, *, watched: bool = False) -> None:
        """Compile the functions that become machine code, unless that was done; `watched` as for `load`.

        Raises:
            TfrtError: at what cannot be compiled.
        """
        with deep_stack():
            self._compiled_kernels(watched)

    def _load_compiled(self, function: str, *, watched: bool = False) -> Executable:
        """The compiled functions as host functions of one call, ready to run; made when first asked for.

        `watched` as for `load`.

        Raises:
            TfrtError: at what cannot be compiled, or if Python cannot call `function`.
        """
        assert self._compiled is not None
        if function not in self._runnable:
            called = self._compiled.functions[function]
            text = f"@{function} cannot be called from outside: {called.uncrossable}"
            raise TfrtError(error(text, called.location))
        if watched not in self._executables_of_code:
            from tfrt_nb.compiled.kernels import argument_names, function_file

            names = argument_names(self._compiled, self._runnable)
            file = function_file(self._compiled, self._runnable, self.name)
            with deep_stack():
                executable = Executable(file, self._compiled_kernels(watched))
            executable.name_of = lambda function, argument: names.get((function, argument), "")
            self._executables_of_code[watched] = executable
        return self._executables_of_code[watched]

    def _is_compiled(self, function: BefFunction) -> bool:
        """Whether a function of the file is a compiled one, which the file only declares."""
        if function.kind is not FunctionKind.NATIVE or self._compiled is None:
            return False
        return function.name in self._compiled.interface.functions

    def run(
        self,
        *values: object,
        host: HostContext | None = None,
        function: str | None = None,
        arguments: Sequence[object] | None = None,
        timeout: float | None = None,
        kernels: Mapping[str, Kernel] | None = None,
        output: Sink | None = None,
        wake: bool = True,
        watch: Watch | bool = False,
        tier: Tier | str = AUTO,
    ) -> Execution:
        """Start a function with `values` for its arguments; `run(host, function, arguments)` does, too.

        Args:
            values: one for each argument: a Python value, an AsyncValue of any host, or a future.
            host: where it runs, by default on `default_host()`.
            function: by default @main, or the only public function.
            timeout: seconds until the run is cancelled; its results raise `TimeoutError` then.
            output: where the program's output goes, instead of to the host's sink.
            wake: let workers begin at once; False leaves the start to the thread that waits first.
            watch: log the run's events, for `documents.RunDocument`; a `Watch` says how.
            tier: "auto" makes machine code of functions of scalars when they are hot, "compiled" at once,
                "interpreter" never; the run's `tier` says what has run, `tier_note` why it is not compiled.

        Raises:
            TfrtError: if the program cannot be loaded, has no such function, or that takes other
                arguments; at the line of the caller.
        """
        if arguments is not None or (
            host is None and values and isinstance(values[0], HostContext)
        ):
            host, function, values = _given(host, function, values, arguments)
        deadline = None if timeout is None else deadline_in(timeout)
        if type(host) is not HostContext:
            host = _host(host)
        if function is not None:
            require(isinstance(function, str), "function", "the name of a function", function)
        if output is not None:
            require(callable(output), "output", "a function of a text", output)
        if tier is not AUTO:
            try:
                tier = Tier(tier)
            except ValueError:
                require(False, "tier", "auto, interpreter or compiled", tier)
                raise
        if watch:
            from tfrt_runtime.host.tracing.events import Watch

            watch = Watch() if watch is True else watch
            require(isinstance(watch, Watch), "watch", "True, False or a Watch", watch)
        if kernels is None and not watch and host.tracing is None:
            bound = self._bound.get(function)
            if bound is None or bound[0] != USER_KERNELS.version:
                executable, name = self._loaded(host, function)
                bound = USER_KERNELS.version, executable, executable.entry(name)
                self._bound[function] = bound
            _, executable, entry = bound
        else:
            executable, name = self._loaded(host, function, kernels, watched=bool(watch))
            entry = executable.entry(name)
        # By position: a call of a class with names makes a dictionary of them.
        run = Execution(host, executable, entry, values, output, wake, watch or None, tier)
        if deadline is not None:
            run.cancel_at(deadline)
        return run

    def map(
        self,
        *columns: Any,
        host: HostContext | None = None,
        function: str | None = None,
        timeout: float | None = None,
        at_once: int | None = None,
        output: Sink | None = None,
    ) -> Batch:
        """Call a function once for each value of the columns, as one run; `map(host, columns)` does, too.

        Args:
            columns: for each argument a sequence or numpy array of its values, all of one length.
            host: where it runs, by default on `default_host()`.
            function: by default @main, or the only public function.
            timeout: seconds until the run is cancelled; results that are not available raise `TimeoutError`.
            at_once: how many calls are in flight, which bounds the memory that they hold; by default all are.
            output: where the program's output goes, instead of to the host's sink.

        Raises:
            TfrtError: if the program cannot be loaded, has no such function, or the columns do not fit it;
                at the line of the caller.
        """
        if columns and isinstance(columns[0], HostContext):
            if len(columns) != 2:
                raise TypeError("after a host, map takes a list of columns")
            host, columns = columns
        host = _host(host)
        for column in columns:
            require_column(column)
        executable, function = self._loaded(host, function)
        deadline = deadline_in(timeout)
        batch = Batch(host, executable, function, columns, output=output, at_once=at_once)
        if deadline is not None:
            batch.cancel_at(deadline)
        return batch

    def _loaded(
        self,
        host: HostContext,
        function: str | None,
        kernels: Mapping[str, Kernel] | None = None,
        *,
        watched: bool = False,
    ) -> tuple[Executable, str]:
        """What has a function, by default the one that runs when none is named, and its name."""
        if function is None:
            function = self._default_function or "main"
        watched = watched or host.is_traced
        if self._compiled is not None and function in self._compiled.functions:
            return self._load_compiled(function, watched=watched), function
        return self.load(kernels, watched=watched), function

    def _run_function(self, name: str, /, *values: object, **options: Any) -> Execution:
        """Start the function of that name; `options` are those of `run`."""
        return self.run(function=name, arguments=values, **options)

    def _named_values(self) -> Mapping[tuple[int, int], str]:
        """What the text calls registers, by function of the file and register: a file does not keep names."""
        if self._names is None and self._plain is not None:
            self._names = {
                (index, register): name
                for index, body in enumerate(self._plain.bodies)
                for register, (name, _, _) in enumerate(self._plain.names(body))
                if name
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


@internal_errors_caught()
def program_of_bef(
    data: bytes | memoryview, name: str, read_code: Callable[[str, str], CompiledModule]
) -> Program:
    """`Program.from_bef`; `read_code` makes the compiled functions of their text and the file's name."""
    if not isinstance(data, bytes | bytearray | memoryview):
        found = type(data).__name__
        raise TfrtError(error(f"a BEF file is bytes, found {found}", place_of_caller()))
    file = BefFile.load(data, name)
    if not isinstance(data, bytes):  # of a file that may change: what runs later is not in it
        file = BefFile.of(replace(file, attributes=bytes(file.attributes)), name)
    program = Program._of_file(file)
    program._bytes = data
    if text := program.file.compiled:
        program._compiled = read_code(text, name)
    return program


def code_of_text(text: str, name: str) -> CompiledModule:
    """The compiled functions of the file of that name, which has them as text.

    Raises:
        TfrtError: if the text is no valid program.
    """
    from tfrt_nb.compiled.module import CompiledModule, requested_parallel_for
    from tfrt_nb.convert.carried import read_compiled

    module = read_compiled(text, name)
    with deep_stack():
        return CompiledModule(module, requested_parallel_for(text), (text, name))


def _host(host: HostContext | None) -> HostContext:
    """The host of a run: the one that is given, or the default one."""
    if host is None:
        return default_host()
    require(isinstance(host, HostContext), "host", "a HostContext or None", host)
    return host


def _is_within(name: str, other: str) -> bool:
    """Whether a function is `other`, or a body of a loop or branch within it."""
    return name == other or name.startswith(f"{other}.")


def _no_text(found: object) -> str:
    """What was given in the place of a program's text, and what takes it."""
    if isinstance(found, str):
        return f"the name of a file: Program.from_file({found!r}) reads it"
    kind = type(found).__name__
    if isinstance(found, os.PathLike):
        return f"{kind}: Program.from_file reads a file"
    if isinstance(found, bytes):
        return f"{kind}: Program.from_bef takes the bytes of a BEF file"
    return kind


def _given(
    host: HostContext | None,
    function: str | None,
    values: Sequence[object],
    arguments: Sequence[object] | None,
) -> tuple[HostContext | None, str | None, tuple[object, ...]]:
    """Host, function and arguments of `run`, of which some came by position.

    Raises:
        TypeError: if there are more.
    """
    if values and isinstance(values[0], HostContext):
        host, rest = values[0], list(values[1:])
        refused = TypeError("after a host, run takes the function and a list of its arguments")
        if rest and function is None:
            first = rest.pop(0)
            if not isinstance(first, str | None):
                raise refused
            function = first
        if arguments is None:
            given = rest.pop(0) if rest else ()
            if rest or not isinstance(given, Sequence):
                raise refused
            return host, function, tuple(given)
        values = rest
    if type(arguments) not in (list, tuple):  # to ask abstract classes takes a tenth of a short run
        are_values = isinstance(arguments, Iterable) and not isinstance(
            arguments, str | bytes | Mapping
        )
        require(are_values, "arguments", "a list of values, one for each argument", arguments)
    assert arguments is not None
    if values:
        raise TypeError("run takes the arguments by position, or as `arguments`")
    return host, function, tuple(arguments)
