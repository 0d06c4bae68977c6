"""The sync functions of a program, laid out for the interpreter.

For the rest of the program a sync function has one kernel, which runs its code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.executor.loading.arena import Arena
from tfrt_runtime.executor.loading.decode import Call, FunctionWriter, write_constant
from tfrt_runtime.executor.loading.native_functions import one_kernel
from tfrt_runtime.executor.sync.sync_lowering import Lowering, SyncFunction
from tfrt_runtime.executor.sync.sync_writer import reserve_code, write_code
from tfrt_runtime.kernels.registry import ControlKernel, Kernel, PythonKernel
from tfrt_runtime.native.layouts import KERNEL_CONTROL
from tfrt_runtime.native.sync.sync_layouts import CALL, CODE_MACHINE

CONTROL = frozenset(
    f"control_kernels.{name}" for name in ("call", "cond", "case", "repeat", "while_loop")
)
"""Control kernels that can wait for what they call."""

INTERPRETER = "sync_interpreter.run"


def runs_in_sync(kernel: Kernel) -> bool:
    """Whether a kernel may be in a sync function.

    An ordinary Python function has its results when it returns, so it may.
    """
    if isinstance(kernel, ControlKernel):
        return kernel.symbol in CONTROL
    if isinstance(kernel, PythonKernel):
        return kernel.sync or not (kernel.raw or kernel.blocking or kernel.lazy)
    return kernel.sync


def with_sync_regions(functions: Sequence[BefFunction]) -> tuple[BefFunction, ...]:
    """The same functions, but the regions in sync functions are sync: files do not say so."""
    marked = list(functions)
    pending = [function for function in functions if function.kind is FunctionKind.SYNC]
    while pending:
        for kernel in pending.pop().kernels:
            for index in kernel.functions:
                region = marked[index]
                if region.name == "" and region.kind is FunctionKind.ASYNC:
                    marked[index] = replace(region, kind=FunctionKind.SYNC)
                    pending.append(region)
    return tuple(marked)


class SyncFunctions:
    """Writes what is needed of the sync functions of a program."""

    def __init__(
        self,
        arena: Arena,
        symbols: Callable[[str], int],
        functions: Sequence[SyncFunction],
        machines: Mapping[int, int],
        *,
        watched: bool,
    ) -> None:
        """
        Args:
            functions: those of the program, of any kind, in the order of the file.
            machines: where the arena has what the core knows of the machine code of functions, by index.
            watched: the code logs each value in runs that are watched; it is slower in all.
        """
        self._arena = arena
        self._symbols = symbols
        self._functions = functions
        self._machines = machines
        self._watched = watched
        self._codes: dict[int, int] = {}
        self._pending: list[int] = []

    def write(self, function_offsets: Sequence[int]) -> None:
        """Fill the function structs of sync functions; regions of sync functions need none."""
        called = set[int]().union(*map(_called_from_outside, self._functions))
        for index, source in enumerate(self._functions):
            function = source.function
            if function.kind is FunctionKind.SYNC and (function.name or index in called):
                self._write_shell(source, function_offsets[index], self._code(index))
        while self._pending:
            self._write_code(self._pending.pop())

    def _write_shell(self, source: SyncFunction, offset: int, code: int) -> None:
        function = one_kernel(source.function, INTERPRETER)
        call = Call(self._symbols(INTERPRETER), KERNEL_CONTROL, code=code)
        writer = FunctionWriter(self._arena, function, {}, [call], source.first_handle)
        writer.write(offset, [], shell=True)

    def _code(self, index: int) -> int:
        """Where the code of a function is going to be."""
        if index not in self._codes:
            function = self._functions[index].function
            arguments, results = len(function.argument_types), len(function.result_types)
            self._codes[index] = reserve_code(self._arena, arguments, results)
            self._pending.append(index)
        return self._codes[index]

    def _write_code(self, index: int) -> None:
        box = functools.partial(write_constant, self._arena)
        code = Lowering(self._functions, box, self._watched).lower(index)
        callees = {
            instruction.callee: self._code(instruction.callee)
            for instruction in code.instructions
            if instruction.operation == CALL
        }
        resume = self._symbols("sync_interpreter.resume")
        write_code(self._arena, self._codes[index], code, callees, resume)
        if index in self._machines:
            self._arena.put_address(self._codes[index] + CODE_MACHINE, self._machines[index])


def _called_from_outside(source: SyncFunction) -> set[int]:
    """The functions that a function calls otherwise than sync code calls sync code."""
    if source.function.kind is not FunctionKind.SYNC:
        return source.function.callees
    called = set[int]()
    for kernel, record in zip(source.kernels, source.function.kernels, strict=True):
        if not isinstance(kernel, ControlKernel):
            called.update(record.functions)
    return called
