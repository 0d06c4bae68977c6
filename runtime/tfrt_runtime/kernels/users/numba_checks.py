"""Add checks to native kernels' operations for which Numba silently returns wrong numbers.

Integers have 64 bits, and wrap around in sums, products, and left shifts, as in programs.  At the
limits of 64 bits, a machine's shifts, divisions, and conversions differ from Python's.  The checks
make them behave as in Python:

- A shift by a negative count raises an exception.
- A shift by more than 63 shifts all bits out.
- A division, or a conversion from `float`, raises an exception if its result does not fit in 64
  bits.

Numba itself treats unsigned numbers as unsigned 64-bit numbers, even after a conversion with `int`,
so a difference below 0 becomes a large number.  Numba also converts unsigned and signed numbers to
floats when an operation mixes them.  Here, operators treat numbers of up to 32 bits as signed
64-bit numbers, and `int` always returns a signed 64-bit number.  Unsigned 64-bit numbers stay
unsigned, as in numpy, and an operation cannot mix them with signed numbers.
"""

from __future__ import annotations

import copy
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

BITS = 64


@functools.cache
def checked_compiler() -> Any:
    """Return a subclass of Numba's compiler that inserts the checks of this module."""
    from numba.core import compiler, compiler_machinery, ir_utils, types, untyped_passes
    from numba.core import ir as numba_ir

    # Numba has no type annotations.
    ir: Any = numba_ir
    machinery: Any = compiler_machinery
    unique_name: Any = ir_utils.mk_unique_var
    builder: Any = compiler.DefaultPassBuilder

    operators, functions = _checks(types)
    checked = {check: one for one, check in operators.items()} | {
        check: one for one, (check, _) in functions.items()
    }

    @machinery.register_pass(mutates_CFG=False, analysis_only=False)
    class CheckNumbers(compiler_machinery.FunctionPass):
        _name = "tfrt_check_numbers"

        def __init__(self) -> None:
            super().__init__()  # type: ignore[no-untyped-call]

        def run_pass(self, state: Any) -> bool:
            found = False
            for block in state.func_ir.blocks.values():
                body = []
                for statement in block.body:
                    check = _check_of(state.func_ir, getattr(statement, "value", None))
                    if check is not None:
                        expression, found = statement.value, True
                        name = unique_name("$checked")
                        callee = ir.Var(block.scope, name, statement.loc)
                        made = ir.Global(name, check, statement.loc)
                        body.append(ir.Assign(made, callee, statement.loc))
                        is_call = expression.op == "call"
                        given = expression.args if is_call else (expression.lhs, expression.rhs)
                        statement.value = ir.Expr.call(callee, given, (), expression.loc)
                    body.append(statement)
                block.body = body
            return found

    def _check_of(function: Any, expression: Any) -> Any:
        """Return the function that replaces an expression, or None if it needs no check."""
        if not isinstance(expression, ir.Expr):
            return None
        if expression.op in ("binop", "inplace_binop"):
            is_plain = expression.op == "binop"
            kind = expression.fn if is_plain else expression.immutable_fn
            check = operators.get(kind)
            return None if check is None or _is_harmless(function, kind, expression.rhs) else check
        if expression.op == "call" and not expression.kws and expression.vararg is None:
            check, count = functions.get(_callee(function, expression.func), (None, 0))
            return check if len(expression.args) == count else None
        return None

    def _definition(function: Any, variable: Any) -> Any:
        try:
            return function.get_definition(variable)
        except KeyError:  # the variable has several definitions
            return None

    def _is_harmless(function: Any, kind: Any, operand: Any) -> bool:
        """Return whether an operand is a literal that cannot make the operation fail."""
        found = _definition(function, operand)
        number = found.value if isinstance(found, ir.Const) else None
        if type(number) is not int:
            return type(number) is float
        return 0 <= number and (number < BITS or kind in (operator.floordiv, operator.pow))

    def _callee(function: Any, variable: Any) -> Any:
        found = _definition(function, variable)
        if isinstance(found, (ir.Global, ir.FreeVar)):
            return found.value if callable(found.value) else None
        if isinstance(found, ir.Expr) and found.op == "getattr":
            module = _definition(function, found.value)
            if isinstance(module, (ir.Global, ir.FreeVar)) and module.value is math:
                return getattr(math, found.attr, None)
        return None

    class CheckedCompiler(compiler.CompilerBase):
        def __init__(self, typing_context: Any, *others: Any) -> None:
            super().__init__(  # type: ignore[no-untyped-call]
                _signed_context(typing_context, checked), *others
            )

        def define_pipelines(self) -> list[Any]:
            passes = builder.define_nopython_pipeline(self.state)
            passes.add_pass_after(CheckNumbers, untyped_passes.InlineClosureLikes)
            passes.finalize()
            return [passes]

    return CheckedCompiler


_NOT_MIXED = (
    "a ui64 and a signed integer have no common type: convert the ui64 with int(x), or the other"
    " number with np.uint64(x)"
)


def _signed_context(context: Any, checked: dict[Any, Any]) -> Any:
    """Return Numba's typing context for a kernel, in which integers keep their sign.

    The context is a copy: other code that uses Numba in this process keeps Numba's own rules.
    `checked` maps each replacement function to the function or operator that it replaces.
    """
    from numba.core import errors
    from numba.core import types as numba_types

    types: Any = numba_types

    def operators(names: str) -> set[Any]:
        known = (f"__{form}{name}__" for name in names.split() for form in ("", "i"))
        return {getattr(operator, name) for name in known if hasattr(operator, name)}

    shifts = operators("lshift rshift")
    unmixed = operators("add sub mul floordiv mod pow and or xor") | shifts | {min, max, divmod}
    # Numba computes the other operations on a signed and an unsigned number correctly.
    signed = unmixed | operators("truediv lt le eq ne gt ge")
    signed |= {int, round, math.floor, math.ceil, math.trunc, range}

    def widened(kind: Any) -> Any:
        return types.int64 if isinstance(kind, types.Integer) and kind.bitwidth < BITS else kind

    def unsigned(kind: Any) -> Any:
        """Return ui64 for a nonnegative literal, which Python can combine with a ui64."""
        is_literal = isinstance(kind, types.IntegerLiteral) and kind.literal_value >= 0
        return types.uint64 if is_literal else kind

    def refuse_mixed(*kinds: Any) -> None:
        numbers = [kind.dtype if isinstance(kind, types.Array) else kind for kind in kinds]
        has_sign = any(isinstance(number, types.Integer) and number.signed for number in numbers)
        if has_sign and types.uint64 in numbers:
            raise errors.TypingError(_NOT_MIXED)

    class SignedContext(type(context)):  # type: ignore[misc]
        def resolve_function_type(self, function: Any, given: Any, named: Any) -> Any:
            key = getattr(function, "typing_key", None)
            key = checked.get(key, key)
            if key in signed:
                given = tuple(map(widened, given))
            if key in unmixed and not (key in shifts and given[0] == types.uint64):
                if types.uint64 in given:
                    given = tuple(map(unsigned, given))
                refuse_mixed(*given)
            return super().resolve_function_type(function, given, named)

        def unify_pairs(self, first: Any, second: Any) -> Any:
            refuse_mixed(first, second)
            return super().unify_pairs(first, second)

    copied = copy.copy(context)
    copied.__class__ = SignedContext
    return copied


def _checks(types: Any) -> tuple[dict[Any, Any], dict[Any, tuple[Any, int]]]:
    """Return two tables of replacements: for operators, and for functions.

    The second table also has the number of arguments of each function.
    """
    from numba.extending import overload

    def are_integers(*kinds: Any) -> bool:
        return all(isinstance(kind, types.Integer) for kind in kinds)

    def shift_left(a: Any, b: Any) -> Any:
        if b < 0:
            raise ValueError("negative shift count")
        # A machine shifts by at most 63 bits at once, so shift twice.
        return (a << (BITS - 1)) << 1 if b >= BITS else a << b

    def shift_right(a: Any, b: Any) -> Any:
        if b < 0:
            raise ValueError("negative shift count")
        return (a >> (BITS - 1)) >> 1 if b >= BITS else a >> b

    def quotient(a: Any, b: Any) -> Any:
        # Among negative numbers, only the smallest equals its own negation, which wraps around.
        if b == -1 and a < 0 and a == -a:
            raise OverflowError("the quotient does not fit in 64 bits")
        return a // b

    def power(a: Any, b: Any) -> Any:
        if b < 0 and a != 0:
            raise ValueError("an integer raised to a negative power is not an integer")
        return a**b

    def quotient_and_rest(a: Any, b: Any) -> Any:
        if b == -1 and a < 0 and a == -a:
            raise OverflowError("the quotient does not fit in 64 bits")
        return divmod(a, b)

    # The replacements have the names of the operations that they replace, because Numba shows them
    # in messages.
    def binary(name: str, plain: Callable[..., Any], checked: Callable[..., Any]) -> Any:
        def called(a: Any, b: Any) -> None: ...

        called.__qualname__ = name
        overload(called, strict=False)(lambda a, b: checked if are_integers(a, b) else plain)
        return called

    def whole(function: Callable[..., Any]) -> Any:
        def checked(x: Any) -> Any:
            if math.isnan(x):
                raise ValueError("cannot convert float NaN to integer")
            if math.isinf(x):
                raise OverflowError("cannot convert float infinity to integer")
            if not -(2.0**63) <= x < 2.0**63:
                raise OverflowError("the number does not fit in 64 bits")
            return function(x)

        def fitting(x: Any) -> Any:
            if x >= 2**63:
                raise OverflowError("the number does not fit in 64 bits")
            return np.int64(x)

        def plain(x: Any) -> Any:
            return function(x)

        def called(x: Any) -> None: ...

        called.__qualname__ = function.__name__
        overload(called, strict=False)(
            lambda x: (
                fitting if x == types.uint64 else checked if isinstance(x, types.Float) else plain
            )
        )
        return called

    operators = {
        operator.lshift: binary("<<", lambda a, b: a << b, shift_left),
        operator.rshift: binary(">>", lambda a, b: a >> b, shift_right),
        operator.floordiv: binary("//", lambda a, b: a // b, quotient),
        operator.pow: binary("**", lambda a, b: a**b, power),
    }
    functions: dict[Any, tuple[Any, int]]
    functions = {one: (whole(one), 1) for one in (int, round, math.floor, math.ceil, math.trunc)}
    functions[divmod] = binary("divmod", lambda a, b: divmod(a, b), quotient_and_rest), 2
    functions[pow] = operators[operator.pow], 2
    return operators, functions
