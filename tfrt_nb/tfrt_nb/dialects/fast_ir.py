"""Create and link operations at a third of the usual cost.

`Operation.create` and `Block.add_op` serve every caller: they accept any iterables, detach attached
values, and count regions and successors. A parser does not need any of these. It creates a hundred
thousand plain operations, and appends each new one to its block. The functions here set the fields
that xDSL 0.74 has, and the tests compare the outcome with xDSL's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, Use
from xdsl.ir.core import SSAValues

OpT = TypeVar("OpT", bound=Operation)

_new = tuple.__new__


def create(
    operation_type: type[OpT],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    attributes: dict[str, Attribute],
    location: LocationAttr,
    properties: dict[str, Attribute],
) -> OpT:
    """Create an operation without regions and successors.

    The operation takes ownership of the dictionaries.
    """
    operation = operation_type.__new__(operation_type)
    initialize(
        operation,
        operands=operands,
        result_types=result_types,
        properties=properties,
        attributes=attributes,
        location=location,
    )
    return operation


def initialize(
    operation: Operation,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: dict[str, Attribute] | None = None,
    attributes: dict[str, Attribute] | None = None,
    location: LocationAttr = UNKNOWN_LOC,
    successors: Sequence[Block] = (),
) -> None:
    """Initialize a new operation without regions, as `Operation.__init__` does."""
    operation.properties = {} if properties is None else properties
    operation.attributes = {} if attributes is None else attributes
    operation.location = location
    if operands:
        _use(operation, operands)
    if result_types:
        _make_results(operation, result_types)
    if successors:
        operation._successors = tuple(successors)
        uses = tuple(Use(operation, index) for index in range(len(successors)))
        for block, use in zip(successors, uses, strict=True):
            block.add_use(use)
        operation._successor_uses = uses


def _use(operation: Operation, operands: Sequence[SSAValue]) -> None:
    operation._operands = _new(SSAValues, operands)
    uses = []
    for index, value in enumerate(operands):
        next_use = value.first_use
        # The newest use comes first in the value's list.
        use = Use(operation, index, None, next_use)
        if next_use is not None:
            next_use._prev_use = use
        value.first_use = use
        uses.append(use)
    operation._operand_uses = tuple(uses)


def _make_results(operation: Operation, types: Sequence[Attribute]) -> None:
    operation.results = _new(
        SSAValues, [OpResult(type, operation, index) for index, type in enumerate(types)]
    )


def append(block: Block, operation: Operation) -> None:
    """Append `operation`, which is in no block, to `block`."""
    operation.parent = block
    last = block._last_op
    if last is None:
        block._first_op = operation
    else:
        last._next_op = operation
        operation._prev_op = last
    block._last_op = operation


def insert_before(operation: Operation, following: Operation) -> None:
    """Insert `operation`, which is in no block, before `following`, which is in a block."""
    operation.parent = following.parent
    operation._next_op = following
    previous = following._prev_op
    following._prev_op = operation
    if previous is None:
        assert following.parent is not None
        following.parent._first_op = operation
    else:
        previous._next_op = operation
        operation._prev_op = previous
