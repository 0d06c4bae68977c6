"""Function bodies in the place of calls.

    func @twice(%x: i32) -> i32 {                          func @main(%a: i32) -> i32 {
      %y = tfrt.add.i32 %x, %x                               %b = tfrt.add.i32 %a, %a
      tfrt.return %y : i32                                   tfrt.return %b : i32
    }                                                      }
    func @main(%a: i32) -> i32 {
      %b = tfrt.call @twice(%a) : (i32) -> i32
      tfrt.return %b : i32
    }

A kernel of the body then runs as soon as its own arguments are there, where a strict call waits for
all of them; if one of them is an error, only what depends on it is skipped.

Invariants: functions that may call themselves, native functions and sync functions stay calls.  A
private function that was inlined, and that nobody names any more, goes away.  Plain functions, which are
called by `func.call`, are the concern of `inline_functions`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tfrt_nb.dialects.control_flow import CallOp, ReturnOp
from tfrt_nb.passes.inline_functions import inline_functions
from tfrt_nb.passes.symbol_dce import named_by

SYNC = "tfrt.sync"
Functions = Mapping[str, FuncOp]


@dataclass(frozen=True)
class Inline(ModulePass):
    """`inline`"""

    name = "inline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for module in [inner for inner in op.walk() if isinstance(inner, ModuleOp)]:
            functions = {f.sym_name.data: f for f in module.ops if isinstance(f, FuncOp)}
            inlined = inline_calls(functions)
            _erase_unused(module, [functions[name] for name in inlined])
            inline_functions(module)


def inline_calls(functions: Functions) -> list[str]:
    """Inline what can be; the names of the functions that were, callees before their callers."""
    order = _callees_first(functions)
    inlined = [name for name in order if _can_be_inlined(name, functions)]
    for name in order:
        for call in list(_calls(functions[name])):
            callee = _callee(call)
            if callee in inlined:
                _inline(call, functions[callee])
    return inlined


def _calls(function: FuncOp) -> Iterator[CallOp]:
    return (op for op in function.walk() if isinstance(op, CallOp))


def _callee(call: CallOp) -> str:
    [symbol] = call.callee_symbols()
    return symbol.root_reference.data


def _callees_first(functions: Functions) -> list[str]:
    """All functions, each after those that it calls, except where they call each other."""
    order: dict[str, None] = {}
    seen: set[str] = set()
    for start in functions:
        pending = [(start, False)]
        while pending:
            name, is_left = pending.pop()
            if is_left:
                order[name] = None
            elif name in functions and name not in seen:
                seen.add(name)
                pending.append((name, True))
                pending += [(_callee(call), False) for call in _calls(functions[name])]
    return list(order)


def _can_be_inlined(name: str, functions: Functions) -> bool:
    function = functions[name]
    if SYNC in function.attributes or len(function.body.blocks) != 1:
        return False
    if not isinstance(function.body.block.last_op, ReturnOp):
        return False
    reached: set[str] = set()
    pending = [name]
    while pending:
        for callee in map(_callee, _calls(functions[pending.pop()])):
            if callee == name:
                return False
            if callee in functions and callee not in reached:
                reached.add(callee)
                pending.append(callee)
    return True


def _inline(call: CallOp, callee: FuncOp) -> None:
    """Put a copy of the body of `callee` in the place of `call`."""
    copied = callee.body.clone()
    for original, duplicate in zip(callee.body.walk(), copied.walk(), strict=True):
        duplicate.location = original.location  # what happens there happens where it is written
    end = copied.block.last_op
    assert end is not None, "a function ends in a return"
    Rewriter.inline_block(copied.block, InsertPoint.before(call), call.operands)
    Rewriter.replace_op(call, [], list(end.operands))
    Rewriter.erase_op(end)


def _erase_unused(module: ModuleOp, functions: list[FuncOp]) -> None:
    for function in reversed(functions):
        is_private = function.sym_visibility == StringAttr("private")
        if is_private and function.sym_name.data not in set(named_by(module)):
            Rewriter.erase_op(function)
