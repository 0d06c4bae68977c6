"""The functions of a program that may become machine code, and when they do.

The runtime has no compiler: `hooks` has one, if there is one.  Native code counts what it
interprets of each function (`native.calls.machine_calls`), and says here that a function is hot.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Protocol

from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.diagnostics import Diagnostic, note
from tfrt_runtime.executor.loading.arena import Arena
from tfrt_runtime.executor.sync.sync_code import CONTROL, OPERATIONS, register_type
from tfrt_runtime.executor.sync.sync_lowering import NEW_CHAIN, SyncFunction
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.structs import Machine
from tfrt_runtime.kernels.registry import (
    CompiledKernel,
    ConstantKernel,
    ControlKernel,
    Kernel,
    NativeKernel,
)
from tfrt_runtime.native import layouts as at

LLVM_TYPES = {
    at.TYPE_CHAIN: "i64",
    at.TYPE_I1: "i1",
    at.TYPE_I8: "i8",
    at.TYPE_I16: "i16",
    at.TYPE_I32: "i32",
    at.TYPE_I64: "i64",
    at.TYPE_F32: "float",
    at.TYPE_F64: "double",
}
"""What machine code can have in its registers, by the type of a payload; a chain is 0."""

MAX_KERNELS = 2000
"""A function with more takes LLVM longer than it is worth."""

HOT = 1 << 21
"""Kernels after which a function is hot: they take the interpreter 10 ms, as long as compiling
does.
"""
HOT_AT_FIRST = 1 << 24
"""The same until the compiler is imported, which takes ten times as long."""


class Tier(StrEnum):
    """What runs functions of scalars: the interpreter, machine code, or machine code when they
    are hot.
    """

    AUTO = "auto"
    INTERPRETER = "interpreter"
    COMPILED = "compiled"

    @property
    def number(self) -> int:
        """`layouts.TIER_*`"""
        return _NUMBERS[self]


_NUMBERS = {tier: number for number, tier in enumerate(Tier)}
AUTO = Tier.AUTO
"""A name of the module, as each look into an enumeration takes as long as a call."""


class Code(Protocol):
    """Machine code, which lives as long as this object."""

    def address(self, name: str) -> int:
        """Where the function starts."""


class Compiler(Protocol):
    """Makes machine code of host functions."""

    @property
    def is_imported(self) -> bool:
        """Whether it is ready to work at once."""

    def compile(self, functions: Mapping[int, SyncFunction], index: int) -> Code:
        """Machine code of function `index` and those that it calls, whose function `entry` is
        called as MACHINE_CODE says.

        Raises:
            Uncompilable: at the first kernel that cannot be machine code.
            ImportError: if there is no compiler after all.
        """


class Uncompilable(Exception):
    """A function cannot be machine code, because of kernel `kernel` of function `index`, or
    None: the types.
    """

    def __init__(self, reason: str, index: int, kernel: int | None = None) -> None:
        super().__init__(reason)
        self.index, self.kernel = index, kernel


def is_known(kernel: Kernel) -> bool:
    """Whether machine code can do what a kernel does."""
    if isinstance(kernel, ControlKernel):
        return kernel.symbol in CONTROL
    if isinstance(kernel, NativeKernel):
        return kernel.symbol in OPERATIONS or kernel.symbol == NEW_CHAIN
    return isinstance(kernel, ConstantKernel)


class MachineFunctions:
    """The functions of one program."""

    def __init__(self, arena: Arena, ask: Callable[[str], int], first: int) -> None:
        """`ask` gives the address of a native function, `first` is the number of the program."""
        self._arena, self._symbol, self._first = arena, ask, first
        self._functions: dict[int, SyncFunction] = {}
        self.offsets: dict[int, int] = {}
        """Where the arena has the MACHINE_* words, by index."""
        self._base = 0
        self._codes: dict[int, Code] = {}
        self._refused: dict[int, Uncompilable] = {}
        self._lock = threading.RLock()

    def add(self, index: int, source: SyncFunction, function: int) -> None:
        """Function `index`, whose struct is at an offset of the arena, if there is a compiler."""
        own = source.function
        if HOOKS.compiler is None or len(own.kernels) > MAX_KERNELS:
            return
        self._functions[index] = source
        types = [register_type(text) for text in (*own.argument_types, *own.result_types)]
        known = {id(kernel): kernel for kernel in source.kernels}.values()
        if any(one not in LLVM_TYPES for one in types) or not all(map(is_known, known)):
            return
        arena = self._arena
        offset = self.offsets[index] = arena.reserve(at.MACHINE_TYPES // 8)
        arena.add(*types)
        hot = HOT if HOOKS.compiler.is_imported else HOT_AT_FIRST
        for place, word in (
            (at.MACHINE_LEFT, hot),
            (at.MACHINE_NUMBER, self._first | index),
            (at.MACHINE_ASK, self._symbol("machine_calls.ask")),
            (at.MACHINE_ARGUMENTS, len(own.argument_types)),
            (at.MACHINE_RESULTS, len(own.result_types)),
        ):
            arena.put(offset + place, word)
        arena.put_address(function + at.FUNCTION_MACHINE, offset)

    def repeat(self, like: int, index: int, source: SyncFunction, moved: int) -> None:
        """Function `index` is like another one, whose words are once more `moved` bytes further
        on.
        """
        self._functions[index] = source
        if like in self.offsets:
            offset = self.offsets[index] = self.offsets[like] + moved
            self._arena.put(offset + at.MACHINE_NUMBER, self._first | index)

    def sealed(self, base: int) -> None:
        """The arena is at an address now."""
        self._base = base

    @property
    def may_be_hot(self) -> bool:
        """Whether there is a function for machine code that calls, or has a loop."""
        kernels = (self._functions[index].kernels for index in self.offsets)
        return any(isinstance(one, ControlKernel) for own in kernels for one in own)

    def is_machine_code(self, index: int) -> bool:
        """Whether a function is nothing but the call of one that another compiler made."""
        own = self._functions.get(index)
        kernels = () if own is None else own.kernels
        return (
            len(kernels) == 1
            and isinstance(kernels[0], CompiledKernel)
            and not kernels[0].interpreted
        )

    def why_interpreted(
        self, index: int, file: BefFile, *, is_watched: bool = False
    ) -> Diagnostic | None:
        """Compile a function now; a note if that is not possible, at the kernel that prevents
        it.
        """
        if self.is_machine_code(index):
            return None
        name, place = file.functions[index].name, file.functions[index].location
        refused = None
        if is_watched:
            text = "its events are logged"
        elif HOOKS.compiler is None:
            text = "there is no compiler"
        elif (refused := self.compile(index)) is None:
            return None
        else:
            text = str(refused)
        if refused is not None and refused.kernel is not None:
            place = self._functions[refused.index].function.kernels[refused.kernel].location
        return note(f"@{name} is interpreted: {text}", file.location(place))

    def compile(self, index: int) -> Uncompilable | None:
        """Make machine code of a function that has none; why not, if it cannot be."""
        with self._lock:
            if index in self._codes or HOOKS.compiler is None:
                return None
            if index not in self._refused:
                try:
                    code = HOOKS.compiler.compile(self._functions, index)
                except ImportError as missing:
                    self._refused[index] = Uncompilable(f"no compiler: {missing}", index)
                except Uncompilable as wrong:
                    # Without its traceback, which holds the run that asked, and so the results of
                    # that.
                    self._refused[index] = Uncompilable(str(wrong), wrong.index, wrong.kernel)
                except Exception as wrong:  # noqa: BLE001 - the function still runs, interpreted
                    self._refused[index] = Uncompilable(f"the compiler fails: {wrong!r}", index)
                else:
                    self._codes[index] = code
                    Machine.at(self._base + self.offsets[index]).code = code.address("entry")
                    return None
            if index in self.offsets:
                Machine.at(self._base + self.offsets[index]).left = at.MACHINE_NEVER
            return self._refused[index]
