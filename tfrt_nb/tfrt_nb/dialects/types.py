"""The types of host programs, and the words by which the signature tables call them.

All types of the host runtime are names to the compiler: what a `!tfrt.device` is, only its kernels
know.  So one attribute class, `HostType`, stands for `!tfrt.chain`, `!t.tensor`, `!test.atomic.i32`
and every other type that is written `!dialect.name`.
"""

from __future__ import annotations

import re

from xdsl.dialects.builtin import (
    BFloat16Type,
    ComplexType,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    Signedness,
    StringAttr,
)
from xdsl.ir import Attribute, BuiltinAttribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.printer import Printer


@irdl_attr_definition
class HostType(ParametrizedAttribute, BuiltinAttribute, TypeAttribute):
    """`!spelling`: a type that only kernels look into."""

    name = "tfrt.host_type"

    spelling: StringAttr

    def print_builtin(self, printer: Printer) -> None:
        printer.print_string("!" + self.spelling.data)


def host_type(spelling: str) -> HostType:
    """The type that is written `!spelling`."""
    return HostType(StringAttr(spelling))


CHAIN = host_type("tfrt.chain")
STRING = host_type("tfrt.string")
DEVICE = host_type("tfrt.device")
TENSOR = host_type("t.tensor")
SHAPE = host_type("ts.shape")
PARTIAL_SHAPE = host_type("ts.partial_shape")
HOST_BUFFER = host_type("ht.host_buffer")

I1 = IntegerType(1)
I32 = IntegerType(32)
I64 = IntegerType(64)


def _integers() -> dict[str, Attribute]:
    widths = (8, 16, 32, 64)
    signless: dict[str, Attribute] = {f"i{width}": IntegerType(width) for width in (1, *widths)}
    unsigned = {f"ui{width}": IntegerType(width, Signedness.UNSIGNED) for width in widths}
    return signless | unsigned


WORDS: dict[str, Attribute] = {
    **_integers(),
    "index": IndexType(),
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f32": Float32Type(),
    "f64": Float64Type(),
    "complex64": ComplexType(Float32Type()),
    "complex128": ComplexType(Float64Type()),
    "chain": CHAIN,
    "string": STRING,
    "device": DEVICE,
    "tensor": TENSOR,
    "shape": SHAPE,
    "partial_shape": PARTIAL_SHAPE,
    "buffer": HOST_BUFFER,
    "atomic.i32": host_type("test.atomic.i32"),
    "resource": host_type("tfrt.test.resource"),
    "vt": host_type("vt.value"),
    "coordinate": host_type("my.coordinate"),
    **{f"fixed_rank_shape.{rank}": host_type(f"ts.fixed_rank_shape.{rank}") for rank in range(6)},
}
"""What a word in a signature means.  The word `any` is not here: it stands for every type."""


_CLOSED_DIALECTS = {
    "t": ("tensor", re.compile(r"tensor")),
    "ts": ("shape", re.compile(r"shape|partial_shape|fixed_rank_shape\.[0-9]+")),
}


def unknown_type_message(spelling: str) -> str | None:
    """Why `!spelling` is no type, or None when it is one.

    The dialects of tensors and shapes have a fixed set of types; all others take any name.
    """
    dialect, _, mnemonic = spelling.partition(".")
    if dialect not in _CLOSED_DIALECTS:
        return None
    kind, known = _CLOSED_DIALECTS[dialect]
    return None if known.fullmatch(mnemonic) else f"unknown {kind} type: {mnemonic}"
