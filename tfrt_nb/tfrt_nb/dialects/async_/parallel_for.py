"""`async.parallel_for`, which the proposal's discussion only sketches: a parallel loop as a task.

%done = async.parallel_for (%i) = (%c0) to (%n) step (%c1) {
  memref.store %x, %m[%i] : memref<?xf32>
} -> !async.handle
"""

from __future__ import annotations

from xdsl.ir import Block, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition
from xdsl.parser import Parser

from tfrt_nb.dialects.async_.proposal import reading_plain_calls
from tfrt_nb.dialects.async_.tasks import ExecuteOp, YieldOp
from tfrt_nb.dialects.async_.types import TOKEN
from tfrt_nb.dialects.async_.upstream.loops import ParallelOp


@irdl_op_definition
class ParallelForOp(IRDLOperation):
    """The loop of `scf.parallel` without results; reading one gives an `async.execute` around it."""

    name = "async.parallel_for"

    @classmethod
    def parse(cls, parser: Parser) -> IRDLOperation:  # type: ignore[override]
        position = parser.pos
        with reading_plain_calls(parser):
            loop = ParallelOp.parse(parser)
        if loop.results:
            parser.raise_error("'async.parallel_for' has no results but its handle", position)
        if any(parser.parse_optional_punctuation(word) for word in ("->", ":")):
            position = parser.pos
            if parser.parse_type() != TOKEN:
                parser.raise_error("'async.parallel_for' gives one '!async.handle'", position)
        return ExecuteOp((), (), (), Region(Block([loop, YieldOp()])))
