"""Tasks that never suspend, as LLVM functions: they need no coroutine.

`async.runtime.spawn @body(%args)` calls a function that makes the token and the values, puts them and the
arguments into a frame, and hands that to the runtime.  A worker calls the second function with the frame:

    spawn(body, maker, args) -> { token, values }      task(frame)

which frees the frame, calls the body, and resolves the results, to an error if the body fails or if no
task shall start any more.  The body owns its async arguments, like every function.

Bodies of equal types share the two functions where code is to be ready soon; else each has its own, so
that LLVM can make one function of task and body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.async_.runtime import RuntimeSpawnOp
from tfrt_nb.dialects.async_.types import GroupType, TokenType, ValueType
from tfrt_nb.jit.async_runtime import RuntimeFunction, runtime_function
from tfrt_nb.jit.function_body import FunctionBody, Lowering, ModuleText
from tfrt_nb.jit.llvm_types import llvm_type, result_type
from tfrt_nb.passes.errors import location_of
from tfrt_nb.passes.propagate_failures import FALLIBLE

_WORD = 8


@dataclass(frozen=True)
class _Shape:
    """All that the two functions depend on: types, whether the body fails, and which body if one."""

    arguments: tuple[Attribute, ...]
    results: tuple[Attribute, ...]
    is_fallible: bool
    body: str | None

    @property
    def payloads(self) -> list[Attribute]:
        """What the body returns, apart from whether it failed."""
        return [type_.value_type for type_ in self.results if isinstance(type_, ValueType)]

    @property
    def body_returns(self) -> str:
        """The LLVM type of what the body returns."""
        types = [llvm_type(type_) for type_ in self.payloads]
        if self.is_fallible:
            types.insert(0, "i1")
        return types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}" if types else "void"

    @property
    def fields(self) -> list[str]:
        """What is in a frame: the body, the results, the arguments."""
        return ["ptr", *("ptr" for _ in self.results), *map(llvm_type, self.arguments)]

    @property
    def frame(self) -> str:
        """The LLVM type of a frame."""
        return f"<{{ {', '.join(self.fields)} }}>"


def _spawn(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, RuntimeSpawnOp)
    module = body.module
    symbol = op.callee.root_reference.data
    shape = _Shape(
        tuple(op.arguments.types),
        tuple(op.results_.types),
        symbol in module.fallible,
        None if module.shares_tasks else symbol,
    )
    spawn = _functions(module, shape)
    maker = "null" if location_of(op) is None else module.failure("", op)
    arguments = [f"ptr {module.function(symbol)}", f"ptr {maker}"]
    arguments += [body.typed(value) for value in op.arguments]
    returns = result_type(shape.results)
    result = body.value(f"call {returns} {spawn}({', '.join(arguments)})")
    if len(op.results_) == 1:
        body.bind(op.results_[0], result)
        return
    for index, value in enumerate(op.results_):
        body.set(value, f"extractvalue {returns} {result}, {index}")


def _functions(module: ModuleText, shape: _Shape) -> str:
    """The name of the function that spawns; both are added to the module at the first call."""
    if shape not in module.spawners:
        number = len(module.spawners)
        spawn, task = f"@__spawn.{number}", f"@__task.{number}"
        module.spawners[shape] = spawn
        lines = [*_spawner(module, shape, spawn, task), *_task(module, shape, task)]
        module.helpers[spawn] = "\n".join(lines)
    return module.spawners[shape]


def _call(module: ModuleText, name: str, *operands: str) -> str:
    function: RuntimeFunction = runtime_function(name)
    symbol = module.declare(name, function.returns, ", ".join(function.parameters))
    arguments = ", ".join(
        f"{type_} {operand}" for type_, operand in zip(function.parameters, operands, strict=True)
    )
    return f"call {function.returns} {symbol}({arguments})"


def _size(type_: str) -> str:
    return f"ptrtoint (ptr getelementptr ({type_}, ptr null, i64 1) to i64)"


def _spawner(module: ModuleText, shape: _Shape, spawn: str, task: str) -> Iterator[str]:
    parameters = [f"{llvm_type(type_)} %a{i}" for i, type_ in enumerate(shape.arguments)]
    returns = result_type(shape.results)
    yield f"define internal {returns} {spawn}({', '.join(['ptr %body', 'ptr %maker', *parameters])}) {{"
    for index, type_ in enumerate(shape.results):
        create = _call(module, "mlirAsyncRuntimeCreateToken")
        if isinstance(type_, ValueType):
            size = _size(llvm_type(type_.value_type))
            create = _call(module, "mlirAsyncRuntimeCreateValue", size)
        yield f"  %r{index} = {create}"
        yield f"  {_call(module, 'tfrtAsyncSetMaker', f'%r{index}', '%maker')}"
    allocate = _call(module, "tfrtAsyncAllocateFrame", _size(shape.frame), str(_WORD))
    yield f"  %frame = {allocate}"
    names = ["%body", *(f"%r{i}" for i in range(len(shape.results)))]
    names += [f"%a{i}" for i in range(len(shape.arguments))]
    for index, (type_name, name) in enumerate(zip(shape.fields, names, strict=True)):
        yield from _field(shape, index)
        yield f"  store {type_name} {name}, ptr %field{index}, align 1"
    yield f"  {_call(module, 'mlirAsyncRuntimeExecute', '%frame', task)}"
    yield from _return([f"%r{i}" for i in range(len(shape.results))], returns)


def _field(shape: _Shape, index: int) -> Iterator[str]:
    yield f"  %field{index} = getelementptr {shape.frame}, ptr %frame, i32 0, i32 {index}"


def _return(names: Sequence[str], type_: str) -> Iterator[str]:
    if len(names) == 1:
        yield f"  ret {type_} {names[0]}"
    else:
        whole = "poison"
        for index, name in enumerate(names):
            yield f"  %whole{index} = insertvalue {type_} {whole}, ptr {name}, {index}"
            whole = f"%whole{index}"
        yield f"  ret {type_} {whole}"
    yield "}"


def _task(module: ModuleText, shape: _Shape, task: str) -> Iterator[str]:
    yield f"define internal void {task}(ptr %frame) {{"
    names = ["%body", *(f"%r{i}" for i in range(len(shape.results)))]
    names += [f"%a{i}" for i in range(len(shape.arguments))]
    for index, (type_name, name) in enumerate(zip(shape.fields, names, strict=True)):
        yield from _field(shape, index)
        yield f"  {name} = load {type_name}, ptr %field{index}, align 1"
    yield f"  {_call(module, 'tfrtAsyncFreeFrame', '%frame', _size(shape.frame), str(_WORD))}"
    yield f"  %cancelled = {_call(module, 'tfrtAsyncIsCancelled')}"
    yield "  br i1 %cancelled, label %give_up, label %start"
    yield "start:"
    yield from _run(module, shape)
    yield "done:"
    yield from _resolve(module, shape)
    yield "give_up:"
    for index, type_ in enumerate(shape.arguments):
        if isinstance(type_, TokenType | ValueType | GroupType):
            yield f"  {_call(module, 'mlirAsyncRuntimeDropRef', f'%a{index}', '1')}"
    yield "  br label %failed"
    yield "failed:"
    yield from _fail(module, shape)
    yield "}"


def _run(module: ModuleText, shape: _Shape) -> Iterator[str]:
    """Call the body; go to `done` or `failed`."""
    body = "%body" if shape.body is None else module.function(shape.body)
    arguments = ", ".join(f"{llvm_type(t)} %a{i}" for i, t in enumerate(shape.arguments))
    call = f"call {shape.body_returns} {body}({arguments})"
    yield f"  {call}" if shape.body_returns == "void" else f"  %returned = {call}"
    if not shape.is_fallible:
        yield "  br label %done"
    elif shape.payloads:
        yield f"  %is_failed = extractvalue {shape.body_returns} %returned, 0"
        yield "  br i1 %is_failed, label %failed, label %done"
    else:
        yield "  br i1 %returned, label %failed, label %done"


def _resolve(module: ModuleText, shape: _Shape) -> Iterator[str]:
    """Values before the token: who has awaited the token finds them resolved."""
    position = int(shape.is_fallible)
    is_struct = position + len(shape.payloads) > 1
    for index, type_ in enumerate(shape.results):
        if isinstance(type_, ValueType):
            payload = "%returned"
            if is_struct:
                payload = f"%payload{index}"
                yield f"  {payload} = extractvalue {shape.body_returns} %returned, {position}"
            position += 1
            storage = _call(module, "mlirAsyncRuntimeGetValueStorage", f"%r{index}")
            yield f"  %storage{index} = {storage}"
            yield f"  store {llvm_type(type_.value_type)} {payload}, ptr %storage{index}, align 1"
            yield f"  {_call(module, 'mlirAsyncRuntimeEmplaceValue', f'%r{index}')}"
    for index, type_ in enumerate(shape.results):
        if isinstance(type_, TokenType):
            yield f"  {_call(module, 'mlirAsyncRuntimeEmplaceToken', f'%r{index}')}"
    yield "  ret void"


def _fail(module: ModuleText, shape: _Shape) -> Iterator[str]:
    for index in range(len(shape.results)):
        yield f"  {_call(module, 'tfrtAsyncTakeFailure', f'%r{index}')}"
    for kind, name in ((ValueType, "SetValueError"), (TokenType, "SetTokenError")):
        for index, type_ in enumerate(shape.results):
            if isinstance(type_, kind):
                yield f"  {_call(module, f'mlirAsyncRuntime{name}', f'%r{index}')}"
    yield "  ret void"


def fallible_functions(functions: Sequence[FuncOp]) -> frozenset[str]:
    """The names of those that return first whether they failed."""
    return frozenset(f.sym_name.data for f in functions if FALLIBLE in f.attributes)


LOWERINGS: dict[str, Lowering] = {RuntimeSpawnOp.name: _spawn}
