"""Check the operands and results of operations against their definitions, with MLIR's messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseArrayBase,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    TensorType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import (
    AnyOf,
    AttrConstraint,
    AttrSizedOperandSegments,
    BaseAttr,
    EqAttrConstraint,
    IRDLOperation,
    OpDef,
    OptionalDef,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    VarConstraint,
    VariadicDef,
    VerificationContext,
)
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import (
    CoroHandleType,
    CoroIdType,
    CoroStateType,
    GroupType,
    TokenType,
    ValueType,
)
from tfrt_runtime.diagnostics import counted

_SEGMENTS = AttrSizedOperandSegments.attribute_name


def definition_problem(op: Operation) -> str | None:
    """Describe the first mismatch between an operation and its definition.

    Return None if there is no mismatch, or if MLIR has no message for it.
    """
    if not isinstance(op, IRDLOperation):
        return None
    return next(_problems(op, op.get_irdl_definition()), None)


def _problems(op: IRDLOperation, definition: OpDef) -> Iterator[str]:
    results, operands = definition.results, definition.operands
    yield from _count_problem(_RESULTS, len(op.results), [d for _, d in results])
    has_list = any(isinstance(one, VariadicDef) for _, one in definition.successors)
    if not has_list and len(op.successors) != len(definition.successors):
        count = len(definition.successors)
        yield f"requires {counted(count, 'successor')} but found {len(op.successors)}"
    yield from _count_problem(_OPERANDS, len(op.operands), [d for _, d in operands])
    if _SEGMENTS not in op.properties and _has_segments(definition):
        yield (
            f"operand count ({len(op.operands)}) does not match with the total size (0) "
            f"specified in attribute '{_SEGMENTS}'"
        )
        return
    for name, property_ in definition.properties.items():
        needed = not isinstance(property_, OptionalDef) and property_.default_value is None
        if needed and name not in op.properties and name not in op.attributes:
            yield f"requires attribute '{name}'"
    sizes = _segment_sizes(op)
    has_its_size = sum(sizes) == len(op.operands) and all(size >= 0 for size in sizes)
    if not _has_segments(definition) or has_its_size:
        yield from type_problems(definition, op.operand_types, op.result_types, op)


_OPERANDS = (
    "requires zero operands",
    "requires a single operand",
    "expected {} operands, but found {}",
)
_RESULTS = ("requires zero results", "requires one result", "expected {} results")


def _count_problem(
    words: tuple[str, str, str], found: int, definitions: Sequence[object]
) -> Iterator[str]:
    fixed = sum(not isinstance(one, VariadicDef) for one in definitions)
    if fixed < len(definitions):
        if found < fixed:
            more = "operands, but found" if words is _OPERANDS else "results"
            text = f"expected {fixed} or more {more}"
            yield f"{text} {found}" if words is _OPERANDS else text
    elif found != fixed:
        yield words[min(fixed, 2)].format(fixed, found)


def _has_segments(definition: OpDef) -> bool:
    return any(isinstance(one, AttrSizedOperandSegments) for one in definition.options)


def _segment_sizes(op: IRDLOperation) -> tuple[int, ...]:
    sizes = op.properties.get(_SEGMENTS)
    if not isinstance(sizes, DenseArrayBase) or not isinstance(sizes.elt_type, IntegerType):
        return ()
    return sizes.get_values()


def type_problems(
    definition: OpDef,
    operands: Sequence[Attribute],
    results: Sequence[Attribute],
    op: IRDLOperation | None = None,
) -> Iterator[str]:
    sizes = _segment_sizes(op) if op is not None and _has_segments(definition) else ()
    for what, types, definitions, segments in (
        ("operand", operands, definition.operands, sizes),
        ("result", results, definition.results, ()),
    ):
        kinds = _spread([one for _, one in definitions], len(types), segments)
        # `kinds` is shorter if a constraint or a list's size is unknown. The rest is not checked.
        for index, (type_, kind) in enumerate(zip(types, kinds, strict=False)):
            constraint, is_variadic = kind
            words = _words(definition.name, what, constraint)
            if words is None or _accepts(constraint, type_):
                continue
            if isinstance(type_, MemRefType):  # MLIR accepts buffers in some casts
                words = words.partition(" or memref of")[0]
            variadic = "variadic of " if is_variadic else ""
            yield f"{what} #{index} must be {variadic}{words}, but got '{type_}'"


Kind = tuple[AttrConstraint, bool]


def _spread(definitions: Sequence[object], count: int, sizes: Sequence[int]) -> list[Kind]:
    """Return the constraint of each of `count` values.

    A flag with each constraint says whether the value belongs to a list of operands or results.
    """
    fixed = sum(not isinstance(one, VariadicDef) for one in definitions)
    variadic = len(definitions) - fixed
    kinds: list[Kind] = []
    for position, definition in enumerate(definitions):
        constraint = _element(getattr(definition, "constr", None))
        if constraint is None or (variadic > 1 and not sizes):
            return kinds
        is_variadic = isinstance(definition, VariadicDef)
        size = sizes[position] if sizes else count - fixed if is_variadic else 1
        listed = is_variadic and not isinstance(definition, OptionalDef)
        kinds += [(constraint, listed)] * size
    return kinds


def _element(constraint: RangeConstraint | None) -> AttrConstraint | None:
    while isinstance(constraint, RangeLengthConstraint):
        constraint = constraint.constraint
    return constraint.constr if isinstance(constraint, RangeOf) else None


def _accepts(constraint: AttrConstraint, type_: Attribute) -> bool:
    try:
        constraint.verify(type_, VerificationContext())
    except VerifyException:
        return False
    return True


_BY_OPERATION = {
    "arith.bitcast": "signless-integer-or-float-like or memref of signless-integer or float",
    "arith.index_cast": "signless-integer-like or memref of signless-integer",
    "arith.index_castui": "signless-integer-like or memref of signless-integer",
    "scf.for": "signless integer or index",
}
_INTEGERS: frozenset[type[Attribute]] = frozenset({IntegerType, IndexType})
_BY_CLASSES: dict[frozenset[type[Attribute]], str] = {
    frozenset({TokenType}): "async token type",
    frozenset({ValueType}): "async value type",
    frozenset({GroupType}): "async group type",
    frozenset({TokenType, ValueType}): "async value type or async token type",
    frozenset(
        {TokenType, ValueType, GroupType}
    ): "async value type or async token type or async group type",
    frozenset({CoroIdType}): "switched-resume coroutine identifier",
    frozenset({CoroHandleType}): "coroutine handle",
    frozenset({CoroStateType}): "saved coroutine state",
    frozenset({FunctionType}): "function type",
    frozenset({IndexType}): "index",
    frozenset({MemRefType}): "memref of any type values",
    frozenset({IntegerType}): "signless-fixed-width-integer-like",
    _INTEGERS: "signless-integer-like",
}


@cache
def _words(operation: str, what: str, constraint: AttrConstraint) -> str | None:
    """Return MLIR's description of the accepted types.

    Return None if every type is accepted, or if this module does not know the description.
    """
    if isinstance(constraint, EqAttrConstraint) and constraint.attr == i1:
        return "bool-like" if operation.startswith("arith.") else "1-bit signless integer"
    classes = _classes(constraint)
    if classes is None:
        return None
    if operation in _BY_OPERATION:
        return _BY_OPERATION[operation]
    if classes and all(issubclass(one, AnyFloat) for one in classes):
        return "floating-point-like"
    return _BY_CLASSES.get(classes)


def _classes(constraint: AttrConstraint) -> frozenset[type[Attribute]] | None:
    """Return the classes of the accepted types, without vectors and tensors of these types."""
    match constraint:
        case VarConstraint():
            return _classes(constraint.constraint)
        case BaseAttr():
            return frozenset({constraint.attr})
        case EqAttrConstraint():
            return frozenset({type(constraint.attr)})
        case ParamAttrConstraint():
            is_container = issubclass(constraint.base_attr, VectorType | TensorType)
            return frozenset() if is_container else frozenset({constraint.base_attr})
        case AnyOf():
            parts = [_classes(one) for one in constraint.attr_constrs]
            if any(part is None for part in parts):
                return None
            return frozenset().union(*(part for part in parts if part is not None))
        case _:
            return None
