"""What is wrong with a text that is being written, without running or compiling to machine code."""

from __future__ import annotations

from collections.abc import Mapping

from tfrt_nb.dialects.catalog import similar_operations
from tfrt_nb.programs import Program
from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error, note
from tfrt_runtime.executor.loading.resolve import types_of
from tfrt_runtime.kernels.registry import PythonKernel
from tfrt_runtime.kernels.standard import available_kernels
from tfrt_runtime.kernels.users.annotations import mismatch
from tfrt_runtime.kernels.users.user import USER_KERNELS

MAX_TEXT = 200_000
"""Characters; a longer text is looked at when it runs."""


def lint(
    text: str, name: str, libraries: Mapping[str, Program] | None = None
) -> tuple[Diagnostic, ...]:
    """Every mistake that can be seen in `text`, whose source is `name`."""
    if len(text) > MAX_TEXT or not text.strip():
        return ()
    try:
        program = Program.from_source(text, name, libraries=libraries)
        found = wrong_kernels(program)
        if (
            not found
            and program.compiled is None
            and set(program.file.kernel_names) & {*USER_KERNELS}
        ):
            program.load()  # says which attributes a user's kernel does not take
    except TfrtError as problem:
        return problem.diagnostics
    return found


def wrong_kernels(program: Program) -> tuple[Diagnostic, ...]:
    """An error for each operation that no kernel runs, or no user's kernel of these types, as its load says it."""
    kernels = available_kernels()
    missing = {one for one in program.file.kernel_names if one not in kernels}
    users = {one: USER_KERNELS[one] for one in program.file.kernel_names if one in USER_KERNELS}
    if not missing and not users:
        return ()
    compiled = {one.name for one in program.file.functions if one.kind is FunctionKind.NATIVE}
    found = []
    for function in program.file.functions:
        for kernel in function.kernels:
            if kernel.name in missing - compiled:
                place = program.file.location(kernel.location)
                near = similar_operations(kernel.name)
                notes = [note(f"did you mean '{near[0]}'?", place)] if near else []
                found.append(error(f"unknown kernel: {kernel.name}", place, notes))
            elif isinstance(known := users.get(kernel.name), PythonKernel):
                types = types_of(function, kernel.arguments), types_of(function, kernel.results)
                if (text := mismatch(known, *types)) is not None:
                    found.append(error(text, program.file.location(kernel.location)))
    return tuple(found)
