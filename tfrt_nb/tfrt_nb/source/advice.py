"""Advice: the correct spelling for a mistake.

The module has advice for three kinds of mistakes, in this order: an operation that is meant for
other numbers or types; a number, a string, or a name without its `%` where an operand should be;
and an operation that one of its own checks rejects.

If an operand is missing, different parsers report different messages, and expect different tokens.
The correct spelling depends only on the line up to that point, so this module derives it from the
source, for operations of every dialect.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from xdsl.dialects.builtin import FunctionType, SymbolRefAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.dialects.catalog import UPSTREAM_DIALECTS, in_host_programs
from tfrt_nb.dialects.control_flow.calls import BodyOp
from tfrt_nb.dialects.tables import SIGNATURES
from tfrt_nb.source.spans import span_of
from tfrt_nb.source.spellings import (
    CONVERSIONS,
    OF_FLOATS,
    OF_INTEGERS,
    ORDERS,
    PREDICATES,
    RULES,
    SENTENCES,
    TYPES_ELSEWHERE,
    UNKNOWN,
)
from tfrt_runtime.diagnostics import Diagnostic, Location, known_names, note


def instead_of(name: str, problem: str) -> Iterator[str]:
    """Yield advice for an operation with the wrong kind of operands or an unknown predicate."""
    dialect, _, stem = name.partition(".")
    got = re.search(
        r"must be (signless-integer|floating-point)-like, but got '(b?f|i|index)", problem
    )
    if dialect == "arith" and got is not None:
        other = OF_FLOATS if got[2] in ("f", "bf") else OF_INTEGERS
        if stem in other:
            yield f"did you mean 'arith.{other[stem]}'?"
    if name in PREDICATES and "comparison mnemonic" in problem:
        yield f"predicates are {PREDICATES[name]}"
    if name == "async.await" and problem.endswith("'!async.group'"):
        yield "did you mean 'async.await_all'?"
    if name in ("async.func", "async.call") and (type_ := re.search(r"got '([^'!]+)'$", problem)):
        yield (
            f"write '!async.value<{type_[1]}>': an async function returns values that its caller "
            "awaits"
        )
    if name in ("memref.alloc", "memref.alloca") and "dimension operand count" in problem:
        yield f"give a size for each '?', as in '{name}(%n)'"


def on_type(name: str, operand: str, wanted: str, given: str) -> str | None:
    """Return advice for operation `name` if `operand` has type `given` but needs type `wanted`."""
    stem, _, suffix = name.rpartition(".")
    dialect = name.partition(".")[0]
    if wanted == "i1" and re.fullmatch(r"i\d+|index", given):
        example = (
            f"arith.cmpi ne, {operand}, %zero : {given}"
            if dialect in UPSTREAM_DIALECTS
            else f"tfrt.greater.{given} {operand}, %zero"
        )
        return f"'{name}' takes an i1, true or false: compare, as in '%c = {example}'"
    if name in ORDERS and given.startswith("!async."):
        return f"the operands of '{name}' are {ORDERS[name]}"
    if name == "async.execute" and wanted == "!async.token" and given.startswith("!async.value"):
        return f"values go in parentheses: '({operand} as %x: {given})'"
    if name in ("async.await", "async.execute", "tfrt.return"):
        if name == "tfrt.return" or given.startswith("!async."):
            return f"write the type that it has: '{given}'"
        return f"it is not an async value: write '!async.value<{given}>' where it is made"
    if given == f"!async.value<{wanted}>":
        return f"await it first: '%x = async.await {operand} : {given}'"
    if stem == "arith":
        other = {"f": OF_FLOATS, "i": OF_INTEGERS}.get(given[0], {}).get(suffix)
        if other is not None and given[0] != wanted[0]:
            return f"'arith.{other}' takes operands of type {given}"
    elif f"{stem}.{given}" in SIGNATURES and suffix == wanted:
        return f"'{stem}.{given}' takes operands of type {given}"
    elif name in SIGNATURES:
        return f"'{name}' takes operands of the types ({', '.join(SIGNATURES[name].operands)})"
    if dialect in UPSTREAM_DIALECTS and (conversion := _conversion(given, wanted)) is not None:
        return f"convert it: '%x = arith.{conversion} {operand} : {given} to {wanted}'"
    return None


def _conversion(given: str, wanted: str) -> str | None:
    """Return the `arith` operation that converts type `given` to type `wanted`, or None."""
    kinds = [re.fullmatch(r"(index|b?f|i)(\d*)", text) for text in (given, wanted)]
    if None in kinds:
        return None
    (source, bits), (target, other_bits) = (
        (kind[1].lstrip("b"), kind[2]) for kind in kinds if kind
    )
    if source == target and bits and bits != other_bits:
        target = "wider" if int(bits) < int(other_bits) else "narrower"
    return CONVERSIONS.get((source, target))


# Where an operand should be

_OPERAND_IS_MISSING = re.compile(
    r"(?P<surely>expected (an )?operand|'\S+' takes \d+ operands?)"
    r"|expected '[)\]({]'|expected region|write the operands of '\S+' without|expected an operation"
    r"|custom op '\w+' is unknown",
    re.IGNORECASE,
)
"""Matches the parsers' messages for a missing operand.

The group `surely` matches messages that can have no other meaning.
"""
_NONSTRICT = re.compile(r"\{?\s*bef\.nonstrict\b")
_NUMBER = re.compile(r"-?[ ]*(?P<digits>\d[\w.]*(?:[eE][+-]?\d+)?)")
_TRUTH = re.compile(r"(?:true|false)\b")
_TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_ASSIGNS = re.compile(r"=\s*$")
_SUM = re.compile(
    r"(?P<left>%\w+)[ ]*(?:(?P<operator>[-+*/])[ ]*(?P<right>%\w+|\d[\w.]*)|$)", re.MULTILINE
)
_TYPE_IS_MISSING = ("expected shape type", "expected a type", "expected an attribute")
_VALUE = re.compile(r"%([\w.$-]+)")
_WITH_ALL_TYPES = ("return", "yield", "cf.br", "tfrt.return")
_WITH_TYPES_OF_OPERANDS = (
    "arith.",
    "async.await",
    "async.runtime.",
    "math.",
    "vector.print",
    "async.yield",
    "scf.yield",
    "func.return",
    *_WITH_ALL_TYPES,
)
_WORD = re.compile(r"(?P<function>@)?(?P<name>[A-Za-z_]\w*)(?![\w.$]|[ ]*=)")
_WRITE = re.compile(
    r"(?:write|did you mean) '(?P<word>[^' ]+)'\??\Z|follow them, as in '(?P<types>: [^']+)'\Z"
)
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
"""The operations whose first operand is an `i1`."""  # fmt: skip


def fix_of(advice: str | None, written: str) -> tuple[str, str] | None:
    """Return the text to replace and its replacement, or None.

    The advice names a replacement for the rejected word, or types that should follow.
    """
    found = _WRITE.search(advice or "")
    if found is None:
        return None
    return ("", f" {found['types']}") if found["types"] else (written, found["word"])


def instead_of_stray(
    message: str, text: str, position: int, known: Mapping[str, Sequence[SSAValue]]
) -> str | None:
    """Return advice for the position in `text` that a parser rejected with `message`, or None.

    `known` maps names to values.
    """
    line = text[text.rfind("\n", 0, position) + 1 : position]
    *_, operation = None, *_OPERATION.finditer(line)
    name = "" if operation is None else operation["name"]
    word = _WORD.match(text, position)
    if _NONSTRICT.match(text, position) and operation is not None:
        has_body = name in {one.name for one in BodyOp.__subclasses__()}
        written = "attributes {bef.nonstrict}" if has_body else "{bef.nonstrict}"
        return f"attributes come before the types: '{written} :'"
    called = word is not None and f"@{word['name']}(" in text
    call = "tfrt.call" if "tfrt." in text else "func.call"
    if called and word is not None and re.match(f"{UNKNOWN}|expected an operation name", message):
        return f"to call a function, write an operation, as in '{call} @{word['name']}'"
    for said, before, here, advice in RULES:
        found = re.compile(here, re.MULTILINE).match(text, position)
        spoken = re.match(said, message)
        if found and spoken and re.search(before, line):
            words = spoken.groupdict() | found.groupdict()
            sentence = advice
            # Not `str.format`, because advice may contain other braces.
            for key, one in words.items():
                sentence = sentence.replace(f"{{{key}}}", one)
            return sentence
    if (
        re.match("expected ':'($| and the types of the operands)", message)
        and operation is not None
    ):
        return _types_behind(name, line[operation.end() :], known)
    if message.startswith("expected a constant of type") and ".constant" in name:
        type_ = message.rpartition(" ")[2]
        one = "true" if type_ == "i1" else _literal("1", type_)
        return f"the constant follows the name, as in '{name} {one}'"
    if message in _TYPE_IS_MISSING and word is not None:
        meant = TYPES_ELSEWHERE.get(word["name"].lower())
        return None if meant is None else f"did you mean '{meant}'?"
    refused = _OPERAND_IS_MISSING.match(message)
    if refused is None:
        return None
    if operation is None:
        return _instead_of_expression(text, position, known) if _ASSIGNS.search(line) else None
    before = line[operation.end() :].replace("->", "")
    if any(before.count(opening) > before.count(closing) for opening, closing in ("<>", "{}")):
        return None  # this continues a type or a dictionary
    if word is not None and word["name"] not in ("true", "false"):
        is_value = word["name"] in known or before.rstrip().endswith(",")
        if is_value or (refused["surely"] and word["function"] is None):
            return f"names of values start with '%': write '%{word['name']}'"
        return None
    if refused["surely"] and before.strip() and text.startswith(("%", "+", "*", "/"), position):
        return "a comma must separate two operands"
    made = _made_of(text, position, name, is_first=not before.strip(" ("))
    if made is None:
        return None
    free = _free_name(known)
    return (
        f"an operand must be the name of a value: write '%{free} = {made}' on a line above, and"
        f" '%{free}' here"
    )


def for_people(message: str, text: str = "", position: int = 0) -> str | None:
    """Return the sentence to put before `message`, or None.

    Only the rejected token at `position` is known.
    """
    for said, sentence in SENTENCES:
        if (spoken := re.match(said, message)) is not None:
            return spoken.expand(sentence)
    word = _WORD.match(text, position)
    is_type_of_others = word is not None and word["name"].lower() in TYPES_ELSEWHERE
    is_attribute = message == "expected an attribute" and not is_type_of_others
    if message not in _TYPE_IS_MISSING or is_attribute:
        return None
    if word is not None and word["function"] is None:
        return f"'{word['name']}' is not a type"
    if message == "expected shape type":
        return "the type of the elements goes here, as in 'memref<4xf32>'"
    return "a type goes here, such as i32, f32, or !async.token"


def _types_behind(name: str, operands: str, known: Mapping[str, Sequence[SSAValue]]) -> str | None:
    """Return the missing types after an operation's operands, or None."""
    types = [type_ for one in _VALUE.findall(operands) if (type_ := _type_of(one, known))]
    if not types or not name.startswith(_WITH_TYPES_OF_OPERANDS):
        return None
    listed = ", ".join(types if name.endswith(_WITH_ALL_TYPES) else types[-1:])
    return f"the types of the operands follow them, as in ': {listed}'"


def _type_of(name: str, known: Mapping[str, Sequence[SSAValue]]) -> str | None:
    """Return the type of the first value that has this name, or None.

    An argument called `%r#1` does not define `%r#0`.
    """
    return next((str(value.type) for value in known.get(name, ()) if value is not None), None)


def _instead_of_expression(
    text: str, position: int, known: Mapping[str, Sequence[SSAValue]]
) -> str | None:
    """Return the operation to write instead of `1` or `%a + %b` after `%c =`, or None."""
    dialect = "tfrt" if "tfrt." in text else "arith"
    written = _SUM.match(text, position)
    if written is None:
        made = _made_of(text, position, f"{dialect}.constant", is_first=False)
        return None if made is None else f"a value must come from an operation: write '{made}'"
    defined = _VALUE.findall(text, text.rfind("\n", 0, position) + 1, position)
    if written["operator"] is None:
        second = f"'%{defined[0]}'" if defined else "it"
        return (
            f"a value cannot have a second name: write '{written['left']}' where {second} is used"
        )
    type_ = _type_of(written["left"][1:], known) or "i32"
    right, write, here = written["right"], "write", ""
    if not right.startswith("%"):
        if "." in right and "f" not in type_:
            return None
        free = _free_name({*known, *defined})
        made = _constant(_literal(right, type_), type_, f"{dialect}.constant")
        right, write, here = f"%{free}", f"write '%{free} = {made}' on a line above, and", " here"
    operands = f"{written['left']}, {right}"
    stem = dict(zip("+-*/", ("add", "sub", "mul", "div"), strict=True))[written["operator"]]
    if dialect == "arith":
        letter = "f" if "f" in type_ else "si" if stem == "div" else "i"
        return (
            f"a value must come from an operation: {write} "
            f"'arith.{stem}{letter} {operands} : {type_}'{here}"
        )
    kernel = in_host_programs(f"arith.{stem}{'f' if 'f' in type_ else 'i'}", type_)
    return (
        None
        if kernel is None
        else f"a value must come from an operation: {write} '{kernel} {operands}'{here}"
    )


def _made_of(text: str, position: int, name: str, *, is_first: bool) -> str | None:
    """Return the operation that creates a value of the literal at `position`, or None.

    The value is an operand of the operation `name`.
    """
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
    return _constant(_literal(number, type_), type_, name)


def _literal(number: str, type_: str) -> str:
    """Return `number` as a literal of the given type: for a float type, `3` becomes `3.0`."""
    return number + ".0" if "f" in type_ and "." not in number else number


def _free_name(known: Collection[str]) -> str:
    """Return a name that is not the name of any value."""
    return next((one for one in ("x", "y", "z") if one not in known), "name")


def _constant(literal: str, type_: str, name: str) -> str:
    if not _is_of_host(name):
        return f"arith.constant {literal}" + ("" if type_ == "i1" else f" : {type_}")
    return f"tfrt.constant{'_s' if '_s.' in name else ''}.{type_} {literal}"


def _is_of_host(name: str) -> bool:
    return name.partition(".")[0] not in (*UPSTREAM_DIALECTS, "return", "call")


# After a check

_OF_CALLS = re.compile(r"for callee|type mismatch")


def notes_on(
    operation: Operation, problem: str, symbols: Mapping[str, Operation]
) -> tuple[Diagnostic, ...]:
    """Return advice for an operation whose own check found `problem`."""
    place = span_of(operation)
    unknown = re.match(r"'(.*)' does not reference a valid (async )?function", problem)
    if unknown is not None:
        return _on_callee(unknown[1], symbols, place)
    match operation.name:
        case "async.execute" if "control flow edge from Region" in problem:
            return _on_end(operation)
        case "func.call" | "async.call" if _OF_CALLS.search(problem):
            return _on_type(operation.get_attr_or_prop("callee"), symbols)
        case "async.return" if "FuncOp" in problem:
            given, wanted = _returned(operation)
            return (note(f"this returns ({given}), but the function returns ({wanted})", place),)
    texts = list(instead_of(operation.name, problem))
    if "block" in problem and any(not region.blocks for region in operation.regions):
        texts.append(advice_on_end(operation, operation))
    parent = operation.parent_op()
    if parent is not None and problem.startswith("expects parent op"):
        texts.append(advice_on_end(parent, operation))
    return tuple(note(text, place) for text in texts)


def _on_type(callee: Attribute | None, symbols: Mapping[str, Operation]) -> tuple[Diagnostic, ...]:
    name = callee.root_reference.data if isinstance(callee, SymbolRefAttr) else ""
    function = symbols.get(name)
    if function is None:
        return ()
    type_ = function.get_attr_or_prop("function_type")
    return (note(f"'@{name}' has the type {type_}", span_of(function)),)


def _on_callee(
    name: str, symbols: Mapping[str, Operation], place: Location | None
) -> tuple[Diagnostic, ...]:
    callee = symbols.get(name)
    if callee is None:
        return nearest(name, symbols, place)
    how = {"async.func": "async.call", "func.func": "func.call"}.get(callee.name)
    return () if how is None else (note(f"write '{how} @{name}'", place),)


def nearest(
    name: str, symbols: Mapping[str, Operation], place: Location | None
) -> tuple[Diagnostic, ...]:
    """Return a note with the function that `name` may mean.

    If no function has a similar name, the note lists all functions.
    """
    functions = [each for each, op in symbols.items() if op.name in ("func.func", "async.func")]
    near = difflib.get_close_matches(name, functions, n=1)
    if near:
        return (note(f"did you mean '@{near[0]}'?", place, (f"@{name}", f"@{near[0]}")),)
    names = [f"@{each}" for each in functions[:10]]
    return (note(known_names(names), place),) if names else ()


def _returned(end: Operation) -> tuple[str, str]:
    """Return the types of a return's operands, and the types that the async function requires."""
    function = end.parent_op()
    type_ = None if function is None else function.get_attr_or_prop("function_type")
    outputs = type_.outputs.data if isinstance(type_, FunctionType) else ()
    payloads = (getattr(one, "value_type", None) for one in outputs)
    given, wanted = end.operand_types, [one for one in payloads if one is not None]
    return ", ".join(map(str, given)), ", ".join(map(str, wanted))


def _on_end(task: Operation) -> tuple[Diagnostic, ...]:
    """Return a note with the terminator that a task's body needs."""
    last = task.regions[0].blocks[-1].last_op if task.regions[0].blocks else None
    if last is None:
        return ()
    found = ", ".join(map(str, last.operand_types))
    payloads = (getattr(type_, "value_type", None) for type_ in task.result_types)
    wanted = ", ".join(str(type_) for type_ in payloads if type_ is not None)
    text = f"'{last.name}' yields ({found}), but the results need ({wanted})"
    return (note(text, span_of(last)),)


def advice_on_end(holder: Operation, last: Operation) -> str:
    """Return the terminator that a function or a region of `holder` needs after `last`."""
    if isinstance(holder, BodyOp):
        return "end the body with 'tfrt.return'"
    if holder.name == "async.func":
        return "end the function with 'async.return'"
    dialect = holder.name.partition(".")[0]
    if dialect in ("async", "scf"):
        return f"end the region with '{dialect}.yield'"
    is_compiled = last.name.partition(".")[0] in UPSTREAM_DIALECTS
    return f"end the function with '{'func' if is_compiled else 'tfrt'}.return'"
