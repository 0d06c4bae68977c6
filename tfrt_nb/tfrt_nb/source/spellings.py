"""Tables of corrections: sentences for `advice`, and the current names for old spellings.

The old spellings are from programs written in 2020 and from TFRT's design document.
"""

from __future__ import annotations

import re
from functools import cache

from tfrt_nb.dialects.catalog import host_operation

# The first match counts, so exact names come before patterns such as `hex\.(.*)`.
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
    """Return the current name of an operation.

    Some kernels have become test kernels: `hex.async_add.i32` is now `tfrt_test.async_add.i32`.
    """
    canonical = _rewrite(name, _OPERATIONS)
    if name.startswith("hex.") and host_operation(canonical) is None:
        moved = "tfrt_test." + name.removeprefix("hex.")
        return canonical if host_operation(moved) is None else moved
    return canonical


@cache
def type_name(spelling: str) -> str:
    """Return the current spelling of a type, without its `!`."""
    return _rewrite(spelling, _TYPES)


@cache
def attribute_name(name: str) -> str:
    """Return the current name of an attribute of a function or operation."""
    return _rewrite(name, _ATTRIBUTES)


NONSTRICT_BY_SPELLING = frozenset({"hex.call", "hex.if", "hex.repeat.i32"})
"""Operations from 2020 that are non-strict even without an attribute."""


OF_FLOATS = {
    "addi": "addf", "subi": "subf", "muli": "mulf", "divsi": "divf", "divui": "divf",
    "remsi": "remf", "remui": "remf", "cmpi": "cmpf", "maxsi": "maximumf", "maxui": "maximumf",
    "minsi": "minimumf", "minui": "minimumf",
}  # fmt: skip
"""`arith` operations on integers, mapped to the corresponding operations on floats."""
OF_INTEGERS = {
    "addf": "addi", "subf": "subi", "mulf": "muli", "divf": "divsi", "remf": "remsi",
    "cmpf": "cmpi", "maximumf": "maxsi", "maxnumf": "maxsi", "minimumf": "minsi",
    "minnumf": "minsi",
}  # fmt: skip
PREDICATES = {
    "arith.cmpi": "eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge",
    "arith.cmpf": "oeq, one, olt, ole, ogt, oge, ord, ueq, une, ult, ule, ugt, uge, uno, true,"
    " false",
}
CONVERSIONS = {
    ("index", "i"): "index_cast", ("i", "index"): "index_cast",
    ("i", "f"): "sitofp", ("f", "i"): "fptosi",
    ("i", "wider"): "extsi", ("i", "narrower"): "trunci",
    ("f", "wider"): "extf", ("f", "narrower"): "truncf",
}  # fmt: skip
"""`arith` conversions, keyed by the kinds of the given type and the wanted type."""
ORDERS = {
    "async.add_to_group": "a token or a value, and the group",
    "async.runtime.add_to_group": "a token or a value, and the group",
    "async.runtime.store": "what is stored, and the value that holds it",
}
TYPES_ELSEWHERE = {
    "int": "i32", "integer": "i32", "int32": "i32", "int64": "i64", "long": "i64", "bool": "i1",
    "boolean": "i1", "float": "f32", "float32": "f32", "float64": "f64", "double": "f64",
}  # fmt: skip
_OP = r"[\w\"]\.\w|\breturn\b|\bcall\b"
_NAME = r"(?P<word>[A-Za-z_]\w*)(?![\w.$]|[ ]*=)"
UNKNOWN = r"custom op '\S+' is unknown"
_PYTHON = (
    "this is Python, and a program is written in MLIR: '%x = tfrt.constant.i32 3', between"
    " 'func.func @main() {' and '}'"
)
RULES = (
    (r"expected '\('", _OP, "->", "parentheses follow the name, even without arguments: '@main()'"),
    (r"expected '\(' in operation argument list", _OP, "%",
     "arguments go in parentheses, as in '(%x)'"),
    ("expected valid '@'", _OP, ",", "no comma goes before the name of a function"),
    ("expected a function type", _OP, "",
     "the types of arguments go in parentheses, as in '(i32) -> i32'"),
    ("expected '}': a region is not closed", "", "", "a '}' is missing here"),
    ("expected '}'", _OP, ":", "an attribute is written with '=', as in '{name = 1 : i32}'"),
    ("expected SSA value tuple size", _OP, "", "a comma goes between two operands"),
    ("expected SSA value tuple size", "", r"[^=\n]*=",
     "a result has no type before '=': the operation determines it"),
    ("expected an operation name", r"=$", "=", "one '=' goes here"),
    ("expected '=' after operation result list", r"%\d+$", r"[A-Za-z_]",
     "a name that begins with a digit has digits only: write '%first' or '%1'"),
    (r"expected '\)'", r"[(,][ ]*[\w!.<>]+[ ]+$", r"(?P<value>%[\w.$-]+)",
     "the type follows the name, as in '{value}: i32'"),
    ("expected an operation, a block", r"\w\.[\w.]+[ ]*$", r"\(",
     "operands have no parentheses here: leave them out"),
    ("expected ':'$", r"\bcall\b[^.]*$", "",
     "the types of arguments and results follow, as in ': (i64) -> ()'"),
    ("expected '='$", r"\biter_args\([^)]*$", "",
     "give the loop value a name of its own, as in 'iter_args(%sum = %first)'"),
    (r"expected '\('$", r"->\s*$", "", "the types of results go in parentheses, as in '-> (i32)'"),
    ("expected 'as'$", r"async\.execute", "",
     "a value is passed as in '(%v as %x: !async.value<i32>)', a token as in '[%t]'"),
    ("expected ':' after block argument", "", "", "an argument has a type, as in '%x: i32'"),
    ("expected valid '@'", "", _NAME, "names of functions start with '@': write '@{word}'"),
    ("expected argument or type$", "", _NAME, "names of values start with '%': write '%{word}'"),
    ("expected an operation$", "->", ",",
     "several results go in parentheses, as in '-> (i32, i32)'"),
    (UNKNOWN, "",
     r"(?:class|def|for|from|import|while|with|try|elif|del|raise|assert|pass|lambda)\b",
     _PYTHON),
    (UNKNOWN, "", r"[\w.]+[^\n%@]*:[ ]*$|print\(", _PYTHON),
    (UNKNOWN, "",
     (r"[A-Za-z_][\w.]*[ ]*"
     r"(?:[-+*/%]=|=(?![ ]*(?:\"|%|call\b|[a-z_]\w*\.[\w.]+(?:[ ]+[^( ]|[ ]*$))))"),
     _PYTHON),
    (UNKNOWN, r"^\s*$", r"(?:int|void|float|double|bool|char|auto)[ ]+\w+[ ]*\(",
     "a function starts with 'func.func @main() {'"),
    (UNKNOWN, r"^\s*$", r"(?:int|float|double|bool|char|auto|const|let|var)[ ]+\w",
     "an operation produces a value, as in '%x = tfrt.constant.i32 3'"),
    (UNKNOWN, "", r"(?P<word>[A-Za-z_]\w*)[ ]*=",
     "names of values start with '%': write '%{word}'"),
    ("floating point value not valid", "", r"(?P<word>-?[ ]*\d+)",
     "a whole number is needed here, such as {word}"),
    ("unexpected decimal integer", "", r"(?P<word>\d+)",
     "a number with a decimal point is needed here: write {word}.0"),
    ("unexpected character ';'", "", "", "a line must not end with ';': remove it"),
    (UNKNOWN, r"^\s*$",
     r"[A-Za-z_][\w.]*\([^%@\n]*\)[ ]*$|[A-Za-z_]\w*[ ]*(?::[ ]*[A-Za-z]|,[ ]*[A-Za-z_]\w*[ ]*=)",
     _PYTHON),
    ("expected an operation", r"^\s*$", "@", _PYTHON),
    (UNKNOWN, r"\breturn[ ]+$", _NAME, "names of values start with '%': write '%{word}'"),
    (UNKNOWN, "", r"(?!await\b)\w+(?:[ ,]+\w+)+[ ]*[.!?]?[ ]*$",
     "a line is an operation, as in '%x = tfrt.constant.i32 3', and a comment begins with '//'"),
    (UNKNOWN, "", r"if\b[^\n]*[<>=]",
     "an operation compares, as in '%c = tfrt.greater.i32 %x, %y', and 'tfrt.if' takes its result"),
    ("expected an operation; this closes nothing", "", "",
     "this '}' has no '{': the first line of a function ends with '{'"),
    ("expected an operation", r"\d$", r",[ ]*\d",
     "one number goes here, and a fraction has a decimal point, as in 3.5"),
    (UNKNOWN, r"\d$", r"(?P<word>[A-Za-z]\w*)", "a number has no suffix: leave out '{word}'"),
    ("use of undeclared SSA value name", "", r"(?P<value>%[\w.$-]+)", "'{value}' is not defined"),
    (r"use of value '(?P<value>.*)' expects .*: '(?P<type>.*)' vs '(?P<prior>.*)'", "", "",
     "'{value}' is of type '{prior}', but '{type}' is expected here"),
    ("redefinition of SSA value '(?P<value>.*)'", "", "",
     "'{value}' already has a value: choose another name"),
    ("integer constant out of range", "", "", "this number does not fit its type"),
    *(
        ("expected identifier$", rf"{re.escape(name)}\b", "",
         f"the predicate comes first: {listed}")
        for name, listed in PREDICATES.items()
    ),
)  # fmt: skip
"""Rules for advice.

A rule has four parts: the parser's message, the line before the rejected token, the token, and the
advice. The first and the third part are matched from the start. Their named groups are inserted in
the advice.
"""
SENTENCES = (
    (r"(?:custom op|unregistered operation) ('\S+\.\S+') (?:is unknown|found in)",
     r"there is no operation \1"),
    (r"custom op ('\S+') is unknown",
     (r"there is no operation \1: an operation is written as a dialect and a name, as in "
      "'tfrt.add.i32'")),
    (r"'[\w.]+' op '(\S+)' does not reference a valid ((?:async )?function)",
     r"there is no \2 '@\1'"),
    (r"redefinition of symbol named '(.*)'", r"'@\1' is already defined: choose another name"),
    (r"('arith\.\w+') op operand #\d must be signless-integer-like, but got '(.*)'",
     r"\1 takes integers, not \2"),
    (r"('arith\.\w+') op operand #\d must be floating-point-like, but got '(.*)'",
     r"\1 takes floats, not \2"),
)  # fmt: skip
"""Messages from the parser and from checks, each with a plain sentence to put before it."""
