"""Native functions, which a program declares and a kernel of the same name implements.

A file has no bodies for native functions.  The loader gives each of them a body: a single kernel
that takes all arguments and whose results are the function's results.  Therefore, they can be
called like any other function.  If a kernel calls a compiled function, the function's kernel
replaces the calling kernel: such a call costs no activation, and starts before the values that the
function awaits are available.

This module also determines which functions are sync and which kernels they may use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tfrt_runtime.bef.records import BefFunction, BefKernel, FunctionKind
from tfrt_runtime.kernels.registry import CompiledKernel, ControlKernel, Kernel, PythonKernel

PREFIX = "native function "
"""Prefix of the function's name in the registry; a program's kernels cannot have such names."""
CALL = "tfrt.call"
NO_PLACE = -1
"""A location number that no file uses."""


def with_bodies(
    functions: Sequence[BefFunction], registry: Mapping[str, Kernel]
) -> tuple[BefFunction, ...]:
    """Return a file's functions, with bodies for native functions and direct calls of compiled
    ones.
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
    """Return a copy with a call of `kernel` at that position, whose arguments are in the adapter's
    order.
    """
    kernels = list(function.kernels)
    record = kernels[position]
    if len(record.arguments) == len(kernel.arguments):
        arguments = tuple(record.arguments[i] for i in kernel.order)
        kernels[position] = record._replace(
            name=kernel.name, arguments=arguments, functions=(), is_nonstrict=False
        )
    return replace(function, kernels=tuple(kernels))


def _with_body(function: BefFunction, is_compiled: bool) -> BefFunction:
    # A file has no location for a native function; its location 0 belongs to another function.
    location = function.location if is_compiled else NO_PLACE
    placed = replace(function, kind=FunctionKind.ASYNC, location=location)
    return one_kernel(placed, PREFIX + function.name)


def one_kernel(function: BefFunction, name: str) -> BefFunction:
    """Return `function` with a new body: one kernel that takes all arguments and
    makes all results.
    """
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
        kernels=(kernel,),
        result_registers=registers[arguments:],
        register_types=function.argument_types + function.result_types,
    )


CONTROL = frozenset(
    f"control_kernels.{name}" for name in ("call", "cond", "case", "repeat", "while_loop")
)
"""Control kernels that wait for the functions that they call."""


def runs_in_sync(kernel: Kernel) -> bool:
    """Tell whether a kernel may be used in a sync function.

    An ordinary Python function may be used, because its results are available when it returns.
    """
    match kernel:
        case ControlKernel():
            return kernel.symbol in CONTROL
        case PythonKernel():
            return kernel.sync or not (kernel.raw or kernel.blocking or kernel.has_lazy)
    return kernel.sync


def with_sync_regions(functions: Sequence[BefFunction]) -> tuple[BefFunction, ...]:
    """Return the same functions, except that the regions in sync functions are sync.

    Files do not mark these regions as sync.
    """
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
