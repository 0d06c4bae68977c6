"""The types of host programs, the type words of signature tables, and the shape attribute.

The compiler knows only the name of a host runtime type: for example, only kernels know what an
object of type `!tfrt.device` contains. Therefore, a single attribute class, `HostType`, represents
`!tfrt.chain`, `!t.tensor`, `!test.atomic.i32`, and every other type that is written
`!dialect.name`.

The module also parses and prints the parts that the operations' short forms share: operand lists,
type lists, and named regions.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    ComplexType,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IndexType,
    IntAttr,
    IntegerType,
    NoneAttr,
    Signedness,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.dialects.utils import print_func_op_like
from xdsl.ir import (
    Attribute,
    BuiltinAttribute,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import OpTrait

from tfrt_nb.dialects.tables.signatures import HOST_TYPES


@irdl_attr_definition
class HostType(ParametrizedAttribute, BuiltinAttribute, TypeAttribute):
    """The type `!spelling`, whose meaning only kernels know."""

    name = "tfrt.host_type"

    spelling: StringAttr

    def print_builtin(self, printer: Printer) -> None:
        printer.print_string("!" + self.spelling.data)


def host_type(spelling: str) -> HostType:
    """Return the type that is written `!spelling`."""
    return HostType(StringAttr(spelling))


_HOST = {word: host_type(spelling) for word, spelling in HOST_TYPES.items()}
CHAIN, STRING, DEVICE = _HOST["chain"], _HOST["string"], _HOST["device"]
TENSOR, HOST_BUFFER = _HOST["tensor"], _HOST["buffer"]
SHAPE, PARTIAL_SHAPE = _HOST["shape"], _HOST["partial_shape"]

I1 = IntegerType(1)
I32 = IntegerType(32)
I64 = IntegerType(64)


WORDS: dict[str, Attribute] = {
    **{f"i{width}": IntegerType(width) for width in (1, 8, 16, 32, 64)},
    **{f"ui{width}": IntegerType(width, Signedness.UNSIGNED) for width in (8, 16, 32, 64)},
    "index": IndexType(),
    "f16": Float16Type(),
    "bf16": BFloat16Type(),
    "f32": Float32Type(),
    "f64": Float64Type(),
    "complex64": ComplexType(Float32Type()),
    "complex128": ComplexType(Float64Type()),
    **_HOST,
}
"""The type that each signature word denotes.

The word `any`, which denotes every type, is not included.
"""


def description(word: str) -> str:
    """Return MLIR's description of a type word's type, such as `32-bit signless integer`."""
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


_CLOSED_DIALECTS = {
    "t": ("tensor", re.compile(r"tensor")),
    "ts": ("shape", re.compile(r"shape|partial_shape|fixed_rank_shape\.[0-9]+")),
}


def unknown_type_message(spelling: str) -> str | None:
    """Return why `!spelling` is not a valid type, or None if it is valid.

    The dialects of tensors and shapes have a fixed set of types. All other dialects accept any
    name.
    """
    dialect, _, mnemonic = spelling.partition(".")
    if dialect not in _CLOSED_DIALECTS:
        return None
    kind, known = _CLOSED_DIALECTS[dialect]
    return None if known.fullmatch(mnemonic) else f"unknown {kind} type: {mnemonic}"


DYNAMIC = -1
"""A dimension of unknown size in BEF files; programs write it as `?`."""

_MAX_DIGITS = 18
"""The largest number of decimal digits that always fits in a 64-bit integer."""
_SHAPE = re.compile(r"\s*(?:(\*)|((?:[0-9]+|\?)(?:\s*x\s*(?:[0-9]+|\?))*))?\s*")


@irdl_attr_definition
class ShapeAttr(ParametrizedAttribute, BuiltinAttribute):
    """The attribute `#corert.shape<2x?>`, or `#corert.shape<*>` for an unknown rank."""

    name = "corert.shape"

    sizes: ArrayAttr[IntAttr] | NoneAttr

    @staticmethod
    def of(dimensions: Sequence[int] | None) -> ShapeAttr:
        """Return the shape with these dimensions.

        An unknown dimension is DYNAMIC. `dimensions` is None if the rank is unknown.
        """
        if dimensions is None:
            return ShapeAttr(NoneAttr())
        return ShapeAttr(ArrayAttr(IntAttr(dimension) for dimension in dimensions))

    @staticmethod
    def read(body: str) -> ShapeAttr:
        """Parse the part of a shape between `<` and `>`.

        Raises:
            ValueError: if `body` is not a shape, or has a size that is not a 64-bit integer.
        """
        match = _SHAPE.fullmatch(body)
        if match is None:
            raise ValueError("expected a shape like <2x?>, <> or <*>")
        if match[1]:
            return ShapeAttr.of(None)
        sizes = [size.strip() for size in match[2].split("x")] if match[2] else []
        if any(len(size) > _MAX_DIGITS for size in sizes):
            raise ValueError(f"a size of a shape has more than {_MAX_DIGITS} digits")
        return ShapeAttr.of([DYNAMIC if size == "?" else int(size) for size in sizes])

    @property
    def dimensions(self) -> tuple[int, ...] | None:
        """Return the dimensions; an unknown one is DYNAMIC.

        Return None if the rank is unknown.
        """
        return None if isinstance(self.sizes, NoneAttr) else tuple(size.data for size in self.sizes)

    def print_builtin(self, printer: Printer) -> None:
        dimensions = self.dimensions
        if dimensions is None:
            body = "*"
        else:
            body = "x".join("?" if size == DYNAMIC else str(size) for size in dimensions)
        printer.print_string(f"#corert.shape<{body}>")


_STRAY = re.compile(r"(?!loc\b)[-+*/%\"\w]")


@dataclass(frozen=True)
class NamesItsRegionArguments(OpTrait):
    """The trait of an operation whose region arguments have the names of its operands.

    Such a region cannot use any other name from outside. In `tfrt.if %c, %x : (i32) -> i32`, the
    regions' argument is called `%x`, and no other name is known there.
    """


@dataclass
class NamedArgument(Parser.Argument):
    """A region argument that has an operand's name. For `%r#1`, `index` is 1."""

    index: int = 0


def parse_operands(parser: Parser, *, on_this_line: bool = False) -> list[UnresolvedOperand]:
    """Parse a list such as `%a, %b#1`, which may be empty or end with a comma.

    A `%name` at the start of a line may also be a result of the next operation. With
    `on_this_line`, the list is empty if the line ends here.
    """
    operands: list[UnresolvedOperand] = []
    if on_this_line and _is_first_on_its_line(parser):
        return operands
    while (operand := parser.parse_optional_unresolved_operand()) is not None:
        operands.append(operand)
        if parser.parse_optional_punctuation(",") is None:
            break
    return operands


def parse_further_operands(parser: Parser) -> list[UnresolvedOperand]:
    """Parse `, %a, %b`, or nothing."""
    return parse_operands(parser) if parser.parse_optional_punctuation(",") else []


def is_at_stray(parser: Parser) -> bool:
    """Return whether the line continues with a token that may be meant as an operand."""
    text = parser.lexer.input.content
    return _STRAY.match(text, parser.pos) is not None and not _is_first_on_its_line(parser)


def _is_first_on_its_line(parser: Parser) -> bool:
    text, position = parser.lexer.input.content, parser.pos
    return not text[text.rfind("\n", 0, position) + 1 : position].strip()


def parse_types(parser: Parser) -> list[Attribute]:
    """Parse `i32, !tfrt.chain`: one or more types."""
    types: list[Attribute] = [parser.parse_type()]
    while parser.parse_optional_punctuation(",") is not None:
        types.append(parser.parse_type())
    return types


def parse_optional_types(parser: Parser) -> list[Attribute]:
    """Parse `: i32, !tfrt.chain`, or nothing."""
    return parse_types(parser) if parser.parse_optional_punctuation(":") is not None else []


def parse_result_types(parser: Parser) -> list[Attribute]:
    """Parse `-> i32` or `-> (i32, f32)`. If there is no arrow, return no types."""
    return parse_bare_result_types(parser) if parser.parse_optional_punctuation("->") else []


def parse_bare_result_types(parser: Parser) -> list[Attribute]:
    """Parse `i32` or `(i32, f32)`."""
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else list(types)


@dataclass(frozen=True)
class FunctionTypeText:
    """A parsed `(inputs) -> outputs`, with the position of its inputs in the source."""

    inputs: tuple[Attribute, ...]
    outputs: tuple[Attribute, ...]
    position: int


def parse_function_type(parser: Parser) -> FunctionTypeText:
    """Parse `: (i32) -> i32`, with its colon."""
    parser.parse_punctuation(":", " and the types of operands and results")
    start = parser.pos
    function_type = parser.parse_function_type()
    return FunctionTypeText(function_type.inputs.data, function_type.outputs.data, start)


def parse_named_region(
    parser: Parser, operands: Sequence[UnresolvedOperand], types: Sequence[Attribute]
) -> Region:
    """Parse a region whose arguments have the names of `operands`."""
    arguments = [
        NamedArgument(operand.span, value_type, index=operand.index)
        for operand, value_type in zip(operands, types, strict=True)
    ]
    return parser.parse_region(arguments)


def parse_renamed(
    parser: Parser, outside: Callable[[Attribute], Attribute]
) -> tuple[list[SSAValue], list[Parser.Argument]]:
    """Parse `(%value as %name: T, ...)`, or nothing.

    Return the values and the region arguments that represent them. `outside` maps T, the type
    inside the region, to the type of `%value`.
    """

    def parse_one() -> tuple[SSAValue, Parser.Argument]:
        unresolved = parser.parse_unresolved_operand()
        parser.parse_keyword("as")
        argument = parser.parse_argument()
        return parser.resolve_operand(unresolved, outside(argument.type)), argument

    pairs = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parse_one) or ()
    return [value for value, _ in pairs], [argument for _, argument in pairs]


def print_renamed(
    printer: Printer,
    values: Sequence[SSAValue],
    arguments: Sequence[SSAValue],
    types: Sequence[Attribute],
) -> None:
    """Print ` (%value as %name: T, ...)`, or nothing if `values` is empty."""
    if values:
        printer.print_string(" ")
        with printer.in_parens():
            rows = zip(values, arguments, types, strict=True)
            printer.print_list(
                rows, lambda row: print_parts(printer, row[0], " as ", row[1], ": ", row[2])
            )


def parse_symbol(parser: Parser) -> SymbolRefAttr:
    """Parse `@name`."""
    return SymbolRefAttr(parser.parse_symbol_name())


def symbol_name(op: Operation) -> str:
    """Return the name that other operations use to refer to `op`, or "" if it has none."""
    data = getattr(op.get_attr_or_prop("sym_name"), "data", None)
    return data if isinstance(data, str) else ""


def symbols_in(attribute: Attribute) -> Iterator[SymbolRefAttr]:
    """Yield the references to functions that an attribute contains."""
    match attribute:
        case SymbolRefAttr():
            yield attribute
        case ArrayAttr():
            yield from itertools.chain.from_iterable(map(symbols_in, attribute))
        case DictionaryAttr():
            yield from itertools.chain.from_iterable(map(symbols_in, attribute.data.values()))


Part: TypeAlias = "str | SSAValue | Attribute | Iterable[Part]"


def print_parts(printer: Printer, *parts: Part) -> None:
    """Print several parts: strings, values by name, types, attributes, and lists of these.

    The items of a list are separated by commas.
    """
    for part in parts:
        match part:
            case str():
                printer.print_string(part)
            case SSAValue():
                printer.print_ssa_value(part)
            case Attribute():
                printer.print_attribute(part)
            case _:
                printer.print_list(part, lambda one: print_parts(printer, one))


def print_typed_operands(printer: Printer, operands: Sequence[SSAValue]) -> None:
    """Print `%0, %1 : i32, !tfrt.chain`."""
    print_parts(printer, operands, " : ", [operand.type for operand in operands])


def print_result_types(printer: Printer, types: Sequence[Attribute]) -> None:
    """Print ` -> i32` or ` -> (i32, f32)`, or nothing if `types` is empty."""
    if not types:
        return
    print_parts(printer, " -> ", *([types[0]] if len(types) == 1 else ["(", types, ")"]))


def print_named_region(printer: Printer, region: Region, operands: Sequence[SSAValue]) -> None:
    """Print a region whose arguments have the names of `operands`."""
    if region.blocks:
        # The printed form has no argument list, because the arguments have the operands' names.
        names = printer._ssa_values
        for argument, operand in zip(region.blocks[0].args, operands, strict=True):
            names[argument] = names[operand]
    printer.print_region(region, print_entry_block_args=False, print_empty_block=False)


def print_attributes(
    printer: Printer,
    attributes: Mapping[str, Attribute],
    *,
    without: Iterable[str] = (),
    keyword: bool = False,
) -> None:
    """Print ` {a = 1 : i32}` in MLIR's alphabetical order, or nothing if no attribute is left."""
    shown = {name: attributes[name] for name in sorted(attributes.keys() - set(without))}
    printer.print_op_attributes(shown, print_keyword=keyword)


def print_function_types(
    printer: Printer, inputs: Iterable[Attribute], outputs: Iterable[Attribute]
) -> None:
    """Print ` : (i32) -> (i32)`."""
    print_parts(printer, " : (", inputs, ") -> (", outputs, ")")


def print_function(op: FuncOp, printer: Printer, *, empty_outputs: bool = True) -> None:
    """Print a function as xDSL does, but with parentheses around a single function-type result.

    MLIR omits `-> ()` after a declaration, but other printers print it if `empty_outputs` is true.
    """
    has_function = [type(one) for one in op.function_type.outputs] == [FunctionType]
    if op.sym_visibility is not None:
        printer.print_string(f" {op.sym_visibility.data}")
    print_func_op_like(
        printer,
        op.sym_name,
        op.function_type,
        op.body,
        op.attributes,
        arg_attrs=op.arg_attrs,
        # xDSL prints parentheses around a single result if it has attributes, even empty ones.
        res_attrs=op.res_attrs or (ArrayAttr([DictionaryAttr({})]) if has_function else None),
        reserved_attr_names=("sym_name", "function_type", "sym_visibility", "arg_attrs"),
        print_empty_outputs=empty_outputs,
    )


def print_call(op: Operation, printer: Printer) -> None:
    """Print a call as xDSL does, but with parentheses around a single function-type result."""
    print_parts(printer, " ", op.properties["callee"], "(", op.operands, ")")
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_operation_type(op)


def parse_attributes_with_keyword(parser: Parser) -> dict[str, Attribute]:
    """Parse `attributes {..}` if present."""
    attributes = parser.parse_optional_attr_dict_with_keyword()
    return {} if attributes is None else dict(attributes.data)


def parse_range(parser: Parser) -> list[UnresolvedOperand]:
    """Parse `%from to %to fixed %size`."""
    start = parser.parse_unresolved_operand()
    parser.parse_keyword("to")
    end = parser.parse_unresolved_operand()
    parser.parse_keyword("fixed")
    return [start, end, parser.parse_unresolved_operand()]


def print_range(printer: Printer, op: Operation) -> None:
    """Print ` %from to %to fixed %size`."""
    start, end, size = op.operands[:3]
    print_parts(printer, " ", start, " to ", end, " fixed ", size)
