"""How the functions of a program use their arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfrt_runtime.bef.records import BefFunction
from tfrt_runtime.kernels.registry import ControlKernel, Kernel, PythonKernel

Registry = Mapping[str, Kernel]


def registers_read_here(function: BefFunction, used: Mapping[str, Kernel]) -> set[int]:
    """The registers that something other than a remote kernel reads; of a function without
    these, none is asked for.
    """
    remote = {name for name, one in used.items() if isinstance(one, PythonKernel) and one.remote}
    if not remote:
        return set()
    taken = (record.arguments for record in function.kernels if record.name not in remote)
    return set(function.result_registers).union(*taken)


def writer_of_argument(
    functions: Sequence[BefFunction], registry: Registry, index: int, argument: int
) -> str | None:
    """The kernel that a function calls to write an argument, a tensor, if one does, or a
    function that it calls.
    """
    left, seen = [(index, argument)], set[tuple[int, int]]()
    while left:
        place = index, argument = left.pop()
        if place in seen:
            continue
        seen.add(place)
        for record in functions[index].kernels:
            if argument not in record.arguments:
                continue
            kernel = registry.get(record.name)
            if isinstance(kernel, PythonKernel) and kernel.parameters is not None:
                # A call may have a chain more, or fewer arguments than there are names.
                taken = zip(record.arguments, kernel.parameters.annotations, strict=False)
                if any(one == argument and getattr(kind, "is_out", False) for one, kind in taken):
                    return kernel.name
            elif isinstance(kernel, ControlKernel):
                passed = enumerate(record.arguments[kernel.own :], kernel.added)
                same = [number for number, one in passed if one == argument]
                left += [(callee, number) for callee in record.functions for number in same]
    return None


def is_remote(function: BefFunction, registry: Registry, argument: int) -> bool:
    """Whether remote kernels take an argument of a function, and nothing else."""
    used = {record.name: registry[record.name] for record in function.kernels}
    has_remote = any(isinstance(one, PythonKernel) and one.remote for one in used.values())
    return has_remote and argument not in registers_read_here(function, used)
