"""Python operators on traced values. Each operator calls a kernel for its operands' type."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING, Any, NoReturn

from tfrt_nb.tracing.trace import Trace, Traced, Weak, current, has_traced
from tfrt_runtime.diagnostics import refuse
from tfrt_runtime.kernels.users.annotations import NUMBERS, OBJECT, is_float, is_integer
from tfrt_runtime.scalars import ARITHMETIC, for_operator

if TYPE_CHECKING:
    from tfrt_nb.tracing.static import Value


def meeting(trace: Trace, operator: str, left: object, right: object) -> tuple[Traced, Traced]:
    """Return both operands as values of one type."""
    if (
        type(left) is Traced is type(right)
        and left.trace is trace is right.trace
        and left.type == right.type
        and left.weak is None is right.weak
        and for_operator(operator, left.type) is not None
    ):
        # The common case needs no constants, captures, or casts.
        return left, right
    strong = [v for v in (left, right) if isinstance(v, Traced) and not v.is_weak]
    like = strong[0].type if strong else _type_of_weak(left, right)
    if like == OBJECT:
        refuse(
            f"'{operator}' does not work on an object: cast it, as in tfrt.f64(x), or annotate what"
            " its kernel returns, as in def f(...) -> int"
        )
    a, b = trace.value(left, like), trace.value(right, like)
    for value, given in ((a, left), (b, right)):
        if value.type not in NUMBERS:
            found = value.type if isinstance(given, Traced) else type(given).__name__
            refuse(f"'{operator}' has no meaning for {found}: call a kernel")
    if a.type != b.type:
        wider = max(a.type, b.type, key=NUMBERS.index)
        refuse(f"'{operator}' of {a.type} and {b.type}: cast one of them, as in tfrt.{wider}(x)")
    if for_operator(operator, a.type) is None:
        more = ": use '//', or cast to tfrt.f64" if operator == "/" else ""
        refuse(f"'{operator}' has no meaning for {a.type}{more}")
    return a, b


def _type_of_weak(*values: object) -> str | None:
    """Return the common type of untyped numbers.

    The type is a float type if any of the numbers is a float.
    """
    known = [value.type for value in values if isinstance(value, Traced)]
    if any(isinstance(value, float) for value in values):
        known.append("f64")
    return next(filter(is_float, known), known[0] if known else None)


def _trace_of(*values: object) -> Trace:
    """Return this thread's trace, in which the values are used."""
    trace = current()
    if trace is None:
        value = next(value for value in values if isinstance(value, Traced))
        refuse(f"the value of {value.place} is used outside its trace")
    return trace


def binary(operator: str, left: object, right: object) -> Traced:
    """Return `left operator right`."""
    trace = _trace_of(left, right)
    a, b = meeting(trace, operator, left, right)
    made = _applied(trace, operator, a, b)[0]
    # A comparison returns an i1, whose type is final.
    if made.type == a.type:
        made.weak = _joined(a, b)
    return made


def _applied(trace: Trace, operator: str, *operands: Traced) -> tuple[Traced, ...]:
    """Return the results of an operator's kernel for operands of this type."""
    operation = for_operator(operator, operands[0].type)
    if operation is None:
        refuse(f"'{operator}' has no meaning for {operands[0].type}")
    return trace.kernel(operation.name, operands, operation.results)


def _joined(a: Traced, b: Traced) -> Weak | None:
    """Return the weak type of a combination of two values, or None unless both are untyped."""
    if a.weak is None or b.weak is None:
        # A Python number does not determine the type of an untyped value.
        return a.weak if b.is_number else b.weak if a.is_number else None
    return Weak(a.weak, b.weak)


def floored(left: object, right: object, operator: str = "divmod") -> tuple[Traced, Traced]:
    """Return `divmod(left, right)`, rounded down as in Python.

    `operator` is what the author wrote, for errors: `//`, `%`, or `divmod`.
    """
    trace = _trace_of(left, right)
    a, b = meeting(trace, operator, left, right)
    quotient, rest = _applied(trace, operator, a, b)
    quotient.weak = rest.weak = _joined(a, b)
    return quotient, rest


def negated(value: Traced) -> Traced:
    """Return `-value`."""
    return (
        # For floats, `0 - value` would lose the sign of a zero.
        binary("*", value, -1.0)
        if is_float(value.type)
        # For an i1, the error is about '-', not about a 0 that the author has not written.
        else binary("-", False if value.type == "i1" else 0, value)
    )


def absolute(value: Traced) -> Traced:
    """Return `abs(value)`."""
    trace = _trace_of(value)
    return _applied(trace, "abs", trace.value(value))[0]


def cast(value: Any, type_text: str) -> Any:
    """Convert a value to a number type, as in `tfrt.f64(value)`.

    In a trace, the result is a value in the program. Otherwise, it is a Python number.
    """
    trace = current()
    if trace is None:
        if isinstance(value, Traced):
            refuse(f"the value of {value.place} is used outside its trace")
        return (
            bool(value)
            if type_text == "i1"
            else float(value)
            if is_float(type_text)
            else int(value)
        )
    if not isinstance(value, Traced):
        if not isinstance(value, numbers.Real):
            refuse(f"there is no cast of {type(value).__name__} to {type_text}")
        if type_text not in NUMBERS:
            refuse(f"there is no constant of {type_text}: pass it as an argument")
        if type_text == "i1":
            number: object = bool(value)
        elif is_integer(type_text) or isinstance(value, bool):
            try:
                number = int(value)  # type: ignore[call-overload]
            except (OverflowError, ValueError):
                refuse(f"{value} does not fit in {type_text}")
        else:
            number = value
        return trace.constant(number, type_text)
    given = trace.value(value, type_text if value.type == OBJECT else None)
    if given.type == type_text:
        return given
    if given.type not in NUMBERS or type_text not in NUMBERS:
        refuse(f"there is no cast of {given.type} to {type_text}")
    return trace.kernel(f"tfrt.cast.{given.type}_to_{type_text}", (given,), (type_text,))[0]


def smallest(*values: Any) -> Value:
    """Return the smallest of several values, as `tfrt.min` does."""
    found: Value = _reduced("min", values, min)
    return found


def largest(*values: Any) -> Value:
    """Return the largest of several values, as `tfrt.max` does."""
    found: Value = _reduced("max", values, max)
    return found


def _reduced(operator: str, values: tuple[Any, ...], otherwise: Callable[..., Any]) -> Any:
    if not has_traced(values):
        return otherwise(*values)
    if len(values) == 1 and isinstance(values[0], tuple | list):
        values = tuple(values[0])
    return reduce(lambda left, right: binary(operator, left, right), values)


_UFUNCS = {name: family.python for family in ARITHMETIC for name in family.numpy}
"""NumPy's names for operators.

If a NumPy number is the left operand, Python calls NumPy's function.
"""


def _numpy_function(self: Traced, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Any:
    """Apply a numpy function to a traced value."""
    operator = _UFUNCS.get(ufunc.__name__)
    if method == "__call__" and len(inputs) == 2:
        if operator is not None:
            # For comparisons, numpy passes its number as an array without dimensions.
            return binary(
                operator, *[one if isinstance(one, Traced) else one[()] for one in inputs]
            )
        if ufunc.__name__ in ("floor_divide", "remainder"):
            return floored(*inputs)[ufunc.__name__ == "remainder"]
    refuse(
        f"numpy.{ufunc.__name__} takes arrays, not the traced value of {self.place}: call it in a"
        " kernel"
    )


def _attribute(self: Traced, name: str) -> NoReturn:
    """Raise an error, because a traced value has no attributes."""
    # Code that looks for a protocol, such as `hasattr`, expects this error.
    if name.startswith("__"):
        raise AttributeError(name)
    _trace_of(self)
    refuse(
        f"a traced value has no attribute '{name}' while the program is made: use a kernel"
        f" (the value of {self.place})"
    )


def _instead_of_argument(self: Traced) -> str:
    """Return advice for the error that a traced value was passed to a run."""
    _trace_of(self)
    return "give it to a kernel, or to a function with @tfrt.program"


def _refusing(what: str) -> Callable[..., NoReturn]:
    def method(self: Traced, *_: object, **__: object) -> NoReturn:
        refuse(f"{what} (the value of {self.place})")

    return method


def _install() -> None:
    """Add the operators to `Traced`. Most of them differ only in their kernel."""

    def plain(operator: str) -> Callable[[Traced, object], object]:
        return lambda self, other: binary(operator, self, other)

    def swapped(operator: str) -> Callable[[Traced, object], object]:
        return lambda self, other: binary(operator, other, self)

    names = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "&": "and", "|": "or", "^": "xor"}
    for operator, name in {**names, "<<": "lshift", ">>": "rshift"}.items():
        setattr(Traced, f"__{name}__", plain(operator))
        setattr(Traced, f"__r{name}__", swapped(operator))
    names = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
    for operator, name in names.items():
        setattr(Traced, f"__{name}__", plain(operator))
    methods: dict[str, Callable[..., object]] = {
        "hash": object.__hash__,  # by identity, because `==` makes an operation
        "neg": negated,
        "pos": lambda self: self,
        "invert": lambda self: binary("^", self, True if self.type == "i1" else -1),
        "abs": absolute,
        "divmod": floored,
        "rdivmod": lambda self, other: floored(other, self),
        "floordiv": lambda self, other: floored(self, other, "//")[0],
        "rfloordiv": lambda self, other: floored(other, self, "//")[0],
        "mod": lambda self, other: floored(self, other, "%")[1],
        "rmod": lambda self, other: floored(other, self, "%")[1],
        "bool": _refusing(
            "a traced value is neither true nor false while the program is made: use tfrt.cond"
            " instead of 'if', tfrt.while_loop instead of 'while', '&', '|' and '~' instead of"
            " 'and', 'or' and 'not', (0 < x) & (x < 5) instead of 0 < x < 5, tfrt.min and tfrt.max"
            " instead of min and max"
        ),
        "iter": _refusing("a traced value has no items while the program is made: use tfrt.map"),
        "len": _refusing("a traced value has no length while the program is made: use a kernel"),
        "getitem": _refusing("a traced value has no items: index it in a kernel"),
        "setitem": _refusing("a traced value has no items: change it in a kernel"),
        "round": _refusing("a traced value is not a number yet: round it in a kernel"),
        "matmul": _refusing("there is no kernel for '@': use a kernel of your own"),
        "rmatmul": _refusing("there is no kernel for '@': use a kernel of your own"),
        "getattr": _attribute,
        "array_ufunc": _numpy_function,
        "contains": _refusing("a traced value has no items: use a kernel instead of 'in'"),
        "int": _refusing("a traced value is not a number yet: cast it, as in tfrt.i64(x)"),
        "float": _refusing("a traced value is not a number yet: cast it, as in tfrt.f64(x)"),
        "index": _refusing("a traced value is not a number yet: use tfrt.repeat for loops"),
        "format": _refusing("a traced value has no text yet: format it in a kernel"),
        "str": _refusing("a traced value has no text yet: format it in a kernel"),
        "call": _refusing("a traced value cannot be called: call a kernel"),
        "copy": lambda self: self,
        "deepcopy": lambda self, _: self,
        "reduce_ex": _refusing("a traced value cannot be pickled: pass it as an argument"),
        "delitem": _refusing("a traced value has no items: change it in a kernel"),
        "exit": _refusing("a traced value is not a context manager: use it in a kernel"),
        "enter": _refusing("a traced value is not a context manager: use it in a kernel"),
        "await": _refusing("a traced value cannot be awaited: operations that use it wait for it"),
        "pow": _refusing("there is no kernel for '**': use a kernel of your own"),
        "rpow": _refusing("there is no kernel for '**': use a kernel of your own"),
        "array": _refusing("a traced value is not an array yet: use it in a kernel"),
        "complex": _refusing("a traced value is not a number yet: use it in a kernel"),
        **{
            name: _refusing("a traced value is not a number yet: round it in a kernel")
            for name in ("trunc", "floor", "ceil")
        },
    }
    for name, method in methods.items():
        setattr(Traced, f"__{name}__", method)
    Traced.instead_of_argument = property(_instead_of_argument)  # type: ignore[attr-defined]


_install()
