"""Programs for the interpreter instead of machine code: `compiled.module` chooses.

The input is that of `jit.coroutines`: functions after the passes. Each becomes a function of
Python, and each function that kernels of host programs call gets an adapter, which does what
`jit.adapters` writes.
"""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from collections.abc import Callable, Collection, Mapping
from typing import Any

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute
from xdsl.passes import ModulePass

from tfrt_nb.dialects.async_.extensions import RuntimeStackIsLowOp
from tfrt_nb.dialects.async_.types import ValueType
from tfrt_nb.dialects.crossing import is_awaited
from tfrt_nb.interpreter import buffers
from tfrt_nb.interpreter.functions import function_text
from tfrt_nb.interpreter.machine import Machine
from tfrt_nb.interpreter.memory import Records, storage_of
from tfrt_nb.interpreter.rounding import width_of
from tfrt_nb.interpreter.source import ModuleSource
from tfrt_nb.jit.adapters import argument_order, buffer_text, has_buffers
from tfrt_nb.jit.declarations import Externals, check_declarations
from tfrt_nb.jit.lowering import after_passes
from tfrt_nb.jit.names import adapter_name
from tfrt_nb.nesting import deep_stack
from tfrt_nb.passes.control_flow import operations_in
from tfrt_nb.passes.errors import fail
from tfrt_nb.passes.lowering.propagate_failures import FALLIBLE
from tfrt_runtime.bef.records import collector_paused
from tfrt_runtime.host.structs import new_words
from tfrt_runtime.scalars import wrapped

MODULE = "tfrt_runtime.interpreted"
"""The module of interpreted functions: Ctrl-C does not interrupt code of the runtime."""
_DEEPEST = 4000
"""The most calls within each other; `deep_stack` has ten times as many frames."""
_Adapter = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


class InterpretedCode:
    """Functions of Python that do what a program's machine code would do."""

    is_interpreted = True

    def __init__(
        self,
        module: ModuleOp,
        externals: Externals,
        addresses: Mapping[str, int],
        adapted: Collection[str],
    ) -> None:
        """Translate a module, which is the output of the passes.

        `externals` are the declared functions that Python implements, `addresses` has those of the
        runtime; kernels call the functions `adapted`.

        Raises:
            PassError: at an operation or a function that cannot be compiled.
        """
        self._records = Records()
        self.machine = Machine(addresses, self._records, _DEEPEST)
        ops = [*module.body.block.ops]
        functions = {
            op.sym_name.data: op
            for op in ops
            if isinstance(op, func.FuncOp) and not op.is_declaration
        }
        source = ModuleSource(
            self.machine,
            functions,
            self._records,
            addresses,
            externals,
            counts_calls=any(isinstance(op, RuntimeStackIsLowOp) for op in operations_in(module)),
        )
        for op in ops:
            if isinstance(op, memref.GlobalOp):
                source.globals[op.sym_name.data] = buffers.new_global(self._records, op)
            elif not isinstance(op, func.FuncOp):
                fail(op, f"'{op.name}' cannot be compiled")
        self.text = "\n".join(function_text(source, op) for op in functions.values())
        scope: dict[str, Any] = {"__name__": MODULE, **source.scope}
        exec(compile(self.text, "<interpreted>", "exec"), scope)  # noqa: S102 - it is our own text
        self.functions: dict[str, Callable[..., Any]] = {
            name: scope[source.function(name)] for name in functions
        }
        if any(has_buffers(functions[name].function_type) for name in adapted):
            self.machine.live = self._records.words(0)
        if source.counts_calls:
            # Tasks outlive their runs, so the program's stack is deep as long as there is its code.
            depth = contextlib.ExitStack()
            depth.enter_context(deep_stack())
            weakref.finalize(self, depth.close)
        self._adapters = {
            adapter_name(name): _Adapter(self._adapter(functions[name])) for name in adapted
        }

    def address(self, name: str) -> int:
        """Return the address of an adapter.

        Raises:
            KeyError: if no function has an adapter of that name.
        """
        return ctypes.cast(self._adapters[name], ctypes.c_void_p).value or 0

    def _adapter(self, op: func.FuncOp) -> Callable[[int, int], int]:
        """Return a function that fetches arguments from a kernel's frame, calls, and returns."""
        machine, called = self.machine, self.functions[op.sym_name.data]
        inputs, outputs = op.function_type.inputs.data, op.function_type.outputs.data
        is_fallible = FALLIBLE in op.attributes
        places = [argument_order(inputs).index(i) for i in range(len(inputs))]
        takers = [self._taker(*one) for one in zip(places, inputs, strict=True)]
        # Buffers first: if one is rejected, there is nothing to drop yet.
        order = sorted(range(len(inputs)), key=lambda i: not isinstance(inputs[i], MemRefType))
        results = outputs[is_fallible:]
        givers = [self._giver(*one) for one in enumerate(results)]
        awaited = [i for i, type_ in enumerate(results) if is_awaited(type_)]
        others = [i for i, type_ in enumerate(results) if not is_awaited(type_)]

        def call(context: int, record: int) -> int:
            machine.count(1)
            values: list[Any] = [None] * len(takers)
            for number, index in enumerate(order):
                values[index] = takers[index](context, record, number == 0)
                if values[index] is None:
                    machine.count(-1)
                    return 1
            returned = called(*values)
            found = [returned] if len(outputs) == 1 else [*returned] if outputs else []
            has_failed = is_fallible and found.pop(0)
            # The async results of a failed function are in error, but they exist.
            for index in (*awaited, *(() if has_failed else others)):
                givers[index](context, record, found[index])
            machine.count(-1)
            return int(has_failed)

        def adapter(context: int, record: int) -> int:
            try:
                return call(context, record)
            except BaseException as problem:  # noqa: BLE001 - nothing may pass through the core
                machine.abi("tfrtAsyncFail")(machine.failure(problem))
                machine.count(-1)
                return 1

        return adapter

    def _taker(self, place: int, type_: Attribute) -> Callable[[int, int, bool], Any]:
        """Return a function that fetches an argument; None is a buffer that does not match."""
        abi, spec = self.machine.abi, self._spec(type_)
        storage = storage_of(type_)
        if isinstance(type_, MemRefType):
            borrow = abi("tfrtKernelBorrowBuffer")

            def take(context: int, record: int, is_first: bool) -> Any:
                _descriptor, address = _new(storage.size)
                words, request = _new(40)
                words[:5] = [record, place, spec, address, is_first]
                return None if borrow(context, request) & 1 else storage.read(address)

            return take
        if spec:
            assert isinstance(type_, ValueType)
            size, make = storage_of(type_.value_type).size, abi("tfrtKernelBufferObject")
            return lambda context, record, _: make(context, record, place, size, spec)
        if is_awaited(type_):
            made = abi("tfrtKernelObject")
            return lambda context, record, _: made(context, record, place)
        argument = abi("tfrtKernelArgument")
        return lambda context, _record, _: storage.read(argument(context, place))

    def _giver(self, index: int, type_: Attribute) -> Callable[[int, int, Any], object]:
        """Return a function that returns a result to the kernel."""
        abi, spec = self.machine.abi, self._spec(type_)
        storage = storage_of(type_)
        if isinstance(type_, MemRefType):
            give = abi("tfrtKernelReturnBuffer")

            def give_buffer(context: int, record: int, value: Any) -> None:
                _descriptor, address = _new(storage.size)
                storage.write(address, value)
                words, request = _new(40)
                words[:5] = [record, index, spec, address, 0]
                give(context, request)

            return give_buffer
        if is_awaited(type_):
            name, more = ("BufferObject", [spec]) if spec else ("Object", [])
            made = abi(f"tfrtKernelReturn{name}")
            return lambda context, record, value: made(context, record, index, value, *more)
        made, is_word = abi("tfrtKernelReturn"), width_of(type_) > 0

        def give_word(context: int, record: int, value: Any) -> None:
            word = value if is_word else int.from_bytes(storage.pack(value), "little")
            made(context, record, index, wrapped(int(word)))

        return give_word

    def _spec(self, type_: Attribute) -> int:
        """Return the address of what describes a buffer to Python; 0 for other types."""
        held = type_.value_type if isinstance(type_, ValueType) else type_
        if not isinstance(held, MemRefType):
            return 0
        return self._records.words(*self._records.text(buffer_text(held)), self.machine.live)


def _new(size: int) -> tuple[Any, int]:
    words = new_words(size)
    return words, ctypes.addressof(words)


def interpret_program(
    module: ModuleOp,
    addresses: Mapping[str, int],
    *first: ModulePass,
    adapted: Collection[str] = (),
    level: int = 1,
) -> InterpretedCode:
    """Return the program for the interpreter; arguments as for `jit.programs.compile_program`."""
    externals = check_declarations(module)
    with collector_paused():
        lowered = after_passes(module, externals, first, level, adapted, spawn=False)
        return InterpretedCode(lowered, externals, addresses, adapted)
