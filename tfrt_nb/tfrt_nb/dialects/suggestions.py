"""What the author of a host program may have meant: names from elsewhere, and MLIR's operations."""

from __future__ import annotations

import re
from collections.abc import Collection

COMMON = {
    "sub": "minus",
    "subtract": "minus",
    "times": "mul",
    "mult": "mul",
    "multiply": "mul",
    "mul": "multiply",
    "divide": "div",
    "mod": "floordiv",
    "rem": "div",
    "eq": "equal",
    "ne": "notequal",
    "lt": "less",
    "le": "lessequal",
    "gt": "greater",
    "ge": "greaterequal",
    "max": "maximum",
    "min": "minimum",
    "const": "constant",
    "shl": "shiftleft",
    "shr": "shiftright",
}
"""Other names for `tfrt.*`: the type decides whether a product is `mul` or `multiply`."""

_UPSTREAM = {
    "addi": "add",
    "addf": "add",
    "subi": "minus",
    "subf": "minus",
    "muli": "mul",
    "mulf": "multiply",
    "divsi": "div",
    "divf": "div",
    "remsi": "div",
    "maxsi": "maximum",
    "maximumf": "maximum",
    "minsi": "minimum",
    "minimumf": "minimum",
    "andi": "and",
    "ori": "or",
    "xori": "xor",
    "shli": "shiftleft",
    "shrsi": "shiftright",
    "cmpi": "less",
    "cmpf": "less",
    "constant": "constant",
}


def by_another_name(name: str, known: Collection[str]) -> str | None:
    """The operation that `name` is a common name of, or names without its type."""
    parts = name.split(".")
    if len(parts) < 2:
        return None
    candidates = [name]
    if parts[1] in COMMON:
        candidates.append(".".join([parts[0], COMMON[parts[1]], *parts[2:]]))
    for candidate in candidates:
        for whole in (candidate, f"{candidate}.i32"):
            if whole != name and whole in known:
                return whole
    return None


def in_host_programs(name: str, type_text: str, known: Collection[str]) -> str | None:
    """The kernel that does what an operation of MLIR's dialects does with values of a type."""
    dialect, _, rest = name.partition(".")
    if dialect != "arith" or rest not in _UPSTREAM:
        return "tfrt.call" if name == "func.call" else None
    found = f"tfrt.{_UPSTREAM[rest]}.{type_text}"
    return found if found in known and re.fullmatch(r"\w+", type_text) else None
