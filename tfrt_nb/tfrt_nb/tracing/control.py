"""Control flow in traced functions.

A body is a Python function that becomes a private function of the program. The values that it
captures become additional arguments. Both branches of a `cond` share these arguments, and loops
carry them unchanged. If a body has effects, its last result is a chain that becomes available when
the effects have happened. Inside `in_order`, a body also takes a chain.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tfrt_nb.tracing.calls import order_of, unpacked
from tfrt_nb.tracing.operators import cast
from tfrt_nb.tracing.trace import Region, Trace, Traced, Weak, required, tracing, type_of_value
from tfrt_runtime.bef.attributes import Scalar
from tfrt_runtime.bef.records import DType
from tfrt_runtime.diagnostics import counted, refuse
from tfrt_runtime.kernels.users.annotations import (
    CHAIN,
    FLOATS,
    NUMBERS,
    OBJECT,
    accepts,
    annotated_type,
)

if TYPE_CHECKING:
    from tfrt_nb.tracing.static import Value


@dataclass
class Body:
    """A traced body, and the items that it returned, whose types are not final yet."""

    trace: Trace
    returned: list[object]
    has_effects: bool


def body_of(
    outer: Trace,
    function: Callable[..., object],
    types: Sequence[str],
    name: str,
    weak: Sequence[Weak | None] = (),
) -> Body:
    """Trace a body, whose arguments have the types `types`.

    Inside `in_order`, a chain is the last argument.
    """
    check_body(function, len(types), name.rpartition(".")[0])
    given = [*types, CHAIN] if outer.is_ordered else list(types)
    trace = Trace(outer.module, name, given, outer)
    trace.is_ordered = outer.is_ordered
    code = getattr(inspect.unwrap(function), "__code__", None)
    # In `co_varnames`, the parameters come before all other variables.
    trace.names = () if code is None else code.co_varnames[: min(len(types), code.co_argcount)]
    for argument, its in zip(trace.arguments, weak, strict=False):
        argument.weak = its
    if outer.is_ordered:
        trace.order = trace.arguments[-1]
    with tracing(trace):
        returned = function(*trace.arguments[: len(types)])
    return Body(trace, returned_items(trace, returned), bool(trace.effects))


def check_body(function: object, count: int, where: str) -> None:
    """Reject a body that cannot be called with `count` values."""
    if not callable(function) or isinstance(function, Traced):
        refuse(f"a body of control flow is a function, as in lambda x: x + 1; found {function!r}")
    try:
        inspect.signature(function).bind(*[None] * count)
    except TypeError as wrong:
        given = counted(count, "argument")
        refuse(f"a body of control flow in @{where} is called with {given}: {wrong}")
    except ValueError:
        return  # a C function without a signature


def returned_items(trace: Trace, returned: object) -> list[object]:
    """Return a traced function's results as a list.

    The list is empty if all results are None or chains of effects.
    """
    if isinstance(returned, tuple | list):
        items = list(returned)
    else:
        items = [] if returned is None else [returned]
    if all(item is None or (isinstance(item, Traced) and item in trace.effects) for item in items):
        return []
    return items


def final_chain(trace: Trace, *more: Traced) -> Traced:
    """Return a chain that becomes available when all effects of a body have happened."""
    if trace.is_ordered and trace.order is not None:
        return trace.order
    return trace.chain_of([*more, *trace.effects])


def share_captures(bodies: Sequence[Body]) -> list[Traced]:
    """Make several bodies capture the same values in the same order.

    Return the outer function's values that are captured.
    """
    every = list(dict.fromkeys(value for body in bodies for value in body.trace.captures))
    for body in bodies:
        for value in every:
            body.trace.value(value)
        body.trace.captures = {value: body.trace.captures[value] for value in every}
    outer = bodies[0].trace.outer
    assert outer is not None
    return [outer.value(value) for value in every]


def settle(outer: Trace, results: Sequence[Traced], *, has_chain: bool) -> Value:
    """Return the Python result of an operation with bodies, and record its effects."""
    if has_chain:
        outer.effect(results[-1])
    returned: Value = unpacked(results[:-1] if has_chain and len(results) > 1 else results)
    return returned


def cond(
    condition: Any, then: Callable[..., Any], otherwise: Callable[..., Any], *values: Any
) -> Value:
    """Return the result of `then(*values)` or `otherwise(*values)`; only one of the two runs."""
    trace = required("tfrt.cond")
    test = trace.value(condition)
    if test.type != "i1":
        refuse(f"the condition of tfrt.cond is {test.type}: compare it, as in x != 0")
    given = [trace.value(value) for value in values]
    types, weak = [value.type for value in given], [value.weak for value in given]
    bodies = [
        body_of(trace, function, types, trace.module.fresh(f"{trace.name}.{name}"), weak)
        for name, function in (("then", then), ("else", otherwise))
    ]
    counts = [len(body.returned) for body in bodies]
    if counts[0] != counts[1]:
        refuse(
            "the two branches of tfrt.cond must return the same number of values,"
            f" found {counts[0]} and {counts[1]}"
        )
    found: list[list[Traced]] = [[], []]
    for pair in zip(*(body.returned for body in bodies), strict=True):
        strong = [v.type for v in pair if isinstance(v, Traced) and not v.is_weak]
        floats = any(
            item.is_weak and item.type in FLOATS
            if isinstance(item, Traced)
            else isinstance(item, float)
            for item in pair
        )
        like = strong[0] if strong else "f64" if floats else None
        for body, item, results in zip(bodies, pair, found, strict=True):
            with tracing(body.trace):
                # A branch that returns None here fits one that returns a chain.
                is_chain = item is None and like == CHAIN
                results.append(
                    body.trace.chain_of(()) if is_chain else body.trace.value(item, like)
                )
    kinds = [[value.type for value in results] for results in found]
    if kinds[0] != kinds[1]:
        refuse(
            "the two branches of tfrt.cond must return the same types,"
            f" found {_listed(kinds[0])} and {_listed(kinds[1])}: cast one, as in tfrt.f64(x)"
        )
    has_chain = trace.is_ordered or any(body.has_effects for body in bodies)
    for body, results in zip(bodies, found, strict=True):
        if has_chain:
            with tracing(body.trace):
                results.append(final_chain(body.trace))
    captures = share_captures(bodies)
    for body, results in zip(bodies, found, strict=True):
        body.trace.close(results)
    if trace.is_ordered:
        given.append(trace.chain_of(()) if trace.order is None else trace.order)
    types = [value.type for value in found[0]]
    names = [body.trace.name for body in bodies]
    made = trace.kernel("tfrt.cond", (test, *given, *captures), types, callees=names)
    return settle(trace, made, has_chain=has_chain)


def _loop_body(
    trace: Trace, step: Callable[..., Any], carried: list[Any], name: str, extra: int = 0
) -> tuple[Body, list[Traced], list[Traced]]:
    """Return the body of a loop, the values that it returns, and the loop's initial values.

    If an initial value is a number, it takes the type that the body returns for it, and the body is
    traced again. After the carried values, the body returns `extra` values that the loop does not
    carry.
    """
    start = [trace.value(value) for value in carried]
    weak = [
        value.weak or (Weak() if not isinstance(item, Traced) and value.type in NUMBERS else None)
        for item, value in zip(carried, start, strict=True)
    ]
    name = trace.module.fresh(name)
    types = [value.type for value in start]
    if any(weak):
        # The trial only determines types, so the module must not keep the functions that it adds.
        kept = (list(trace.module.functions), set(trace.module.names), dict(trace.module.versions))
        trial = body_of(trace, step, types, name, weak)
        trace.module.functions, trace.module.names, trace.module.versions = kept
        for index, item in enumerate(trial.returned[: len(carried)]):
            if (its := weak[index]) is not None:
                types[index] = its.met or types[index]
                # An object has no type that the start could take.
                if (
                    isinstance(item, Traced)
                    and item.type != OBJECT
                    and (item.weak is None or item.type in FLOATS)
                ):
                    types[index] = item.type
                elif isinstance(item, float) and types[index] not in FLOATS:
                    types[index] = "f64"
        start = [
            trace.value(item, type_text) for item, type_text in zip(carried, types, strict=True)
        ]
    body = body_of(trace, step, types, name)
    if len(body.returned) != len(carried) + extra:
        count = len(body.returned) - extra
        refuse(f"the loop carries {counted(len(carried), 'value')}, and its body returns {count}")
    with tracing(body.trace):
        likes = [*types, *["i1"] * extra]
        results = [
            body.trace.value(item, like) for item, like in zip(body.returned, likes, strict=True)
        ]
    found = [value.type for value in results]
    if extra and found[-1] != "i1":
        refuse(f"the test of tfrt.while_loop is {found[-1]}: compare it, as in x != 0")
    if found != likes:
        refuse(
            f"the loop carries {_listed(types)}, and its body returns"
            f" {_listed(found[: len(types)])}: cast what differs"
        )
    return body, results, start


def _carry(
    trace: Trace, body: Body, results: list[Traced], start: list[Traced]
) -> tuple[list[Traced], list[Traced], bool]:
    """Add the values that a loop carries implicitly: a chain of effects, and captured values.

    Return the results of the body, the operands of the loop, and whether a chain was added.
    """
    has_chain = body.has_effects or trace.is_ordered
    operands = list(start)
    if has_chain:
        with tracing(body.trace):
            if trace.is_ordered:
                results = [*results, final_chain(body.trace)]
            else:
                # Each iteration's effects wait for those of the previous iteration.
                before = Traced(body.trace, CHAIN, body.trace.place)
                body.trace.arguments.append(before)
                results = [*results, final_chain(body.trace, before)]
        operands.append(trace.order if trace.order is not None else trace.chain_of(()))
    captures = share_captures([body])
    results = [*results, *body.trace.captures.values()]
    return results, [*operands, *captures], has_chain


def while_loop(test: Callable[..., Any], body: Callable[..., Any], *carried: Any) -> Value:
    """Run `while test(*carried): carried = body(*carried)`, and return the last carried values."""
    trace = required("tfrt.while_loop")
    for function in (test, body):
        check_body(function, len(carried), trace.name)

    def step(*values: Any) -> tuple[Any, ...]:
        after = returned_items(required("tfrt.while_loop"), body(*values))
        if len(after) != len(carried):
            refuse(
                f"the loop carries {counted(len(carried), 'value')}, and its body returns {len(after)}"  # noqa: E501
            )
        return (*after, test(*after))

    traced, results, start = _loop_body(trace, step, list(carried), f"{trace.name}.while", 1)
    # The operation takes the first condition as an operand; its body returns the later ones.
    first = trace.value(test(*start))
    condition, results = results[-1], results[:-1]
    results, operands, has_chain = _carry(trace, traced, results, start)
    traced.trace.close([*results, condition])
    types = [value.type for value in results]
    made = trace.kernel(
        "tfrt.while",
        (first, *operands),
        types,
        [("parallel_iterations", Scalar(DType.I64, 1))],
        callees=[traced.trace.name],
    )
    return settle(trace, made[: len(start) + has_chain], has_chain=has_chain)


def repeat(count: Any, body: Callable[..., Any], *carried: Any) -> Value:
    """Run `for _ in range(count): carried = body(*carried)`, and return the last carried values."""
    trace = required("tfrt.repeat")
    times = _count(trace, count, "tfrt.repeat")
    traced, results, start = _loop_body(trace, body, list(carried), f"{trace.name}.repeat")
    results, operands, has_chain = _carry(trace, traced, results, start)
    traced.trace.close(results)
    types = tuple(value.type for value in results)
    region = Region(types, traced.trace.name, tuple(range(len(types))), types)
    made = trace.kernel("tfrt.repeat.i32", (times, *operands), types, region=region)
    return settle(trace, made[: len(start) + has_chain], has_chain=has_chain)


def parallel_for(count: Any, body: Callable[[Any], Any]) -> Any:
    """Run `body(i)` for each `i` below `count`, concurrently and in any order. Return a chain.

    `i` has the type of `count`. If `count` is a Python number, `i` takes the type of the first
    value with which it is combined.
    """
    trace = required("tfrt.parallel_for")
    end = _count(trace, count, "tfrt.parallel_for")
    zero, one = trace.constant(0, "i32"), trace.constant(1, "i32")
    check_body(body, 1, trace.name)

    def run(index: Traced) -> None:
        if isinstance(count, Traced):
            index = cast(index, count.type)
        else:
            index.weak = Weak()
        body(index)

    # The calls of the body are concurrent, so they are not in order even inside `in_order`.
    ordered, trace.is_ordered = trace.is_ordered, False
    try:
        before = trace.order if ordered else None
        traced = body_of(trace, run, ["i32"], trace.module.fresh(f"{trace.name}.for"))
        if before is not None:
            traced.trace.value(before)  # each block of calls waits for this chain
        with tracing(traced.trace):
            done = final_chain(traced.trace)
        captures = share_captures([traced])
    finally:
        trace.is_ordered = ordered
    traced.trace.close([done])
    types = [value.type for value in captures]
    # Argument 1 is the end of a block of iterations, which the function does not take.
    passed = (0, *range(2, 2 + len(types)))
    region = Region(("i32", "i32", *types), traced.trace.name, passed, (CHAIN,))
    operands = (zero, end, one, *captures)
    [chain] = trace.kernel("tfrt.parallel_for.i32", operands, (CHAIN,), region=region)
    trace.effect(chain)
    return chain


def _count(trace: Trace, count: Any, what: str) -> Traced:
    if not isinstance(count, Traced) and type_of_value(count) != "i64":
        refuse(f"the count of {what} must be an integer, found {count!r}")
    found = trace.value(count, "i32")
    if not accepts(int, found.type):
        refuse(f"the count of {what} must be an integer, found {found.type}")
    number: Traced = cast(found, "i32")
    return number


def map_values(
    kernel: Callable[..., Any], values: Any, *, errors: str = "raise", at_once: int | None = None
) -> Any:
    """Run `[kernel(value) for value in values]` with concurrent calls.

    The length of a traced value is known only at run time, so the result is one value, a list.

    Args:
        errors: With "raise", the first error becomes the list's error. With "keep", the list has a
            `TfrtError` for each failed value; its `__cause__` is the kernel's exception.
        at_once: The maximum number of calls in flight at a time, which limits how much memory they
            hold. With `at_once`, the result is one value, a list, even if the length is known
            during tracing.
    """
    trace = required("tfrt.map")
    if errors not in ("raise", "keep"):
        refuse(f"errors= of tfrt.map must be 'raise' or 'keep', found {errors!r}")
    if not callable(kernel) or not isinstance(values, Traced | Iterable):
        refuse(
            "tfrt.map takes a kernel and a list of values, as in tfrt.map(price, [x, y]); found"
            f" {kernel!r} and {values!r}"
        )
    described = getattr(kernel, "kernel", None)
    if errors == "keep":
        kernel = _keeping(kernel)
    if at_once is not None and not (type(at_once) is int and at_once > 0):
        refuse(f"at_once= of tfrt.map is a whole number, 1 or more, found {at_once!r}")
    if not isinstance(values, Traced):
        if at_once is None:
            return [kernel(value) for value in values]
        values = list(values)
    type_text = OBJECT
    if described is not None:
        parameters = list(described.signature.parameters.values())
        type_text = (parameters and annotated_type(parameters[0].annotation)) or OBJECT
    body = body_of(trace, kernel, [type_text], trace.module.fresh(f"{trace.name}.map"))
    if len(body.returned) > 1:
        refuse(f"the kernel of tfrt.map must return at most one result, found {len(body.returned)}")
    has_effects = trace.is_ordered or body.has_effects
    with tracing(body.trace):
        results = [body.trace.value(item) for item in body.returned]
        if has_effects or not results:
            results.append(final_chain(body.trace))
    order = [trace.chain_of(order_of(trace, ()))] if trace.is_ordered else []
    operands = (trace.value(values), *order, *share_captures([body]))
    body.trace.close(results)
    attributes = [] if at_once is None else [("at_once", Scalar(DType.I64, at_once))]
    [made] = trace.kernel("tfrt.map", operands, (OBJECT,), attributes, callees=[body.trace.name])
    if has_effects:
        trace.effect(trace.chain_of([made]))
    return made


# Users know it as `tfrt.map`, and Python's errors about arguments show this name.
map_values.__name__ = map_values.__qualname__ = "map"


def _keeping(kernel: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return a version of `kernel` whose failed calls return their errors as objects."""

    def call(item: Any) -> Any:
        trace = required("tfrt.map")
        before = dict(trace.effects)
        items = returned_items(trace, kernel(item))
        if len(items) > 1:
            refuse(f"the kernel of tfrt.map must return at most one result, found {len(items)}")
        # The error of an effect becomes the call's result, so it must not fail the body as well.
        given = items or [trace.chain_of(_taken(trace, before))]
        return trace.kernel("tfrt.kept", [trace.value(given[0])], (OBJECT,))[0]

    return call


def recover(value: Any, replacement: Any) -> Any:
    """Return `value`, or `replacement` if `value` is an error.

    The replacement is a number, a string, an object, or another traced value. For a kernel that
    returns None, the replacement is None. A cancelled run does not recover.
    """
    trace = required("tfrt.recover")
    if not isinstance(value, Traced):
        refuse(f"tfrt.recover takes a value that a kernel returns in a program, found {value!r}")
    if value.type == CHAIN:
        if replacement is not None:
            refuse("tfrt.recover: a kernel that returns None is replaced by None")
        # `_recovered` records another chain instead, so that an error of this one does not fail the
        # function.
        trace.effects.pop(value, None)
        return _recovered(trace, value, trace.chain_of(()))
    other = replacement
    if not isinstance(other, Traced):
        fits = value.type in NUMBERS and isinstance(other, bool | int | float)
        other = trace.value(other, value.type if fits else None)
    if other.type != value.type:
        value = trace.kernel("tfrt.value", [trace.value(value)], (OBJECT,))[0]
    return _recovered(trace, value, other)


def _recovered(trace: Trace, value: Traced, other: Traced) -> Traced:
    [made] = trace.kernel("tfrt.recover", [trace.value(value), trace.value(other)], (value.type,))
    if made.type == CHAIN:
        trace.effect(made)
    return made


def _taken(trace: Trace, before: dict[Traced, None]) -> list[Traced]:
    """Remove the effects that a trace has recorded since an earlier state, and return them."""
    found = [one for one in trace.effects if one not in before]
    for one in found:
        del trace.effects[one]
    return found


def _listed(types: Sequence[str]) -> str:
    return ", ".join(types) or "nothing"
