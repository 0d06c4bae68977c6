"""Report the stream of each operation of a host program as a remark.

    f.mlir:3:8: remark: stream id: 1, stream cost: 5, parent stream: 0, child streams: [2, 3]

A stream's cost is the total cost of its operations. The first operation of a stream waits for
operations in other streams. Of these operations, the last one to become ready determines the
parent: its stream is the parent stream, and its remark lists the new stream as a child. The stream
in which the function starts has the parent -1. That stream's remark is at the function, or at the
operation that contains the region.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from tfrt_nb.dialects.types import CHAIN
from tfrt_nb.passes.control_flow import remark
from tfrt_nb.passes.streams import (
    StreamOptions,
    assign_streams,
    operation_costs,
    parents,
    stream_options,
)

NO_STREAM = -1


@dataclass(frozen=True)
class PrintStreams(ModulePass):
    """The pass `tfrt-print-stream{cost-threshold=N}`.

    Attributes in the program override the option.
    """

    name = "tfrt-print-stream"

    cost_threshold: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        default = StreamOptions(cost_threshold=self.cost_threshold)
        for function in op.walk():
            if isinstance(function, FuncOp) and len(function.body.blocks) == 1:
                # In the BEF file, the body and each region of its operations are separate
                # functions.
                for owner in list(function.walk()):
                    for region in owner.regions:
                        if len(region.blocks) == 1:
                            _remark_on(ctx, owner, region.blocks[0], default)


def _remark_on(context: Context, owner: Operation, block: Block, default: StreamOptions) -> None:
    ops = list(block.ops)
    options = stream_options(owner, default)
    definers = _definers(ops)
    costs = [1, *operation_costs(ops, options)]
    streams = assign_streams(definers, costs, options, _definers(ops, chains=False))
    waited_for = parents(definers, costs)
    stream_costs: Counter[int] = Counter()
    parent_of = {streams[0]: NO_STREAM}
    children: dict[int, list[int]] = {}
    for number, stream in enumerate(streams):
        stream_costs[stream] += costs[number]
        if stream not in parent_of:
            parent_of[stream] = streams[waited_for[number]]
            children.setdefault(waited_for[number], []).append(stream)
    for number, op in enumerate([owner, *ops]):
        stream = streams[number]
        text = (
            f"stream id: {stream}, stream cost: {stream_costs[stream]},"
            f" parent stream: {parent_of[stream]}"
        )
        if number in children:
            text += f", child streams: [{', '.join(map(str, children[number]))}]"
        remark(context, op, text)


def _definers(ops: Sequence[Operation], chains: bool = True) -> list[list[int]]:
    """Return the operations that define each operation's operands.

    Operation 0 is the root, which represents the arguments. If `chains` is false, chain operands
    are left out.
    """
    numbers: dict[SSAValue, int] = {}
    definers: list[list[int]] = [[]]
    for number, op in enumerate(ops, 1):
        operands = [value for value in op.operands if chains or value.type != CHAIN]
        definers.append([numbers.get(operand, 0) for operand in operands])
        numbers.update(dict.fromkeys(op.results, number))
    return definers
