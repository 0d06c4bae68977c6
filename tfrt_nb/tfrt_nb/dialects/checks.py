"""Whether operands, results and attributes are what a signature asks for, and if not, in MLIR's
words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
)
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.tables.signatures import Signature
from tfrt_nb.dialects.types import WORDS, HostType
from tfrt_runtime.diagnostics import counted


def problems(op: Operation, signature: Signature) -> Iterator[str]:
    """What is wrong with `op`, a message for each; each goes behind `'op.name' op `."""
    yield from _value_problems("operand", op.operand_types, *_operand_words(op, signature))
    others = [WORDS[word] for word in signature.other_results]
    if not others or list(op.result_types) != others:
        yield from _value_problems("result", op.result_types, signature.results, None)
    for name, word in signature.attributes.items():
        yield from _attribute_problems(op, name, word)
    cost = op.attributes.get("_tfrt_cost")
    if isinstance(cost, IntegerAttr) and cost.value.data <= 0:
        yield "cost value must be larger than 0"


def _attribute_problems(op: Operation, name: str, word: str) -> Iterator[str]:
    attribute, word, is_optional = op.attributes.get(name), word.rstrip("?"), word.endswith("?")
    if attribute is None:
        if not is_optional:
            yield f"requires attribute '{name}'"
    elif not _attribute_fits(attribute, word):
        said = f"attribute '{name}' failed to satisfy constraint: {_attribute_description(word)}"
        if isinstance(attribute, IntegerAttr) and word.startswith(("f", "bf")):
            said += f", such as {attribute.value.data}.0 : {word}"
        yield said


def _operand_words(op: Operation, signature: Signature) -> tuple[tuple[str, ...], str | None]:
    words = signature.operands
    if signature.has_optional_chain and len(op.operands) == len(words) - 1:
        words = words[:-1]
    return words, signature.rest


def _value_problems(
    kind: str, types: Sequence[Attribute], words: tuple[str, ...], rest: str | None
) -> Iterator[str]:
    expected = words + (rest,) * (len(types) - len(words)) if rest else words
    if len(types) != len(expected):
        yield f"expected {counted(len(expected), kind)}, but found {len(types)}"
        return
    for index, (value_type, word) in enumerate(zip(types, expected, strict=True)):
        if word != "any" and value_type != WORDS[word]:
            yield f"{kind} #{index} must be {description(word)}, but got '{value_type}'"


def description(word: str) -> str:
    """A type word in MLIR's words: `32-bit signless integer`."""
    value_type = WORDS[word]
    match value_type:
        case IntegerType():
            sign = "unsigned" if value_type.signedness.data is Signedness.UNSIGNED else "signless"
            return f"{value_type.width.data}-bit {sign} integer"
        case HostType():
            return f"'{value_type}'"
    if word.startswith(("f", "bf")):
        return f"{'bfloat16' if word == 'bf16' else word[1:] + '-bit float'}"
    return f"'{value_type}'"


def _is_array(element: str) -> Callable[[Attribute], bool]:
    return lambda attribute: (
        isinstance(attribute, ArrayAttr)
        and all(_attribute_fits(item, element) for item in attribute)
    )


_ATTRIBUTE_CHECKS: dict[str, Callable[[Attribute], bool]] = {
    "string": lambda attribute: isinstance(attribute, StringAttr),
    "dense": lambda attribute: isinstance(attribute, DenseIntOrFPElementsAttr),
    "aggregate": lambda attribute: isinstance(attribute, ArrayAttr),
    "typed": lambda _: True,
}


def _attribute_fits(attribute: Attribute, word: str) -> bool:
    if word.startswith("array."):
        return _is_array(word.removeprefix("array."))(attribute)
    if word in _ATTRIBUTE_CHECKS:
        return _ATTRIBUTE_CHECKS[word](attribute)
    return isinstance(attribute, IntegerAttr | FloatAttr) and attribute.type == WORDS[word]


def _attribute_description(word: str) -> str:
    if word.startswith("array."):
        return f"array of {_attribute_description(word.removeprefix('array.'))}s"
    if word in ("string", "dense", "aggregate"):
        return {"string": "string", "dense": "dense elements", "aggregate": "array"}[
            word
        ] + " attribute"
    return description(word) + " attribute"
