"""What is wrong with a text that is being written, without running or compiling to machine code."""

from __future__ import annotations

from collections.abc import Mapping

from tfrt_nb.language.operations import similar
from tfrt_nb.programs import Program
from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error, note
from tfrt_runtime.kernels.standard import available_kernels

MOST_TEXT = 200_000
"""Characters; a longer text is looked at when it runs."""


def lint(
    text: str, name: str, libraries: Mapping[str, Program] | None = None
) -> tuple[Diagnostic, ...]:
    """Every mistake that can be seen in `text`, whose source is `name`."""
    if len(text) > MOST_TEXT or not text.strip():
        return ()
    try:
        program = Program.from_source(text, name, libraries=libraries)
    except TfrtError as problem:
        return problem.diagnostics
    return unknown_kernels(program)


def unknown_kernels(program: Program) -> tuple[Diagnostic, ...]:
    """An error for each operation of a host program that no kernel runs, as its load says it."""
    kernels = available_kernels()
    missing = {one for one in program.file.kernel_names if one not in kernels}
    if not missing:
        return ()
    compiled = {one.name for one in program.file.functions if one.kind is FunctionKind.NATIVE}
    found = []
    for function in program.file.functions:
        for kernel in function.kernels:
            if kernel.name in missing - compiled:
                place = program.file.location(kernel.location)
                near = similar(kernel.name)
                notes = [note(f"did you mean '{near[0]}'?", place)] if near else []
                found.append(error(f"unknown kernel: {kernel.name}", place, notes))
    return tuple(found)
