"""Old spellings and what they are called now: the programs of 2020 and of the design document."""

from __future__ import annotations

import re
from functools import cache

from tfrt_nb.dialects.catalog import host_operation

_OPERATIONS = (
    (r"hex\.constant\.bool", "tfrt.constant.i1"),
    (r"hex\.print\.bool", "tfrt.print.i1"),
    (r"dht\.create_uninit_tensor\.(.*)", r"tfrt_dht.create_uninitialized_tensor.\1"),
    (r"dht\.fill_tensor\.(.*)", r"tfrt_dht.fill_tensor_with_constant.\1"),
    (r"dht\.print_tensor\..*", "tfrt_dht.print_tensor"),
    (r"dht\.(.*)", r"tfrt_dht.\1"),
    (r"sht\.(.*)", r"tfrt_sht.\1"),
    (r"data\.(.*)", r"tfrt_data.\1"),
    (r"hex_tutorial\.(.*)", r"tfrt_tutorial.\1"),
    (r"hex_test\.(.*)", r"tfrt_test.\1"),
    (r"hex\.(.*)", r"tfrt.\1"),
    (r"(?:builtin\.)?func", "func.func"),
    (r"(?:std\.)?(and|or|xor)", r"arith.\1i"),
    (r"(?:std\.)?(div|rem)i_(s|u)(?:igned|nsigned)", r"arith.\1\2i"),
    (r"(?:std\.)?shift_left", "arith.shli"),
    (r"(?:std\.)?shift_right_(s|u)(?:igned|nsigned)", r"arith.shr\1i"),
    (r"(?:std\.)?sexti", "arith.extsi"),
    (r"(?:std\.)?zexti", "arith.extui"),
    (r"(?:std\.)?fp(ext|trunc)", r"arith.\1f"),
    (r"(?:std\.)?((?:add|sub|mul|cmp)[if]|(?:div|rem|neg)f)", r"arith.\1"),
    (r"(?:std\.)?(constant|index_cast|select|bitcast|trunci|[su]itofp|fpto[su]i)", r"arith.\1"),
    (r"(?:std\.)?(br|cond_br|assert)", r"cf.\1"),
    (r"(?:std\.)?(alloca?|dealloc|load|store|dim)", r"memref.\1"),
    (r"(?:std\.)?memref_cast", "memref.cast"),
    (r"std\.(call|return)", r"func.\1"),
)

_TYPES = (
    (r"hex\.(.*)", r"tfrt.\1"),
    (r"dht\.(?:host_tensor|dense_host_tensor|tensor)(?:\..*)?", "t.tensor"),
    (r"dht\.host_buffer", "ht.host_buffer"),
    (r"tfrt_tensor\.(.*)", r"t.\1"),
)

_ATTRIBUTES = (
    (r"hex\.(native|sync|compiled|cost_threshold)", r"tfrt.\1"),
    (r"_hex_cost", "_tfrt_cost"),
    (r"llvm\.passthrough", "passthrough"),  # since MLIR 23
)


def _rewrite(name: str, table: tuple[tuple[str, str], ...]) -> str:
    for pattern, replacement in table:
        match = re.fullmatch(pattern, name)
        if match is not None:
            return match.expand(replacement)
    return name


@cache
def operation_name(name: str) -> str:
    """The canonical name of an operation.

    What was `hex.async_add.i32` is a test kernel now: `tfrt_test.async_add.i32`.
    """
    canonical = _rewrite(name, _OPERATIONS)
    if name.startswith("hex.") and host_operation(canonical) is None:
        moved = "tfrt_test." + name.removeprefix("hex.")
        return canonical if host_operation(moved) is None else moved
    return canonical


@cache
def type_name(spelling: str) -> str:
    """The canonical spelling of a type, without its `!`."""
    return _rewrite(spelling, _TYPES)


@cache
def attribute_name(name: str) -> str:
    """The canonical name of an attribute of a function or operation."""
    return _rewrite(name, _ATTRIBUTES)


NONSTRICT_BY_SPELLING = frozenset({"hex.call", "hex.if", "hex.repeat.i32"})
"""Operations of 2020 that are non-strict without saying so."""
