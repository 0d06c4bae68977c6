"""Implement `tfrt-nb opt`, and the Python function `opt`."""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections import Counter

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from tfrt_nb.cli.expectations import check_all, find_expectations, split
from tfrt_nb.cli.files import decode, display_name, read_input, show
from tfrt_nb.dialects.catalog import register_upstream
from tfrt_nb.dialects.printer import print_module
from tfrt_nb.internal_errors import internal_errors_caught
from tfrt_nb.nesting import deep_stack
from tfrt_nb.passes.control_flow import RemarkContext
from tfrt_nb.passes.pipeline import Pipeline, PipelineError, parse_pipeline
from tfrt_nb.passes.printing import print_ir
from tfrt_nb.source import parse_module
from tfrt_nb.source.verification import verify
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error

PIPELINE = "// pipeline:"
"""The start of a first line that names the passes to run on the source."""
_FUNC_DIALECT = re.compile(r"^[ \t]*(?:\"func\.func\"|func\.func\b)", re.MULTILINE)


def execute(options: argparse.Namespace) -> int:
    """Read a program, run passes on it, and print the result.

    Return 1 if the program is invalid or a pass rejects it.

    Raises:
        TfrtError: if the file cannot be read as text.
    """
    name = display_name(options.input)
    text = decode(read_input(options.input), name)
    passes = options.passes or requested_pipeline(text)
    try:
        with warnings.catch_warnings(record=True, action="always") as warned:
            pipeline = parse_pipeline(passes)
    except PipelineError as problem:
        show(problem, passes)
        return 1
    for one in warned:
        print(f"tfrt-nb: warning: {one.message}", file=sys.stderr)
    parts = split(text) if options.split_input_file else [text]
    outputs: list[str] = []
    status = 0
    for part in parts:
        diagnostics, output = processed(part, name, pipeline, options)
        failed = output is None
        if options.verify_diagnostics:
            diagnostics = check_all(diagnostics, find_expectations(part, name))
            failed = bool(diagnostics)
        if diagnostics:
            show(TfrtError(*diagnostics), part)
        status |= failed
        outputs += [] if output is None else [output]
    sys.stdout.write("\n// -----\n".join(outputs))
    return status


def opt(source: str, passes: str) -> str:
    """Run passes on a program, and return it: `opt(text, "canonicalize,cse")`.

    Passes are named in MLIR's notation. The program does not run. The command `tfrt-nb opt` does
    the same, but names values as MLIR does. Here, values keep their names.

    Raises:
        TfrtError: if the program is invalid, a pass is unknown, or a pass rejects the program.
    """
    options = argparse.Namespace(mlir_print_op_generic=False, func_dialect=None)
    diagnostics, output = processed(
        source, "<program>", parse_pipeline(passes), options, keep_names=True
    )
    if output is None:
        raise TfrtError(*diagnostics)
    return output


def processed(
    text: str,
    name: str,
    pipeline: Pipeline,
    options: argparse.Namespace,
    *,
    keep_names: bool = False,
) -> tuple[list[Diagnostic], str | None]:
    """Return a program's diagnostics, and its source text after the passes.

    The text is None if the program is invalid. A host program is printed in the disassembler's
    format, and any other program in MLIR's format.
    """
    context = RemarkContext()
    register_upstream(context)  # because folding creates `arith` constants
    try:
        module = parse_module(text, name)
        with deep_stack(), internal_errors_caught():
            pipeline.apply(context, module, verify=_check)
            generic = options.mlir_print_op_generic
            names = _names_in(module) if keep_names else {}
            if not any(op.name == "tfrt.return" for op in module.walk()):
                return context.remarks, print_ir(module, generic=generic, names=names)
            wanted = options.func_dialect
            func_dialect = _FUNC_DIALECT.search(text) is not None if wanted is None else wanted
            return context.remarks, print_module(
                module, func_dialect=func_dialect, generic=generic, names=names
            )
    except TfrtError as problem:
        return [*context.remarks, *problem.diagnostics], None


def _names_in(module: ModuleOp) -> dict[SSAValue, str]:
    """Return the names of values in the source, except names that two values of a function share.

    Names that start with `arg` are left out, because a printer may give a name such as `arg0` to
    another value.
    """
    found: dict[SSAValue, str] = {}
    for function in module.ops:
        values = [
            value
            for op in function.walk()
            for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args))
        ]
        uses = Counter(value.name_hint for value in values)
        found |= {
            value: name
            for value in values
            if (name := value.name_hint) and uses[name] == 1 and not name.startswith("arg")
        }
    return found


def _check(module: ModuleOp) -> None:
    """Reject a module that a pass has made invalid.

    Raises:
        TfrtError: if the module is invalid. The error is at the location of the problem if that is
            known.
    """
    if problems := verify(module):
        raise TfrtError(*problems)
    try:
        module.verify()
    except (VerifyException, DiagnosticException) as problem:
        raise TfrtError(error(f"after the passes: {problem}")) from None


def requested_pipeline(text: str) -> str:
    """Return the pipeline in a source's first line, or an empty pipeline."""
    first = text.partition("\n")[0].strip()
    return (
        first.removeprefix(PIPELINE).strip() if first.startswith(PIPELINE) else "builtin.module()"
    )
