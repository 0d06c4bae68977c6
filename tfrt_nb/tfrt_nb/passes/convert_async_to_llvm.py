"""Runtime and coroutine operations become calls of the runtime's C functions and LLVM's intrinsics.

    async.runtime.set_available %t : !async.token
    %s = async.coro.save %h
    async.runtime.await_and_resume %u, %h : !async.token
    async.coro.suspend %s, ^suspend, ^resume, ^cleanup
                             =>
    call @mlirAsyncRuntimeEmplaceToken(%t) : (!llvm.ptr) -> ()
    %s = llvm.intr.coro.save %h : (!llvm.ptr) -> !llvm.token
    %r = llvm.mlir.addressof @__resume : !llvm.ptr
    call @mlirAsyncRuntimeAwaitTokenAndExecute(%u, %h, %r) : (!llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    %final = llvm.mlir.constant(false) : i1
    %way = llvm.intr.coro.suspend %s, %final : i8
    %way32 = llvm.sext %way : i8 to i32
    llvm.switch %way32 : i32, ^suspend [
      0: ^resume,
      1: ^cleanup
    ]

The text is MLIR's, so that `mlir-opt` can do the rest: functions, their calls and returns get pointers
for async objects, other types stay, and where a payload has another type in memory, or an operation that
stays uses an async object, there is a `builtin.unrealized_conversion_cast`.  All 22 functions of the
runtime are declared, whether they are called or not.

As in every conversion of MLIR, other operations are folded on the way (`fold_once`), and what no way
leads to is left alone.

Where MLIR 19 fails, or leaves something over that nothing lowers later, this pass goes on: async objects
that are arguments of blocks, operands of branches, or carried by loops, conditions and choices become
pointers there, too.

Operations that only the runtime of this toolkit has (`async.runtime.spawn`, `.fail`, `.describe_error`,
...) are refused: the JIT lowers them, and no other runtime has functions for them.  They are not made with
the default options of `async-func-to-async-runtime` and `async-to-async-runtime`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass


@dataclass(frozen=True)
class ConvertAsyncToLLVM(ModulePass):
    """Lowers every operation of `async.coro` and `async.runtime` that MLIR has."""

    name: ClassVar[str] = "convert-async-to-llvm"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        # The `llvm` dialect is large, and programs that are run here do without.
        from tfrt_nb.passes.async_in_llvm import convert

        convert(op)
