"""Private symbols that nobody names go away, and those that only such symbols name.

Invariants: what is not private stays, and what its body names, directly or through others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from tfrt_nb.passes.control_flow import erase


@dataclass(frozen=True)
class SymbolDce(ModulePass):
    """`symbol-dce`"""

    name: ClassVar[str] = "symbol-dce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for module in [inner for inner in op.walk() if isinstance(inner, ModuleOp)]:
            _erase_unused(module)


def _erase_unused(module: ModuleOp) -> None:
    symbols = {name: op for op in module.ops if (name := _name_of(op)) is not None}
    pending = [op for op in module.ops if not is_private(op)]
    used = set(pending)
    while pending:
        for name in named_by(pending.pop()):
            symbol = symbols.get(name)
            if symbol is not None and symbol not in used:
                used.add(symbol)
                pending.append(symbol)
    for op in list(module.ops):
        if op not in used:
            erase(op)


def _name_of(op: Operation) -> str | None:
    name = op.get_attr_or_prop("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def is_private(op: Operation) -> bool:
    """Whether nobody outside the module can name the symbol."""
    visibility = op.get_attr_or_prop("sym_visibility")
    return isinstance(visibility, StringAttr) and visibility.data != "public"


def named_by(op: Operation) -> Iterator[str]:
    """The symbols that the operation names, or one inside it."""
    for nested in op.walk():
        for attribute in (*nested.attributes.values(), *nested.properties.values()):
            yield from _symbols(attribute)


def _symbols(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolRefAttr):
        yield attribute.root_reference.data
    elif isinstance(attribute, ArrayAttr):
        for element in attribute:
            yield from _symbols(element)
    elif isinstance(attribute, DictionaryAttr):
        for element in attribute.data.values():
            yield from _symbols(element)
