"""Files that call every kernel with anything.

Each file has a handful of calls whose numbers of arguments and results are mostly right, and whose
arguments, attributes and functions are whatever there is.  No compiler has looked at it.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.bef.records import BefFunction, BefKernel, BefModule
from tfrt_runtime.bef.writer import write_bef
from tfrt_runtime.kernels.registry import ConstantKernel, ControlKernel, Kernel, NativeKernel
from tfrt_runtime.kernels.standard import standard_kernels

# A string, an array of i32, an array of i64, a shape, dense elements, and noise in between.
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

SOURCES = {  # what makes values of every kind
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


class Writer:
    """Writes one function, call by call."""

    def __init__(self, chance: random.Random, arguments: int) -> None:
        self.chance = chance
        self.registers = arguments
        self.arguments = arguments
        self.kernels: list[BefKernel] = []

    def add(
        self,
        name: str,
        arguments: Sequence[int] = (),
        attributes: Sequence[int] = (),
        functions: Sequence[int] = (),
        results: int = 1,
        is_nonstrict: bool = False,
    ) -> None:
        made = tuple(range(self.registers, self.registers + results))
        self.registers += results
        kernel = BefKernel(
            name, 0, tuple(arguments), tuple(attributes), tuple(functions), made,
            ((),) * results, 1 if is_nonstrict else len(arguments), is_nonstrict,
        )  # fmt: skip
        self.kernels.append(kernel)

    def any_registers(self, count: int) -> list[int]:
        return (
            [self.chance.randrange(self.registers) for _ in range(count)] if self.registers else []
        )

    def add_random(self, kernel: Kernel) -> None:
        """A call of `kernel` that is right in its numbers, mostly."""
        chance = self.chance
        arguments, results, callees = shape_of(kernel, chance)
        if chance.random() < 0.05:
            arguments = max(0, arguments + chance.choice([-1, 1]))
        may_be_nonstrict = isinstance(kernel, ControlKernel) or getattr(kernel, "raw", False)
        self.add(
            kernel.name,
            self.any_registers(arguments),
            [chance.choice(OFFSETS.get(word, ANYWHERE)) for word in kernel.attributes],
            callees,
            results,
            may_be_nonstrict and chance.random() < 0.3,
        )

    def function(self, name: str, results: int) -> BefFunction:
        returned = tuple(self.any_registers(results))
        types = ("i32",) * self.arguments, ("i32",) * len(returned)
        users: list[list[int]] = [[] for _ in range(self.registers)]
        for number in range(len(self.kernels), 0, -1):
            for register in self.kernels[number - 1].arguments:
                users[register].append(number)
        counts = [len(using) + returned.count(i) for i, using in enumerate(users)]
        kernels = [
            kernel._replace(used_by=tuple(tuple(users[i]) for i in kernel.results))
            for kernel in self.kernels
        ]
        entries = [i for i, kernel in enumerate(kernels, 1) if not kernel.arguments]
        return BefFunction(
            FunctionKind.ASYNC, name, *types, 0, self.registers, tuple(counts), tuple(kernels), tuple(entries),
            tuple(map(tuple, users[: self.arguments])), 0, returned,
        )  # fmt: skip


FUNCTIONS = [(2, 2), (2, 1), (1, 2), (1, 1), (0, 2)]
"""Numbers of arguments and results; the last one is `@main`."""


def shape_of(kernel: Kernel, chance: random.Random) -> tuple[int, int, list[int]]:
    """Numbers of arguments and results, and functions, that `kernel` may have."""
    if isinstance(kernel, ConstantKernel):
        return 0, 1, []
    if isinstance(kernel, NativeKernel):
        arguments = max(kernel.arguments, chance.randrange(3))
        return arguments, min(arguments, 2) if kernel.results is None else kernel.results, []
    if isinstance(kernel, ControlKernel):
        return shape_of_control(kernel, chance)
    results = chance.randrange(3) if kernel.results is None else len(kernel.results)
    arguments = chance.randrange(5) if kernel.takes is None else kernel.takes
    return arguments, results, [chance.randrange(len(FUNCTIONS))] * chance.randrange(2)


def shape_of_control(kernel: ControlKernel, chance: random.Random) -> tuple[int, int, list[int]]:
    """A call whose functions fit it, mostly."""
    fitting = [i for i, shape in enumerate(FUNCTIONS) if fits(kernel, *shape)]
    callee = chance.choice(fitting)
    arguments, results = FUNCTIONS[callee]
    count = chance.randrange(1, 4) if kernel.functions is None else kernel.functions
    functions = [
        callee if chance.random() < 0.98 else chance.randrange(len(FUNCTIONS)) for _ in range(count)
    ]
    if kernel.fixed_results is not None:
        results = kernel.fixed_results + kernel.extra
    return kernel.own + arguments - kernel.added, results - kernel.extra, functions


def fits(kernel: ControlKernel, arguments: int, results: int) -> bool:
    """Whether `kernel` may call a function with so many arguments and results."""
    if kernel.fixed_results is not None:
        return arguments >= kernel.added and results == (kernel.body_results or 1)
    if kernel.extra or kernel.name.startswith("tfrt.repeat"):
        return results == arguments + kernel.extra
    return True


def random_file(kernels: Sequence[Kernel], chance: random.Random) -> bytes:
    """A file of functions that each may call, and `@main`."""
    functions = []
    for arguments, results in FUNCTIONS:
        is_main = arguments == 0
        writer = Writer(chance, arguments)
        for source, attributes in SOURCES.items():
            if is_main or chance.random() < 0.2:
                writer.add(source, attributes=attributes)
        for _ in range(chance.randrange(1, 7)):
            writer.add_random(chance.choice(kernels))
        functions.append(writer.function("main" if is_main else "", results))
    names = dict.fromkeys(kernel.name for one in functions for kernel in one.kernels)
    module = BefModule(tuple(functions), tuple(names), ("i32",), ATTRIBUTES, 8)
    return write_bef(module)


def kernels_to_call() -> list[Kernel]:
    """All kernels of functions that are not sync, those that call functions more often.

    Most kernels are variants of few.
    """
    registry = standard_kernels()
    plain = [kernel for name, kernel in registry.items() if name not in QUIET and not kernel.sync]
    return plain + [kernel for kernel in plain if isinstance(kernel, ControlKernel)] * 20
