"""Verification cache keys: operations with equal keys are verified once.

A key holds the name, types and attributes that the checks of an operation read.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import cache

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation


def verification_key(operation: Operation, symbols: Mapping[str, Operation]) -> Hashable | None:
    """All that the checks of the operation read, if that is little; else None.

    Types and attributes count by identity, which the parser makes often enough the same.
    """
    kind = type(operation)
    if operation.attributes or not _has_key(kind):
        return None
    parts: list[Hashable] = [kind, *_ids(operation.operands), None, *_ids(operation.results)]
    parts.append(id(symbols))
    for name, attribute in operation.properties.items():
        if kind.name == "arith.constant" and isinstance(attribute, IntegerAttr):
            parts += (name, id(attribute.type))  # whatever the number is
        elif isinstance(attribute, DenseArrayBase):
            parts += (name, id(attribute.elt_type), attribute.data)
        else:
            parts += (name, id(attribute))
    if operation.regions:
        body = operation.regions[0].blocks
        end = body[0].last_op if len(body) == 1 else None
        if end is None:
            return None
        parts += (None, *_ids(body[0].args), type(end), *_ids(end.operands))
    elif kind.name in _ENDS:
        block = operation.parent
        parent = operation.parent_op()
        parts += (
            "" if parent is None else parent.name,
            block is not None and block.last_op is operation,
        )
    return tuple(parts)


def _ids(values: Iterable[SSAValue]) -> list[int]:
    return [id(value.type) for value in values]


@cache
def _has_key(kind: type[Operation]) -> bool:
    """Whether the checks of this class read nothing but what `verification_key` holds."""
    computes = kind.name.startswith(("arith.", "index.", "math."))
    return issubclass(kind, IRDLOperation) and (computes or kind.name in _WITH_KEYS | _ENDS)


_ENDS = frozenset({"async.yield", "scf.yield"})
_WITH_KEYS = frozenset(
    {
        "async.add_to_group",
        "async.await",
        "async.execute",
        "func.call",
        "memref.load",
        "memref.store",
    }
)
