"""Bodies of plain functions in the place of calls, as MLIR's inliner does it.

    func.func private @twice(%x: i32) -> i32 {          func.func @main(%a: i32) -> i32 {
      %y = arith.addi %x, %x : i32                        %0 = arith.addi %a, %a : i32
      return %y : i32                                     return %0 : i32
    }                                             =>    }
    func.func @main(%a: i32) -> i32 {
      %b = call @twice(%a) : (i32) -> i32
      return %b : i32
    }

Callees come before their callers, and are canonicalized before they are looked at.

Invariants: nothing of `async` is moved, and nothing is moved into a task; a private function goes away
with its last call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import cf
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region

from tfrt_nb.dialects.async_.functions import CallOp as AsyncCallOp
from tfrt_nb.dialects.async_.functions import FuncOp as AsyncFuncOp
from tfrt_nb.passes.call_graph import callees_first
from tfrt_nb.passes.control_flow import Emitter, erase, replace, terminator_of
from tfrt_nb.passes.folds.table import FOLDERS
from tfrt_nb.passes.greedy.driver import rewrite_greedily
from tfrt_nb.passes.patterns.table import PATTERNS
from tfrt_nb.passes.symbol_dce import is_private, named_by

_MOST_ROUNDS = 4
_MOVABLE = frozenset(("arith", "cf", "func", "index", "math", "memref", "scf", "ub", "vector"))
"""The dialects whose operations may be moved to another function."""
_SEVERAL_BLOCKS = frozenset(("scf.execute_region",))
"""What is no function and still may hold several blocks."""

Function = FuncOp | AsyncFuncOp


def inline_functions(module: ModuleOp) -> None:
    """Canonicalize the functions that can be reached, and inline what can be inlined."""
    functions = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, FuncOp | AsyncFuncOp) and op.body.blocks and not _is_of_host(op)
    }
    inliner = _Inliner(module, functions)
    graph = {name: _called_by(function) for name, function in functions.items()}
    for group in callees_first(graph):
        inliner.settle(group)
    for function in inliner.dead:
        erase(function)


def _is_of_host(function: Function) -> bool:
    last = function.body.blocks[0].last_op
    return last is not None and last.name == "tfrt.return"


@dataclass
class _Inliner:
    module: ModuleOp
    functions: Mapping[str, Function]
    dead: list[Function] = field(default_factory=list)
    inlined: set[Operation] = field(default_factory=set)
    """Those of the dead whose last call was inlined; what others name counts as used."""

    def settle(self, group: Sequence[str]) -> None:
        """Simplify functions that call each other, and inline their calls, until nothing changes."""
        for _ in range(_MOST_ROUNDS):
            functions = [f for name in group if (f := self.functions[name]) not in self.dead]
            for function in functions:
                rewrite_greedily(function.body, FOLDERS, PATTERNS)
            self.dead += [function for function in functions if self._is_unused(function)]
            calls = [call for f in functions if f not in self.dead for call in _plain_calls(f)]
            inlined = [call for call in calls if self._inline(call)]
            if not inlined:
                return

    def _inline(self, call: CallOp) -> bool:
        name = call.callee.root_reference.data
        callee = self.functions.get(name)
        if not isinstance(callee, FuncOp) or not _may_be_inlined(call, callee):
            return False
        _put_in_place(call, callee)
        if self._is_unused(callee):
            self.dead.append(callee)
            self.inlined.add(callee)
        return True

    def _is_unused(self, function: Function) -> bool:
        """Whether nobody names a private function, but functions that went away with their calls."""
        if not is_private(function):
            return False
        name = function.sym_name.data
        return not any(name in named_by(op) for op in self.module.ops if op not in self.inlined)


def _plain_calls(function: Function) -> list[CallOp]:
    return [op for op in function.walk() if isinstance(op, CallOp)]


def _may_be_inlined(call: CallOp, callee: FuncOp) -> bool:
    name = callee.sym_name.data
    holder = call.parent_op()
    if holder is None or callee.is_ancestor(call) or name in _called_by(callee):
        return False
    if not isinstance(holder, FuncOp) and holder.dialect_name() != "scf":
        return False
    has_room = isinstance(holder, FuncOp) or holder.name in _SEVERAL_BLOCKS
    if len(callee.body.blocks) > 1 and not has_room:
        return False
    return all(op is callee or op.dialect_name() in _MOVABLE for op in callee.walk())


def _put_in_place(call: CallOp, callee: FuncOp) -> None:
    copied = callee.body.clone()
    for original, copy in zip(callee.body.walk(), copied.walk(), strict=True):
        copy.location = original.location
    head = call.parent
    assert head is not None and call.next_op is not None
    entry = copied.blocks[0]
    for argument, value in zip(entry.args, call.operands, strict=True):
        argument.replace_all_uses_with(value)
    if len(copied.blocks) == 1:
        end = terminator_of(entry)
        results = list(end.operands)
        for op in list(entry.ops):
            if op is not end:
                head.insert_op_before(entry.detach_op(op), call)
        replace(call, results)
        return
    _put_blocks_in_place(call, head, copied)


def _put_blocks_in_place(call: CallOp, head: Block, copied: Region) -> None:
    entry = copied.blocks[0]
    following = call.next_op
    assert following is not None
    rest = head.split_before(following, arg_types=call.result_types)
    for block in copied.blocks:
        end = terminator_of(block)
        if isinstance(end, ReturnOp):
            Emitter.in_front_of(end)(cf.BranchOp(rest, *end.operands))
            erase(end)
    copied.move_blocks_before(rest)
    for op in list(entry.ops):
        head.add_op(entry.detach_op(op))
    assert entry.parent is not None
    entry.parent.detach_block(entry)
    replace(call, rest.args)


def _called_by(function: Function) -> list[str]:
    """The functions that it calls, in the order of the calls."""
    return [
        op.callee.root_reference.data
        for op in function.walk()
        if isinstance(op, CallOp | AsyncCallOp)
    ]
