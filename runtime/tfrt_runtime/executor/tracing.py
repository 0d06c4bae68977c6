"""Events of a program that was loaded for tracing: each call of a function, and each kernel.

The native core reports calls of functions that are marked.  A traced kernel goes through a callback
instead of being called; only programs that are loaded for `Level.DEBUG` have such kernels.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.executor.arena import Arena
from tfrt_runtime.executor.decode import Call
from tfrt_runtime.host.context import Request
from tfrt_runtime.host.process import Callback2, native_process
from tfrt_runtime.host.raw import WORDS
from tfrt_runtime.host.trace import Level, Tracing
from tfrt_runtime.native.layouts import (
    ACTIVATION_REQUEST,
    CONTEXT_REQUEST,
    FUNCTION_FLAGS,
    FUNCTION_HANDLE,
    FUNCTION_TRACED,
)

RUN_SCOPE = "Bef Executor"
REGION = "region"


def function_scope(function: BefFunction) -> str:
    """What a call of a function is called in a trace."""
    return f"Function: {function.name or REGION}"


@dataclass(frozen=True, slots=True)
class TracedKernel:
    """A kernel that goes through a callback: its name, and how it is called without the GIL."""

    name: str
    call: Callable[[int, int], int]


class ProgramTracing:
    """The tracing of one loaded program, for the level it was loaded for."""

    def __init__(self, level: Level, functions: Sequence[BefFunction]) -> None:
        self._level = level
        self._scopes = [function_scope(function) for function in functions]
        self._kernels: dict[int, TracedKernel] = {}
        self._process = native_process()
        self._ends: dict[int, Callable[[], None]] = {}

    @property
    def tells_of_kernels(self) -> bool:
        """Whether kernels go through a callback."""
        return self._level >= Level.DEBUG

    def through_callback(
        self, function: BefFunction, first_number: int, calls: Sequence[Call | None]
    ) -> list[Call | None]:
        """The calls of a function's kernels, as they are loaded for this level."""
        if not self.tells_of_kernels:
            return list(calls)
        for number, (kernel, call) in enumerate(
            zip(function.kernels, calls, strict=True), first_number
        ):
            if call is not None:
                self._kernels[number] = TracedKernel(kernel.name, Callback2(call.address))
        told = self._process.traced_kernel
        return [call and replace(call, address=told) for call in calls]

    def mark(self, arena: Arena, offset: int, handle: int) -> None:
        """Let the native core tell of the calls of the function at `offset`."""
        arena.put(offset + FUNCTION_HANDLE, handle)
        if self._level > Level.NONE:
            flags = arena.words[(offset + FUNCTION_FLAGS) // 8]
            arena.put(offset + FUNCTION_FLAGS, flags | FUNCTION_TRACED)

    def call_begins(self, activation: int, index: int) -> None:
        """Function `index` is called; its activation has this address until it ends."""
        tracing = _tracing_of(WORDS[(activation + ACTIVATION_REQUEST) >> 3])
        if tracing is not None:
            end = tracing.begin(Level.DEFAULT, self._scopes[index], activation)
            self._ends[activation] = end

    def call_ends(self, activation: int) -> None:
        """The call is over.  A loop whose condition comes late says so more than once."""
        if (end := self._ends.pop(activation, None)) is not None:
            end()

    def run_kernel(
        self, context: int, record: int, number: int, run_python: Callable[[], None] | None
    ) -> None:
        """Run a kernel that goes through a callback; a Python kernel by `run_python`."""
        kernel = self._kernels[number]
        tracing = _tracing_of(WORDS[(context + CONTEXT_REQUEST) >> 3])
        silent = contextlib.nullcontext()
        with silent if tracing is None else tracing.scope(Level.DEBUG, kernel.name):
            if run_python is None:
                kernel.call(context, record)
            else:
                run_python()


def _tracing_of(request: int) -> Tracing | None:
    owner = native_process().requests[request]
    assert isinstance(owner, Request)
    return owner.host.tracing
