"""What branches between blocks pass on, and whether the blocks expect that."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf
from xdsl.ir import Operation, SSAValue


def branch_operands(terminator: Operation, edge: int) -> Sequence[SSAValue]:
    """What a branch passes to the arguments of its successor number `edge`."""
    match terminator:
        case cf.BranchOp():
            return terminator.arguments
        case cf.ConditionalBranchOp():
            return (terminator.then_arguments, terminator.else_arguments)[edge]
        case cf.SwitchOp() if edge == 0:
            return terminator.default_operands
        case cf.SwitchOp():
            return _case_operands(terminator)[edge - 1]
        case _:
            return ()


def _case_operands(switch: cf.SwitchOp) -> list[Sequence[SSAValue]]:
    operands = list(switch.case_operands)
    sizes = switch.case_operand_segments.get_values()
    return [[operands.pop(0) for _ in range(size)] for size in sizes]


def edge_problem(terminator: Operation) -> str | None:
    """What is wrong with the values that a branch passes on, in MLIR's words."""
    for edge, target in enumerate(terminator.successors):
        if target.parent is not None and target.parent.first_block is target:
            return "entry block of region may not have predecessors"
        passed = branch_operands(terminator, edge)
        if len(passed) != len(target.args):
            return (
                f"branch has {len(passed)} operands for successor #{edge}, "
                f"but target block has {len(target.args)}"
            )
        for index, (value, argument) in enumerate(zip(passed, target.args, strict=True)):
            if value.type != argument.type:
                return f"type mismatch for bb argument #{index} of successor #{edge}"
    return None
