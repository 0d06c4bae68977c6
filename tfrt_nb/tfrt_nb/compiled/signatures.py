"""Read the interface of a module of compiled functions from its IR."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from tfrt_nb.compiled.interface import CompiledFunction, Interface
from tfrt_nb.convert.attributes import place_of
from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.async_.types import ValueType
from tfrt_nb.dialects.crossing import host_type, is_awaited, uncrossable
from tfrt_nb.dialects.types import CHAIN, TENSOR
from tfrt_nb.internal_errors import location_of
from tfrt_nb.jit.adapters import buffer_text
from tfrt_nb.nesting import deep_stack
from tfrt_nb.source import spans

_WORDS: dict[Attribute, str] = {CHAIN: "chain", TENSOR: "tensor"}
_SLOW = ("scf.", "memref.", "async.await")
_PLAIN = ("arith.", "math.", "func.func", "func.return")
"""The operations that do not print, call, wait, loop, or create tasks."""
_BY_HAND = frozenset(
    {"async.add_ref", "async.drop_ref"}
    | {f"async.runtime.{name}" for name in ("create", "add_ref", "drop_ref")}
    | {"async.runtime.set_available", "async.runtime.set_error"}
)
"""The operations that count references or resolve objects."""


def read_interface(module: ModuleOp) -> Interface:
    """Describe the module's functions that have a body, and whether it counts references itself."""
    with deep_stack():
        functions = {
            op.sym_name.data: _function(op)
            for op in module.ops
            if isinstance(op, FuncOp | AsyncFuncOp) and op.body.blocks
        }
        counts_references = any(op.name in _BY_HAND for op in module.walk())
    return Interface(functions, counts_references)


def _function(op: FuncOp | AsyncFuncOp) -> CompiledFunction:
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    visibility = op.sym_visibility
    known = CompiledFunction(
        name=op.sym_name.data,
        is_public=visibility is None or visibility.data == "public",
        location=location_of(op),
        place=place_of(spans.location_of(op)),
        argument_types=tuple(map(str, inputs)),
        result_types=tuple(map(str, outputs)),
        parameters=tuple(spans.value_name(one) or "" for one in op.body.blocks[0].args),
        uncrossable=uncrossable(inputs, outputs),
    )
    if known.uncrossable is not None:
        return known
    operations = [nested.name for nested in op.walk()]
    return replace(
        known,
        given_types=_given_types(inputs),
        returned_types=_given_types(outputs),
        argument_words=_words(inputs),
        result_words=_words(outputs),
        awaited=tuple(i for i, type_ in enumerate(inputs) if is_awaited(type_)),
        is_heavy=any(name.startswith(_SLOW) for name in operations),
        is_plain=all(name.startswith(_PLAIN) for name in operations),
    )


def _given_types(types: Sequence[Attribute]) -> tuple[str, ...]:
    held = [type_.value_type if isinstance(type_, ValueType) else type_ for type_ in types]
    return tuple(
        f"memref<{buffer_text(type_)}>" if isinstance(type_, MemRefType) else str(host_type(type_))
        for type_ in held
    )


def _words(types: Sequence[Attribute]) -> tuple[str, ...]:
    found = [host_type(type_) for type_ in types]
    return tuple(_WORDS.get(type_) or str(type_) for type_ in found if type_ is not None)
