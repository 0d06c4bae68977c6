"""The types of the async dialect, and decorators that define its operations.

Tokens, values and groups are reference-counted objects of the runtime. The coroutine types
represent LLVM's coroutine tokens and frame handles. `with_operations` replaces operations of xDSL's
dialects if MLIR's syntax or checks differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, cast

from xdsl.dialects.builtin import MemRefType, UnrankedMemRefType
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AnyAttr,
    BaseAttr,
    IRDLOperation,
    OpDef,
    irdl_attr_definition,
    irdl_op_definition,
)
from xdsl.irdl.constraints import InferenceContext
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Span

from tfrt_nb.dialects.fast_ir import initialize

if TYPE_CHECKING:
    from xdsl.irdl.declarative_assembly_format import FormatProgram


class _PlainType(ParametrizedAttribute, TypeAttribute):
    """A type without parameters."""

    name = "async.plain"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        position = parser.pos
        if parser.parse_optional_punctuation("<") is not None:
            parser.raise_error(f"'!{cls.name}' takes no parameters", position)
        return []


@irdl_attr_definition
class TokenType(_PlainType):
    """The type `!async.token`: an object that signals the end of an asynchronous operation."""

    name = "async.token"


@irdl_attr_definition
class ValueType(ParametrizedAttribute, TypeAttribute):
    """The type `!async.value<T>`: a T that becomes available later."""

    name = "async.value"

    value_type: Attribute

    @classmethod
    def new(cls, params: Sequence[Any]) -> Self:
        """Return the type.

        `!async.value<>` is the proposal's other name for a handle, and means `!async.token`.
        """
        return super().new(params) if params else cast(Self, TOKEN)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        """Parse `<T>` or `<>`.

        For any other input, raise MLIR's errors: first the cause, then the failure.
        """
        start = parser.pos - len("value")
        try:
            parser.parse_punctuation("<")
            if parser.parse_optional_punctuation(">") is not None:
                return []
            value_type = parser.parse_type()
            parser.parse_punctuation(">")
        except ParseError as problem:
            where = Span(start, start + len("value"), problem.span.input)
            raise ParseError(where, "failed to parse async value type") from problem
        return [value_type]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.value_type)


@irdl_attr_definition
class GroupType(_PlainType):
    """The type `!async.group`: a set of tokens and values whose size is fixed at its creation."""

    name = "async.group"


@irdl_attr_definition
class CoroIdType(_PlainType):
    """The type `!async.coro.id`: the identity of a coroutine."""

    name = "async.coro.id"


@irdl_attr_definition
class CoroHandleType(_PlainType):
    """The type `!async.coro.handle`: the frame of a coroutine."""

    name = "async.coro.handle"


@irdl_attr_definition
class CoroStateType(_PlainType):
    """The type `!async.coro.state`: the place at which a suspended coroutine resumes."""

    name = "async.coro.state"


TOKEN = TokenType()
GROUP = GroupType()

AWAITABLE = BaseAttr(TokenType) | BaseAttr(ValueType)
ASYNC = BaseAttr(TokenType) | BaseAttr(ValueType) | BaseAttr(GroupType)
BUFFER = BaseAttr(MemRefType) | BaseAttr(UnrankedMemRefType)
"""The types of buffers, with a known or an unknown rank."""
ANYTHING = AnyAttr()


_COUNTED = frozenset({TokenType, ValueType, GroupType})


def is_async(value: SSAValue) -> bool:
    """Return whether the value is a token, value or group.

    These are the reference-counted objects of the runtime.
    """
    return type(value.type) in _COUNTED


def awaited_type(awaitable: Attribute) -> Attribute | None:
    """Return the T of `!async.value<T>`, or None for a token or a group.

    This is the result type of an await.
    """
    return awaitable.value_type if isinstance(awaitable, ValueType) else None


def verify_edge(
    source: str,
    target: str,
    given: Sequence[Attribute],
    expected: Sequence[Attribute],
    held_by: Literal["source", "target"] | None = None,
) -> None:
    """Check the types at both ends of a control flow edge.

    The types must be equal, except that an `!async.value<T>` at the end `held_by` matches T at the
    other end.

    Raises:
        VerifyException: if the types or their counts differ.
    """
    if len(given) != len(expected):
        raise VerifyException(
            f" region control flow edge from {source} to {target}: source has {len(given)} "
            f"operands, but target successor needs {len(expected)}"
        )
    for index, (from_type, to_type) in enumerate(zip(given, expected, strict=True)):
        source_type = awaited_type(from_type) or from_type if held_by == "source" else from_type
        target_type = awaited_type(to_type) or to_type if held_by == "target" else to_type
        if source_type != target_type:
            hint = f": it is '{source_type}' there" if from_type == to_type else ""
            raise VerifyException(
                f" along control flow edge from {source} to {target}: source type #{index} "
                f"'{from_type}' should match input type #{index} '{to_type}'{hint}"
            )


def parse_value_type(parser: Parser) -> ValueType:
    """Parse an async value type, which may omit its prefix: `<f32>` or `!async.value<f32>`."""
    if parser.parse_optional_punctuation("<") is None:
        position = parser.pos
        written = parser.parse_type()
        if not isinstance(written, ValueType):
            parser.raise_error(f"expected an async value type, but got '{written}'", position)
        return written
    value_type = parser.parse_type()
    parser.parse_punctuation(">")
    return ValueType(value_type)


Op = TypeVar("Op", bound=IRDLOperation)


class PlainOp(IRDLOperation):
    """An operation whose constructor takes the operands in order.

    The definition determines the result types.
    """

    def __init__(self, *operands: SSAValue, **properties: Attribute) -> None:
        types = _result_types(type(self))
        initialize(self, operands=operands, result_types=types, properties=properties)


@cache
def _result_types(operation: type[IRDLOperation]) -> tuple[Attribute, ...]:
    results = operation.get_irdl_definition().results
    return tuple(one.constr.infer(InferenceContext(), length=1)[0] for _, one in results)


def plain_op(operation: type[Op]) -> type[Op]:
    """Define an operation as `irdl_op_definition` does, and give it the plain assembly format.

    The plain format is `%a, %b {attributes} : types`. It shows only those types that the definition
    of the operation does not determine. The operation must not have regions or successors.
    """
    return written_as(_plain_form)(irdl_op_definition(operation))


def _plain_form(definition: OpDef) -> str:
    operands = [(name, one.constr) for name, one in definition.operands]
    results = [(name, one.constr) for name, one in definition.results]
    names = " `,` ".join(f"${name}" for name, _ in operands)
    types = " `,` ".join(
        f"type(${name})"
        for name, constraint in operands + results
        if not constraint.can_infer(frozenset(), length_known=True)
    )
    return f"{names} attr-dict" + (f" `:` {types}" if types else "")


def written_as(form: str | Callable[[OpDef], str]) -> Callable[[type[Op]], type[Op]]:
    """Give an operation an assembly format.

    Unlike `assembly_format`, this also works for subclasses of xDSL's operations. The format is
    parsed when a program first uses the operation.
    """

    def decorate(operation: type[Op]) -> type[Op]:
        @cache
        def program() -> FormatProgram:
            # Few programs need this import.
            from xdsl.irdl.declarative_assembly_format import FormatProgram

            definition = operation.get_irdl_definition()
            text = form if isinstance(form, str) else form(definition)
            return FormatProgram.from_str(text, definition)

        def parse(cls: type[Op], parser: Parser) -> Op:
            return program().parse(parser, cls)

        def print(self: Op, printer: Printer) -> None:
            program().print(printer, self)

        operation.parse = classmethod(parse)  # type: ignore[assignment, method-assign]
        operation.print = print  # type: ignore[assignment, method-assign]
        return operation

    return decorate


def with_operations(
    dialect: Dialect,
    replacements: Sequence[type[Operation]],
    more: Sequence[type[Operation]] = (),
    without: Sequence[type[Operation]] = (),
) -> Dialect:
    """Return a copy of the dialect with some operations replaced, added, or removed.

    An operation in `replacements` replaces the operation of the same name. The operations in `more`
    are added, and those in `without` are removed.
    """
    by_name = {op.name: op for op in replacements}
    operations = [by_name.get(op.name, op) for op in dialect.operations if op not in without]
    return Dialect(dialect.name, [*operations, *more], list(dialect.attributes))


def operations_of(module: ModuleType) -> list[type[Operation]]:
    """Return the operations that a module defines, which are its classes that set a `name`."""
    return [
        one
        for one in vars(module).values()
        if isinstance(one, type)
        and issubclass(one, Operation)
        and one.__module__ == module.__name__
        and "name" in vars(one)
    ]
