"""Calls of kernels and of programs in a trace."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from tfrt_nb.tracing.trace import Trace, Traced, number_text, quoted, refuse, required
from tfrt_runtime.kernels.annotations import (
    CHAIN,
    accepts,
    annotated_type,
    has_annotation,
    result_types,
    shown,
    signature_of,
)
from tfrt_runtime.kernels.registry import REQUIRED
from tfrt_runtime.kernels.user import UserKernel


def traced_call(
    kernel: UserKernel, values: tuple[object, ...], keywords: dict[str, object]
) -> object:
    """The operation that calls `kernel`: its results, a chain for one that returns None."""
    trace = required(f"'{kernel.name}'")
    after = keywords.pop("after", ())
    signature = signature_of(kernel.function)
    parameters = list(signature.parameters.values())[kernel.has_frame :]
    try:
        bound = signature.replace(parameters=parameters).bind(*values, **keywords)
    except TypeError as wrong:
        refuse(f"'{kernel.name}': {wrong}")
    operands: list[Traced] = []
    attributes: dict[str, object] = {}
    is_variadic = False
    for parameter in parameters:
        if parameter.kind is parameter.KEYWORD_ONLY:
            value = bound.arguments.get(parameter.name, REQUIRED)
            if value is not REQUIRED:
                attributes[parameter.name] = value
        elif parameter.kind is parameter.VAR_POSITIONAL:
            is_variadic = True
            operands += [trace.value(item) for item in bound.arguments.get(parameter.name, ())]
        elif parameter.name in bound.arguments:
            operands.append(operand(trace, kernel, parameter, bound.arguments[parameter.name]))
        elif parameter.default is not parameter.empty:
            break  # what comes behind a default that is taken is one, too
    like = [value.type for value in operands if not value.is_weak]
    if order := order_of(trace, after):
        if is_variadic:
            refuse(f"'{kernel.name}' takes any number of arguments, so it cannot be ordered")
        operands.append(trace.chain_of(order))
    types = result_types(signature.return_annotation, like)
    texts = [f"{name} = {attribute(name, attributes[name])}" for name in sorted(attributes)]
    results = trace.kernel(kernel.name, operands, types, ", ".join(texts))
    if types == (CHAIN,):
        trace.effect(results[0])
    return results[0] if len(results) == 1 else results


def operand(
    trace: Trace, kernel: UserKernel, parameter: inspect.Parameter, value: object
) -> Traced:
    """An argument as the parameter's annotation takes it."""
    annotation = parameter.annotation if has_annotation(parameter.annotation) else object
    like = None
    if not isinstance(value, Traced) or value.is_weak:
        like = annotated_type(annotation)
    found = trace.value(value, like if like != CHAIN else None)
    if not accepts(annotation, found.type):
        refuse(
            f"argument '{parameter.name}' of '{kernel.name}' is {shown(annotation)},"
            f" found {found.type}"
        )
    return found


def order_of(trace: Trace, after: object) -> list[object]:
    """What a call waits for beside its arguments."""
    given = list(after) if isinstance(after, tuple | list) else [after]
    return [*given, trace.order] if trace.order is not None else given


def attribute(name: str, value: object) -> str:
    """An attribute as it is written in a program."""
    if isinstance(value, Traced):
        refuse(f"attribute '{name}' must be known when the program is traced, found a traced value")
    if (
        hasattr(value, "item")
        and type(value).__module__ == "numpy"
        and not hasattr(value, "__len__")
    ):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            refuse(f"attribute '{name}': {value} does not fit in i64")
        return f"{value} : i64"
    if isinstance(value, float):
        return f"{number_text(value, 'f64')} : f64"
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(attribute(name, item) for item in value)}]"
    refuse(f"attribute '{name}' cannot be {type(value).__name__}: pass it as an argument")


@contextlib.contextmanager
def in_order() -> Iterator[None]:
    """Let kernels that return None, and operations with bodies, happen in the order of the lines."""
    trace = required("tfrt.in_order")
    before = trace.order, trace.is_ordered
    trace.is_ordered = True
    try:
        yield
    finally:
        trace.order, trace.is_ordered = before


def unpacked(results: Sequence[Any]) -> Any:
    """What a traced call returns: one value, a tuple of several, None for none."""
    return None if not results else results[0] if len(results) == 1 else tuple(results)
