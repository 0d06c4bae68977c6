"""`scf.while`: values that do not change, that are carried twice, or that nobody needs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tfrt_nb.passes.folds.integers import defined_by
from tfrt_nb.passes.greedy.constants import constant_op, integer
from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.greedy.rewriter import Rewriter
from tfrt_nb.passes.patterns.integers import OPPOSITE, constant
from tfrt_nb.passes.patterns.regions import terminator_of, yield_instead


def _while(
    values: Sequence[SSAValue], types: Sequence[Attribute], before: Region, after: Region
) -> Operation:
    return scf.WhileOp.create(operands=values, result_types=types, regions=[before, after])


def _condition_instead(
    condition: Operation, values: Sequence[SSAValue], rewriter: Rewriter
) -> None:
    rewriter.insert(scf.ConditionOp(condition.operands[0], *values), condition)
    rewriter.erase(condition)


def _unchanged_before(op: Operation) -> dict[int, SSAValue]:
    """The arguments of the first block that are the same in all rounds, by their places."""
    before, after = (region.block for region in op.regions)
    passed = terminator_of(op.regions[0]).operands[1:]
    found: dict[int, SSAValue] = {}
    for index, (first, next_) in enumerate(
        zip(op.operands, terminator_of(op.regions[1]).operands, strict=True)
    ):
        if next_ is first:
            found[index] = first
        elif next_ in after.args:
            source = passed[after.args.index(next_)]
            if source is before.args[index] or source is first:
                found[index] = first
    return found


def _without_unchanged_arguments(op: Operation, rewriter: Rewriter) -> bool:
    unchanged = _unchanged_before(op)
    if not unchanged:
        return False
    kept = [index for index in range(len(op.operands)) if index not in unchanged]
    end = terminator_of(op.regions[1])
    yield_instead(end, [end.operands[index] for index in kept], rewriter)
    first = [op.operands[index] for index in kept]
    block = Block(arg_types=[value.type for value in first])
    new = rewriter.insert(_while(first, op.result_types, Region(block), Region()), op)
    left = iter(block.args)
    values = [
        unchanged[index] if index in unchanged else next(left) for index in range(len(op.operands))
    ]
    rewriter.merge(op.regions[0].block, block, values)
    op.regions[1].move_blocks(new.regions[1])
    rewriter.replace(op, new.results)
    return True


def _with_fewer_results(
    op: Operation, instead: Sequence[SSAValue | None], rewriter: Rewriter
) -> None:
    """Pass on only what there is nothing else for."""
    condition = terminator_of(op.regions[0])
    kept = [index for index, value in enumerate(instead) if value is None]
    passed = [condition.operands[1 + index] for index in kept]
    _condition_instead(condition, passed, rewriter)
    types = [value.type for value in passed]
    block = Block(arg_types=types)
    new = rewriter.insert(_while(list(op.operands), types, Region(), Region(block)), op)
    places = {index: place for place, index in enumerate(kept)}
    arguments = [
        block.args[places[index]] if value is None else value for index, value in enumerate(instead)
    ]
    results = [
        new.results[places[index]] if value is None else value
        for index, value in enumerate(instead)
    ]
    rewriter.merge(op.regions[1].block, block, arguments)
    op.regions[0].move_blocks(new.regions[0])
    rewriter.replace(op, results)


def _without_values_from_outside(op: Operation, rewriter: Rewriter) -> bool:
    """What the first block passes on though it is not made there."""
    before = op.regions[0].block
    passed = terminator_of(op.regions[0]).operands[1:]
    instead = [None if _block_of(value) is before else value for value in passed]
    if all(value is None for value in instead):
        return False
    _with_fewer_results(op, instead, rewriter)
    return True


def _block_of(value: SSAValue) -> Block | None:
    owner = value.owner
    return owner.parent if isinstance(owner, Operation) else owner


def _condition_is_true_inside(op: Operation, rewriter: Rewriter) -> bool:
    condition = terminator_of(op.regions[0])
    known: SSAValue | None = None
    for value, argument in zip(condition.operands[1:], op.regions[1].block.args, strict=True):
        if value is condition.operands[0] and argument.first_use is not None:
            if known is None:
                known = constant(-1, i1, op, rewriter)
            rewriter.replace_uses(argument, known)
    return known is not None


def _comparison_is_known_inside(op: Operation, rewriter: Rewriter) -> bool:
    """The second block runs only while the comparison of the first one holds."""
    condition = terminator_of(op.regions[0])
    compared = defined_by(condition.operands[0], "arith.cmpi")
    if compared is None:
        return False
    ours = _predicate(compared)
    has_changed = False
    for value, argument in zip(condition.operands[1:], op.regions[1].block.args, strict=True):
        for side in (0, 1):
            if value is not compared.operands[side]:
                continue
            for use in tuple(argument.uses):
                again = use.operation
                if again.name != "arith.cmpi":
                    continue
                if again.operands[1 - side] is not compared.operands[1 - side]:
                    continue
                theirs = _predicate(again)
                if theirs in (ours, OPPOSITE[ours]):
                    known = constant_op(integer(-1 if theirs == ours else 0, i1), i1)
                    assert known is not None
                    rewriter.replace_with(again, known)
                    has_changed = True
    return has_changed


def _predicate(op: Operation) -> int:
    predicate = op.properties["predicate"]
    assert isinstance(predicate, IntegerAttr)
    return predicate.value.data


def _without_unused_results(op: Operation, rewriter: Rewriter) -> bool:
    passed = terminator_of(op.regions[0]).operands[1:]
    arguments = op.regions[1].block.args
    # Where nobody looks, it does not matter what is there instead.
    instead = [
        value if result.first_use is None and argument.first_use is None else None
        for value, result, argument in zip(passed, op.results, arguments, strict=True)
    ]
    if all(value is None for value in instead):
        return False
    _with_fewer_results(op, instead, rewriter)
    return True


def _without_repeated_results(op: Operation, rewriter: Rewriter) -> bool:
    condition = terminator_of(op.regions[0])
    passed = list(condition.operands[1:])
    unique = list(dict.fromkeys(passed))
    if len(unique) == len(passed):
        return False
    _condition_instead(condition, unique, rewriter)
    types = [value.type for value in unique]
    block = Block(arg_types=types)
    new = rewriter.insert(_while(list(op.operands), types, Region(), Region(block)), op)
    places = [unique.index(value) for value in passed]
    op.regions[0].move_blocks(new.regions[0])
    rewriter.merge(op.regions[1].block, block, [block.args[place] for place in places])
    rewriter.replace(op, [new.results[place] for place in places])
    return True


def _without_unused_arguments(op: Operation, rewriter: Rewriter) -> bool:
    before = op.regions[0].block
    kept = [index for index, value in enumerate(before.args) if value.first_use is not None]
    if len(kept) == len(before.args):
        return False
    end = terminator_of(op.regions[1])
    first = [op.operands[index] for index in kept]
    yielded = [end.operands[index] for index in kept]
    for argument in reversed(before.args):
        if argument.first_use is None:
            before.erase_arg(argument)
    types = [value.type for value in first]
    blocks = Block(arg_types=types), Block(arg_types=op.result_types)
    new = rewriter.insert(_while(first, op.result_types, *map(Region, blocks)), op)
    yield_instead(end, yielded, rewriter)
    for source, block in zip(op.regions, blocks, strict=True):
        rewriter.merge(source.block, block, block.args)
    rewriter.replace(op, new.results)
    return True


PATTERNS: dict[str, Sequence[Pattern]] = {
    "scf.while": (
        _without_unchanged_arguments,
        _without_values_from_outside,
        _condition_is_true_inside,
        _comparison_is_known_inside,
        _without_unused_results,
        _without_repeated_results,
        _without_unused_arguments,
    ),
}
