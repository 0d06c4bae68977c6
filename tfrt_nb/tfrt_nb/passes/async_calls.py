"""Each runtime and coroutine operation as calls of the runtime and of LLVM's intrinsics, as MLIR makes them.

A lowering puts operations in front of the old one and gives the values that stand for its results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, func, llvm
from xdsl.dialects.builtin import (
    BoolAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tfrt_nb.dialects.async_ import coroutine, runtime
from tfrt_nb.dialects.async_.types import GroupType, TokenType, ValueType
from tfrt_nb.dialects.llvm import coroutines, operations
from tfrt_nb.dialects.llvm.types import POINTER, TOKEN
from tfrt_nb.passes.control_flow import Emitter
from tfrt_nb.passes.conversion import Conversion
from tfrt_nb.passes.llvm_forms import llvm_form

Lowering: TypeAlias = Callable[[Operation, Emitter, Conversion], Sequence[SSAValue]]

_PREFIX = "mlirAsyncRuntime"
_RESUME = "__resume"


# Functions

_Signature: TypeAlias = tuple[list[Attribute], list[Attribute]]

_ONE: list[Attribute] = [POINTER]
_TWO: list[Attribute] = [POINTER] * 2
_THREE: list[Attribute] = [POINTER] * 3

_RUNTIME: dict[str, _Signature] = {
    f"{_PREFIX}AddRef": ([POINTER, i64], []),
    f"{_PREFIX}DropRef": ([POINTER, i64], []),
    f"{_PREFIX}CreateToken": ([], _ONE),
    f"{_PREFIX}CreateValue": ([i64], _ONE),
    f"{_PREFIX}CreateGroup": ([i64], _ONE),
    f"{_PREFIX}EmplaceToken": (_ONE, []),
    f"{_PREFIX}EmplaceValue": (_ONE, []),
    f"{_PREFIX}SetTokenError": (_ONE, []),
    f"{_PREFIX}SetValueError": (_ONE, []),
    f"{_PREFIX}IsTokenError": (_ONE, [i1]),
    f"{_PREFIX}IsValueError": (_ONE, [i1]),
    f"{_PREFIX}IsGroupError": (_ONE, [i1]),
    f"{_PREFIX}AwaitToken": (_ONE, []),
    f"{_PREFIX}AwaitValue": (_ONE, []),
    f"{_PREFIX}AwaitAllInGroup": (_ONE, []),
    f"{_PREFIX}Execute": (_TWO, []),
    f"{_PREFIX}GetValueStorage": (_ONE, _ONE),
    f"{_PREFIX}AddTokenToGroup": (_TWO, [i64]),
    f"{_PREFIX}AwaitTokenAndExecute": (_THREE, []),
    f"{_PREFIX}AwaitValueAndExecute": (_THREE, []),
    f"{_PREFIX}AwaitAllInGroupAndExecute": (_THREE, []),
    "mlirAsyncRuntimGetNumWorkerThreads": ([], [IndexType()]),  # the typo is the name
}
"""The functions of MLIR's runtime in the order of their declarations."""


def declare_functions(module: ModuleOp, operations: Sequence[Operation]) -> None:
    """Declare what the operations will call, as far as there is nothing of that name.

    The functions of the runtime are all declared, at the end; those of C in front of everything; at last
    comes `@__resume`, which the runtime gets as a pointer because it cannot call an intrinsic.
    """
    known = _symbols(module)
    emit = Emitter.at_end(module.body.block, module.location)
    for name, (inputs, results) in _RUNTIME.items():
        if name not in known:
            emit(func.FuncOp(name, (inputs, results), Region(), StringAttr("private")))
    needed = dict.fromkeys(
        (_module_of(op), _NEEDED[op.name]) for op in operations if op.name in _NEEDED
    )
    for home, declare in needed:
        declare(home)


def _symbols(module: ModuleOp) -> dict[str, Operation]:
    """The operations of the module that have names."""
    named = ((op.get_attr_or_prop("sym_name"), op) for op in module.body.block.ops)
    return {name.data: op for name, op in named if isinstance(name, StringAttr)}


def _module_of(op: Operation) -> ModuleOp:
    parent = op.parent_op()
    while not isinstance(parent, ModuleOp):
        assert parent is not None
        parent = parent.parent_op()
    return parent


def _declare_allocation(module: ModuleOp) -> None:
    _declare_in_c(module, "aligned_alloc", [i64, i64], POINTER)


def _declare_deallocation(module: ModuleOp) -> None:
    _declare_in_c(module, "free", _ONE)


def _declare_in_c(
    module: ModuleOp, name: str, inputs: list[Attribute], output: Attribute | None = None
) -> None:
    if not isinstance(_symbols(module).get(name), llvm.FuncOp):
        type_ = llvm.LLVMFunctionType(inputs, output)
        function = llvm.FuncOp(name, type_, llvm.LinkageAttr("external"))
        Emitter.at_start(module.body.block, module.location)(function)


def _define_resume(module: ModuleOp) -> None:
    if _RESUME in _symbols(module):
        return
    body = Block(arg_types=_ONE)
    emit = Emitter.at_end(body, module.location)
    emit(coroutines.CoroResumeOp(body.args[0]))
    emit(llvm.ReturnOp())
    function = llvm.FuncOp(
        _RESUME,
        llvm.LLVMFunctionType(_ONE),
        llvm.LinkageAttr("external"),
        sym_visibility="private",
        body=Region(body),
    )
    Emitter.at_end(module.body.block, module.location)(function)


_NEEDED: dict[str, Callable[[ModuleOp], None]] = {
    coroutine.CoroBeginOp.name: _declare_allocation,
    coroutine.CoroFreeOp.name: _declare_deallocation,
    runtime.RuntimeResumeOp.name: _define_resume,
    runtime.RuntimeAwaitAndResumeOp.name: _define_resume,
}
"""What an operation needs beside the runtime."""


def _call(emit: Emitter, name: str, *arguments: SSAValue) -> Sequence[SSAValue]:
    """Call a function of the runtime."""
    _, results = _RUNTIME[name]
    return emit(func.CallOp(name, arguments, results)).results


# Operations of the runtime


def _create(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    assert isinstance(op, runtime.RuntimeCreateOp)
    type_ = op.result.type
    if isinstance(type_, TokenType):
        return _call(emit, f"{_PREFIX}CreateToken")
    assert isinstance(type_, ValueType)
    # How far the second element of an array is from the first one.
    null = emit(llvm.ZeroOp.create(result_types=_ONE)).res
    second = emit(llvm.GEPOp(null, [1], _in_memory(type_.value_type))).result
    size = emit(llvm.PtrToIntOp(second)).output
    return _call(emit, f"{_PREFIX}CreateValue", size)


def _in_memory(type_: Attribute) -> Attribute:
    form = llvm_form(type_)
    assert form is not None, "checked before"
    return form


def _create_group(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    return _call(emit, f"{_PREFIX}CreateGroup", conversion.value(op.operands[0], i64))


def _on_one(name: str) -> Lowering:
    """A call with the object; `{}` in the name is for its kind."""

    def lower(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
        operand = op.operands[0]
        return _call(
            emit, name.format(runtime.runtime_kind(operand)), conversion.value(operand, POINTER)
        )

    return lower


def _is_error(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    operand = op.operands[0]
    kind = "Group" if isinstance(operand.type, GroupType) else runtime.runtime_kind(operand)
    return _call(emit, f"{_PREFIX}Is{kind}Error", conversion.value(operand, POINTER))


def _resume(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    handle = conversion.value(op.operands[0], POINTER)
    return _call(emit, f"{_PREFIX}Execute", handle, _resume_function(emit))


def _await_and_resume(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    operand, handle = op.operands
    arguments = conversion.value(operand, POINTER), conversion.value(handle, POINTER)
    name = f"{_PREFIX}Await{runtime.runtime_kind(operand)}AndExecute"
    return _call(emit, name, *arguments, _resume_function(emit))


def _resume_function(emit: Emitter) -> SSAValue:
    return emit(llvm.AddressOfOp(_RESUME, POINTER)).result


def _store(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    value, storage = op.operands
    (pointer,) = _storage(storage, emit, conversion)
    emit(llvm.StoreOp(conversion.value(value, _in_memory(value.type)), pointer))
    return ()


def _load(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    (pointer,) = _storage(op.operands[0], emit, conversion)
    return emit(llvm.LoadOp(pointer, _in_memory(op.results[0].type))).results


def _storage(value: SSAValue, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    return _call(emit, f"{_PREFIX}GetValueStorage", conversion.value(value, POINTER))


def _add_to_group(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    arguments = [conversion.value(operand, POINTER) for operand in op.operands]
    return _call(emit, f"{_PREFIX}AddTokenToGroup", *arguments)


def _count(name: str) -> Lowering:
    def lower(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
        count = op.properties["count"]
        assert isinstance(count, IntegerAttr)
        number = emit(arith.ConstantOp(count)).result
        return _call(emit, name, conversion.value(op.operands[0], POINTER), number)

    return lower


def _num_worker_threads(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    return _call(emit, "mlirAsyncRuntimGetNumWorkerThreads")


# Operations of coroutines


def _constant(emit: Emitter, value: IntegerAttr) -> SSAValue:
    return emit(operations.ConstantOp(value, value.type)).res


def _no(emit: Emitter) -> SSAValue:
    return _constant(emit, BoolAttr.from_bool(False))


def _coro_id(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    alignment = _constant(emit, IntegerAttr(0, i32))
    null = emit(llvm.ZeroOp.create(result_types=_ONE)).res
    return emit(coroutines.CoroIdOp(alignment, null)).results


def _coro_begin(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    """`aligned_alloc` wants the size rounded up: `(size + alignment - 1) & -alignment`."""
    size = emit(coroutines.CoroSizeOp()).res
    alignment = emit(coroutines.CoroAlignOp()).res
    padded = emit(llvm.AddOp(size, alignment)).res
    last = emit(llvm.SubOp(padded, _constant(emit, IntegerAttr(1, i64)))).res
    mask = emit(llvm.SubOp(_constant(emit, IntegerAttr(0, i64)), alignment)).res
    rounded = emit(operations.AndOp(last, mask)).res
    memory = emit(llvm.CallOp("aligned_alloc", alignment, rounded, return_type=POINTER)).returned
    assert memory is not None
    id_ = conversion.value(op.operands[0], TOKEN)
    return emit(coroutines.CoroBeginOp(id_, memory)).results


def _coro_free(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    id_, handle = op.operands
    values = conversion.value(id_, TOKEN), conversion.value(handle, POINTER)
    memory = emit(coroutines.CoroFreeOp(*values)).res
    emit(llvm.CallOp("free", memory))
    return ()


def _coro_end(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    handle = conversion.value(op.operands[0], POINTER)
    unwinds = _no(emit)
    emit(coroutines.CoroEndOp(handle, unwinds, emit(operations.NoneTokenOp()).res))
    return ()


def _coro_save(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    return emit(coroutines.CoroSaveOp(conversion.value(op.operands[0], POINTER))).results


def _coro_suspend(op: Operation, emit: Emitter, conversion: Conversion) -> Sequence[SSAValue]:
    assert isinstance(op, coroutine.CoroSuspendOp)
    final = _no(emit)
    way = emit(coroutines.CoroSuspendOp(conversion.value(op.state, TOKEN), final)).res
    wide = emit(llvm.SExtOp(way, i32)).res
    emit(operations.SwitchOp(wide, (op.suspend, ()), [(0, op.resume, ()), (1, op.cleanup, ())]))
    return ()


LOWERINGS: dict[str, Lowering] = {
    runtime.RuntimeCreateOp.name: _create,
    runtime.RuntimeCreateGroupOp.name: _create_group,
    runtime.RuntimeSetAvailableOp.name: _on_one(f"{_PREFIX}Emplace{{}}"),
    runtime.RuntimeSetErrorOp.name: _on_one(f"{_PREFIX}Set{{}}Error"),
    runtime.RuntimeIsErrorOp.name: _is_error,
    runtime.RuntimeAwaitOp.name: _on_one(f"{_PREFIX}Await{{}}"),
    runtime.RuntimeResumeOp.name: _resume,
    runtime.RuntimeAwaitAndResumeOp.name: _await_and_resume,
    runtime.RuntimeStoreOp.name: _store,
    runtime.RuntimeLoadOp.name: _load,
    runtime.RuntimeAddToGroupOp.name: _add_to_group,
    runtime.RuntimeAddRefOp.name: _count(f"{_PREFIX}AddRef"),
    runtime.RuntimeDropRefOp.name: _count(f"{_PREFIX}DropRef"),
    runtime.RuntimeNumWorkerThreadsOp.name: _num_worker_threads,
    coroutine.CoroIdOp.name: _coro_id,
    coroutine.CoroBeginOp.name: _coro_begin,
    coroutine.CoroFreeOp.name: _coro_free,
    coroutine.CoroEndOp.name: _coro_end,
    coroutine.CoroSaveOp.name: _coro_save,
    coroutine.CoroSuspendOp.name: _coro_suspend,
}
"""The operations that MLIR lowers as well, by name."""
