"""Arithmetic on indices whose width is not known: what gives the same in 32 and in 64 bits."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import CMPI_COMPARISON_OPERATIONS
from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Attribute, Operation

from tfrt_nb.passes.folds.integers import COMPUTE, compare, number_of, truth, unsigned
from tfrt_nb.passes.greedy.constants import integer, signed, width_of
from tfrt_nb.passes.greedy.driver import Folded, Folder

Constants = Sequence[Attribute | None]

_SAME_IN_ANY_WIDTH = frozenset(("add", "sub", "mul", "and", "or", "xor", "shl"))
"""The lowest bits of the result depend on the lowest bits of the operands only."""
_NOTHING_CHANGES = {"add": 0, "sub": 0, "mul": 1, "divs": 1, "divu": 1}


def _binary(kind: str) -> Folder:
    compute = COMPUTE[kind]

    def fold(op: Operation, constants: Constants) -> Folded:
        left, right = map(number_of, constants)
        if left is not None and right is not None:
            number = compute(left, right, 64)
            if number is not None and kind not in _SAME_IN_ANY_WIDTH:
                short = compute(signed(left, 32), signed(right, 32), 32)
                if short is None or signed(short, 32) != signed(number, 32):
                    number = None
            if number is not None:
                return [integer(number, IndexType())]
        return _with_known_right(kind, op, right)

    return fold


def _with_known_right(kind: str, op: Operation, right: int | None) -> Folded:
    if right is None:
        return None
    if right == _NOTHING_CHANGES.get(kind):
        return [op.operands[0]]
    return [op.operands[1]] if kind == "mul" and right == 0 else None


def _compare(op: Operation, constants: Constants) -> Folded:
    left, right = map(number_of, constants)
    name = op.properties["pred"]
    assert isinstance(name, StringAttr)
    predicate = CMPI_COMPARISON_OPERATIONS.index(name.data)
    if left is not None and right is not None:
        long = compare(predicate, left, right, 64)
        if long == compare(predicate, signed(left, 32), signed(right, 32), 32):
            return [truth(long)]
    if op.operands[0] is op.operands[1]:
        return [truth(compare(predicate, 0, 0, 64))]
    return None


def _cast(*, is_signed: bool) -> Folder:
    def fold(op: Operation, constants: Constants) -> Folded:
        number = number_of(constants[0])
        if number is None:
            return None
        source, target = op.operands[0].type, op.results[0].type
        plain = number if is_signed else unsigned(number, width_of(source))
        return [integer(plain, target)]

    return fold


FOLDERS: dict[str, Folder] = {
    **{f"index.{kind}": _binary(kind) for kind in COMPUTE},
    "index.cmp": _compare,
    "index.casts": _cast(is_signed=True),
    "index.castu": _cast(is_signed=False),
}
