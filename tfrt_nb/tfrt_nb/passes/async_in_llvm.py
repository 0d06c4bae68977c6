"""How `convert-async-to-llvm` converts a module: what stays, what is lowered, what is refused."""

from __future__ import annotations

from typing import NoReturn

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Operation

from tfrt_nb.dialects.async_.runtime import (
    RuntimeAddToGroupOp,
    RuntimeCreateOp,
    RuntimeLoadOp,
    RuntimeStoreOp,
)
from tfrt_nb.dialects.async_.types import ValueType
from tfrt_nb.internal_errors import location_of
from tfrt_nb.passes.async_calls import LOWERINGS, declare_functions
from tfrt_nb.passes.control_flow import Emitter, operations_in
from tfrt_nb.passes.conversion import Conversion
from tfrt_nb.passes.dominance import in_dominance_order
from tfrt_nb.passes.errors import PassError
from tfrt_nb.passes.fold_once import folded
from tfrt_nb.passes.llvm_forms import async_form, async_forms, llvm_form
from tfrt_runtime.diagnostics import error, note


def convert(module: ModuleOp) -> None:
    """Lower all runtime and coroutine operations of the module.

    Raises:
        PassError: at the first operation that cannot be lowered; the module is as it was.
    """
    everything = operations_in(module)
    reached = _in_order(module)
    for op in reached:
        _check(op)
    declare_functions(module, reached)
    conversion = Conversion()
    for op in everything:
        if isinstance(op, func.FuncOp) or _passes_values_on(op):
            for region in op.regions:
                for block in region.blocks:
                    conversion.retype(block, async_form)
    for op in reached:
        _convert(op, conversion)
    _hand_over_elsewhere(everything, reached, conversion)
    conversion.finish()


def _in_order(op: Operation) -> list[Operation]:
    """The operations in the regions of `op` that MLIR's conversions see, in their order: what dominates
    others comes first, and what no way leads to is left out."""
    found: list[Operation] = []
    for region in op.regions:
        for block in in_dominance_order(region):
            for nested in block.ops:
                found += [nested, *_in_order(nested)]
    return found


def _hand_over_elsewhere(
    everything: list[Operation], reached: list[Operation], conversion: Conversion
) -> None:
    """Where no way leads to, branches and calls still have to fit to blocks and functions."""
    seen = set(reached)
    for op in everything:
        if op not in seen and _passes_values_on(op) and _has_async_types(op):
            _make_anew(op, conversion)


def _convert(op: Operation, conversion: Conversion) -> None:
    lower = LOWERINGS.get(op.name)
    if lower is not None:
        conversion.replace(op, lower(op, Emitter.in_front_of(op), conversion))
    elif (known := folded(op)) is not None:
        conversion.replace(op, known)
    elif isinstance(op, func.FuncOp):
        type_ = op.function_type
        op.function_type = FunctionType.from_lists(
            async_forms(type_.inputs), async_forms(type_.outputs)
        )
    elif _passes_values_on(op) and _has_async_types(op):
        _make_anew(op, conversion)


def _passes_values_on(op: Operation) -> bool:
    """Whether the operation only hands values over, of whatever type they are."""
    return op.name in _HANDING_OVER or op.name.startswith(("cf.", "scf."))


_HANDING_OVER = frozenset({"func.call", "func.return", "arith.select"})
_WITHOUT_ATTRIBUTES = frozenset({"func.call", "func.return"})
"""What MLIR makes anew without the attributes that it does not know."""


def _has_async_types(op: Operation) -> bool:
    return any(async_form(type_) != type_ for type_ in (*op.operand_types, *op.result_types))


def _make_anew(op: Operation, conversion: Conversion) -> None:
    new = type(op).create(
        operands=[conversion.value(value, async_form(value.type)) for value in op.operands],
        result_types=async_forms(op.result_types),
        properties=op.properties,
        attributes={} if op.name in _WITHOUT_ATTRIBUTES else op.attributes,
        successors=op.successors,
        regions=[op.detach_region(region) for region in list(op.regions)],
    )
    conversion.replace(op, Emitter.in_front_of(op)(new).results)


def _check(op: Operation) -> None:
    if not op.name.startswith("async."):
        return
    if op.name not in LOWERINGS:
        _refuse(op, _advice(op))
    if isinstance(op, RuntimeAddToGroupOp) and isinstance(op.operand.type, ValueType):
        _refuse(op, "MLIR's groups have tokens only: add the token of what resolves the value")
    match op:
        case (
            RuntimeCreateOp(result=value)
            | RuntimeLoadOp(storage=value)
            | RuntimeStoreOp(storage=value)
        ):
            _check_payload(op, value.type)


def _check_payload(op: Operation, type_: object) -> None:
    if isinstance(type_, ValueType) and llvm_form(type_.value_type) is None:
        _refuse(op, f"LLVM has no type for '{type_.value_type}'")


def _advice(op: Operation) -> str:
    if op.name.startswith("async.runtime."):
        return (
            "only the runtime of this toolkit has this operation, and 'tfrt-nb run' lowers it: "
            "the passes in front do not make it without options"
        )
    return (
        "lower it first: async-func-to-async-runtime, async-to-async-runtime, "
        "async-runtime-ref-counting"
    )


def _refuse(op: Operation, advice: str) -> NoReturn:
    message = f"failed to legalize operation '{op.name}' that was explicitly marked illegal"
    place = location_of(op)
    raise PassError(error(message, place, [note(advice, place)]))
