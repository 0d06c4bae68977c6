"""Implement `tfrt-nb mlir-to-bef` and `tfrt-nb bef-to-mlir`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tfrt_nb.cli.expectations import check_all, find_expectations, split
from tfrt_nb.cli.files import decode, display_name, read_input, show, write_output
from tfrt_nb.compiled.division import divide, with_compiled
from tfrt_nb.compiled.module import parallel_for_line, requested_parallel_for
from tfrt_nb.convert.bef_to_mlir import bef_to_mlir as module_of
from tfrt_nb.convert.mlir_to_bef import to_records
from tfrt_nb.dialects.printer import print_module
from tfrt_nb.internal_errors import internal_errors_caught
from tfrt_nb.passes.streams import StreamOptions
from tfrt_nb.source import parse_module
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import Diagnostic, Location, Severity, TfrtError, error

MISSING_SECTIONS = "Missing AttributeTypes, AttributeNames or RegisterTypes sections."


def mlir_to_bef(options: argparse.Namespace) -> int:
    """Compile one program, or verify its diagnostics.

    Return 1 for a wrong program, and 2 for wrong options.
    """
    if options.split_input_file and not options.verify_diagnostics:
        show(
            TfrtError(
                error("--split-input-file needs --verify-diagnostics: a BEF file holds one program")
            )
        )
        return 2
    text: str | None = None
    name = display_name(options.input)
    try:
        text = decode(read_input(options.input), name)
        if options.verify_diagnostics:
            return _verify(text, name, options)
        write_output(options.output, _compiled(text, name, options))
    except TfrtError as problem:
        show(problem, text)
        return 1
    return 0


def _verify(text: str, name: str, options: argparse.Namespace) -> int:
    status = 0
    for part in split(text) if options.split_input_file else [text]:
        said: Sequence[Diagnostic] = ()
        try:
            _compiled(part, name, options)
        except TfrtError as problem:
            said = problem.diagnostics
        wrong = check_all(said, find_expectations(part, name))
        if wrong:
            show(TfrtError(*wrong), part)
            status = 1
    return status


def _compiled(text: str, name: str, options: argparse.Namespace) -> bytes:
    module = parse_module(text, name)
    with internal_errors_caught():
        host, compiled = divide(module)
        records = to_records(
            host,
            optional_sections=not options.disable_optional_sections,
            streams=StreamOptions(cost_threshold=options.tfrt_cost_threshold),
        )
        if compiled is None:
            return write_bef(records)
        return with_compiled(records, compiled, requested_parallel_for(text))


def bef_to_mlir(options: argparse.Namespace) -> int:
    """Disassemble one file.

    Raises:
        TfrtError: if the file is malformed.
    """
    name = display_name(options.input)
    file = BefFile.load(read_input(options.input), name)
    if file.attribute_types is None or any(
        function.register_types is None for function in file.functions if function.kernels
    ):
        print(Diagnostic(Severity.WARNING, MISSING_SECTIONS, Location(name, 0, 0)), file=sys.stderr)
    module = print_module(module_of(file), func_dialect=bool(options.func_dialect))
    sys.stdout.write(parallel_for_line(requested_parallel_for(file.compiled)) + module)
    return 0
