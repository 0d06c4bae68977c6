"""Branches between blocks: known conditions, blocks that only branch on, blocks with one way in."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, cf
from xdsl.dialects.builtin import DenseIntElementsAttr, IndexType, IntegerType, VectorType
from xdsl.ir import Block, Operation, SSAValue

from tfrt_nb.passes.greedy.branches import passed_by, single_predecessor, unique_predecessor
from tfrt_nb.passes.greedy.constants import integer_of
from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.greedy.rewriter import Rewriter
from tfrt_nb.passes.patterns.integers import constant

Edge = tuple[Block, list[SSAValue]]


def edges(op: Operation) -> list[Edge]:
    """Where a branch goes, and what it passes."""
    return list(zip(op.successors, passed_by(op), strict=True))


def _jump(edge: Edge) -> Operation:
    return cf.BranchOp(edge[0], *edge[1])


def _choose(condition: SSAValue, then: Edge, otherwise: Edge) -> Operation:
    return cf.ConditionalBranchOp(condition, then[0], then[1], otherwise[0], otherwise[1])


def _passed_on(edge: Edge) -> Edge | None:
    """Where the edge leads if the block does nothing but branch on."""
    block, passed = edge
    branch = block.first_op
    if not isinstance(branch, cf.BranchOp) or branch.successor is block:
        return None
    for argument in block.args:
        if any(use.operation is not branch for use in argument.uses):
            return None
    stands_for = dict(zip(block.args, passed, strict=True))
    return branch.successor, [stands_for.get(one, one) for one in branch.arguments]  # type: ignore[call-overload]


def _merge_with_successor(op: Operation, rewriter: Rewriter) -> bool:
    [(target, passed)] = edges(op)
    block = op.parent
    if block is None or target is block or single_predecessor(target) is None:
        return False
    rewriter.erase(op)
    rewriter.merge(target, block, passed)
    return True


def _go_further(op: Operation, rewriter: Rewriter) -> bool:
    [edge] = edges(op)
    further = None if edge[0] is op.parent else _passed_on(edge)
    if further is None:
        return False
    rewriter.replace_with(op, _jump(further))
    return True


def _known_condition(op: Operation, rewriter: Rewriter) -> bool:
    condition = integer_of(op.operands[0])
    if condition is None:
        return False
    then, otherwise = edges(op)
    rewriter.replace_with(op, _jump(then if condition else otherwise))
    return True


def _choose_further(op: Operation, rewriter: Rewriter) -> bool:
    then, otherwise = edges(op)
    new_then, new_otherwise = _passed_on(then), _passed_on(otherwise)
    if new_then is None and new_otherwise is None:
        return False
    rewriter.replace_with(op, _choose(op.operands[0], new_then or then, new_otherwise or otherwise))
    return True


def _same_successors(op: Operation, rewriter: Rewriter) -> bool:
    (target, ours), (other, theirs) = edges(op)
    if target is not other:
        return False
    if all(a is b for a, b in zip(ours, theirs, strict=True)):
        rewriter.replace_with(op, _jump((target, ours)))
        return True
    if unique_predecessor(target) is not op.parent:
        return False
    merged = [
        a if a is b else _selected(op, a, b, rewriter) for a, b in zip(ours, theirs, strict=True)
    ]
    rewriter.replace_with(op, _jump((target, merged)))
    return True


def _selected(op: Operation, then: SSAValue, otherwise: SSAValue, rewriter: Rewriter) -> SSAValue:
    return rewriter.insert(arith.SelectOp(op.operands[0], then, otherwise), op).result


def _same_condition_before(op: Operation, rewriter: Rewriter) -> bool:
    """The only way here was taken because of the same condition."""
    block = op.parent
    assert block is not None
    before = single_predecessor(block)
    branch = None if before is None else before.last_op
    if not isinstance(branch, cf.ConditionalBranchOp) or branch.cond is not op.operands[0]:
        return False
    then, otherwise = edges(op)
    rewriter.replace_with(op, _jump(then if branch.then_block is block else otherwise))
    return True


def _condition_is_known_behind(op: Operation, rewriter: Rewriter) -> bool:
    """Where only this branch leads to, the condition is known."""
    condition = op.operands[0]
    has_changed = False
    for value, block in zip((-1, 0), op.successors, strict=True):
        if single_predecessor(block) is None:
            continue
        known: SSAValue | None = None
        for use in tuple(condition.uses):
            if use.operation.parent is block:
                if known is None:
                    known = constant(value, condition.type, op, rewriter)
                rewriter.set_operand(use.operation, use.index, known)
                has_changed = True
    return has_changed


# Switches


def _cases(op: Operation) -> list[tuple[int, Edge]]:
    """The numbers of a switch with their edges; the default is no case."""
    assert isinstance(op, cf.SwitchOp)
    values = () if op.case_values is None else op.case_values.get_values()
    return list(zip(map(int, values), edges(op)[1:], strict=True))


def _switch(
    op: Operation, default: Edge, cases: Sequence[tuple[int, Edge]], rewriter: Rewriter
) -> None:
    """Put a switch with other edges in the place of one; a branch, if there are no cases."""
    assert isinstance(op, cf.SwitchOp) and isinstance(op.flag.type, IntegerType | IndexType)
    if not cases:
        rewriter.replace_with(op, _jump(default))
        return
    numbers = [number for number, _ in cases]
    values = DenseIntElementsAttr.from_list(VectorType(op.flag.type, [len(cases)]), numbers)
    blocks, passed = zip(*(edge for _, edge in cases), strict=True)
    new = cf.SwitchOp(op.flag, default[0], default[1], values, blocks, passed)
    rewriter.replace_with(op, new)


def _without_cases_like_the_default(op: Operation, rewriter: Rewriter) -> bool:
    cases, default = _cases(op), edges(op)[0]
    kept = [case for case in cases if case[1] != default]
    if cases and len(kept) == len(cases):
        return False
    _switch(op, default, kept, rewriter)
    return True


def _known_case(op: Operation, rewriter: Rewriter) -> bool:
    number = integer_of(op.operands[0])
    if number is None:
        return False
    rewriter.replace_with(op, _jump(dict(_cases(op)).get(number, edges(op)[0])))
    return True


def _switch_further(op: Operation, rewriter: Rewriter) -> bool:
    cases, default = _cases(op), edges(op)[0]
    further = [_passed_on(edge) for edge in (default, *(edge for _, edge in cases))]
    if all(edge is None for edge in further):
        return False
    new = [(number, to or edge) for (number, edge), to in zip(cases, further[1:], strict=True)]
    _switch(op, further[0] or default, new, rewriter)
    return True


def _holds(op: Operation, rewriter: Rewriter) -> bool:
    """An assertion of what is true."""
    if integer_of(op.operands[0]) not in (1, -1):
        return False
    rewriter.erase(op)
    return True


PATTERNS: dict[str, Sequence[Pattern]] = {
    "cf.br": (_merge_with_successor, _go_further),
    "cf.cond_br": (
        _known_condition,
        _choose_further,
        _same_successors,
        _same_condition_before,
        _condition_is_known_behind,
    ),
    "cf.switch": (_without_cases_like_the_default, _known_case, _switch_further),
    "cf.assert": (_holds,),
}
