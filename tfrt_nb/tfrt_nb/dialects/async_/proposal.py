"""The operations of the 2020 proposal (the RFC) that MLIR did not adopt in this form.

    func @job(%rt: !async.runtime) -> !async.handle {
      %h = async.call %rt : !async.runtime @work() : () -> !async.handle
      async.await %h : !async.handle
      %done = async.ret_handle : !async.handle
      return %done : !async.handle
    }

These operations can only be parsed. The pass `async-desugar-proposal` turns them into the
operations that MLIR adopted. `!async.handle` became `!async.token`, and is parsed as that type.
Types are optional where the proposal's discussion omits them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self, cast

from xdsl.dialects.builtin import (
    FlatSymbolRefAttrConstr,
    FunctionType,
    MemRefType,
    SymbolRefAttr,
    UnitAttr,
)
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
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from tfrt_nb.dialects.async_.tasks import ExecuteOp, HandleOp, YieldOp, parse_dependencies
from tfrt_nb.dialects.async_.types import TOKEN, TokenType, ValueType
from tfrt_nb.dialects.async_.upstream.loops import ParallelOp
from tfrt_nb.dialects.types import parse_bare_result_types, print_parts


@irdl_attr_definition
class RuntimeType(ParametrizedAttribute, TypeAttribute):
    """The type `!async.runtime`: an executor of tasks.

    The type dates from the time before each process had exactly one runtime.
    """

    name = "async.runtime"


@irdl_attr_definition
class HandleType(ParametrizedAttribute, TypeAttribute):
    """The type `!async.handle`, which is parsed as `!async.token`."""

    name = "async.handle"

    @classmethod
    def new(cls, params: Sequence[Any]) -> Self:
        return cast(Self, TOKEN)


RUNTIME = RuntimeType()
_ONE_HANDLE = "a call on a runtime returns one '!async.handle'"
_LOOP_RESULTS = (
    "'async.parallel_for' gives the buffers that its body yields and one '!async.handle': end the "
    "body with 'async.yield %m : memref<?xf32>', and write ': memref<?xf32>, !async.handle' after "
    "it"
)
_LOOP_BUFFERS = "'async.parallel_for' yields buffers created before the loop; it has no 'init'"


@irdl_op_definition
class DefaultRuntimeOp(IRDLOperation):
    """Returns the runtime of the process."""

    name = "async.default_runtime"
    result = result_def(RuntimeType)

    traits = traits_def(Pure())

    assembly_format = "attr-dict `:` type($result)"


@irdl_op_definition
class ReturnHandleOp(IRDLOperation):
    """Returns the handle that the enclosing function returns.

    The operation makes the function asynchronous: an await suspends the function, and its caller
    continues. The function's return resolves the handle unless the function also uses the handle
    elsewhere, for example in `async.emplace_handle`.
    """

    name = "async.ret_handle"
    result = result_def(TokenType)

    assembly_format = "attr-dict `:` type($result)"


@irdl_op_definition
class EmplaceHandleOp(HandleOp):
    """Marks a handle ready.

    Code that awaits the function's own handle then continues before the function returns.
    """

    name = "async.emplace_handle"
    handle = operand_def(TokenType)


@irdl_op_definition
class SyncAwaitOp(HandleOp):
    """Blocks this thread until a handle is ready."""

    name = "async.sync_await"
    handle = operand_def(TokenType)


class _CalleeTakesArguments(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOnRuntimeOp)
        callee = SymbolTable.lookup_symbol(op, op.callee)
        type_ = None if callee is None else callee.get_attr_or_prop("function_type")
        if not isinstance(type_, FunctionType):
            name = op.callee.root_reference.data
            raise VerifyException(f"'{name}' does not reference a valid function")
        verify_arguments(op.arguments.types, type_.inputs.data)


def verify_arguments(given: Sequence[Attribute], expected: Sequence[Attribute]) -> None:
    """Compare a call's argument types with the types that its callee takes.

    Raises:
        VerifyException: if the types differ.
    """
    if len(given) != len(expected):
        raise VerifyException("incorrect number of operands for callee")
    for index, (type_, wanted) in enumerate(zip(given, expected, strict=True)):
        if type_ != wanted:
            raise VerifyException(
                f"operand type mismatch: expected operand type '{wanted}', but provided "
                f"'{type_}' for operand number {index}"
            )


@irdl_op_definition
class CallOnRuntimeOp(IRDLOperation):
    """Runs a function as a task: `async.call %rt : !async.runtime @f() : ...`.

    The runtime may also be an argument: `async.call @f(%rt) : (!async.runtime) -> !async.handle`.
    """

    name = "async.call_on_runtime"
    callee = prop_def(FlatSymbolRefAttrConstr)
    runtime = opt_operand_def(RuntimeType)
    arguments = var_operand_def()
    handle = result_def(TokenType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(_CalleeTakesArguments())

    def __init__(
        self, callee: SymbolRefAttr, runtime: SSAValue | None, arguments: Sequence[SSAValue]
    ) -> None:
        super().__init__(
            operands=[runtime, arguments], result_types=[TOKEN], properties={"callee": callee}
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        runtime = _parse_runtime(parser)
        callee = SymbolRefAttr(parser.parse_symbol_name())
        start = parser.pos
        operands = parser.parse_op_args_list()
        if parser.parse_optional_punctuation(":") is None:
            parser.parse_punctuation("->")
            if operands:
                parser.raise_error("the types of the arguments are missing: `: (T) -> ...`", start)
            position = parser.pos
            if parser.parse_type() != TOKEN:
                parser.raise_error(_ONE_HANDLE, position)
            return cls(callee, runtime, ())
        position = parser.pos
        type_ = parser.parse_function_type()
        if type_.outputs.data != (TOKEN,):
            parser.raise_error(_ONE_HANDLE, position)
        return cls(callee, runtime, parser.resolve_operands(operands, type_.inputs.data, position))

    def print(self, printer: Printer) -> None:
        if self.runtime is not None:
            print_parts(printer, " ", self.runtime, f" : {RUNTIME}")
        print_parts(printer, " ", self.callee, "(", self.arguments, ") : ")
        printer.print_function_type(self.arguments.types, [TOKEN])


def _parse_runtime(parser: Parser) -> SSAValue | None:
    unresolved = parser.parse_optional_unresolved_operand()
    if unresolved is None:
        return None
    typed = parser.parse_optional_punctuation(":") is not None
    return parser.resolve_operand(unresolved, parser.parse_type() if typed else RUNTIME)


@irdl_op_definition
class RegionOp(IRDLOperation):
    """Runs a region as a task.

    `async.region` is today's `async.execute` with its token after its values.
    """

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
        """Parse `async.region (%runtime | [%tokens])? { ... } (-> types)?`.

        If the types are omitted, they are the types of the yielded values.
        """
        runtime = _parse_runtime(parser)
        dependencies = parse_dependencies(parser)
        with _reading_plain_calls(parser):
            body = parser.parse_region()
        op = cls(runtime, dependencies, body)
        position = parser.pos
        if parser.parse_optional_punctuation("->") is not None:
            written = parse_bare_result_types(parser)
            if written != list(op.result_types):
                parser.raise_error(
                    "the result types must be those of the yielded values, and a token", position
                )
        return op

    def verify_(self) -> None:
        if _value_types(self.body) != list(self.values.types):
            raise VerifyException(
                "the result types must be those of the yielded values, and a token"
            )


@contextmanager
def _reading_plain_calls(parser: Parser) -> Iterator[None]:
    """Parse `call` without a dialect as a call of a plain function while the context is active.

    `call` has that meaning in regions of the 2020 proposal.
    """
    stack = parser._parser_state.dialect_stack
    # This needs no `finally`: after an error, the parser restores the stack.
    stack.append("func")
    yield
    stack.pop()


def _value_types(body: Region) -> list[Attribute]:
    block: Block | None = body.blocks.last
    terminator = None if block is None else block.last_op
    if terminator is None or terminator.name != "async.yield":
        return []
    return [ValueType(type_) for type_ in terminator.operand_types]


@irdl_op_definition
class RunOp(IRDLOperation):
    """The operation `async.run`, the discussion's first name for `async.region`.

    It is parsed as `async.region`.
    """

    name = "async.run"

    @classmethod
    def parse(cls, parser: Parser) -> IRDLOperation:  # type: ignore[override]
        return RegionOp.parse(parser)


@irdl_op_definition
class ParallelForOp(IRDLOperation):
    """A parallel loop that runs as a task, as sketched in the discussion.

    The queue's workers share the iterations.

        %squares, %done = async.parallel_for (%i) = (%c0) to (%n) step (%c1) {
          memref.store %x, %m[%i] : memref<?xf32>
          async.yield %m : memref<?xf32>
        } : memref<?xf32>, !async.handle

    The results are the buffers that the body yields, and a handle. The buffers must be created
    before the loop. The handle is ready when all iterations are done. A loop without buffers is
    parsed as an `async.execute` around an `scf.parallel`. The queue `s` has no workers, so the
    iterations run one after another there. `--parallel-for` selects how workers share the
    iterations.
    """

    name = "async.parallel_for"
    buffers = var_operand_def(MemRefType)
    filled = var_result_def(MemRefType)
    token = result_def(TokenType)
    body = region_def("single_block")

    @classmethod
    def parse(cls, parser: Parser) -> IRDLOperation:  # type: ignore[override]
        position = parser.pos
        with _reading_plain_calls(parser):
            loop = ParallelOp.parse(parser)
        loop.attributes[cls.name] = UnitAttr()
        body = loop.body.block
        ends = [op for op in body.ops if isinstance(op, YieldOp)]
        given = [value for end in ends for value in end.operands]
        types = [*(value.type for value in given), TOKEN]
        # The yielded buffers become results of the task, so the loop itself yields nothing.
        for end in ends:
            body.erase_op(end)
        written = types
        if any(parser.parse_optional_punctuation(word) for word in ("->", ":")):
            position = parser.pos
            written = parse_bare_result_types(parser)
            while parser.parse_optional_punctuation(",") is not None:
                written.append(parser.parse_type())
        if written != types or not all(isinstance(type_, MemRefType) for type_ in types[:-1]):
            parser.raise_error(_LOOP_RESULTS, position)
        if loop.results or any(loop.is_ancestor(value.owner) for value in given):
            parser.raise_error(_LOOP_BUFFERS, position)
        region = Region(Block([loop, YieldOp()]))
        if not given:
            return ExecuteOp((), (), (), region)
        return cls.create(operands=given, result_types=types, regions=[region])

    def verify_(self) -> None:
        if self.buffers.types != self.filled.types:
            raise VerifyException(_LOOP_RESULTS)


TYPES = [RuntimeType, HandleType]
