"""`scf.if` with known conditions, unused results, values that need no branch, or another next to it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tfrt_nb.passes.folds.structures import complemented
from tfrt_nb.passes.greedy.constants import constant_of, integer_of
from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.greedy.rewriter import Rewriter
from tfrt_nb.passes.patterns.integers import constant
from tfrt_nb.passes.patterns.regions import (
    is_empty_but_for_its_end,
    is_inside,
    region_of_value,
    replace_with_region,
    terminator_of,
    yield_instead,
)
from tfrt_nb.passes.patterns.selects import complement


def _if(
    condition: SSAValue, types: Sequence[Attribute], then: Region, otherwise: Region
) -> Operation:
    return scf.IfOp.create(operands=[condition], result_types=types, regions=[then, otherwise])


def _combine_with_previous(op: Operation, rewriter: Rewriter) -> bool:
    """Two in a row with the same or the opposite condition are one."""
    previous = op.prev_op
    if not isinstance(previous, scf.IfOp):
        return False
    ours, theirs = op.operands[0], previous.operands[0]
    then, otherwise = (region.first_block for region in op.regions)
    if ours is theirs:
        pass
    elif complemented(ours) is theirs or complemented(theirs) is ours:
        then, otherwise = otherwise, then
    else:
        return False
    _use_what_was_yielded(previous, then, otherwise, rewriter)
    types = [*previous.result_types, *op.result_types]
    combined = rewriter.insert(_if(theirs, types, Region(), Region()), op)
    for mine, source, more in zip(
        combined.regions, previous.regions, (then, otherwise), strict=True
    ):
        source.move_blocks(mine)
        if more is not None:
            _append(mine, more, rewriter)
    count = len(previous.results)
    rewriter.replace(previous, combined.results[:count])
    rewriter.replace(op, combined.results[count:])
    return True


def _use_what_was_yielded(
    previous: Operation, then: Block | None, otherwise: Block | None, rewriter: Rewriter
) -> None:
    """Inside the second, the results of the first are known."""
    for index, result in enumerate(previous.results):
        for use in tuple(result.uses):
            for region, block in zip(previous.regions, (then, otherwise), strict=True):
                inside = None if block is None else block.parent
                if inside is not None and is_inside(use.operation, inside):
                    value = terminator_of(region).operands[index]
                    rewriter.set_operand(use.operation, use.index, value)
                    break


def _append(region: Region, block: Block, rewriter: Rewriter) -> None:
    """Put another block with a `scf.yield` of its own behind that of a region."""
    if region.first_block is None:
        assert block.parent is not None
        block.parent.move_blocks(region)
        return
    first, second = terminator_of(region), block.last_op
    assert second is not None
    into = region.block
    rewriter.merge(block, into, ())
    rewriter.append(scf.YieldOp(*first.operands, *second.operands), into)
    rewriter.erase(first)
    rewriter.erase(second)


def _combine_with_nested(op: Operation, rewriter: Rewriter) -> bool:
    """One in the other, and nothing else, needs both conditions."""
    then, otherwise = (region.first_block for region in op.regions)
    assert then is not None
    nested = then.first_op
    if not isinstance(nested, scf.IfOp) or nested.next_op is not then.last_op:
        return False
    blocks = (otherwise, nested.false_region.first_block)
    if any(block is not None and not is_empty_but_for_its_end(block) for block in blocks):
        return False
    yielded = list(terminator_of(op.regions[0]).operands)
    instead = [] if otherwise is None else list(terminator_of(op.regions[1]).operands)
    selected = []
    for index, value in enumerate(yielded):
        if value.owner is nested:
            place = list(nested.results).index(value)  # type: ignore[arg-type]
            if terminator_of(nested.false_region).operands[place] is not instead[index]:
                return False
            yielded[index] = terminator_of(nested.true_region).operands[place]
        elif region_of_value(value) is op.regions[0]:
            return False
        else:
            selected.append(index)
    both = rewriter.insert(arith.AndIOp(op.operands[0], nested.cond), op).result
    new_block = Block()
    new = rewriter.insert(_if(both, op.result_types, Region(new_block), Region()), op)
    results: list[SSAValue] = list(new.results)
    for index in selected:
        select = arith.SelectOp(op.operands[0], yielded[index], instead[index])
        results[index] = rewriter.insert(select, new).result
    rewriter.merge(nested.true_region.block, new_block, ())
    yield_instead(terminator_of(new.regions[0]), yielded, rewriter)
    if instead:
        new.regions[1].add_block(Block())
        rewriter.append(scf.YieldOp(*instead), new.regions[1].block)
    rewriter.replace(op, results)
    return True


def _condition_is_known_inside(op: Operation, rewriter: Rewriter) -> bool:
    condition = op.operands[0]
    if constant_of(condition) is not None:
        return False
    known: dict[int, SSAValue] = {}
    has_changed = False
    for use in tuple(condition.uses):
        for value, region in zip((-1, 0), op.regions, strict=True):
            if is_inside(use.operation, region):
                if value not in known:
                    known[value] = constant(value, i1, op, rewriter)
                rewriter.set_operand(use.operation, use.index, known[value])
                has_changed = True
    return has_changed


def _select_values_from_outside(op: Operation, rewriter: Rewriter) -> bool:
    """Values that are not made in the branches are selected."""
    if not op.results:
        return False
    pairs = list(zip(*(terminator_of(region).operands for region in op.regions), strict=True))
    is_made = [
        any(
            region_of_value(value) is region for value, region in zip(pair, op.regions, strict=True)
        )
        for pair in pairs
    ]
    if all(is_made):
        return False
    types = [result.type for result, made in zip(op.results, is_made, strict=True) if made]
    new = rewriter.insert(_if(op.operands[0], types, Region(), Region()), op)
    for mine, source in zip(new.regions, op.regions, strict=True):
        source.move_blocks(mine)
    left = iter(new.results)
    results: list[SSAValue] = []
    for (then, otherwise), made in zip(pairs, is_made, strict=True):
        if made:
            results.append(next(left))
        elif then is otherwise:
            results.append(then)
        else:
            select = arith.SelectOp(op.operands[0], then, otherwise)
            results.append(rewriter.insert(select, new).result)
    for side, region in enumerate(new.regions):
        kept = [pair[side] for pair, made in zip(pairs, is_made, strict=True) if made]
        yield_instead(terminator_of(region), kept, rewriter)
    rewriter.replace(op, results)
    return True


def _without_empty_else(op: Operation, rewriter: Rewriter) -> bool:
    otherwise = op.regions[1].first_block
    if op.results or otherwise is None or not is_empty_but_for_its_end(otherwise):
        return False
    new = _if(op.operands[0], (), Region(), Region())
    new.attributes |= op.attributes
    rewriter.insert(new, op)
    op.regions[0].move_blocks(new.regions[0])
    rewriter.erase(op)
    return True


def _known_condition(op: Operation, rewriter: Rewriter) -> bool:
    condition = integer_of(op.operands[0])
    if condition is None:
        return False
    region = op.regions[0 if condition else 1]
    if region.blocks:
        replace_with_region(op, region, rewriter)
    else:
        rewriter.erase(op)
    return True


def _without_unused_results(op: Operation, rewriter: Rewriter) -> bool:
    used = [index for index, result in enumerate(op.results) if result.first_use is not None]
    if len(used) == len(op.results):
        return False
    types = [op.results[index].type for index in used]
    new = rewriter.insert(_if(op.operands[0], types, Region(Block()), Region(Block())), op)
    for mine, source in zip(new.regions, op.regions, strict=True):
        rewriter.merge(source.block, mine.block, ())
        end = terminator_of(mine)
        rewriter.set_operands(end, [end.operands[index] for index in used])
    results: list[SSAValue] = list(op.results)
    for index, result in zip(used, new.results, strict=True):
        results[index] = result
    rewriter.replace(op, results)
    return True


def _yield_condition(op: Operation, rewriter: Rewriter) -> bool:
    """Equal values, and truth values that are the condition or its opposite, need no branch."""
    has_changed = False
    if not op.results:
        return False
    pairs = zip(*(terminator_of(region).operands for region in op.regions), strict=True)
    for (then, otherwise), result in zip(pairs, op.results, strict=True):
        if result.first_use is None:
            continue
        value: SSAValue | None = None
        if then is otherwise:
            value = then
        elif result.type == i1 and (integer_of(then), integer_of(otherwise)) == (0, -1):
            value = complement(op.operands[0], op, rewriter)
        elif result.type == i1 and (integer_of(then), integer_of(otherwise)) == (-1, 0):
            value = op.operands[0]
        if value is not None:
            rewriter.replace_uses(result, value)
            has_changed = True
    return has_changed


PATTERNS: dict[str, Sequence[Pattern]] = {
    "scf.if": (
        _combine_with_previous,
        _combine_with_nested,
        _condition_is_known_inside,
        _select_values_from_outside,
        _without_empty_else,
        _known_condition,
        _without_unused_results,
        _yield_condition,
    ),
}
