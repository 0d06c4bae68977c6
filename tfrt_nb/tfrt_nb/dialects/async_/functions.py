"""Asynchronous functions: `async.func`, `async.call` and `async.return`.

    async.func @twice(%x: i64) -> (!async.token, !async.value<i64>) {
      %y = arith.addi %x, %x : i64
      return %y : i64
    }

A call runs the body on the caller's thread until the first await that must wait. Then the call
returns. The function's results are resolved when the body returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, TypeGuard

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    FunctionType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
)
from xdsl.dialects.func import FuncOp as PlainFuncOp
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    IsolatedFromAbove,
    IsTerminator,
    ReturnLike,
    SymbolOpInterface,
    SymbolTable,
    SymbolUserOpInterface,
)
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from tfrt_nb.dialects.async_.proposal import RUNTIME, CallOnRuntimeOp, verify_arguments
from tfrt_nb.dialects.async_.types import TOKEN, TokenType, ValueType
from tfrt_nb.dialects.types import print_call

_SIGNATURE = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A function that returns async values. The first result may be a token."""

    name = "async.func"
    body = region_def()
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    sym_visibility = opt_prop_def(StringAttr)
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        function_type: FunctionType,
        body: Region,
        visibility: StringAttr | None = None,
        *,
        arg_attrs: ArrayAttr[DictionaryAttr] | None = None,
        res_attrs: ArrayAttr[DictionaryAttr] | None = None,
    ) -> None:
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": function_type,
                "sym_visibility": visibility,
                "arg_attrs": arg_attrs,
                "res_attrs": res_attrs,
            },
            regions=[body],
        )

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        visibility = parser.parse_optional_visibility_keyword()
        name, inputs, outputs, body, attributes, arg_attrs, res_attrs = parse_func_op_like(
            parser, reserved_attr_names=_SIGNATURE
        )
        type_ = FunctionType.from_lists(inputs, outputs)
        op = cls(name, type_, body, visibility, arg_attrs=arg_attrs, res_attrs=res_attrs)
        if attributes is not None:
            op.attributes |= attributes.data
        return op

    def print(self, printer: Printer) -> None:
        if self.sym_visibility is not None:
            printer.print_string(f" {self.sym_visibility.data}")
        print_func_op_like(
            printer,
            self.sym_name,
            self.function_type,
            self.body,
            self.attributes,
            arg_attrs=self.arg_attrs,
            res_attrs=self.res_attrs,
            reserved_attr_names=_SIGNATURE,
            print_empty_outputs=False,
        )

    @property
    def is_declaration(self) -> bool:
        """Return whether the function has no body."""
        return not self.body.blocks

    @property
    def payload_types(self) -> tuple[Attribute, ...]:
        """Return the operand types of the function's `async.return`.

        These are the payload types of the results, without the token.
        """
        return _payload_types(self.function_type)

    @property
    def takes_runtime(self) -> bool:
        """Return whether the function is written in the proposal's form, which implies a handle."""
        return RUNTIME in self.function_type.inputs

    def verify_(self) -> None:
        outputs = self.function_type.outputs.data
        if not outputs and not self.takes_runtime:
            raise VerifyException("result is expected to be at least of size 1, but got 0")
        for index, type_ in enumerate(outputs):
            if not isinstance(type_, TokenType | ValueType):
                raise VerifyException(
                    f"result type must be async value type or async token type, but got '{type_}'"
                )
            if isinstance(type_, TokenType) and index > 0:
                raise VerifyException(
                    " results' (optional) async token type is expected to appear as the 1st "
                    f"return value, but got {index + 1}"
                )
        if self.is_declaration:
            if self.sym_visibility is None or self.sym_visibility.data == "public":
                raise VerifyException("symbol declaration cannot have public visibility")
        elif self.body.blocks[0].arg_types != self.function_type.inputs.data:
            raise VerifyException(
                "entry block must have as many arguments of the same types as the function"
            )


def _payload_types(type_: FunctionType) -> tuple[Attribute, ...]:
    return tuple(one.value_type for one in type_.outputs if isinstance(one, ValueType))


def _is_async_by_its_return(function: Operation | None) -> TypeGuard[PlainFuncOp]:
    if not isinstance(function, PlainFuncOp):
        return False
    outputs = function.function_type.outputs.data
    return bool(outputs) and all(isinstance(type_, TokenType | ValueType) for type_ in outputs)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Resolves the results of the function.

    As in the proposal's discussion, a `func.func` that returns handles and async values becomes an
    `async.func` if it ends with this operation.
    """

    name = "async.return"
    operands_ = var_operand_def()

    traits = traits_def(IsTerminator(), ReturnLike())

    assembly_format = "attr-dict ($operands_^ `:` type($operands_))?"

    def __init__(self, *operands: SSAValue) -> None:
        super().__init__(operands=[operands])

    def verify_(self) -> None:
        function = self.parent_op()
        if not (isinstance(function, FuncOp) or _is_async_by_its_return(function)):
            raise VerifyException("expects parent op 'async.func'")
        if not all(
            isinstance(type_, TokenType | ValueType) for type_ in function.function_type.outputs
        ):
            return  # already reported for the function
        if _payload_types(function.function_type) != self.operands_.types:
            raise VerifyException(
                "operand types do not match the types returned from the parent FuncOp"
            )


def ends_async(function: PlainFuncOp | FuncOp) -> bool:
    """Return whether the function ends with `async.return`."""
    return any(isinstance(block.last_op, ReturnOp) for block in function.body.blocks)


class _CalleeIsAsync(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, CallOp)
        for index, type_ in enumerate(op.results_.types):
            if not (isinstance(type_, TokenType | ValueType) or _is_in_proposal(op)):
                raise VerifyException(
                    f"result #{index} must be variadic of async value type or async token type, "
                    f"but got '{type_}'"
                )
        callee = SymbolTable.lookup_symbol(op, op.callee)
        if not isinstance(callee, FuncOp) and not (
            isinstance(callee, PlainFuncOp) and (ends_async(callee) or _is_in_proposal(op))
        ):
            raise VerifyException(
                f"'{op.callee.root_reference.data}' does not reference a valid async function"
            )
        verify_arguments(op.operands_.types, callee.function_type.inputs.data)
        expected = callee.function_type.outputs.data
        if len(op.results_) != len(expected):
            raise VerifyException("incorrect number of results for callee")
        for index, (wanted, given) in enumerate(zip(expected, op.results_.types, strict=True)):
            if wanted != given:
                raise VerifyException(f"result type mismatch at index {index}")


def _is_in_proposal(op: Operation | None) -> bool:
    """Return whether the operation is in a function in the proposal's form.

    In such a function, `call` without a dialect calls a plain function.
    """
    while op is not None and not isinstance(op, FuncOp):
        op = op.parent_op()
    return op is not None and op.takes_runtime


@irdl_op_definition
class CallOp(IRDLOperation):
    """Starts an async function on this thread."""

    name = "async.call"
    callee = prop_def(FlatSymbolRefAttrConstr)
    operands_ = var_operand_def()
    results_ = var_result_def()
    arg_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])
    res_attrs = opt_prop_def(ArrayAttr[DictionaryAttr])

    traits = traits_def(_CalleeIsAsync())

    def __init__(
        self, callee: SymbolRefAttr, operands: Sequence[SSAValue], result_types: Sequence[Attribute]
    ) -> None:
        super().__init__(
            operands=[operands], result_types=[result_types], properties={"callee": callee}
        )

    @classmethod
    def parse(cls, parser: Parser) -> IRDLOperation:  # type: ignore[override]
        """Parse `@f(%a) : (T) -> ...`.

        If a runtime precedes the name, the operation is the proposal's `CallOnRuntimeOp`.
        """
        if parser._current_token.kind is MLIRTokenKind.PERCENT_IDENT:
            return CallOnRuntimeOp.parse(parser)
        callee = SymbolRefAttr(parser.parse_symbol_name())
        operands = parser.parse_op_args_list()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type_ = parser.parse_function_type()
        values = parser.resolve_operands(operands, type_.inputs.data, position)
        if RUNTIME in type_.inputs and type_.outputs.data == (TOKEN,):
            return CallOnRuntimeOp(callee, None, values)
        op = cls(callee, values, type_.outputs.data)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        print_call(self, printer)
