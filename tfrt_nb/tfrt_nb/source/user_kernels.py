"""Short forms of users' kernels: what their annotations say need not be written.

    %y = shop.price %x {cents = 300}

stands for `"shop.price"(%x) {cents = 300 : i64} : (i32) -> i32`.  The operands have the types of their
values, the results those of the annotations; `: (i32) -> i64` at the end says both instead.
"""

from __future__ import annotations

from xdsl.ir import Attribute, Operation
from xdsl.parser import UnresolvedOperand
from xdsl.utils.lexer import Span

from tfrt_nb.dialects.assembly import parse_operands
from tfrt_nb.dialects.catalog import unknown_operation
from tfrt_nb.dialects.types import WORDS, host_type
from tfrt_nb.source.scopes import ScopedParser
from tfrt_nb.user_kernels import USER_KERNELS


def parse_user_kernel(parser: ScopedParser, name: str, span: Span) -> Operation | None:
    """The call of kernel `name`, behind its name at `span`; None if users have no such kernel.

    Raises:
        ParseError: if it is wrong.
    """
    if name not in USER_KERNELS.names():
        return None
    start = parser.pos
    operands = parse_operands(parser, on_this_line=True)
    if not operands and parser.parse_optional_punctuation("("):
        parser.raise_error(
            f"'{name}' takes its operands without parentheses, or is written in quotes, with its types",
            start,
        )
    attributes = parser.parse_optional_attr_dict()
    if parser.parse_optional_punctuation(":") is not None:
        types = parser.parse_function_type()
        inputs, outputs = types.inputs.data, types.outputs.data
    else:
        inputs = tuple([_type_of(parser, operand) for operand in operands])
        results = USER_KERNELS.result_types(name, [str(one) for one in inputs])
        if results is None:
            parser.raise_error(
                f"kernel '{name}' does not say what it returns: annotate its result in Python, as in"
                " `-> int`, or write the types behind the operands, as in `: (i32) -> i32`",
                span,
            )
        outputs = tuple(map(_written, results))
    return unknown_operation(name).create(
        operands=parser.resolve_operands(operands, inputs, start),
        result_types=outputs,
        attributes=attributes,
    )


def _type_of(parser: ScopedParser, operand: UnresolvedOperand) -> Attribute:
    known = parser.ssa_values.get(operand.operand_name)
    if known is None:
        parser.raise_undeclared(operand.operand_name, operand.span)
    # A number that the value does not have is an error where operands are resolved.
    return known[min(operand.index, len(known) - 1)].type


def _written(type_text: str) -> Attribute:
    return host_type(type_text[1:]) if type_text.startswith("!") else WORDS[type_text]
