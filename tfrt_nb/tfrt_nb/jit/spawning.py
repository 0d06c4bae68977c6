"""How tasks begin, as LLVM functions: those that never suspend need no coroutine.

`async.runtime.spawn @body(%args)` calls a function that makes the token and the values, puts them and the
arguments into a frame, and hands that to the runtime.  A worker calls the second function with the frame:

    spawn(body, maker, args) -> { token, values }      task(frame)
    spawn(body, maker, group, args)

which frees the frame, calls the body, and resolves the results, to an error if the body fails or if no
task shall start any more.  The body owns its async arguments, like every function.  A body that is a coroutine
gets the results as its first arguments, and resolves them itself.

For each argument that is awaited there is one more function of the frame:

    task(frame) -> await 0, task.1(frame) -> await 1, ... task.n(frame) -> call the body

The one behind an await that failed hands the error on to the results instead, by one more function.

Bodies of equal types share these functions where code is to be ready soon; else each has its own, so
that LLVM can make one function of task and body.
"""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, SSAValue

from tfrt_nb.dialects.async_.extensions import AWAITED_AT, RuntimeSpawnIntoOp, RuntimeSpawnOp
from tfrt_nb.dialects.async_.runtime import RuntimeDropRefOp
from tfrt_nb.dialects.async_.types import TOKEN, GroupType, TokenType, ValueType
from tfrt_nb.jit.function_body import LIVE_COUNTER, FunctionBody, Lowering, ModuleText
from tfrt_nb.jit.llvm_types import llvm_type, result_type, size_of
from tfrt_nb.jit.operations.async_runtime import IN_HEADER, runtime_call
from tfrt_nb.passes.counting.mark_explicit_counts import BY_HAND
from tfrt_runtime.native.layouts import VALUE_PAYLOAD

_WORD = 8


@dataclass(frozen=True)
class _Shape:
    """All that the functions depend on: types, how many arguments are awaited, whether the body fails, and
    which body if one."""

    arguments: tuple[Attribute, ...]
    results: tuple[Attribute, ...]
    awaited: int
    is_fallible: bool
    body: str | None
    is_member: bool = False
    """Whether the only use of the token is a group."""
    resolves: bool = False
    """Whether the body is given the results and resolves them."""
    awaited_inside: int = 0
    """How many of the awaited arguments, the last ones, the body awaits itself: the maker's record has their places."""
    is_unused: bool = False
    """Whether no code awaits the token: the object is only made where objects are shown."""

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        # Many arguments have as many fields, each of which asks for the name of the frame.
        common = self.arguments, self.results, self.awaited, self.is_fallible
        return hash((*common, self.body, self.is_member, self.resolves, self.is_unused))

    @property
    def payloads(self) -> list[Attribute]:
        """What the body returns, apart from whether it failed."""
        return [type_.value_type for type_ in self.results if isinstance(type_, ValueType)]

    @property
    def body_returns(self) -> str:
        """The LLVM type of what the body returns."""
        types = [] if self.resolves else [llvm_type(type_) for type_ in self.payloads]
        if self.is_fallible:
            types.insert(0, "i1")
        return types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}" if types else "void"

    @functools.cached_property
    def fields(self) -> list[str]:
        """What is in a frame: the body, the results, the arguments."""
        return ["ptr", *("ptr" for _ in self.results), *map(llvm_type, self.arguments)]

    @property
    def frame(self) -> str:
        """The LLVM type of a frame."""
        return f"type <{{ {', '.join(self.fields)} }}>"


def _spawn(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, RuntimeSpawnOp)
    module = body.module
    symbol = op.callee.root_reference.data
    key = symbol, _is_only_dropped(op.results[0])
    awaits = op.attributes.get(AWAITED_AT)
    if key not in module.spawns:
        shape = _Shape(
            tuple(op.operand_types),
            tuple(op.result_types),
            op.awaited_count,
            symbol in module.fallible,
            None if symbol in module.quick else symbol,
            resolves=symbol in module.resolving,
            awaited_inside=len(awaits) if isinstance(awaits, ArrayAttr) else 0,
            is_unused=key[1],
        )
        spawn = _functions(module, shape)
        module.spawns[key] = f"{spawn}(ptr {module.function(symbol)}, ptr "
    maker = module.maker(op) or "null"
    arguments = [maker, *(body.typed(value) for value in op.operands)]
    body.call_for(op.results, f"{module.spawns[key]}{', '.join(arguments)})")


def _is_only_dropped(token: SSAValue) -> bool:
    """Whether all that happens to the token is that what the compiler counts of it is dropped."""
    return all(
        isinstance(use.operation, RuntimeDropRefOp) and BY_HAND not in use.operation.attributes
        for use in token.uses
    )


def _spawn_into(body: FunctionBody, op: Operation) -> None:
    assert isinstance(op, RuntimeSpawnIntoOp)
    module = body.module
    symbol = op.callee.root_reference.data
    if symbol not in module.spawns_into:
        shape = _Shape(
            tuple(op.arguments.types),
            (TOKEN,),
            0,
            symbol in module.fallible,
            None if symbol in module.quick else symbol,
            is_member=True,
        )
        spawn = f"call void {_functions(module, shape)}"
        module.spawns_into[symbol] = f"{spawn}(ptr {module.function(symbol)}, ptr "
    arguments = [module.maker(op) or "null", f"ptr {module.adder(op) or 'null'}"]
    arguments += [body.typed(value) for value in op.operands]
    body.emit(f"{module.spawns_into[symbol]}{', '.join(arguments)})")


def _functions(module: ModuleText, shape: _Shape) -> str:
    """The name of the function that spawns; both are added to the module at the first call."""
    if shape not in module.spawners:
        number = len(module.spawners)
        spawn, task = f"@__spawn.{number}", f"@__task.{number}"
        module.spawners[shape] = spawn
        module.globals.append(f"{_frame(module, shape)} = {shape.frame}")
        lines = [*_spawner(module, shape, spawn, task), *_task(module, shape, task)]
        module.helpers[spawn] = "\n".join(lines)
    return module.spawners[shape]


def _payload_of(module: ModuleText, value: str, type_: str) -> str:
    if type_ in IN_HEADER:
        return f"getelementptr i8, ptr {value}, i64 {VALUE_PAYLOAD}"
    return runtime_call(module, "mlirAsyncRuntimeGetValueStorage", value)


def _spawner(module: ModuleText, shape: _Shape, spawn: str, task: str) -> Iterator[str]:
    parameters = [
        "ptr %body",
        "ptr %maker",
        *(["ptr %adder", "ptr %group"] if shape.is_member else []),
    ]
    parameters += [f"{llvm_type(type_)} %a{i}" for i, type_ in enumerate(shape.arguments)]
    returns = "void" if shape.is_member else result_type(shape.results)
    yield f"define internal {returns} {spawn}({', '.join(parameters)}) {{"
    for index, type_ in enumerate(shape.results):
        kind = "UnusedToken" if shape.is_unused else "Token"
        create = runtime_call(module, f"tfrtAsyncCreate{kind}", "%maker")
        if isinstance(type_, ValueType):
            size = size_of(llvm_type(type_.value_type))
            create = runtime_call(module, "tfrtAsyncCreateValue", size, "%maker")
        yield f"  %r{index} = {create}"
    allocate = runtime_call(
        module, "tfrtAsyncAllocateFrame", size_of(_frame(module, shape)), str(_WORD)
    )
    yield f"  %frame = {allocate}"
    names = ["%body", *(f"%r{i}" for i in range(len(shape.results)))]
    names += [f"%a{i}" for i in range(len(shape.arguments))]
    for index, (type_name, name) in enumerate(zip(shape.fields, names, strict=True)):
        yield from _field(module, shape, index)
        yield f"  store {type_name} {name}, ptr %field{index}, align 1"
    if module.counts:
        yield f"  atomicrmw add ptr {LIVE_COUNTER}, i64 1 acq_rel"
    # Handed over first: adding first takes a quarter longer.
    yield f"  {runtime_call(module, 'mlirAsyncRuntimeExecute', '%frame', task)}"
    if shape.is_member:
        yield f"  %rank = {runtime_call(module, 'tfrtAsyncAddToGroup', '%r0', '%group', '%adder')}"
        yield f"  {runtime_call(module, 'mlirAsyncRuntimeDropRef', '%r0', '1')}"
        yield "  ret void"
        yield "}"
    else:
        yield from _return([f"%r{i}" for i in range(len(shape.results))], returns)


def _frame(module: ModuleText, shape: _Shape) -> str:
    """The name of the LLVM type of a frame."""
    number = module.spawners[shape].rpartition(".")[2]
    return f"%__frame.{number}"


def _field(module: ModuleText, shape: _Shape, index: int) -> Iterator[str]:
    yield f"  %field{index} = getelementptr {_frame(module, shape)}, ptr %frame, i32 0, i32 {index}"


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
    """The function that a worker calls, those that awaited arguments call, and one for errors."""
    for step in range(shape.awaited + 1):
        yield f"define internal void {_step(task, step)}(ptr %frame) {{"
        source = "null"
        if step == 0:
            yield f"  %is_off = {runtime_call(module, 'tfrtAsyncIsCancelled')}"
        else:
            source = f"%a{step - 1}"
            yield from _load_argument(module, shape, step - 1)
            name = f"mlirAsyncRuntimeIs{_kind(shape, step - 1)}Error"
            yield f"  %is_off = {runtime_call(module, name, source)}"
        yield "  br i1 %is_off, label %abandon, label %go_on"
        yield "abandon:"
        yield f"  call void {task}.abandon(ptr %frame, ptr {source})"
        yield "  ret void"
        yield "go_on:"
        if step < shape.awaited:
            yield from _load_argument(module, shape, step)
            yield from _load(module, shape, 1, "%r0")
            number = max(0, step + 1 - (shape.awaited - shape.awaited_inside))
            operands = f"%a{step}", "%frame", _step(task, step + 1), "%r0", str(number)
            yield f"  {runtime_call(module, 'tfrtAsyncAwaitAndExecuteFor', *operands)}"
            yield "  ret void"
        else:
            yield from _run(module, shape, {step - 1})
        yield "}"
    yield from _abandon(module, shape, f"{task}.abandon")


def _step(task: str, step: int) -> str:
    """The name of the function that begins when so many arguments have been awaited."""
    return f"{task}.{step}" if step else task


def _kind(shape: _Shape, index: int) -> str:
    """How the runtime's functions call the type of an argument."""
    return "Value" if isinstance(shape.arguments[index], ValueType) else "Token"


def _load_frame(module: ModuleText, shape: _Shape, loaded: Collection[int] = ()) -> Iterator[str]:
    """Load what is in the frame, but not again the arguments that are `loaded`."""
    if shape.body is None:
        yield from _load(module, shape, 0, "%body")
    for index in range(len(shape.results)):
        yield from _load(module, shape, 1 + index, f"%r{index}")
    for index in range(len(shape.arguments)):
        if index not in loaded:
            yield from _load_argument(module, shape, index)


def _load_argument(module: ModuleText, shape: _Shape, index: int) -> Iterator[str]:
    yield from _load(module, shape, 1 + len(shape.results) + index, f"%a{index}")


def _load(module: ModuleText, shape: _Shape, index: int, name: str) -> Iterator[str]:
    yield from _field(module, shape, index)
    yield f"  {name} = load {shape.fields[index]}, ptr %field{index}, align 1"


def _free_frame(module: ModuleText, shape: _Shape) -> str:
    return f"  {runtime_call(module, 'tfrtAsyncFreeFrame', '%frame', size_of(_frame(module, shape)), str(_WORD))}"


def _run(module: ModuleText, shape: _Shape, loaded: Collection[int]) -> Iterator[str]:
    """Call the body, and resolve the results to what it returns."""
    yield from _load_frame(module, shape, loaded)
    yield _free_frame(module, shape)
    given = [f"ptr %r{i}" for i in range(len(shape.results))] if shape.resolves else []
    for index, type_ in enumerate(shape.arguments):
        if index >= shape.awaited:
            given.append(f"{llvm_type(type_)} %a{index}")
        elif isinstance(type_, ValueType):
            payload = llvm_type(type_.value_type)
            yield f"  %place{index} = {_payload_of(module, f'%a{index}', payload)}"
            yield f"  %x{index} = load {payload}, ptr %place{index}, align 1"
            given.append(f"{payload} %x{index}")
    for index in range(shape.awaited):
        yield f"  {runtime_call(module, 'mlirAsyncRuntimeDropRef', f'%a{index}', '1')}"
    body = "%body" if shape.body is None else module.function(shape.body)
    call = f"call {shape.body_returns} {body}({', '.join(given)})"
    yield f"  {call}" if shape.body_returns == "void" else f"  %returned = {call}"
    if shape.resolves:
        yield from _leave(module)
        return
    if not shape.is_fallible:
        yield "  br label %done"
    elif shape.payloads:
        yield f"  %is_failed = extractvalue {shape.body_returns} %returned, 0"
        yield "  br i1 %is_failed, label %failed, label %done"
    else:
        yield "  br i1 %returned, label %failed, label %done"
    if shape.is_fallible:
        yield "failed:"
        for index in range(len(shape.results)):
            yield f"  {runtime_call(module, 'tfrtAsyncTakeFailure', f'%r{index}')}"
        yield from _set_errors(module, shape)
    yield "done:"
    yield from _resolve(module, shape)


def _abandon(module: ModuleText, shape: _Shape, name: str) -> Iterator[str]:
    """Resolve the results to the error of an argument, or without one to why no task shall start."""
    yield f"define internal void {name}(ptr %frame, ptr %source) {{"
    yield from _load_frame(module, shape)
    yield "  %is_cancelled = icmp eq ptr %source, null"
    yield "  br i1 %is_cancelled, label %take, label %inherit"
    yield "take:"
    for index in range(len(shape.results)):
        yield f"  {runtime_call(module, 'tfrtAsyncTakeFailure', f'%r{index}')}"
    yield "  br label %noted"
    yield "inherit:"
    for index in range(len(shape.results)):
        yield f"  {runtime_call(module, 'tfrtAsyncInheritError', f'%r{index}', '%source')}"
    yield "  br label %noted"
    yield "noted:"
    for index, type_ in enumerate(shape.arguments):
        if isinstance(type_, TokenType | ValueType | GroupType):
            yield f"  {runtime_call(module, 'mlirAsyncRuntimeDropRef', f'%a{index}', '1')}"
    yield _free_frame(module, shape)
    yield from _set_errors(module, shape)
    yield "}"


def _set_errors(module: ModuleText, shape: _Shape) -> Iterator[str]:
    """Values before the token, as where they are resolved."""
    for kind, name in ((ValueType, "SetValueError"), (TokenType, "SetTokenError")):
        for index, type_ in enumerate(shape.results):
            if isinstance(type_, kind):
                yield f"  {runtime_call(module, f'mlirAsyncRuntime{name}', f'%r{index}')}"
    yield from _leave(module)


def _leave(module: ModuleText) -> Iterator[str]:
    if module.counts:
        yield f"  atomicrmw add ptr {LIVE_COUNTER}, i64 -1 acq_rel"
    yield "  ret void"


def _resolve(module: ModuleText, shape: _Shape) -> Iterator[str]:
    """Values before the token: an await of the token finds them resolved."""
    position = int(shape.is_fallible)
    is_struct = position + len(shape.payloads) > 1
    for index, type_ in enumerate(shape.results):
        if isinstance(type_, ValueType):
            payload = "%returned"
            if is_struct:
                payload = f"%payload{index}"
                yield f"  {payload} = extractvalue {shape.body_returns} %returned, {position}"
            position += 1
            stored = llvm_type(type_.value_type)
            yield f"  %storage{index} = {_payload_of(module, f'%r{index}', stored)}"
            yield f"  store {stored} {payload}, ptr %storage{index}, align 1"
            yield f"  {runtime_call(module, 'mlirAsyncRuntimeEmplaceValue', f'%r{index}')}"
    for index, type_ in enumerate(shape.results):
        if isinstance(type_, TokenType):
            yield f"  {runtime_call(module, 'mlirAsyncRuntimeEmplaceToken', f'%r{index}')}"
    yield from _leave(module)


LOWERINGS: dict[str, Lowering] = {
    RuntimeSpawnOp.name: _spawn,
    RuntimeSpawnIntoOp.name: _spawn_into,
}
