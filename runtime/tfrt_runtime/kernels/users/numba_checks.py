"""Operations on numbers that Numba computes wrongly without a word: within native kernels they are checked.

Whole numbers have 64 bits and wrap in sums, products and shifts to the left, as in programs.  What machines
leave undefined is Python's: shifts by a negative count raise, those by more than 63 shift all bits out, and
a quotient or a `float` that does not fit 64 bits raises.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import Any

BITS = 64


@functools.cache
def checked_compiler() -> Any:
    """Numba's compiler, with the operations checked of the function that it compiles."""
    from numba.core import compiler, compiler_machinery, ir_utils, types, untyped_passes
    from numba.core import ir as numba_ir

    # Numba has no annotations.
    ir: Any = numba_ir
    machinery: Any = compiler_machinery
    unique_name: Any = ir_utils.mk_unique_var
    builder: Any = compiler.DefaultPassBuilder

    operators, functions = _checks(types)

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
        """What stands for an expression, None for most."""
        if not isinstance(expression, ir.Expr):
            return None
        if expression.op in ("binop", "inplace_binop"):
            is_plain = expression.op == "binop"
            kind = expression.fn if is_plain else expression.immutable_fn
            check = operators.get(kind)
            if check is None or _is_harmless(function, kind, expression.rhs):
                return None
            return check
        if expression.op == "call" and not expression.kws and expression.vararg is None:
            check, count = functions.get(_callee(function, expression.func), (None, 0))
            return check if len(expression.args) == count else None
        return None

    def _definition(function: Any, variable: Any) -> Any:
        try:
            return function.get_definition(variable)
        except KeyError:  # it has several
            return None

    def _is_harmless(function: Any, kind: Any, operand: Any) -> bool:
        """Whether an operand is a number in the text with which nothing can go wrong."""
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
        def define_pipelines(self) -> list[Any]:
            passes = builder.define_nopython_pipeline(self.state)
            passes.add_pass_after(CheckNumbers, untyped_passes.IRProcessing)
            passes.finalize()
            return [passes]

    return CheckedCompiler


def _checks(types: Any) -> tuple[dict[Any, Any], dict[Any, tuple[Any, int]]]:
    """What is called in the place of operators, and of functions of so many arguments."""

    from numba.extending import overload

    def are_integers(*kinds: Any) -> bool:
        return all(isinstance(kind, types.Integer) for kind in kinds)

    def shift_left(a: Any, b: Any) -> Any:
        if b < 0:
            raise ValueError("negative shift count")
        return (a << (BITS - 1)) << 1 if b >= BITS else a << b

    def shift_right(a: Any, b: Any) -> Any:
        if b < 0:
            raise ValueError("negative shift count")
        return (a >> (BITS - 1)) >> 1 if b >= BITS else a >> b

    def quotient(a: Any, b: Any) -> Any:
        if b == -1 and a < 0 and a == -a:
            raise OverflowError("the quotient does not fit 64 bits")
        return a // b

    def power(a: Any, b: Any) -> Any:
        if b < 0 and a != 0:
            raise ValueError("a whole number to a negative power is no whole number")
        return a**b

    def quotient_and_rest(a: Any, b: Any) -> Any:
        if b == -1 and a < 0 and a == -a:
            raise OverflowError("the quotient does not fit 64 bits")
        return divmod(a, b)

    # The functions that stand in the text are called as what they stand for: Numba names them in messages.
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
                raise OverflowError("the number does not fit 64 bits")
            return function(x)

        def plain(x: Any) -> Any:
            return function(x)

        def called(x: Any) -> None: ...

        called.__qualname__ = function.__name__
        overload(called, strict=False)(lambda x: checked if isinstance(x, types.Float) else plain)
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
