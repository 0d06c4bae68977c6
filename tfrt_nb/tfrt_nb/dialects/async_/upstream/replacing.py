"""Operations and dialects of xDSL with other classes and another text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, TypeVar

from xdsl.ir import Dialect, Operation
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser
from xdsl.printer import Printer

if TYPE_CHECKING:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

Op = TypeVar("Op", bound=IRDLOperation)


def written_as(form: str) -> Callable[[type[Op]], type[Op]]:
    """Give a subclass of an operation of xDSL an assembly format, which only new operations may have."""

    def decorate(operation: type[Op]) -> type[Op]:
        @cache
        def program() -> FormatProgram:
            from xdsl.irdl.declarative_assembly_format import FormatProgram  # few programs need it

            return FormatProgram.from_str(form, operation.get_irdl_definition())

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
    """The dialect with some operations replaced by others of the same name, some more, and some less."""
    by_name = {op.name: op for op in replacements}
    operations = [by_name.get(op.name, op) for op in dialect.operations if op not in without]
    return Dialect(dialect.name, [*operations, *more], list(dialect.attributes))
