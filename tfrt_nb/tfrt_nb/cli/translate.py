"""`tfrt-nb mlir-to-bef`."""

from __future__ import annotations

import argparse

from tfrt_nb.cli.files import decode, display_name, read_input, show, write_output
from tfrt_nb.compiled.file import divide, with_compiled
from tfrt_nb.compiled.module import requested_parallel_for
from tfrt_nb.convert.mlir_to_bef import to_records
from tfrt_nb.internal_errors import internal_errors_caught
from tfrt_nb.passes.streams import StreamOptions
from tfrt_nb.source import parse_module
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.diagnostics import TfrtError


def execute(options: argparse.Namespace) -> int:
    """Compile one program; 1 when it is wrong."""
    text: str | None = None
    name = display_name(options.input)
    try:
        text = decode(read_input(options.input), name)
        module = parse_module(text, name)
        with internal_errors_caught():
            host, compiled = divide(module)
            records = to_records(
                host,
                optional_sections=not options.disable_optional_sections,
                streams=StreamOptions(cost_threshold=options.tfrt_cost_threshold),
            )
            if compiled is None:
                data = write_bef(records)
            else:
                data = with_compiled(records, compiled, requested_parallel_for(text))
        write_output(options.output, data)
    except TfrtError as problem:
        show(problem, text)
        return 1
    return 0
