"""Replace calls with the bodies of the called functions.

    func.func private @twice(%x: i32) -> i32 {
      %y = arith.addi %x, %x : i32
      return %y : i32
    }
    func.func @main(%a: i32) -> i32 {            func.func @main(%a: i32) -> i32 {
      %r = call @twice(%a) : (i32) -> i32   =>     %y = arith.addi %a, %a : i32
      return %r : i32                              return %y : i32
    }                                            }

The pass replaces a `func.call` or a `tfrt.call` if the function has a body. A `tfrt.call` does not
run the body if an argument is an error. Therefore, the pass replaces it only if no argument can be
an error, or if everything in the body depends on all arguments that can be errors.

The pass does not replace a call

- if functions call each other in a cycle;
- if the body has several blocks, but only one block is allowed at the call;
- if the body has a `memref.alloca`, whose memory would be kept until the caller returns;
- if the body has an `async.ret_handle`, which belongs to the function that contains it;
- after it has copied `MAX_OPERATIONS` operations, which bounds the program's growth.

The pass removes private functions that are no longer referenced.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import cf, memref
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tfrt_nb.dialects.async_.proposal import ReturnHandleOp
from tfrt_nb.dialects.catalog import UnknownOp
from tfrt_nb.dialects.control_flow import NONSTRICT, SYNC
from tfrt_nb.dialects.control_flow.calls import CallOp as HostCallOp
from tfrt_nb.dialects.types import symbols_in
from tfrt_nb.passes.control_flow import block_of, erase, replace
from tfrt_nb.passes.lowering.call_graph import callees_first

MAX_OPERATIONS = 100_000
"""The maximum number of operations that one application of the pass copies."""
_RETURNS = ("func.return", "tfrt.return")


@dataclass(frozen=True)
class Inline(ModulePass):
    """The pass `inline`, which processes callees before their callers."""

    name = "inline"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = {one.sym_name.data: one for one in op.body.block.ops if isinstance(one, FuncOp)}
        calls = {name: _calls_in(function) for name, function in functions.items()}
        graph = {name: {callee for _, callee in found} for name, found in calls.items()}
        budget = MAX_OPERATIONS
        sizes: dict[str, int] = {}
        # Callees come first, so that a body already contains the bodies of its own callees.
        for circle in callees_first(graph):
            for name in circle:
                for call, callee in calls[name]:
                    body = functions.get(callee)
                    if callee in circle or body is None or not _fits(call, body, functions[name]):
                        continue
                    if sizes[callee] <= budget:
                        budget -= sizes[callee]
                        _inline(call, body)
                sizes[name] = sum(1 for _ in functions[name].walk())
        _take_out_unused(op)


def _calls_in(function: FuncOp) -> list[tuple[Operation, str]]:
    found: list[tuple[Operation, str]] = []
    for op in function.walk():
        if isinstance(op, CallOp | HostCallOp):
            callee = op.get_attr_or_prop("callee")
            if isinstance(callee, SymbolRefAttr) and not callee.nested_references.data:
                found.append((op, callee.root_reference.data))
    return found


def _fits(call: Operation, callee: FuncOp, caller: FuncOp) -> bool:
    """Return whether the body of `callee` can replace the call."""
    blocks = callee.body.blocks
    if not blocks or (SYNC in callee.attributes) is not (SYNC in caller.attributes):
        return False
    # The region of a structured operation has only a single block.
    if len(blocks) > 1 and call.parent_op() is not caller:
        return False
    if len(blocks) == 1 and (
        callee.body.block.last_op is None or callee.body.block.last_op.name not in _RETURNS
    ):
        return False
    if type(call) is HostCallOp and not _skips_as_a_whole(call, callee):
        return False
    return not any(isinstance(op, memref.AllocaOp | ReturnHandleOp) for op in callee.walk())


def _skips_as_a_whole(call: HostCallOp, callee: FuncOp) -> bool:
    """Return whether an error argument would keep the whole inlined body from running.

    An error argument keeps a call from running the body at all. The answer may be False for a body
    that would behave the same.
    """
    body = callee.body.block
    fallible: set[SSAValue] = {
        parameter
        for parameter, value in zip(body.args, call.operands, strict=True)
        if not _cannot_fail(value, call)
    }
    if not fallible or NONSTRICT in call.attributes:
        return True
    depends: dict[SSAValue, set[SSAValue]] = {
        value: fallible.intersection([value]) for value in body.args
    }
    for op in body.ops:
        found = set[SSAValue]().union(*(depends[operand] for operand in op.operands))
        is_last = op is body.last_op
        # The return passes on each value separately. Any other operation waits for all its
        # operands.
        waits_for = [depends[value] for value in op.operands] if is_last else [found]
        if not _is_constant(op) and any(fallible - each for each in waits_for):
            return False
        if NONSTRICT in op.attributes or isinstance(op, UnknownOp):
            return False  # user kernels may accept errors
        depends |= dict.fromkeys(op.results, found)
    return True


def _cannot_fail(value: SSAValue, call: Operation) -> bool:
    """Return whether `value` is a constant or an argument of the caller.

    An argument of the caller is available when the body runs.
    """
    owner = value.owner
    if isinstance(owner, Block):
        return isinstance(owner.parent_op(), FuncOp) and call.parent is owner
    return _is_constant(owner)


def _is_constant(op: Operation) -> bool:
    return op.name.startswith("tfrt.constant.") or op.name == "tfrt.new.chain"


def _inline(call: Operation, callee: FuncOp) -> None:
    """Replace the call with a copy of the body."""
    block = block_of(call)
    if len(callee.body.blocks) == 1:
        values: dict[SSAValue, SSAValue] = dict(
            zip(callee.body.block.args, call.operands, strict=True)
        )
        *ops, end = callee.body.block.ops
        for op in ops:
            block.insert_op_before(op.clone(values), call)
        replace(call, [values.get(value, value) for value in end.operands])
        return
    following = block.split_before(call, arg_types=call.result_types)
    blocks: dict[Block, Block] = {}
    body = Region()
    callee.body.clone_into(body, block_mapper=blocks)
    body.move_blocks_before(following)
    for block_of_copy in blocks.values():
        leave = block_of_copy.last_op
        if leave is not None and leave.name in _RETURNS:
            go_on = cf.BranchOp(following, *leave.operands)
            go_on.location = leave.location
            erase(leave)
            block_of_copy.add_op(go_on)
    # No branch leads to an entry block, so its copy can become the end of the caller's block.
    Rewriter.inline_block(
        blocks[callee.body.blocks[0]], InsertPoint.at_end(block), list(call.operands)
    )
    replace(call, list(following.args))


def _take_out_unused(module: ModuleOp) -> None:
    private = {
        op.sym_name.data: op
        for op in module.body.block.ops
        if isinstance(op, FuncOp) and op.body.blocks and op.sym_visibility == StringAttr("private")
    }
    pending: list[Operation] = [op for op in module.body.block.ops if op not in private.values()]
    while pending:
        for op in pending.pop().walk():
            for attribute in (*op.properties.values(), *op.attributes.values()):
                for symbol in symbols_in(attribute):
                    if (used := private.pop(symbol.root_reference.data, None)) is not None:
                        pending.append(used)
    for op in private.values():
        erase(op)
