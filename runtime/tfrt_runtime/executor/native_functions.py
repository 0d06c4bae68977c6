"""Native functions: declared by a program, implemented by a kernel of the same name.

A file has no body for them.  They get one: a single kernel that takes all arguments and whose
results are the function's, so that calling one is calling any function.
"""

from __future__ import annotations

from dataclasses import replace

from tfrt_runtime.bef.encoding import FunctionKind
from tfrt_runtime.bef.records import BefFunction, BefKernel

PREFIX = "native function "
"""In front of the function's name, in the registry: a program's kernels cannot be called so."""


def native_function(function: BefFunction) -> BefFunction:
    """`function` with a body, if it is a native one."""
    if function.kind is not FunctionKind.NATIVE:
        return function
    return replace(one_kernel(function, PREFIX + function.name), kind=FunctionKind.ASYNC)


def one_kernel(function: BefFunction, name: str) -> BefFunction:
    """`function` with another body: one kernel that takes all arguments and makes all results."""
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
        stream_id=0,
    )
    return replace(
        function,
        register_count=arguments + results,
        kernels=(kernel,),
        result_registers=registers[arguments:],
        register_types=function.argument_types + function.result_types,
    )
