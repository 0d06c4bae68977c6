"""`tfrt-nb bef-to-mlir`."""

from __future__ import annotations

import argparse
import sys

from tfrt_nb.cli.files import display_name, read_input, show
from tfrt_nb.compiled.module import parallel_for_line, requested_parallel_for
from tfrt_nb.convert.bef_to_mlir import bef_to_mlir
from tfrt_nb.dialects import print_module
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import Diagnostic, Location, Severity, TfrtError

MISSING_SECTIONS = "Missing AttributeTypes, AttributeNames or RegisterTypes sections."


def execute(options: argparse.Namespace) -> int:
    """Disassemble one file; 1 when it is malformed."""
    name = display_name(options.input)
    try:
        file = BefFile.load(read_input(options.input), name)
        if lacks_optional_sections(file):
            warning = Diagnostic(Severity.WARNING, MISSING_SECTIONS, Location(name, 0, 0))
            print(warning, file=sys.stderr)
        text = parallel_for_line(requested_parallel_for(file.compiled)) + print_module(
            bef_to_mlir(file), func_dialect=bool(options.func_dialect)
        )
    except TfrtError as problem:
        show(problem)
        return 1
    sys.stdout.write(text)
    return 0


def lacks_optional_sections(file: BefFile) -> bool:
    """Whether types and names of attributes or registers are not in the file."""
    return file.attribute_types is None or any(
        function.register_types is None for function in file.functions if function.kernels
    )
