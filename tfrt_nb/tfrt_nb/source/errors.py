"""What is wrong with a program's text, as exceptions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from xdsl.utils.exceptions import MultipleSpansParseError, ParseError
from xdsl.utils.lexer import Span

from tfrt_nb.dialects.catalog import SIGNATURES, UPSTREAM_DIALECTS
from tfrt_nb.source.text import SourceText
from tfrt_runtime.diagnostics import Diagnostic, TfrtError, error, note


class SourceError(TfrtError):
    """The text is not a valid program.  `diagnostics` has every independent reason, in order."""


class LocatedError(ParseError):
    """A parse error with notes."""

    def __init__(self, span: Span, message: str, notes: Iterable[Diagnostic]) -> None:
        super().__init__(span, message)
        self.notes = tuple(notes)


def diagnostic_of(exception: ParseError, source: SourceText) -> Diagnostic:
    """The diagnostic that a parse error stands for."""
    notes: tuple[Diagnostic, ...] = ()
    if isinstance(exception, LocatedError):
        notes = exception.notes
    elif isinstance(exception, MultipleSpansParseError):
        notes = tuple(
            note(text or exception.ref_text or "see here", source.location(span.start, span.end))
            for span, text in exception.refs
        )
    span = exception.span
    return error(in_house_style(exception.msg), source.location(span.start, span.end), notes)


_STYLE = (
    (re.compile(r"^attribute expected\b"), "expected an attribute"),
    (re.compile(r"^(type|shape type|function type) expected\b"), r"expected a \1"),
    (re.compile(r"^(block argument|operand|string literal|identifier) expected\b"), r"expected \1"),
    (re.compile(r"^('.*?') expected\b"), r"expected \1"),
    (re.compile(r"^expect symbol name"), "expected valid '@'-identifier for symbol name"),
    (re.compile(r"^E(?=xpected\b)"), "e"),
    (re.compile(r"[.!]$"), ""),
)


def in_house_style(message: str) -> str:
    """xDSL words its messages in several ways; MLIR says what is expected, without a full stop."""
    for pattern, replacement in _STYLE:
        message = pattern.sub(replacement, message)
    return message


_IN_MLIRS_WORDS = (
    (re.compile(r"last operation in its parent block"), "last operation in the parent block"),
    (
        re.compile(r"'@(.*)' (does not reference|could not be found).*"),
        r"'\1' does not reference a valid function",
    ),
    (
        re.compile(
            r"(operand type mismatch: expected operand type )([^'].*)(, but provided )(.*)( for op)"
        ),
        r"\1'\2'\3'\4'\5",
    ),
    (re.compile(r"Expected 1 region, but got \d+"), "requires one region"),
    (re.compile(r"Expected (\d+) regions?, but got \d+"), r"requires \1 regions"),
    (re.compile(r"result type mismatch: .* for result number "), "result type mismatch at index "),
)


def in_mlirs_words(name: str, message: str) -> str:
    """What a verifier of xDSL says of an operation of this name, as MLIR says it behind the name."""
    first, _, _ = message.partition("\n")
    text = first.removeprefix(f"'{name}' ").removeprefix("op ").rstrip(".")
    for pattern, replacement in _IN_MLIRS_WORDS:
        text = pattern.sub(replacement, text)
    parents = re.match(r"expects parent op to be one of (.*)", text)
    if parents is not None:
        # `async.region` is of the proposal; MLIR has none.
        names = sorted(set(re.findall(r"'([\w.]+)'", parents[1])) - {"async.region"})
        several = len(names) > 1
        text = f"expects parent op {'to be one of ' if several else ''}'{', '.join(names)}'"
    return text


_OF_FLOATS = {
    "addi": "addf", "subi": "subf", "muli": "mulf", "divsi": "divf", "divui": "divf", "remsi": "remf", "remui": "remf",
    "cmpi": "cmpf", "maxsi": "maximumf", "maxui": "maximumf", "minsi": "minimumf", "minui": "minimumf",
}  # fmt: skip
"""Operations of `arith` on integers, and what does the same with floats."""
_OF_INTEGERS = {
    "addf": "addi", "subf": "subi", "mulf": "muli", "divf": "divsi", "remf": "remsi", "cmpf": "cmpi",
    "maximumf": "maxsi", "maxnumf": "maxsi", "minimumf": "minsi", "minnumf": "minsi",
}  # fmt: skip
PREDICATES = {
    "arith.cmpi": "eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge",
    "arith.cmpf": "oeq, one, olt, ole, ogt, oge, ord, ueq, une, ult, ule, ugt, uge, uno, true, false",
}


def instead_of(name: str, problem: str) -> Iterator[str]:
    """What to write where an operation is for other numbers, or has no such predicate."""
    dialect, _, stem = name.partition(".")
    got = re.search(
        r"must be (signless-integer|floating-point)-like, but got '(b?f|i|index)", problem
    )
    if dialect == "arith" and got is not None:
        other = _OF_FLOATS if got[2] in ("f", "bf") else _OF_INTEGERS
        if stem in other:
            yield f"did you mean 'arith.{other[stem]}'?"
    if name in PREDICATES and "comparison mnemonic" in problem:
        yield f"predicates are {PREDICATES[name]}"
    if name == "async.await" and problem.endswith("'!async.group'"):
        yield "did you mean 'async.await_all'?"
    if name in ("async.func", "async.call") and (type_ := re.search(r"got '([^'!]+)'$", problem)):
        yield f"write '!async.value<{type_[1]}>': what an async function gives is awaited"
    if name in ("memref.alloc", "memref.alloca") and "dimension operand count" in problem:
        yield f"give a size for each '?', as in '{name}(%n)'"


_CONVERSIONS = {
    ("index", "i"): "index_cast", ("i", "index"): "index_cast", ("i", "f"): "sitofp", ("f", "i"): "fptosi",
    ("i", "wider"): "extsi", ("i", "narrower"): "trunci", ("f", "wider"): "extf", ("f", "narrower"): "truncf",
}  # fmt: skip
"""Operations of `arith` by the kinds of two types."""


_ORDERS = {
    "async.add_to_group": "a token or a value, and the group",
    "async.runtime.add_to_group": "a token or a value, and the group",
    "async.runtime.store": "what is stored, and the value that holds it",
}


def on_type(name: str, operand: str, wanted: str, given: str) -> str | None:
    """What to do where an operation called `name` takes `operand` as a `wanted`, and it is a `given`."""
    stem, _, suffix = name.rpartition(".")
    dialect = name.partition(".")[0]
    if wanted == "i1" and re.fullmatch(r"i\d+|index", given):
        example = f"arith.cmpi ne, {operand}, %zero : {given}"
        if dialect not in UPSTREAM_DIALECTS:
            example = f"tfrt.greater.{given} {operand}, %zero"
        return f"'{name}' takes an i1, true or false: compare, as in '%c = {example}'"
    if name in _ORDERS and given.startswith("!async."):
        return f"the operands of '{name}' are {_ORDERS[name]}"
    if name == "async.execute" and wanted == "!async.token" and given.startswith("!async.value"):
        return f"values stand in parentheses: '({operand} as %x: {given})'"
    if name in ("async.await", "async.execute", "tfrt.return"):
        if name == "tfrt.return" or given.startswith("!async."):
            return f"write the type that it has: '{given}'"
        return f"it is no async value: write '!async.value<{given}>' where it is made"
    if given == f"!async.value<{wanted}>":
        return f"await it first: '%x = async.await {operand} : {given}'"
    if stem == "arith":
        other = {"f": _OF_FLOATS, "i": _OF_INTEGERS}.get(given[0], {}).get(suffix)
        if other is not None and given[0] != wanted[0]:
            return f"'arith.{other}' takes operands of type {given}"
    elif f"{stem}.{given}" in SIGNATURES and suffix == wanted:
        return f"'{stem}.{given}' takes operands of type {given}"
    elif name in SIGNATURES:
        words = SIGNATURES[name].operands
        return f"'{name}' takes operands of the types ({', '.join(words)})"
    if dialect in UPSTREAM_DIALECTS and (conversion := _conversion(given, wanted)) is not None:
        return f"convert it: '%x = arith.{conversion} {operand} : {given} to {wanted}'"
    return None


def _conversion(given: str, wanted: str) -> str | None:
    """The operation of `arith` that makes a `wanted` of a `given`."""
    kinds = [re.fullmatch(r"(index|b?f|i)(\d*)", text) for text in (given, wanted)]
    if None in kinds:
        return None
    (source, bits), (target, other_bits) = (
        (kind[1].lstrip("b"), kind[2]) for kind in kinds if kind
    )
    if source == target and bits and bits != other_bits:
        target = "wider" if int(bits) < int(other_bits) else "narrower"
    return _CONVERSIONS.get((source, target))
