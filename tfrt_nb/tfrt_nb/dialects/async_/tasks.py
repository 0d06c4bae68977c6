"""Tasks: `async.execute`, its terminator, and the operations on tokens, values and groups.

    %token, %result = async.execute [%before] (%v as %x: !async.value<f32>) -> !async.value<f32> {
      %y = arith.addf %x, %x : f32
      async.yield %y : f32
    }
    %z = async.await %result : !async.value<f32>

The body starts when all dependencies and operands are resolved. It may run concurrently with the
code that follows the task. If a dependency or operand is an error, the body does not run, and all
results are errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from typing import Self

from xdsl.dialects.builtin import DenseArrayBase, IndexType, i32
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_result_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.printer import Printer
from xdsl.traits import (
    EffectInstance,
    HasCanonicalizationPatternsTrait,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    Pure,
    RecursiveMemoryEffect,
    ReturnLike,
)
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.types import (
    ANYTHING,
    AWAITABLE,
    GROUP,
    TOKEN,
    GroupType,
    PlainOp,
    TokenType,
    ValueType,
    awaited_type,
    verify_edge,
)
from tfrt_nb.dialects.types import (
    parse_renamed,
    parse_result_types,
    print_parts,
    print_renamed,
    print_result_types,
)

_PARENT = "parent operands"
_BODY = "Region #0"
_RESULTS = "parent results"


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends the body of a task. Its operands become the payloads of the task's results."""

    name = "async.yield"
    operands_ = var_operand_def()

    traits = traits_def(IsTerminator(), ReturnLike(), Pure())

    assembly_format = "attr-dict ($operands_^ `:` type($operands_))?"

    def __init__(self, *operands: SSAValue) -> None:
        super().__init__(operands=[operands])

    @property
    def awaitable(self) -> Attribute | None:
        """Return the type of the first operand that is an async value, or None."""
        return next((one for one in self.operands_.types if isinstance(one, ValueType)), None)

    def verify_(self) -> None:
        parent = self.parent_op()
        if parent is not None and parent.name not in (
            "async.execute",
            "async.region",
            "async.parallel_for",
        ):
            raise VerifyException("expects parent op 'async.execute'")
        if (type_ := self.awaitable) is not None:
            raise VerifyException(f"cannot yield '{type_}': await it, and yield what it holds")


class MakesObjects(MemoryEffect):
    """The effect of an operation whose results are new objects.

    An unused operation may be erased, but two equal operations must not be merged. MLIR calls such
    operations pure, and its `cse` merges them (as of MLIR 23).
    """

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance]:
        return {EffectInstance(MemoryEffectKind.ALLOC, result) for result in op.results}


@irdl_op_definition
class ExecuteOp(IRDLOperation):
    """A task: a region that runs when its dependencies and operands are resolved."""

    name = "async.execute"
    dependencies = var_operand_def(TokenType)
    body_operands = var_operand_def(AWAITABLE)
    token = result_def(TokenType)
    body_results = var_result_def(ValueType)
    body = region_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(RecursiveMemoryEffect(), MakesObjects())

    def __init__(
        self,
        dependencies: Sequence[SSAValue],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        body: Region,
    ) -> None:
        super().__init__(
            operands=[dependencies, operands], result_types=[TOKEN, result_types], regions=[body]
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        waited_for = parse_dependencies(parser)
        values, arguments = parse_renamed(parser, lambda written: written)
        for argument in arguments:
            # The source has the value's type outside the body. Inside the body, the name denotes
            # the payload.
            argument.type = awaited_type(argument.type) or argument.type
        result_types = parse_result_types(parser)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(arguments or None)
        return cls.create(
            operands=[*waited_for, *values],
            result_types=[TOKEN, *result_types],
            properties={
                AttrSizedOperandSegments.attribute_name: _segments(len(waited_for), len(values))
            },
            attributes={} if attributes is None else dict(attributes.data),
            regions=[body],
        )

    def print(self, printer: Printer) -> None:
        if self.dependencies:
            print_parts(printer, " [", self.dependencies, "]")
        operands = self.body_operands
        print_renamed(printer, operands, self.body.blocks[0].args, operands.types)
        print_result_types(printer, self.body_results.types)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)

    @property
    def terminator(self) -> YieldOp:
        """Return the `async.yield` at the end of a verified task."""
        terminator = self.body.block.last_op
        assert isinstance(terminator, YieldOp)
        return terminator

    def verify_(self) -> None:
        if len(self.body.blocks) > 1:
            raise VerifyException("expects region #0 to have 0 or 1 blocks")
        if not self.body.blocks or not self.body.block.ops:
            raise VerifyException(
                "region #0 ('bodyRegion') failed to verify constraint: region with 1 blocks"
            )
        given, expected = self.body_operands.types, self.body.block.arg_types
        verify_edge(_PARENT, _BODY, given, expected, held_by="source")
        # `verify_edge` accepts a token for a token, but a token has no payload for the body.
        if any(isinstance(type_, TokenType) for type_ in given):
            raise VerifyException(
                "async body region argument types do not match the execute operation "
                "arguments types"
            )
        terminator = self.body.block.last_op
        if isinstance(terminator, YieldOp):
            if terminator.awaitable is None:
                verify_edge(
                    _BODY,
                    _RESULTS,
                    terminator.operands_.types,
                    self.body_results.types,
                    held_by="target",
                )
        elif terminator is not None and terminator.has_trait(IsTerminator):
            raise VerifyException(
                f"expects regions to end with 'async.yield', found '{terminator.name}'"
            )


def parse_dependencies(parser: Parser) -> Sequence[SSAValue]:
    """Parse `[%tokens]`, or nothing."""
    tokens = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE,
        lambda: parser.resolve_operand(parser.parse_unresolved_operand(), TOKEN),
    )
    return tokens or ()


@cache
def _segments(dependencies: int, operands: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i32, (dependencies, operands))


class HandleOp(IRDLOperation):
    """An operation on one token or value.

    The proposal's discussion omits the type of a token, so the type is optional.
    """

    def __init__(self, operand: SSAValue) -> None:
        super().__init__(operands=[operand])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        unresolved = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        type_ = parser.parse_type() if parser.parse_optional_punctuation(":") is not None else TOKEN
        op = cls(parser.resolve_operand(unresolved, type_))
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        print_parts(printer, " ", self.operands[0])
        printer.print_op_attributes(self.attributes)
        print_parts(printer, " : ", self.operands[0].type)


@irdl_op_definition
class AwaitOp(HandleOp):
    """Waits for a token or a value.

    In a coroutine, the operation suspends the coroutine. In other code, it blocks the thread.
    """

    name = "async.await"
    operand = operand_def(ANYTHING)
    result = opt_result_def(ANYTHING)

    def __init__(self, operand: SSAValue) -> None:
        IRDLOperation.__init__(self, operands=[operand], result_types=[awaited_type(operand.type)])

    def verify_(self) -> None:
        awaited = self.operand.type
        if not isinstance(awaited, TokenType | ValueType):
            raise VerifyException(
                "operand #0 must be async value type or async token type, "
                f"but got '{self.operand.type}'"
            )
        if isinstance(awaited, TokenType) and self.result is not None:
            raise VerifyException("awaiting on a token must have empty result")
        found = None if self.result is None else self.result.type
        if isinstance(awaited, ValueType) and found != awaited.value_type:
            raise VerifyException(
                f"result type '{found or 'none'}' does not match async value type"
                f" '{awaited.value_type}'"
            )


class _CreateGroupPatterns(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        return (EraseUnfilledGroup(),)


@irdl_op_definition
class CreateGroupOp(IRDLOperation):
    """Creates a group of `size` tokens and values."""

    name = "async.create_group"
    size = operand_def(IndexType())
    result = result_def(GroupType)

    traits = traits_def(MakesObjects(), _CreateGroupPatterns())

    assembly_format = "$size `:` type($result) attr-dict"

    def __init__(self, size: SSAValue) -> None:
        super().__init__(operands=[size], result_types=[GROUP])


class EraseUnfilledGroup(RewritePattern):
    """Erases a group without members, and its awaits.

    No code can observe this, because such awaits never finish.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CreateGroupOp, rewriter: PatternRewriter) -> None:
        users = [use.operation for use in op.result.uses]
        if not all(isinstance(user, AwaitAllOp) for user in users):
            return
        for user in users:
            rewriter.erase(user)
        rewriter.erase(op)


@irdl_op_definition
class AddToGroupOp(PlainOp):
    """Adds a token or value to a group, and returns its rank.

    The ranks are 0, 1, ... in the order of addition.
    """

    name = "async.add_to_group"
    operand = operand_def(AWAITABLE)
    group = operand_def(GroupType)
    rank = result_def(IndexType())

    assembly_format = "$operand `,` $group `:` type($operand) attr-dict"


@irdl_op_definition
class AwaitAllOp(PlainOp):
    """Waits until the group is complete and all its members are resolved.

    A group is complete when it has as many members as its size.
    """

    name = "async.await_all"
    operand = operand_def(GroupType)

    assembly_format = "$operand attr-dict"
