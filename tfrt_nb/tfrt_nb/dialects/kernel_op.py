"""Define the operations of kernels that have a signature.

Each name has one class, which is created at its first use. The hundreds of operations like
`tfrt.add.i32` differ only in their table rows. Therefore, this module has a single implementation
of parsing, printing, and verification, which reads the row.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, OpTraits
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tfrt_nb.dialects.literals import parse_array, parse_literal, parse_optional_literal
from tfrt_nb.dialects.tables.signatures import Form, Signature
from tfrt_nb.dialects.types import (
    CHAIN,
    WORDS,
    description,
    is_at_stray,
    parse_operands,
    parse_types,
    print_attributes,
    print_parts,
)
from tfrt_runtime.diagnostics import counted
from tfrt_runtime.scalars import OPERATIONS

if TYPE_CHECKING:
    from xdsl.pattern_rewriter import RewritePattern

NO_TRAITS = OpTraits(lambda: ())


class KernelOp(Operation):
    """An operation that calls a kernel with a signature."""

    name = "tfrt.kernel"
    traits = NO_TRAITS
    signature: ClassVar[Signature]
    fixed_operand_types: ClassVar[tuple[Attribute, ...]]
    fixed_result_types: ClassVar[tuple[Attribute, ...]]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parse the short form.

        Every kernel with fixed types can be written in this form, even if it is printed in another
        form.
        """
        start = parser.pos
        takes_operands = cls.signature.operands or cls.signature.rest is not None
        operands = parse_operands(parser, on_this_line=True) if takes_operands else []
        attributes = cls._parse_inline_attributes(parser)
        attributes |= parser.parse_optional_attr_dict()
        behind = parser.pos
        types = cls._operand_types(parser, operands, start)
        # If no types are written, the position has not moved.
        is_untyped = cls.signature.form is Form.TYPED and parser.pos == behind
        results = (is_untyped and cls.signature.other_results) or cls.signature.results
        behind = parser.pos
        if cls.signature.form is not Form.TYPED and parser.parse_optional_punctuation(":"):
            text = (
                f"'{cls.name}' has its types in its name: leave out the part that starts with ':'"
            )
            parser.raise_error(text, behind)
        return cls.create(
            operands=parser.resolve_operands(operands, types, start),
            result_types=[WORDS[word] for word in results],
            attributes=attributes,
        )

    @classmethod
    def _parse_inline_attributes(cls, parser: Parser) -> dict[str, Attribute]:
        form, attributes = cls.signature.form, cls.signature.attributes
        if not attributes:
            return {}
        name, word = next(iter(attributes.items()))
        element = WORDS.get(word.removeprefix("array.")) if word.startswith("array.") else None
        if form not in _INLINE:
            if len(attributes) > 1:
                return {}
            if element is not None and parser._current_token.kind is MLIRTokenKind.L_SQUARE:
                return {name: parse_array(parser, element)}
            literal = parse_optional_literal(parser, WORDS[word]) if word in WORDS else None
            return {} if literal is None else {name: literal}
        if element is not None:
            return {name: parse_array(parser, element)}
        first = parse_literal(parser, WORDS[word])
        if form is not Form.COMPLEX:
            return {name: first}
        parser.parse_punctuation(",", " between the real and the imaginary part")
        return {name: first, "imaginary": parse_literal(parser, WORDS[word])}

    @classmethod
    def _operand_types(
        cls, parser: Parser, operands: list[UnresolvedOperand], start: int
    ) -> list[Attribute]:
        if cls.signature.form is Form.TYPED:
            return _written_types(parser, operands)
        words = cls._operand_words(len(operands))
        if "any" in (*words, *cls.signature.results, cls.signature.rest):
            parser.raise_error(
                f"'{cls.name}' takes operands of any type: write it in quotes, with its types",
                start,
            )
        if len(words) != len(operands):
            listed = f" ({', '.join(words)})" if words else ""
            noun = "operand" if len(words) == 1 else "operands"
            if not operands and parser.parse_optional_punctuation("("):
                parser.raise_error(
                    f"write the {noun} of '{cls.name}' without parentheses, or use the quoted form:"
                    f' "{cls.name}"(...) : (...) -> (...)',
                    start,
                )
            parser.raise_error(
                f"'{cls.name}' takes {len(words)} {noun}{listed}, but {len(operands)} "
                f"{'is' if len(operands) == 1 else 'are'} given",
                parser.pos if is_at_stray(parser) else start,
            )
        return [WORDS[word] for word in words]

    @classmethod
    def _operand_words(cls, count: int) -> tuple[str, ...]:
        """Return the type words of `count` operands, or all words if the signature has fewer."""
        words, rest = cls.signature.operands, cls.signature.rest
        if rest is not None:
            return words + (rest,) * (count - len(words))
        # The last operand may be an optional chain, as in programs for the first TFRT versions.
        return words[:-1] if words[-1:] == ("chain",) and count == len(words) - 1 else words

    def verify_(self) -> None:
        if self.is_plainly_right():
            return
        for problem in self._problems():
            raise VerifyException(problem)

    def _problems(self) -> Iterator[str]:
        """Yield the mismatches with the signature, as MLIR words them after `'op.name' op `."""
        signature = self.signature
        operands = self._operand_words(len(self.operands))
        yield from _value_problems("operand", self.operand_types, operands)
        others = [WORDS[word] for word in signature.other_results]
        if not others or list(self.result_types) != others:
            yield from _value_problems("result", self.result_types, signature.results)
        for name, word in signature.attributes.items():
            yield from attribute_problems(self, name, word, signature.attributes)
        cost = self.attributes.get("_tfrt_cost")
        if isinstance(cost, IntegerAttr) and cost.value.data <= 0:
            yield "cost value must be larger than 0"

    def is_plainly_right(self) -> bool:
        """Return True if a quick check proves that the operation is valid.

        False proves nothing, but the check recognizes most of a program's operations.
        """
        if not self.signature.is_registered:
            return True
        return (
            tuple([value._type for value in self._operands]) == self.fixed_operand_types
            and tuple([value._type for value in self.results]) == self.fixed_result_types
            and (not self.signature.attributes or self._has_plain_attribute())
        )

    def _has_plain_attribute(self) -> bool:
        """Return whether the only attribute is the integer that the signature requires."""
        attributes = self.signature.attributes
        if len(attributes) != 1 or len(self.attributes) != 1:
            return False
        ((name, word),) = attributes.items()
        attribute = self.attributes.get(name)
        return type(attribute) is IntegerAttr and attribute.type is WORDS.get(word)


class ShortFormOp(KernelOp):
    """A kernel operation that can also be printed in its short form."""

    name = "tfrt.short_form"

    @property
    def has_short_form(self) -> bool:
        """Return whether the operation can be printed in its short form.

        It needs the attributes that the short form writes without names, and types that the short
        form can omit.
        """
        if self._has_other_results and any(type_ != CHAIN for type_ in self.operand_types):
            return False
        return self.attributes.keys() >= set(_inline_names(self.signature))

    def print(self, printer: Printer) -> None:
        if self.operands:
            print_parts(printer, " ", self.operands)
        print_attributes(printer, self.attributes, without=self._print_inline_attributes(printer))
        is_typed = self.signature.form is Form.TYPED and self.operands
        if is_typed and not self._has_other_results:
            print_parts(printer, " : ", self.operand_types)

    @property
    def _has_other_results(self) -> bool:
        return bool(self.signature.other_results) and self.result_types != self.fixed_result_types

    def _print_inline_attributes(self, printer: Printer) -> tuple[str, ...]:
        """Print the attributes that are written without their names, and return their names."""
        names = _inline_names(self.signature)
        if not names:
            return ()
        printer.print_string(" ")
        if self.signature.form in _TYPED_LITERALS:
            printer.print_attribute(self.attributes[names[0]])
        else:
            values = (self.attributes[name] for name in names)
            printer.print_list(
                values,
                lambda value: (
                    value.print_without_type(printer)
                    if isinstance(value, IntegerAttr | FloatAttr)
                    else printer.print_attribute(value)
                ),
            )
        return names


_INLINE = (Form.CONSTANT, Form.COMPLEX, Form.FILL, Form.ARRAY)
_TYPED_LITERALS = (Form.FILL, Form.ARRAY)


def _value_problems(kind: str, types: Sequence[Attribute], words: tuple[str, ...]) -> Iterator[str]:
    if len(types) != len(words):
        yield f"expected {counted(len(words), kind)}, but found {len(types)}"
        return
    for index, (value_type, word) in enumerate(zip(types, words, strict=True)):
        if word != "any" and value_type != WORDS[word]:
            yield f"{kind} #{index} must be {description(word)}, but got '{value_type}'"


def attribute_problems(
    op: Operation, name: str, word: str, known: Collection[str] = ()
) -> Iterator[str]:
    """Yield the problems of the attribute `name`, whose type word is `word`.

    `known` contains the names of all attributes in the signature.
    """
    attribute, word, is_optional = op.attributes.get(name), word.rstrip("?"), word.endswith("?")
    if attribute is None:
        if not is_optional:
            near = difflib.get_close_matches(name, {*op.attributes} - {*known}, n=1)
            yield f"requires attribute '{name}'" + "".join(f", not '{one}'" for one in near)
    elif not _attribute_fits(attribute, word):
        said = f"attribute '{name}' failed to satisfy constraint: {_attribute_description(word)}"
        if isinstance(attribute, IntegerAttr) and word in (*WORDS, "string"):
            number = f"{attribute.value.data}{'.0' if word.startswith(('f', 'bf')) else ''}"
            kind = "" if word in ("f64", "i64") else f" : {word}"  # MLIR's default types
            written = f'"{number}"' if word == "string" else number + kind
            said += f"; '{name}' must have the type {word}: write {written}"
        yield said


_ATTRIBUTE_KINDS: dict[str, tuple[type[Attribute], str]] = {
    "string": (StringAttr, "string"),
    "dense": (DenseIntOrFPElementsAttr, "dense elements"),
    "aggregate": (ArrayAttr, "array"),
    "typed": (Attribute, "any"),
}
"""The attribute class and MLIR's name for each attribute word that is not a type word."""


def _attribute_fits(attribute: Attribute, word: str) -> bool:
    if word in _ATTRIBUTE_KINDS:
        return isinstance(attribute, _ATTRIBUTE_KINDS[word][0])
    if word.startswith("array."):
        element = word.removeprefix("array.")
        return isinstance(attribute, ArrayAttr) and all(
            _attribute_fits(item, element) for item in attribute
        )
    return isinstance(attribute, IntegerAttr | FloatAttr) and attribute.type == WORDS[word]


def _attribute_description(word: str) -> str:
    if word.startswith("array."):
        return f"array of {_attribute_description(word.removeprefix('array.'))}s"
    _, name = _ATTRIBUTE_KINDS.get(word, (None, None))
    return f"{name or description(word)} attribute"


def _written_types(parser: Parser, operands: list[UnresolvedOperand]) -> list[Attribute]:
    """Parse the types after the colon.

    The types may be omitted if all operands are chains, as in programs for the first TFRT versions.
    """
    if not operands:
        return []
    if parser.parse_optional_punctuation(":") is None:
        if all(_is_known_chain(parser, operand) for operand in operands):
            return [WORDS["chain"]] * len(operands)
        end = len(parser.lexer.input.content[: parser.pos].rstrip())
        parser.raise_error("expected ':' and the types of the operands", end)
    return parse_types(parser)


def _is_known_chain(parser: Parser, operand: UnresolvedOperand) -> bool:
    values = parser.ssa_values.get(operand.operand_name, ())[operand.index :]
    return bool(values) and values[0] is not None and values[0].type == WORDS["chain"]


def _inline_names(signature: Signature) -> tuple[str, ...]:
    """Return the names of the attributes that the short form writes as bare values.

    For example, `tfrt.constant.i32 7` writes its attribute as 7.
    """
    if signature.form not in _INLINE:
        return ()
    names = tuple(signature.attributes)
    return names if signature.form is Form.COMPLEX else names[:1]


class MergesOnce(HasCanonicalizationPatternsTrait):
    """Simplifies `tfrt.merge.chains`.

    Each operand is kept once. A merge of a single chain is replaced with that chain if other
    operations also use the chain.
    """

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from xdsl.pattern_rewriter import PatternRewriter, RewritePattern  # only `opt` simplifies

        class MergeOnce(RewritePattern):
            def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
                operands = list(dict.fromkeys(op.operands))
                is_one = len(operands) == 1 and operands[0].type == CHAIN
                if is_one and not operands[0].has_one_use():
                    rewriter.replace(op, [], operands)
                elif len(operands) < len(op.operands):
                    merge = type(op).create(operands=operands, result_types=op.result_types)
                    rewriter.replace(op, merge)

        return (MergeOnce(),)


_TRAITS = {"tfrt.merge.chains": OpTraits(lambda: (MergesOnce(),))}
_PURE = OpTraits(lambda: (Pure(),))


def _traits(name: str) -> OpTraits:
    """Return the kernel's traits, on which xDSL's passes rely.

    A kernel is pure if it only computes and cannot fail.
    """
    operation = OPERATIONS.get(name)
    only_computes = operation is not None and operation.failure is None
    if only_computes or name.startswith("tfrt.constant.") or name == "tfrt.new.chain":
        return _PURE
    return _TRAITS.get(name, NO_TRAITS)


def kernel_op(signature: Signature) -> type[KernelOp]:
    """Create the operation class for the kernel with this signature."""
    # The short form of a kernel that is not registered is parsed, but not printed.
    base = ShortFormOp if signature.is_registered else KernelOp
    members = {
        "name": signature.name,
        "traits": _traits(signature.name),
        "signature": signature,
        "fixed_operand_types": tuple(WORDS.get(word) for word in signature.operands),
        "fixed_result_types": tuple(WORDS.get(word) for word in signature.results),
    }
    return type("KernelOp", (base,), members)
