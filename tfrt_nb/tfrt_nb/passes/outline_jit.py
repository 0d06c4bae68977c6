"""Move the regions of `tfrt.jit` into functions that the host program calls.

    %r = tfrt.jit (%x as %a: i32) -> i32 {   %r = tfrt.call @main_jit(%x) : (i32) -> i32
      %d = arith.addi %a, %a : i32      =>   ...
      tfrt.return %d : i32                   func.func private @main_jit(%a: i32) -> i32 {
    }                                          %d = arith.addi %a, %a : i32
                                               return %d : i32
                                             }

If a region has tasks, it becomes an `async.func`, which waits without blocking a thread.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.dialects.async_.functions import ReturnOp as AsyncReturnOp
from tfrt_nb.dialects.async_.types import TOKEN, ValueType
from tfrt_nb.dialects.catalog import is_kernel
from tfrt_nb.dialects.control_flow import CallOp, ReturnOp
from tfrt_nb.dialects.control_flow.regions import JitOp
from tfrt_nb.dialects.crossing import host_type
from tfrt_nb.dialects.types import symbol_name
from tfrt_nb.passes.control_flow import block_of, exchange, fail
from tfrt_nb.passes.lowering.outline import Symbols

_PRIVATE = StringAttr("private")


def outline_jit(module: ModuleOp) -> None:
    """Replace every `tfrt.jit` in the module with a call to a new function at the module's end.

    Raises:
        PassError: if a region contains an operation that is only valid in host programs.
    """
    symbols = Symbols(module)
    for function in list(module.ops):
        for op in [op for op in function.walk() if isinstance(op, JitOp)]:
            module.body.block.add_op(_outline(op, symbols.fresh(f"{symbol_name(function)}_jit")))


def _outline(op: JitOp, name: str) -> Operation:
    """Replace the operation with a call, and return the new function that contains its body.

    Raises:
        PassError: if the body contains an operation that is only valid in host programs.
    """
    body = op.regions[0]
    for nested in body.walk():
        if is_kernel(nested) and not isinstance(nested, ReturnOp):
            fail(nested, f"'{nested.name}' is a kernel, but the body of a 'tfrt.jit' is compiled")
    inputs = list(body.blocks[0].arg_types)
    values, is_token_last = op.body_types, op.is_token_last
    is_async = op.has_token or any(
        nested.name.startswith("async.") for nested in op.regions[0].walk()
    )
    outputs = list(values)
    if is_async:  # the operation has a token if one is requested or if it has no other result
        token = [TOKEN] if op.has_token or not values else []
        outputs = [*token, *map(ValueType, values)]
    for block in body.blocks:
        if isinstance(end := block.last_op, ReturnOp):
            leave = AsyncReturnOp(*end.operands) if is_async else func.ReturnOp(*end.operands)
            exchange(end, leave)
    _replace_by_call(op, name, outputs, is_token_last=is_token_last)
    type_ = FunctionType.from_lists(inputs, outputs)
    body = op.detach_region(body)
    function: Operation
    if is_async:
        function = AsyncFuncOp(name, type_, body, _PRIVATE)
    else:
        function = func.FuncOp(name, type_, body, _PRIVATE)
    function.location = op.location
    op.erase()
    return function


def _replace_by_call(
    op: JitOp, name: str, outputs: list[Attribute], *, is_token_last: bool
) -> None:
    types = [type_ for output in outputs if (type_ := host_type(output)) is not None]
    call = CallOp.create(
        operands=list(op.operands),
        result_types=types,
        attributes={**op.attributes, "callee": SymbolRefAttr(name)},
        location=op.location,
    )
    block = block_of(op)
    block.insert_op_before(call, op)
    made = list(call.results)
    if is_token_last:
        # The function's token is its first result, but the operation's token is the last one.
        made.append(made.pop(0))
    # If the operation has no results, the function still returns a token, which is not used.
    for old, new in zip(op.results, made, strict=False):
        old.replace_all_uses_with(new)
    block.detach_op(op)
