"""Lower `arith` and `math` to LLVM instructions, intrinsics, and functions of the C library."""

from __future__ import annotations

from xdsl.dialects import arith, math, ub
from xdsl.dialects.builtin import IntegerType, MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Operation

from tfrt_nb.jit.function_body import Argument, FunctionBody, Lowering
from tfrt_nb.jit.llvm_types import UnsupportedType, constant, float_literal, llvm_type
from tfrt_nb.jit.operations.descriptors import dead_buffer
from tfrt_nb.passes.safety.interruptible_loops import NEVER_WRAPS
from tfrt_runtime.scalars import INSTRUCTIONS

_BINARY = {**INSTRUCTIONS, "shrui": "lshr", "remf": "frem"}
_EQUAL_NAMES = (
    "acos asin atan atan2 ceil copysign cos cosh ctpop exp exp2 floor fma log log10 log2 round roundeven "  # noqa: E501
    "sin sinh sqrt tan tanh trunc"
)
_INTRINSICS = {
    "arith.maxsi": "smax",
    "arith.minsi": "smin",
    "arith.maxui": "umax",
    "arith.minui": "umin",
    "arith.maximumf": "maximum",
    "arith.minimumf": "minimum",
    "arith.maxnumf": "maxnum",
    "arith.minnumf": "minnum",
    "math.absf": "fabs",
    "math.powf": "pow",
    **{f"math.{name}": name for name in _EQUAL_NAMES.split()},
}
_CASTS = {
    "extsi": "sext",
    "extui": "zext",
    "trunci": "trunc",
    "sitofp": "sitofp",
    "uitofp": "uitofp",
    "extf": "fpext",
    "truncf": "fptrunc",
    "bitcast": "bitcast",
}
# The functions of the C library for which LLVM has no intrinsic.
_LIBRARY_FUNCTIONS = ("acosh", "asinh", "atanh", "cbrt", "erf", "expm1", "log1p")
_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
# A shift by too many bits yields poison. Users' shifts are guarded, but `scalar_operations` also
# computes results that no code selects.
_UNDEFINED_FOR_SOME = frozenset({"shl", "ashr", "lshr"})


def _binary(instruction: str) -> Lowering:
    def lower(body: FunctionBody, op: Operation) -> None:
        left, right = op.operands
        set_ = body.set_frozen if instruction in _UNDEFINED_FOR_SOME else body.set
        set_(op.results[0], f"{instruction} {body.typed(left)}, {body.name(right)}")

    return lower


def _lower_addi(body: FunctionBody, op: Operation) -> None:
    left, right = op.operands
    instruction = "add nsw" if NEVER_WRAPS in op.attributes else "add"
    body.set(op.results[0], f"{instruction} {body.typed(left)}, {body.name(right)}")


def _intrinsic(name: str, *flags: Argument) -> Lowering:
    """Return the lowering to an intrinsic.

    Some intrinsics take `flags`, which say whether the result is poison for zero or the least
    number.
    """

    def lower(body: FunctionBody, op: Operation) -> None:
        type_ = op.results[0].type
        full_name = f"llvm.{name}.{_type_suffix(type_)}"
        result = body.call(full_name, llvm_type(type_), *map(body.argument, op.operands), *flags)
        body.bind(op.results[0], result)

    return lower


def _type_suffix(type_: Attribute) -> str:
    """Return the suffix for a type in the names of LLVM's intrinsics."""
    text = llvm_type(type_)
    return {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}.get(text, text)


def _cast(instruction: str) -> Lowering:
    def lower(body: FunctionBody, op: Operation) -> None:
        target = llvm_type(op.results[0].type)
        [operand] = op.operands
        given, last = body.typed(operand), instruction
        if target == "bfloat" and instruction.endswith("tofp"):
            # LLVM would convert to `float` first, and round twice.
            convert = f"{instruction} {given} to double"
            if _width(operand.type) > _DOUBLE_BITS:
                convert = f"call double {_to_odd_double(body, instruction, operand.type)}({given})"
            given, last = f"double {body.value(convert)}", "fptrunc"
        body.set(op.results[0], f"{last} {given} to {target}")

    return lower


# The number of bits of a double's significand.
_DOUBLE_BITS = 53


def _to_odd_double(body: FunctionBody, instruction: str, type_: Attribute) -> str:
    """Return a helper that converts an integer to a double, rounding to odd.

    Only a later conversion to a narrower type then rounds; see `compiler._TO_BFLOAT`.
    """
    text = llvm_type(type_)
    name = f"@__odd.{instruction}.{text}"
    count_zeros = body.module.declare(f"llvm.ctlz.{text}", text, f"{text}, i1")
    body.module.helpers[name] = f"""\
define internal double {name}({text} %x) {{
  %is_negative = icmp {"slt" if instruction == "sitofp" else "ult"} {text} %x, 0
  %negated = sub {text} 0, %x
  %size = select i1 %is_negative, {text} %negated, {text} %x
  %zeros = call {text} {count_zeros}({text} %size, i1 false)
  %above = sub {text} {_width(type_) - _DOUBLE_BITS}, %zeros
  %fits = icmp slt {text} %above, 0
  %excess = select i1 %fits, {text} 0, {text} %above
  %upper = lshr {text} %size, %excess
  %back = shl {text} %upper, %excess
  %is_inexact = icmp ne {text} %back, %size
  %last = zext i1 %is_inexact to {text}
  %odd = or {text} %upper, %last
  %kept = shl {text} %odd, %excess
  %number = uitofp {text} %kept to double
  %minus = fneg double %number
  %result = select i1 %is_negative, double %minus, double %number
  ret double %result
}}"""
    return name


def _saturating(name: str) -> Lowering:
    """Return the lowering to a saturating conversion.

    The conversion returns the nearest integer that fits, and 0 for NaN. A plain conversion of such
    numbers would differ between processors.
    """

    def lower(body: FunctionBody, op: Operation) -> None:
        [source], [result] = op.operands, op.results
        target = llvm_type(result.type)
        full_name = f"llvm.{name}.sat.{target}.{_type_suffix(source.type)}"
        body.bind(result, body.call(full_name, target, body.argument(source)))

    return lower


def _index_cast(widen: str) -> Lowering:
    def lower(body: FunctionBody, op: Operation) -> None:
        source, target = op.operands[0], op.results[0]
        widths = _width(source.type), _width(target.type)
        if widths[0] == widths[1]:
            body.bind(target, body.name(source))
            return
        instruction = widen if widths[0] < widths[1] else "trunc"
        body.set(target, f"{instruction} {body.typed(source)} to {llvm_type(target.type)}")

    return lower


def _width(type_: Attribute) -> int:
    return type_.width.data if isinstance(type_, IntegerType) else 64


def _lower_poison(body: FunctionBody, op: Operation) -> None:
    """Lower poison to an arbitrary value.

    LLVM would treat all code that depends on poison as unreachable, even assertions.
    """
    [result] = op.results
    if isinstance(result.type, MemRefType | UnrankedMemRefType):
        body.bind(result, dead_buffer(body, result.type))
    else:
        body.bind(result, "zeroinitializer")


def _instruction(name: str) -> Lowering:
    def lower(body: FunctionBody, op: Operation) -> None:
        body.set(op.results[0], f"{name} {body.typed_list(op.operands)}")

    return lower


def _lower_comparison(body: FunctionBody, op: arith.CmpiOp | arith.CmpfOp) -> None:
    is_integer = isinstance(op, arith.CmpiOp)
    predicates = _INTEGER_PREDICATES if is_integer else _FLOAT_PREDICATES
    compare = f"{'icmp' if is_integer else 'fcmp'} {predicates[op.predicate.value.data]}"
    body.set(op.result, f"{compare} {body.typed(op.lhs)}, {body.name(op.rhs)}")


def _widened_truth(body: FunctionBody, value: str, type_: str) -> str:
    """Return the truth value `value` as a number of type `type_`: 0 or 1."""
    return value if type_ == "i1" else body.value(f"zext i1 {value} to {type_}")


def _divide(body: FunctionBody, op: Operation) -> tuple[str, str]:
    """Return the quotient and the remainder of a division that rounds toward zero.

    Dividing a type's most negative number by -1 overflows. On some processors, the instruction then
    raises a signal that kills the process. Therefore, a division by -1 becomes a negation.
    """
    left, right = op.operands
    type_ = llvm_type(left.type)
    a, b = body.name(left), body.name(right)
    is_minus_one = body.value(f"icmp eq {type_} {b}, -1")
    choose = f"select i1 {is_minus_one}"
    divisor = body.value(f"{choose}, {type_} 1, {type_} {b}")
    divided = body.value(f"sdiv {type_} {a}, {divisor}")
    negated = body.value(f"sub {type_} 0, {a}")
    quotient = body.value(f"{choose}, {type_} {negated}, {type_} {divided}")
    product = body.value(f"mul {type_} {quotient}, {b}")
    return quotient, body.value(f"sub {type_} {a}, {product}")


def _division(part: int) -> Lowering:
    """Return the lowering to one part of a division: 0 is the quotient, 1 the remainder."""

    def lower(body: FunctionBody, op: Operation) -> None:
        body.bind(op.results[0], _divide(body, op)[part])

    return lower


def _rounded_division(*, up: bool) -> Lowering:
    """Return the lowering to a division that rounds up or down.

    The truncated quotient is corrected by one if there is a remainder and truncation rounded the
    other way.
    """

    def lower(body: FunctionBody, op: Operation) -> None:
        quotient, remainder = _divide(body, op)
        divisor = op.operands[1]
        type_ = llvm_type(divisor.type)
        inexact = body.value(f"icmp ne {type_} {remainder}, 0")
        # The exact quotient is larger than the truncated one if remainder and divisor have the same
        # sign, and smaller otherwise.
        signs = body.value(f"xor {type_} {remainder}, {body.name(divisor)}")
        beyond = body.value(f"icmp {'sge' if up else 'slt'} {type_} {signs}, 0")
        correction = _widened_truth(body, body.value(f"and i1 {inexact}, {beyond}"), type_)
        instruction = "add" if up else "sub"
        body.set(op.results[0], f"{instruction} {type_} {quotient}, {correction}")

    return lower


def _lower_ceildivui(body: FunctionBody, op: Operation) -> None:
    left, right = op.operands
    type_ = llvm_type(left.type)
    a, b = body.name(left), body.name(right)
    quotient = body.value(f"udiv {type_} {a}, {b}")
    product = body.value(f"mul {type_} {quotient}, {b}")
    correction = _widened_truth(body, body.value(f"icmp ne {type_} {product}, {a}"), type_)
    body.set(op.results[0], f"add {type_} {quotient}, {correction}")


def _library_function(name: str) -> Lowering:
    """Return a lowering that calls the C library function `name`.

    The function for `float` has the suffix `f`. Narrower types are widened to `float` first.
    """

    def lower(body: FunctionBody, op: Operation) -> None:
        [operand], [result] = op.operands, op.results
        text, value = llvm_type(result.type), body.name(operand)
        if text in ("half", "bfloat"):
            wide = body.value(f"fpext {text} {value} to float")
            found = body.call(f"{name}f", "float", ("float", wide))
            body.set(result, f"fptrunc float {found} to {text}")
        elif text in ("float", "double"):
            called = f"{name}f" if text == "float" else name
            body.bind(result, body.call(called, text, (text, value)))
        else:
            raise UnsupportedType(f"'math.{name}' is not available for '{result.type}'")

    return lower


def _lower_rsqrt(body: FunctionBody, op: Operation) -> None:
    type_ = op.results[0].type
    text = llvm_type(type_)
    root = body.call(f"llvm.sqrt.{_type_suffix(type_)}", text, body.argument(op.operands[0]))
    body.set(op.results[0], f"fdiv {text} {float_literal(1.0, type_)}, {root}")


def _lower_fpowi(body: FunctionBody, op: Operation) -> None:
    """Lower to `pow`, because LLVM's `powi` calls a library function that the process lacks.

    A large exponent becomes even when it is rounded to a double, so its lowest bit sets the sign.
    """
    base, exponent = op.operands
    type_, integer = llvm_type(base.type), llvm_type(exponent.type)
    is_double = type_ == "double"
    wide = body.name(base) if is_double else body.value(f"fpext {body.typed(base)} to double")
    size = body.call("llvm.fabs.f64", "double", ("double", wide))
    number = body.value(f"sitofp {body.typed(exponent)} to double")
    power = body.call("llvm.pow.f64", "double", ("double", size), ("double", number))
    signed = body.call("llvm.copysign.f64", "double", ("double", power), ("double", wide))
    lowest_bit = body.value(f"and {body.typed(exponent)}, 1")
    is_even = body.value(f"icmp eq {integer} {lowest_bit}, 0")
    found = body.value(f"select i1 {is_even}, double {power}, double {signed}")
    rounded = found if is_double else body.value(f"fptrunc double {found} to {type_}")
    body.bind(op.results[0], rounded)


def _lower_ipowi(body: FunctionBody, op: Operation) -> None:
    """Lower to a call to the helper that `_integer_power` defines."""
    base, exponent = op.operands
    type_ = base.type
    if not isinstance(type_, IntegerType):
        raise UnsupportedType(f"'{op.name}' is not available for '{type_}'")
    text = llvm_type(type_)
    name = f"@__ipowi.{text}"
    body.module.helpers[name] = _integer_power(name, text)
    body.set(op.results[0], f"call {text} {name}({body.typed(base)}, {body.typed(exponent)})")


def _integer_power(name: str, type_: str) -> str:
    """Return the LLVM text of a function that raises an integer to a power by repeated squaring.

    A power with a negative exponent is rounded toward zero: the bases 1 and -1 yield 1 or -1, and
    every other base yields 0.
    """
    return f"""\
define internal {type_} {name}({type_} %base, {type_} %exponent) {{
start:
  %is_negative = icmp slt {type_} %exponent, 0
  br i1 %is_negative, label %inverse, label %check
inverse:
  %is_one = icmp eq {type_} %base, 1
  %is_minus_one = icmp eq {type_} %base, -1
  %lowest_bit = and {type_} %exponent, 1
  %is_odd = icmp ne {type_} %lowest_bit, 0
  %sign = select i1 %is_odd, {type_} -1, {type_} 1
  %other = select i1 %is_minus_one, {type_} %sign, {type_} 0
  %inverse_power = select i1 %is_one, {type_} 1, {type_} %other
  ret {type_} %inverse_power
check:
  %power = phi {type_} [ 1, %start ], [ %more, %square ]
  %factor = phi {type_} [ %base, %start ], [ %squared, %square ]
  %left = phi {type_} [ %exponent, %start ], [ %half, %square ]
  %none = icmp eq {type_} %left, 0
  br i1 %none, label %done, label %square
square:
  %lowest = and {type_} %left, 1
  %counts = icmp ne {type_} %lowest, 0
  %times = select i1 %counts, {type_} %factor, {type_} 1
  %more = mul {type_} %power, %times
  %squared = mul {type_} %factor, %factor
  %half = lshr {type_} %left, 1
  br label %check
done:
  ret {type_} %power
}}"""


LOWERINGS: dict[str, Lowering] = {
    **{f"arith.{name}": _binary(instruction) for name, instruction in _BINARY.items()},
    **{f"arith.{name}": _cast(instruction) for name, instruction in _CASTS.items()},
    **{f"arith.{name}": _saturating(name) for name in ("fptosi", "fptoui")},
    **{name: _intrinsic(intrinsic) for name, intrinsic in _INTRINSICS.items()},
    "arith.divui": _binary("udiv"),
    "arith.remui": _binary("urem"),
    arith.ConstantOp.name: lambda body, op: body.bind(op.result, constant(op.value)),
    arith.AddiOp.name: _lower_addi,
    arith.SelectOp.name: _instruction("select"),
    arith.CmpiOp.name: _lower_comparison,
    arith.CmpfOp.name: _lower_comparison,
    arith.NegfOp.name: _instruction("fneg"),
    arith.IndexCastOp.name: _index_cast("sext"),
    "arith.index_castui": _index_cast("zext"),
    arith.DivSIOp.name: _division(0),
    arith.RemSIOp.name: _division(1),
    arith.CeilDivSIOp.name: _rounded_division(up=True),
    arith.FloorDivSIOp.name: _rounded_division(up=False),
    arith.CeilDivUIOp.name: _lower_ceildivui,
    math.AbsIOp.name: _intrinsic("abs", ("i1", "false")),
    math.CountLeadingZerosOp.name: _intrinsic("ctlz", ("i1", "false")),
    math.CountTrailingZerosOp.name: _intrinsic("cttz", ("i1", "false")),
    ub.PoisonOp.name: _lower_poison,
    **{f"math.{name}": _library_function(name) for name in _LIBRARY_FUNCTIONS},
    math.FPowIOp.name: _lower_fpowi,
    math.IPowIOp.name: _lower_ipowi,
    math.RsqrtOp.name: _lower_rsqrt,
}
