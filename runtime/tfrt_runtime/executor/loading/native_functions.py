"""Native functions, which a program declares, and which kernels of the same names implement.

A file has no body for a native function.  The loader adds a body with a single kernel, which takes
all arguments and produces all results, so a native function can be called like any other function.

Some native functions are compiled functions.  A direct call of a compiled function is replaced with
the function's kernel.  Such a call needs no activation.  It also starts earlier, because the values
that the compiled function itself awaits need not be available yet.

This module also determines which functions are sync, and which kernels sync functions may use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfrt_runtime.bef.records import BefFunction, BefKernel, FunctionKind, Kernels
from tfrt_runtime.kernels.registry import CompiledKernel, ControlKernel, Kernel, PythonKernel

PREFIX = "native function "
"""The prefix of a native function's name in the registry; programs' kernels have no such names."""
CALL = "tfrt.call"
NO_PLACE = -1
"""A location number that no file uses."""


def with_bodies(
    functions: Sequence[BefFunction], registry: Mapping[str, Kernel]
) -> tuple[BefFunction, ...]:
    """Return a file's functions, with bodies for native functions.

    Direct calls of compiled functions are replaced with the functions' kernels.
    """
    compiled = {
        index: kernel
        for index, function in enumerate(functions)
        if function.kind is FunctionKind.NATIVE
        and isinstance(kernel := registry.get(PREFIX + function.name), CompiledKernel)
    }
    bodies = [
        _with_body(function, index in compiled)
        if function.kind is FunctionKind.NATIVE
        else function
        for index, function in enumerate(functions)
    ]
    if compiled:
        bodies = [_with_direct_calls(function, compiled) for function in bodies]
        for index, kernel in compiled.items():
            bodies[index] = _in_order(bodies[index], 0, kernel)
    return tuple(bodies)


def _with_direct_calls(
    function: BefFunction, compiled: Mapping[int, CompiledKernel]
) -> BefFunction:
    for position, record in enumerate(function.kernels):
        if record.name == CALL and len(record.functions) == 1:
            kernel = compiled.get(record.functions[0])
            if kernel is not None and len(record.arguments) == len(kernel.arguments):
                function = _in_order(function, position, kernel)
    return function


def _in_order(function: BefFunction, position: int, kernel: CompiledKernel) -> BefFunction:
    """Return a copy of `function` in which the kernel at `position` is replaced with `kernel`.

    The arguments are the same, but in the order in which the adapter of `kernel` takes them.
    """
    kernels = list(function.kernels)
    record = kernels[position]
    if len(record.arguments) == len(kernel.arguments):
        arguments = tuple(record.arguments[i] for i in kernel.order)
        # Not non-strict: `Resolver._compiled` decides which arguments the kernel awaits.
        kernels[position] = record._replace(
            name=kernel.name, arguments=arguments, functions=(), is_nonstrict=False
        )
    return replace(function, kernels=Kernels.of(kernels, function.kernels.first))


def _with_body(function: BefFunction, is_compiled: bool) -> BefFunction:
    # A file has no location for a native function: location 0 belongs to another function.
    location = function.location if is_compiled else NO_PLACE
    placed = replace(function, kind=FunctionKind.ASYNC, location=location)
    return one_kernel(placed, PREFIX + function.name)


def one_kernel(function: BefFunction, name: str) -> BefFunction:
    """Return `function` with a new body: one kernel with all arguments and all results."""
    arguments, results = len(function.argument_types), len(function.result_types)
    registers = tuple(range(arguments + results))
    kernel = BefKernel(
        name=name,
        location=function.location,
        arguments=registers[:arguments],
        attributes=(),
        functions=(),
        results=registers[arguments:],
        used_by=((),) * results,
        operands_to_wait=arguments,
    )
    return replace(
        function,
        register_count=arguments + results,
        kernels=Kernels.of([kernel], arguments),
        result_registers=registers[arguments:],
        register_types=function.argument_types + function.result_types,
    )


CONTROL = frozenset(
    f"control_kernels.{name}" for name in ("call", "cond", "case", "repeat", "while_loop")
)
"""The control kernels that wait for the functions that they call."""


def runs_in_sync(kernel: Kernel) -> bool:
    """Return whether a sync function may use the kernel.

    A kernel that is an ordinary Python function is allowed, because the kernel's results are
    available when the Python function returns.
    """
    match kernel:
        case ControlKernel():
            return kernel.symbol in CONTROL
        case PythonKernel():
            return kernel.sync or not (kernel.raw or kernel.blocking or kernel.has_lazy)
    return kernel.sync


def with_sync_regions(functions: Sequence[BefFunction]) -> tuple[BefFunction, ...]:
    """Return the functions, with the regions in sync functions marked as sync.

    Files do not mark these regions.
    """
    marked = list(functions)
    pending = [function for function in functions if function.kind is FunctionKind.SYNC]
    while pending:
        for index in pending.pop().callees:
            region = marked[index]
            # A function with a name keeps its kind, and the resolver refuses the call.
            if region.name == "" and region.kind is FunctionKind.ASYNC:
                marked[index] = replace(region, kind=FunctionKind.SYNC)
                pending.append(region)
    return tuple(marked)
