"""`arith` and `math` as LLVM instructions and intrinsics."""

from __future__ import annotations

from xdsl.dialects import arith, math, ub
from xdsl.dialects.builtin import IntegerType, MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Operation

from tfrt_nb.jit.function_body import FunctionBody, Lowering
from tfrt_nb.jit.llvm_types import constant, llvm_type
from tfrt_nb.jit.operations.descriptors import dead_buffer
from tfrt_nb.passes.safety.interruptible_loops import NEVER_WRAPS
from tfrt_runtime.scalars import INSTRUCTIONS

_BINARY = {**INSTRUCTIONS, "shrui": "lshr", "remf": "frem"}
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
    "math.acos": "acos",
    "math.asin": "asin",
    "math.atan": "atan",
    "math.atan2": "atan2",
    "math.ceil": "ceil",
    "math.copysign": "copysign",
    "math.cos": "cos",
    "math.cosh": "cosh",
    "math.ctpop": "ctpop",
    "math.exp": "exp",
    "math.exp2": "exp2",
    "math.floor": "floor",
    "math.fma": "fma",
    "math.log": "log",
    "math.log10": "log10",
    "math.log2": "log2",
    "math.powf": "pow",
    "math.round": "round",
    "math.roundeven": "roundeven",
    "math.sin": "sin",
    "math.sinh": "sinh",
    "math.sqrt": "sqrt",
    "math.tan": "tan",
    "math.tanh": "tanh",
    "math.trunc": "trunc",
}
_CASTS = {
    "extsi": "sext",
    "extui": "zext",
    "trunci": "trunc",
    "sitofp": "sitofp",
    "uitofp": "uitofp",
    "fptosi": "fptosi",
    "fptoui": "fptoui",
    "extf": "fpext",
    "truncf": "fptrunc",
    "bitcast": "bitcast",
}
_INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)


_UNDEFINED_FOR_SOME = frozenset({"shl", "ashr", "lshr", "fptosi", "fptoui"})


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


def _intrinsic(name: str) -> Lowering:
    def lower(body: FunctionBody, op: Operation) -> None:
        type_ = op.results[0].type
        full_name = f"llvm.{name}.{type_suffix(type_)}"
        result = body.call(full_name, llvm_type(type_), *map(body.argument, op.operands))
        body.bind(op.results[0], result)

    return lower


def type_suffix(type_: Attribute) -> str:
    """How LLVM writes the type in the name of an intrinsic."""
    text = llvm_type(type_)
    return {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}.get(text, text)


def _cast(instruction: str) -> Lowering:
    def lower(body: FunctionBody, op: Operation) -> None:
        target = llvm_type(op.results[0].type)
        set_ = body.set_frozen if instruction in _UNDEFINED_FOR_SOME else body.set
        set_(op.results[0], f"{instruction} {body.typed(op.operands[0])} to {target}")

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


def _lower_constant(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, arith.ConstantOp)
    body.bind(op.result, constant(op.value))


def _lower_poison(body: FunctionBody, op: Operation) -> None:
    """A value all the same: LLVM would take what depends on poison for unreachable, assertions included."""
    [result] = op.results
    if isinstance(result.type, MemRefType | UnrankedMemRefType):
        body.bind(result, dead_buffer(body, result.type))
    else:
        body.bind(result, "zeroinitializer")


def _lower_select(body: FunctionBody, op: Operation) -> None:
    body.set(op.results[0], f"select {body.typed_list(op.operands)}")


def _lower_cmpi(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, arith.CmpiOp)
    predicate = _INTEGER_PREDICATES[op.predicate.value.data]
    body.set(op.result, f"icmp {predicate} {body.typed(op.lhs)}, {body.name(op.rhs)}")


def _lower_cmpf(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, arith.CmpfOp)
    predicate = _FLOAT_PREDICATES[op.predicate.value.data]
    body.set(op.result, f"fcmp {predicate} {body.typed(op.lhs)}, {body.name(op.rhs)}")


def _lower_negf(body: FunctionBody, op: Operation) -> None:
    body.set(op.results[0], f"fneg {body.typed(op.operands[0])}")


def _widened_truth(body: FunctionBody, value: str, type_: str) -> str:
    """0 or 1 as a number."""
    return value if type_ == "i1" else body.value(f"zext i1 {value} to {type_}")


def _divide(body: FunctionBody, op: Operation) -> tuple[str, str]:
    """Quotient and remainder, rounded towards zero.

    The least number divided by -1 overflows, for which the processor stops the process: a division
    by -1 is a negation instead.
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


def _lower_divsi(body: FunctionBody, op: Operation) -> None:
    quotient, _ = _divide(body, op)
    body.bind(op.results[0], quotient)


def _lower_remsi(body: FunctionBody, op: Operation) -> None:
    _, remainder = _divide(body, op)
    body.bind(op.results[0], remainder)


def _rounded_division(*, up: bool) -> Lowering:
    """Corrects the quotient by one when there is a remainder and the true quotient lies beyond it."""

    def lower(body: FunctionBody, op: Operation) -> None:
        quotient, remainder = _divide(body, op)
        divisor = op.operands[1]
        type_ = llvm_type(divisor.type)
        inexact = body.value(f"icmp ne {type_} {remainder}, 0")
        signs = body.value(f"xor {type_} {remainder}, {body.name(divisor)}")
        beyond = body.value(f"icmp {'sge' if up else 'slt'} {type_} {signs}, 0")
        corrects = body.value(f"and i1 {inexact}, {beyond}")
        correction = _widened_truth(body, corrects, type_)
        instruction = "add" if up else "sub"
        body.set(op.results[0], f"{instruction} {type_} {quotient}, {correction}")

    return lower


def _lower_ceildivui(body: FunctionBody, op: Operation) -> None:
    left, right = op.operands
    type_ = llvm_type(left.type)
    a, b = body.name(left), body.name(right)
    quotient = body.value(f"udiv {type_} {a}, {b}")
    product = body.value(f"mul {type_} {quotient}, {b}")
    inexact = body.value(f"icmp ne {type_} {product}, {a}")
    correction = _widened_truth(body, inexact, type_)
    body.set(op.results[0], f"add {type_} {quotient}, {correction}")


def _with_flag(name: str) -> Lowering:
    """`math.absi` and the like: the intrinsic takes a flag that zero or the least number is poison."""

    def lower(body: FunctionBody, op: Operation) -> None:
        type_ = op.results[0].type
        full_name = f"llvm.{name}.{type_suffix(type_)}"
        argument = body.argument(op.operands[0])
        result = body.call(full_name, llvm_type(type_), argument, ("i1", "false"))
        body.bind(op.results[0], result)

    return lower


LOWERINGS: dict[str, Lowering] = {
    **{f"arith.{name}": _binary(instruction) for name, instruction in _BINARY.items()},
    **{f"arith.{name}": _cast(instruction) for name, instruction in _CASTS.items()},
    **{name: _intrinsic(intrinsic) for name, intrinsic in _INTRINSICS.items()},
    "arith.divui": _binary("udiv"),
    "arith.remui": _binary("urem"),
    arith.ConstantOp.name: _lower_constant,
    arith.AddiOp.name: _lower_addi,
    arith.SelectOp.name: _lower_select,
    arith.CmpiOp.name: _lower_cmpi,
    arith.CmpfOp.name: _lower_cmpf,
    arith.NegfOp.name: _lower_negf,
    arith.IndexCastOp.name: _index_cast("sext"),
    "arith.index_castui": _index_cast("zext"),
    arith.DivSIOp.name: _lower_divsi,
    arith.RemSIOp.name: _lower_remsi,
    arith.CeilDivSIOp.name: _rounded_division(up=True),
    arith.FloorDivSIOp.name: _rounded_division(up=False),
    arith.CeilDivUIOp.name: _lower_ceildivui,
    math.AbsIOp.name: _with_flag("abs"),
    math.CountLeadingZerosOp.name: _with_flag("ctlz"),
    math.CountTrailingZerosOp.name: _with_flag("cttz"),
    ub.PoisonOp.name: _lower_poison,
}
