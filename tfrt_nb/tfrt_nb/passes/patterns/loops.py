"""Loops that run never or once, and values that they carry in vain."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import cf, scf
from xdsl.dialects.builtin import DenseArrayBase, IndexType, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.passes.folds.integers import defined_by
from tfrt_nb.passes.greedy.constants import integer_of
from tfrt_nb.passes.greedy.driver import Pattern
from tfrt_nb.passes.greedy.rewriter import Rewriter
from tfrt_nb.passes.patterns.regions import (
    is_empty_but_for_its_end,
    is_inside,
    replace_with_region,
    terminator_of,
)

_ForParts = tuple[list[SSAValue], list[SSAValue]]


def _carry_less(op: Operation, rewriter: Rewriter) -> bool:
    """Values that every round passes on, that no round looks at, or that are carried twice."""
    assert isinstance(op, scf.ForOp)
    body = op.body.block
    yielded = list(terminator_of(op.body).operands)
    known: dict[tuple[SSAValue, SSAValue], int] = {}
    instead: list[SSAValue | None] = []
    for index, (first, argument, result, next_) in enumerate(
        zip(op.iter_args, body.args[1:], op.results, yielded, strict=True)
    ):
        is_same = next_ is first or result.first_use is None
        if next_ is argument or (argument.first_use is None and is_same):
            instead.append(first)
            continue
        same = known.setdefault((first, next_), index)
        if same != index:
            rewriter.replace_uses(argument, body.args[1 + same])
            rewriter.replace_uses(result, op.results[same])
            instead.append(first)
        else:
            instead.append(None)
    if all(value is None for value in instead):
        return False
    _loop_again(op, instead, rewriter)
    return True


def _loop_again(op: scf.ForOp, instead: Sequence[SSAValue | None], rewriter: Rewriter) -> None:
    """The loop with only those carried values that there is nothing else for."""
    kept = [index for index, value in enumerate(instead) if value is None]
    carried = [op.iter_args[index] for index in kept]
    old = op.body.block
    body = Block(arg_types=[old.args[0].type, *(value.type for value in carried)])
    new = scf.ForOp(op.lb, op.ub, op.step, carried, body)
    new.attributes |= op.attributes
    rewriter.insert(new, op)
    places = {index: place for place, index in enumerate(kept)}
    arguments = [
        body.args[1 + places[index]] if value is None else value
        for index, value in enumerate(instead)
    ]
    results = [
        new.results[places[index]] if value is None else value
        for index, value in enumerate(instead)
    ]
    old_end = terminator_of(op.body)
    rewriter.merge(old, body, [body.args[0], *arguments])
    rewriter.insert(scf.YieldOp(*(old_end.operands[index] for index in kept)), old_end)
    rewriter.erase(old_end)
    rewriter.replace(op, results)


def _difference(lower: SSAValue, upper: SSAValue) -> int | None:
    """How far apart the bounds are."""
    numbers = integer_of(lower), integer_of(upper)
    if numbers[0] is not None and numbers[1] is not None:
        return numbers[1] - numbers[0]
    made = defined_by(upper, "arith.addi")
    if made is None:
        return None
    for value, more in (made.operands, reversed(made.operands)):
        if value is lower and (number := integer_of(more)) is not None:
            return number
    return None


def _known_rounds(op: Operation, rewriter: Rewriter) -> bool:
    """A loop that never runs, that runs once, or that does nothing."""
    assert isinstance(op, scf.ForOp)
    if op.lb is op.ub:
        rewriter.replace(op, list(op.iter_args))
        return True
    difference = _difference(op.lb, op.ub)
    if difference is None:
        return False
    if difference <= 0:
        rewriter.replace(op, list(op.iter_args))
        return True
    step = integer_of(op.step)
    if step is None:
        return False
    if step >= difference:
        replace_with_region(op, op.body, rewriter, [op.lb, *op.iter_args])
        return True
    if not is_empty_but_for_its_end(op.body.block):
        return False
    yielded = list(terminator_of(op.body).operands)
    if any(_is_made_inside(value, op.body) for value in yielded):
        return False
    rewriter.replace(op, yielded)
    return True


def _is_made_inside(value: SSAValue, region: Region) -> bool:
    owner = value.owner
    return is_inside(owner, region) if isinstance(owner, Operation) else owner.parent is region


# Parallel loops


def _trip_count(lower: SSAValue, upper: SSAValue, step: SSAValue) -> int | None:
    if lower is upper:
        return 0
    numbers = integer_of(lower), integer_of(upper), integer_of(step)
    if numbers[0] is None or numbers[1] is None or numbers[2] is None or numbers[2] == 0:
        return None
    return -((numbers[0] - numbers[1]) // numbers[2])


def _fewer_dimensions(op: Operation, rewriter: Rewriter) -> bool:
    """Dimensions with one round go away, loops with none altogether."""
    assert isinstance(op, scf.ParallelOp)
    body = op.body.block
    values: dict[SSAValue, SSAValue] = {}
    kept = []
    bounds = list(zip(op.lowerBound, op.upperBound, op.step, strict=True))
    for (lower, upper, step), argument in zip(bounds, body.args, strict=True):
        trips = _trip_count(lower, upper, step)
        if trips == 0:
            rewriter.replace(op, list(op.initVals))
            return True
        if trips == 1:
            values[argument] = lower
        else:
            kept.append((lower, upper, step))
    if len(kept) == len(bounds):
        return False
    if not kept:
        rewriter.replace(op, _run_once(op, values, rewriter))
        return True
    new_body = Block(arg_types=[IndexType()] * len(kept))
    left = iter(new_body.args)
    for argument in body.args:
        if argument not in values:
            values[argument] = next(left)
    new = _parallel(kept, list(op.initVals), Region(new_body))
    new.attributes |= op.attributes
    rewriter.insert(new, op)
    for nested in body.ops:
        copied = nested.clone(values)
        new_body.add_op(copied)
    for nested in new_body.walk():
        rewriter.look_at(nested)
    rewriter.replace(op, new.results)
    return True


def _run_once(
    op: scf.ParallelOp, values: dict[SSAValue, SSAValue], rewriter: Rewriter
) -> list[SSAValue]:
    """Put the body in front of the loop; the results of its reductions."""
    reduce = terminator_of(op.body)
    for nested in list(op.body.block.ops):
        if nested is not reduce:
            rewriter.clone(nested, op, values)
    results = []
    for first, region, operand in zip(op.initVals, reduce.regions, reduce.operands, strict=True):
        reduction = region.block
        values[reduction.args[0]] = first
        values[reduction.args[1]] = values.get(operand, operand)
        end = terminator_of(region)
        for nested in list(reduction.ops):
            if nested is not end:
                rewriter.clone(nested, op, values)
        results.append(values.get(end.operands[0], end.operands[0]))
    return results


def _parallel(
    bounds: Sequence[tuple[SSAValue, SSAValue, SSAValue]], carried: list[SSAValue], body: Region
) -> scf.ParallelOp:
    lower, upper, steps = (list(values) for values in zip(*bounds, strict=True))
    sizes = [len(lower), len(upper), len(steps), len(carried)]
    return scf.ParallelOp.create(
        operands=[*lower, *upper, *steps, *carried],
        result_types=[value.type for value in carried],
        regions=[body],
        properties={"operandSegmentSizes": DenseArrayBase.from_list(i32, sizes)},
    )


def _merge_nested(op: Operation, rewriter: Rewriter) -> bool:
    """A loop in a loop, and nothing else, is one with more dimensions."""
    assert isinstance(op, scf.ParallelOp)
    outer = op.body.block
    nested = outer.first_op
    if not isinstance(nested, scf.ParallelOp) or nested.next_op is not outer.last_op:
        return False
    bounds = [*nested.lowerBound, *nested.upperBound, *nested.step]
    if op.initVals or nested.initVals or any(value in outer.args for value in bounds):
        return False
    inner = nested.body.block
    body = Block(arg_types=[IndexType()] * (len(outer.args) + len(inner.args)))
    values = dict(zip([*outer.args, *inner.args], body.args, strict=True))
    for one in inner.ops:
        if one is not inner.last_op:
            body.add_op(one.clone(values))
    body.add_op(scf.ReduceOp())
    all_bounds = [
        *zip(op.lowerBound, op.upperBound, op.step, strict=True),
        *zip(nested.lowerBound, nested.upperBound, nested.step, strict=True),
    ]
    rewriter.replace_with(op, _parallel(all_bounds, [], Region(body)))
    return True


# Regions that run once


def _inline_region(op: Operation, rewriter: Rewriter) -> bool:
    [region] = op.regions
    if len(region.blocks) != 1:
        return False
    replace_with_region(op, region, rewriter)
    return True


def _inline_blocks(op: Operation, rewriter: Rewriter) -> bool:
    """Several blocks can stand in functions, and in regions of their kind."""
    if not isinstance(op.parent_op(), FuncOp | AsyncFuncOp | scf.ExecuteRegionOp):
        return False
    [region] = op.regions
    head = op.parent
    assert head is not None and head.parent is not None
    rest = Block()
    head.parent.insert_block_after(rest, head)
    for moved in reversed(list(_from(op))):
        head.detach_op(moved)
        if rest.first_op is None:
            rest.add_op(moved)
        else:
            rest.insert_op_before(moved, rest.first_op)
        rewriter.look_at(moved)
    rewriter.append(cf.BranchOp(region.blocks[0]), head)
    for block in region.blocks:
        end = block.last_op
        if isinstance(end, scf.YieldOp):
            rewriter.insert(cf.BranchOp(rest, *end.operands), end)
            rewriter.erase(end)
    region.move_blocks_before(rest)
    results = [rest.insert_arg(result.type, len(rest.args)) for result in op.results]
    rewriter.replace(op, results)
    return True


def _from(op: Operation) -> Sequence[Operation]:
    found = []
    following: Operation | None = op
    while following is not None:
        found.append(following)
        following = following.next_op
    return found


def _known_case(op: Operation, rewriter: Rewriter) -> bool:
    assert isinstance(op, scf.IndexSwitchOp)
    number = integer_of(op.arg)
    if number is None:
        return False
    cases = dict(zip(op.cases.get_values(), op.case_regions, strict=True))
    region = cases.get(number, op.default_region)
    end = terminator_of(region)
    results = list(end.operands)
    rewriter.inline_before(region.block, op, ())
    rewriter.erase(end)
    rewriter.replace(op, results)
    return True


PATTERNS: dict[str, Sequence[Pattern]] = {
    "scf.for": (_carry_less, _known_rounds),
    "scf.parallel": (_fewer_dimensions, _merge_nested),
    "scf.execute_region": (_inline_region, _inline_blocks),
    "scf.index_switch": (_known_case,),
}
