"""What branches between blocks pass on, and whether the blocks expect that."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf
from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa


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
        case _ if terminator.name.startswith("llvm."):
            return _llvm_operands(terminator)[edge]
        case _:
            return ()


def _llvm_operands(branch: Operation) -> list[Sequence[SSAValue]]:
    """What each edge of a branch of the `llvm` dialect passes; its own class is not asked for."""
    operands = list(branch.operands)
    segments = _sizes(branch, "operandSegmentSizes")
    if not segments:
        return [operands]
    sizes = [*segments[1:], *_sizes(branch, "case_operand_segments")]
    if branch.name == "llvm.switch":
        del sizes[1]  # all cases together
    del operands[: segments[0]]
    return [[operands.pop(0) for _ in range(size)] for size in sizes]


def _sizes(op: Operation, name: str) -> tuple[int, ...]:
    sizes = op.properties.get(name)
    return sizes.get_values() if isa(sizes, DenseArrayBase[IntegerType]) else ()


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
