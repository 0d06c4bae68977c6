"""`tfrt-nb mlir-to-bef`."""

from __future__ import annotations

import argparse

from xdsl.dialects.builtin import ModuleOp

from tfrt_nb.cli.files import decode, display_name, read_input, show, write_output
from tfrt_nb.compiled.kinds import is_compiled
from tfrt_nb.convert.mlir_to_bef import mlir_to_bef
from tfrt_nb.passes.errors import location_of
from tfrt_nb.passes.streams import StreamOptions
from tfrt_nb.source import parse_module
from tfrt_runtime.diagnostics import TfrtError, error


def execute(options: argparse.Namespace) -> int:
    """Compile one program; 1 when it is wrong."""
    text: str | None = None
    name = display_name(options.input)
    try:
        text = decode(read_input(options.input), name)
        module = parse_module(text, name)
        refuse_compiled(module)
        data = mlir_to_bef(
            module,
            optional_sections=not options.disable_optional_sections,
            streams=StreamOptions(cost_threshold=options.tfrt_cost_threshold),
        )
        write_output(options.output, data)
    except TfrtError as problem:
        show(problem, text)
        return 1
    return 0


def refuse_compiled(module: ModuleOp) -> None:
    """
    Raises:
        TfrtError: at each function that becomes machine code, which a file cannot hold.
    """
    found = [op for op in module.ops if is_compiled(op)]
    if found:
        message = (
            "this function is compiled for the machine that runs it; a BEF file cannot hold it"
        )
        raise TfrtError(*(error(message, location_of(op)) for op in found))
