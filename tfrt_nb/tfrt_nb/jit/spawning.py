"""Write the LLVM functions that start tasks without a coroutine, for bodies that never suspend.

`async.runtime.spawn @body(%args)` calls a function, the spawner. The spawner creates the token and
the values, stores them and the arguments in a frame, and passes the frame to the runtime. A worker
then calls a second function, the task function, with the frame:

    spawn(body, maker, args) -> { token, values }   task(frame)
    spawn(body, maker, group, args)

The task function frees the frame, calls the body, and resolves the results. The results become
errors if the body fails, or if the run is cancelled and no more tasks may start. Like every
function, the body owns its async arguments. If the body is a coroutine, it takes the results as its
first arguments and resolves them itself.

For each awaited argument, another function takes the frame:

    task(frame) -> await 0, task.1(frame) -> await 1, ... task.n(frame) -> call the body

If an awaited argument is an error, the next function calls yet another function, which also makes
the results errors.

If code should compile quickly, bodies of equal types share these functions. Otherwise, each body
has its own functions, so that LLVM can inline the body into the task function.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from xdsl.ir import Attribute

from tfrt_nb.dialects.async_.extensions import RuntimeSpawnOp
from tfrt_nb.dialects.async_.runtime import BY_HAND, RuntimeDropRefOp
from tfrt_nb.dialects.async_.types import GroupType, TokenType, ValueType
from tfrt_nb.jit.function_body import LIVE_COUNTER, FunctionBody, Lowering, ModuleText
from tfrt_nb.jit.llvm_types import llvm_type, result_type, size_of
from tfrt_nb.jit.runtime_calls import IN_HEADER
from tfrt_runtime.native.layouts import VALUE_PAYLOAD

_WORD = 8


@dataclass(frozen=True)
class _Shape:
    """Everything that determines a task's functions.

    `body` is None if bodies share the functions.
    """

    arguments: tuple[Attribute, ...]
    results: tuple[Attribute, ...]
    awaited: int
    is_fallible: bool
    body: str | None
    resolves: bool = False
    """Whether the body takes the results as arguments and resolves them."""
    is_unused: bool = False
    """Whether no code awaits the token, which is then created only if a board shows objects."""

    def __hash__(self) -> int:
        return self._hash

    @functools.cached_property
    def _hash(self) -> int:
        # Cache the hash, because there may be many arguments.
        common = self.arguments, self.results, self.awaited, self.is_fallible
        return hash((*common, self.body, self.resolves, self.is_unused))

    @property
    def payloads(self) -> list[Attribute]:
        """Return the types of the body's results, without the failure flag."""
        return [type_.value_type for type_ in self.results if isinstance(type_, ValueType)]

    @property
    def body_returns(self) -> str:
        """Return the LLVM type that the body returns."""
        types = [] if self.resolves else [llvm_type(type_) for type_ in self.payloads]
        if self.is_fallible:
            types.insert(0, "i1")
        return types[0] if len(types) == 1 else f"{{ {', '.join(types)} }}" if types else "void"

    @functools.cached_property
    def fields(self) -> list[str]:
        """Return the LLVM types of a frame's fields: the body, the results, and the arguments."""
        return ["ptr", *("ptr" for _ in self.results), *map(llvm_type, self.arguments)]

    @property
    def frame(self) -> str:
        """Return the LLVM type of a frame."""
        return f"type <{{ {', '.join(self.fields)} }}>"


def _spawn(body: FunctionBody, op: RuntimeSpawnOp) -> None:
    module = body.module
    symbol = op.callee.root_reference.data
    is_only_dropped = all(  # its only uses are drops that the compiler inserted
        isinstance(use.operation, RuntimeDropRefOp) and BY_HAND not in use.operation.attributes
        for use in op.results[0].uses
    )
    key = symbol, is_only_dropped
    if key not in module.spawns:
        shape = _Shape(
            tuple(op.operand_types),
            tuple(op.result_types),
            op.awaited_count,
            symbol in module.fallible,
            None if symbol in module.quick else symbol,
            resolves=symbol in module.resolving,
            is_unused=is_only_dropped,
        )
        module.spawns[key] = f"{_functions(module, shape)}(ptr {module.function(symbol)}, ptr "
    arguments = [module.maker(op) or "null", *(body.typed(value) for value in op.operands)]
    body.call_for(op.results, f"{module.spawns[key]}{', '.join(arguments)})")


def _functions(module: ModuleText, shape: _Shape) -> str:
    """Return the name of the spawner; the first call adds the shape's functions to the module."""
    if shape not in module.spawners:
        number = len(module.spawners)
        module.spawners[shape] = f"@__spawn.{number}"
        writer = _Writer(module, shape, number)
        module.globals.append(f"{writer.frame} = {shape.frame}")
        module.helpers[writer.spawn] = writer.text()
    return module.spawners[shape]


class _Writer:
    """Writes the functions of the tasks of one shape.

    In all these functions, a field of the frame has the same name: `%body`, `%r` with a number for
    a result, or `%a` with a number for an argument.
    """

    def __init__(self, module: ModuleText, shape: _Shape, number: int) -> None:
        self._module, self._shape = module, shape
        self.spawn, self._task = f"@__spawn.{number}", f"@__task.{number}"
        self.frame = f"%__frame.{number}"
        """The name of the LLVM type of a frame."""
        self._results = [f"%r{index}" for index in range(len(shape.results))]
        self._arguments = [f"%a{index}" for index in range(len(shape.arguments))]
        names = ["%body", *self._results, *self._arguments]
        self._places = {name: index for index, name in enumerate(names)}
        """The index of each value in the frame."""
        self._lines: list[str] = []

    def text(self) -> str:
        """Return the text of every function.

        The functions are the spawner, those that workers and awaits call, and the one for errors.
        """
        self._write_spawner()
        for step in range(self._shape.awaited + 1):
            self._write_step(step)
        self._write_abandon()
        return "\n".join(self._lines)

    def _emit(self, *lines: str) -> None:
        self._lines += [f"  {line}" for line in lines]

    def _call(self, name: str, *operands: str, result: str = "") -> None:
        call = self._module.runtime_call(name, *operands)
        self._emit(f"{result} = {call}" if result else call)

    def _write_spawner(self) -> None:
        shape = self._shape
        parameters = ["ptr %body", "ptr %maker"]
        types = map(llvm_type, shape.arguments)
        parameters += [
            f"{type_} {name}" for type_, name in zip(types, self._arguments, strict=True)
        ]
        returns = result_type(shape.results)
        self._lines.append(f"define internal {returns} {self.spawn}({', '.join(parameters)}) {{")
        for name, type_ in zip(self._results, shape.results, strict=True):
            if isinstance(type_, ValueType):
                size = size_of(llvm_type(type_.value_type))
                self._call("tfrtAsyncCreateValue", size, "%maker", result=name)
            else:
                kind = "UnusedToken" if shape.is_unused else "Token"
                self._call(f"tfrtAsyncCreate{kind}", "%maker", result=name)
        self._call("tfrtAsyncAllocateFrame", size_of(self.frame), str(_WORD), result="%frame")
        for name, index in self._places.items():
            store = f"store {shape.fields[index]} {name}, ptr %field{index}, align 1"
            self._emit(self._field(index), store)
        # Count the task before the runtime gets it, so that lent tensors are kept as long as a task
        # exists.
        if self._module.counts:
            self._emit(f"atomicrmw add ptr {LIVE_COUNTER}, i64 1 acq_rel")
        # Pass the task to the runtime before adding it to the group, because the other order takes
        # a quarter longer.
        self._call("mlirAsyncRuntimeExecute", "%frame", self._task)
        if len(self._results) == 1:
            self._emit(f"ret {returns} %r0")
        else:
            whole = "poison"
            for index, name in enumerate(self._results):
                self._emit(f"%whole{index} = insertvalue {returns} {whole}, ptr {name}, {index}")
                whole = f"%whole{index}"
            self._emit(f"ret {returns} {whole}")
        self._lines.append("}")

    def _write_step(self, step: int) -> None:
        """Write the function that runs after `step` arguments have been awaited."""
        shape = self._shape
        self._lines.append(f"define internal void {self._step(step)}(ptr %frame) {{")
        source = "null"
        if step == 0:
            self._call("tfrtAsyncIsCancelled", result="%is_off")
        else:
            source = f"%a{step - 1}"
            self._load(source)
            kind = "Value" if isinstance(shape.arguments[step - 1], ValueType) else "Token"
            self._call(f"mlirAsyncRuntimeIs{kind}Error", source, result="%is_off")
        self._emit("br i1 %is_off, label %abandon, label %go_on")
        self._lines.append("abandon:")
        self._emit(f"call void {self._task}.abandon(ptr %frame, ptr {source})", "ret void")
        self._lines.append("go_on:")
        if step < shape.awaited:
            self._load(f"%a{step}")
            # Several tasks may share this function, so the place of the wait comes from the task's
            # own result.
            self._load("%r0")
            operands = f"%a{step}", "%frame", self._step(step + 1), "%r0"
            self._call("tfrtAsyncAwaitAndExecuteFor", *operands)
            self._emit("ret void")
        else:
            self._write_run(source)
        self._lines.append("}")

    def _step(self, step: int) -> str:
        return f"{self._task}.{step}" if step else self._task

    def _field(self, index: int) -> str:
        return f"%field{index} = getelementptr {self.frame}, ptr %frame, i32 0, i32 {index}"

    def _load(self, name: str) -> None:
        index = self._places[name]
        type_ = self._shape.fields[index]
        self._emit(self._field(index), f"{name} = load {type_}, ptr %field{index}, align 1")

    def _load_frame(self, loaded: str = "") -> None:
        """Load all fields of the frame, except the argument `loaded` that was loaded before."""
        known = {loaded} if self._shape.body is None else {loaded, "%body"}
        for name in self._places:
            if name not in known:
                self._load(name)

    def _free_frame(self) -> None:
        self._call("tfrtAsyncFreeFrame", "%frame", size_of(self.frame), str(_WORD))

    def _payload_of(self, result: str, value: str, type_: str) -> None:
        """Bind `result` to the address of a value's payload."""
        if type_ in IN_HEADER:
            self._emit(f"{result} = getelementptr i8, ptr {value}, i64 {VALUE_PAYLOAD}")
        else:
            self._call("mlirAsyncRuntimeGetValueStorage", value, result=result)

    def _write_run(self, loaded: str) -> None:
        """Call the body, and resolve the results to the values that the body returns."""
        shape = self._shape
        self._load_frame(loaded)
        # All values are in registers, so the frame can be freed before the body runs.
        self._free_frame()
        given = [f"ptr {name}" for name in self._results] if shape.resolves else []
        for index, type_ in enumerate(shape.arguments):
            if index >= shape.awaited:
                given.append(f"{llvm_type(type_)} %a{index}")
            elif isinstance(type_, ValueType):
                payload = llvm_type(type_.value_type)
                self._payload_of(f"%place{index}", f"%a{index}", payload)
                self._emit(f"%x{index} = load {payload}, ptr %place{index}, align 1")
                given.append(f"{payload} %x{index}")
        # These references kept the payloads alive until the loads.
        for name in self._arguments[: shape.awaited]:
            self._call("mlirAsyncRuntimeDropRef", name, "1")
        body = "%body" if shape.body is None else self._module.function(shape.body)
        call = f"call {shape.body_returns} {body}({', '.join(given)})"
        self._emit(call if shape.body_returns == "void" else f"%returned = {call}")
        if shape.resolves:
            self._leave()
            return
        if not shape.is_fallible:
            self._emit("br label %done")
        else:
            failed = "%returned"
            if shape.payloads:
                failed = "%is_failed"
                self._emit(f"%is_failed = extractvalue {shape.body_returns} %returned, 0")
            self._emit(f"br i1 {failed}, label %failed, label %done")
            self._lines.append("failed:")
            for name in self._results:
                self._call("tfrtAsyncTakeFailure", name)
            self._set_errors()
        self._lines.append("done:")
        self._resolve()

    def _write_abandon(self) -> None:
        """Write the function that resolves the results to errors.

        The error is an argument's error or, if there is none, the reason why tasks must not start.
        """
        self._lines.append(f"define internal void {self._task}.abandon(ptr %frame, ptr %source) {{")
        self._load_frame()
        self._emit("%is_cancelled = icmp eq ptr %source, null")
        self._emit("br i1 %is_cancelled, label %take, label %inherit")
        # `tfrtAsyncIsCancelled` has recorded the reason for this thread.
        self._lines.append("take:")
        for name in self._results:
            self._call("tfrtAsyncTakeFailure", name)
        self._emit("br label %noted")
        self._lines.append("inherit:")
        for name in self._results:
            self._call("tfrtAsyncInheritError", name, "%source")
        self._emit("br label %noted")
        self._lines.append("noted:")
        for name, type_ in zip(self._arguments, self._shape.arguments, strict=True):
            if isinstance(type_, TokenType | ValueType | GroupType):
                self._call("mlirAsyncRuntimeDropRef", name, "1")
        self._free_frame()
        self._set_errors()
        self._lines.append("}")

    def _set_errors(self) -> None:
        """Set the results to errors, the values before the token."""
        for kind, name in ((ValueType, "SetValueError"), (TokenType, "SetTokenError")):
            for result, type_ in zip(self._results, self._shape.results, strict=True):
                if isinstance(type_, kind):
                    self._call(f"mlirAsyncRuntime{name}", result)
        self._leave()

    def _resolve(self) -> None:
        """Resolve the values before the token.

        Therefore, by the time an await of the token finishes, every value has been resolved.
        """
        shape = self._shape
        position = int(shape.is_fallible)
        is_struct = position + len(shape.payloads) > 1
        for index, type_ in enumerate(shape.results):
            if isinstance(type_, ValueType):
                payload = "%returned"
                if is_struct:
                    payload = f"%payload{index}"
                    self._emit(
                        f"{payload} = extractvalue {shape.body_returns} %returned, {position}"
                    )
                position += 1
                stored = llvm_type(type_.value_type)
                self._payload_of(f"%storage{index}", f"%r{index}", stored)
                self._emit(f"store {stored} {payload}, ptr %storage{index}, align 1")
                self._call("mlirAsyncRuntimeEmplaceValue", f"%r{index}")
        for name, type_ in zip(self._results, shape.results, strict=True):
            if isinstance(type_, TokenType):
                self._call("mlirAsyncRuntimeEmplaceToken", name)
        self._leave()

    def _leave(self) -> None:
        if self._module.counts:
            self._emit(f"atomicrmw add ptr {LIVE_COUNTER}, i64 -1 acq_rel")
        self._emit("ret void")


LOWERINGS: dict[str, Lowering] = {
    RuntimeSpawnOp.name: _spawn,
}
