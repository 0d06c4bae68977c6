"""The functions of a program that may become machine code, and their compilation.

A function is *hot* after many of its kernels have been interpreted.  Native code counts the kernels
of each function (`native.calls.machine_calls`), and reports hot functions to this module.  The
runtime itself has no compiler; `hooks` provides one if it is installed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from tfrt_runtime import scalars
from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.diagnostics import Diagnostic, note
from tfrt_runtime.executor.loading.decode import Arena, Call, Constant
from tfrt_runtime.executor.loading.native_functions import CONTROL
from tfrt_runtime.hooks import HOOKS
from tfrt_runtime.host.payload import SCALAR_TYPES
from tfrt_runtime.host.structs import Machine
from tfrt_runtime.kernels.registry import (
    CompiledKernel,
    ConstantKernel,
    ControlKernel,
    Kernel,
    NativeKernel,
)
from tfrt_runtime.native import layouts as at

NEW_CHAIN = "scalar_kernels.new_chain"
OPERATIONS = {f"scalar_kernels.{one.symbol}": one for one in scalars.OPERATIONS.values()}
"""The kernels that compute one operation, keyed by symbol."""

SCALARS = {SCALAR_TYPES[word]: word for word in scalars.TYPES}
"""The types of scalars that machine code can have in registers, keyed by payload type."""
CODE, LOOP = "code", "loop"
"""The names of the functions in machine code, for MACHINE_CODE and MACHINE_LOOP."""
BODIES = frozenset({"control_kernels.repeat", "control_kernels.while_loop"})
"""The kernels whose function is a loop body."""

MAX_KERNELS = 2000
"""The maximum number of kernels in a function that is compiled.

For larger functions, LLVM would take more time than machine code saves.
"""

HOT = 1 << 21
"""The number of interpreted kernels after which a function is hot.

Interpreting them takes 10 ms, as long as compiling a function.
"""
HOT_AT_FIRST = 1 << 24
"""The threshold that replaces `HOT` until the compiler is imported.

The import takes ten times as long as compiling a function.
"""


@dataclass(frozen=True, slots=True)
class LoadedFunction:
    """A function as the loader sees it.

    - `calls` contains None for constants.
    - `constants` are the constants, by register.
    - `first_handle` is the handle of the first kernel.
    - `handle` is the handle of the function.
    """

    function: BefFunction
    kernels: Sequence[Kernel]
    calls: Sequence[Call | None]
    constants: Mapping[int, Constant]
    first_handle: int
    handle: int


def register_type(text: str) -> int:
    """Return the payload type of an MLIR type, or TYPE_OBJECT if it is not a scalar."""
    return at.TYPE_CHAIN if text == "!tfrt.chain" else SCALAR_TYPES.get(text, at.TYPE_OBJECT)


class Tier(StrEnum):
    """How scalar functions run: interpreted, compiled, or compiled once they are hot (AUTO)."""

    AUTO = "auto"
    INTERPRETER = "interpreter"
    COMPILED = "compiled"

    @property
    def number(self) -> int:
        """The constant `layouts.TIER_*`."""
        return _NUMBERS[self]


# The members have the order of the constants `layouts.TIER_*`.
_NUMBERS = {tier: number for number, tier in enumerate(Tier)}
AUTO = Tier.AUTO
"""The member `Tier.AUTO`.

It has a module-level name because a lookup in an enumeration takes as long as a call.
"""


class Code(Protocol):
    """Machine code, which lives as long as this object."""

    def address(self, name: str) -> int:
        """Return the address of the function with the given name."""


class Uncompilable(Exception):
    """A function cannot be compiled.

    The reason is kernel number `kernel` of function `index`.  If `kernel` is None, the reason is
    the function's types.
    """

    def __init__(self, reason: str, index: int, kernel: int | None = None) -> None:
        super().__init__(reason)
        self.index, self.kernel = index, kernel


def is_known(kernel: Kernel) -> bool:
    """Return whether the kernel can be compiled to machine code."""
    match kernel:
        case ControlKernel():
            return kernel.symbol in CONTROL
        case NativeKernel():
            return kernel.symbol in OPERATIONS or kernel.symbol == NEW_CHAIN
    return isinstance(kernel, ConstantKernel)


class MachineFunctions:
    """Keeps the functions of one program that may be compiled to machine code when they are hot."""

    def __init__(self, arena: Arena, ask: Callable[[str], int], first: int) -> None:
        """Start without functions.

        `ask` returns the address of a native function, given its name.  `first` is the program's
        number.
        """
        self._arena, self._symbol, self._first = arena, ask, first
        self._functions: dict[int, LoadedFunction] = {}
        self.offsets: dict[int, int] = {}
        """The offset of each function's struct MACHINE in the arena, keyed by function index."""
        self._bodies: set[int] = set()
        """The functions that are bodies of loops."""
        self.base = 0
        self._codes: dict[int, Code] = {}
        self._refused: dict[int, Uncompilable] = {}
        self._lock = threading.RLock()

    def add(self, index: int, source: LoadedFunction, function: int) -> None:
        """Add function `index`, if there is a compiler and the function can be compiled.

        `function` is the offset of the function's struct in the arena.
        """
        own = source.function
        if HOOKS.compiler is None or len(own.kernels) > MAX_KERNELS:
            return
        # Note the function even if it cannot be compiled: `why_interpreted` may have to name one of
        # its kernels as the reason that its caller is interpreted.
        self._note(index, source)
        types = [register_type(text) for text in (*own.argument_types, *own.result_types)]
        # Check each kernel only once. The keys are identities, because hashing a kernel takes
        # longer.
        known = {id(kernel): kernel for kernel in source.kernels}.values()
        are_scalars = all(one in SCALARS or one == at.TYPE_CHAIN for one in types)
        if not are_scalars or not all(map(is_known, known)):
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

    def repeat(self, like: int, index: int, source: LoadedFunction, moved: int) -> None:
        """Add function `index`, which has the same shape as function `like`.

        The function's words are a copy of the words of `like`, `moved` bytes after them.
        """
        self._note(index, source)
        if like in self.offsets:
            offset = self.offsets[index] = self.offsets[like] + moved
            self._arena.put(offset + at.MACHINE_NUMBER, self._first | index)

    def _note(self, index: int, source: LoadedFunction) -> None:
        self._functions[index] = source
        for place, kernel in enumerate(source.kernels):
            if isinstance(kernel, ControlKernel) and kernel.symbol in BODIES:
                self._bodies.update(source.function.kernels[place].functions)

    @property
    def may_be_hot(self) -> bool:
        """Whether a function that can be compiled has calls or a loop."""
        kernels = (self._functions[index].kernels for index in self.offsets)
        return any(isinstance(one, ControlKernel) for own in kernels for one in own)

    def is_machine_code(self, index: int) -> bool:
        """Return whether a function only calls a function that another compiler has compiled."""
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
        """Compile a function now, and return None if it becomes machine code.

        Otherwise, return a note that says why the function is interpreted, located at the kernel
        that is the reason.
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
        """Compile a function that has no machine code yet.

        Return the reason if the function cannot be compiled.
        """
        with self._lock:
            # Another thread may have compiled the function while this thread waited for the lock.
            if index in self._codes or HOOKS.compiler is None:
                return None
            if index not in self._refused:
                try:
                    is_body = index in self._bodies
                    code = HOOKS.compiler.compile(self._functions, index, is_body=is_body)
                except ImportError as missing:
                    self._refused[index] = Uncompilable(f"no compiler: {missing}", index)
                except Uncompilable as wrong:
                    # Do not keep the traceback, which refers to the run and therefore to its
                    # results.
                    self._refused[index] = Uncompilable(str(wrong), wrong.index, wrong.kernel)
                except Exception as wrong:  # noqa: BLE001 - the function is interpreted
                    self._refused[index] = Uncompilable(f"the compiler fails: {wrong!r}", index)
                else:
                    self._codes[index] = code
                    words = Machine.at(self.base + self.offsets[index])
                    # Write the loop first: a thread that finds MACHINE_CODE reads MACHINE_LOOP
                    # immediately.
                    if is_body:
                        words.loop = code.address(LOOP)
                    words.code = code.address(CODE)
                    return None
            # Otherwise, each later call of the function would call Python to compile it.
            if index in self.offsets:
                Machine.at(self.base + self.offsets[index]).left = at.MACHINE_NEVER
            return self._refused[index]
