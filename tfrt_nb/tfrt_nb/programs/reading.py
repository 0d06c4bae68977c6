"""Read programs from source and from files.

A source may contain two kinds of functions, which `compiled.division` separates. Host functions
become BEF, which the executor runs. Compiled functions become machine code when they first run, and
the executor calls them as kernels.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tfrt_nb.internal_errors import internal_errors_caught
from tfrt_nb.nesting import MAX_LINES, MAX_TEXT, deep_stack, too_large
from tfrt_nb.programs.running import Running
from tfrt_runtime.bef.reader import BefFile, mapped
from tfrt_runtime.bef.records import MAGIC, collector_paused
from tfrt_runtime.diagnostics import Location, TfrtError, error, place_of_caller, require

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from tfrt_nb.compiled.module import CompiledModule


class Program(Running):
    """A program, which can run any number of times.

    Each of the program's functions is a method that starts a run. `program["map"]` returns any
    function by its name, even if the name is also a member of this class, is not a Python
    identifier, or starts with an underscore. All members whose names do not start with an
    underscore are public, and the guide lists them.
    """

    def __init__(
        self,
        text: str,
        name: str = "<program>",
        *,
        parallel_for: str | None = None,
        level: int | None = None,
    ) -> None:
        """Create the program whose source is `text`; see `from_source`."""
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
        """Create a program from its parts.

        If `text` is a function, it is called when the source is first needed.
        """
        # The constructor would compile a source.
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
        """Create a program from its source, to which locations refer as `name`.

        Args:
            libraries: programs whose functions the source may call, by program name.
            parallel_for: options of the pass `async-parallel-for`, which splits the parallel loops
                of compiled functions into tasks, for instance `num-workers=4 min-task-size=100`, or
                an empty string. A source whose first line is `// parallel-for: OPTIONS` requests
                the pass itself. With None, only `async.parallel_for` loops are split, among the
                queue's workers.
            level: level 0 compiles functions with the lowering that the async dialect describes.
                Level 1 adds shortcuts that do not change results. With None, runs use the
                shortcuts, and `emit` shows the lowering without them.

        Raises:
            TfrtError: if the source is invalid. The error says what is wrong, and where.
        """
        is_name = (
            isinstance(text, str) and text.endswith((".mlir", ".bef")) and text.split() == [text]
        )
        if is_name or not isinstance(text, str):
            raise TfrtError(
                error(f"a program must be a string, found {_no_text(text)}", place_of_caller())
            )
        require(isinstance(name, str), "the name of a program", "a string", name)
        are_options = parallel_for is None or isinstance(parallel_for, str)
        require(are_options, "parallel_for", "a string of options or None", parallel_for)
        require(level in (None, 0, 1), "level", "0, 1 or None", level)
        are_programs = isinstance(libraries or {}, Mapping) and all(
            isinstance(one, Program) for one in (libraries or {}).values()
        )
        require(are_programs, "libraries", "a dictionary of programs by name", libraries)
        if len(text) > MAX_TEXT:
            raise too_large(name, len(text))
        if (lines := text.count("\n")) > MAX_LINES:
            raise too_large(name, len(text), lines)
        # Import the compiler here, because a program from a file does not need it.
        from tfrt_nb.compiled.division import divide
        from tfrt_nb.compiled.module import CompiledModule, loop_passes, requested_parallel_for
        from tfrt_nb.convert.mlir_to_bef import to_records
        from tfrt_nb.convert.plain_text import plain_records
        from tfrt_nb.source import parse_module
        from tfrt_nb.source.plain.reader import read_plain
        from tfrt_nb.source.spans import SourceText

        options = parallel_for
        if options is None and "parallel-for" in text:
            options = requested_parallel_for(text)
        if options is not None:
            loop_passes(options)  # reject invalid options even if no function is compiled
        with collector_paused():
            # Linking the functions of libraries requires a module.
            plain = None if libraries else read_plain(SourceText(text, name))
            records = None if plain is None else plain_records(plain)
            if records is not None:
                program = Program._of_file(BefFile.of(records, name), text)
                program._plain = plain
                return program
        with collector_paused(), deep_stack():
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
        """Create a program from `data`, the contents of a BEF file.

        Raises:
            TfrtError: if the file or one of its compiled functions is invalid.
        """
        return program_of_bef(data, name, code_of_text)

    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> Program:
        """Create a program from a file that contains source or BEF.

        The file is mapped into memory. While a program from a BEF file is in use, replace the file
        instead of writing into it, because the property `bef` reads it again.

        Raises:
            OSError: if the file cannot be read.
            TfrtError: if the file contains neither source nor BEF, or the program is invalid.
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
        return self  # a program never changes

    def __deepcopy__(self, _: object) -> Program:
        return self

    def __reduce__(self) -> tuple[Callable[..., Program], tuple[object, ...]]:
        if self._captured:
            raise TfrtError(
                error(
                    f"{self!r} cannot be pickled, because it captured Python objects (the first is"
                    f" of type {type(self._captured[0]).__name__}): pass them as arguments",
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

    def _interleaved(self) -> Program:
        """Return the same program in a form for `schedules.explore`.

        In this form, other tasks may run between any two effects of compiled functions. If no task
        has effects, the result is the program itself.
        """
        compiled = None if self._compiled is None else self._compiled._interleaved()
        if compiled is self._compiled:
            return self
        made = Program._of_file(self.file, self._source, self._ir, compiled)
        made._libraries, made._captured = self._libraries, self._captured
        return made


@internal_errors_caught()
def program_of_bef(
    data: bytes | memoryview, name: str, read_code: Callable[[str, str], CompiledModule]
) -> Program:
    """Implement `Program.from_bef`.

    `read_code` creates compiled functions, given their text and the name of the file.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        found = type(data).__name__
        raise TfrtError(error(f"a BEF file must be bytes, found {found}", place_of_caller()))
    file = BefFile.load(data, name)
    if not isinstance(data, bytes):  # a mapped file may change, so later runs must not read it
        file = BefFile.of(replace(file, attributes=bytes(file.attributes)), name)
    program = Program._of_file(file)
    program._bytes = data
    if text := program.file.compiled:
        program._compiled = read_code(text, name)
    return program


def code_of_text(text: str, name: str) -> CompiledModule:
    """Return the compiled functions that the file called `name` contains as text.

    Raises:
        TfrtError: if the text is not a valid program.
    """
    from tfrt_nb.compiled.module import CompiledModule, requested_parallel_for
    from tfrt_nb.convert.carried import read_compiled

    module = read_compiled(text, name)
    with deep_stack():
        return CompiledModule(module, requested_parallel_for(text), (text, name))


def _no_text(found: object) -> str:
    """Return the part of an error about an object that was passed instead of a source.

    It names the function that accepts the object.
    """
    if isinstance(found, str):
        return f"the name of a file: Program.from_file({found!r}) reads it"
    kind = type(found).__name__
    if isinstance(found, os.PathLike):
        return f"{kind}: Program.from_file reads a file"
    if isinstance(found, bytes):
        return f"{kind}: Program.from_bef takes the bytes of a BEF file"
    return kind
