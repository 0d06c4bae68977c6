"""Adapters, in LLVM IR, through which kernels of host programs call compiled functions.

Each function has one adapter:

    define i64 @__kernel_f(ptr %context, ptr %record)

The adapter fetches the arguments from the kernel's frame, calls @f, and returns the results to the
kernel. Scalars are passed directly, and tokens and values as objects. The adapter returns 1 if @f
failed. Arguments that @f itself awaits are last in the frame, because the kernel starts without
waiting for them.

The adapter calls functions of the runtime. `tfrt_runtime.native.kernels.compiled_kernels` defines
the words of which a request for a buffer consists.

Hot functions of host programs have another entry point. The host calls it with an attempt, a block
of words that also says how long the code may run:

    define i64 @code(ptr %attempt)

The code takes its arguments from the words of the attempt (`native.layouts`, ATTEMPT_*), and stores
its results there. From time to time, the code checks whether to continue. In other modules,
functions take the end of the stack as a parameter. In a module with attempts, this parameter is the
attempt, which contains the end of the stack and the fuel. The fuel is the number of operations that
the code may execute before it must ask the host.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FunctionType,
    IntegerType,
    MemRefType,
)
from xdsl.ir import Attribute, Operation

from tfrt_nb.dialects.async_.types import ValueType
from tfrt_nb.dialects.crossing import is_awaited
from tfrt_nb.jit.function_body import LIVE_COUNTER, STACK_LIMIT, FunctionBody, ModuleText
from tfrt_nb.jit.llvm_types import llvm_type, result_type, size_of
from tfrt_nb.jit.names import adapter_name, global_symbol
from tfrt_nb.passes.lowering.await_in_calls import FALLIBLE
from tfrt_runtime.native import layouts as at

CHECK = 4
"""The fuel that a check uses. One iteration or one call usually contains a few operations."""
_ASK = f"""\
define internal i1 @__asks_to_stop(ptr %attempt) noinline cold {{
  %ask.place = getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_ASK}
  %ask = load ptr, ptr %ask.place
  %fuel = call i64 %ask(ptr %attempt)
  %fuel.place = getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_FUEL}
  store i64 %fuel, ptr %fuel.place
  %stops = icmp sle i64 %fuel, 0
  ret i1 %stops
}}"""


def burn_fuel(body: FunctionBody, op: Operation) -> None:
    """Lower `async.runtime.interrupt_is_pending`, whose result is true if the fuel is used up."""
    place = body.value(f"getelementptr i8, ptr {STACK_LIMIT}, i64 {at.ATTEMPT_FUEL}")
    left = body.value(f"sub i64 {body.value(f'load i64, ptr {place}')}, {CHECK}")
    body.emit(f"store i64 {left}, ptr {place}")
    body.bind(op.results[0], seldom(body, body.value(f"icmp slt i64 {left}, 0")))


def seldom(body: FunctionBody, condition: str) -> str:
    """Return a condition that LLVM assumes to be false in most cases."""
    return body.call("llvm.expect.i1", "i1", ("i1", condition), ("i1", "false"))


def ask_to_stop(body: FunctionBody, op: Operation) -> None:
    """Lower `async.runtime.is_interrupted`."""
    body.module.helpers["ask"] = _ASK
    body.set(op.results[0], f"call i1 @__asks_to_stop(ptr {STACK_LIMIT})")


def attempt_entry(module: ModuleText, op: func.FuncOp) -> str:
    """Return the entry point through which an attempt calls a function from words to words."""
    name, outputs = op.sym_name.data, op.function_type.outputs.data
    is_fallible = FALLIBLE in op.attributes
    frame = module.declare("llvm.frameaddress.p0", "ptr", "i32")
    lines = [
        # In this word, the caller passes the size of the remaining stack, but the code needs the
        # address at which the stack ends.
        f"%frame = call ptr {frame}(i32 0)",
        "%room = load i64, ptr %attempt",
        "%below = sub i64 0, %room",
        "%end = getelementptr i8, ptr %frame, i64 %below",
        "store ptr %end, ptr %attempt",
        f"%words.place = getelementptr i8, ptr %attempt, i64 {at.ATTEMPT_ARGUMENTS}",
        "%words = load ptr, ptr %words.place",
    ]
    given = [f"i64 %a{index}" for index in range(len(op.function_type.inputs))]
    for index in range(len(given)):
        lines += [
            f"%a{index}.place = getelementptr i64, ptr %words, i64 {index}",
            f"%a{index} = load i64, ptr %a{index}.place",
        ]
    returns = result_type(outputs)
    arguments = ", ".join([*given, "ptr %attempt"])
    call = f"call {returns} {module.limited_function(name)}({arguments})"
    lines.append(f"%r = {call}" if outputs else call)
    for index in range(len(outputs)):
        is_one = len(outputs) == 1
        value = f"{returns} %r" if is_one else f"i64 %r{index}"
        if not is_one:
            lines.append(f"%r{index} = extractvalue {returns} %r, {index}")
        if index >= is_fallible:
            place = at.ATTEMPT_RESULTS + 8 * (index - is_fallible)
            lines += [
                f"%p{index} = getelementptr i8, ptr %attempt, i64 {place}",
                f"store {value}, ptr %p{index}",
            ]
    failed = "false" if not is_fallible else "%r" if len(outputs) == 1 else "%r0"
    lines += [f"%done = xor i1 {failed}, true", "%word = zext i1 %done to i64", "ret i64 %word"]
    body = "\n  ".join(lines)
    return f"define i64 {global_symbol(name)}(ptr %attempt) {{\n  {body}\n}}"


_BITS: dict[type[Attribute], tuple[str, str]] = {
    Float16Type: ("half", "i16"),
    BFloat16Type: ("bfloat", "i16"),
    Float32Type: ("float", "i32"),
    Float64Type: ("double", "i64"),
}


def argument_order(types: Sequence[Attribute]) -> list[int]:
    """Return the argument indices in frame order, with awaited arguments last."""
    return sorted(range(len(types)), key=lambda index: is_awaited(types[index]))


def has_buffers(type_: FunctionType) -> bool:
    """Return whether a function takes or returns buffers."""
    return any(
        isinstance(t, MemRefType) or _awaited_buffer(t) is not None
        for t in (*type_.inputs, *type_.outputs)
    )


def _awaited_buffer(type_: Attribute) -> MemRefType[Attribute] | None:
    """Return the buffer type T of a `!async.value<T>`, or None for other types."""
    held = type_.value_type if isinstance(type_, ValueType) else None
    return held if isinstance(held, MemRefType) else None


@dataclass
class _Adapter:
    module: ModuleText
    lines: list[str] = field(default_factory=list)

    def emit(self, line: str) -> None:
        self.lines.append(f"  {line}")

    def call(self, name: str, *operands: str, result: str = "") -> None:
        prefix = f"{result} = " if result else ""
        self.emit(f"{prefix}{self.module.runtime_call(name, *operands)}")

    def count(self, step: int) -> None:
        if self.module.counts:
            # The step makes the two names of an adapter unique, as LLVM requires.
            self.emit(f"%live{step + 1} = atomicrmw add ptr {LIVE_COUNTER}, i64 {step} acq_rel")

    # Arguments

    def take(self, place: int, name: str, type_: Attribute) -> None:
        """Bind `name` to the argument at `place` in the frame. The argument is not a buffer."""
        if is_awaited(type_):
            where = "%context", "%record", str(place)
            if (buffer := _awaited_buffer(type_)) is not None:
                size = size_of(llvm_type(buffer))
                self.call("tfrtKernelBufferObject", *where, size, self._spec(buffer), result=name)
            else:
                self.call("tfrtKernelObject", *where, result=name)
            return
        self.call("tfrtKernelArgument", "%context", str(place), result=f"{name}.place")
        text = llvm_type(type_)
        if text == "i1":
            # In memory, an i1 is a byte.
            self.emit(f"{name}.byte = load i8, ptr {name}.place, align 8")
            self.emit(f"{name} = trunc i8 {name}.byte to i1")
        else:
            self.emit(f"{name} = load {text}, ptr {name}.place, align 8")

    def borrow(
        self, place: int, name: str, type_: MemRefType[Attribute], *, is_first: bool
    ) -> None:
        """Bind `name` to the descriptor of the tensor at `place` in the frame.

        The adapter returns 1 if the tensor does not match the type.
        """
        words = self._words(name, place, type_, is_first=is_first)
        self.call("tfrtKernelBorrowBuffer", "%context", words, result=f"{name}.wrong")
        label = name.removeprefix("%")
        self.emit(f"br i1 {name}.wrong, label %refused, label %{label}.go")
        self.lines.append(f"{label}.go:")
        self.emit(f"{name} = load {llvm_type(type_)}, ptr {name}.descriptor")

    def _words(
        self, name: str, place: int, type_: MemRefType[Attribute], *, is_first: bool = False
    ) -> str:
        values = (
            "ptr %record",
            f"i64 {place}",
            f"ptr {self._spec(type_)}",
            f"ptr {name}.descriptor",
            f"i64 {int(is_first)}",
        )
        for index, value in enumerate(values):
            self.emit(f"{name}.word{index} = getelementptr i64, ptr {name}.words, i64 {index}")
            self.emit(f"store {value}, ptr {name}.word{index}")
        return f"{name}.words"

    def _spec(self, type_: MemRefType[Attribute]) -> str:
        """Return a constant that describes a buffer type to Python."""
        text, length = self.module.text(buffer_text(type_))
        return self.module.constant(
            f"{{ ptr, i64, ptr }} {{ ptr {text}, i64 {length}, ptr {LIVE_COUNTER} }}"
        )

    def reserve(self, name: str, type_: MemRefType[Attribute]) -> None:
        """Reserve stack space for a descriptor and for the words of a request.

        This must happen in the function's first block.
        """
        self.emit(f"{name}.descriptor = alloca {llvm_type(type_)}")
        self.emit(f"{name}.words = alloca [5 x i64]")

    # Results

    def give(self, index: int, name: str, type_: Attribute) -> None:
        """Return a result to the kernel. The result must not be a buffer."""
        place = "%context", "%record", str(index)
        if (buffer := _awaited_buffer(type_)) is not None:
            self.call("tfrtKernelReturnBufferObject", *place, name, self._spec(buffer))
        elif is_awaited(type_):
            self.call("tfrtKernelReturnObject", *place, name)
        else:
            self.call("tfrtKernelReturn", *place, self._word(name, type_))

    def give_buffer(self, index: int, name: str, type_: MemRefType[Attribute]) -> None:
        """Return a result that is a buffer to the kernel."""
        self.emit(f"store {llvm_type(type_)} {name}, ptr {name}.descriptor")
        self.call("tfrtKernelReturnBuffer", "%context", self._words(name, index, type_))

    def _word(self, name: str, type_: Attribute) -> str:
        text = llvm_type(type_)
        if type(type_) in _BITS:
            source, text = _BITS[type(type_)]
            self.emit(f"{name}.bits = bitcast {source} {name} to {text}")
            name = f"{name}.bits"
        if text == "i64":
            return name
        extend = "zext" if text == "i1" or not isinstance(type_, IntegerType) else "sext"
        self.emit(f"{name}.word = {extend} {text} {name} to i64")
        return f"{name}.word"


def kernel_adapter(module: ModuleText, op: func.FuncOp) -> str:
    """Return the adapter of a function that the passes have lowered."""
    adapter = _Adapter(module)
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    is_fallible = FALLIBLE in op.attributes
    results = list(enumerate(outputs))[int(is_fallible) :]
    for name, type_ in _buffers("x", enumerate(inputs)) + _buffers("r", results):
        adapter.reserve(name, type_)
    # Count the call first: lent tensors are kept for calls that are already counted.
    adapter.count(1)
    _take_all(adapter, inputs)
    _call(adapter, op)
    # If the function fails, its async results still exist: they are errors.
    _give_all(adapter, [(i, t) for i, t in results if is_awaited(t)], int(is_fallible))
    if is_fallible:
        adapter.emit("br i1 %r0, label %refused, label %succeeded")
        adapter.lines.append("succeeded:")
    # The other results of a failed function are poison, so return them only if the function
    # succeeded.
    _give_all(adapter, [(i, t) for i, t in results if not is_awaited(t)], int(is_fallible))
    adapter.count(-1)
    adapter.emit("ret i64 0")
    if is_fallible or _buffers("x", enumerate(inputs)):
        adapter.lines.append("refused:")
        if module.counts:
            adapter.emit(f"%live = atomicrmw add ptr {LIVE_COUNTER}, i64 -1 acq_rel")
        adapter.emit("ret i64 1")
    body = "\n".join(adapter.lines)
    name = adapter_name(op.sym_name.data)
    return f'define i64 @"{name}"(ptr %context, ptr %record) {{\n{body}\n}}'


def _buffers(
    letter: str, types: Iterable[tuple[int, Attribute]]
) -> list[tuple[str, MemRefType[Attribute]]]:
    return [(f"%{letter}{i}", t) for i, t in types if isinstance(t, MemRefType)]


def _take_all(adapter: _Adapter, inputs: Sequence[Attribute]) -> None:
    """Fetch the arguments, buffers first.

    If a buffer is rejected, the adapter then holds no references that it must drop.
    """
    places = {index: place for place, index in enumerate(argument_order(inputs))}
    # The first request drops the tensors that finished calls borrowed. A later one must not,
    # because it would drop those of this call.
    is_first = True
    for index, type_ in enumerate(inputs):
        if isinstance(type_, MemRefType):
            adapter.borrow(places[index], f"%x{index}", type_, is_first=is_first)
            is_first = False
    for index, type_ in enumerate(inputs):
        if not isinstance(type_, MemRefType):
            adapter.take(places[index], f"%x{index}", type_)


def _call(adapter: _Adapter, op: func.FuncOp) -> None:
    inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
    arguments = ", ".join(f"{llvm_type(type_)} %x{i}" for i, type_ in enumerate(inputs))
    returns = result_type(outputs)
    call = f"call {returns} {adapter.module.function(op.sym_name.data)}({arguments})"
    if len(outputs) < 2:
        adapter.emit(f"%r0 = {call}" if outputs else call)
    else:
        adapter.emit(f"%r = {call}")
        for index in range(len(outputs)):
            adapter.emit(f"%r{index} = extractvalue {returns} %r, {index}")


def _give_all(adapter: _Adapter, results: Sequence[tuple[int, Attribute]], skipped: int) -> None:
    for index, type_ in results:
        if isinstance(type_, MemRefType):
            adapter.give_buffer(index - skipped, f"%r{index}", type_)
        else:
            adapter.give(index - skipped, f"%r{index}", type_)


def buffer_text(type_: MemRefType[Attribute]) -> str:
    """Return a buffer's sizes and element type as text, such as `?x4xf32`."""
    sizes = ["?" if size == DYNAMIC_INDEX else str(size) for size in type_.get_shape()]
    return "x".join([*sizes, str(type_.element_type)])
