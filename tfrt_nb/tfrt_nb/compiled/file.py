"""A program as a BEF file.

Host functions are what such a file holds; compiled ones are in a section of our own, as MLIR text.  They
become machine code where they run.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from tfrt_nb.compiled.kinds import split
from tfrt_nb.compiled.module import parallel_for_line
from tfrt_nb.dialects.control_flow import JitOp
from tfrt_nb.source.spans import source_span
from tfrt_runtime.bef.records import BefModule
from tfrt_runtime.bef.writer import write_bef

_JIT_SPELLINGS = ("tfrt.jit", "hex.jit", "tfrt.run", "hex.run")


def divide(module: ModuleOp) -> tuple[ModuleOp, ModuleOp | None]:
    """The host functions of a module, which declare the compiled ones that they call, and those, if any.

    Regions of `tfrt.jit` become functions of the module.

    Raises:
        TfrtError: at what cannot be compiled in such a region.
    """
    if _may_have_jit(module):
        from tfrt_nb.passes.outline_jit import outline_jit

        outline_jit(module)
    halves = split(module)
    if not halves.compiled.body.block.ops.first:
        return module, None
    # Imported here: most programs need nothing of the async dialect.
    from tfrt_nb.compiled.declarations import declare_compiled

    return declare_compiled(halves), halves.compiled


def with_compiled(host: BefModule, compiled: ModuleOp, parallel_for: str | None = None) -> bytes:
    """The file of host functions with the compiled ones.

    `parallel_for` are the options with which these are to be compiled.
    """
    from tfrt_nb.convert.carried import compiled_text

    text = parallel_for_line(parallel_for) + compiled_text(compiled)
    return write_bef(replace(host, compiled=text))


def _may_have_jit(module: ModuleOp) -> bool:
    """Whether there is a `tfrt.jit`; a search in the text is cheaper than a visit of each operation."""
    span = source_span(module)
    if span is not None:
        return any(name in span.source.text for name in _JIT_SPELLINGS)
    return any(isinstance(op, JitOp) for op in module.walk())
