"""Files in which something waits for ever: no program compiles to one, but bytes can say anything."""

from __future__ import annotations

from tfrt_runtime.bef.reader import BefFile
from tfrt_runtime.bef.records import BefFunction, BefKernel
from tfrt_runtime.diagnostics import TfrtError, error


def refuse_endless_waits(file: BefFile, function: BefFunction) -> None:
    """
    Raises:
        TfrtError: if a kernel waits for itself, or a value is used or returned that no kernel makes.
    """
    made = set(range(len(function.argument_types)))
    left = _run(function.kernels, made)
    # Files have their kernels in an order in which they can run; it need not be so.
    while left and len(again := _run(left, made)) < len(left):
        left = again
    if left:
        raise TfrtError(
            *(
                error(
                    f"'{kernel.name}' waits for a value that is never made",
                    file.location(kernel.location),
                )
                for kernel in left
            )
        )
    for index, register in enumerate(function.result_registers):
        if register not in made:
            text = f"result {index} of function '{function.name}' is never made"
            raise TfrtError(error(text, file.location(function.location)))


def refuse_disorder(file: BefFile, function: BefFunction) -> None:
    """
    Raises:
        TfrtError: if a kernel of a sync function uses a value that only a later one makes, or
            makes one that exists: sync functions run from their first kernel to their last.
    """
    made = set(range(len(function.argument_types)))
    for kernel in function.kernels:
        if not made.issuperset(kernel.arguments):
            text = f"'{kernel.name}' uses a value that is made later"
            raise TfrtError(error(text, file.location(kernel.location)))
        if not made.isdisjoint(kernel.results) or len(set(kernel.results)) < len(kernel.results):
            text = f"'{kernel.name}' makes a value that exists already"
            raise TfrtError(error(text, file.location(kernel.location)))
        made.update(kernel.results)


def _run(kernels: tuple[BefKernel, ...], made: set[int]) -> tuple[BefKernel, ...]:
    """Add what kernels make in their order; returns those that cannot run yet."""
    left = []
    for kernel in kernels:
        if made.issuperset(kernel.arguments) or (
            kernel.is_nonstrict and not made.isdisjoint(kernel.arguments)
        ):
            made.update(kernel.results)
        else:
            left.append(kernel)
    return tuple(left)
