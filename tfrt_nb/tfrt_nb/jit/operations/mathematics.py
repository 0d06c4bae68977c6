"""`math` where LLVM has no intrinsic: functions of the C library, and powers."""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation

from tfrt_nb.jit.function_body import FunctionBody, Lowering
from tfrt_nb.jit.llvm_types import LIBRARY_FUNCTIONS, UnsupportedType, float_literal, llvm_type
from tfrt_nb.jit.operations.arithmetic import type_suffix

_FLOAT, _DOUBLE = "float", "double"
_SHORT = ("half", "bfloat")


def _library_function(name: str) -> Lowering:
    """The function for doubles, or with `f` behind its name for floats, which shorter ones become."""

    def lower(body: FunctionBody, op: Operation) -> None:
        [operand], [result] = op.operands, op.results
        body.bind(result, _applied(body, name, result.type, body.name(operand)))

    return lower


def _applied(body: FunctionBody, name: str, type_: Attribute, value: str) -> str:
    text = llvm_type(type_)
    if text in _SHORT:
        wide = body.value(f"fpext {text} {value} to {_FLOAT}")
        found = body.call(f"{name}f", _FLOAT, (_FLOAT, wide))
        return body.value(f"fptrunc {_FLOAT} {found} to {text}")
    if text not in (_FLOAT, _DOUBLE):
        raise UnsupportedType(f"'math.{name}' is not available for '{type_}'")
    return body.call(f"{name}f" if text == _FLOAT else name, text, (text, value))


def _lower_rsqrt(body: FunctionBody, op: Operation) -> None:
    type_ = op.results[0].type
    text = llvm_type(type_)
    root = body.call(f"llvm.sqrt.{type_suffix(type_)}", text, body.argument(op.operands[0]))
    body.set(op.results[0], f"fdiv {text} {float_literal(1.0, type_)}, {root}")


def _lower_fpowi(body: FunctionBody, op: Operation) -> None:
    """By `pow`: what LLVM's `powi` calls is in the compiler's library, not in the process."""
    base, exponent = op.operands
    type_ = llvm_type(base.type)
    power = body.value(f"sitofp {body.typed(exponent)} to {type_}")
    name = f"llvm.pow.{type_suffix(base.type)}"
    body.bind(op.results[0], body.call(name, type_, body.argument(base), (type_, power)))


def _lower_ipowi(body: FunctionBody, op: Operation) -> None:
    """By squaring, in a helper; see `_integer_power`."""
    base, exponent = op.operands
    type_ = base.type
    if not isinstance(type_, IntegerType):
        raise UnsupportedType(f"'{op.name}' is not available for '{type_}'")
    text = llvm_type(type_)
    name = f"@__ipowi.{text}"
    body.module.helpers[name] = _integer_power(name, text)
    body.set(op.results[0], f"call {text} {name}({body.typed(base)}, {body.typed(exponent)})")


def _integer_power(name: str, type_: str) -> str:
    """What 1 and -1 are to any power; to a negative one everything else is 0, rounded towards zero."""
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
    **{f"math.{name}": _library_function(name) for name in LIBRARY_FUNCTIONS},
    math.FPowIOp.name: _lower_fpowi,
    math.IPowIOp.name: _lower_ipowi,
    math.RsqrtOp.name: _lower_rsqrt,
}
