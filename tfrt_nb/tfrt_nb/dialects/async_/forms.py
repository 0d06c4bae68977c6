"""Define operations of the async dialect, and replacements for operations of xDSL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import IRDLOperation, OpDef, irdl_op_definition
from xdsl.irdl.constraints import InferenceContext
from xdsl.parser import Parser
from xdsl.printer import Printer

from tfrt_nb.dialects.fast_ir import initialize

if TYPE_CHECKING:
    from xdsl.irdl.declarative_assembly_format import FormatProgram

Op = TypeVar("Op", bound=IRDLOperation)


class PlainOp(IRDLOperation):
    """An operation on values alone, in order, whose definition determines its result types."""

    def __init__(self, *operands: SSAValue) -> None:
        initialize(self, operands=operands, result_types=_result_types(type(self)))


@cache
def _result_types(operation: type[IRDLOperation]) -> tuple[Attribute, ...]:
    results = operation.get_irdl_definition().results
    return tuple(one.constr.infer(InferenceContext(), length=1)[0] for _, one in results)


def plain_op(operation: type[Op]) -> type[Op]:
    """Define an operation on values alone, as `irdl_op_definition` does.

    Its text is `%a, %b {attributes} : types`, with the types that the definition leaves open.
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
    """Give an operation an assembly format, which is parsed when a program first has the operation.

    Unlike `assembly_format`, this works for subclasses of xDSL's operations, too.
    """

    def decorate(operation: type[Op]) -> type[Op]:
        @cache
        def program() -> FormatProgram:
            from xdsl.irdl.declarative_assembly_format import FormatProgram  # few programs need it

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
    """Return the dialect with some operations replaced by name, some added, and some removed."""
    by_name = {op.name: op for op in replacements}
    operations = [by_name.get(op.name, op) for op in dialect.operations if op not in without]
    return Dialect(dialect.name, [*operations, *more], list(dialect.attributes))


def operations_of(module: ModuleType) -> list[type[Operation]]:
    """Return the operations that a module defines: the classes with a name of their own."""
    return [
        one
        for one in vars(module).values()
        if isinstance(one, type)
        and issubclass(one, Operation)
        and one.__module__ == module.__name__
        and "name" in vars(one)
    ]
