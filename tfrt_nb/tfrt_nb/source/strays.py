"""What stands where an operand should: a number, a text, or a name without its `%`.

A reader that wants an operand says so in its own words, or that something else should follow.  What to write
instead depends only on the line up to there, so it is found from the text, for operations of every dialect.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from tfrt_nb.dialects.catalog import SIGNATURES, UPSTREAM_DIALECTS, in_host_programs
from tfrt_nb.source.errors import PREDICATES

_OPERAND_IS_MISSING = re.compile(
    r"(?P<surely>expected (an )?operand|'\S+' takes \d+ operands?)"
    r"|expected '[)\]({]'|expected region|'\S+' takes its operands without|expected an operation"
    r"|custom op '\w+' is unknown",
    re.IGNORECASE,
)
"""What the readers say where no operand is; `surely` where nothing else can be meant."""
_NUMBER = re.compile(r"-?[ ]*(?P<digits>\d[\w.]*(?:[eE][+-]?\d+)?)")
_TRUTH = re.compile(r"(?:true|false)\b")
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_ASSIGNS = re.compile(r"=\s*$")
_SUM = re.compile(r"(?P<left>%\w+)[ ]*(?:(?P<operator>[-+*/])[ ]*(?P<right>%\w+)|$)", re.MULTILINE)
_MEANT = {
    "int": "i32", "integer": "i32", "int32": "i32", "int64": "i64", "long": "i64", "bool": "i1", "boolean": "i1",
    "float": "f32", "float32": "f32", "float64": "f64", "double": "f64",
}  # fmt: skip
_VALUE = re.compile(r"%([\w.$-]+)")
_WITH_ALL_TYPES = ("return", "yield", "cf.br")
_WITH_TYPES_OF_OPERANDS = (
    "arith.",
    "async.await",
    "math.",
    "vector.print",
    "async.yield",
    "scf.yield",
    "func.return",
    *_WITH_ALL_TYPES,
)
_WORD = re.compile(r"(?P<function>@)?(?P<name>[A-Za-z_]\w*)(?![\w.$]|[ ]*=)")
_OPERATION = re.compile(r"(?<![\w.$!#@%\"])\"?(?P<name>[A-Za-z_]\w*(?:\.[\w$]+)+|return|call)\"?")
_TYPE_BEHIND = re.compile(r"[^\n{]*?:[ ]*\(?(?P<type>i\d+|index|b?f\d+)\b")
_ELEMENT = re.compile(r"memref<[^\n>]*?(?P<type>i\d+|index|b?f\d+)\b")
_OF_SIZES = ("async.create_group", "memref.", "scf.for", "scf.parallel", "vector.")
_OF_OBJECTS = ("async.await", "async.add_to_group", "async.runtime.")
_CONDITIONS = (
    "tfrt.if",
    "tfrt.cond",
    "tfrt.while",
    "scf.if",
    "scf.condition",
    "cf.cond_br",
    "cf.assert",
    "arith.select",
)
"""Operations whose first operand is an `i1`."""  # fmt: skip


def instead_of_stray(
    message: str, text: str, position: int, known: Mapping[str, Sequence[SSAValue]]
) -> str | None:
    """What to write instead of what is at `position` of `text`, where a reader refused it with `message`.

    `known` has the values by name.  None if that is not known.
    """
    line = text[text.rfind("\n", 0, position) + 1 : position]
    *_, operation = None, *_OPERATION.finditer(line)
    name = "" if operation is None else operation["name"]
    word = _WORD.match(text, position)
    if message == "expected ':'" and operation is not None:
        return _types_behind(name, line[operation.end() :], known)
    if message == "expected '='" and re.search(r"\biter_args\([^)]*$", line):
        return "a loop value has a name of its own, as in 'iter_args(%sum = %first)'"
    if message == "expected '('" and line.rstrip().endswith("->"):
        return "types of results stand in parentheses, as in '-> (i32)'"
    if message == "expected identifier" and name in PREDICATES:
        return f"the predicate stands first: {PREDICATES[name]}"
    if message == "expected 'as'" and name == "async.execute":
        return "a value stands as in '(%v as %x: !async.value<i32>)', a token as in '[%t]'"
    if message.startswith("expected a constant of type") and ".constant" in name:
        one = "1.0" if "f" in message.rpartition(" ")[2] else "1"
        return f"the constant stands behind the name, as in '{name} {one}'"
    if message in ("expected shape type", "expected a type") and word is not None:
        meant = _MEANT.get(word["name"].lower())
        return None if meant is None else f"did you mean '{meant}'?"
    if message.startswith("expected ':' after block argument"):
        return "an argument has a type, as in '%x: i32'"
    if message.startswith("expected valid '@'") and word is not None:
        return f"names of functions begin with '@': write '@{word['name']}'"
    if message == "expected argument or type" and word is not None:
        return f"names of values begin with '%': write '%{word['name']}'"
    if message == "expected an operation" and text.startswith(",", position) and "->" in line:
        return "several results stand in parentheses, as in '-> (i32, i32)'"
    if message == "expected an operation name" and word is not None and word["function"]:
        call = "tfrt.call" if "tfrt." in text else "call"
        return f"an operation calls a function, as in '{call} @{word['name']}'"
    refused = _OPERAND_IS_MISSING.match(message)
    if refused is None:
        return None
    if operation is None:
        return _instead_of_expression(text, position, known) if _ASSIGNS.search(line) else None
    before = line[operation.end() :].replace("->", "")
    if _is_in_brackets(before):
        return None
    if word is not None and word["name"] not in ("true", "false"):
        is_value = word["name"] in known or before.rstrip().endswith(",")
        if is_value or (refused["surely"] and word["function"] is None):
            return f"names of values begin with '%': write '%{word['name']}'"
        return None
    if refused["surely"] and before.strip() and text.startswith(("%", "+", "*", "/"), position):
        return "a comma stands between two operands, and nothing else"
    made = _made_of(text, position, name, is_first=not before.strip(" ("))
    if made is None:
        return None
    free = next((one for one in ("x", "y", "z") if one not in known), "name")
    return f"an operand is the name of a value: write '%{free} = {made}' before, and '%{free}' here"


def _types_behind(name: str, operands: str, known: Mapping[str, Sequence[SSAValue]]) -> str | None:
    """The types that are missing behind the operands of an operation."""
    types = [type_ for one in _VALUE.findall(operands) if (type_ := _type_of(one, known))]
    if not types or not name.startswith(_WITH_TYPES_OF_OPERANDS):
        return None
    listed = ", ".join(types if name.endswith(_WITH_ALL_TYPES) else types[-1:])
    return f"types stand behind the operands, as in ': {listed}'"


def _type_of(name: str, known: Mapping[str, Sequence[SSAValue]]) -> str | None:
    """The type of the first value of this name; an argument named `%r#1` defines no `%r#0`."""
    return next((str(value.type) for value in known.get(name, ()) if value is not None), None)


def _instead_of_expression(
    text: str, position: int, known: Mapping[str, Sequence[SSAValue]]
) -> str | None:
    """The operation for `1` or `%a + %b` behind a `%c =`."""
    dialect = "tfrt" if "tfrt." in text else "arith"
    written = _SUM.match(text, position)
    if written is None:
        made = _made_of(text, position, f"{dialect}.constant", is_first=False)
        return None if made is None else f"an operation makes the value: write '{made}'"
    if written["operator"] is None:
        return f"a value has one name: write '{written['left']}' where it is used"
    type_ = _type_of(written["left"][1:], known) or "i32"
    operands = f"{written['left']}, {written['right']}"
    stem = dict(zip("+-*/", ("add", "sub", "mul", "div"), strict=True))[written["operator"]]
    if dialect == "arith":
        letter = "f" if "f" in type_ else "si" if stem == "div" else "i"
        return f"an operation makes the value: write 'arith.{stem}{letter} {operands} : {type_}'"
    kernel = in_host_programs(f"arith.{stem}{'f' if 'f' in type_ else 'i'}", type_)
    return None if kernel is None else f"an operation makes the value: write '{kernel} {operands}'"


def _is_in_brackets(text: str) -> bool:
    """Whether a type or a dictionary that begins in `text` goes on behind it."""
    return any(text.count(opening) > text.count(closing) for opening, closing in ("<>", "{}"))


def _made_of(text: str, position: int, name: str, *, is_first: bool) -> str | None:
    """The operation that makes a value of the literal at `position`, for an operation called `name`."""
    if (written := _TEXT.match(text, position)) is not None:
        return f"tfrt_test.get_string {{value = {written[0]}}}" if _is_of_host(name) else None
    if (written := _TRUTH.match(text, position)) is not None:
        return _constant(written[0], "i1", name)
    written = _NUMBER.match(text, position)
    if written is None or name.startswith(_OF_OBJECTS):
        return None
    number, suffix = written[0].replace(" ", ""), name.rpartition(".")[2]
    behind = _TYPE_BEHIND.match(text, written.end())
    if is_first and name in _CONDITIONS:
        return _constant("false" if number == "0" else "true", "i1", name)
    if f"tfrt.constant.{suffix}" in SIGNATURES:
        type_ = suffix
    elif behind is not None:
        type_ = behind["type"]
    elif name == "memref.store" and is_first and (stored := _ELEMENT.search(text, position)):
        type_ = stored["type"]
    elif "." in number:
        type_ = "f32"
    else:
        type_ = "index" if name.startswith(_OF_SIZES) else "i32"
    if "f" in type_ and "." not in number:
        number += ".0"
    return _constant(number, type_, name)


def _constant(literal: str, type_: str, name: str) -> str:
    if not _is_of_host(name):
        return f"arith.constant {literal}" + ("" if type_ == "i1" else f" : {type_}")
    return f"tfrt.constant{'_s' if '_s.' in name else ''}.{type_} {literal}"


def _is_of_host(name: str) -> bool:
    return name.partition(".")[0] not in (*UPSTREAM_DIALECTS, "return", "call")
