"""Arithmetic on integers and indices: constants, and operands that change nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, i1
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.passes.greedy.constants import integer, integer_of, signed, width_of
from tfrt_nb.passes.greedy.driver import Folded, Folder

Constants = Sequence[Attribute | None]
Compute = Callable[[int, int, int], int | None]
"""Two numbers with their signs and the width of their type; None where the result is not defined."""


def unsigned(number: int, width: int) -> int:
    """The number that the same bits are without a sign."""
    return number & ((1 << width) - 1)


def _on_unsigned(compute: Callable[[int, int], int]) -> Compute:
    return lambda a, b, width: compute(unsigned(a, width), unsigned(b, width))


def _divided(compute: Callable[[int, int], int]) -> Compute:
    """A division with signs: by zero it is not defined, nor where the quotient is too large."""

    def divide(a: int, b: int, width: int) -> int | None:
        if b == 0:
            return None
        quotient = compute(a, b)
        return quotient if signed(quotient, width) == quotient else None

    return divide


def _divided_unsigned(compute: Callable[[int, int], int]) -> Compute:
    def divide(a: int, b: int, width: int) -> int | None:
        return None if b == 0 else compute(unsigned(a, width), unsigned(b, width))

    return divide


def _shifted(compute: Callable[[int, int, int], int]) -> Compute:
    """A shift by as many bits as there are, or more, is not defined."""

    def shift(a: int, b: int, width: int) -> int | None:
        count = unsigned(b, width)
        return compute(a, count, width) if count < width else None

    return shift


def truncated_quotient(a: int, b: int) -> int:
    """Rounded towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: int, b: int) -> int:
    """What the quotient rounded towards zero leaves, with the sign of `a`."""
    return a - b * truncated_quotient(a, b)


def _ceiling(a: int, b: int, width: int) -> int | None:
    """Rounded up.  As in MLIR, not where the negative of a number would be too large."""
    if b == 0 or (a != 0 and -(1 << (width - 1)) in (a, b)):
        return None
    return -(-a // b)


COMPUTE: dict[str, Compute] = {
    "add": lambda a, b, width: a + b,
    "sub": lambda a, b, width: a - b,
    "mul": lambda a, b, width: a * b,
    "and": lambda a, b, width: a & b,
    "or": lambda a, b, width: a | b,
    "xor": lambda a, b, width: a ^ b,
    "maxs": lambda a, b, width: max(a, b),
    "mins": lambda a, b, width: min(a, b),
    "maxu": _on_unsigned(max),
    "minu": _on_unsigned(min),
    "divs": _divided(truncated_quotient),
    "divu": _divided_unsigned(lambda a, b: a // b),
    "rems": lambda a, b, width: remainder(a, b) if b else None,
    "remu": _divided_unsigned(lambda a, b: a % b),
    "ceildivs": _ceiling,
    "ceildivu": _divided_unsigned(lambda a, b: -(-a // b)),
    "floordivs": _divided(lambda a, b: a // b),
    "shl": _shifted(lambda a, count, width: a << count),
    "shrs": _shifted(lambda a, count, width: a >> count),
    "shru": _shifted(lambda a, count, width: unsigned(a, width) >> count),
}
"""What operations compute, by the names that `index` has for them."""

COMMUTATIVE = frozenset(("add", "mul", "and", "or", "xor", "maxs", "mins", "maxu", "minu"))
IDEMPOTENT = frozenset(("and", "or"))
"""What gives x for two of x."""


def number_of(constant: Attribute | None) -> int | None:
    """The number, with its sign, if the constant is an integer."""
    return constant.value.data if isinstance(constant, IntegerAttr) else None


def binary(kind: str, simplify: Folder | None = None) -> Folder:
    """Fold constants; before, what `simplify` knows; after, put a constant operand behind."""
    compute = COMPUTE[kind]

    def fold(op: Operation, constants: Constants) -> Folded:
        if simplify is not None and (known := simplify(op, constants)) is not None:
            return known
        left, right = map(number_of, constants)
        type_ = op.results[0].type
        if left is not None and right is not None:
            number = compute(left, right, width_of(type_))
            if number is not None:
                return [integer(number, type_)]
        if kind in IDEMPOTENT and op.operands[0] is op.operands[1]:
            return [op.operands[0]]
        return constant_behind(op, constants) if kind in COMMUTATIVE else None

    return fold


def constant_behind(op: Operation, constants: Constants) -> Folded:
    """Swap the operands if only the first is a constant."""
    if constants[0] is None or constants[1] is not None:
        return None
    left, right = op.operands
    op.operands[0] = right
    op.operands[1] = left
    return ()


def defined_by(value: SSAValue, *names: str) -> Operation | None:
    """The operation that makes the value, if it has one of these names."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.name in names else None


def simplified(*rules: Folder) -> Folder:
    """The first of these that folds."""

    def fold(op: Operation, constants: Constants) -> Folded:
        for rule in rules:
            if (known := rule(op, constants)) is not None:
                return known
        return None

    return fold


def left_if_right_is(number: int) -> Folder:
    """`x + 0` and the like are x."""
    return lambda op, constants: [op.operands[0]] if number_of(constants[1]) == number else None


def left_if_right_is_one(op: Operation, constants: Constants) -> Folded:
    """`x * 1` and the like are x; of one bit, a one is all bits."""
    return [op.operands[0]] if _is_one(constants[1]) else None


def _is_one(constant: Attribute | None) -> bool:
    number = number_of(constant)
    assert constant is None or number is None or isinstance(constant, IntegerAttr)
    if number is None or not isinstance(constant, IntegerAttr):
        return False
    return unsigned(number, width_of(constant.type)) == 1


def right_if_right_is(number: int) -> Folder:
    """`x * 0` and the like are 0."""
    return lambda op, constants: [op.operands[1]] if number_of(constants[1]) == number else None


def ones_if_right_is(op: Operation, constants: Constants) -> Folded:
    """`x | -1` is -1."""
    return [integer(-1, op.results[0].type)] if number_of(constants[1]) == -1 else None


def zero_if_right_is_one(op: Operation, constants: Constants) -> Folded:
    return [integer(0, op.results[0].type)] if _is_one(constants[1]) else None


def zero_if_equal(op: Operation, constants: Constants) -> Folded:
    """`x - x` and the like are 0."""
    return [integer(0, op.results[0].type)] if op.operands[0] is op.operands[1] else None


def sum_less_one_part(op: Operation, constants: Constants) -> Folded:
    """`(a - b) + b` is a."""
    left, right = op.operands
    for difference, other in ((left, right), (right, left)):
        made = defined_by(difference, "arith.subi", "index.sub")
        if made is not None and made.operands[1] is other:
            return [made.operands[0]]
    return None


def difference_of_sum(op: Operation, constants: Constants) -> Folded:
    """`(a + b) - b` is a."""
    made = defined_by(op.operands[0], "arith.addi", "index.add")
    if made is None:
        return None
    one, other = made.operands
    if op.operands[1] is other:
        return [one]
    return [other] if op.operands[1] is one else None


def and_of_and(op: Operation, constants: Constants) -> Folded:
    """`(a & b) & b` is `a & b`."""
    for inner, other in (op.operands, reversed(op.operands)):
        made = defined_by(inner, "arith.andi")
        if made is not None and any(other is one for one in made.operands):
            return [inner]
    return None


def _complement(value: SSAValue, of: SSAValue) -> Operation | None:
    """The operation, if `value` is `of` with all bits the other way round."""
    made = defined_by(value, "arith.xori")
    if made is not None and made.operands[0] is of and integer_of(made.operands[1]) == -1:
        return made
    return None


def and_of_complement(op: Operation, constants: Constants) -> Folded:
    """`a & ~a` is 0."""
    left, right = op.operands
    if _complement(right, left) is not None or _complement(left, right) is not None:
        return [integer(0, op.results[0].type)]
    return None


def or_of_complement(op: Operation, constants: Constants) -> Folded:
    """`a | ~a` is all ones."""
    left, right = op.operands
    for value, of in ((right, left), (left, right)):
        made = _complement(value, of)
        if made is not None:
            return [made.operands[1]]
    return None


def xor_of_xor(op: Operation, constants: Constants) -> Folded:
    """`(a ^ b) ^ b` is a."""
    for inner, other in (op.operands, reversed(op.operands)):
        made = defined_by(inner, "arith.xori")
        if made is None:
            continue
        if made.operands[1] is other:
            return [made.operands[0]]
        if made.operands[0] is other:
            return [made.operands[1]]
    return None


def _extreme(kind: str, width: int) -> tuple[int, int]:
    """The number that decides a maximum or minimum, and the one that never does."""
    least, most = -(1 << (width - 1)), (1 << (width - 1)) - 1
    return {
        "maxs": (most, least),
        "mins": (least, most),
        "maxu": (-1, 0),
        "minu": (0, -1),
    }[kind]


def extremum(kind: str) -> Folder:
    """A maximum or minimum."""

    def simplify(op: Operation, constants: Constants) -> Folded:
        if op.operands[0] is op.operands[1]:
            return [op.operands[0]]
        decides, never = _extreme(kind, width_of(op.results[0].type))
        number = number_of(constants[1])
        if number == decides:
            return [op.operands[1]]
        return [op.operands[0]] if number == never else None

    return binary(kind, simplify)


def add_extended(op: Operation, constants: Constants) -> Folded:
    """The sum, and whether it has wrapped."""
    left, right = map(number_of, constants)
    type_, flag = op.results[0].type, op.results[1].type
    if right == 0:
        return [op.operands[0], integer(0, flag)]
    if left is None or right is None:
        return constant_behind(op, constants)
    width = width_of(type_)
    total = unsigned(left, width) + unsigned(right, width)
    return [integer(total, type_), integer(total >> width, flag)]


def multiply_extended(is_signed: bool) -> Folder:
    """The product in two halves."""

    def fold(op: Operation, constants: Constants) -> Folded:
        left, right = map(number_of, constants)
        type_ = op.results[0].type
        zero = integer(0, type_)
        if right == 0:
            return [zero, zero]
        if not is_signed and _is_one(constants[1]):
            return [op.operands[0], zero]
        if left is None or right is None:
            return constant_behind(op, constants)
        width = width_of(type_)
        if not is_signed:
            left, right = unsigned(left, width), unsigned(right, width)
        return [integer(left * right, type_), integer(left * right >> width, type_)]

    return fold


# Comparisons

_SWAPPED = {0: 0, 1: 1, 2: 4, 3: 5, 4: 2, 5: 3, 6: 8, 7: 9, 8: 6, 9: 7}
"""The predicate for operands the other way round: eq ne slt sle sgt sge ult ule ugt uge."""
_HOLD_FOR_EQUAL = frozenset((0, 3, 5, 7, 9))


def compare(predicate: int, a: int, b: int, width: int) -> bool:
    """What `arith.cmpi` finds, by the number of its predicate."""
    if predicate >= 6:
        a, b = unsigned(a, width), unsigned(b, width)
        predicate -= 4
    return (a == b, a != b, a < b, a <= b, a > b, a >= b)[predicate]


def truth(value: bool) -> IntegerAttr:
    return BoolAttr.from_bool(value)


def cmpi(op: Operation, constants: Constants) -> Folded:
    left, right = op.operands
    attribute = op.properties["predicate"]
    assert isinstance(attribute, IntegerAttr)
    predicate = attribute.value.data
    if left is right:
        return [truth(predicate in _HOLD_FOR_EQUAL)]
    a, b = map(number_of, constants)
    if b == 0 and predicate == 1:
        extended = defined_by(left, "arith.extsi", "arith.extui")
        if extended is not None and extended.operands[0].type == i1:
            return [extended.operands[0]]
    if a is not None and b is not None:
        return [truth(compare(predicate, a, b, width_of(left.type)))]
    if a is None or constants[1] is not None:
        return None
    op.properties["predicate"] = IntegerAttr(_SWAPPED[predicate], attribute.type)
    op.operands[0] = right
    op.operands[1] = left
    return ()


def select(op: Operation, constants: Constants) -> Folded:
    condition, then, otherwise = op.operands
    if then is otherwise:
        return [then]
    known = number_of(constants[0])
    if known is not None:
        return [then if known else otherwise]
    if op.results[0].type == i1 and number_of(constants[1]) == -1 and number_of(constants[2]) == 0:
        return [condition]
    compared = defined_by(condition, "arith.cmpi")
    if compared is None or not all(
        any(one is other for other in compared.operands) for one in (then, otherwise)
    ):
        return None
    attribute = compared.properties["predicate"]
    assert isinstance(attribute, IntegerAttr)
    if attribute.value.data > 1:
        return None
    return [then if attribute.value.data == 1 else otherwise]
