"""What the author of a host program may have meant: names from elsewhere, and MLIR's operations."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection

from tfrt_runtime.scalars import FAMILIES

_OTHERS = {"const": ("constant",), "constant": ("constant",)} | {
    alias: tuple(family.name for family in FAMILIES if alias in (*family.aliases, *family.arith))
    for alias in itertools.chain.from_iterable((*one.aliases, *one.arith) for one in FAMILIES)
}
"""Other names of `tfrt.*`; the type decides whether a product is `mul` or `multiply`."""


def by_another_name(name: str, known: Collection[str]) -> str | None:
    """The operation that `name` is a common name of, or names without its type."""
    parts = name.split(".")
    if len(parts) < 2:
        return None
    candidates = [name]
    candidates += [".".join([parts[0], meant, *parts[2:]]) for meant in _OTHERS.get(parts[1], ())]
    for candidate in candidates:
        for whole in (candidate, f"{candidate}.i32"):
            if whole != name and whole in known:
                return whole
    return None


def in_host_programs(name: str, type_text: str, known: Collection[str]) -> str | None:
    """The kernel that does what an operation of MLIR's dialects does with values of a type."""
    dialect, _, rest = name.partition(".")
    if dialect != "arith" or rest not in _OTHERS:
        return "tfrt.call" if name == "func.call" else None
    found = f"tfrt.{_OTHERS[rest][0]}.{type_text}"
    return found if found in known and re.fullmatch(r"\w+", type_text) else None
