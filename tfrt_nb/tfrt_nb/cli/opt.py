"""`tfrt-nb opt`."""

from __future__ import annotations

import argparse
import sys

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from tfrt_nb.cli.files import decode, display_name, read_input, show
from tfrt_nb.dialects import print_module
from tfrt_nb.dialects.catalog import register_upstream
from tfrt_nb.passes.notation import PipelineError, parse_pipeline
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.passes.remarks import RemarkContext
from tfrt_nb.source import parse_module
from tfrt_nb.source.verify import verify as verify_operations
from tfrt_runtime.diagnostics import TfrtError, error

PIPELINE = "// pipeline:"
"""What the first line of a text begins with that names its passes."""


def execute(options: argparse.Namespace) -> int:
    """Read a program, run passes on it and print it; 1 when it is wrong, or a pass refuses it."""
    text: str | None = None
    name = display_name(options.input)
    context = RemarkContext()
    register_upstream(context)  # folding makes constants of `arith`
    try:
        text = decode(read_input(options.input), name)
        module = parse_module(text, name)
        passes = options.passes or requested_pipeline(text)
        try:
            pipeline = parse_pipeline(passes)
        except PipelineError as problem:
            show(problem, passes)
            return 1
        pipeline.apply(context, module)
        verify(module)
    except TfrtError as problem:
        show(problem, text)
        return 1
    if context.remarks:
        show(TfrtError(*context.remarks), text)
    sys.stdout.write(printed(module))
    return 0


def requested_pipeline(text: str) -> str:
    """The pipeline that a text asks for in its first line; one without passes if it does not."""
    first = text.partition("\n")[0].strip()
    return (
        first.removeprefix(PIPELINE).strip() if first.startswith(PIPELINE) else "builtin.module()"
    )


def verify(module: ModuleOp) -> None:
    """
    Raises:
        TfrtError: if the passes have left something that is no program.
    """
    problems = verify_operations(module)
    if problems:
        raise TfrtError(*problems)
    try:
        module.verify()
    except (VerifyException, DiagnosticException) as problem:
        raise TfrtError(error(f"after the passes: {problem}")) from None


def printed(module: ModuleOp) -> str:
    """The text of a module: a host program's as the disassembler has it, others' as MLIR has them."""
    is_host_program = any(op.name == "tfrt.return" for op in module.walk())
    return print_module(module) if is_host_program else print_ir(module)
