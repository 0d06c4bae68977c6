"""The spellings of the 2020 proposal (the seed's RFC), as operations of their own.

    func @job(%rt: !async.runtime) -> !async.handle {
      %h = async.call %rt : !async.runtime @work() : () -> !async.handle
      async.await %h : !async.handle
      %done = async.ret_handle : !async.handle
      return %done : !async.handle
    }

They are only read: the pass `async-desugar-proposal` turns them into the operations that landed.
`!async.handle` became `!async.token`, and is one as soon as it is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, cast

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, SymbolRefAttr
from xdsl.ir import (
    Attribute,
    Block,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import TOKEN, TokenType, ValueType


@irdl_attr_definition
class RuntimeType(ParametrizedAttribute, TypeAttribute):
    """`!async.runtime`: what ran the tasks, before there was one runtime per process."""

    name = "async.runtime"


@irdl_attr_definition
class HandleType(ParametrizedAttribute, TypeAttribute):
    """`!async.handle`: reading one gives an `!async.token`."""

    name = "async.handle"

    @classmethod
    def new(cls, params: Sequence[Any]) -> Self:
        return cast(Self, TOKEN)


RUNTIME = RuntimeType()


@irdl_op_definition
class DefaultRuntimeOp(IRDLOperation):
    """The runtime of the process."""

    name = "async.default_runtime"
    result = result_def(RuntimeType)

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($result)"


@irdl_op_definition
class ReturnHandleOp(IRDLOperation):
    """The handle that the function returns.  It makes the function asynchronous."""

    name = "async.ret_handle"
    result = result_def(TokenType)

    assembly_format = "attr-dict `:` type($result)"


@irdl_op_definition
class EmplaceHandleOp(IRDLOperation):
    """Marks a handle ready by hand."""

    name = "async.emplace_handle"
    handle = operand_def(TokenType)

    assembly_format = "$handle attr-dict `:` type($handle)"


@irdl_op_definition
class SyncAwaitOp(IRDLOperation):
    """Waits for a handle on this thread."""

    name = "async.sync_await"
    handle = operand_def(TokenType)

    assembly_format = "$handle attr-dict `:` type($handle)"


@irdl_op_definition
class CallOnRuntimeOp(IRDLOperation):
    """`async.call %rt : !async.runtime @f() : ...`: runs a plain function as a task."""

    name = "async.call_on_runtime"
    callee = prop_def(FlatSymbolRefAttrConstr)
    runtime = operand_def(RuntimeType)
    arguments = var_operand_def()
    handle = result_def(TokenType)

    def __init__(
        self, callee: SymbolRefAttr, runtime: SSAValue, arguments: Sequence[SSAValue]
    ) -> None:
        super().__init__(
            operands=[runtime, arguments], result_types=[TOKEN], properties={"callee": callee}
        )


def parse_call_on_runtime(parser: Parser) -> CallOnRuntimeOp | None:
    """The call if a runtime comes first.  The colon before the type may be left out, as in the seed."""
    unresolved = parser.parse_optional_unresolved_operand()
    if unresolved is None:
        return None
    parser.parse_punctuation(":")
    runtime = parser.resolve_operand(unresolved, parser.parse_type())
    callee = SymbolRefAttr(parser.parse_symbol_name())
    operands = parser.parse_op_args_list()
    position = parser.pos
    if parser.parse_optional_punctuation(":") is None:
        parser.parse_punctuation("->")
        parser.parse_type()
        return CallOnRuntimeOp(callee, runtime, parser.resolve_operands(operands, (), position))
    type_ = parser.parse_function_type()
    values = parser.resolve_operands(operands, type_.inputs.data, position)
    return CallOnRuntimeOp(callee, runtime, values)


@irdl_op_definition
class RegionOp(IRDLOperation):
    """`async.region`: today's `async.execute`, with its token after its values."""

    name = "async.region"
    runtime = opt_operand_def(RuntimeType)
    dependencies = var_operand_def(TokenType)
    values = var_result_def(ValueType)
    token = result_def(TokenType)
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def __init__(
        self, runtime: SSAValue | None, dependencies: Sequence[SSAValue], body: Region
    ) -> None:
        super().__init__(
            operands=[runtime, dependencies],
            result_types=[_value_types(body), TOKEN],
            regions=[body],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """`async.region (%runtime | [%tokens])? { ... } (-> types)?`; the types follow the yield."""
        runtime = _parse_runtime(parser)
        dependencies = parser.parse_optional_comma_separated_list(
            parser.Delimiter.SQUARE,
            lambda: parser.resolve_operand(parser.parse_unresolved_operand(), TOKEN),
        )
        body = _parse_body(parser)
        op = cls(runtime, dependencies or (), body)
        position = parser.pos
        if parser.parse_optional_punctuation("->") is not None:
            written = _parse_written_types(parser)
            if written != list(op.result_types):
                parser.raise_error("the results are the yielded values and a token", position)
        return op

    def verify_(self) -> None:
        if _value_types(self.body) != list(self.values.types):
            raise VerifyException("the results are the yielded values and a token")


def _parse_body(parser: Parser) -> Region:
    """A region in which `call` without a dialect calls a plain function, as in 2020."""
    stack = parser._parser_state.dialect_stack
    stack.append("func")
    body = parser.parse_region()
    stack.pop()
    return body


def _parse_runtime(parser: Parser) -> SSAValue | None:
    unresolved = parser.parse_optional_unresolved_operand()
    return None if unresolved is None else parser.resolve_operand(unresolved, RUNTIME)


def _parse_written_types(parser: Parser) -> list[Attribute]:
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else list(types)


def _value_types(body: Region) -> list[Attribute]:
    block: Block | None = body.blocks.last
    terminator = None if block is None else block.last_op
    return [] if terminator is None else [ValueType(type_) for type_ in terminator.operand_types]


OPERATIONS: list[type[Operation]] = [
    DefaultRuntimeOp,
    ReturnHandleOp,
    EmplaceHandleOp,
    SyncAwaitOp,
    CallOnRuntimeOp,
    RegionOp,
]
TYPES = [RuntimeType, HandleType]
