"""What MLIR's conversions fold on their way.

A conversion tries to fold each operation of which it does not know that it may stay.  It looks at every
operation once, and at the operands that it had before; so `(1 + 2) + 3` becomes `3 + 3`.  Only constants
of `arith` are known to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.passes.control_flow import Emitter, erase, operations_in
from tfrt_nb.passes.folds.table import FOLDERS
from tfrt_nb.passes.greedy.constants import constant_of, constant_op

_KNOWN = frozenset(("arith.xori",))
"""What may stay."""


def fold_once(module: ModuleOp, *, known: frozenset[str] = frozenset()) -> None:
    """Fold the operations of the module, but those that are known to the conversion."""
    instead: dict[SSAValue, SSAValue] = {}
    gone = []
    for op in operations_in(module):
        if op.name in FOLDERS and op.name not in _KNOWN and op.name not in known:
            values = folded(op)
            if values is not None:
                instead.update(zip(op.results, values, strict=True))
                gone.append(op)
    for result, replacement in instead.items():
        value = replacement
        while value in instead:
            value = instead[value]
        result.replace_all_uses_with(value)
    for op in reversed(gone):
        erase(op)


def folded(op: Operation) -> list[SSAValue] | None:
    """What the results are, with new constants in front of the operation; None if that is not known."""
    folder = FOLDERS.get(op.name)
    if folder is None:
        return None
    found = folder(op, [constant_of(operand) for operand in op.operands])
    while found is not None and not found:
        found = folder(op, [constant_of(operand) for operand in op.operands])
    return None if found is None else _values(op, found)


def _values(op: Operation, found: Sequence[SSAValue | Attribute]) -> list[SSAValue] | None:
    dialect, _, _ = op.name.partition(".")
    made: list[SSAValue | Operation] = []
    for one, result in zip(found, op.results, strict=True):
        constant = one if isinstance(one, SSAValue) else constant_op(one, result.type, dialect)
        if constant is None or (
            isinstance(constant, Operation) and type(constant) is not ConstantOp
        ):
            return None
        made.append(constant)
    emit = Emitter.in_front_of(op)
    return [one if isinstance(one, SSAValue) else emit(one).results[0] for one in made]
