"""Files that call every kernel with anything.

Each file has a few calls whose arguments and results usually have the right number and types,
because the loader rejects others, and whose attributes and functions are random. No compiler has
checked it.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

from tests.fuzz.bef_drafts import counted

from tfrt_runtime.bef.records import BefFunction, BefKernel, BefModule, FunctionKind
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.executor.loading.type_check import UNKNOWN, _fits, _text
from tfrt_runtime.host.values.fitting import CHAIN_TYPE
from tfrt_runtime.kernels.registry import (
    ConstantKernel,
    ControlKernel,
    Kernel,
    NativeKernel,
)
from tfrt_runtime.kernels.standard import standard_kernels

# The attributes are a string, an array of i32, an array of i64, a shape, dense elements, and noise
# in between.
ATTRIBUTES = (
    struct.pack("<I", 5)
    + b"a/b.c\0\0\0"
    + struct.pack("<Iiii", 3, 1, -2, 3)
    + struct.pack("<Iqq", 2, 2, 3)
    + struct.pack("<BBHIIqq", 8, 0, 12, 28, 2, 2, 3)
    + struct.pack("<BBHIIIIqq6i", 8, 8, 36, 60, 36, 6, 2, 2, 3, 1, 2, 3, 4, 5, 6)
    + bytes(range(64))
)
OFFSETS = {"string": [0], "array.i32": [12], "array.i64": [28], "shape": [28, 48], "dense": [68]}
ANYWHERE = [0, 12, 28, 48, 68, 84, 120, 150]

SOURCES = {  # calls that create values of every kind
    "tfrt.new.chain": (),
    "tfrt.constant.i1": (1,),
    "tfrt.constant.i32": (1,),
    "tfrt.constant.i64": (1,),
    "tfrt.constant.f32": (1,),
    "tfrt_test.async_constant.i32": (1,),
    "tfrt_test.get_string": (0,),
    "ts.build_shape": (28,),
    "tfrt_dht.create_uninitialized_tensor.i32.2": (28,),
    "tfrt_dht.create_uninitialized_tensor.f32.2": (28,),
    "tfrt_test.atomic.create.i32": (),
    "tfrt_test.fail": (),
}
QUIET = {"tfrt_test.logging", "tfrt_test.memory_leak_one_int32"}
"""Kernels that are not called.

Those of `demo` need names of their attributes, which these files lack.
"""


KERNELS = standard_kernels()
WRONG = 0.005
"""The share of registers of any type, of wrong argument counts, and of unsuitable functions."""


class Writer:
    """Writes one function, call by call; `types` has its registers' types, as far as known."""

    def __init__(self, chance: random.Random, arguments: int) -> None:
        self.chance = chance
        self.arguments = arguments
        self.types = ["i32"] * arguments
        self.kernels: list[BefKernel] = []

    def add(
        self,
        kernel: Kernel,
        attributes: Sequence[int],
        arguments: Sequence[int] = (),
        functions: Sequence[int] = (),
        results: int = 1,
        is_nonstrict: bool = False,
    ) -> None:
        first = len(self.types)
        self.types += types_given(kernel, results)
        record = BefKernel(
            kernel.name, 0, tuple(arguments), tuple(attributes), tuple(functions),
            tuple(range(first, first + results)), ((),) * results, 0, is_nonstrict,
        )  # fmt: skip
        self.kernels.append(record)

    def register(self, wanted: str) -> int | None:
        """Return a register that can be read as a type, or rarely another one; None without any."""
        is_wrong = self.chance.random() < WRONG
        found = [i for i, has in enumerate(self.types) if is_wrong or _fits(has, wanted)]
        return self.chance.choice(found) if found else None

    def add_random(self, kernel: Kernel) -> None:
        """Add a call of `kernel`, usually with the right counts and types.

        Add nothing if an argument is missing.
        """
        chance = self.chance
        count, results, callees = shape_of(kernel, chance)
        if chance.random() < WRONG:
            count = max(0, count + chance.choice([-1, 1]))
        own = getattr(kernel, "types", ())
        rest = "i32" if isinstance(kernel, ControlKernel) else own[-1] if own else UNKNOWN
        wanted = [own[i] if i < len(own) else rest for i in range(count)]
        arguments = [one for one in map(self.register, wanted) if one is not None]
        if len(arguments) < count:
            return
        is_raw = getattr(kernel, "raw", False) or getattr(kernel, "fixed_results", 0) is None
        self.add(
            kernel,
            [chance.choice(OFFSETS.get(word, ANYWHERE)) for word in kernel.attributes],
            arguments,
            callees,
            results,
            is_raw and chance.random() < 0.3,
        )

    def function(self, name: str, results: int) -> BefFunction:
        found = (self.register("i32") for _ in range(results))
        returned = tuple(one for one in found if one is not None)
        return BefFunction(
            FunctionKind.ASYNC,
            name,
            ("i32",) * self.arguments,
            ("i32",) * len(returned),
            register_count=len(self.types),
            result_registers=returned,
            **counted(self.kernels, len(self.types), self.arguments, returned),  # type: ignore[arg-type]
        )


def types_given(kernel: Kernel, results: int) -> list[str]:
    """Return the types of a call's results, as far as they are known; functions have only i32."""
    match kernel:
        case ConstantKernel():
            words: Sequence[str] = (kernel.type,)
        case ControlKernel():
            words = ("i32" if kernel.fixed_results is None else CHAIN_TYPE,) * results
        case NativeKernel():
            words = kernel.gives
        case _:
            words = kernel.results or ()
    return [_text(word) for word in (*words, *(UNKNOWN,) * results)][:results]


FUNCTIONS = [(2, 2), (2, 1), (1, 2), (1, 1), (0, 2)]
"""The functions' numbers of arguments and results; the last one is `@main`."""


def shape_of(kernel: Kernel, chance: random.Random) -> tuple[int, int, list[int]]:
    """Return numbers of arguments and results, and functions, that `kernel` accepts."""
    if isinstance(kernel, ConstantKernel):
        return 0, 1, []
    if isinstance(kernel, NativeKernel):
        arguments = kernel.arguments + (chance.randrange(3) if kernel.more else 0)
        return arguments, min(arguments, 2) if kernel.results is None else kernel.results, []
    if isinstance(kernel, ControlKernel):
        return shape_of_control(kernel, chance)
    results = chance.randrange(3) if kernel.results is None else len(kernel.results)
    arguments = max(kernel.needs, chance.randrange(5)) if kernel.takes is None else kernel.takes
    return arguments, results, [0] if chance.random() < WRONG else []


def shape_of_control(kernel: ControlKernel, chance: random.Random) -> tuple[int, int, list[int]]:
    """Return the same as `shape_of` for a control kernel, usually with functions that fit."""
    fitting = [i for i, shape in enumerate(FUNCTIONS) if fits(kernel, *shape)]
    callee = chance.choice(fitting)
    arguments, results = FUNCTIONS[callee]
    count = chance.randrange(1, 4) if kernel.functions is None else kernel.functions
    functions = [
        callee if chance.random() > WRONG else chance.randrange(len(FUNCTIONS))
        for _ in range(count)
    ]
    if kernel.fixed_results is not None:
        results = kernel.fixed_results + kernel.extra
    return kernel.own + arguments - kernel.added, results - kernel.extra, functions


def fits(kernel: ControlKernel, arguments: int, results: int) -> bool:
    """Return whether `kernel` may call a function with that many arguments and results."""
    if kernel.fixed_results is not None:
        return arguments >= kernel.added and results == (kernel.body_results or 1)
    if kernel.extra or kernel.name.startswith("tfrt.repeat"):
        return results == arguments + kernel.extra
    return True


def random_file(kernels: Sequence[Kernel], chance: random.Random) -> bytes:
    """Return a file with `@main` and the functions that it may call."""
    functions = []
    for arguments, results in FUNCTIONS:
        is_main = arguments == 0
        writer = Writer(chance, arguments)
        for source, attributes in SOURCES.items():
            if is_main or chance.random() < 0.2:
                writer.add(KERNELS[source], attributes)
        for _ in range(chance.randrange(1, 7)):
            writer.add_random(chance.choice(kernels))
        functions.append(writer.function("main" if is_main else "", results))
    names = dict.fromkeys(kernel.name for one in functions for kernel in one.kernels)
    module = BefModule(tuple(functions), tuple(names), ("i32",), ATTRIBUTES, 8)
    return write_bef(module)


def kernels_to_call() -> list[Kernel]:
    """Return all kernels of functions that are not sync, with those that call functions repeated.

    They would be rare otherwise, because most kernels are variants of a few.
    """
    plain = [
        kernel
        for name, kernel in KERNELS.items()
        if name not in QUIET and not name.startswith("demo.") and not kernel.sync
    ]
    return plain + [kernel for kernel in plain if isinstance(kernel, ControlKernel)] * 20
